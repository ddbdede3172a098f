/* JSON to records and back: the only place of the node that knows both. */

#include "node/warden_record.h"

#include "sys/record.h"

#include <fcntl.h>
#include <stdio.h>

static void add_element(struct buf *b, const char *key, jv v)
{
    if (jv_is(v, JV_OBJ))
        record_add(b, key, S(""));
    warden_record_add(b, key, v);
}

void warden_record_add(struct buf *b, const char *key, jv v)
{
    char inner[256];

    switch (jv_type(v)) {
    case JV_STR:
        record_add(b, key, jv_str(v, S("")));
        break;
    case JV_INT:
        record_int(b, key, jv_int(v, 0));
        break;
    case JV_BOOL:
        record_int(b, key, jv_bool(v, false));
        break;
    case JV_ARR:
        JV_EACH (it, v)
            add_element(b, key, it.value);
        break;
    case JV_OBJ:
        JV_EACH (it, v) {
            snprintf(inner, sizeof(inner), "%s%s%" PRI_STR, key, *key ? "." : "", STR_ARG(it.key));
            warden_record_add(b, inner, it.value);
        }
        break;
    case JV_NUM:
    case JV_NULL:
    case JV_NONE:
        break;
    }
}

static jv value_of(struct arena *a, const char *key, str value)
{
    static const char *const texts[] = { "uid", "boot_id", "ip", "why", "failed", "lost" };
    static const char *const flags[] = { "idle", "oom" };
    int64_t i;

    for (size_t k = 0; k < COUNT(texts); k++)
        if (strcmp(key, texts[k]) == 0)
            return jstr(a, arena_str(a, value));
    if (!str_to_int(value, &i))
        return JV_ABSENT;
    for (size_t k = 0; k < COUNT(flags); k++)
        if (strcmp(key, flags[k]) == 0)
            return jbool(i != 0);
    return jint(a, i);
}

jv warden_record_state(struct arena *a, str record)
{
    static const char inner[] = "container.";
    struct jbuild pod = jb_obj(a), boxes = jb_obj(a), box = jb_obj(a);
    str name = STR_NONE;

    if (!record.n)
        return JV_ABSENT;
    RECORD_EACH(it, record)
    {
        if (strcmp(it.key, "container") == 0) {
            if (name.p)
                jb_set(&boxes, name, jb_done(&box));
            name = arena_str(a, str_of(it.value));
            box = jb_obj(a);
        } else if (strncmp(it.key, inner, sizeof(inner) - 1) == 0) {
            const char *key = it.key + sizeof(inner) - 1;
            jb_set(&box, arena_str(a, str_of(key)), value_of(a, key, str_of(it.value)));
        } else {
            jb_set(&pod, arena_str(a, str_of(it.key)), value_of(a, it.key, str_of(it.value)));
        }
    }
    if (name.p)
        jb_set(&boxes, name, jb_done(&box));
    jb_set(&pod, S("containers"), jb_done(&boxes));
    return jb_done(&pod);
}

jv warden_record_sandbox(struct arena *a, const char *dir)
{
    str r = record_read(a, AT_FDCWD, arena_printf(a, "%s/sandbox", dir).p, NULL);
    struct jbuild devices = jb_arr(a);
    int64_t i;

    RECORD_EACH(it, r)
    if (strcmp(it.key, "note.devices") == 0 && str_to_int(str_of(it.value), &i))
        jb_push(&devices, jint(a, i));
    return jobj(a,
                { "net", jobj(a, { "host", jbool(record_get_int(r, "net.host", 0)) },
                              { "ip", jstr(a, str_of(record_get(r, "net.ip"))) }) },
                { "note", jobj(a, { "devices", jb_done(&devices) }) });
}
