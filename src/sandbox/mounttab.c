/* Reads mountinfo. */

#include "sandbox/mounttab.h"

#include "sandbox/mount.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A path as mountinfo writes it: \040 for a space. */
static const char *unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; to++) {
        if (p[0] == '\\' && p[1] && p[2] && p[3]) {
            *to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
            p += 4;
        } else {
            *to = *p++;
        }
    }
    *to = '\0';
    return text;
}

/* "36 35 98:0 /root /at options [optional fields] - type source options" */
static bool read_row(struct arena *a, str line, struct mount_row *row)
{
    str fields[5];
    const char *dash = memmem(line.p, line.n, " - ", 3);
    str rest = dash ? str_sub(line, (size_t)(dash - line.p) + 3, line.n) : STR_NONE;
    int64_t id;

    for (size_t i = 0; i < COUNT(fields); i++)
        fields[i] = str_cut(&line, ' ');
    str type = str_cut(&rest, ' ');
    if (!str_to_int(fields[0], &id) || !fields[4].n || !type.n)
        return false;
    *row = (struct mount_row){
        .id = (uint64_t)id,
        .dev = arena_z(a, fields[2]),
        .root = unescape((char *)(uintptr_t)arena_z(a, fields[3])),
        .at = unescape((char *)(uintptr_t)arena_z(a, fields[4])),
        .type = arena_z(a, type),
    };
    return true;
}

int mount_table_read(struct mount_table *t, struct arena *a, int proc, struct err *e)
{
    int fd = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (!f) {
        err_sys(e, "open /proc/self/mountinfo");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while ((n = getline(&line, &cap, f)) > 0) {
        struct mount_row row;
        if (read_row(a, str_trim((str){ line, (size_t)n }), &row))
            vec_push(t, row);
    }
    free(line);
    fclose(f);
    return 0;
}

void mount_table_done(struct mount_table *t)
{
    vec_done(t);
}

bool mount_path_is_below(const char *path, const char *dir)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool mount_place_is_below(struct mount_place p, struct mount_place dir)
{
    return p.dev && dir.dev && strcmp(p.dev, dir.dev) == 0 && mount_path_is_below(p.path, dir.path);
}

int mount_path_of_fd(int fd, char *out, size_t n)
{
    char at[64];

    snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
    ssize_t have = readlink(at, out, n - 1);
    out[have > 0 ? have : 0] = '\0';
    return have > 0 && out[0] == '/' ? 0 : -1;
}

static struct mount_place place_in(struct arena *a, const struct mount_row *row, const char *path)
{
    const char *rest = path + (strcmp(row->at, "/") == 0 ? 0 : strlen(row->at));
    const char *root = strcmp(row->root, "/") == 0 ? "" : row->root;
    const char *whole = arena_printf(a, "%s%s", root, strcmp(rest, "/") == 0 ? "" : rest).p;

    return (struct mount_place){ .dev = row->dev, .path = *whole ? whole : "/" };
}

struct mount_place mount_place_of(const struct mount_table *t, struct arena *a, int fd)
{
    char path[PATH_MAX];
    uint64_t id = warden_mount_id(fd);

    if (mount_path_of_fd(fd, path, sizeof(path)) == 0)
        for (size_t i = 0; i < t->n; i++)
            if (t->at[i].id == id && mount_path_is_below(path, t->at[i].at))
                return place_in(a, &t->at[i], path);
    return (struct mount_place){ 0 };
}

struct mount_place mount_place_at(const struct mount_table *t, struct arena *a, const char *path)
{
    const struct mount_row *best = NULL;

    for (size_t i = 0; i < t->n; i++) /* of those on top of each other the last is seen */
        if (mount_path_is_below(path, t->at[i].at) &&
            (!best || strlen(t->at[i].at) >= strlen(best->at)))
            best = &t->at[i];
    return best ? place_in(a, best, path) : (struct mount_place){ 0 };
}
