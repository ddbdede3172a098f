/* Logs read back: last lines, from a time on, up to a size, and over rotation while they grow. */

#include "loop/logfile.h"
#include "tap.h"

#include <unistd.h>

static char dir[] = "/tmp/muster-logfile-XXXXXX";
static char path[64];

static const char *file(int k)
{
    static char name[80];

    snprintf(name, sizeof(name), k ? "%s.%d" : "%s", path, k);
    return name;
}

static void put(int k, const char *text)
{
    FILE *f = fopen(file(k), "ae");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        exit(1);
}

static void rotate(void)
{
    char from[80];

    for (int k = 3; k > 0; k--) {
        snprintf(from, sizeof(from), "%s", file(k - 1));
        rename(from, file(k));
    }
}

static void clear(void)
{
    for (int k = 0; k < 6; k++)
        unlink(file(k));
}

/* A record at that second of the minute. */
static const char *rec(int second, const char *stream, char tag, const char *text)
{
    static char line[4][200];
    static int turn;
    char *to = line[turn++ % 4];

    snprintf(to, sizeof(line[0]), "2026-01-02T03:04:%02d.500000000Z %s %c %s\n", second, stream,
             tag, text);
    return to;
}

static str rest(struct arena *a, struct logfile *f, size_t step)
{
    AUTO(buf) struct buf b = { 0 };
    ssize_t n;

    while ((n = logfile_read(f, buf_room(&b, step), step)) > 0 || n == LOGFILE_BUSY)
        b.n += n > 0 ? (size_t)n : 0;
    return arena_str(a, buf_str(&b));
}

static str all(struct arena *a, struct logfile_opts o)
{
    AUTO(logfile) struct logfile *f = logfile_open(path, &o);

    return rest(a, f, 7);
}

/* tail, from a time in seconds on, bytes, with times */
static struct logfile_opts opts(int64_t tail, double since, int64_t limit, bool times)
{
    /* 2026-01-02T03:04:00Z */
    int64_t minute = 1767323040 * INT64_C(1000000);

    return (struct logfile_opts){ .tail = tail,
                                  .since_us = since < 0 ? 0 : minute + (int64_t)(since * 1e6),
                                  .limit_bytes = limit,
                                  .timestamps = times };
}

static const struct logfile_opts whole = { .tail = -1, .limit_bytes = -1 };

static void parts_make_lines(void)
{
    AUTO(arena) struct arena *a = arena_new();

    put(0, rec(1, "stdout", 'F', "one"));
    put(0, rec(2, "stderr", 'P', "tw"));
    put(0, rec(3, "stderr", 'F', "o"));
    put(0, "not a record\n");
    put(0, rec(4, "stdout", 'F', ""));
    put(0, rec(5, "stdout", 'P', "end"));
    is_str(all(a, whole), S("one\ntwo\n\nend"), "parts are joined, other lines left out");
    is_str(all(a, opts(-1, -1, -1, true)),
           S("2026-01-02T03:04:01.500000000Z one\n2026-01-02T03:04:02.500000000Z two\n"
             "2026-01-02T03:04:04.500000000Z \n2026-01-02T03:04:05.500000000Z end"),
           "a time for each line");
    is_str(all(a, opts(-1, -1, 5, false)), S("one\nt"), "at most so many bytes");
    clear();
    is_str(all(a, whole), S(""), "a file that is not there is empty");
}

static void the_last_lines(void)
{
    AUTO(arena) struct arena *a = arena_new();

    put(2, rec(1, "stdout", 'F', "a"));
    put(2, rec(2, "stdout", 'F', "b"));
    put(1, rec(3, "stdout", 'P', "c"));
    put(1, rec(4, "stdout", 'F', "c"));
    put(0, rec(5, "stdout", 'F', "d"));
    put(0, rec(6, "stdout", 'P', "e"));
    is_str(all(a, opts(0, -1, -1, false)), S(""), "none");
    is_str(all(a, opts(1, -1, -1, false)), S("e"), "the last, which has not ended");
    is_str(all(a, opts(2, -1, -1, false)), S("d\ne"), "two");
    is_str(all(a, opts(3, -1, -1, false)), S("cc\nd\ne"), "from the file before");
    is_str(all(a, opts(4, -1, -1, false)), S("b\ncc\nd\ne"), "and the one before that");
    is_str(all(a, opts(100, -1, -1, false)), S("a\nb\ncc\nd\ne"), "all there are");
    is_str(all(a, opts(-1, 4.5, -1, false)), S("c\nd\ne"), "from a time on");
    is_str(all(a, opts(-1, 90, -1, false)), S(""), "from a time that is to come");
    is_str(all(a, opts(3, 5, -1, false)), S("d\ne"), "both");
    clear();
}

static void many_lines(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf want = { 0 };
    FILE *f = fopen(path, "we");

    for (int i = 0; i < 60000; i++) {
        fprintf(f, "2026-01-02T03:04:05.%09dZ stdout F line %d\n", i, i);
        if (i >= 20000)
            buf_printf(&want, "line %d\n", i);
    }
    fclose(f);
    ok(str_eq(all(a, opts(40000, -1, -1, false)), buf_str(&want)), "many are found across blocks");
    struct logfile_opts late = opts(-1, 1e6, -1, false);
    AUTO(logfile) struct logfile *l = logfile_open(path, &late);
    char text[100];
    is_int(logfile_read(l, text, sizeof(text)), LOGFILE_BUSY, "a call looks at so much only");
    clear();
}

static void it_grows(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(logfile) struct logfile *f = logfile_open(path, &whole);

    is_str(rest(a, f, 100), S(""), "nothing yet");
    put(0, rec(1, "stdout", 'F', "one"));
    is_str(rest(a, f, 100), S("one\n"), "then a line");
    put(0, "2026-01-02T03:04:02.500000000Z std");
    is_str(rest(a, f, 100), S(""), "half a record waits");
    put(0, "out F two\n");
    is_str(rest(a, f, 100), S("two\n"), "for its other half");
    put(0, rec(3, "stdout", 'F', "three"));
    rotate();
    is_str(rest(a, f, 100), S("three\n"), "what was written before it was put aside");
    put(0, rec(4, "stdout", 'F', "four"));
    is_str(rest(a, f, 100), S("four\n"), "and in the next file");
    rotate();
    put(0, rec(5, "stdout", 'F', "five"));
    rotate();
    put(0, rec(6, "stdout", 'F', "six"));
    is_str(rest(a, f, 100), S("five\nsix\n"), "a file that came and went meanwhile too");
    for (int i = 7; i < 12; i++) {
        rotate();
        put(0, rec(i, "stdout", 'F', i == 8 ? "eight" : i == 11 ? "eleven" : "x"));
    }
    is_str(rest(a, f, 100), S("eight\nx\nx\neleven\n"), "of those that are gone, what is left");
    clear();
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/0.log", dir);
    parts_make_lines();
    the_last_lines();
    many_lines();
    it_grows();
    rmdir(dir);
    return tap_done();
}
