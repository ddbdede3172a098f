/* What pods of a run have changed outside of what is kept: said in one line, or copied out. */

#include "app/run_internal.h"

#include "cli/private_files.h"
#include "cli/table.h"
#include "kube/names.h"
#include "node/node.h"
#include "sys/record.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Before any pod runs, so that none puts something else in its place. */
int run_open_keep_files(struct run *r)
{
    const char *dir = r->f->keep_files;
    struct err e = { 0 };

    if (!dir)
        return -1;
    if (!*dir)
        return command_fail(EXIT_USAGE, "--keep-files '' names no directory");
    if (tree_make(r->a, dir, 0755, &e) < 0)
        return command_fail(EXIT_USAGE, "--keep-files: %s", e.msg);
    r->keep_files = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->keep_files < 0 || faccessat(r->keep_files, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return command_fail(EXIT_USAGE, "--keep-files %s: %s", dir, strerror(errno));
    return -1;
}

/* As the node has noted it: what the pod sees of its name it can write to. */
static str pod_name(struct arena *a, const char *dir)
{
    str record = record_read(a, AT_FDCWD, arena_printf(a, "%s/sandbox", dir).p, NULL);
    const char *name = record.n ? record_get(record, "hostname") : NULL;

    return name ? str_of(name) : STR_NONE;
}

static bool is_name(str name)
{
    str ns = name;
    str pod = str_cut(&ns, '@');

    return name_ok(pod, name_dns1123_subdomain) && (!ns.p || name_ok(ns, name_dns1123_label));
}

/* Those that are gone lie there by their names, others in their pods' directories. */
static void add_all(struct run *r, struct private_files *p, const char *sub)
{
    bool gone = strcmp(sub, NODE_CHANGES) == 0;
    const char *all = arena_printf(r->a, "%s/%s", r->dir, sub).p;
    DIR *d = opendir(all);

    for (struct dirent *x; d && (x = readdir(d));) {
        AUTO(arena) struct arena *a = arena_new();
        const char *dir = arena_printf(a, "%s/%s", all, x->d_name).p;
        if (x->d_name[0] == '.')
            continue;
        str name = gone ? str_of(x->d_name) : pod_name(a, dir);
        if (is_name(name))
            private_files_add(p, gone ? dir : arena_printf(a, "%s/over", dir).p, arena_z(a, name));
    }
    if (d)
        closedir(d);
}

static str places(struct arena *a, const struct private_files *p)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < p->n_dirs; i++)
        buf_printf(&b, "%s%" PRI_STR, i ? ", " : "", STR_ARG(text_plain(a, str_of(p->dirs[i]))));
    if (p->more_dirs)
        buf_add(&b, S(" and elsewhere"));
    return arena_str(a, buf_str(&b));
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

void run_private_files(struct run *r)
{
    struct private_files p = { .a = r->a, .home = getenv("HOME"), .copy_to = r->keep_files };

    if (!r->is_private || !r->name)
        return;
    if (r->keep_files >= 0) { /* copying may take long, and Ctrl-C ends it */
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    add_all(r, &p, NODE_CHANGES);
    add_all(r, &p, "pods");
    int64_t copied = p.n - p.failed;
    if (p.failed)
        command_note("muster: --keep-files: %lld file%s cannot be copied, the first: %" PRI_STR,
                     (long long)p.failed, plural(p.failed),
                     STR_ARG(text_plain(r->a, str_of(p.why.msg))));
    if (copied && r->keep_files >= 0)
        command_note("muster: %lld file%s that pods changed in %" PRI_STR " %s copied to %s",
                     (long long)copied, plural(copied), STR_ARG(places(r->a, &p)),
                     copied == 1 ? "was" : "were", r->f->keep_files);
    if (p.n && r->keep_files < 0)
        command_note("muster: %lld file%s that pods changed in %" PRI_STR
                     " %s not kept: --keep-files DIR copies such files to DIR",
                     (long long)p.n, plural(p.n), STR_ARG(places(r->a, &p)),
                     p.n == 1 ? "is" : "are");
}
