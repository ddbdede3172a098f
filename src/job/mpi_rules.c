/* What an MPIJob must be like. The original checks it type by type and tells the first mistake, in
 * words of its own that name no field. */

#include "job/mpi.h"

#define BAD "MPIReplicaSpec is not valid: "

static str field(jv v, str key)
{
    return jv_str(jv_get(v, key), S(""));
}

static bool is_update(const struct check *c)
{
    return jv_exists(c->old);
}

static void check_containers(struct check *c, const struct path *at, jv containers, str type)
{
    JV_EACH (it, containers) {
        struct path one = path_index(at, it.i - 1);
        struct path image = path_field(&one, S("image"));
        struct path name = path_field(&one, S("name"));
        if (field(it.value, S("image")).n == 0)
            problem_say(c->ps, &image, BAD "Image is undefined in the container of %" PRI_STR,
                        STR_ARG(type));
        if (field(it.value, S("name")).n == 0)
            problem_say(c->ps, &name, BAD "ImageName is undefined in the container of %" PRI_STR,
                        STR_ARG(type));
    }
}

static void check_type(struct check *c, str type, const struct role_row *row)
{
    jv now = jv_get(c->map, type), before = jv_get(c->old_map, type);
    jv containers = jv_at(now, "template", "spec", "containers");
    struct path key = path_key(&c->map_path, type);
    struct path template = path_field(&key, S("template"));
    struct path spec = path_field(&template, S("spec"));
    struct path at = path_field(&spec, S("containers"));
    struct path count = path_field(&key, S("replicas"));
    bool fresh = check_is_new(c, containers, jv_at(before, "template", "spec", "containers"));

    if (fresh && (!jv_is(containers, JV_ARR) || jv_len(containers) == 0))
        problem_say(c->ps, &at,
                    "MPIReplicaSpecs is not valid: containers definition expected in %" PRI_STR,
                    STR_ARG(type));
    if (!row && !jv_exists(before))
        problem_say(c->ps, &key,
                    "MPIReplicaType is %" PRI_STR " but must be one of [Launcher Worker]",
                    STR_ARG(type));
    if (fresh)
        check_containers(c, &at, containers, type);
    jv n = jv_get(now, S("replicas"));
    if (row && row->single && check_is_new(c, n, jv_get(before, S("replicas"))) &&
        jv_int(n, 1) != 1)
        problem_say(c->ps, &count, BAD "There must be only 1 launcher replica");
}

static const struct role_row *row_of(const struct check *c, str type)
{
    for (const struct role_row *r = c->kind->roles; r->name; r++)
        if (str_eqz(type, r->name))
            return r;
    return NULL;
}

void rule_mpi(struct check *c)
{
    const str leader = str_of(c->kind->roles[0].name);
    struct path needed = path_key(&c->map_path, leader);

    if (!jv_is(c->map, JV_OBJ)) {
        if (check_is_new(c, c->map, c->old_map))
            problem_say(c->ps, &c->map_path, "MPIReplicaSpecs is not valid");
        return;
    }
    for (const struct role_row *r = c->kind->roles; r->name; r++)
        if (jv_exists(jv_get(c->map, str_of(r->name))))
            check_type(c, str_of(r->name), r);
    for (size_t i = 0; i < c->n_keys; i++)
        if (!row_of(c, c->keys[i]))
            check_type(c, c->keys[i], NULL);
    if (!jv_exists(jv_get(c->map, leader)) &&
        (!is_update(c) || jv_exists(jv_get(c->old_map, leader))))
        problem_say(c->ps, &needed, BAD "Master ReplicaSpec must be present");
}

void rule_mpi_name(struct check *c)
{
    enum { MANY_LABEL_BYTES = 63 };
    struct path meta = path_field(NULL, S("metadata"));
    struct path at = path_field(&meta, S("name"));

    if (!is_update(c) && meta_name(c->obj).n > MANY_LABEL_BYTES)
        problem_say(c->ps, &at, "MPIJob name is not valid: must be no more than 63 characters");
}
