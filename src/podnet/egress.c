/* Ways out, from the best to none. */

#include "podnet/egress.h"

#include "base/buf.h"
#include "podnet/link.h"
#include "podnet/nft.h"
#include "podnet/subnet.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    HERE = 0xfffe,  /* of the pods' network: this machine's end */
    THERE = 0xfffd, /* and the hub's */
    READY_MS = 5 * 1000,
    LOOK_MS = 2,
    LOCK_MS = 20 * 1000,
    LOCK_LOOK_MS = 5,
};

static const uint8_t here_mac[NET_MAC_BYTES] = { 0x0a, 0x58, 0, 0, 1, 1 };
static const uint8_t there_mac[NET_MAC_BYTES] = { 0x0a, 0x58, 0, 0, 1, 2 };

__attribute__((format(printf, 2, 3))) static int none(struct net_egress *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(g->words, sizeof(g->words), fmt, ap);
    va_end(ap);
    g->way = NET_EGRESS_NONE;
    return -1;
}

static void undo(const struct net_egress *g);

static const char *link_name(const struct net_egress *g, char out[IFNAMSIZ])
{
    snprintf(out, IFNAMSIZ, "mst%.8s", g->tag);
    return out;
}

/* ---- routed */

static int host_link(const struct net_egress *g, pid_t pid, struct err *e)
{
    char path[64];
    char name[IFNAMSIZ];
    struct net_link l;
    uint32_t there = g->base + THERE;

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    AUTO(sys_fd) int ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0)
        return err_sys(e, "%s", path);
    if (net_link_open(&l, e) < 0)
        return -1;
    link_name(g, name);
    net_link_veth(&l, &(struct net_veth){ .name = name,
                                          .mac = here_mac,
                                          .peer = NET_UPLINK,
                                          .peer_mac = there_mac,
                                          .peer_ns = ns });
    int rc = net_link_do(&l, e);
    int index = (int)if_nametoindex(name);
    if (rc == 0 && index) {
        net_link_address(&l, index, g->base + HERE, 32);
        net_link_route(&l, &(struct net_route){ .to = there, .bits = 32, .index = index });
        net_link_neighbour(&l, index, there, there_mac);
        net_link_route(
            &l, &(struct net_route){
                    .to = g->base, .bits = NET_SUBNET_BITS, .through = there, .index = index });
        rc = net_link_do(&l, e);
    }
    net_link_close(&l);
    return rc;
}

static int host_rules(const struct net_egress *g, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    char name[IFNAMSIZ], net[NET_IP_TEXT];

    link_name(g, name);
    net_ip_text(g->base, net);
    buf_printf(&b, "table ip muster_%s\ndelete table ip muster_%s\ntable ip muster_%s {\n", g->tag,
               g->tag, g->tag);
    /* Nobody from elsewhere gets in by naming this machine as the way to the pods. */
    buf_printf(&b,
               "chain forward { type filter hook forward priority -5; policy accept;\n"
               "oifname \"%s\" ct state established,related accept\n"
               "oifname \"%s\" drop\n}\n",
               name, name);
    buf_printf(&b,
               "chain postrouting { type nat hook postrouting priority 100; policy accept;\n"
               "ip saddr %s/%d oifname != \"%s\" masquerade\n}\n}\n",
               net, NET_SUBNET_BITS, name);
    return net_nft_run(buf_str(&b), e);
}

static const char forward[] = "/proc/sys/net/ipv4/ip_forward";

/* Another link that is up and no hardware: containers, machines or tunnels of others. */
static bool others_forward(const struct net_egress *g)
{
    DIR *d = opendir("/sys/class/net");
    char ours[IFNAMSIZ];
    bool found = false;

    link_name(g, ours);
    for (struct dirent *at; d && !found && (at = readdir(d));) {
        char path[300], text[PATH_MAX] = "", flags[16] = "";
        if (at->d_name[0] == '.' || strcmp(at->d_name, "lo") == 0 || strcmp(at->d_name, ours) == 0)
            continue;
        ssize_t n = readlinkat(dirfd(d), at->d_name, text, sizeof(text) - 1);
        snprintf(path, sizeof(path), "%s/flags", at->d_name);
        sys_read_file(dirfd(d), path, flags, sizeof(flags));
        found = n > 0 && strstr(text, "/virtual/") && strtol(flags, NULL, 16) & IFF_UP;
    }
    if (d)
        closedir(d);
    return found || !d;
}

