/* What the user wrote comes first; of two of one name the kubelet takes the later one, ours. */

#include "job/env.h"

#include <assert.h>
#include <inttypes.h>

static void push(struct env *e, jv var)
{
    assert(e->n < MANY_VARS);
    e->vars[e->n++] = var;
}

void env_add(struct env *e, const char *name, str value)
{
    push(e, jobj(e->a, { "name", jstr(e->a, str_of(name)) },
                 { "value", value.n ? jstr(e->a, value) : JV_ABSENT }));
}

void env_int(struct env *e, const char *name, int64_t value)
{
    env_add(e, name, arena_printf(e->a, "%" PRId64, value));
}

void env_field(struct env *e, const char *name, const char *field_path)
{
    jv ref = jobj(e->a, { "fieldPath", jstr(e->a, str_of(field_path)) });

    push(e, jobj(e->a, { "name", jstr(e->a, str_of(name)) },
                 { "valueFrom", jobj(e->a, { "fieldRef", ref }) }));
}

bool env_has(jv container, const char *name)
{
    JV_EACH (v, jv_get(container, S("env")))
        if (str_eqz(jv_str(jv_get(v.value, S("name")), S("")), name))
            return true;
    return false;
}

jv env_into_all(const struct env *e, jv spec)
{
    jv containers = jv_get(spec, S("containers"));
    struct jbuild b = { 0 };

    if (!jv_is(containers, JV_ARR))
        return spec;
    JV_EACH (c, containers)
        jb_child(&b, e->a, &c,
                 jv_is(c.value, JV_OBJ) ? job_container_with_env(e->a, c.value, e->vars, e->n)
                                        : c.value);
    return b.a ? jv_with_key(e->a, spec, S("containers"), jb_done(&b)) : spec;
}
