/* Who holds a pod, by its state on disk: the process that wrote it, not one that got its number. */

#include "podnet/hub.h"
#include "sys/record.h"
#include "sys/sys.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int datafd;

struct facts {
    int64_t pid;
    int64_t born;
    const char *ip;
    bool ended;
};

static int64_t found(struct facts f, uint32_t *ip)
{
    AUTO(buf) struct buf b = { 0 };
    int pod = openat(datafd, "pods/u-1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    record_int(&b, "pid", f.pid);
    if (f.born)
        record_int(&b, "born", f.born);
    if (f.ip)
        record_add(&b, "ip", str_of(f.ip));
    if (f.ended)
        record_int(&b, "ended_ms", 1);
    if (sys_replace_file(pod, "state", buf_str(&b), NULL) < 0)
        abort();
    close(pod);
    return net_hub_pod_pid(datafd, S("u-1"), ip);
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char dir[] = "/tmp/test-net-XXXXXX";
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long long born = (long long)sys_birth_ticks(proc, "self");
    int me = (int)getpid();
    uint32_t ip = 0;

    if (!mkdtemp(dir) || (datafd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
        mkdirat(datafd, "pods", 0700) < 0 || mkdirat(datafd, "pods/u-1", 0700) < 0)
        abort();
    ok(born > 0 && born == sys_birth_ticks(proc, arena_printf(a, "%d", me).p), "we began once");
    ok(sys_birth_ticks(proc, "1") < born && sys_birth_ticks(proc, "0") == 0,
       "others before; some never");
    is_int(net_hub_pod_pid(datafd, S("u-2"), NULL), -1, "no state");
    is_int(found((struct facts){ .pid = me, .born = born, .ip = "10.42.0.9" }, &ip), me,
           "it lives");
    is_int(ip, 10u << 24 | 42u << 16 | 9, "there");
    is_int(found((struct facts){ .pid = me, .born = born - 1 }, NULL), -1,
           "another has its number");
    is_int(found((struct facts){ .pid = me }, NULL), -1, "nobody knows");
    is_int(found((struct facts){ .pid = me, .born = born, .ended = true }, NULL), -1,
           "it has ended");
    is_int(net_hub_pod_pid(datafd, S("../u-1"), NULL), -1, "not a name");
    unlinkat(datafd, "pods/u-1/state", 0);
    unlinkat(datafd, "pods/u-1", AT_REMOVEDIR);
    unlinkat(datafd, "pods", AT_REMOVEDIR);
    rmdir(dir);
    close(datafd);
    close(proc);
    return tap_done();
}
