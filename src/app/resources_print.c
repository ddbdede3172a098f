/* What nodes have, what pods ask for of it, and what is free. */

#include "app/resources.h"

#include "builtin/pod_amounts.h"
#include "cli/table.h"
#include "kube/meta.h"
#include "node/node.h"
#include "node/resources.h"
#include "sched/sched.h"

jv resources_declared(struct arena *a, jv node)
{
    str told = jv_str(jv_get(meta_annotations(node), S(NODE_RESOURCES_ANNOTATION)), S(""));
    jv amounts = JV_EMPTY_OBJ;

    return resources_parse(a, told, &amounts, NULL) < 0 ? JV_EMPTY_OBJ : amounts;
}

static struct amounts used_on(struct arena *a, jv node, jv pods)
{
    struct amounts used = amounts_new(a);
    struct quantity one = quantity_of(1, QUANTITY_DECIMAL_SI);

    JV_EACH (it, pods) {
        str on = jv_str(jv_at(it.value, "spec", "nodeName"), S(""));
        if (!str_eq(on, meta_name(node)) || sched_pod_has_ended(it.value))
            continue;
        struct amounts pod = pod_amounts(a, it.value, POD_REQUESTS, POD_OVERHEAD | POD_USE_STATUS);
        amounts_add(&used, &pod);
        amounts_add_one(&used, S("pods"), &one);
    }
    return used;
}

struct line {
    str name, has, used, free, declared;
    struct quantity excess; /* above 0: more is in use than there is */
};

struct lines {
    struct line *at;
    size_t n;
};

static str text_of(struct arena *a, const struct quantity *q)
{
    return quantity_text(a, q);
}

static struct lines lines_of(struct arena *a, jv node, jv pods)
{
    struct amounts has = amounts_of(a, jv_at(node, "status", "allocatable"));
    struct amounts used = used_on(a, node, pods);
    jv declared = resources_declared(a, node);
    struct lines all = { ARENA_ARRAY(a, struct line, has.n + 1), 0 };

    for (size_t i = 0; i < has.n; i++) {
        const struct quantity zero = quantity_of(0, has.at[i].q.format);
        const struct quantity *u = amounts_get(&used, has.at[i].name);
        struct quantity left = has.at[i].q, over = u ? *u : zero;
        if (u)
            quantity_sub(&left, u);
        quantity_sub(&over, &has.at[i].q);
        bool known = jv_exists(pods);
        all.at[all.n++] = (struct line){
            .name = has.at[i].name,
            .has = text_of(a, &has.at[i].q),
            .used = known ? text_of(a, u ? u : &zero) : S("?"),
            .free = known ? text_of(a, quantity_sign(&left) > 0 ? &left : &zero) : S("?"),
            .declared = jv_str(jv_get(declared, has.at[i].name), S("")),
            .excess = over,
        };
    }
    return all;
}

str resources_table(struct arena *a, jv nodes, jv pods)
{
    AUTO(buf) struct buf b = { 0 };
    struct table t;

    table_init(&t, a, "NODE|RESOURCE|HAS|USED|FREE|DECLARED");
    JV_EACH (it, nodes) {
        struct lines all = lines_of(a, it.value, pods);
        for (size_t i = 0; i < all.n; i++) {
            const struct line *l = &all.at[i];
            str cells[] = { meta_name(it.value), l->name, l->has, l->used, l->free, l->declared };
            table_add(&t, cells);
        }
    }
    table_print(&t, &b);
    return arena_str(a, buf_str(&b));
}

static jv line_json(struct arena *a, const struct line *l, bool known)
{
    return jobj(a, { "name", jstr(a, l->name) }, { "has", jstr(a, l->has) },
                { "used", known ? jstr(a, l->used) : JV_ABSENT },
                { "free", known ? jstr(a, l->free) : JV_ABSENT },
                { "declared", l->declared.n ? jstr(a, l->declared) : JV_ABSENT });
}

jv resources_json(struct arena *a, jv nodes, jv pods)
{
    struct jbuild out = jb_arr(a);

    JV_EACH (it, nodes) {
        struct lines all = lines_of(a, it.value, pods);
        struct jbuild lines = jb_arr(a);
        for (size_t i = 0; i < all.n; i++)
            jb_push(&lines, line_json(a, &all.at[i], jv_exists(pods)));
        jb_push(&out, jobj(a, { "name", jstr(a, meta_name(it.value)) },
                           { "resources", jb_done(&lines) }));
    }
    return jobj(a, { "nodes", jb_done(&out) });
}

str resources_excess(struct arena *a, jv node, jv pods)
{
    AUTO(buf) struct buf b = { 0 };
    struct lines all = lines_of(a, node, pods);

    for (size_t i = 0; i < all.n; i++) {
        const struct line *l = &all.at[i];
        if (quantity_sign(&l->excess) <= 0)
            continue;
        str over = text_of(a, &l->excess);
        buf_printf(&b,
                   "%" PRI_STR ": %" PRI_STR " in use, %" PRI_STR " more than there is; what runs "
                   "goes on, and nothing new starts that needs it\n",
                   STR_ARG(l->name), STR_ARG(l->used), STR_ARG(over));
    }
    return arena_str(a, buf_str(&b));
}
