/* Reads what a warden is told. A table for each message says which keys it has and of what kind
 * their values are; everything is checked here, once: absolute paths without "..", names fit for
 * files and cgroups, numbers in range, no key that is not known. To add a field is to add a row. */

#include "sandbox/spec.h"

#include "sandbox/caps.h"
#include "sys/record.h"

#include <inttypes.h>
#include <stddef.h>

enum kind {
    TEXT,   /* const char *, of at most `most` bytes (0: any) */
    PATH,   /* const char *: absolute, without "..", short enough for the kernel; empty: NULL */
    BELOW,  /* const char *: relative, without ".."; empty: NULL */
    NAME,   /* str: letters, digits and '-' */
    NUMBER, /* int64_t, from `least` to `most` */
    FLAG,   /* bool: 0 or 1 */
    TEXTS,  /* struct warden_list: each pair adds one */
    PATHS,  /* the same, of paths; the root and empty ones are left out */
    BELOWS, /* the same, of relative paths; sysctls have "=value" behind theirs */
    GROUPS, /* gid_t *, size_t: each pair adds one */
    ARRAY,  /* a pointer, size_t: each pair adds an element; the rows of its own fill it in */
};

struct row {
    const char *key;
    enum kind kind;
    size_t at; /* offset in the struct */
    int64_t least;
    int64_t most;
    size_t size; /* of an ARRAY's element */
    const struct row *rows;
};

#define ID_MAX (UINT32_MAX - 1)

#define AT(field) .at = offsetof(struct warden_mount, field)
static const struct row mount_rows[] = {
    { "from", PATH, AT(from) },
    { "to", PATH, AT(to) },
    { "subpath", BELOW, AT(subpath) },
    { "ro", FLAG, AT(ro) },
    { "host", FLAG, AT(host) },
    { "exact", FLAG, AT(exact) },
    { 0 },
};
#undef AT

#define AT(field) .at = offsetof(struct warden_tmpfs, field)
static const struct row tmpfs_rows[] = {
    { "path", PATH, AT(path) },
    { "size_bytes", NUMBER, AT(size_bytes), .most = INT64_MAX },
    { 0 },
};
#undef AT

#define AT(field) .at = offsetof(struct warden_sandbox, field)
static const struct row sandbox_rows[] = {
    { "uid", NAME, AT(uid) },
    { "isolation", TEXT, AT(isolation) },
    { "hostname", TEXT, AT(hostname), .most = 64 },
    { "with_node", FLAG, AT(with_node) },
    { "net.host", FLAG, AT(host_net) },
    { "net.ns", PATH, AT(net_ns) },
    { "net.user_ns", PATH, AT(user_ns) },
    { "net.ip", TEXT, AT(ip) },
    { "preload", PATH, AT(preload) },
    { "env", TEXTS, AT(env) },
    { "dev", BELOWS, AT(devices) },
    { "sysctls", BELOWS, AT(sysctls) },
    { "cgroup.v2", PATH, AT(cgroup2) },
    { "cgroup.v1.cpu", PATH, AT(cgroup1_cpu) },
    { "cgroup.v1.memory", PATH, AT(cgroup1_memory) },
    { "cgroup.v1.pids", PATH, AT(cgroup1_pids) },
    { "cgroup.flat", FLAG, AT(cgroup_flat) },
    { "pids", NUMBER, AT(pids), .most = INT32_MAX },
    { "over.disk", FLAG, AT(over_disk) },
    { "over.bytes", NUMBER, AT(over_bytes), .most = INT64_MAX },
    { "over.homes", PATHS, AT(homes) },
    { "hide", PATHS, AT(hide) },
    { "registry", PATH, AT(registry) },
    { "host_roots", PATHS, AT(host_roots) },
    { "mounts", ARRAY, AT(mounts), .size = sizeof(struct warden_mount), .rows = mount_rows },
    { "tmpfs", ARRAY, AT(tmpfs), .size = sizeof(struct warden_tmpfs), .rows = tmpfs_rows },
    { 0 },
};
#undef AT

#define AT(field) .at = offsetof(struct warden_start, field)
static const struct row start_rows[] = {
    { "name", NAME, AT(name) },
    { "attempt", NUMBER, AT(attempt), .most = INT32_MAX },
    { "argv", TEXTS, AT(argv) },
    { "env", TEXTS, AT(env) },
    { "cwd", PATH, AT(cwd) },
    { "rootfs", PATH, AT(rootfs) },
    { "uid", NUMBER, AT(uid), .most = ID_MAX },
    { "gid", NUMBER, AT(gid), .most = ID_MAX },
    { "groups", GROUPS, AT(groups), .most = ID_MAX },
    { "privileged", FLAG, AT(privileged) },
    { "caps", NUMBER, AT(caps), .most = WARDEN_CAPS_ALL },
    { "ambient", NUMBER, AT(ambient), .most = WARDEN_CAPS_ALL },
    { "no_new_privs", FLAG, AT(no_new_privs) },
    { "unconfined", FLAG, AT(unconfined) },
    { "read_only", FLAG, AT(read_only) },
    { "unmasked", FLAG, AT(unmasked) },
    { "any_path", FLAG, AT(any_path) },
    { "stdin", FLAG, AT(input) },
    { "tty", FLAG, AT(tty) },
    { "log", PATH, AT(log) },
    { "termination_log", PATH, AT(term_from) },
    { "termination_path", PATH, AT(term_to) },
    { "limits.cpu_milli", NUMBER, AT(limits.cpu_milli), .most = INT32_MAX },
    { "limits.cpu_shares", NUMBER, AT(limits.cpu_shares), .most = 262144 },
    { "limits.memory_bytes", NUMBER, AT(limits.memory_bytes), .most = INT64_MAX },
    { "mounts", ARRAY, AT(mounts), .size = sizeof(struct warden_mount), .rows = mount_rows },
    { 0 },
};
#undef AT

