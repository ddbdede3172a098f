/* A pod's volumes are made and brought up to date in a thread of the pool (L1): a ConfigMap may
 * have 100,000 keys, and a hostPath may be on a disk that hangs. The thread gets all the objects
 * that the volumes refer to, as they are at the time. One set-up of a pod at a time. */

#include "base/mem.h"
#include "base/vec.h"
#include "kube/meta.h"
#include "loop/watchdog.h"
#include "node/internal.h"
#include "node/volumes.h"

#include <uv.h>

struct kept { /* an object, or the token that a source asks for */
    enum node_kind kind;
    str name;
    jv obj;
    struct jdoc *doc; /* may be NULL */
    jv source;
    str token;
};

struct pod_setup {
    uv_work_t work;
    struct pod *p; /* NULL: gone meanwhile */
    struct arena *a;
    struct jdoc *doc; /* the pod */
    struct {
        VEC(struct kept);
    } kept;
    struct volumes_of of;
    bool tells; /* of a failure, in an event */
    jv out;
    int rc;
    struct err e;
};

/* ---- what they refer to */

static void keep(struct pod_setup *s, enum node_kind kind, str ns, jv name)
{
    str of = jv_str(name, STR_NONE);
    const struct node *n = s->p->n;
    struct kept k = { .kind = kind, .name = of };

    if (!of.n)
        return;
    if (kind == NODE_CONFIGS && str_eq(of, S("kube-root-ca.crt")) && n->o.ca.n) {
        k.obj = jv_copy(s->a, n->root_ca); /* in every namespace of a cluster */
    } else {
        struct jdoc *d = mirror_get(n->mirrors[kind], ns, of);
        if (!d)
            return;
        k.doc = jdoc_ref(d);
        k.obj = jdoc_root(d);
    }
    vec_push(&s->kept, k);
}

static void keep_token(struct pod_setup *s, jv source)
{
    if (jv_is(source, JV_OBJ))
        vec_push(&s->kept, (struct kept){ .kind = NODE_KINDS,
                                          .source = source,
                                          .token = arena_str(s->a, pod_token(s->p, source)) });
}

static jv kept_obj(const struct pod_setup *s, enum node_kind kind, str name)
{
    for (size_t i = 0; i < s->kept.n; i++)
        if (s->kept.at[i].kind == kind && str_eq(s->kept.at[i].name, name))
            return s->kept.at[i].obj;
    return JV_ABSENT;
}

static void keep_all(struct pod_setup *s)
{
    jv pod = jdoc_root(s->doc);
    str ns = meta_namespace(pod);

    JV_EACH (v, jv_at(pod, "spec", "volumes")) {
        jv claim = jv_at(v.value, "persistentVolumeClaim", "claimName");
        keep(s, NODE_CONFIGS, ns, jv_at(v.value, "configMap", "name"));
        keep(s, NODE_SECRETS, ns, jv_at(v.value, "secret", "secretName"));
        keep(s, NODE_CLAIMS, ns, claim);
        claim = kept_obj(s, NODE_CLAIMS, jv_str(claim, STR_NONE));
        keep(s, NODE_VOLUMES, S(""), jv_at(claim, "spec", "volumeName"));
        JV_EACH (from, jv_at(v.value, "projected", "sources")) {
            keep(s, NODE_CONFIGS, ns, jv_at(from.value, "configMap", "name"));
            keep(s, NODE_SECRETS, ns, jv_at(from.value, "secret", "name"));
            keep_token(s, jv_at(from.value, "serviceAccountToken"));
        }
    }
}

/* ---- in the thread */

static jv config(void *ctx, str ns, str name)
{
    (void)ns;
    return kept_obj(ctx, NODE_CONFIGS, name);
}

static jv secret(void *ctx, str ns, str name)
{
    (void)ns;
    return kept_obj(ctx, NODE_SECRETS, name);
}

static jv claim(void *ctx, str ns, str name)
{
    (void)ns;
    return kept_obj(ctx, NODE_CLAIMS, name);
}

