/* The options after '?': read once, checked as kube-apiserver checks them. */

#include "api/delete.h"
#include "api/request.h"
#include "base/limits.h"
#include "base/url.h"

#include <ctype.h>

/* Which options object an error names. */
static str options_kind(enum api_verb v)
{
    static const char *const names[] = {
        [VERB_GET] = "GetOptions",
        [VERB_LIST] = "ListOptions",
        [VERB_WATCH] = "ListOptions",
        [VERB_CREATE] = "CreateOptions",
        [VERB_UPDATE] = "UpdateOptions",
        [VERB_PATCH] = "PatchOptions",
        [VERB_DELETE] = "DeleteOptions",
        [VERB_DELETE_COLLECTION] = "DeleteOptions",
        [VERB_OTHER] = "",
    };
    return str_of(names[v]);
}

static int integer(struct api_req *r, str v, int64_t *out)
{
    if (v.n == 0 || str_to_int(v.p[0] == '+' ? str_sub(v, 1, v.n) : v, out))
        return 0;
    fail_bad_request(r, "strconv.ParseInt: parsing \"%" PRI_STR "\": invalid syntax", STR_ARG(v));
    return -1;
}

static int selector(struct api_req *r, str value, bool is_label)
{
    struct selector *labels = ARENA_NEW(r->a, struct selector);
    struct field_selector *fields = ARENA_NEW(r->a, struct field_selector);
    str why = STR_NONE;

    if (value.n > LIMIT_SELECTOR_BYTES) {
        fail_bad_request(r, "selector of %zu bytes is longer than %d", value.n,
                         LIMIT_SELECTOR_BYTES);
        return -1;
    }
    if (!value.n)
        return 0;
    if ((is_label ? selector_parse(r->a, value, labels, &why)
                  : field_selector_parse(r->a, value, fields, &why)) < 0) {
        fail_bad_request(r, "%" PRI_STR, STR_ARG(why));
        return -1;
    }
    size_t terms = is_label ? labels->n : fields->n;
    if (terms > LIMIT_SELECTOR_TERMS) {
        fail_bad_request(r, "%s has %zu terms, more than %d",
                         is_label ? "labelSelector" : "fieldSelector", terms, LIMIT_SELECTOR_TERMS);
        return -1;
    }
    if (is_label)
        r->q.labels = labels->n || labels->nothing ? labels : NULL;
    else
        r->q.fields = fields->n ? fields : NULL;
    return 0;
}

static int take(struct api_req *r, struct problems *ps, str key, str value)
{
    struct api_query *q = &r->q;
    struct path p = path_field(NULL, key);
    jv bad = jstr(r->a, value);

    if (str_eqz(key, "labelSelector"))
        return selector(r, value, true);
    if (str_eqz(key, "fieldSelector"))
        return selector(r, value, false);
    if (str_eqz(key, "limit"))
        return integer(r, value, &q->limit);
    if (str_eqz(key, "timeoutSeconds"))
        return integer(r, value, &q->timeout_s);
    if (str_eqz(key, "gracePeriodSeconds")) {
        q->grace_given = value.n > 0;
        return integer(r, value, &q->grace_s);
    }
    if (str_eqz(key, "allowWatchBookmarks")) {
        q->bookmarks = url_flag(value);
    } else if (str_eqz(key, "sendInitialEvents")) {
        q->send_initial = url_flag(value);
        q->send_initial_given = true;
    } else if (str_eqz(key, "continue")) {
        q->cont = value;
    } else if (str_eqz(key, "resourceVersion")) {
        q->resource_version = value;
    } else if (str_eqz(key, "resourceVersionMatch")) {
        q->match_text = value;
    } else if (str_eqz(key, "pretty")) {
        q->pretty = url_flag(value);
        q->pretty_given = value.n > 0;
    } else if (str_eqz(key, "force")) {
        q->force = url_flag(value);
        q->force_given = true;
    } else if (str_eqz(key, "propagationPolicy")) {
        q->propagation = value;
    } else if (str_eqz(key, "orphanDependents")) {
        q->orphan = url_flag(value);
        q->orphan_given = value.n > 0;
    } else if (str_eqz(key, "includeObject")) {
        q->include_object = value;
    } else if (str_eqz(key, "fieldManager")) {
        q->field_manager = value;
    } else if (str_eqz(key, "dryRun")) {
        q->dry_run = str_eqz(value, "All");
        static const char *const all[] = { "All", NULL };
        if (!q->dry_run)
            problem_not_supported(ps, &p, jarr(r->a, bad), all);
    } else if (str_eqz(key, "fieldValidation")) {
        static const char *const known[] = { "", "Ignore", "Strict", "Warn", NULL };
        q->validation = str_eqz(value, "Ignore")   ? VALIDATE_IGNORE
                        : str_eqz(value, "Strict") ? VALIDATE_STRICT
                                                   : VALIDATE_WARN;
        if (value.n && q->validation == VALIDATE_WARN && !str_eqz(value, "Warn"))
            problem_not_supported(ps, &p, bad, known);
    }
    return 0;
}

