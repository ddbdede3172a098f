/* What the flags of `muster operator` must be like: said at once, before a cluster is asked. */

#include "app/operator_flags.h"

#include "kube/names.h"

#include <arpa/inet.h>
#include <string.h>

/* ":8080", "127.0.0.1:8080", "[::1]:8080", "localhost:8080" */
int operator_address_parse(struct arena *a, str text, const char **host, int *port, struct err *e)
{
    ptrdiff_t colon = str_rfind(text, ':');
    str name = str_sub(text, 0, colon < 0 ? 0 : (size_t)colon);
    int64_t n = -1;
    struct in6_addr addr;

    if (colon < 0 || !str_to_int(str_sub(text, (size_t)colon + 1, text.n), &n) || n < 0 ||
        n > 65535)
        return err_set(e, ERR_INVALID, "expected [ADDRESS]:PORT, or 0 for none");
    if (name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = str_sub(name, 1, name.n - 1);
    if (str_eqz(name, "localhost"))
        name = S("127.0.0.1");
    *port = (int)n;
    *host = name.n ? arena_z(a, name) : NULL;
    if (*host && inet_pton(AF_INET, *host, &addr) != 1 && inet_pton(AF_INET6, *host, &addr) != 1)
        return err_set(e, ERR_INVALID, "'%s' is not an IP address", *host);
    return 0;
}

bool operator_address_is_none(const char *address)
{
    return !*address || strcmp(address, "0") == 0;
}

static int check_address(struct arena *a, const char *flag, const char *value, struct err *e)
{
    const char *host = NULL;
    int port = 0;

    if (operator_address_is_none(value) ||
        operator_address_parse(a, str_of(value), &host, &port, e) == 0)
        return 0;
    return err_wrap(e, "invalid value \"%s\" for flag -%s", value, flag);
}

static int check_name(const char *flag, const char *value, name_rule *rule, struct err *e)
{
    if (name_ok(str_of(value), rule))
        return 0;
    return err_set(
        e, ERR_INVALID,
        "invalid value \"%s\" for flag -%s: not a valid Kubernetes name, such as 'my-name'", value,
        flag);
}

/* Whole seconds, as the Lease has them; and room for what is under way when time is up. */
static int check_times(const struct operator_flags *f, struct err *e)
{
    if (f->lease_ms % 1000)
        return err_set(e, ERR_INVALID, "-leader-elect-lease-duration must be whole seconds");
    if (f->lease_ms < f->renew_ms + 1000)
        return err_set(e, ERR_INVALID,
                       "-leader-elect-lease-duration must be a second more than "
                       "-leader-elect-renew-deadline, or more");
    if (f->renew_ms < 2 * f->retry_ms)
        return err_set(e, ERR_INVALID,
                       "-leader-elect-renew-deadline must be twice "
                       "-leader-elect-retry-period, or more");
    return 0;
}

static int check_gang(const struct operator_flags *f, struct err *e)
{
    enum { MOST_S = 365 * 24 * 3600 };

    if (f->gang_hold_s < 0 || f->gang_hold_s > MOST_S)
        return err_set(e, ERR_INVALID, "-gang-hold-seconds must be 0 to %d", MOST_S);
    if (f->gang_max_restarts < -1)
        return err_set(e, ERR_INVALID, "-gang-max-restarts must be -1, for no limit, or more");
    return 0;
}

int operator_flags_check(struct arena *a, const struct operator_flags *f, struct err *e)
{
    if (check_times(f, e) < 0 || check_gang(f, e) < 0 ||
        check_address(a, "metrics-bind-address", f->metrics_address, e) < 0 ||
        check_address(a, "health-probe-bind-address", f->probe_address, e) < 0 ||
        (*f->ns && check_name("namespace", f->ns, name_dns1123_label, e) < 0) ||
        (*f->lease_ns &&
         check_name("leader-election-namespace", f->lease_ns, name_dns1123_label, e) < 0) ||
        (f->elect &&
         check_name("leader-election-id", f->lease_name, name_dns1123_subdomain, e) < 0))
        return -1;
    return 0;
}
