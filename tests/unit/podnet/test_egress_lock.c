/* One at a time makes a way out, and no other user can keep root from it. */

#include "podnet/egress.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* Whether fn, in a process of its own, says yes. */
static bool elsewhere(bool (*fn)(void))
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(fn() ? 0 : 1);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_taken(void)
{
    int fd = open(NET_EGRESS_LOCK, O_RDWR | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static bool nobody_can_open_it(void)
{
    return setgid(NOBODY) == 0 && setuid(NOBODY) == 0 &&
           open(NET_EGRESS_LOCK, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES;
}

static void one_at_a_time(void)
{
    int fd = net_egress_lock();

    ok(fd >= 0 && elsewhere(is_taken), "while it is held nobody else has it");
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    socklen_t n = sizeof(at);
    ok(getsockname(fd, (struct sockaddr *)&at, &n) < 0 && errno == ENOTSOCK,
       "it is no socket, whose name anybody could take");
    close(fd);
    ok(!elsewhere(is_taken), "and then it is free");
    ok(elsewhere(nobody_can_open_it), "an ordinary user cannot take it");
}

int main(void)
{
    if (geteuid() != 0)
        is_int(net_egress_lock(), -1, "an ordinary user needs none");
    else
        one_at_a_time();
    return tap_done();
}
