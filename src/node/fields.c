/* The downward API's values, as kubelet prints them. PURE. */

#include "node/fields.h"

#include "base/quantity.h"
#include "kube/meta.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- fields */

static int by_key(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

/* key="value" lines, sorted. */
static str map_text(struct arena *a, jv map)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = jv_len(map), i = 0;
    str *keys = ARENA_ARRAY(a, str, n + 1);

    JV_EACH (it, map)
        keys[i++] = it.key;
    if (i)
        qsort(keys, i, sizeof(*keys), by_key);
    for (size_t k = 0; k < i; k++) {
        buf_printf(&b, "%s%" PRI_STR "=", k ? "\n" : "", STR_ARG(keys[k]));
        json_print_str(&b, jv_str(jv_get(map, keys[k]), S("")));
    }
    return arena_str(a, buf_str(&b));
}

static str account(const struct fields_of *f)
{
    return jv_str(jv_at(f->pod, "spec", "serviceAccountName"), S(""));
}

int fields_get(struct arena *a, const struct fields_of *f, str path, str *out, struct err *e)
{
    static const str maps[] = { S_INIT("metadata.labels"), S_INIT("metadata.annotations") };
    str node = jv_str(jv_at(f->pod, "spec", "nodeName"), S(""));
    const struct {
        const char *path;
        str value;
    } plain[] = {
        { "metadata.name", meta_name(f->pod) },
        { "metadata.namespace", meta_namespace(f->pod) },
        { "metadata.uid", meta_uid(f->pod) },
        { "spec.nodeName", node },
        { "spec.serviceAccountName", account(f) },
        { "status.hostIP", f->host_ip },
        { "status.hostIPs", f->host_ip },
        { "status.podIP", f->pod_ip },
        { "status.podIPs", f->pod_ip },
    };

    for (size_t i = 0; i < COUNT(plain); i++)
        if (str_eqz(path, plain[i].path)) {
            *out = plain[i].value;
            return 0;
        }
    for (size_t i = 0; i < COUNT(maps); i++) {
        jv map = i == 0 ? meta_labels(f->pod) : meta_annotations(f->pod);
        str rest = str_sub(path, maps[i].n, path.n);
        if (!str_starts(path, maps[i]))
            continue;
        if (!rest.n) {
            *out = map_text(a, map);
            return 0;
        }
        if (str_starts(rest, S("['")) && str_ends(rest, S("']")) && rest.n > 4) {
            *out = jv_str(jv_get(map, str_sub(rest, 2, rest.n - 2)), S(""));
            return 0;
        }
    }
    return err_set(e, ERR_INVALID, "unsupported fieldPath: %" PRI_STR, STR_ARG(path));
}

/* ---- resources */

static jv container_named(const struct fields_of *f, str name)
{
    static const char *const lists[] = { "containers", "initContainers" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(f->pod, "spec", lists[i]))
            if (str_eq(jv_str(jv_at(it.value, "name"), S("")), name))
                return it.value;
    return JV_ABSENT;
}

int fields_resource(struct arena *a, const struct fields_of *f, jv container, jv ref, str *out,
                    struct err *e)
{
    str named = jv_str(jv_at(ref, "containerName"), S(""));
    str what = jv_str(jv_at(ref, "resource"), S(""));
    str name = what, kind = str_cut(&name, '.');
    struct quantity q = quantity_of(0, QUANTITY_DECIMAL_SI);
    struct quantity by = quantity_of(1, QUANTITY_DECIMAL_SI), given;

    if (named.n)
        container = container_named(f, named);
    if (!jv_exists(container))
        return err_set(e, ERR_NOT_FOUND, "container %" PRI_STR " not found", STR_ARG(named));
    bool limits = str_eq(kind, S("limits"));
    if ((!limits && !str_eq(kind, S("requests"))) || !name.p)
        return err_set(e, ERR_INVALID, "unsupported container resource : %" PRI_STR, STR_ARG(what));
    jv amount = jv_get(jv_get(jv_at(container, "resources"), kind), name);
    if (jv_is_null(amount) && limits)
        amount = jv_get(f->allocatable, name);
    if (!jv_is_null(amount) && quantity_from_json(a, amount, &q, e) < 0)
        return -1;
    jv divisor = jv_at(ref, "divisor");
    if (!jv_is_null(divisor)) {
        if (quantity_from_json(a, divisor, &given, e) < 0)
            return -1;
        if (quantity_sign(&given) > 0) /* "0" is what Go writes for none */
            by = given;
    }
    bool cpu = str_eq(name, S("cpu"));
    int64_t n = cpu ? quantity_milli(&q) : quantity_value(&q);
    int64_t d = cpu ? quantity_milli(&by) : quantity_value(&by);
    *out = arena_printf(a, "%" PRId64, d > 0 ? n / d + (n % d > 0) : n);
    return 0;
}
