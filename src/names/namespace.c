/* A namespace's lines, and the files they are in: its own with short names, those of all other
 * namespaces without. Only what differs from the last round is written. */

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "names/internal.h"

#include <stdlib.h>
#include <unistd.h>

struct names_space *names_space(struct names *k, str ns)
{
    struct names_space *s = map_get(&k->spaces, ns);

    if (s)
        return s;
    s = mem_new(sizeof(*s));
    s->k = k;
    s->name = mem_or_abort(strndup(ns.p, ns.n));
    s->a = arena_new();
    map_put(&k->spaces, str_of(s->name), s);
    return s;
}

static void drop_early(struct names_space *s)
{
    for (size_t i = 0; i < s->early.n; i++)
        free(s->early.at[i]);
    s->early.n = 0;
}

void names_space_free(struct names_space *s)
{
    while (s->seats) {
        struct names_seat *seat = s->seats;
        s->seats = seat->next;
        names_file_close(seat->own);
        free(seat);
    }
    drop_early(s);
    vec_done(&s->early);
    vec_done(&s->lines);
    names_file_close(s->file);
    jdoc_unref(s->routes);
    dns_zone_free(s->zone);
    free(s->resolv);
    map_remove(&s->k->spaces, str_of(s->name));
    arena_free(s->a);
    free(s->name);
    free(s);
}

/* ---- to all files */

typedef void change_fn(struct names_file *f, str line);

static void change_in(const struct names_space *at, str line, change_fn *fn)
{
    if (!line.n)
        return;
    if (at->file)
        fn(at->file, line);
    for (const struct names_seat *seat = at->seats; seat; seat = seat->next)
        if (seat->own)
            fn(seat->own, line);
}

static void change(const struct names_space *of, str line, change_fn *fn)
{
    str abroad = names_line_abroad(line);

    MAP_EACH (s, &of->k->spaces) {
        const struct names_space *at = s->value;
        change_in(at, at == of ? line : abroad, fn);
    }
}

int names_space_write(struct names *k, struct err *e)
{
    int64_t now = loop_now_ms(k->o.loop);
    int r = 0;

    MAP_EACH (s, &k->spaces) {
        struct names_space *at = s->value;
        if (at->file)
            r |= names_file_write(at->file, now, e);
        for (struct names_seat *seat = at->seats; seat; seat = seat->next)
            if (seat->own)
                r |= names_file_write(seat->own, now, e);
    }
    return r;
}

void names_space_fill(struct names_space *own, struct names_file *f)
{
    MAP_EACH (slot, &own->k->spaces) {
        const struct names_space *s = slot->value;
        for (size_t i = 0; i < s->lines.n; i++) {
            str line = s->lines.at[i];
            names_file_add(f, s == own ? line : names_line_abroad(line));
        }
        for (size_t i = 0; s == own && i < s->early.n; i++)
            names_file_add(f, str_of(s->early.at[i]));
    }
}

/* ---- what is true now */

static void gather(struct arena *a, const struct names_space *s, struct names_world *w)
{
    const struct names_opts *o = &s->k->o;
    str ns = str_of(s->name);

    *w = (struct names_world){
        .ns = ns,
        .services = o->from.list(o->from.ctx, a, NAMES_SERVICES, ns),
        .endpoints = o->from.list(o->from.ctx, a, NAMES_ENDPOINTS, ns),
        .slices = o->from.list(o->from.ctx, a, NAMES_SLICES, ns),
        .cluster_ips = o->shared || (o->net && o->net->services),
        .api_ip = o->api_ip,
        .api_port = o->api_port,
    };
    w->pods = o->from.pods(o->from.ctx, a, ns, &w->n);
}

static void show_difference(const struct names_space *s, const struct names_lines *now)
{
    const struct names_lines *was = &s->lines;
    size_t i = 0, k = 0;

    while (i < was->n || k < now->n) {
        int order = i == was->n ? 1 : k == now->n ? -1 : str_cmp(was->at[i], now->at[k]);
        if (order < 0)
            change(s, was->at[i++], names_file_drop);
        else if (order > 0)
            change(s, now->at[k++], names_file_add);
        else
            i++, k++;
    }
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static void settle_early(struct names_space *s)
{
    for (size_t i = 0; i < s->early.n; i++) {
        str line = str_of(s->early.at[i]);
        if (!s->lines.n || !bsearch(&line, s->lines.at, s->lines.n, sizeof(*s->lines.at), by_text))
            change_in(s, line, names_file_drop);
    }
    drop_early(s);
}

const struct dns_zone *names_space_zone(struct names_space *s)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_world w;

    if (!s->zone) {
        gather(a, s, &w);
        s->zone = dns_zone_new(&w);
    }
    return s->zone;
}

bool names_space_refresh(struct names_space *s)
{
    AUTO(arena) struct arena *tmp = arena_new();
    struct arena *a = arena_new(), *of_routes = arena_new();
    struct names_lines now = { 0 };
    struct names_world w;

    gather(tmp, s, &w);
    names_lines(tmp, &w, &now);
    for (size_t i = 0; i < now.n; i++) /* all else that it took goes */
        now.at[i] = arena_str(a, now.at[i]);
    show_difference(s, &now);
    vec_done(&s->lines);
    arena_free(s->a);
    s->lines = now;
    s->a = a;
    settle_early(s);
    dns_zone_free(TAKE(s->zone));
    s->dirty = false;
    jv routes = w.cluster_ips ? names_routes(tmp, &w) : JV_EMPTY_ARR;
    if (s->routes && jv_equal(routes, jdoc_root(s->routes))) {
        arena_free(of_routes);
        return false;
    }
    bool changed = s->routes || jv_len(routes);
    jdoc_unref(s->routes);
    s->routes = jdoc_of(of_routes, jv_copy(of_routes, routes));
    return changed;
}
