/* managedFields on the update path. What several managers do to one object over time is in
 * test_apply_recorded; here are the rules one by one. */

#include "builtin/kind.h"
#include "kube/managed.h"
#include "tap.h"

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

static struct managed_write by(const char *kind, const char *manager, int64_t now_ms)
{
    const struct builtin_kind *k = builtin_find_kind(S(""), S("v1"), str_of(kind));

    return (struct managed_write){
        .schema = k->schema,
        .kind = str_of(kind),
        .api_version = S("v1"),
        .manager = str_of(manager),
        .now_ms = now_ms,
        .reset = reset_status,
    };
}

static jv entries(jv obj)
{
    return jv_at(obj, "metadata", "managedFields");
}

static jv entry(jv obj, size_t i)
{
    return jv_index(entries(obj), i);
}

static void who_creates_owns_what_is_set(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'n','labels':{'a':'b'"
          "},'creationTimestamp':null},'spec':{'volumes':[{'name':'v','emptyDir':{}}],'containers':"
          "[{'name':'c','image':'i','ports':[{'containerPort':80,'protocol':'TCP'}],'resources':{},"
          "'command':['x']}],'restartPolicy':'Always','nodeSelector':{'a':'b'},'securityContext':{}"
          "},'status':{'phase':'Pending'}}");
    struct managed_write w = by("Pod", "kubectl-create", 1700000000500);

    jv got = managed_update(a, &w, JV_ABSENT, jdoc_root(pod), JV_ABSENT);
    is_json(entries(got),
            "[{'manager':'kubectl-create','operation':'Update','apiVersion':'v1',"
            "'time':'2023-11-14T22:13:20Z','fieldsType':'FieldsV1','fieldsV1':{"
            "'f:metadata':{'f:labels':{'.':{},'f:a':{}}},'f:spec':{'f:containers':{"
            "'k:{\\'name\\':\\'c\\'}':{'.':{},'f:command':{},'f:image':{},'f:name':{},'f:ports':{"
            "'.':{},'k:{\\'containerPort\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},"
            "'f:containerPort':{},'f:protocol':{}}},'f:resources':{}}},'f:nodeSelector':{},"
            "'f:restartPolicy':{},'f:securityContext':{},'f:volumes':{'.':{},"
            "'k:{\\'name\\':\\'v\\'}':{'.':{},'f:emptyDir':{},'f:name':{}}}}}}]",
            "but for what Go always has, what nobody owns, and status");
    is_str(jv_str(jv_at(got, "metadata", "name"), S("")), S("p"), "the object stays");
}

static jv config_map(struct arena *a, const char *data)
{
    AUTO(jdoc) struct jdoc *d = J(data);

    return jobj(a, { "kind", jstrz(a, "ConfigMap") }, { "apiVersion", jstrz(a, "v1") },
                { "metadata", jobj(a, { "name", jstrz(a, "c") }, { "uid", jstrz(a, "u") }) },
                { "data", jv_copy(a, jdoc_root(d)) });
}

static jv created(struct arena *a, const char *data)
{
    struct managed_write w = by("ConfigMap", "first", 1000);

    return managed_update(a, &w, JV_ABSENT, config_map(a, data), JV_ABSENT);
}

static void who_changes_a_field_takes_it(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct managed_write w = by("ConfigMap", "second", 5000);
    jv before = created(a, "{'a':'1','b':'2','c':'3'}");

    jv got = managed_update(a, &w, before, config_map(a, "{'a':'1','b':'9','d':'4'}"), JV_ABSENT);
    is_json(jv_at(entry(got, 0), "fieldsV1"), "{'f:data':{'.':{},'f:a':{}}}",
            "the first keeps what stayed; what is gone is nobody's");
    is_json(jv_at(entry(got, 1), "fieldsV1"), "{'f:data':{'f:b':{},'f:d':{}}}",
            "the second has what it changed and added");
    is_str(jv_str(jv_at(entry(got, 0), "time"), S("")), S("1970-01-01T00:00:01Z"),
           "losing fields is no write of the first's");
    jv whole = managed_update(a, &w, before, config_map(a, "{'x':'1'}"), JV_ABSENT);
    is_json(jv_at(entry(whole, 0), "fieldsV1"), "{'f:data':{}}", "the map itself stays its");
}

static void a_write_that_changes_nothing_changes_no_entry(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct managed_write same = by("ConfigMap", "first", 9000);
    struct managed_write other = by("ConfigMap", "second", 9000);
    jv before = created(a, "{'a':'1'}");

    ok(jv_equal(managed_update(a, &same, before, config_map(a, "{'a':'1'}"), JV_ABSENT), before),
       "not its own");
    ok(jv_equal(managed_update(a, &other, before, config_map(a, "{'a':'1'}"), JV_ABSENT), before),
       "and none of others");
}

