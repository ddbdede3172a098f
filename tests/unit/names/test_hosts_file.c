/* A hosts file that changes while others read it. */

#include "base/vec.h"
#include "loop/loop.h"
#include "names/hosts_file.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/muster-hosts-XXXXXX";
static int64_t now = 1000000;

static str lines_of(struct arena *a)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(path, "re");
    char line[4096];

    while (f && fgets(line, sizeof(line), f))
        if (line[0] != '#') {
            buf_add(&b, str_trim(str_of(line)));
            buf_addc(&b, '|');
        }
    if (f)
        fclose(f);
    return arena_str(a, buf_str(&b));
}

static void shows(const char *want, const char *what)
{
    AUTO(arena) struct arena *a = arena_new();

    is_str(lines_of(a), str_of(want), what);
}

static off_t size_of_file(void)
{
    struct stat st;

    return stat(path, &st) < 0 ? -1 : st.st_size;
}

static void lines_come_and_go(void)
{
    struct err e = { 0 };
    struct names_file *f = names_file_open(path, S("127.0.0.1 localhost\n"), &e);
    off_t empty = size_of_file();

    names_file_add(f, S("10.0.0.1 a"));
    names_file_add(f, S("10.0.0.2 b"));
    names_file_add(f, S("10.0.0.2 b"));
    shows("127.0.0.1 localhost|", "nothing is shown before it is written");
    is_int(names_file_write(f, now, &e), 0, "written");
    shows("127.0.0.1 localhost|10.0.0.1 a|10.0.0.2 b|", "then it is");
    names_file_drop(f, S("10.0.0.1 a"));
    names_file_add(f, S("10.0.0.3 c"));
    names_file_write(f, now, &e);
    shows("127.0.0.1 localhost|10.0.0.2 b|10.0.0.3 c|", "lines come and go");
    now += 5000;
    names_file_add(f, S("10.0.0.4 d"));
    names_file_write(f, now, &e);
    shows("127.0.0.1 localhost|10.0.0.4 d|10.0.0.2 b|10.0.0.3 c|", "a place is used again");
    names_file_drop(f, S("10.0.0.4 d"));
    names_file_add(f, S("10.0.0.4 d"));
    names_file_add(f, S("10.0.0.5 e"));
    names_file_drop(f, S("10.0.0.5 e"));
    names_file_drop(f, S("10.0.0.2 b"));
    names_file_add(f, S("10.0.0.2 b"));
    names_file_drop(f, S("10.0.0.2 b"));
    names_file_write(f, now, &e);
    shows("127.0.0.1 localhost|10.0.0.4 d|10.0.0.3 c|", "the last word counts");
    names_file_close(f);

    f = names_file_open(path, S("127.0.0.1 localhost\n"), &e);
    shows("127.0.0.1 localhost|10.0.0.4 d|10.0.0.3 c|", "opened again it is as it was");
    names_file_add(f, S("10.0.0.3 c"));
    names_file_add(f, S("10.0.0.6 f"));
    names_file_write(f, now, &e);
    names_file_drop_old(f);
    names_file_write(f, now, &e);
    {
        AUTO(arena) struct arena *a = arena_new();
        str got = lines_of(a);
        ok(str_contains(got, S("10.0.0.3 c|")) && str_contains(got, S("10.0.0.6 f|")) &&
               !str_contains(got, S("10.0.0.4 d")),
           "what nobody asks for any more goes");
    }
    names_file_drop(f, S("10.0.0.3 c"));
    names_file_drop(f, S("10.0.0.6 f"));
    names_file_write(f, now, &e);
    now += 5000;
    names_file_add(f, S("10.0.0.7 g"));
    names_file_write(f, now, &e);
    names_file_drop(f, S("10.0.0.7 g"));
    names_file_write(f, now, &e);
    now += 5000;
    names_file_add(f, S("10.0.0.7 a line that is too long for the place that has become free, so "
                        "that it has to stand at the end"));
    names_file_write(f, now, &e);
    names_file_close(f);
    ok(size_of_file() <= empty + 192, "and the file is short again (%d)", (int)size_of_file());
    ok(!e.msg[0], "nothing failed: %s", e.msg);
}

