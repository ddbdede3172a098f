/* What deleting an object comes to. */

#include "api/delete.h"
#include "tap.h"

static const struct builtin_kind pod_kind = { .kind = "Pod",
                                              .flags = KIND_GRACEFUL | KIND_NAMESPACED };
static const struct builtin_kind map_kind = { .kind = "ConfigMap", .flags = KIND_NAMESPACED };
static const struct builtin_kind job_kind = { .kind = "Job", .flags = KIND_NAMESPACED };
static const struct resource pods = { .builtin = &pod_kind, .group_resource = S_INIT("pods") };
static const struct resource maps = { .builtin = &map_kind,
                                      .group_resource = S_INIT("configmaps") };
static const struct resource jobs = { .builtin = &job_kind,
                                      .group_resource = S_INIT("jobs.batch") };

enum { NOW_MS = 1700000000 };

static struct change decide(struct arena *a, const struct resource *res, const char *obj,
                            int64_t grace, enum propagation p)
{
    struct jdoc *d = J(obj);
    struct delete_opts o = { .grace_s = grace, .propagation = p };
    jv v = jv_copy(a, jdoc_root(d));

    jdoc_unref(d);
    return delete_decide(a, res, v, &o, (int64_t)NOW_MS * 1000);
}

static void plain_objects_go_at_once(void)
{
    AUTO(arena) struct arena *a = arena_new();

    is_int(decide(a, &maps, "{'metadata':{'name':'a'}}", -1, PROPAGATE_DEFAULT).kind, CHANGE_REMOVE,
           "a config map");
    is_int(decide(a, &maps, "{'metadata':{'name':'a'}}", 30, PROPAGATE_BACKGROUND).kind,
           CHANGE_REMOVE, "grace means nothing to it");
}

static void finalizers_hold_objects(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct change c =
        decide(a, &maps, "{'metadata':{'name':'a','generation':3,'finalizers':['x/y']}}", -1,
               PROPAGATE_BACKGROUND);

    is_int(c.kind, CHANGE_PUT, "it stays");
    is_str(jv_str(jv_at(c.obj, "metadata", "deletionTimestamp"), STR_NONE),
           S("2023-11-14T22:13:20Z"), "and says since when it is to go");
    is_int(jv_int(jv_at(c.obj, "metadata", "generation"), 0), 4, "which is a change");
    c = decide(
        a, &maps,
        "{'metadata':{'name':'a','deletionTimestamp':'2020-01-01T00:00:00Z','finalizers':['x/y']}}",
        -1, PROPAGATE_BACKGROUND);
    is_int(c.kind, CHANGE_NONE, "a second deletion changes nothing");
}

static void propagation_is_a_finalizer(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct change c = decide(a, &maps, "{'metadata':{'name':'a'}}", -1, PROPAGATE_FOREGROUND);

    is_json(jv_at(c.obj, "metadata", "finalizers"), "['foregroundDeletion']", "foreground");
    c = decide(a, &maps, "{'metadata':{'finalizers':['foregroundDeletion','x/y']}}", -1,
               PROPAGATE_ORPHAN);
    is_json(jv_at(c.obj, "metadata", "finalizers"), "['x/y','orphan']", "one replaces the other");
    c = decide(a, &maps, "{'metadata':{'finalizers':['foregroundDeletion']}}", -1,
               PROPAGATE_BACKGROUND);
    is_int(c.kind, CHANGE_REMOVE, "background removes both");
    c = decide(a, &jobs, "{'metadata':{'name':'j'}}", -1, PROPAGATE_DEFAULT);
    is_json(jv_at(c.obj, "metadata", "finalizers"), "['orphan']",
            "jobs orphan unless told otherwise");
}

static void pods_get_time_to_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char running[] =
        "{'metadata':{'name':'p'},'spec':{'nodeName':'n',"
        "'terminationGracePeriodSeconds':7},'status':{'phase':'Running'}}";
    struct change c = decide(a, &pods, running, -1, PROPAGATE_BACKGROUND);

    is_int(c.kind, CHANGE_PUT, "a running pod stays");
    is_int(jv_int(jv_at(c.obj, "metadata", "deletionGracePeriodSeconds"), -1), 7,
           "for its own time");
    is_str(jv_str(jv_at(c.obj, "metadata", "deletionTimestamp"), STR_NONE),
           S("2023-11-14T22:13:27Z"), "the end of which is told");
    is_int(decide(a, &pods, running, 0, PROPAGATE_BACKGROUND).kind, CHANGE_REMOVE,
           "no grace: at once");
    is_int(decide(a, &pods, "{'metadata':{},'spec':{}}", -1, PROPAGATE_BACKGROUND).kind,
           CHANGE_REMOVE, "a pod on no node goes at once");
    is_int(decide(a, &pods, "{'metadata':{},'spec':{'nodeName':'n'},'status':{'phase':'Failed'}}",
                  -1, PROPAGATE_BACKGROUND)
               .kind,
           CHANGE_REMOVE, "so does one that has ended");
}

static void a_second_deletion_can_only_hasten(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char ending[] = "{'metadata':{'deletionTimestamp':'2023-11-14T22:13:30Z',"
                                 "'deletionGracePeriodSeconds':30},'spec':{'nodeName':'n'},"
                                 "'status':{'phase':'Running'}}";

    is_int(decide(a, &pods, ending, 60, PROPAGATE_BACKGROUND).kind, CHANGE_NONE,
           "longer is ignored");
    struct change c = decide(a, &pods, ending, 5, PROPAGATE_BACKGROUND);
    is_int(jv_int(jv_at(c.obj, "metadata", "deletionGracePeriodSeconds"), -1), 5, "shorter counts");
}

static void no_grace_ends_beyond_what_clients_read(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char *const seconds[] = { "10000000000000", "4611686018427387904",
                                           "9223372036854775807" };

    for (size_t i = 0; i < COUNT(seconds); i++) {
        struct change c =
            decide(a, &pods,
                   arena_printf(a,
                                "{'metadata':{'name':'p'},'spec':{'nodeName':'n','"
                                "terminationGracePeriodSeconds':%s},'status':{'phase':'Running'}}",
                                seconds[i])
                       .p,
                   -1, PROPAGATE_BACKGROUND);
        is_int(c.kind, CHANGE_PUT, seconds[i]);
        is_int(jv_int(jv_at(c.obj, "metadata", "deletionGracePeriodSeconds"), -1), 2147483647,
               "is cut down to 68 years");
        is_str(jv_str(jv_at(c.obj, "metadata", "deletionTimestamp"), STR_NONE),
               S("2091-12-03T01:27:27Z"), "and ends in a year of four digits");
    }
    struct change c = decide(a, &pods, "{'metadata':{'name':'p'},'spec':{'nodeName':'n'}}",
                             INT64_MAX, PROPAGATE_BACKGROUND);
    is_int(jv_int(jv_at(c.obj, "metadata", "deletionGracePeriodSeconds"), -1), 2147483647,
           "so is what a deletion asks for");
}

int main(void)
{
    plain_objects_go_at_once();
    finalizers_hold_objects();
    propagation_is_a_finalizer();
    pods_get_time_to_end();
    a_second_deletion_can_only_hasten();
    no_grace_ends_beyond_what_clients_read();
    return tap_done();
}