#define AT(field) .at = offsetof(struct warden_exec, field)
static const struct row exec_rows[] = {
    { "id", NUMBER, AT(id), .most = INT64_MAX },
    { "container", NAME, AT(container) },
    { "argv", TEXTS, AT(argv) },
    { "env", TEXTS, AT(env) },
    { "tty", FLAG, AT(tty) },
    { "rows", NUMBER, AT(rows), .most = UINT16_MAX },
    { "cols", NUMBER, AT(cols), .most = UINT16_MAX },
    { 0 },
};
#undef AT

/* Reading goes on after the first mistake, which is the one told. */
struct reader {
    struct arena *a;
    str record;
    struct err *e;
    bool bad;
};

__attribute__((format(printf, 3, 4))) static void wrong(struct reader *r, const char *key,
                                                        const char *fmt, ...)
{
    va_list ap;

    if (r->bad)
        return;
    r->bad = true;
    va_start(ap, fmt);
    str why = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    err_set(r->e, ERR_INVALID, "%s: %" PRI_STR, key, STR_ARG(why));
}

static bool climbs(const char *path)
{
    for (str rest = str_of(path); rest.p;)
        if (str_eqz(str_cut(&rest, '/'), ".."))
            return true;
    return false;
}

static const char *read_path(struct reader *r, const struct record_iter *it)
{
    const char *p = it->value;

    if (*p == '/' && !climbs(p) && strlen(p) < PATH_MAX)
        return arena_z(r->a, str_of(p));
    if (*p)
        wrong(r, it->key, "must be an absolute path without '..'");
    return NULL;
}

static const char *read_below(struct reader *r, const struct record_iter *it)
{
    if (*it->value == '/' || climbs(it->value))
        wrong(r, it->key, "must be a relative path without '..'");
    return *it->value ? arena_z(r->a, str_of(it->value)) : NULL;
}

static const char *read_text(struct reader *r, const struct record_iter *it, int64_t most)
{
    if (most && strlen(it->value) > (size_t)most)
        wrong(r, it->key, "must have at most %" PRId64 " bytes", most);
    return arena_z(r->a, str_of(it->value));
}

static str read_name(struct reader *r, const struct record_iter *it)
{
    str s = str_of(it->value);
    bool fit = s.n > 0 && s.n < WARDEN_NAME_BYTES && s.p[0] != '-';

    for (size_t i = 0; fit && i < s.n; i++)
        fit = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-';
    if (!fit)
        wrong(r, it->key, "must be letters, digits and '-', at most 63");
    return arena_str(r->a, fit ? s : S("x"));
}

static bool read_number(struct reader *r, const struct record_iter *it, const struct row *row,
                        int64_t *to)
{
    int64_t i;

    if (str_to_int(str_of(it->value), &i) && i >= row->least && i <= row->most) {
        *to = i;
        return true;
    }
    wrong(r, it->key, "must be a number from %" PRId64 " to %" PRId64, row->least, row->most);
    return false;
}

static void read_list(struct reader *r, const struct record_iter *it, enum kind kind,
                      struct warden_list *l)
{
    const char *s = kind == PATHS    ? read_path(r, it)
                    : kind == BELOWS ? read_below(r, it)
                                     : arena_z(r->a, str_of(it->value));

    if (kind == TEXTS || (s && s[strspn(s, "/")]))
        l->at[l->n++] = s;
}

/* How ARRAY, GROUPS and lists lie in their struct; copied, as the type of the pointer differs. */
struct array {
    void *at;
    size_t n;
};

static struct array get_array(const char *from)
{
    struct array array;

    memcpy(&array, from, sizeof(array));
    return array;
}

static void set_array(char *to, struct array array)
{
    memcpy(to, &array, sizeof(array));
}

