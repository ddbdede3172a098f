/* The collector of warnings, and parts that several kinds share. */

#include "builtin/warnings.h"

#include "base/vec.h"
#include "builtin/check.h"
#include "builtin/resources.h"
#include "kube/ip.h"

static void add(struct warnings *w, str text)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->at[i], text))
            return;
    vec_push_in(w->a, w, text);
}

void warning_add(struct warnings *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add(w, arena_vprintf(w->a, fmt, ap));
    va_end(ap);
}

void warning_at(struct warnings *w, const struct path *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str text = arena_vprintf(w->a, fmt, ap);
    va_end(ap);
    add(w,
        arena_printf(w->a, "%" PRI_STR ": %" PRI_STR, STR_ARG(path_str(w->a, p)), STR_ARG(text)));
}

/* ---- addresses: old fields take forms that will be refused one day */

void ip_warn(struct warnings *w, const struct path *p, str text)
{
    struct ip ip;

    if (!ip_parse(text, &ip))
        return;
    str canonical = ip_text(w->a, &ip);
    if (ip.leading_zeros || ip.mapped)
        warning_at(w, p,
                   "non-standard IP address \"%" PRI_STR
                   "\" will be considered invalid in a future Kubernetes release: use \"%" PRI_STR
                   "\"",
                   STR_ARG(text), STR_ARG(canonical));
    else if (!ip.is4 && !str_eq(canonical, text))
        warning_at(w, p,
                   "IPv6 address \"%" PRI_STR
                   "\" should be in RFC 5952 canonical format (\"%" PRI_STR "\")",
                   STR_ARG(text), STR_ARG(canonical));
}

static bool has_leading_zero(str bits)
{
    return bits.n > 1 && bits.p[0] == '0';
}

void cidr_warn(struct warnings *w, const struct path *p, str text)
{
    struct cidr c;
    size_t before = w->n;

    if (!cidr_parse(text, &c))
        return;
    str net = cidr_text(w->a, &c);
    str ip = ip_text(w->a, &c.ip);
    ptrdiff_t slash = str_rfind(text, '/');
    bool odd = c.ip.leading_zeros || c.ip.mapped ||
               has_leading_zero(str_sub(text, (size_t)slash + 1, text.n));

    if (!str_eq(str_sub(net, 0, (size_t)str_rfind(net, '/')), ip))
        warning_at(w, p,
                   "CIDR value \"%" PRI_STR "\" is ambiguous in this context (should be \"%" PRI_STR
                   "\" or \"%" PRI_STR "/%d\"?)",
                   STR_ARG(text), STR_ARG(net), STR_ARG(ip), c.ip.is4 ? 32 : 128);
    if (odd)
        warning_at(w, p,
                   "non-standard CIDR value \"%" PRI_STR
                   "\" will be considered invalid in a future Kubernetes release: use \"%" PRI_STR
                   "\"",
                   STR_ARG(text), STR_ARG(net));
    if (w->n == before && !c.ip.is4 && !str_eq(net, text))
        warning_at(w, p,
                   "IPv6 CIDR value \"%" PRI_STR
                   "\" should be in RFC 5952 canonical format (\"%" PRI_STR "\")",
                   STR_ARG(text), STR_ARG(net));
}

/* ---- labels of nodes that have other names now */

const char *node_label_deprecated(str key)
{
    static const struct {
        const char *key;
        const char *why;
    } rows[] = {
        { "beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead" },
        { "beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead" },
        { "failure-domain.beta.kubernetes.io/region",
          "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead" },
        { "failure-domain.beta.kubernetes.io/zone",
          "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead" },
        { "beta.kubernetes.io/instance-type",
          "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead" },
        { "app.kubernetes.io/created-by", "deprecated since v1.9" },
        { "scheduler.alpha.kubernetes.io/preferAvoidPods",
          "deprecated since v1.22; use Taints and Tolerations instead" },
        { "node-role.kubernetes.io/master",
          "use \"node-role.kubernetes.io/control-plane\" instead" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(key, rows[i].key))
            return rows[i].why;
    return NULL;
}

static void label_values_warn(struct warnings *w, const struct path *p, jv values)
{
    JV_EACH (it, values) {
        str value = jv_str(it.value, S(""));
        struct name_errors errs = name_label_value(value);
        for (unsigned i = 0; i < errs.n; i++)
            warning_at(w, EACH_AT(p, it), "%" PRI_STR " is invalid, %s", STR_ARG(value),
                       errs.at[i]);
    }
}

void node_selector_term_warn(struct warnings *w, const struct path *p, jv term, bool check_values)
{
    const struct path *list = AT(p, "matchExpressions");

    JV_EACH (it, FIELD(term, "matchExpressions")) {
        const struct path *at = EACH_AT(list, it);
        str key = FIELD_STR(it.value, "key");
        const char *why = node_label_deprecated(key);
        if (why)
            warning_at(w, AT(at, "key"), "%" PRI_STR " is %s", STR_ARG(key), why);
        if (check_values)
            label_values_warn(w, AT(at, "values"), FIELD(it.value, "values"));
    }
}

/* ---- amounts */

void fraction_warn(struct warnings *w, const struct path *p, jv list, str name)
{
    jv v = jv_get(list, name);
    struct quantity q = quantity_of_jv(v);

    if (jv_exists(v) && quantity_milli(&q) % 1000 != 0)
        warning_at(w, ATK(p, name),
                   "fractional byte value \"%" PRI_STR "\" is invalid, must be an integer",
                   STR_ARG(quantity_text(w->a, &q)));
}

void claim_spec_warn(struct warnings *w, const struct path *p, jv spec)
{
    const struct path *at = AT(p, "resources");
    jv resources = FIELD(spec, "resources");

    fraction_warn(w, AT(at, "requests"), FIELD(resources, "requests"), S("storage"));
    fraction_warn(w, AT(at, "limits"), FIELD(resources, "limits"), S("storage"));
}
