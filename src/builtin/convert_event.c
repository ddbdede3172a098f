/* Core events and events.k8s.io events are the same objects under other names. */

#include "builtin/convert.h"

static const struct {
    str core, events;
} names[] = {
    { S_INIT("involvedObject"), S_INIT("regarding") },
    { S_INIT("message"), S_INIT("note") },
    { S_INIT("source"), S_INIT("deprecatedSource") },
    { S_INIT("firstTimestamp"), S_INIT("deprecatedFirstTimestamp") },
    { S_INIT("lastTimestamp"), S_INIT("deprecatedLastTimestamp") },
    { S_INIT("count"), S_INIT("deprecatedCount") },
    { S_INIT("reportingComponent"), S_INIT("reportingController") },
};

static str renamed(str key, bool to_core)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(key, to_core ? names[i].events : names[i].core))
            return to_core ? names[i].core : names[i].events;
    return key;
}

static jv rename_all(struct arena *a, jv obj, bool to_core)
{
    struct jbuild b = jb_obj(a);

    JV_EACH (it, obj)
        jb_set(&b, renamed(it.key, to_core), it.value);
    return jb_done(&b);
}

static jv to_core(struct arena *a, jv obj)
{
    return rename_all(a, obj, true);
}

static jv from_core(struct arena *a, jv obj)
{
    return rename_all(a, obj, false);
}

/* "regarding.name" */
static str field_of(struct arena *a, str field)
{
    str rest = field;
    str first = str_cut(&rest, '.');

    first = renamed(first, true);
    return rest.p ? arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(first), STR_ARG(rest))
                  : first;
}

const struct kind_conversion event_conversion = { .group = "",
                                                  .version = "v1",
                                                  .plural = "events",
                                                  .to_stored = to_core,
                                                  .from_stored = from_core,
                                                  .field = field_of };
