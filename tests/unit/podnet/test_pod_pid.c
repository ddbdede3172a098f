/* Who holds a pod, by its state on disk: the process that wrote it, not one that got its number. */

#include "podnet/hub.h"
#include "sys/sys.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int datafd;

static int64_t found(const char *state, uint32_t *ip)
{
    int pod = openat(datafd, "pods/u-1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (sys_replace_file(pod, "state.json", str_of(state), NULL) < 0)
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
    is_int(found("{", NULL), -1, "half a state");
    is_int(
        found(arena_printf(a, "{\"pid\":%d,\"born\":%lld,\"ip\":\"10.42.0.9\"}", me, born).p, &ip),
        me, "it lives");
    is_int(ip, 10u << 24 | 42u << 16 | 9, "there");
    is_int(found(arena_printf(a, "{\"pid\":%d,\"born\":%lld}", me, born - 1).p, NULL), -1,
           "another has its number");
    is_int(found(arena_printf(a, "{\"pid\":%d}", me).p, NULL), -1, "nobody knows");
    is_int(found(arena_printf(a, "{\"pid\":%d,\"born\":%lld,\"ended_ms\":1}", me, born).p, NULL),
           -1, "it has ended");
    is_int(net_hub_pod_pid(datafd, S("../u-1"), NULL), -1, "not a name");
    unlinkat(datafd, "pods/u-1/state.json", 0);
    unlinkat(datafd, "pods/u-1", AT_REMOVEDIR);
    unlinkat(datafd, "pods", AT_REMOVEDIR);
    rmdir(dir);
    close(datafd);
    close(proc);
    return tap_done();
}