static void check_manager(struct api_req *r, struct problems *ps)
{
    struct path p = path_field(NULL, S("fieldManager"));
    str m = r->q.field_manager;

    if (m.n > 128)
        problem_add(ps, PROBLEM_TOO_LONG, &p, JV_ABSENT, "may not be more than 128 bytes");
    for (size_t i = 0; i < m.n; i++)
        if ((unsigned char)m.p[i] < 0x20 || m.p[i] == 0x7f) {
            problem_invalid(ps, &p, jstr(r->a, m), "invalid character U+%04X (at position %zu)",
                            (unsigned char)m.p[i], i);
            break;
        }
}

static void check_list(struct api_req *r, struct problems *ps)
{
    struct api_query *q = &r->q;
    struct path match = path_field(NULL, S("resourceVersionMatch"));
    static const char *const known[] = { "Exact", "NotOlderThan", "", NULL };
    str m = q->match_text;

    if (r->verb == VERB_WATCH) {
        if (q->send_initial_given && !str_eqz(m, "NotOlderThan"))
            problem_forbidden(
                ps, &match,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        if (!q->send_initial_given && m.n)
            problem_forbidden(
                ps, &match,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        if (m.n && !str_eqz(m, "NotOlderThan")) {
            static const char *const newer[] = { "NotOlderThan", NULL };
            problem_not_supported(ps, &match, jstr(r->a, m), newer);
        }
        return;
    }
    if (q->send_initial_given)
        problem_forbidden(ps, ROOT("sendInitialEvents"), "sendInitialEvents is forbidden for list");
    if (!m.n)
        return;
    if (!q->resource_version.n)
        problem_forbidden(ps, &match,
                          "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (q->cont.n)
        problem_forbidden(ps, &match,
                          "resourceVersionMatch is forbidden when continue is provided");
    if (!str_eqz(m, "Exact") && !str_eqz(m, "NotOlderThan"))
        problem_not_supported(ps, &match, jstr(r->a, m), known);
    else if (str_eqz(m, "Exact") && str_eqz(q->resource_version, "0"))
        problem_forbidden(ps, &match,
                          "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    q->match = str_eqz(m, "Exact") ? RV_EXACT : RV_NOT_OLDER;
}

static void check(struct api_req *r, struct problems *ps)
{
    if (r->verb == VERB_LIST || r->verb == VERB_WATCH)
        check_list(r, ps);
    if (r->verb == VERB_CREATE || r->verb == VERB_UPDATE || r->verb == VERB_PATCH)
        check_manager(r, ps);
}

static bool is_of_delete(str key)
{
    static const char *const keys[] = { "dryRun", "gracePeriodSeconds", "orphanDependents",
                                        "propagationPolicy" };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (str_eqz(key, keys[i]))
            return true;
    return false;
}

int query_parse(struct api_req *r)
{
    const struct target *t = &r->target;
    struct problems ps = { .a = r->a };
    bool in_body = delete_has_body(r);

    for (size_t i = 0; i < t->n_query; i++) {
        const struct query_pair *p = &t->query[i];
        bool counts = !p->again || str_eqz(p->key, "dryRun"); /* which is a list */
        if (counts && !(in_body && is_of_delete(p->key)) && take(r, &ps, p->key, p->value) < 0)
            return -1;
    }
    check(r, &ps);
    if (!ps.n)
        return 0;
    fail_invalid(r, options_kind(r->verb), S("meta.k8s.io"), STR_NONE, &ps);
    return -1;
}

str query_manager(const struct api_req *r)
{
    str agent = http_get_header(r->http, S("user-agent"));
    size_t n = 0;

    if (r->q.field_manager.n)
        return r->q.field_manager;
    while (n < agent.n && agent.p[n] != '/' && n < 128 && isprint((unsigned char)agent.p[n]))
        n++;
    return n ? str_sub(agent, 0, n) : S("unknown");
}
