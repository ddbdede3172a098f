/* What wardens are told, read: everything, the fallbacks, and each kind of mistake by its key. */

#include "sandbox/spec.h"
#include "sys/record.h"
#include "tap.h"

#include <stdlib.h>

/* Pairs of key and value, ended by NULL. */
static str record(struct arena *a, const char *const *texts)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; texts[i]; i += 2)
        record_add(&b, texts[i], str_of(texts[i + 1]));
    return arena_str(a, buf_str(&b));
}
#define R(...) record(a, (const char *const[]){ __VA_ARGS__, NULL })

static void a_sandbox_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_sandbox s;
    struct err e = { 0 };
    str r =
        R("uid", "u-1", "isolation", "shared", "hostname", "h", "net.ip", "10.0.0.2", "net.ns",
          "/n", "mounts", "", "mounts.from", "/a", "mounts.to", "/b", "mounts.ro", "1",
          "mounts.subpath", "c/d", "mounts", "", "mounts.from", "/e", "mounts.to", "/f", "tmpfs",
          "", "tmpfs.path", "/t", "tmpfs.size_bytes", "9", "cgroup.v1.pids", "/p", "preload",
          "/l.so", "pids", "7", "over.homes", "/h", "over.homes", "/", "note.name", "any");

    is_int(warden_sandbox_read(a, r, &s, &e), 0, "a sandbox is read");
    ok(s.shared && str_eqz(s.uid, "u-1") && strcmp(s.net_ns, "/n") == 0 && !s.user_ns, "its facts");
    ok(s.nmounts == 2 && s.mounts[0].ro && strcmp(s.mounts[0].subpath, "c/d") == 0 &&
           !s.mounts[1].ro && !s.mounts[1].subpath && strcmp(s.mounts[1].to, "/f") == 0,
       "its mounts");
    ok(s.ntmpfs == 1 && s.tmpfs[0].size_bytes == 9 && s.pids == 7 && !s.cgroup2, "and the rest");
    ok(s.homes.n == 1 && strcmp(s.homes.at[0], "/h") == 0 && !s.homes.at[1],
       "homes, without the root");
}

static void a_start_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_start s;

    is_int(warden_start_read(a,
                             R("do", "start", "name", "main", "argv", "x", "env", "A=b", "env",
                               "E=", "groups", "7", "groups", "8"),
                             &s, NULL),
           0, "a start is read");
    ok(s.env.n == 2 && strcmp(s.env.at[1], "E=") == 0 && !s.env.at[2], "a list, by its key");
    ok(s.ngroups == 2 && s.groups[1] == 8, "of numbers, too");
    ok(s.uid == -1 && s.gid == -1 && !s.log && s.any_path && !s.privileged && s.mounts &&
           s.nmounts == 0,
       "what is not said");
}

static void mistakes_are_named(void)
{
    static const struct {
        const char *pair[6];
        const char *message;
    } wrong[] = {
        { { 0 }, "argv: must name a program" },
        { { "argv", "" }, "argv: must name a program" },
        { { "argv", "x", "name", "../x" }, "name: must be letters" },
        { { "argv", "x", "name", "" }, "name" },
        { { "argv", "x", "cwd", "here" }, "cwd: must be an absolute path" },
        { { "argv", "x", "cwd", "/a/../b" }, "cwd" },
        { { "argv", "x", "termination_path", "../../etc/x" },
          "termination_path: must be an absolute path" },
        { { "argv", "x", "uid", "-1" }, "uid: must be a number from 0 to 4294967294" },
        { { "argv", "x", "uid", "root" }, "uid" },
        { { "argv", "x", "uid", "" }, "uid" },
        { { "argv", "x", "groups", "4294967295" }, "groups" },
        { { "argv", "x", "tty", "true" }, "tty: must be 0 or 1" },
        { { "argv", "x", "mounts", "", "mounts.to", "/b" }, "mounts: needs from" },
        { { "argv", "x", "mounts.to", "/b" }, "mounts.to: is not known" },
        { { "argv", "x", "mounts", "", "mounts.subpath", "../c" },
          "mounts.subpath: must be a rel" },
        { { "argv", "x", "limits.memory_bytes", "-5" }, "limits.memory_bytes" },
        { { "argv", "x", "seccomp", "off" }, "seccomp: is not known to this warden" },
        { { "argv", "x", RECORD_NUL, "env" }, "env: must be a text without NUL" },
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        struct warden_start s;
        struct err e = { 0 };
        record_add(&b, "name", S("m"));
        buf_add(&b, record(a, wrong[i].pair));
        int rc = warden_start_read(a, buf_str(&b), &s, &e);
        ok(rc < 0 && strncmp(e.msg, wrong[i].message, strlen(wrong[i].message)) == 0, "%s", e.msg);
    }
}

static void half_a_record_is_none(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_exec x;
    struct err e = { 0 };

    ok(warden_exec_read(a,
                        S("id\0"
                          "7\0"
                          "argv"),
                        &x, &e) < 0 &&
           strstr(e.msg, "end in NUL"),
       "half a record: %s", e.msg);
}

int main(void)
{
    a_sandbox_is_read();
    a_start_is_read();
    mistakes_are_named();
    half_a_record_is_none();
    return tap_done();
}
