/* A pod's place among the names: which hosts file it reads, and what else it finds under /etc. One
 * file serves a whole namespace; a pod has its own where it must know what the others must not:
 * aliases, or its own name before it is ready. */

#include "base/mem.h"
#include "kube/meta.h"
#include "node/names_internal.h"
#include "node/volumes.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every change is written to every own file, so beyond this many in a namespace only pods with
 * aliases get one: the others know themselves as soon as they are ready. */
enum { OWN_MAX = 128, RESOLV_MAX = 64 << 10 };

static const str head = S_INIT("# Kept by muster: what is written here is lost.\n"
                               "127.0.0.1 localhost\n"
                               "::1 localhost ip6-localhost ip6-loopback\n"
                               "fe00::0 ip6-localnet\n"
                               "ff02::1 ip6-allnodes\n"
                               "ff02::2 ip6-allrouters\n");

/* ---- a pod as names see it */

bool names_pod_has_ended(const struct pod *p)
{
    const char *phase = life_phase(p->life);

    return p->life->done || strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

str names_pod_ip(const struct pod *p)
{
    str ip = p->net ? jv_str(jv_at(jdoc_root(p->net), "net", "ip"), S("")) : node_pod_ip(p);

    return ip.n ? ip : jv_str(jv_at(jdoc_root(p->doc), "status", "podIP"), S(""));
}

/* A container that nobody probes is ready when it starts; that it is about to is soon enough. */
static bool is_good(const struct life_container *c)
{
    return c->kind == LIFE_INIT || c->kind == LIFE_EPHEMERAL || life_is_ready(c) ||
           (c->state == LIFE_STARTING && jv_is_null(jv_at(c->spec, "readinessProbe")) &&
            jv_is_null(jv_at(c->spec, "startupProbe")));
}

bool names_pod_is_ready(const struct pod *p)
{
    jv pod = jdoc_root(p->doc);

    if (p->life->deleted || meta_being_deleted(pod))
        return false;
    if (p->adopting)
        return meta_condition_is(pod, S("Ready"), S("True"));
    for (size_t i = 0; i < p->life->n; i++)
        if (!is_good(&p->life->at[i]))
            return false;
    JV_EACH (it, jv_at(pod, "spec", "readinessGates"))
        if (!meta_condition_is(pod, jv_str(jv_at(it.value, "conditionType"), S("")), S("True")))
            return false;
    return true;
}

/* ---- files */

static bool needs_own(const struct names *k, const struct names_space *s, jv pod)
{
    if (jv_len(jv_at(pod, "spec", "hostAliases")))
        return true;
    if (k->shared) /* the preload library knows whose it is */
        return false;
    return s->n_own < OWN_MAX &&
           (names_is_probed(pod) || jv_len(jv_at(pod, "spec", "containers")) > 1 ||
            jv_len(jv_at(pod, "spec", "initContainers")));
}

static str own_head(struct arena *a, jv pod, str ip)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, head);
    buf_add(&b, names_own_line(a, pod, ip));
    buf_addc(&b, '\n');
    JV_EACH (it, jv_at(pod, "spec", "hostAliases")) {
        buf_add(&b, jv_str(jv_at(it.value, "ip"), S("")));
        JV_EACH (h, jv_at(it.value, "hostnames"))
            buf_printf(&b, " %" PRI_STR, STR_ARG(jv_str(h.value, S(""))));
        buf_addc(&b, '\n');
    }
    return arena_str(a, buf_str(&b));
}

static str in_dir(struct arena *a, const struct pod *p, const char *name)
{
    return arena_printf(a, "%s/%s", p->dir, name);
}

static struct names_file *open_file(struct names *k, struct names_space *s, const char *path,
                                    str top, struct err *e)
{
    struct names_file *f = names_file_open(path, top, e);

    if (!f)
        return NULL;
    names_space_fill(s, f);
    if (k->swept)
        names_file_drop_old(f);
    if (names_file_write(f, loop_now_ms(k->n->o.loop), e) < 0) {
        names_file_close(f);
        return NULL;
    }
    return f;
}

