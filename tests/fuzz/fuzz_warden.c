/* What wardens are told (sandbox.json, start, exec), and lines of their protocol. */

#include "sandbox/spec.h"
#include "sys/msgsock.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool sound(const struct warden_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!l->at[i])
            return false;
    return !l->at || !l->at[l->n];
}

static void read_line(struct arena *a, str line)
{
    struct err e = { 0 };
    struct warden_sandbox sandbox;
    struct warden_start start;
    struct warden_exec exec;
    jv v = json_parse(a, line, NULL, &e);

    if (warden_sandbox_read(a, v, &sandbox, &e) == 0) {
        assert(sandbox.uid.n > 0 && sandbox.uid.n < WARDEN_NAME_BYTES);
        for (size_t i = 0; i < sandbox.nmounts; i++)
            assert(sandbox.mounts[i].from[0] == '/' && sandbox.mounts[i].to[0] == '/');
    }
    jv at = jv_exists(jv_at(v, "start")) ? jv_at(v, "start") : v;
    if (warden_start_read(a, at, &start, &e) == 0) {
        assert(start.argv.n > 0 && sound(&start.argv) && sound(&start.env));
        assert(!memchr(start.name.p, '/', start.name.n));
        for (size_t i = 0; i < start.nmounts; i++)
            assert(!start.mounts[i].subpath || start.mounts[i].subpath[0] != '/');
    }
    at = jv_exists(jv_at(v, "exec")) ? jv_at(v, "exec") : v;
    if (warden_exec_read(a, at, &exec, &e) == 0)
        assert(exec.argv.n > 0 && sound(&exec.argv) && sound(&exec.env));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    struct msgsock w;
    struct err e = { 0 };
    int pair[2];
    str line;

    if (size > 60000 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return 0;
    msgsock_init(&w, pair[0]);
    for (size_t half = 0; half < 2; half++) { /* lines that come in two parts, too */
        size_t from = half ? size / 2 : 0;
        size_t to = half ? size : size / 2;
        if (to > from && write(pair[1], data + from, to - from) != (ssize_t)(to - from))
            break;
        if (msgsock_fill(&w, &e) < 0)
            break;
        while (msgsock_line(&w, &line))
            read_line(a, arena_str(a, line));
        msgsock_used(&w);
    }
    read_line(a, (str){ (const char *)data, size });
    close(pair[1]);
    msgsock_done(&w);
    return 0;
}
