/* resource.k8s.io: what claims and slices have in common. */

#include "builtin/device.h"

#include "builtin/volume.h"

enum { MAX_POOL_NAME = 253, MAX_ID = 32, LOOK_BACK = 512 };

void device_list_size_check(struct problems *ps, const struct path *p, jv list, size_t max)
{
    if (jv_len(list) > max)
        too_many(ps, p, jv_len(list), max);
}

static jv key_of(jv item, const char *field)
{
    return *field ? jv_get(item, str_of(field)) : item;
}

void device_unique_check(struct problems *ps, const struct path *p, jv list, const char *field)
{
    JV_EACH (it, list) {
        str key = jv_str(key_of(it.value, field), S(""));
        size_t i = it.i - 1;
        for (size_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            if (!str_eq(jv_str(key_of(jv_index(list, k), field), S("")), key))
                continue;
            const struct path *q = ATI(p, i);
            problem_duplicate(ps, *field ? ATZ(q, field) : q, jstr(ps->a, key));
            break;
        }
    }
}

/* Calls check for each part of s between slashes, "" included. */
static void each_part(struct problems *ps, const struct path *p, str s, name_rule *rule)
{
    for (;;) {
        ptrdiff_t slash = str_find(s, '/');
        name_check(ps, p, slash < 0 ? s : str_sub(s, 0, (size_t)slash), rule);
        if (slash < 0)
            return;
        s = str_sub(s, (size_t)slash + 1, s.n);
    }
}

void device_pool_name_check(struct problems *ps, const struct path *p, str name)
{
    if (!name.n) {
        problem_required(ps, p, "%s", "");
        return;
    }
    if (name.n > MAX_POOL_NAME) {
        too_long(ps, p, MAX_POOL_NAME);
        return;
    }
    each_part(ps, p, name, name_dns1123_subdomain);
}

static void id_check(struct problems *ps, const struct path *p, str id)
{
    if (id.n > MAX_ID)
        too_long(ps, p, MAX_ID);
    name_check(ps, p, id, name_c_identifier);
}

void device_qualified_name_check(struct problems *ps, const struct path *p, str name)
{
    ptrdiff_t slash = str_find(name, '/');

    if (!name.n) {
        problem_required(ps, p, "name required");
        return;
    }
    if (slash < 0) {
        id_check(ps, p, name);
        return;
    }
    str domain = str_sub(name, 0, (size_t)slash);
    str id = str_sub(name, (size_t)slash + 1, name.n);
    if (!domain.n)
        problem_required(ps, p, "the domain must not be empty");
    else
        csi_driver_name_check(ps, p, domain);
    if (!id.n)
        problem_required(ps, p, "the name must not be empty");
    else
        id_check(ps, p, id);
}