static void subresources_have_entries_of_their_own(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *pod =
        J("{'metadata':{'name':'p','uid':'u'},'spec':{'containers':[]},'status':{}}");
    AUTO(jdoc)
    struct jdoc *after =
        J("{'metadata':{'name':'p','uid':'u'},'spec':{'nodeName':'n','containers':[]},"
          "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
    struct managed_write w = by("Pod", "kubelet", 2000);
    AUTO(jdoc) struct jdoc *sent = J("[]");

    jv before = managed_update(a, &w, JV_ABSENT, jdoc_root(pod), JV_ABSENT);
    w.subresource = S("status");
    w.reset = reset_spec;
    jv got = managed_update(a, &w, before, jdoc_root(after), jdoc_root(sent));
    is_int((int64_t)jv_len(entries(got)), 2,
           "what a status write sends as managedFields is unread");
    is_json(entry(got, 1),
            "{'manager':'kubelet','operation':'Update','apiVersion':'v1','time':"
            "'1970-01-01T00:00:02Z','fieldsType':'FieldsV1','fieldsV1':{'f:status':{"
            "'f:conditions':{'.':{},'k:{\\'type\\':\\'Ready\\'}':{'.':{},'f:status':{},'f:type':{}}"
            "},'f:phase':{}}},'subresource':'status'}",
            "status only, with the subresource's name");
}

static void managed_fields_can_be_cleared(void)
{
    static const char *const clears[] = { "[]", "[{}]" };
    AUTO(arena) struct arena *a = arena_new();
    jv before = created(a, "{'a':'1'}");
    struct managed_write w = by("ConfigMap", "first", 9000);

    for (size_t i = 0; i < COUNT(clears); i++) {
        AUTO(jdoc) struct jdoc *sent = J(clears[i]);
        jv got = managed_update(a, &w, before, config_map(a, "{'a':'2'}"), jdoc_root(sent));
        ok(!jv_exists(entries(got)), "by %s", clears[i]);
        got = managed_update(a, &w, got, config_map(a, "{'a':'3'}"), JV_ABSENT);
        ok(!jv_exists(entries(got)), "and then stay away");
    }
    AUTO(jdoc) struct jdoc *bad = J("[{'manager':'x','operation':'Eat'}]");
    is_int((int64_t)jv_len(
               entries(managed_update(a, &w, before, config_map(a, "{'a':'1'}"), jdoc_root(bad)))),
           1, "what cannot be read changes nothing");
}

static void the_oldest_updates_become_ancient(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv obj = created(a, "{'a':'1'}");
    struct managed_write w = by("ConfigMap", "applier", 0);

    for (int i = 0; i < 12; i++) {
        w.manager = arena_printf(a, "m%02d", i);
        w.now_ms = 2000 + 1000 * i;
        jv bare = jv_without(a, obj, "metadata", "managedFields");
        jv changed = jv_with_key(a, jv_at(obj, "data"), w.manager, jstrz(a, "x"));
        obj = managed_update(a, &w, obj, jv_with(a, bare, changed, "data"), JV_ABSENT);
    }
    is_int((int64_t)jv_len(entries(obj)), 10, "ten are kept");
    is_json(entry(obj, 0),
            "{'manager':'ancient-changes','operation':'Update','apiVersion':'v1','time':"
            "'1970-01-01T00:00:04Z','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'.':{},'f:a':{},"
            "'f:m00':{},'f:m01':{},'f:m02':{}}}}",
            "the oldest are one");
}

static void times_alone_are_no_change(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv before = created(a, "{'a':'1'}");
    AUTO(jdoc) struct jdoc *later = J("'2030-01-01T00:00:00Z'");
    jv stamped = jv_with(a, entry(before, 0), jdoc_root(later), "time");
    jv after = jv_with(a, before, jarr(a, stamped), "metadata", "managedFields");

    ok(jv_equal(managed_keep_times(a, before, after), before), "the old times stay");
    jv changed = jv_with(a, after, jstrz(a, "2"), "data", "a");
    ok(jv_equal(managed_keep_times(a, before, changed), changed), "unless something else changed");
}

int main(void)
{
    who_creates_owns_what_is_set();
    who_changes_a_field_takes_it();
    a_write_that_changes_nothing_changes_no_entry();
    subresources_have_entries_of_their_own();
    managed_fields_can_be_cleared();
    the_oldest_updates_become_ancient();
    times_alone_are_no_change();
    return tap_done();
}
