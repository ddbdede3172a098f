/* What wardens are told (sandbox, start, exec), what they tell (state), and their messages. */

#include "node/warden_record.h"
#include "sandbox/spec.h"
#include "sys/msgsock.h"
#include "sys/record.h"

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

static void read_message(struct arena *a, str m)
{
    struct err e = { 0 };
    struct warden_sandbox sandbox;
    struct warden_start start;
    struct warden_exec exec;

    RECORD_EACH(it, m)
    assert(strlen(it.key) + strlen(it.value) + 2 <= m.n);
    if (warden_sandbox_read(a, m, &sandbox, &e) == 0) {
        assert(sandbox.uid.n > 0 && sandbox.uid.n < WARDEN_NAME_BYTES && sound(&sandbox.homes));
        for (size_t i = 0; i < sandbox.nmounts; i++)
            assert(sandbox.mounts[i].from[0] == '/' && sandbox.mounts[i].to[0] == '/');
    }
    if (warden_start_read(a, m, &start, &e) == 0) {
        assert(start.argv.n > 0 && sound(&start.argv) && sound(&start.env));
        assert(!memchr(start.name.p, '/', start.name.n));
        for (size_t i = 0; i < start.nmounts; i++)
            assert(!start.mounts[i].subpath || start.mounts[i].subpath[0] != '/');
    }
    if (warden_exec_read(a, m, &exec, &e) == 0)
        assert(exec.argv.n > 0 && sound(&exec.argv) && sound(&exec.env));
    jv state = warden_record_state(a, m);
    assert(m.n == 0 || jv_is(jv_at(state, "containers"), JV_OBJ));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    struct msgsock w;
    struct err e = { 0 };
    int pair[2];
    str message;

    if (size > 60000 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return 0;
    msgsock_init(&w, pair[0]);
    for (size_t half = 0; half < 2; half++) { /* messages that come in two parts, too */
        size_t from = half ? size / 2 : 0;
        size_t to = half ? size : size / 2;
        if (to > from && write(pair[1], data + from, to - from) != (ssize_t)(to - from))
            break;
        if (msgsock_fill(&w, &e) < 0)
            break;
        while (msgsock_next(&w, &message))
            read_message(a, arena_str(a, message));
        msgsock_used(&w, NULL);
    }
    read_message(a, (str){ (const char *)data, size });
    close(pair[1]);
    msgsock_done(&w);
    return 0;
}