/* The first server that turns forwarding on notes the boot of the machine, in a file for its
 * network namespace; the last one to stop turns it off. Both hold the lock. */
struct forward_note {
    char path[128];
    char boot[64];
};

static struct forward_note forward_note(void)
{
    struct forward_note n = { 0 };
    struct stat st = { 0 };

    if (stat("/proc/self/ns/net", &st) < 0)
        st.st_ino = 0;
    snprintf(n.path, sizeof(n.path), NET_EGRESS_LOCK_DIR "/forwarding-%llu",
             (unsigned long long)st.st_ino);
    sys_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", n.boot, sizeof(n.boot));
    return n;
}

static void note_forwarding(void)
{
    struct forward_note n = forward_note();
    int fd = open(n.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd >= 0 && write(fd, n.boot, strlen(n.boot)) < 0)
        unlink(n.path); /* then it stays on */
    if (fd >= 0)
        close(fd);
}

static void put_forwarding_back(const struct net_egress *g)
{
    struct forward_note n = forward_note();
    char noted[sizeof(n.boot)] = "";

    if (sys_read_file(AT_FDCWD, n.path, noted, sizeof(noted)) < 0 || others_forward(g))
        return;
    if (strcmp(n.boot, noted) != 0)
        return;
    sys_write_file(AT_FDCWD, forward, "0");
    unlink(n.path);
}

static int routed(struct net_egress *g, pid_t pid)
{
    char was[4] = "";
    struct err e = { 0 };

    if (sys_read_file(AT_FDCWD, forward, was, sizeof(was)) < 0)
        return none(g, "%s cannot be read", forward);
    if (host_rules(g, &e) < 0)
        return none(g, "%s", e.msg);
    if (was[0] == '0' && sys_write_file(AT_FDCWD, forward, "1") < 0) {
        undo(g);
        return none(g, "%s cannot be set", forward);
    }
    g->forwards = was[0] == '0';
    if (g->forwards)
        note_forwarding();
    if (host_link(g, pid, &e) < 0) {
        undo(g);
        return none(g, "uplink: %s", e.msg);
    }
    snprintf(g->words, sizeof(g->words), "masqueraded by nftables%s",
             g->forwards ? "; net.ipv4.ip_forward was 0 and is 1 now" : "");
    return 0;
}

static int routed_inside(const struct net_egress *g, struct err *e)
{
    struct net_link l;
    uint32_t here = g->base + HERE;
    int index = (int)if_nametoindex(NET_UPLINK);

    if (!index)
        return err_sys(e, NET_UPLINK);
    if (net_link_open(&l, e) < 0)
        return -1;
    net_link_up(&l, index);
    net_link_address(&l, index, g->base + THERE, 32);
    net_link_route(&l, &(struct net_route){ .to = here, .bits = 32, .index = index });
    net_link_route(&l, &(struct net_route){ .through = here, .index = index });
    net_link_neighbour(&l, index, here, here_mac);
    int rc = net_link_do(&l, e) < 0 ? -1 : net_link_await(&l, index, e);
    net_link_close(&l);
    return rc;
}

/* ---- pasta, slirp4netns */

static pid_t spawn(const char *path, char *const *argv)
{
    pid_t pid = sys_clone(0, NULL);

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL); /* pasta takes offence */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, 0);
    dup2(null, 1);
    execv(path, argv);
    _exit(127);
}

/* There is a default route over the uplink, as seen from the hub. */
static bool is_up(pid_t pid)
{
    char path[64], text[4096];

    snprintf(path, sizeof(path), "/proc/%d/net/route", (int)pid);
    if (sys_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
        return false;
    return strstr(text, NET_UPLINK "\t00000000\t") != NULL;
}

static int await(struct net_egress *g, pid_t pid, const char *name)
{
    int status;

    for (int i = 0; i < READY_MS / LOOK_MS; i++) {
        if (is_up(pid))
            return 0;
        if (waitpid(g->helper, &status, WNOHANG) == g->helper) {
            g->helper = 0;
            return none(g, "%s does not work here (see hub.log)", name);
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000L * 1000 * LOOK_MS }, NULL);
    }
    undo(g);
    g->helper = 0;
    return none(g, "%s does not get ready", name);
}

