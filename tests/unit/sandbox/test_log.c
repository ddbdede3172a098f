/* Log files: CRI's format, parts of lines, rotation, a disk that is full. */

#include "rig.h"
#include "sandbox/log.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/muster-log.XXXXXX";

static str file(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", dir, name);
}

/* Without the times, which are checked for their shape. */
static str lines(struct arena *a, str path)
{
    struct buf b = { 0 };
    str rest = rig_read(a, path.p);

    while (rest.n) {
        str line = str_cut(&rest, '\n');
        str time = str_cut(&line, ' ');
        if (time.n != 30 || time.p[10] != 'T' || time.p[19] != '.' || time.p[29] != 'Z')
            buf_add(&b, S("bad time "));
        buf_add(&b, line);
        buf_addc(&b, '\n');
    }
    str s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

static void lines_and_parts(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_log l;
    struct warden_stream out = { .name = "stdout" };
    struct warden_stream err = { .name = "stderr" };

    warden_log_open(&l, file(a, "deep/er/0.log").p, 1 << 20, 3, NULL);
    warden_log_add(&l, &out, S("one\ntw"));
    warden_log_add(&l, &err, S("oops\n"));
    warden_log_add(&l, &out, S("o\n\nend"));
    warden_log_end(&l, &out);
    warden_log_end(&l, &err);
    warden_log_done(&l);
    is_str(lines(a, file(a, "deep/er/0.log")),
           S("stdout F one\nstderr F oops\nstdout F two\nstdout F \nstdout P end\n"),
           "whole lines, and a part at the end");

    char *big = malloc(40000);
    memset(big, 'x', 40000);
    warden_log_open(&l, file(a, "long.log").p, 1 << 20, 3, NULL);
    warden_log_add(&l, &out, (str){ big, 40000 });
    warden_log_add(&l, &out, S("\n"));
    warden_log_end(&l, &out);
    warden_log_done(&l);
    free(big);
    str got = rig_read(a, file(a, "long.log").p);
    int tags[3] = { 0 };
    for (str rest = got; rest.n;) {
        str line = str_cut(&rest, '\n');
        tags[line.p[38] == 'P' ? 0 : 1]++;
        tags[2] += (int)line.n - 40;
    }
    ok(tags[0] == 2 && tags[1] == 1 && tags[2] == 40000, "a long line comes in parts");
}

static void files_are_rotated(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_log l;
    struct warden_stream out = { .name = "stdout" };
    struct stat s;

    warden_log_open(&l, file(a, "r.log").p, 4096, 3, NULL);
    for (int i = 0; i < 1000; i++)
        warden_log_add(&l, &out, arena_printf(a, "line %d\n", i));
    warden_log_end(&l, &out);
    warden_log_done(&l);
    bool small = true;
    for (int i = 0; i < 3; i++) {
        str path = i ? arena_printf(a, "%s/r.log.%d", dir, i) : file(a, "r.log");
        small &= stat(path.p, &s) == 0 && s.st_size > 0 && s.st_size <= 4096;
    }
    ok(small, "three files, none larger than asked for");
    ok(access(file(a, "r.log.3").p, F_OK) < 0, "and no fourth");
    ok(str_ends(lines(a, file(a, "r.log")), S("stdout F line 999\n")), "the newest in the first");
    str old = lines(a, file(a, "r.log.1"));
    str new = lines(a, file(a, "r.log"));
    int last = 0;
    int first = -1;
    sscanf(old.p + str_rfind(str_sub(old, 0, old.n - 1), '\n') + 1, "stdout F line %d", &last);
    sscanf(new.p, "stdout F line %d", &first);
    is_int(first, last + 1, "nothing is lost between two");
}

/* A tmpfs of 64 KB in a mount namespace of our own. */
static bool small_disk(const char *at, struct err *e)
{
    uid_t uid = geteuid();

    if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
        return err_sys(e, "unshare") == 0;
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
        mount("tmpfs", at, "tmpfs", 0, "size=64k") < 0)
        return err_sys(e, "mount") == 0;
    return true;
}

static void a_full_disk_stops_nobody(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_log l;
    struct warden_stream out = { .name = "stdout" };
    struct err e = { 0 };
    str disk = file(a, "disk");

    mkdir(disk.p, 0755);
    if (!small_disk(disk.p, &e)) {
        ok(true, "a full disk # SKIP %s", e.msg);
        return;
    }
    warden_log_open(&l, arena_cat(a, disk, S("/0.log")).p, 1 << 20, 3, NULL);
    for (int i = 0; i < 5000; i++)
        warden_log_add(&l, &out, arena_printf(a, "line %d\n", i));
    str got = lines(a, arena_cat(a, disk, S("/0.log")));
    ok(str_starts(got, S("stdout F line 0\n")) && !str_contains(got, S("bad time")),
       "lines until the disk is full are whole");
    ok(l.lost > 0, "the rest is counted: %d bytes", (int)l.lost);
    truncate(arena_cat(a, disk, S("/0.log")).p, 0);
    l.size = 0;
    warden_log_add(&l, &out, S("room again\n"));
    warden_log_end(&l, &out);
    warden_log_done(&l);
    got = lines(a, arena_cat(a, disk, S("/0.log")));
    ok(str_starts(got, S("stderr F [muster: ")) && str_ends(got, S("stdout F room again\n")),
       "and told when there is room");
    umount(disk.p);
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!mkdtemp(dir))
        return 1;
    lines_and_parts();
    files_are_rotated();
    a_full_disk_stops_nobody();
    if (system(arena_printf(a, "rm -rf %s", dir).p) != 0)
        printf("# left %s\n", dir);
    return tap_done();
}
