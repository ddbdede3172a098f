/* See up_groups.h. */

#include "app/up_groups.h"

#include "job/gang.h"
#include "kube/names.h"
#include "manifest/groups.h"

enum { MOST_S = 365 * 24 * 3600 };

/* Names that mean more than a scheduler; in any case. */
static const struct {
    const char *name;
    enum up_gang_way way;
    const char *refused; /* why it cannot be; NULL: it can */
} names[] = {
    { "", UP_GANG_WHOLE, NULL },
    { "none", UP_GANG_NONE, NULL },
    { "volcano", UP_GANG_GROUPS, NULL },
    { "kube", UP_GANG_GROUPS,
      "the PodGroups of Kubernetes 1.36 are not served here; on a cluster that has them 'muster "
      "operator' takes it" },
};

static size_t row_of(const struct up_gang_opts *o)
{
    str name = str_of(o->name ? o->name : "");
    size_t i = 0;

    while (i < COUNT(names) && !str_eq_nocase(name, str_of(names[i].name)))
        i++;
    return i;
}

enum up_gang_way up_gang_way(const struct up_gang_opts *o)
{
    size_t i = row_of(o);

    return i < COUNT(names) ? names[i].way : UP_GANG_GROUPS;
}

int up_gang_check(const struct up_gang_opts *o, struct err *e)
{
    size_t i = row_of(o);

    if (i < COUNT(names) && names[i].refused)
        return err_set(e, ERR_INVALID, "--gang-scheduler-name=%s: %s", o->name, names[i].refused);
    if (i == COUNT(names) && !name_ok(str_of(o->name), name_dns1123_subdomain))
        return err_set(e, ERR_INVALID,
                       "--gang-scheduler-name=%s: expected none, volcano or the name of a "
                       "scheduler, such as scheduler-plugins",
                       o->name);
    if (o->hold_s > MOST_S)
        return err_set(e, ERR_INVALID, "--gang-hold-seconds must be 0 to %d", MOST_S);
    if (up_gang_way(o) != UP_GANG_GROUPS && (o->hold_s >= 0 || o->max_restarts >= 0))
        return err_set(
            e, ERR_INVALID,
            "%s is for PodGroups: it needs --gang-scheduler-name=volcano, or the name of "
            "another scheduler",
            o->hold_s >= 0 ? "--gang-hold-seconds" : "--gang-max-restarts");
    return 0;
}

void up_gang_settings(struct plan_settings *out, const struct up_gang_opts *o)
{
    gang_settings(out, str_of(up_gang_way(o) == UP_GANG_GROUPS ? o->name : ""));
    if (o->hold_s >= 0)
        out->gang_hold_ms = o->hold_s * 1000;
    if (o->max_restarts >= 0)
        out->gang_max_restarts = o->max_restarts;
}

void up_groups_describe(struct arena *a, struct api_opts *o)
{
    size_t n = manifest_n_groups();
    jv *crds = ARENA_ARRAY(a, jv, n);

    for (size_t i = 0; i < n; i++)
        crds[i] = manifest_group_crd(a, i);
    o->loans = crds;
    o->n_loans = n;
    o->objects = manifest_queues(a);
}