static void read_pair(struct reader *r, const struct record_iter *it, const struct row *row,
                      char *base)
{
    char *to = base + row->at;
    struct array array = { 0 };
    int64_t id = 0;

    switch (row->kind) {
    case TEXT:
        *(const char **)(void *)to = read_text(r, it, row->most);
        break;
    case PATH:
        *(const char **)(void *)to = read_path(r, it);
        break;
    case BELOW:
        *(const char **)(void *)to = read_below(r, it);
        break;
    case NAME:
        *(str *)(void *)to = read_name(r, it);
        break;
    case NUMBER:
        read_number(r, it, row, (int64_t *)(void *)to);
        break;
    case FLAG:
        if (strcmp(it->value, "0") != 0 && strcmp(it->value, "1") != 0)
            wrong(r, it->key, "must be 0 or 1");
        *(bool *)to = *it->value == '1';
        break;
    case TEXTS:
    case PATHS:
    case BELOWS:
        read_list(r, it, row->kind, (void *)to);
        break;
    case GROUPS:
    case ARRAY:
        array = get_array(to);
        if (row->kind == GROUPS && read_number(r, it, row, &id))
            ((gid_t *)array.at)[array.n] = (gid_t)id;
        array.n++;
        set_array(to, array);
        break;
    }
}

static size_t count(str record, const char *key)
{
    size_t n = 0;

    RECORD_EACH(it, record)
    n += strcmp(it.key, key) == 0;
    return n;
}

/* Room for the elements of all lists; those of texts end with NULL. */
static void make_room(struct reader *r, const struct row *rows, char *base)
{
    for (const struct row *row = rows; row->key; row++) {
        size_t size = row->kind == ARRAY                          ? row->size
                      : row->kind == GROUPS                       ? sizeof(gid_t)
                      : row->kind >= TEXTS && row->kind <= BELOWS ? sizeof(char *)
                                                                  : 0;
        size_t n = size ? count(r->record, row->key) + 1 : 0;
        if (n)
            set_array(base + row->at, (struct array){ arena_zalloc(r->a, size * n), 0 });
    }
}

/* The row of a key, and the struct that it is of: base, or the last element of an ARRAY. */
static const struct row *find(const struct row *rows, const char *key, char **base)
{
    for (const struct row *row = rows; row->key; row++) {
        size_t n = strlen(row->key);
        if (strcmp(row->key, key) == 0)
            return row;
        if (row->kind != ARRAY || strncmp(row->key, key, n) != 0 || key[n] != '.')
            continue;
        struct array array = get_array(*base + row->at);
        if (array.n == 0)
            return NULL;
        *base = (char *)array.at + row->size * (array.n - 1);
        return find(row->rows, key + n + 1, base);
    }
    return NULL;
}

/* What is no row: which message it is, and what the node wrote down for itself. */
static bool is_ignored(const char *key)
{
    return strcmp(key, "do") == 0 || strncmp(key, "note.", 5) == 0;
}

static void read_record(struct reader *r, const struct row *rows, void *into)
{
    make_room(r, rows, into);
    if (!record_is_whole(r->record))
        wrong(r, "record", "must be pairs of texts that end in NUL");
    RECORD_EACH(it, r->record)
    {
        char *base = into;
        const struct row *row = find(rows, it.key, &base);
        if (row)
            read_pair(r, &it, row, base);
        else if (strcmp(it.key, RECORD_NUL) == 0)
            wrong(r, it.value, "must be a text without NUL");
        else if (!is_ignored(it.key))
            wrong(r, it.key, "is not known to this warden");
    }
}

static void check_mounts(struct reader *r, const struct warden_mount *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!m[i].from || !m[i].to || m[i].to[strspn(m[i].to, "/")] == 0)
            wrong(r, "mounts", "needs from, and to that is not the root");
}

int warden_sandbox_read(struct arena *a, str record, struct warden_sandbox *s, struct err *e)
{
    struct reader r = { .a = a, .record = record, .e = e };

    *s = (struct warden_sandbox){ .isolation = "namespaces", .ip = "", .joined = -1 };
    read_record(&r, sandbox_rows, s);
    s->shared = strcmp(s->isolation, "shared") == 0;
    if (!s->uid.n)
        wrong(&r, "uid", "is required");
    if (!s->shared && strcmp(s->isolation, "namespaces") != 0)
        wrong(&r, "isolation", "must be namespaces or shared");
    check_mounts(&r, s->mounts, s->nmounts);
    for (size_t i = 0; i < s->ntmpfs; i++)
        if (!s->tmpfs[i].path)
            wrong(&r, "tmpfs", "needs a path");
    return r.bad ? -1 : 0;
}

static void check_argv(struct reader *r, const struct warden_list *argv)
{
    if (argv->n == 0 || !*argv->at[0])
        wrong(r, "argv", "must name a program");
}

int warden_start_read(struct arena *a, str record, struct warden_start *s, struct err *e)
{
    struct reader r = { .a = a, .record = record, .e = e };

    *s = (struct warden_start){
        .uid = -1, .gid = -1, .any_path = true, .caps = (int64_t)warden_caps_default()
    };
    read_record(&r, start_rows, s);
    if (!s->name.n) {
        wrong(&r, "name", "is required");
        s->name = S("x");
    }
    check_mounts(&r, s->mounts, s->nmounts);
    check_argv(&r, &s->argv);
    return r.bad ? -1 : 0;
}

int warden_exec_read(struct arena *a, str record, struct warden_exec *x, struct err *e)
{
    struct reader r = { .a = a, .record = record, .e = e };

    *x = (struct warden_exec){ 0 };
    read_record(&r, exec_rows, x);
    check_argv(&r, &x->argv);
    return r.bad ? -1 : 0;
}