static jv persistent(void *ctx, str ns, str name)
{
    (void)ns;
    return kept_obj(ctx, NODE_VOLUMES, name);
}

static str token(void *ctx, jv source)
{
    const struct pod_setup *s = ctx;

    for (size_t i = 0; i < s->kept.n; i++)
        if (s->kept.at[i].kind == NODE_KINDS && jv_equal(s->kept.at[i].source, source))
            return s->kept.at[i].token;
    return STR_NONE;
}

static void set_up(uv_work_t *w)
{
    static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
    struct pod_setup *s = w->data;

    if (s->of.common) /* other pods' threads write there, too */
        pthread_mutex_lock(&common);
    s->rc = volumes_set_up(s->a, &s->of, &s->out, &s->e);
    if (s->of.common)
        pthread_mutex_unlock(&common);
}

/* ---- on the loop */

static void setup_free(struct pod_setup *s)
{
    for (size_t i = 0; i < s->kept.n; i++)
        jdoc_unref(s->kept.at[i].doc);
    vec_done(&s->kept);
    jdoc_unref(s->doc);
    arena_free(s->a);
    free(s);
}

static void on_set_up(uv_work_t *w, int status)
{
    LOOP_TURN();
    AUTO(arena) struct arena *a = arena_new();
    AUTO(life_out) struct life_out out = { .a = a };
    struct pod_setup *s = w->data;
    struct pod *p = s->p;

    (void)status;
    if (!p || p->n->ending) {
        if (p)
            p->setup = NULL;
        setup_free(s);
        return;
    }
    bool first = !p->volumes && p->rt, again = p->setup_again;
    p->setup = NULL;
    p->setup_again = false;
    if (s->rc == 0) {
        jdoc_unref(p->volumes);
        p->volumes = jdoc_copy(s->out);
    } else if (s->tells && !p->box_waits) {
        pod_event(p, true, "FailedMount", STR_NONE, str_of(s->e.msg));
    }
    struct err e = s->e;
    bool fine = s->rc == 0;
    setup_free(s);
    if (again)
        pod_volumes_start(p, true);
    if (p->box_waits && !p->setup) {
        p->box_waits = false;
        pod_volumes_are_set(p, fine ? NULL : &e);
    }
    if (p->adopting)
        return;
    if (fine && first)
        pod_retry(p); /* a container from before our time waits for them; may free it */
    else
        pod_reconcile(p, &out); /* the same */
}

void pod_volumes_start(struct pod *p, bool tells)
{
    if (p->setup) {
        p->setup_again = true;
        return;
    }
    struct pod_setup *s = mem_new(sizeof(*s));
    s->p = p;
    s->a = arena_new();
    s->doc = jdoc_ref(p->doc);
    s->tells = tells;
    keep_all(s);
    s->of = (struct volumes_of){
        .from = { .fields = { .pod = jdoc_root(s->doc),
                              .pod_ip = arena_str(s->a, node_pod_ip(p)),
                              .host_ip = arena_str(s->a, p->n->o.host_ip),
                              .allocatable = jv_copy(s->a, registration_allocatable(p->n->reg)) },
                  .config = config,
                  .secret = secret,
                  .token = token,
                  .ctx = s },
        .claim = claim,
        .persistent = persistent,
        .dir = arena_str(s->a, str_of(p->dir)).p,
        .claims = arena_str(s->a, p->n->o.claims),
        .hidden = jv_copy(s->a, p->n->o.hidden),
        .common = p->n->common.p ? arena_str(s->a, p->n->common).p : NULL,
        .again = p->volumes != NULL,
    };
    s->work.data = s;
    p->setup = s;
    if (uv_queue_work(loop_uv(p->n->o.loop), &s->work, set_up, on_set_up) != 0)
        abort();
}

void pod_volumes_stop(struct pod *p)
{
    if (p->setup)
        p->setup->p = NULL;
    p->setup = NULL;
}