static int sit(struct names *k, struct arena *a, struct pod *p, bool own, str ip, struct err *e)
{
    struct names_space *s = names_space(k, meta_namespace(jdoc_root(p->doc)));
    struct names_file *f = NULL;

    if (p->seat)
        return 0;
    if (own) {
        if (tree_make(a, p->dir, 0755, e) < 0)
            return -1;
        f = open_file(k, s, in_dir(a, p, "hosts").p, own_head(a, jdoc_root(p->doc), ip), e);
        if (!f)
            return -1;
        s->n_own++;
    } else if (!s->file) {
        const char *path = arena_printf(a, "%s/%s", k->dir, s->name).p;
        if (tree_make(a, k->dir, 0755, e) < 0)
            return -1;
        s->file = open_file(k, s, path, head, e);
        if (!s->file)
            return -1;
    }
    s->users += !own;
    p->seat = mem_new(sizeof(*p->seat));
    p->seat->space = s;
    p->seat->own = f;
    ip = str_sub(ip, 0, sizeof(p->seat->ip) - 1);
    memcpy(p->seat->ip, ip.p ? ip.p : "", ip.n);
    p->seat->next = s->seats;
    s->seats = p->seat;
    return 0;
}

void names_detach(struct names *k, struct pod *p)
{
    struct names_seat *seat = p->seat;

    if (!k || !seat)
        return;
    struct names_space *s = seat->space;
    for (struct names_seat **at = &s->seats; *at; at = &(*at)->next)
        if (*at == seat) {
            *at = seat->next;
            break;
        }
    if (seat->own) {
        s->n_own--;
        unlink(names_file_path(seat->own));
        names_file_close(seat->own);
    } else if (--s->users == 0) {
        unlink(names_file_path(s->file));
        names_file_close(s->file);
        s->file = NULL;
    }
    if (k->shared)
        names_shared_detach(k->shared, str_of(seat->ip));
    free(seat);
    p->seat = NULL;
}

/* ---- what else is under /etc */

static int write_text(struct arena *a, const char *dir, const char *path, str text, struct err *e)
{
    enum { HOW = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW };
    int fd = open(path, HOW, 0644);

    if (fd < 0 && errno == ENOENT && tree_make(a, dir, 0755, e) == 0)
        fd = open(path, HOW, 0644);
    if (fd < 0)
        return err_sys(e, "open %s", path);
    bool whole = write(fd, text.p, text.n) == (ssize_t)text.n;
    if (!whole)
        err_sys(e, "write %s", path);
    fchmod(fd, 0644);
    close(fd);
    return whole ? 0 : -1;
}

/* systemd's own file names a resolver on the loopback address, which is another one in the pod. */
static str resolv_base(struct arena *a, const struct names *k)
{
    static const char *const files[] = { "/run/systemd/resolve/resolv.conf", "/etc/resolv.conf" };
    const struct pod_network *net = k->n->o.net;

    if (net && net->resolv)
        return str_of(net->resolv);
    for (size_t i = 0; i < COUNT(files); i++)
        if (access(files[i], R_OK) == 0)
            return pod_read_end(a, files[i], RESOLV_MAX);
    return S("");
}

/* One file for all pods of a namespace that ask for nothing else; it follows the machine's. */
static int resolv_file(struct names *k, struct arena *a, struct pod *p, str *path, struct err *e)
{
    jv pod = jdoc_root(p->doc), spec = jv_at(pod, "spec");
    struct names_space *s = p->seat->space;
    bool cluster = k->dns && names_resolv_is_cluster(pod);
    str base = resolv_base(a, k);
    if (cluster)
        base = names_resolv_cluster(a, base, str_of(s->name), str_of(k->n->o.net->dns));
    str text = names_resolv(a, pod, base, false);

    if (jv_len(jv_at(spec, "dnsConfig")) ||
        str_eq(jv_str(jv_at(spec, "dnsPolicy"), S("")), S("None"))) {
        *path = in_dir(a, p, "resolv.conf");
        return write_text(a, p->dir, path->p, text, e);
    }
    str dir = str_sub(str_of(k->dir), 0, (size_t)str_rfind(str_of(k->dir), '/'));
    char **was = cluster ? &s->resolv : &k->resolv;
    *path = cluster ? arena_printf(a, "%" PRI_STR "/resolv.conf.%s", STR_ARG(dir), s->name)
                    : arena_printf(a, "%" PRI_STR "/resolv.conf", STR_ARG(dir));
    if (*was && str_eqz(text, *was))
        return 0;
    if (write_text(a, arena_z(a, dir), path->p, text, e) < 0)
        return -1;
    free(*was);
    *was = mem_or_abort(strndup(text.p, text.n));
    return 0;
}

