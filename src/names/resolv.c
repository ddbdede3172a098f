/* resolv.conf of a pod, from the node's and what the pod asks for. PURE. */

#include "names/names.h"

static bool is_loopback(str line)
{
    str rest = str_trim(line);
    str key = str_cut(&rest, ' ');

    rest = str_trim(rest.p ? rest : S(""));
    return str_eq(key, S("nameserver")) &&
           (str_starts(rest, S("127.")) || str_eq(rest, S("::1")) || str_eq(rest, S("0.0.0.0")));
}

/* Its last line of domains counts; empty: it has none. */
static str domains(str text)
{
    str found = STR_NONE;

    while (text.n) {
        str line = str_trim(str_cut(&text, '\n'));
        str key = str_cut(&line, ' ');
        if (str_eq(key, S("search")))
            found = str_trim(line);
    }
    return found;
}

bool names_resolv_is_cluster(jv pod)
{
    str policy = jv_str(jv_at(pod, "spec", "dnsPolicy"), S("ClusterFirst"));

    return str_starts(policy, S("ClusterFirst"));
}

str names_resolv_cluster(struct arena *a, str base, str ns, str server)
{
    str more = domains(base);

    return arena_printf(a,
                        "nameserver %" PRI_STR "\nsearch %" PRI_STR
                        ".svc.cluster.local svc.cluster.local cluster.local%s%" PRI_STR
                        "\noptions ndots:5\n",
                        STR_ARG(server), STR_ARG(ns), more.n ? " " : "", STR_ARG(more));
}

static void add_base(struct buf *b, str base, bool loopback)
{
    while (base.n) {
        str rest = base;
        str line = str_cut(&rest, '\n');
        if (loopback || !is_loopback(line)) {
            buf_add(b, line);
            buf_addc(b, '\n');
        }
        base = rest;
    }
}

static void add_list(struct buf *b, const char *key, jv list, bool one_line)
{
    bool first = true;

    for (struct jv_iter it = jv_iter(list); jv_next(&it); first = false) {
        if (first || !one_line)
            buf_printf(b, "%s%s", first ? "" : "\n", key);
        buf_printf(b, " %" PRI_STR, STR_ARG(jv_str(it.value, S(""))));
    }
    if (!first)
        buf_addc(b, '\n');
}

static jv options(struct arena *a, jv config)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(config, "options")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        jv value = jv_at(it.value, "value");
        jb_push(&b, jstr(a, jv_is(value, JV_STR)
                                ? arena_printf(a, "%" PRI_STR ":%" PRI_STR, STR_ARG(name),
                                               STR_ARG(jv_str(value, S(""))))
                                : name));
    }
    return jb_done(&b);
}

str names_resolv(struct arena *a, jv pod, str base, bool loopback)
{
    AUTO(buf) struct buf b = { 0 };
    jv config = jv_at(pod, "spec", "dnsConfig");

    if (!str_eq(jv_str(jv_at(pod, "spec", "dnsPolicy"), S("")), S("None")))
        add_base(&b, base, loopback);
    add_list(&b, "nameserver", jv_at(config, "nameservers"), false);
    if (jv_len(jv_at(config, "searches"))) { /* only one line counts: with those before */
        str before = domains(buf_str(&b));
        str key = arena_printf(a, "search%s%" PRI_STR, before.n ? " " : "", STR_ARG(before));
        add_list(&b, key.p, jv_at(config, "searches"), true);
    }
    add_list(&b, "options", options(a, config), true);
    return arena_str(a, buf_str(&b));
}
