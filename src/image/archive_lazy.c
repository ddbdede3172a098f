/* libarchive, loaded when the first archive is read: with the libraries it brings it would cost
 * every other command memory and time. The functions here have its names and pass on what they get.
 */

#include "image/archive_lazy.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>

#define ARCHIVE_TABLE(X)         \
    X(error_string)              \
    X(entry_filetype)            \
    X(entry_gid)                 \
    X(entry_hardlink)            \
    X(entry_mtime)               \
    X(entry_mtime_nsec)          \
    X(entry_pathname)            \
    X(entry_perm)                \
    X(entry_size)                \
    X(entry_symlink)             \
    X(entry_uid)                 \
    X(read_data_block)           \
    X(read_free)                 \
    X(read_new)                  \
    X(read_next_header)          \
    X(read_open)                 \
    X(read_set_options)          \
    X(read_support_filter_gzip)  \
    X(read_support_filter_zstd)  \
    X(read_support_format_empty) \
    X(read_support_format_raw)   \
    X(read_support_format_tar)

static struct {
#define X(name) __typeof__(archive_##name) *name;
    ARCHIVE_TABLE(X)
#undef X
} lib;

static void *so; /* NULL: not loaded */

static bool load(void)
{
    so = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return false;
#define X(name)                                        \
    *(void **)&lib.name = dlsym(so, "archive_" #name); \
    if (!lib.name)                                     \
        return false;
    ARCHIVE_TABLE(X)
#undef X
    return true;
}

int archive_lazy_load(struct err *e)
{
    if (so || load())
        return 0;
    archive_lazy_unload();
    return err_set(e, ERR_UNAVAILABLE,
                   "cannot load libarchive.so.13: install libarchive (Debian: libarchive13)");
}

void archive_lazy_unload(void)
{
    if (so)
        dlclose(so);
    so = NULL;
}

#define PASS(type, name, param, arg) \
    type archive_##name param        \
    {                                \
        return lib.name arg;         \
    }

PASS(const char *, error_string, (struct archive * r), (r))
PASS(__LA_MODE_T, entry_filetype, (struct archive_entry * at), (at))
PASS(la_int64_t, entry_gid, (struct archive_entry * at), (at))
PASS(const char *, entry_hardlink, (struct archive_entry * at), (at))
PASS(time_t, entry_mtime, (struct archive_entry * at), (at))
PASS(long, entry_mtime_nsec, (struct archive_entry * at), (at))
PASS(const char *, entry_pathname, (struct archive_entry * at), (at))
PASS(__LA_MODE_T, entry_perm, (struct archive_entry * at), (at))
PASS(la_int64_t, entry_size, (struct archive_entry * at), (at))
PASS(const char *, entry_symlink, (struct archive_entry * at), (at))
PASS(la_int64_t, entry_uid, (struct archive_entry * at), (at))
PASS(int, read_data_block, (struct archive * r, const void **p, size_t *n, la_int64_t *at),
     (r, p, n, at))
PASS(int, read_free, (struct archive * r), (r))
PASS(struct archive *, read_new, (void), ())
PASS(int, read_next_header, (struct archive * r, struct archive_entry **at), (r, at))
PASS(int, read_open,
     (struct archive * r, void *ctx, archive_open_callback *o, archive_read_callback *b,
      archive_close_callback *c),
     (r, ctx, o, b, c))
PASS(int, read_set_options, (struct archive * r, const char *text), (r, text))
PASS(int, read_support_filter_gzip, (struct archive * r), (r))
PASS(int, read_support_filter_zstd, (struct archive * r), (r))
PASS(int, read_support_format_empty, (struct archive * r), (r))
PASS(int, read_support_format_raw, (struct archive * r), (r))
PASS(int, read_support_format_tar, (struct archive * r), (r))
