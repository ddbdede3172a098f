/* What pods of a run have changed outside of what is kept: said in one line, or copied out. */

#include "app/run_internal.h"

#include "cli/data.h"
#include "cli/private_files.h"
#include "node/node.h"

#include <dirent.h>
#include <stdlib.h>

static str pod_name(struct arena *a, const char *dir)
{
    str text = STR_NONE;

    data_read(a, arena_printf(a, "%s/hostname", dir).p, &text, NULL);
    return str_trim(text);
}

/* Those that are gone lie there by their names, others in their pods' directories. */
static int add_all(struct run *r, struct private_files *p, const char *sub, struct err *e)
{
    bool gone = strcmp(sub, NODE_CHANGES) == 0;
    const char *all = arena_printf(r->a, "%s/%s", r->dir, sub).p;
    DIR *d = opendir(all);
    int rc = 0;

    for (struct dirent *x; d && rc == 0 && (x = readdir(d));) {
        AUTO(arena) struct arena *a = arena_new();
        const char *dir = arena_printf(a, "%s/%s", all, x->d_name).p;
        if (x->d_name[0] == '.')
            continue;
        str name = gone ? str_of(x->d_name) : pod_name(a, dir);
        if (name.n)
            rc = private_files_add(p, gone ? dir : arena_printf(a, "%s/over", dir).p,
                                   arena_z(a, name), e);
    }
    if (d)
        closedir(d);
    return rc;
}

static str places(struct arena *a, const struct private_files *p)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < p->n_dirs; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", p->dirs[i]);
    if (p->more_dirs)
        buf_add(&b, S(" and elsewhere"));
    return arena_str(a, buf_str(&b));
}

void run_private_files(struct run *r)
{
    struct private_files p = { .a = r->a, .home = getenv("HOME"), .copy_to = r->f->keep_files };
    struct err e = { 0 };

    if (!r->is_private || !r->name)
        return;
    int rc = add_all(r, &p, NODE_CHANGES, &e);
    if (rc == 0)
        rc = add_all(r, &p, "pods", &e);
    if (rc < 0)
        command_note("muster: --keep-files: %s", e.msg);
    else if (p.n && p.copy_to)
        command_note("muster: %lld file%s that pods changed in %" PRI_STR " %s copied to %s",
                     (long long)p.n, p.n == 1 ? "" : "s", STR_ARG(places(r->a, &p)),
                     p.n == 1 ? "was" : "were", p.copy_to);
    else if (p.n)
        command_note("muster: %lld file%s that pods changed in %" PRI_STR
                     " %s not kept: --keep-files DIR copies such files to DIR",
                     (long long)p.n, p.n == 1 ? "" : "s", STR_ARG(places(r->a, &p)),
                     p.n == 1 ? "is" : "are");
}