static int by_pasta(struct net_egress *g, const char *path, pid_t pid)
{
    char here[NET_IP_TEXT], there[NET_IP_TEXT], target[16];
    const char *argv[] = { "pasta", "-f",   "-q",          "--config-net", "-t",
                           "none",  "-u",   "none",        "-T",           "none",
                           "-U",    "none", "--ns-ifname", NET_UPLINK,     "-a",
                           there,   "-n",   "30",          "-g",           here,
                           target,  NULL };

    net_ip_text(g->base + HERE, here);
    net_ip_text(g->base + THERE, there);
    snprintf(target, sizeof(target), "%d", (int)pid);
    g->helper = spawn(path, (char *const *)(uintptr_t)argv);
    g->way = NET_EGRESS_PASTA;
    snprintf(g->words, sizeof(g->words), "through pasta");
    return await(g, pid, "pasta");
}

static int by_slirp(struct net_egress *g, const char *path, pid_t pid)
{
    char target[16];
    const char *argv[] = { "slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback",
                           target,        NET_UPLINK,    NULL };

    snprintf(target, sizeof(target), "%d", (int)pid);
    g->helper = spawn(path, (char *const *)(uintptr_t)argv);
    g->way = NET_EGRESS_SLIRP;
    snprintf(g->words, sizeof(g->words), "through slirp4netns");
    return await(g, pid, "slirp4netns");
}

static int by_helper(struct net_egress *g, pid_t pid)
{
    char path[PATH_MAX];
    bool some = false;

    if (!net_find_program("nft", path))
        return none(g, "nft (package nftables) is not installed");
    if (net_find_program("pasta", path)) {
        some = true;
        if (by_pasta(g, path, pid) == 0)
            return 0;
    }
    if (net_find_program("slirp4netns", path)) {
        some = true;
        if (by_slirp(g, path, pid) == 0)
            return 0;
    }
    return some ? -1 : none(g, "neither pasta (package passt) nor slirp4netns is installed");
}

/* ---- */

int net_egress_lock(void)
{
    if (geteuid() != 0 || sys_mkdirs(NET_EGRESS_LOCK_DIR, 0755) < 0)
        return -1;
    int fd = open(NET_EGRESS_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int i = 0; fd >= 0 && i < LOCK_MS / LOCK_LOOK_MS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            break;
        nanosleep(&(struct timespec){ .tv_nsec = 1000L * 1000 * LOCK_LOOK_MS }, NULL);
    }
    return fd;
}

void net_egress_clear(str tag)
{
    struct net_egress g = { 0 };
    char name[IFNAMSIZ];
    struct net_link l;

    snprintf(g.tag, sizeof(g.tag), "%" PRI_STR, STR_ARG(tag));
    int index = (int)if_nametoindex(link_name(&g, name));
    if (!index || net_link_open(&l, NULL) < 0)
        return;
    net_link_delete(&l, index);
    net_link_do(&l, NULL);
    net_link_close(&l);
}

void net_egress_start(struct net_egress *g, uint32_t base, str tag, pid_t pid)
{
    *g = (struct net_egress){ .base = base, .way = NET_EGRESS_ROUTED };
    snprintf(g->tag, sizeof(g->tag), "%" PRI_STR, STR_ARG(tag));
    if (geteuid() == 0)
        routed(g, pid);
    else
        by_helper(g, pid);
}

int net_egress_inside(const struct net_egress *g, struct err *e)
{
    switch (g->way) {
    case NET_EGRESS_NONE:
        return 0;
    case NET_EGRESS_ROUTED:
        return routed_inside(g, e);
    case NET_EGRESS_PASTA:
    case NET_EGRESS_SLIRP:
        break;
    }
    /* They know one address only. */
    return net_nft_run(S("table ip egress\ndelete table ip egress\ntable ip egress {\n"
                         "chain postrouting { type nat hook postrouting priority 100;\n"
                         "oifname \"" NET_UPLINK "\" masquerade\n}\n}\n"),
                       e);
}

static void undo(const struct net_egress *g)
{
    char text[64];

    if (g->helper > 0) {
        kill(g->helper, SIGKILL);
        waitpid(g->helper, NULL, 0);
    }
    if (g->way != NET_EGRESS_ROUTED)
        return;
    int n = snprintf(text, sizeof(text), "delete table ip muster_%s\n", g->tag);
    net_nft_run((str){ text, (size_t)n }, NULL);
    /* The kernel would remove the link some time after the hub: others take it for one in use. */
    net_egress_clear(str_of(g->tag));
    put_forwarding_back(g);
}

void net_egress_stop(const struct net_egress *g)
{
    AUTO(sys_fd) int lock = g->way == NET_EGRESS_ROUTED ? net_egress_lock() : -1;

    undo(g);
}
