#include "netrig.h"

#include "podnet/hub.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct loop *the_loop;

static void pod_json(struct arena *a, int n, struct place *p, jv *pod)
{
    snprintf(p->uid, sizeof(p->uid), "pod-%d-%d", (int)getpid(), n);
    jv meta =
        jobj(a, { "name", jstrz(a, "some-pod") }, { "uid", jstr(a, arena_str(a, str_of(p->uid))) });
    *pod = jobj(a, { "metadata", meta });
}

void netrig_answered(void *arg, jv ok, int fd, const struct err *e)
{
    struct netrig_answer *got = arg;

    got->ok = jv_copy(got->a, ok);
    got->fd = fd;
    got->e = *e;
    got->is_here = true;
}

jv netrig_answer(struct netrig_answer *got)
{
    while (!got->is_here)
        loop_turn(the_loop);
    return got->ok;
}

bool netrig_attach(struct arena *a, struct net *net, int n, struct place *p, jv *how)
{
    const struct pod_network *nn = net_pod_network(net);
    struct netrig_answer got = { .a = a };
    jv pod;

    *p = (struct place){ .net = net };
    pod_json(a, n, p, &pod);
    nn->attach(nn->ctx, pod, (struct net_then){ netrig_answered, &got });
    *how = netrig_answer(&got);
    if (!jv_exists(*how)) {
        printf("# attach: %s\n", got.e.msg);
        return false;
    }
    snprintf(p->ip, sizeof(p->ip), "%" PRI_STR, STR_ARG(jv_str(jv_at(*how, "ip"), S(""))));
    return true;
}

struct place netrig_begin(struct rig *r, struct arena *a, struct net *net, int n)
{
    struct place p;
    jv how = JV_ABSENT;

    if (!netrig_attach(a, net, n, &p, &how))
        printf("Bail out! pod %d has no network\n", n), exit(1);
    p.pod = rig_pod(r, n, json_text(a, jobj(a, { "net", how })).p);
    if (!rig_wait(r, &p.pod->hello))
        printf("Bail out! pod %d is not up: %s\n", n, rig_last(p.pod, RUNTIME_FAILED)->why),
            exit(1);
    return p;
}

void netrig_finish(struct place *p)
{
    const struct pod_network *nn = net_pod_network(p->net);

    rig_end(p->pod, 0);
    free(p->pod);
    nn->detach(nn->ctx, str_of(p->uid));
}

struct net *netrig_open(struct rig *r, void (*again)(void *ctx), void *ctx)
{
    struct net *n = NULL;
    struct err e = { 0 };
    struct net_opts o = { .loop = r->loop, .data = r->dir, .again = again, .ctx = ctx };

    the_loop = r->loop;

    if (net_new(&n, &o, &e) < 0 || net_wait(n, &e) < 0)
        printf("Bail out! %s\n", e.msg), exit(1);
    return n;
}

bool netrig_says(struct rig *r, const struct place *p, const char *text)
{
    for (int i = 0; i < 6000; i++) {
        AUTO(arena) struct arena *a = arena_new();
        if (str_contains(rig_log(a, p->pod), str_of(text)))
            return true;
        rig_turn(r);
        usleep(10000);
    }
    AUTO(arena) struct arena *a = arena_new();
    printf("# it says: %" PRI_STR "\n", STR_ARG(rig_log(a, p->pod)));
    return false;
}

void netrig_serve(struct place *p, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    rig_start(p->pod,
              arena_printf(a,
                           "exec perl -MIO::Socket::INET -e '$|=1; $s=IO::Socket::INET->new("
                           "LocalAddr=>\"0.0.0.0\",LocalPort=>%d,Listen=>5,ReuseAddr=>1) or die; "
                           "print \"listening\\n\"; while($c=$s->accept){print \"from \","
                           "$c->peerhost,\"\\n\"; print $c \"I am %s\\n\"; close $c}'",
                           NETRIG_PORT, name)
                  .p,
              NULL);
}

void netrig_ask(struct place *p, const char *name, const char *ip, int port)
{
    AUTO(arena) struct arena *a = arena_new();

    rig_start(p->pod,
              arena_printf(a,
                           "exec perl -MIO::Socket::INET -e '$|=1; for(1..600){$c=IO::Socket::INET"
                           "->new(PeerAddr=>\"%s\",PeerPort=>%d,Timeout=>20) and last; "
                           "select(undef,undef,undef,.05)} print \"%s heard \",scalar(<$c>),"
                           "\"\\n\"'",
                           ip, port, name)
                  .p,
              arena_printf(a, "{'name': '%s'}", name).p);
}

bool netrig_hears(struct net *net, const char *ip, const char *text)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(NETRIG_PORT) };
    AUTO(arena) struct arena *a = arena_new();
    struct netrig_answer answer = { .a = a };
    char got[64] = "";

    net_socket(net, (struct net_then){ netrig_answered, &answer });
    netrig_answer(&answer);
    int fd = answer.fd;

    inet_pton(AF_INET, ip, &to.sin_addr);
    if (fd < 0 ||
        (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)) {
        printf("# %s\n", fd < 0 ? answer.e.msg : strerror(errno));
        return false;
    }
    poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 60 * 1000);
    ssize_t n = read(fd, got, sizeof(got) - 1);
    close(fd);
    return n > 0 && strncmp(got, text, strlen(text)) == 0;
}

int netrig_hubs(const struct rig *r, int signo)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = arena_printf(a, "hub%c%s", 0, r->dir);
    DIR *d = opendir("/proc");
    int n = 0;

    for (struct dirent *at; (at = readdir(d));) {
        str cmd = at->d_name[0] < '0' || at->d_name[0] > '9'
                      ? STR_NONE
                      : rig_read(a, arena_printf(a, "/proc/%s/cmdline", at->d_name).p);
        if (!cmd.n || !memmem(cmd.p, cmd.n, mark.p, mark.n))
            continue;
        n++;
        if (signo)
            kill(atoi(at->d_name), signo);
    }
    closedir(d);
    return n;
}

bool netrig_no_hubs(const struct rig *r)
{
    for (int i = 0; i < 6000; i++) {
        if (netrig_hubs(r, 0) == 0)
            return true;
        usleep(10000);
    }
    return false;
}

/* Root's test of an ordinary user: pasta and slirp4netns need a device that distributions let
 * everybody use, and bare machines do not. Seen by this test only. */
static void show_tun(void)
{
    static const char dir[] = "/dev/net", dev[] = "/dev/net/tun";

    if (geteuid() != 0 || access(dev, F_OK) < 0 || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
        mount("tun", dir, "tmpfs", 0, "mode=755") < 0)
        return;
    if (mknod(dev, S_IFCHR | 0666, makedev(10, 200)) < 0 || chmod(dev, 0666) < 0)
        printf("# %s: %s\n", dev, strerror(errno));
}

void netrig_main(int argc, char **argv, struct rig *r)
{
    if (argc > 1 && strcmp(argv[1], "hub") == 0)
        exit(net_hub_main(argc - 1, argv + 1));
    if (argc > 2 && strcmp(argv[2], "user") == 0)
        show_tun();
    rig_main(argc, argv, r);
    the_loop = r->loop;
}
