/* Runs nft with rules on its standard input. */

#include "podnet/nft.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool net_find_program(const char *name, char out[PATH_MAX])
{
    const char *path = getenv("PATH");
    str places[] = { str_of(path ? path : ""), S("/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin") };

    for (size_t i = 0; i < COUNT(places); i++)
        for (str rest = places[i]; rest.p;) {
            str dir = str_cut(&rest, ':');
            int n = snprintf(out, PATH_MAX, "%" PRI_STR "/%s", STR_ARG(dir), name);
            if (dir.n && dir.p[0] == '/' && n < PATH_MAX && access(out, X_OK) == 0)
                return true;
        }
    return false;
}

/* In a user namespace without a root, what a program may do is lost when it starts, but for this.
 */
static void keep_rights(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &head, data) < 0)
        return;
    data[0].inheritable |= 1u << CAP_NET_ADMIN & data[0].permitted;
    if (syscall(SYS_capset, &head, data) == 0)
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0);
}

__attribute__((noreturn)) static void become(const char *path, int in, int said)
{
    static char *const none[] = { NULL };
    char words[][4] = { "nft", "-f", "-" };
    char *const argv[] = { words[0], words[1], words[2], NULL };

    keep_rights();
    dup2(in, 0);
    dup2(said, 1);
    dup2(said, 2);
    execve(path, argv, none);
    dprintf(2, "cannot run %s: errno %d\n", path, errno);
    _exit(127);
}

int net_nft_start(struct net_nft *n, str rules, struct err *e)
{
    char path[PATH_MAX];

    *n = (struct net_nft){ .pidfd = -1, .said = -1 };
    if (!net_find_program("nft", path))
        return err_set(e, ERR_NOT_FOUND, "nft (package nftables) is not installed");
    AUTO(sys_fd) int in = memfd_create("rules", MFD_CLOEXEC);
    n->said = memfd_create("said", MFD_CLOEXEC);
    if (in < 0 || n->said < 0 || pwrite(in, rules.p, rules.n, 0) != (ssize_t)rules.n) {
        err_sys(e, "rules for nft");
        if (n->said >= 0)
            close(n->said);
        return -1;
    }
    n->pid = sys_clone(0, &n->pidfd);
    if (n->pid == 0)
        become(path, in, n->said);
    if (n->pid < 0) {
        err_sys(e, "run nft");
        close(n->said);
        n->pid = 0;
        return -1;
    }
    return 0;
}

int net_nft_end(struct net_nft *n, struct err *e)
{
    char text[200];
    int status = 0;

    while (waitpid(n->pid, &status, 0) < 0 && errno == EINTR)
        ;
    ssize_t got = pread(n->said, text, sizeof(text) - 1, 0);
    close(n->said);
    close(n->pidfd);
    *n = (struct net_nft){ .pidfd = -1, .said = -1 };
    if (status == 0)
        return 0;
    str said = { text, got > 0 ? (size_t)got : 0 };
    str first = str_cut(&said, '\n');
    return err_set(e, ERR_UNAVAILABLE, "nft: %" PRI_STR, STR_ARG(first));
}

int net_nft_run(str rules, struct err *e)
{
    struct net_nft n;

    return net_nft_start(&n, rules, e) < 0 ? -1 : net_nft_end(&n, e);
}