static void a_foreign_file_is_replaced(void)
{
    struct err e = { 0 };
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    ok(write(fd, "garbage\n\n10.1.1.1 x", 19) == 19, "a file of somebody else");
    close(fd);
    struct names_file *f = names_file_open(path, S("127.0.0.1 localhost\n"), &e);
    names_file_add(f, S("10.0.0.1 a"));
    names_file_write(f, now, &e);
    shows("127.0.0.1 localhost|10.0.0.1 a|", "is ours now");
    names_file_close(f);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ok(write(fd, "#0.0.0.9 cut sho", 16) == 16, "a crash cut a line short");
    close(fd);
    f = names_file_open(path, S("127.0.0.1 localhost\n"), &e);
    names_file_add(f, S("10.0.0.2 b"));
    names_file_write(f, now, &e);
    shows("127.0.0.1 localhost|10.0.0.1 a|10.0.0.2 b|", "it is written over");
    names_file_close(f);
}

/* ---- readers */

static atomic_bool stop;
static atomic_int torn, missing, reads;

static bool is_whole(const char *line)
{
    char want[256];
    int x = 0;

    if (sscanf(line, "10.1.0.%d", &x) != 1)
        return false;
    int n =
        snprintf(want, sizeof(want), "10.1.0.%d moves-%d.d.svc.cluster.local moves-%d", x, x, x);
    return strncmp(line, want, (size_t)n) == 0 && (line[n] == ' ' || line[n] == '\n');
}

static void *reader(void *arg)
{
    (void)arg;
    while (!stop) {
        FILE *f = fopen(path, "re");
        char line[4096];
        int stay = 0;
        while (f && fgets(line, sizeof(line), f)) {
            int x = 0, y = 1;
            if (line[0] == '#' || strncmp(line, "127.", 4) == 0)
                continue;
            if (sscanf(line, "10.0.0.%d stays-%d", &x, &y) == 2 && x == y)
                stay++;
            else if (!is_whole(line))
                torn++;
        }
        if (f)
            fclose(f);
        missing += stay != 50;
        reads++;
    }
    return NULL;
}

static void toggle(struct names_file *f, bool *in, unsigned *r)
{
    char line[256];

    *r = *r * 1103515245 + 12345;
    int i = (int)(*r >> 16) % 200;
    snprintf(line, sizeof(line), "10.1.0.%d moves-%d.d.svc.cluster.local moves-%d", i, i, i);
    if (in[i])
        names_file_drop(f, str_of(line));
    else
        names_file_add(f, str_of(line));
    in[i] = !in[i];
}

/* In real time: a place rests for as long as a reader may be slow. */
static void readers_never_miss_a_line_that_stays(void)
{
    struct err e = { 0 };
    struct names_file *f = names_file_open(path, S("127.0.0.1 localhost\n"), &e);
    pthread_t t[2];
    char line[256];
    bool in[200] = { 0 };
    unsigned r = 1;

    for (int i = 0; i < 50; i++) {
        snprintf(line, sizeof(line), "10.0.0.%d stays-%d", i, i);
        names_file_add(f, str_of(line));
    }
    names_file_drop_old(f);
    names_file_write(f, boot_now_ms(), &e);
    for (size_t i = 0; i < COUNT(t); i++)
        pthread_create(&t[i], NULL, reader, NULL);
    for (int k = 0; k < 2000 || reads < 20; k++) {
        for (int c = 0; c < 3; c++)
            toggle(f, in, &r);
        names_file_write(f, boot_now_ms(), &e);
    }
    stop = true;
    for (size_t i = 0; i < COUNT(t); i++)
        pthread_join(t[i], NULL);
    names_file_close(f);
    is_int(torn, 0, "no reader saw half a line");
    is_int(missing, 0, "nor missed one that was there all the time");
}

static void it_does_not_grow_for_ever(void)
{
    struct err e = { 0 };
    struct names_file *f = names_file_open(path, S("127.0.0.1 other\n"), &e);
    bool in[200] = { 0 };
    unsigned r = 1;

    for (int k = 0; k < 20000; k++) {
        toggle(f, in, &r);
        now += 100;
        names_file_write(f, now, &e);
    }
    names_file_close(f);
    ok(size_of_file() < 32 * 1024, "the file does not grow for ever (%d)", (int)size_of_file());
}

static void it_cannot_be_written(void)
{
    struct err e = { 0 };

    ok(!names_file_open("/nonexistent/hosts", S(""), &e) && e.msg[0], "told: %s", e.msg);
}

int main(void)
{
    close(mkstemp(path));
    lines_come_and_go();
    a_foreign_file_is_replaced();
    readers_never_miss_a_line_that_stays();
    it_does_not_grow_for_ever();
    it_cannot_be_written();
    unlink(path);
    return tap_done();
}
