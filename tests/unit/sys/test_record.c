/* Records, and the messages that carry them. */

#include "sys/record.h"

#include "sys/msgsock.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void what_is_written_is_read(void)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    record_add(&b, "a", S("x"));
    record_int(&b, "b", INT64_MIN);
    record_add(&b, "empty", S(""));
    record_add(&b, "a", S("y"));
    str r = buf_str(&b);
    ok(record_is_whole(r) && record_is_whole(S("")), "whole");
    is_str(str_of(record_get(r, "a")), S("x"), "the first of two");
    is_str(str_of(record_get(r, "none")), S(""), "what is not there is empty");
    ok(record_get_int(r, "b", 0) == INT64_MIN && record_get_int(r, "a", 5) == 5, "numbers");
    RECORD_EACH(it, r)
    n += strcmp(it.key, "a") == 0;
    is_int((int64_t)n, 2, "all of them, in turn");
    for (size_t i = 1; i < r.n; i++)
        if (record_is_whole((str){ r.p, i }) != (i == 4 || i == 27 || i == 34))
            ok(false, "the first %zu bytes", i);
}

static void nul_makes_no_pairs(void)
{
    AUTO(buf) struct buf b = { 0 };

    record_add(&b, "env",
               S("A=\0privileged\0"
                 "1"));
    ok(record_is_whole(buf_str(&b)) && !*record_get(buf_str(&b), "privileged"),
       "no pair of its own");
    is_str(str_of(record_get(buf_str(&b), RECORD_NUL)), S("env"), "the reader is told");
}

static void messages_keep_their_bounds(void)
{
    struct msgsock x, y;
    struct err e = { 0 };
    int pair[2], pipes[2];
    str m = STR_NONE;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0 ||
        pipe2(pipes, O_CLOEXEC) < 0)
        abort();
    msgsock_init(&x, pair[0]);
    msgsock_init(&y, pair[1]);
    msgsock_say(&x, S("one\n\0two"), NULL, 0);
    msgsock_say(&x, S(""), pipes, 2);
    is_int(msgsock_fill(&y, &e), 0, "read");
    ok(msgsock_next(&y, &m) && str_eq(m, S("one\n\0two")), "any bytes");
    ok(msgsock_next(&y, &m) && m.n == 0, "none at all");
    int a = msgsock_take_fd(&y), b = msgsock_take_fd(&y);
    ok(a >= 0 && b >= 0 && msgsock_take_fd(&y) < 0, "two descriptors");
    ok(write(b, "z", 1) == 1 && read(a, &(char){ 0 }, 1) == 1, "in their order");
    ok(!msgsock_next(&y, &m), "no more");
    is_int(msgsock_used(&y, NULL), 0, "all of it");
    if (write(pair[0], "{\"hello\": 1}\n", 13) != 13)
        abort();
    ok(msgsock_fill(&y, &e) < 0 && e.code == ERR_INVALID && !msgsock_next(&y, &m),
       "what is no message: %s", e.msg);
    msgsock_done(&x);
    msgsock_done(&y);
    close(a);
    close(b);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    what_is_written_is_read();
    nul_makes_no_pairs();
    messages_keep_their_bounds();
    return tap_done();
}
