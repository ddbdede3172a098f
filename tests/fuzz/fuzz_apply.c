/* Server-side apply: a live object and an applied one, one a line. Applying again must change
 * nothing, and managedFields must be readable by whoever comes next. */

#include "kube/apply.h"
#include "kube/fieldset.h"
#include "unit/kube/mini_schema.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entries(struct arena *a, jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "managedFields")) {
        struct fieldset s;
        struct fieldset again;
        if (fieldset_parse(a, jv_at(it.value, "fieldsV1"), &s, NULL) < 0 ||
            fieldset_parse(a, fieldset_json(a, s), &again, NULL) < 0 || !fieldset_equal(s, again))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str rest = arena_str(a, (str){ (const char *)data, size });
    str live_text = str_cut(&rest, '\n');
    jv live = json_parse(a, live_text, NULL, NULL);
    jv config = rest.p ? json_parse(a, rest, NULL, NULL) : JV_ABSENT;
    struct managed_write w = { .schema = &mini_pod, .manager = S("m"), .now_ms = 1 };
    struct err e = { 0 };

    if (!jv_is(live, JV_OBJ) || !jv_is(config, JV_OBJ))
        return 0;
    w.kind = jv_str(jv_at(config, "kind"), S(""));
    w.api_version = jv_str(jv_at(config, "apiVersion"), S(""));
    jv got = apply_patch(a, &w, live, config, true, NULL, &e);
    if (!jv_exists(got) && (e.code == ERR_OK || !e.msg[0]))
        abort();
    if (jv_exists(got)) {
        check_entries(a, got);
        w.now_ms = 100000;
        jv again = apply_patch(a, &w, got, config, false, NULL, &e);
        if (jv_exists(again))
            check_entries(a, again);
    }
    got = managed_update(a, &w, live, config, jv_at(config, "metadata", "managedFields"));
    check_entries(a, got);
    return 0;
}
