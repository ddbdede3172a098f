/* A pod, service or other thing as the cache keeps it: one piece of memory with the few facts that
 * plans read. */
#pragma once

#include "base/vec.h"
#include "ctl/slab.h"
#include "plan/observed.h"

struct ctl_job;
struct orphans;

/* asked_s of what the server has promised to delete. Else the second in which it said that there is
 * no such thing: believed for a while, though the watch still shows it. */
enum { ITEM_ASKED = -1, ITEM_DOUBT_S = 30 };

enum item_what { ITEM_POD, ITEM_SERVICE, ITEM_OTHER, ITEM_CLASS };

struct item {
    struct ctl_job *job;     /* with the uid of its controller; NULL: has none */
    struct orphans *orphans; /* services without one */
    uint64_t rev;
    uint32_t seen;    /* in that list */
    uint32_t size;    /* of all that follows */
    uint32_t asked_s; /* we have asked for its deletion; see ITEM_ASKED */
    bool guarded;     /* no informer sees it, a watch of its own does */
    /* from here on: what it says; equal bytes, nothing has changed */
    int32_t index;
    int32_t exit_code;
    int32_t restarts;
    int32_t attempt;
    uint32_t ended_s;
    uint8_t what;
    uint8_t phase;
    bool leaving : 1;
    bool disrupted : 1;
    bool ready : 1;
    bool bound : 1;
    bool stalled : 1;
    bool has_exit : 1;
    uint8_t n_troubles;
    uint16_t n_ns;
    uint16_t n_name;
    uint16_t n_uid;
    uint16_t n_role;
    uint16_t n_cid;
    uint16_t n_reason;
    char text[]; /* "ns/name" uid role container_id reason, troubles: two lengths and their texts;
                    others: the object as JSON, of a PriorityClass only its value */
};

struct item_list { /* sorted by role, index, name */
    VEC(struct item *);
};

/* To be given back with item_free. */
struct item *item_of_pod(struct slab *m, str ns, const struct seen_pod *p);
struct item *item_of_service(struct slab *m, str ns, const struct seen_service *s);
struct item *item_of_other(struct slab *m, jv obj);
struct item *item_of_class(struct slab *m, jv obj);
void item_free(struct slab *m, struct item *it);
bool item_equal(const struct item *a, const struct item *b); /* say the same */

static inline str item_key(const struct item *it)
{
    return (str){ it->text, (size_t)it->n_ns + 1 + it->n_name };
}
static inline str item_name(const struct item *it)
{
    return (str){ it->text + it->n_ns + 1, it->n_name };
}
static inline str item_uid(const struct item *it)
{
    return (str){ it->text + it->n_ns + 1 + it->n_name, it->n_uid };
}
static inline str item_role(const struct item *it)
{
    return (str){ item_uid(it).p + it->n_uid, it->n_role };
}

/* As the planner sees it; texts are copied into a. owner: of the job, may be
 * empty; now_s: as asked_s. */
struct seen_pod item_pod(struct arena *a, const struct item *it, str owner, uint32_t now_s);
struct seen_service item_service(struct arena *a, const struct item *it, str owner, uint32_t now_s);
/* The object; with a deletionTimestamp, of any time, if we have asked for its deletion. */
jv item_other(struct arena *a, const struct item *it, uint32_t now_s);
jv item_json(struct arena *a, const struct item *it); /* as the server has it */

int item_cmp(const struct item *a, const struct item *b);
void item_list_add(struct slab *m, struct item_list *l, struct item *it);
void item_list_remove(struct slab *m, struct item_list *l, const struct item *it);
void item_list_done(struct slab *m, struct item_list *l);
