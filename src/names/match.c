/* A service is found by one pair of its selector, that which fewest others have: a job's services
 * differ in one label only, and each pod would be compared with all of them otherwise. */

#include "names/match.h"

#include "base/map.h"
#include "kube/meta.h"
#include "kube/selector.h"

struct pair {
    size_t users;
    struct names_service *first;
};

static str pair_text(struct buf *b, str key, str value)
{
    buf_clear(b);
    buf_add(b, key);
    buf_addc(b, '=');
    buf_add(b, value);
    return buf_str(b);
}

static void index_service(struct arena *a, struct map *pairs, struct buf *b,
                          struct names_service *s)
{
    struct pair *best = NULL;

    JV_EACH (it, jv_at(s->service, "spec", "selector")) {
        str text = pair_text(b, it.key, jv_str(it.value, S("")));
        struct pair *p = map_get(pairs, text);
        if (!p) {
            p = ARENA_NEW(a, struct pair);
            map_put(pairs, arena_str(a, text), p);
        }
        if (!best || p->users < best->users)
            best = p;
        p->users++;
    }
    if (best) {
        s->next = best->first;
        best->first = s;
    }
}

bool names_selects(jv service, jv labels)
{
    JV_EACH (it, jv_at(service, "spec", "selector")) {
        jv has = jv_get(labels, it.key);
        if (!jv_is(has, JV_STR) || !str_eq(jv_str(has, S("")), jv_str(it.value, S(""))))
            return false;
    }
    return true;
}

static bool is_headless(jv service)
{
    str ip = jv_str(jv_at(service, "spec", "clusterIP"), S(""));

    return !ip.n || str_eq(ip, S("None"));
}

static void add_pod(struct names_service *s, const struct names_pod *p)
{
    jv spec = jv_at(p->pod, "spec");
    bool all = jv_bool(jv_at(s->service, "spec", "publishNotReadyAddresses"), false);
    bool named = is_headless(s->service) &&
                 str_eq(jv_str(jv_at(spec, "subdomain"), S("")), meta_name(s->service));

    if (p->ip.n && (p->ready || all))
        vec_push(&s->ends,
                 (struct names_end){
                     .ip = p->ip,
                     .hostname = named ? jv_str(jv_at(spec, "hostname"), S("")) : STR_NONE,
                     .pod = p->pod,
                 });
}

/* ---- of services without selector */

static void add_endpoints(struct names_service *s, jv endpoints)
{
    JV_EACH (sub, jv_at(endpoints, "subsets"))
        JV_EACH (it, jv_at(sub.value, "addresses"))
            vec_push(&s->ends, (struct names_end){
                                   .ip = jv_str(jv_at(it.value, "ip"), S("")),
                                   .hostname = jv_str(jv_at(it.value, "hostname"), STR_NONE),
                                   .ports = jv_at(sub.value, "ports"),
                               });
}

static void add_slice(struct names_service *s, jv slice)
{
    str type = jv_str(jv_at(slice, "addressType"), S("IPv4"));

    if (str_eq(type, S("FQDN")))
        return;
    JV_EACH (it, jv_at(slice, "endpoints")) {
        if (!jv_bool(jv_at(it.value, "conditions", "ready"), true))
            continue;
        JV_EACH (ip, jv_at(it.value, "addresses"))
            vec_push(&s->ends, (struct names_end){
                                   .ip = jv_str(ip.value, S("")),
                                   .hostname = jv_str(jv_at(it.value, "hostname"), STR_NONE),
                                   .ports = jv_at(slice, "ports"),
                               });
    }
}

static void add_given(const struct names_world *w, struct names_service *s)
{
    str name = meta_name(s->service);

    if (str_eq(w->ns, S("default")) && str_eq(name, S("kubernetes")))
        return; /* the server itself, wherever it is */
    JV_EACH (it, w->endpoints)
        if (str_eq(meta_namespace(it.value), w->ns) && str_eq(meta_name(it.value), name))
            add_endpoints(s, it.value);
    JV_EACH (it, w->slices)
        if (str_eq(meta_namespace(it.value), w->ns) &&
            str_eq(jv_str(jv_get(meta_labels(it.value), S("kubernetes.io/service-name")), S("")),
                   name))
            add_slice(s, it.value);
}

/* ---- */

void names_match(struct arena *a, const struct names_world *w, struct names_services *out)
{
    struct map pairs = { 0 };
    AUTO(buf) struct buf b = { 0 };

    out->at = ARENA_ARRAY(a, struct names_service, jv_len(w->services) + 1);
    out->n = 0;
    JV_EACH (it, w->services) {
        if (!str_eq(meta_namespace(it.value), w->ns) ||
            str_eq(jv_str(jv_at(it.value, "spec", "type"), S("")), S("ExternalName")))
            continue;
        struct names_service *s = &out->at[out->n++];
        s->service = it.value;
        if (jv_len(jv_at(it.value, "spec", "selector")))
            index_service(a, &pairs, &b, s);
        else
            add_given(w, s);
    }
    for (size_t i = 0; i < w->n; i++) {
        jv labels = meta_labels(w->pods[i].pod);
        JV_EACH (it, labels) {
            struct pair *p = map_get(&pairs, pair_text(&b, it.key, jv_str(it.value, S(""))));
            for (struct names_service *s = p ? p->first : NULL; s; s = s->next)
                if (names_selects(s->service, labels))
                    add_pod(s, &w->pods[i]);
        }
    }
    map_done(&pairs);
}

void names_services_done(struct names_services *s)
{
    for (size_t i = 0; i < s->n; i++)
        vec_done(&s->at[i].ends);
}
