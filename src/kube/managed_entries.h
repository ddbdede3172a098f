/* The entries of managedFields, opened: for managed.c and apply.c. */
#pragma once

#include "kube/fieldset.h"
#include "kube/managed.h"

struct managed_entry {
    str manager;
    bool apply; /* operation Apply, else Update */
    str api_version;
    str subresource;
    str time;  /* empty: none */
    str id;    /* what tells entries apart, and sorts them in messages */
    jv fields; /* FieldsV1 as it came; absent: to be printed from set */
    struct fieldset set;
};

struct managed {
    struct arena *a;
    struct managed_entry *at;
    size_t n;
    size_t cap;
};

/* 0, or -1: not one of them is usable then. */
int managed_decode(struct managed *m, jv entries, struct err *e);
jv managed_encode(struct managed *m); /* sorted; absent: no entries */

/* The entry of that writer, or NULL. */
struct managed_entry *managed_add(struct managed *m, const struct managed_write *w, bool apply);
void managed_set(struct managed_entry *e, struct fieldset set);
void managed_drop_empty(struct managed *m);
/* Merges the oldest updates until LIMIT_MANAGED_FIELDS are left. */
void managed_cap(struct managed *m);

/* set without what nobody owns (name, uid ...), or without what a write cannot change. */
struct fieldset managed_strip(struct arena *a, struct fieldset set);
struct fieldset managed_filter(struct arena *a, const struct managed_write *w, struct fieldset set);
/* The update path on opened entries: ownership moves to the writer as before becomes after. */
void managed_move(struct managed *m, const struct managed_write *w, jv before, jv after);
