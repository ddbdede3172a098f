/* What wardens are told, read: everything, the fallbacks, and each kind of mistake by its field. */

#include "sandbox/spec.h"
#include "tap.h"

static void a_sandbox_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'uid': 'u-1', 'isolation': 'shared', 'hostname': 'h', 'net': {'ip': '10.0.0.2', 'ns': '/n'},"
        "'mounts': [{'from': '/a', 'to': '/b', 'ro': true, 'subpath': 'c/d'}],"
        "'tmpfs': [{'path': '/t', 'size_bytes': 9}], 'rlimits': {'nofile': [1, -1], 'core': 0},"
        "'cgroup': {'v1': {'pids': '/p'}}, 'preload': '/l.so', 'pids': 7}");
    struct warden_sandbox s;
    struct err e = { 0 };

    is_int(warden_sandbox_read(a, jdoc_root(d), &s, &e), 0, "a sandbox is read");
    ok(s.shared && str_eqz(s.uid, "u-1") && strcmp(s.net_ns, "/n") == 0 && !s.user_ns, "its facts");
    ok(s.nmounts == 1 && s.mounts[0].ro && strcmp(s.mounts[0].subpath, "c/d") == 0, "its mounts");
    ok(s.ntmpfs == 1 && s.tmpfs[0].size_bytes == 9 && s.pids == 7 && !s.cgroup2, "and the rest");
    ok(s.nrlimits == 2 && s.rlimits[1].to.rlim_cur == 1 &&
           s.rlimits[1].to.rlim_max == RLIM_INFINITY,
       "limits, -1 for none");
}

static void a_start_is_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'name': 'main', 'argv': ['x'],"
                       "'env': ['A=b', {'name': 'C', 'value': 'd'}, {'name': 'E'}]}");
    struct warden_start s;

    is_int(warden_start_read(a, jdoc_root(d), &s, NULL), 0, "a start is read");
    ok(s.env.n == 3 && strcmp(s.env.at[1], "C=d") == 0 && strcmp(s.env.at[2], "E=") == 0,
       "env in both ways of writing");
    ok(s.uid == -1 && s.gid == -1 && s.umask == 022 && !s.log && s.any_path && !s.privileged,
       "what is not said");
    ok(s.log_bytes == 10 << 20 && s.log_files == 5, "logs: 10 MB, five files");
}

static void mistakes_are_named(void)
{
    static const struct {
        const char *doc;
        const char *field;
    } wrong[] = {
        { "{'name': 'm'}", "argv" },
        { "{'name': 'm', 'argv': 'sh'}", "argv" },
        { "{'name': 'm', 'argv': ['']}", "argv" },
        { "{'name': 'm', 'argv': [7]}", "argv" },
        { "{'name': '../x', 'argv': ['x']}", "name" },
        { "{'name': '', 'argv': ['x']}", "name" },
        { "{'name': 'm', 'argv': ['x'], 'cwd': 'here'}", "workingDir" },
        { "{'name': 'm', 'argv': ['x'], 'cwd': '/a/../b'}", "workingDir" },
        { "{'name': 'm', 'argv': ['x'], 'termination_path': '../../etc/x'}",
          "terminationMessagePath: must be an absolute path" },
        { "{'name': 'm', 'argv': ['x'], 'uid': -1}", "uid" },
        { "{'name': 'm', 'argv': ['x'], 'uid': 'root'}", "uid" },
        { "{'name': 'm', 'argv': ['x'], 'groups': [4294967295]}", "groups" },
        { "{'name': 'm', 'argv': ['x'], 'log': {'path': '/l', 'files': 0}}", "log.files" },
        { "{'name': 'm', 'argv': ['x'], 'mounts': [{'from': '/a', 'to': '/'}]}", "mounts[]" },
        { "{'name': 'm', 'argv': ['x'], 'mounts': [{'from': '/a', 'to': '/b', 'subpath': '../c'}]}",
          "mounts[].subpath" },
        { "{'name': 'm', 'argv': ['x'], 'limits': {'memory_bytes': -5}}", "memory_bytes" },
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(wrong[i].doc);
        struct warden_start s;
        struct err e = { 0 };
        int rc = warden_start_read(a, jdoc_root(d), &s, &e);
        ok(rc < 0 && strncmp(e.msg, wrong[i].field, strlen(wrong[i].field)) == 0, "%s: %s",
           wrong[i].doc, e.msg);
    }
}

int main(void)
{
    a_sandbox_is_read();
    a_start_is_read();
    mistakes_are_named();
    return tap_done();
}
