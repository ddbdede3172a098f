/* Logs of old jobs go when there is too much of them, the oldest first. */

#include "node/logs.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muster-sweep-XXXXXX";

static const char *at(const char *job, const char *rest)
{
    static char path[2][200];
    static int turn;

    snprintf(path[turn ^= 1], sizeof(path[0]), "%s/ns/%s%s", dir, job, rest);
    return path[turn];
}

/* A job's log of that many bytes, last written to then. */
static void put(const char *job, int bytes, time_t then)
{
    struct timespec times[2] = { { .tv_sec = then }, { .tv_sec = then } };

    mkdir(at(job, ""), 0755);
    mkdir(at(job, "/worker-0"), 0755);
    int fd = open(at(job, "/worker-0/0.log"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, bytes) < 0 || futimens(fd, times) < 0)
        exit(1);
    close(fd);
    utimensat(AT_FDCWD, at(job, "/worker-0"), times, 0);
    utimensat(AT_FDCWD, at(job, ""), times, 0);
}

static bool is_there(const char *job)
{
    return access(at(job, ""), F_OK) == 0;
}

int main(void)
{
    struct log_limits most = { .bytes = 250, .files = 100, .young_s = 10 };
    int64_t removed = -1;
    char ns[100];

    if (!mkdtemp(dir))
        return 1;
    snprintf(ns, sizeof(ns), "%s/ns", dir);
    mkdir(ns, 0755);
    put("old", 100, 1000);
    put("older", 100, 900);
    put("new", 100, 1995);
    log_sweep(dir, &most, 2000, &removed);
    is_int(removed, 1, "over the limit one goes");
    ok(!is_there("older") && is_there("old") && is_there("new"), "the oldest");
    log_sweep(dir, &most, 2000, &removed);
    is_int(removed, 0, "within it none does");
    most.files = 1;
    put("busy", 100, 1999);
    log_sweep(dir, &most, 2000, &removed);
    ok(!is_there("old") && is_there("new") && is_there("busy"), "nor one that is being written");
    most.young_s = 0;
    log_sweep(dir, &most, 2000, &removed);
    ok(!is_there("new") && is_there("busy"), "but later");
    log_sweep("/nowhere/at/all", &most, 2000, &removed);
    is_int(removed, 0, "where there are none nothing is done");
    put("busy", 0, 0);
    most.files = 0;
    log_sweep(dir, &most, 2000, &removed);
    rmdir(ns);
    ok(rmdir(dir) == 0, "all is gone");
    return tap_done();
}
