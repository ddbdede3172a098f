/* A pod's place among the names: which hosts file it reads, and what else it finds under /etc. One
 * file serves a whole namespace; a pod has its own where it must know what the others must not:
 * aliases, or its own name before it is ready. */

#include "base/mem.h"
#include "kube/meta.h"
#include "names/internal.h"
#include "sys/sys.h"
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

static str in_dir(struct arena *a, const struct names_about *p, const char *name)
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
    if (names_file_write(f, loop_now_ms(k->o.loop), e) < 0) {
        names_file_close(f);
        return NULL;
    }
    return f;
}

static int sit(struct names *k, struct arena *a, struct names_member *m,
               const struct names_about *p, bool own, str ip, struct err *e)
{
    struct names_space *s = names_space(k, meta_namespace(p->pod));
    struct names_file *f = NULL;

    if (m->seat)
        return 0;
    if (own) {
        if (tree_make(a, p->dir, 0755, e) < 0)
            return -1;
        f = open_file(k, s, in_dir(a, p, "hosts").p, own_head(a, p->pod, ip), e);
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
    m->seat = mem_new(sizeof(*m->seat));
    m->seat->space = s;
    m->seat->own = f;
    ip = str_sub(ip, 0, sizeof(m->seat->ip) - 1);
    memcpy(m->seat->ip, ip.p ? ip.p : "", ip.n);
    m->seat->next = s->seats;
    s->seats = m->seat;
    return 0;
}

void names_detach(struct names *k, struct names_member *m)
{
    struct names_seat *seat = m->seat;

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
    m->seat = NULL;
}

bool names_is_hidden(const struct names *k, const struct names_member *m)
{
    return k->shared || !m->seat || m->seat->own;
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

static str read_text(struct arena *a, const char *path)
{
    char *text = arena_alloc(a, RESOLV_MAX);
    ssize_t n = sys_read_file(AT_FDCWD, path, text, RESOLV_MAX);

    return (str){ text, n > 0 ? (size_t)n : 0 };
}

/* systemd's own file names a resolver on the loopback address, which is another one in the pod. */
static str resolv_base(struct arena *a, const struct names *k)
{
    static const char *const files[] = { "/run/systemd/resolve/resolv.conf", "/etc/resolv.conf" };
    const struct pod_network *net = k->o.net;

    if (net && net->resolv)
        return str_of(net->resolv);
    for (size_t i = 0; i < COUNT(files); i++)
        if (access(files[i], R_OK) == 0)
            return read_text(a, files[i]);
    return S("");
}

/* One file for all pods of a namespace that ask for nothing else; it follows the machine's. */
static int resolv_file(struct names *k, struct arena *a, struct names_space *s,
                       const struct names_about *p, str *path, struct err *e)
{
    jv pod = p->pod, spec = jv_at(pod, "spec");
    bool cluster = k->dns && names_resolv_is_cluster(pod);
    str base = resolv_base(a, k);
    if (cluster)
        base = names_resolv_cluster(a, base, str_of(s->name), str_of(k->o.net->dns));
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

static const char *hosts_path(const struct names_seat *seat)
{
    return names_file_path(seat->own ? seat->own : seat->space->file);
}

static int add_mounts(struct names *k, struct arena *a, const struct names_seat *seat,
                      const struct names_about *p, jv *mounts, struct err *e)
{
    struct jbuild b = jv_is(*mounts, JV_ARR) ? jb_from(a, *mounts) : jb_arr(a);
    str name = arena_printf(a, "%" PRI_STR "\n", STR_ARG(names_hostname(p->pod)));
    str hostname = in_dir(a, p, "hostname"), resolv = STR_NONE;

    if (write_text(a, p->dir, hostname.p, name, e) < 0 ||
        resolv_file(k, a, seat->space, p, &resolv, e) < 0)
        return -1;
    add_mount(&b, str_of(hosts_path(seat)), "/etc/hosts", true);
    add_mount(&b, hostname, "/etc/hostname", false);
    add_mount(&b, resolv, "/etc/resolv.conf", true);
    *mounts = jb_done(&b);
    return 0;
}

int names_attach(struct names *k, struct names_member *m, const struct names_about *p,
                 struct arena *a, jv *net, jv *mounts, struct err *e)
{
    if (!k)
        return 0;
    names_detach(k, m); /* a sandbox that failed before */
    if (k->shared && names_shared_attach(k->shared, a, net, e) < 0)
        return -1;
    str ip = jv_str(jv_at(*net, "ip"), S(""));
    bool own = needs_own(k, names_space(k, meta_namespace(p->pod)), p->pod);
    if (sit(k, a, m, p, own, ip, e) < 0) {
        if (k->shared)
            names_shared_detach(k->shared, ip);
        return -1;
    }
    if (k->shared)
        return 0;
    if (add_mounts(k, a, m->seat, p, mounts, e) < 0) {
        names_detach(k, m);
        return -1;
    }
    return 0;
}

void names_adopt(struct names *k, struct names_member *m, const struct names_about *p, str ip)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!k || jv_bool(jv_at(p->pod, "spec", "hostNetwork"), false))
        return;
    if (k->shared)
        names_shared_adopt(k->shared, ip);
    sit(k, a, m, p, access(in_dir(a, p, "hosts").p, F_OK) == 0, ip, NULL);
}

/* Where pods share the machine's network: what is in the sandbox besides. */
void names_box(struct names *k, const struct names_member *m, jv pod, struct arena *a, jv *preload,
               jv *env)
{
    if (!k || !k->shared || !m->seat)
        return;
    const char *lib = names_shared_lib(k->shared);
    *preload = lib ? jstr(a, str_of(lib)) : JV_ABSENT;
    *env = names_shared_env(k->shared, a, pod, str_of(m->seat->ip), str_of(hosts_path(m->seat)));
}

/* Its name is in the file before its program is: written at once, ahead of the next round, and in
 * the very words of that round where they can be known. */
void names_starting(struct names *k, struct names_member *m, const struct names_about *p,
                    jv service)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_space *s = m->seat ? m->seat->space : NULL;

    if (!k || !s || m->seat->own || k->shared || !p->ready)
        return;
    str line = names_first_line(a, p->pod, p->ip, service);
    if (!line.n || names_file_has(s->file, line))
        return;
    vec_push(&s->early, mem_or_abort(strndup(line.p, line.n)));
    names_file_add(s->file, line);
    names_file_write(s->file, loop_now_ms(k->o.loop), NULL);
    names_look(k, m, p);
}
