/* images/ in the data directory: new things get a name of their own and are renamed when they are
 * whole, so that what has its final name is whole. */

#include "base/mem.h"
#include "base/vec.h"
#include "image/internal.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW "new-" /* after a dot */

int image_store_open(const char *data, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *dir = arena_printf(a, "%s/images", data).p;

    if (tree_make(a, dir, 0700, e) < 0 ||
        tree_make(a, arena_printf(a, "%s/layers", dir).p, 0700, e) < 0)
        return -1;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_sys(e, "open %s", dir) : fd;
}

int image_store_new(int store, char *name, struct err *e)
{
    uint64_t n = 0;

    if (getrandom(&n, sizeof(n), 0) < 0)
        return err_sys(e, "random number");
    snprintf(name, 32, "." NEW "%016llx", (unsigned long long)n);
    if (mkdirat(store, name, 0700) < 0)
        return err_sys(e, "make images/%s", name);
    int fd = openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_sys(e, "open images/%s", name) : fd;
}

int image_store_keep(int store, int from, const char *name, const char *to, struct err *e)
{
    if (syncfs(store) < 0)
        return err_sys(e, "write images/%s", to);
    if (renameat(from, name, store, to) < 0)
        return err_sys(e, "rename to images/%s", to);
    return fsync(store) < 0 ? err_sys(e, "write images/%s", to) : 0;
}

/* ---- sweeping */

struct sweep {
    struct arena *a;
    int store;
    jv table;
    jv layers; /* {name: true}: used */
};

bool image_is_ours(const char *data, str rootfs)
{
    AUTO(arena) struct arena *a = arena_new();

    return str_starts(rootfs, arena_printf(a, "%s/images/sha256-", data));
}

/* By any path that has its name: the table can be edited by hand, and a directory has many paths.
 */
static bool is_mapped(const struct sweep *s, const char *image)
{
    JV_EACH (it, jv_at(s->table, "images"))
        if (str_contains(jv_str(jv_at(it.value, "rootfs"), S("")), str_of(image)))
            return true;
    return false;
}

/* Renamed first: what has its name is whole. */
static int drop(struct sweep *s, const char *name, struct err *e)
{
    char trash[32];
    AUTO(sys_fd) int gone = image_store_new(s->store, trash, e);

    if (gone < 0)
        return -1;
    if (renameat(s->store, name, gone, "old") < 0)
        return err_sys(e, "rename images/%s", name);
    return tree_remove(s->store, trash, e);
}

static void note_layers(struct sweep *s, const char *image)
{
    char text[64 * 1024];
    const char *file = arena_printf(s->a, "%s/image.json", image).p;
    ssize_t n = sys_read_file(s->store, file, text, sizeof(text));
    jv doc =
        n < 0 ? JV_ABSENT : json_parse(s->a, arena_str(s->a, (str){ text, (size_t)n }), NULL, NULL);

    JV_EACH (it, jv_at(doc, "layers"))
        s->layers = jv_with_key(s->a, s->layers, jv_str(it.value, S("")), JV_TRUE);
}

static int each(struct sweep *s, const char *below,
                int (*see)(struct sweep *, const char *, struct err *), struct err *e)
{
    int fd = openat(s->store, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct {
        VEC(const char *);
    } names = { 0 };

    if (!d) {
        if (fd >= 0)
            close(fd);
        return err_sys(e, "read images/%s", below);
    }
    for (struct dirent *at; (at = readdir(d));)
        vec_push(&names, arena_z(s->a, str_of(at->d_name)));
    closedir(d);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        rc = see(s, names.at[i], e);
    vec_done(&names);
    return rc;
}

static int see_image(struct sweep *s, const char *name, struct err *e)
{
    if (strncmp(name, "." NEW, strlen("." NEW)) == 0)
        return tree_remove(s->store, name, e);
    if (strncmp(name, "sha256-", 7) != 0)
        return 0;
    bool mapped = is_mapped(s, name);
    AUTO(sys_fd) int lock = mapped ? -1 : image_lock(s->store, name);
    if (!mapped && lock != IMAGE_IN_USE)
        return drop(s, name, e);
    note_layers(s, name);
    return 0;
}

static int see_layer(struct sweep *s, const char *name, struct err *e)
{
    if (strncmp(name, "sha256-", 7) != 0 || jv_exists(jv_get(s->layers, str_of(name))))
        return 0;
    return drop(s, arena_printf(s->a, "layers/%s", name).p, e);
}

int image_sweep(const char *data, jv table, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(sys_fd) int store = image_store_open(data, e);
    struct sweep s = { .a = a, .store = store, .table = table, .layers = JV_EMPTY_OBJ };

    if (store < 0 || each(&s, ".", see_image, e) < 0)
        return -1;
    return each(&s, "layers", see_layer, e);
}
