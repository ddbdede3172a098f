/* Pods and services are seen alike whether all of their protobuf is read or only what seen_wire
 * has: those of golden/protobuf/cases.txt, as Kubernetes' own encoder wrote them. */

#include "base/base64.h"
#include "builtin/types/types.h"
#include "builtin/wire.h"
#include "kube/meta.h"
#include "plan/planner.h"
#include "tap.h"

static bool same_troubles(const struct seen_pod *x, const struct seen_pod *y)
{
    bool same = x->n_troubles == y->n_troubles;

    for (size_t i = 0; same && i < x->n_troubles; i++)
        same = str_eq(x->troubles[i].reason, y->troubles[i].reason) &&
               str_eq(x->troubles[i].message, y->troubles[i].message);
    return same;
}

static bool same_pod(const struct seen_pod *x, const struct seen_pod *y)
{
    return str_eq(x->name, y->name) && str_eq(x->uid, y->uid) && str_eq(x->owner, y->owner) &&
           str_eq(x->role, y->role) && str_eq(x->reason, y->reason) && x->index == y->index &&
           x->phase == y->phase && x->leaving == y->leaving && x->disrupted == y->disrupted &&
           x->ready == y->ready && x->bound == y->bound && x->stalled == y->stalled &&
           x->has_exit == y->has_exit && x->exit_code == y->exit_code &&
           str_eq(x->container_id, y->container_id) && x->restarts == y->restarts &&
           same_troubles(x, y);
}

static bool same_service(const struct seen_service *x, const struct seen_service *y)
{
    return str_eq(x->name, y->name) && str_eq(x->uid, y->uid) && str_eq(x->owner, y->owner) &&
           str_eq(x->role, y->role) && x->index == y->index && x->leaving == y->leaving;
}

static bool is_seen_alike(struct arena *a, jv whole, jv part, bool pod)
{
    static const char *const fields[] = { "name", "namespace", "uid", "resourceVersion" };

    for (size_t i = 0; i < COUNT(fields); i++)
        if (!str_eq(meta_str(whole, str_of(fields[i])), meta_str(part, str_of(fields[i]))))
            return false;
    if (!jv_equal_semantic(meta_labels(whole), meta_labels(part)))
        return false;
    if (!pod) {
        struct seen_service x = seen_service_read(a, whole), y = seen_service_read(a, part);
        return same_service(&x, &y);
    }
    struct seen_pod x = seen_pod_read(a, whole, NULL), y = seen_pod_read(a, part, NULL);
    return same_pod(&x, &y);
}

/* What the cases, whose texts are chance, do not have: phases, and containers known by name. */
static const char told[] =
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'n','uid':'u',"
    "'resourceVersion':'7','generation':3,'labels':{'training.kubeflow.org/replica-type':'worker',"
    "'training.kubeflow.org/replica-index':'2'},'annotations':{'a':'b'},'ownerReferences':[{"
    "'kind':'TFJob','name':'j','uid':'o','apiVersion':'kubeflow.org/v1','controller':true}]},"
    "'spec':{'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'main','image':'i'}],"
    "'restartPolicy':'Never'},'status':{'phase':'%s','reason':'Evicted','conditions':[{'type':"
    "'Ready','status':'True','reason':'r','message':'m'},{'type':'DisruptionTarget','status':"
    "'True'},{'type':'muster.dev/Stalled','status':'True','message':'since'}],'initContainerStatuses':[{'name':'first','ready':true,'restartCount':2,'image':'i',"
    "'imageID':'d'}],'containerStatuses':[{'name':'main','state':{'terminated':{'exitCode':137,"
    "'signal':9,'reason':'Error','message':'oh','containerID':'c'}},'lastState':{'terminated':{"
    "'exitCode':1}},'ready':false,'restartCount':3,'image':'i','imageID':'d','containerID':'e'},"
    "{'name':'side','state':{'waiting':{'reason':'Back','message':'off'}},'ready':false,"
    "'restartCount':1,'image':'i','imageID':'d'}]}}";

static void all_that_is_read_of_a_pod_is_there(void)
{
    static const char *const phases[] = { "Pending", "Running", "Failed" };

    for (size_t i = 0; i < COUNT(phases); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        struct protobuf_body body;
        char quoted[2048];
        snprintf(quoted, sizeof(quoted), told, phases[i]);
        AUTO(jdoc) struct jdoc *d = J(quoted);
        is_int(protobuf_encode(a, &core_Pod, jdoc_root(d), &builtin_wire, &b, NULL), 0, phases[i]);
        is_int(protobuf_open(buf_str(&b), &body, NULL), 0, "in an envelope");
        jv part = protobuf_decode(a, &seen_pod_type, body.raw, &seen_wire, NULL);
        ok(is_seen_alike(a, jdoc_root(d), part, true), "is seen as in JSON");
        ok(!jv_exists(jv_at(part, "spec", "volumes")), "what nobody reads is left out");
        struct seen_pod p = seen_pod_read(a, part, "main");
        ok(p.exit_code == 137 && p.restarts == 6 && p.disrupted && p.ready, "and is all there");
        ok(p.stalled == (i == 1), "also that it is stalled");
    }
}

static void cases_are_seen_alike(str cases)
{
    size_t n = 0, wrong = 0;

    while (cases.n) {
        AUTO(arena) struct arena *a = arena_new();
        str line = str_cut(&cases, '\n');
        str type = str_cut(&line, '\t'), text = str_cut(&line, '\t'), bytes = STR_NONE;
        bool pod = str_eqz(type, "v1 Pod");
        if (!pod && !str_eqz(type, "v1 Service"))
            continue;
        n++;
        base64_decode(a, text, &bytes, NULL);
        jv part =
            protobuf_decode(a, pod ? &seen_pod_type : &seen_service_type, bytes, &seen_wire, NULL);
        jv whole = json_parse(a, line, NULL, NULL);
        wrong += !jv_exists(part) || !jv_exists(whole) || !is_seen_alike(a, whole, part, pod);
    }
    ok(n >= 14, "there are pods and services");
    is_int((int64_t)wrong, 0, "all are seen as they are in JSON");
}

static void the_table_is_in_order(void)
{
    bool in_order = true;

    for (size_t i = 1; i < seen_wire.n; i++)
        in_order = in_order && strcmp(seen_wire.types[i - 1].name, seen_wire.types[i].name) < 0;
    ok(in_order, "types are found by a search that needs them in order");
}

int main(int argc, char **argv)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    size_t got = 0;

    while (f && (got = fread(buf_room(&b, 1 << 16), 1, 1 << 16, f)) > 0)
        b.n += got;
    if (f)
        fclose(f);
    the_table_is_in_order();
    all_that_is_read_of_a_pod_is_there();
    cases_are_seen_alike(buf_str(&b));
    return tap_done();
}
