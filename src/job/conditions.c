/* The set-condition rules all kinds share. */

#include "job/conditions.h"
#include "job/kind.h"

static str field(jv v, str key)
{
    return jv_str(jv_get(v, key), S(""));
}

static bool has_type(jv c, const char *type)
{
    return str_eqz(field(c, S("type")), type);
}

jv condition_find(const struct job *j, const char *type)
{
    JV_EACH (c, jv_get(j->status, S("conditions")))
        if (has_type(c.value, type))
            return c.value;
    return JV_ABSENT;
}

bool condition_is_true(const struct job *j, const char *type)
{
    JV_EACH (c, jv_get(j->status, S("conditions")))
        if (has_type(c.value, type) && str_eq(field(c.value, S("status")), S("True")))
            return true;
    return false;
}

static jv condition_new(const struct job *j, const char *type, bool holds, str reason, str message,
                        str since)
{
    struct arena *a = j->a;

    return jobj(a, { "type", jstr(a, str_of(type)) },
                { "status", jstr(a, holds ? S("True") : S("False")) },
                { "reason", jstr(a, reason) }, { "message", jstr(a, message) },
                { "lastUpdateTime", jstr(a, j->now) }, { "lastTransitionTime", jstr(a, since) });
}

/* What adding a condition does to those that are there. */
enum effect { STAYS, GOES, TURNS_FALSE };
static const struct {
    const char *adding;
    const char *there;
    enum effect effect;
} effects[] = {
    { "Restarting", "Running", GOES },       { "Running", "Restarting", GOES },
    { "Succeeded", "Running", TURNS_FALSE }, { "Succeeded", "Restarting", TURNS_FALSE },
    { "Failed", "Running", TURNS_FALSE },    { "Failed", "Restarting", TURNS_FALSE },
    { "Failed", "Suspended", TURNS_FALSE }, /* an edit made it invalid */
};

static enum effect effect_of(const char *adding, jv there)
{
    if (has_type(there, adding))
        return GOES;
    for (size_t i = 0; i < COUNT(effects); i++)
        if (strcmp(effects[i].adding, adding) == 0 && has_type(there, effects[i].there))
            return effects[i].effect;
    return STAYS;
}

static void set_list(struct job *j, jv list)
{
    j->status = jv_with_key(j->a, j->status, S("conditions"), list);
}

void condition_set(struct job *j, const char *type, bool holds, const char *suffix, str message)
{
    jv old = condition_find(j, type);
    str reason = job_reason(j, suffix);
    bool same = str_eq(field(old, S("status")), holds ? S("True") : S("False"));
    str since = same ? field(old, S("lastTransitionTime")) : j->now;
    struct jbuild list = jb_arr(j->a);

    if (condition_is_true(j, "Failed") || (same && str_eq(field(old, S("reason")), reason)))
        return;
    JV_EACH (c, jv_get(j->status, S("conditions"))) {
        enum effect e = effect_of(type, c.value);
        if (e == TURNS_FALSE)
            jb_push(&list, jv_with_key(j->a, c.value, S("status"), jstrz(j->a, "False")));
        else if (e == STAYS)
            jb_push(&list, c.value);
    }
    jb_push(&list, condition_new(j, type, holds, reason, message, since.n ? since : j->now));
    set_list(j, jb_done(&list));
}

void condition_drop(struct job *j, const char *type)
{
    struct jbuild list = jb_arr(j->a);

    if (!jv_exists(condition_find(j, type)))
        return;
    JV_EACH (c, jv_get(j->status, S("conditions")))
        if (!has_type(c.value, type))
            jb_push(&list, c.value);
    set_list(j, jb_done(&list));
}

str condition_created_text(const struct job *j)
{
    return arena_printf(j->a, "%s %" PRI_STR " is created.", j->kind->planner.res->kind,
                        STR_ARG(j->name));
}

void condition_created_say(struct job *j, str message)
{
    struct jbuild list = jb_arr(j->a);

    JV_EACH (c, jv_get(j->status, S("conditions"))) {
        jv said = c.value;
        if (has_type(said, "Created")) {
            said = jv_with_key(j->a, said, S("message"), jstr(j->a, message));
            said = jv_with_key(j->a, said, S("lastUpdateTime"), jstr(j->a, j->now));
        }
        jb_push(&list, said);
    }
    set_list(j, jb_done(&list));
}

bool condition_created(struct job *j)
{
    struct jbuild list = jb_arr(j->a);

    if (jv_exists(condition_find(j, "Created")))
        return false;
    jb_push(&list, condition_new(j, "Created", true, job_reason(j, "Created"),
                                 condition_created_text(j), j->now));
    JV_EACH (c, jv_get(j->status, S("conditions")))
        jb_push(&list, c.value);
    set_list(j, jb_done(&list));
    return true;
}
