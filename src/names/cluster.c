/* Rounds: what changed since the last one is worked out at once, for all pods and services of the
 * namespaces concerned. The more a round costs, the longer the next one waits. */

#include "names/cluster.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "names/internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUND_MS = 20, ROUND_MAX_MS = 500, IDLE_PARTS = 20, RETRY_MS = 1000 };

/* ---- rounds */

static void round_of(void *arg);

static void arm(struct names *k, int64_t ms)
{
    if (!k->timer)
        k->timer = loop_timer_start(k->o.loop, ms, 0, round_of, k);
}

static void arm_soon(struct names *k)
{
    int64_t wait = k->cost_ms * IDLE_PARTS;

    wait = wait < ROUND_MS ? ROUND_MS : wait > ROUND_MAX_MS ? ROUND_MAX_MS : wait;
    wait -= boot_now_ms() - k->last_ms;
    arm(k, wait > 0 ? wait : 0);
}

static void tell_routes(struct names *k)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild b = jb_arr(a);
    struct err e = { 0 };

    MAP_EACH (s, &k->spaces) {
        const struct names_space *at = s->value;
        JV_EACH (it, at->routes ? jdoc_root(at->routes) : JV_ABSENT)
            jb_push(&b, it.value);
    }
    if (k->o.net && k->o.net->services)
        k->o.net->services(k->o.net->ctx, jb_done(&b));
    if (k->shared && names_shared_routes(k->shared, jb_done(&b), &e) < 0)
        log_warn("cannot write ClusterIPs", KVZ("error", e.msg));
}

/* Files that an earlier node has left, of namespaces without pods now. */
static void sweep(struct names *k)
{
    DIR *d = opendir(k->dir);

    for (struct dirent *at; d && (at = readdir(d));) {
        struct names_space *s = map_get(&k->spaces, str_of(at->d_name));
        if (at->d_name[0] != '.' && (!s || !s->file))
            unlinkat(dirfd(d), at->d_name, 0);
    }
    if (d)
        closedir(d);
}

static void drop_old(struct names *k)
{
    MAP_EACH (s, &k->spaces) {
        struct names_space *at = s->value;
        if (at->file)
            names_file_drop_old(at->file);
        for (struct names_seat *seat = at->seats; seat; seat = seat->next)
            if (seat->own)
                names_file_drop_old(seat->own);
    }
}

static void round_of(void *arg)
{
    struct names *k = arg;
    int64_t begun = boot_now_ms();
    struct err e = { 0 };
    bool routes = false;

    loop_timer_stop(k->timer);
    k->timer = NULL;
    if (!k->o.from.is_listed(k->o.from.ctx))
        return; /* asked again when it is */
    MAP_EACH (s, &k->spaces) {
        struct names_space *at = s->value;
        if (at->dirty)
            routes |= names_space_refresh(at);
        if (!at->lines.n && !at->seats && !at->file)
            names_space_free(at);
    }
    if (!k->swept) {
        drop_old(k);
        sweep(k);
    }
    if (names_space_write(k, &e) < 0) {
        log_warn("cannot write hosts files, retrying", KVZ("error", e.msg));
        arm(k, RETRY_MS);
    }
    if (routes || !k->swept)
        tell_routes(k);
    k->swept = true;
    k->last_ms = boot_now_ms();
    k->cost_ms = k->last_ms - begun;
}

const char *names_limits(const struct names *k)
{
    if (!k || !k->shared)
        return NULL;
    if (!names_shared_lib(k->shared))
        return "Pods share this machine's network and know no cluster names: the preload library "
               "cannot be loaded from the data directory; muster's log says why.";
    return "Pods share this machine's network. Each has an address of its own (127.x.y.z) and the "
           "cluster's names by a preloaded library. Programs that are statically linked or make "
           "their own system calls (Go), and those that run as another user than muster, have "
           "neither: their ports clash, and names do not resolve. IPv6 and multicast do not lead "
           "from pod to pod.";
}

/* ---- what happens */

void names_changed(struct names *k, str ns)
{
    if (!k)
        return;
    names_space(k, ns)->dirty = true;
    arm_soon(k);
}

void names_look(struct names *k, struct names_member *m, const struct names_about *p)
{
    if (!k)
        return;
    str ip = p->ended ? STR_NONE : p->ip;
    bool ready = ip.n && p->ready;

    if (ready == m->ready && p->leaving == m->leaving && str_eqz(ip, m->ip))
        return;
    m->ready = ready;
    m->leaving = p->leaving;
    str fits = str_sub(ip, 0, sizeof(m->ip) - 1);
    memcpy(m->ip, fits.p ? fits.p : "", fits.n);
    m->ip[fits.n] = '\0';
    names_changed(k, meta_namespace(p->pod));
}

void names_lost(struct names *k, struct names_member *m, str ns)
{
    if (!k)
        return;
    names_detach(k, m);
    if (m->ip[0])
        names_changed(k, ns);
}

void names_listed(struct names *k)
{
    if (k)
        arm_soon(k);
}

/* ---- */

struct names *names_new(const struct names_opts *o)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names *k = mem_new(sizeof(*k));

    k->o = *o;
    if (o->shared)
        k->shared = names_shared_new(o->data, o->known);
    k->dir = mem_or_abort(strdup(arena_printf(a, "%" PRI_STR "/names/hosts", STR_ARG(o->data)).p));
    if (!k->shared)
        k->dns = dns_new(k);
    return k;
}

void names_start(struct names *k)
{
    if (k)
        arm_soon(k);
}

void names_free(struct names *k)
{
    if (!k)
        return;
    loop_timer_stop(k->timer);
    dns_free(k->dns);
    MAP_EACH (s, &k->spaces)
        names_space_free(s->value);
    map_done(&k->spaces);
    names_shared_free(k->shared);
    free(k->resolv);
    free(k->dir);
    free(k);
}
