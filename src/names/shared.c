/* The preload library is part of this program; it is written into the data directory, where the
 * programs of pods find it, under a name that tells its content: those that run keep theirs. */

#include "names/shared.h"

#include "base/arena.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "names/loopback.h"
#include "names/names.h"
#include "preload/blob.h"
#include "sys/record.h"
#include "sys/tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKENDS_MAX = 64 };

struct names_shared {
    struct names_addrs *addrs;
    char *dir;      /* DATA/names */
    char *lib;      /* NULL: it cannot be written, loaded, or named in LD_PRELOAD */
    char *services; /* what is behind ClusterIPs */
};

/* ---- files */

static int write_whole(struct arena *a, const char *path, str bytes, mode_t mode, struct err *e)
{
    const char *tmp = arena_printf(a, "%s.tmp", path).p;
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    size_t done = 0;

    if (fd < 0)
        return err_sys(e, "open %s", tmp);
    while (done < bytes.n) {
        ssize_t n = write(fd, bytes.p + done, bytes.n - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    fchmod(fd, mode); /* whatever the umask */
    if (close(fd) < 0 || done < bytes.n || rename(tmp, path) < 0) {
        err_sys(e, "write %s", path);
        unlink(tmp);
        return -1;
    }
    return 0;
}

/* Not from a file system that is mounted noexec: each program would complain of it. */
static int lib_load(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(e, "open %s", path);
    void *at = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        err_sys(e, "load %s (is its file system mounted noexec?)", path);
    else
        munmap(at, 1);
    close(fd);
    return at == MAP_FAILED ? -1 : 0;
}

static char *write_lib(struct arena *a, const char *dir)
{
    str blob = { (const char *)preload_blob, preload_blob_size };
    str path = arena_printf(a, "%s/libmuster-%016" PRIx64 ".so", dir, str_hash(blob));
    struct err e = { 0 };
    struct stat st;

    if (str_find(path, ':') >= 0 || str_find(path, ';') >= 0) {
        log_warn("pods have no cluster names: LD_PRELOAD cannot hold this path", KV("path", path));
        return NULL;
    }
    bool there = stat(path.p, &st) == 0 && (size_t)st.st_size == blob.n;
    if (!there && (tree_make(a, dir, 0755, &e) < 0 || write_whole(a, path.p, blob, 0755, &e) < 0)) {
        log_warn("pods have no cluster names: cannot write the preload library",
                 KVZ("error", e.msg));
        return NULL;
    }
    if (lib_load(path.p, &e) < 0) {
        log_warn("pods have no cluster names: cannot load the preload library",
                 KVZ("error", e.msg));
        return NULL;
    }
    return mem_or_abort(strdup(path.p));
}

/* Before any new pod gets an address. */
static void mark_known(struct names_shared *s, str data, jv known)
{
    JV_EACH (it, known) {
        AUTO(arena) struct arena *a = arena_new();
        str path = arena_printf(a, "%" PRI_STR "/pods/%" PRI_STR "/sandbox", STR_ARG(data),
                                STR_ARG(jv_str(it.value, S(""))));
        str box = record_read(a, AT_FDCWD, path.p, NULL);
        names_addrs_mark(s->addrs, str_of(record_get(box, "net.ip")));
    }
}

struct names_shared *names_shared_new(str data, jv known)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_shared *s = mem_new(sizeof(*s));

    s->dir = mem_or_abort(strdup(arena_printf(a, "%" PRI_STR "/names", STR_ARG(data)).p));
    s->services = mem_or_abort(strdup(arena_printf(a, "%s/services", s->dir).p));
    s->lib = write_lib(a, s->dir);
    s->addrs = names_addrs_new(data);
    mark_known(s, data, known);
    return s;
}

void names_shared_free(struct names_shared *s)
{
    if (!s)
        return;
    names_addrs_free(s->addrs);
    free(s->dir);
    free(s->lib);
    free(s->services);
    free(s);
}

int names_shared_attach(struct names_shared *s, struct arena *a, jv *net, struct err *e)
{
    str ip = names_addrs_take(s->addrs, a);

    if (!ip.n)
        return err_set(e, ERR_UNAVAILABLE, "no address is left for the pod");
    *net = jobj(a, { "host", JV_TRUE }, { "ip", jstr(a, ip) });
    return 0;
}

void names_shared_adopt(struct names_shared *s, str ip)
{
    names_addrs_mark(s->addrs, ip);
}

void names_shared_detach(struct names_shared *s, str ip)
{
    names_addrs_give(s->addrs, ip);
}

static jv variable(struct arena *a, const char *name, str value)
{
    return value.n ? jstr(a, arena_printf(a, "%s=%" PRI_STR, name, STR_ARG(value))) : JV_ABSENT;
}

/* So built, we do not start behind another library, as when a pod runs us. */
static jv sanitizer(struct arena *a)
{
#ifdef __SANITIZE_ADDRESS__
    return jstrz(a, "ASAN_OPTIONS=verify_asan_link_order=0");
#else
    (void)a;
    return JV_ABSENT;
#endif
}

jv names_shared_env(const struct names_shared *s, struct arena *a, jv pod, str ip, str hosts)
{
    /* Open MPI leaves out 127.0.0.0/8 by itself; here pods are nowhere else. */
    str block =
        arena_printf(a, "%" PRI_STR ".0.0/16",
                     STR_ARG(str_sub(ip, 0, (size_t)str_find(str_sub(ip, 4, ip.n), '.') + 4)));

    return jarr(a, variable(a, "MUSTER_POD_IP", ip),
                variable(a, "MUSTER_POD_HOSTNAME", names_hostname(pod)),
                variable(a, "MUSTER_POD_FQDN", names_fqdn(a, pod)),
                variable(a, "MUSTER_HOSTS", hosts),
                variable(a, "MUSTER_SERVICES", str_of(s->services)),
                variable(a, "OMPI_MCA_btl_tcp_if_include", block),
                variable(a, "OMPI_MCA_oob_tcp_if_include", block), sanitizer(a));
}

const char *names_shared_lib(const struct names_shared *s)
{
    return s->lib;
}

/* ---- ClusterIPs */

static void add_route(struct buf *b, jv route, jv port)
{
    str proto = jv_str(jv_at(port, "protocol"), S("TCP"));
    size_t n = 0;

    buf_printf(b, "%s %" PRI_STR " %" PRId64, str_eq(proto, S("UDP")) ? "udp" : "tcp",
               STR_ARG(jv_str(jv_at(route, "ip"), S(""))), jv_int(jv_at(port, "port"), 0));
    for (struct jv_iter it = jv_iter(jv_at(port, "to")); n < BACKENDS_MAX && jv_next(&it); n++)
        buf_printf(b, " %" PRI_STR ":%" PRId64, STR_ARG(jv_str(jv_at(it.value, "ip"), S(""))),
                   jv_int(jv_at(it.value, "port"), 0));
    buf_addc(b, '\n');
}

int names_shared_routes(struct names_shared *s, jv routes, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, routes)
        JV_EACH (port, jv_at(it.value, "ports"))
            add_route(&b, it.value, port.value);
    if (tree_make(a, s->dir, 0755, e) < 0)
        return -1;
    return write_whole(a, s->services, buf_str(&b), 0644, e);
}
