/* What the files of `muster get` share. */
#pragma once

#include "cli/jobs.h"
#include "cli/table.h"

struct get_flags {
    struct session_opts to;
    const char *output;
    const char *labels;
    bool all;
    bool watch;
    bool bare;
};

enum get_form { FORM_TABLE, FORM_WIDE, FORM_JSON, FORM_YAML, FORM_NAME };
enum get_form get_form(const struct get_flags *f);
/* Items of lists do not say what they are: with kind and apiVersion. */
jv get_typed(struct arena *a, const struct kube_resource *res, jv obj);
/* In one of the forms that are not tables; list: as a List, even if it is one. */
int get_print_objects(struct session *s, enum get_form form, jv items, bool list);

/* The table of jobs: all, those of a kind, or the given ones. An exit code. name: of one to watch.
 */
int get_jobs(struct session *s, const struct get_flags *f, const struct job_kind *only, str name);
int get_these_jobs(struct session *s, const struct get_flags *f, const struct jobs *jobs);