static void add_mount(struct jbuild *b, str from, const char *to, bool ro)
{
    jb_push(b, jobj(b->a, { "from", jstr(b->a, from) }, { "to", jstr(b->a, str_of(to)) },
                    { "ro", ro ? JV_TRUE : JV_ABSENT }));
}

static int add_mounts(struct names *k, struct arena *a, struct pod *p, jv *mounts, struct err *e)
{
    struct jbuild b = jv_is(*mounts, JV_ARR) ? jb_from(a, *mounts) : jb_arr(a);
    str name = arena_printf(a, "%" PRI_STR "\n", STR_ARG(names_hostname(jdoc_root(p->doc))));
    str hostname = in_dir(a, p, "hostname"), resolv = STR_NONE;

    if (write_text(a, p->dir, hostname.p, name, e) < 0 || resolv_file(k, a, p, &resolv, e) < 0)
        return -1;
    add_mount(&b, str_of(names_file_path(p->seat->own ? p->seat->own : p->seat->space->file)),
              "/etc/hosts", true);
    add_mount(&b, hostname, "/etc/hostname", false);
    add_mount(&b, resolv, "/etc/resolv.conf", true);
    *mounts = jb_done(&b);
    return 0;
}

int names_attach(struct names *k, struct pod *p, struct arena *a, jv *net, jv *mounts,
                 struct err *e)
{
    jv pod = jdoc_root(p->doc);

    if (!k)
        return 0;
    names_detach(k, p); /* a sandbox that failed before */
    if (k->shared && names_shared_attach(k->shared, a, net, e) < 0)
        return -1;
    str ip = jv_str(jv_at(*net, "ip"), S(""));
    bool own = needs_own(k, names_space(k, meta_namespace(pod)), pod);
    if (sit(k, a, p, own, ip, e) < 0) {
        if (k->shared)
            names_shared_detach(k->shared, ip);
        return -1;
    }
    if (k->shared)
        return 0;
    if (add_mounts(k, a, p, mounts, e) < 0) {
        names_detach(k, p);
        return -1;
    }
    return 0;
}

void names_adopt(struct names *k, struct pod *p, jv sandbox)
{
    AUTO(arena) struct arena *a = arena_new();
    str ip = jv_str(jv_at(sandbox, "net", "ip"), S(""));

    if (!k || jv_bool(jv_at(p->life->pod, "spec", "hostNetwork"), false))
        return;
    if (k->shared)
        names_shared_adopt(k->shared, ip);
    sit(k, a, p, access(in_dir(a, p, "hosts").p, F_OK) == 0, ip, NULL);
}

/* Where pods share the machine's network: what is in the sandbox besides. */
void names_box(struct names *k, struct pod *p, struct arena *a, jv *preload, jv *env)
{
    if (!k || !k->shared || !p->seat)
        return;
    const struct names_file *f = p->seat->own ? p->seat->own : p->seat->space->file;
    const char *lib = names_shared_lib(k->shared);
    *preload = lib ? jstr(a, str_of(lib)) : JV_ABSENT;
    *env = names_shared_env(k->shared, a, jdoc_root(p->doc), str_of(p->seat->ip),
                            str_of(names_file_path(f)));
}

/* Its name is in the file before its program is: written at once, ahead of the next round, and in
 * the very words of that round where they can be known. */
void names_starting(struct names *k, struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_space *s = p->seat ? p->seat->space : NULL;

    if (!k || !s || p->seat->own || k->shared || !names_pod_is_ready(p))
        return;
    jv pod = jdoc_root(p->doc);
    struct jdoc *service =
        mirror_get(k->n->mirrors[NODE_SERVICES], meta_namespace(pod), names_hostname(pod));
    str line = names_first_line(a, pod, names_pod_ip(p), service ? jdoc_root(service) : JV_ABSENT);
    if (!line.n || names_file_has(s->file, line))
        return;
    vec_push(&s->early, mem_or_abort(strndup(line.p, line.n)));
    names_file_add(s->file, line);
    names_file_write(s->file, loop_now_ms(k->n->o.loop), NULL);
    names_look(k, p);
}
