/* What the cells of many kinds are made of. Nothing here gives an absent value, so that a row has
 * all its cells. */
#pragma once

#include "base/buf.h"
#include "builtin/cells/cells.h"

#define COLUMN(title, kind, doc)      \
    {                                 \
        (title), (kind), "", 0, (doc) \
    }
#define WIDE_COLUMN(title, kind, doc) \
    {                                 \
        (title), (kind), "", 1, (doc) \
    }
#define NAME_COLUMN                                        \
    {                                                      \
        "Name", "string", "name", 0, "Name of the object." \
    }
#define AGE_COLUMN COLUMN("Age", "string", "Time since the object was created.")
/* Kinds with a pod template */
#define CONTAINERS_COLUMN(macro) \
    macro("Containers", "string", "Names of the template's containers.")
#define IMAGES_COLUMN(macro) macro("Images", "string", "Images of the template's containers.")

static inline str text_at(jv v, const char *name) /* "" when it is not there */
{
    return jv_str(jv_get(v, str_of(name)), S(""));
}

jv cell_name(const struct kind_ctx *c, jv obj);
jv cell_text(const struct kind_ctx *c, jv v);                   /* "" when it is not there */
jv cell_or(const struct kind_ctx *c, jv v, const char *other);  /* other for "" too */
jv cell_set(const struct kind_ctx *c, jv v, const char *other); /* other if absent or null */
jv cell_int(const struct kind_ctx *c, jv v);
jv cell_count(const struct kind_ctx *c, jv list);
jv cell_ratio(const struct kind_ctx *c, int64_t part, int64_t whole); /* "1/3" */
jv cell_age(const struct kind_ctx *c, jv obj);
jv cell_since(const struct kind_ctx *c, jv time); /* "<unknown>" when it is not there */
/* The strings of a list, or those in the field of its objects: "a,b" */
jv cell_joined(const struct kind_ctx *c, jv list, const char *field);
jv cell_labels(const struct kind_ctx *c, jv labels);     /* "a=b,c=d", "<none>" */
jv cell_selector(const struct kind_ctx *c, jv selector); /* metav1.LabelSelector; "<none>" */

jv quantity_cell(const struct kind_ctx *c, jv v); /* in canonical form; "0" when not there */
str quantity_of_cell(struct arena *a, jv v);

/* The first few of many: "a,b,c + 2 more..." */
struct few {
    struct buf text;
    size_t max;
    size_t n; /* added */
};
void few_add(struct few *f, str s);
/* Ends f. The text, or other if nothing was added. */
jv few_cell(const struct kind_ctx *c, struct few *f, const char *other);

void sort_texts(str *at, size_t n);
str join_set(struct arena *a, str *at, size_t n);       /* sorted, each once: "a,b" */
void join(struct buf *b, const char *separator, str s); /* a separator before all but the first */
void lower(struct buf *b);                              /* ASCII */
jv cell_take(const struct kind_ctx *c, const struct buf *b); /* a copy of the text */

/* Whether the first condition of that type is "True". */
bool cells_condition(jv conditions, str type);
