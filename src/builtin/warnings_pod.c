/* What pods and templates of pods are warned of. */

#include "builtin/check.h"
#include "builtin/warnings.h"

static void annotations_warn(struct warnings *w, const struct path *p, jv annotations)
{
    static const struct {
        const char *key;
        const char *why;
    } rows[] = {
        { "scheduler.alpha.kubernetes.io/critical-pod",
          "non-functional in v1.16+; use the \"priorityClassName\" field instead" },
        { "security.alpha.kubernetes.io/sysctls",
          "non-functional in v1.11+; use the \"sysctls\" field instead" },
        { "security.alpha.kubernetes.io/unsafe-sysctls",
          "non-functional in v1.11+; use the \"sysctls\" field instead" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (jv_exists(jv_get(annotations, str_of(rows[i].key))))
            warning_at(w, ATK(p, str_of(rows[i].key)), "%s", rows[i].why);
}

static void node_affinity_warn(struct warnings *w, const struct path *p, jv affinity)
{
    const struct path *must = AT(p, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct path *terms = AT(must, "nodeSelectorTerms");
    const struct path *may = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");

    JV_EACH (it, FIELD(FIELD(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
                       "nodeSelectorTerms"))
        node_selector_term_warn(w, EACH_AT(terms, it), it.value, false);
    JV_EACH (it, FIELD(affinity, "preferredDuringSchedulingIgnoredDuringExecution"))
        node_selector_term_warn(w, AT(EACH_AT(may, it), "preference"),
                                FIELD(it.value, "preference"), true);
}

static void spread_warn(struct warnings *w, const struct path *p, jv constraints)
{
    JV_EACH (it, constraints) {
        const struct path *at = EACH_AT(p, it);
        str key = FIELD_STR(it.value, "topologyKey");
        const char *why = node_label_deprecated(key);
        if (why)
            warning_at(w, AT(at, "topologyKey"), "%" PRI_STR " is %s", STR_ARG(key), why);
        if (jv_is_null(FIELD(it.value, "labelSelector")))
            warning_at(w, AT(at, "labelSelector"),
                       "a null labelSelector results in matching no pod");
    }
}

static void pod_affinity_warn(struct warnings *w, const struct path *p, jv affinity)
{
    static const char text[] = "a null labelSelector results in matching no pod";
    const struct path *must = AT(p, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct path *may = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");

    JV_EACH (it, FIELD(affinity, "requiredDuringSchedulingIgnoredDuringExecution"))
        if (jv_is_null(FIELD(it.value, "labelSelector")))
            warning_at(w, AT(EACH_AT(must, it), "labelSelector"), "%s", text);
    JV_EACH (it, FIELD(affinity, "preferredDuringSchedulingIgnoredDuringExecution"))
        if (jv_is_null(FIELD(FIELD(it.value, "podAffinityTerm"), "labelSelector")))
            warning_at(w, AT(AT(EACH_AT(may, it), "podAffinityTerm"), "labelSelector"), "%s", text);
}

static void volumes_warn(struct warnings *w, const struct path *p, jv volumes)
{
    static const struct {
        const char *source;
        const char *why;
    } rows[] = {
        { "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
        { "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+" },
        { "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
        { "flocker", "deprecated in v1.22, non-functional in v1.25+" },
        { "storageos", "deprecated in v1.22, non-functional in v1.25+" },
        { "quobyte", "deprecated in v1.22, non-functional in v1.25+" },
        { "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
        { "ephemeral", NULL },
        { "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
        { "rbd", "deprecated in v1.28, non-functional in v1.31+" },
    };

    JV_EACH (it, volumes) {
        const struct path *at = EACH_AT(p, it);
        for (size_t i = 0; i < COUNT(rows); i++) {
            jv source = jv_get(it.value, str_of(rows[i].source));
            bool is_os = str_eqz(S("storageos"), rows[i].source); /* told by its Go name */
            if (jv_is_null(source))
                continue;
            if (rows[i].why)
                warning_at(w, ATZ(at, is_os ? "storageOS" : rows[i].source), "%s", rows[i].why);
            else
                claim_spec_warn(w, AT(AT(AT(at, "ephemeral"), "volumeClaimTemplate"), "spec"),
                                FIELD(FIELD(source, "volumeClaimTemplate"), "spec"));
        }
    }
    volume_paths_warn(w, volumes);
}

static void twice_warn(struct warnings *w, const struct path *p, jv list, const char *field)
{
    AUTO(by_field) struct by_field seen = by_field(list, str_of(field));

    JV_EACH (it, list) {
        str value = jv_str(jv_get(it.value, str_of(field)), S(""));
        if (by_before(&seen, it.i - 1, value))
            warning_at(w, ATZ(EACH_AT(p, it), field), "duplicate %s \"%" PRI_STR "\"", field,
                       STR_ARG(value));
    }
}

static void pull_secrets_warn(struct warnings *w, const struct path *p, jv secrets)
{
    twice_warn(w, p, secrets, "name");
    JV_EACH (it, secrets)
        if (!FIELD_STR(it.value, "name").n)
            warning_at(w, AT(EACH_AT(p, it), "name"), "invalid empty name \"\"");
}

/* A later variable of the same name is fine if it builds on the one before. */
static void env_warn(struct warnings *w, const struct path *p, jv env)
{
    AUTO(by_field) struct by_field seen = by_field(env, S("name"));

    JV_EACH (it, env) {
        str name = FIELD_STR(it.value, "name");
        if (!by_before(&seen, it.i - 1, name))
            continue;
        str ref = arena_printf(w->a, "$(%" PRI_STR ")", STR_ARG(name));
        str value = FIELD_STR(it.value, "value");
        if (!jv_is_null(FIELD(it.value, "valueFrom")) || str_eq(value, ref) ||
            !str_contains(value, ref))
            warning_at(w, EACH_AT(p, it),
                       "hides previous definition of \"%" PRI_STR
                       "\", which may be dropped when using apply",
                       STR_ARG(name));
    }
}

static void container_warn(struct warnings *w, const struct path *p, jv container)
{
    static const str bytes[] = { S_INIT("memory"), S_INIT("ephemeral-storage") };
    const struct path *at = AT(p, "resources");
    jv resources = FIELD(container, "resources");

    for (size_t i = 0; i < COUNT(bytes); i++) {
        fraction_warn(w, AT(at, "limits"), FIELD(resources, "limits"), bytes[i]);
        fraction_warn(w, AT(at, "requests"), FIELD(resources, "requests"), bytes[i]);
    }
    env_warn(w, AT(p, "env"), FIELD(container, "env"));
}

/* ---- profiles by annotation, which nobody reads any more */

static void profile_warn(struct warnings *w, const struct path *annotations, jv meta, str key,
                         jv context, const char *field, const char *since)
{
    if (jv_is_null(jv_get(context, str_of(field))) &&
        jv_exists(jv_get(FIELD(meta, "annotations"), key)))
        warning_at(w, ATK(annotations, key), "%s; use the \"%s\" field instead", since, field);
}

static void profiles_warn(struct warnings *w, const struct path *p, jv meta, jv container)
{
    jv context = FIELD(container, "securityContext");
    str name = FIELD_STR(container, "name");
    str seccomp = arena_cat(w->a, S("container.seccomp.security.alpha.kubernetes.io/"), name);
    str armor = arena_cat(w->a, S("container.apparmor.security.beta.kubernetes.io/"), name);

    if (!jv_len(FIELD(meta, "annotations")))
        return;
    profile_warn(w, p, meta, seccomp, context, "seccompProfile", "non-functional in v1.27+");
    profile_warn(w, p, meta, armor, context, "appArmorProfile", "deprecated since v1.30");
}

/* ---- ports of all containers together */

struct port {
    jv v;
    struct path list; /* of its container */
    struct path at;
};

struct ports {
    struct port *at; /* made for the first one */
    size_t n;
};

enum { MAX_PORTS = 512 }; /* more than that are not compared: the work grows with the square */

static void pair_warn(struct warnings *w, const struct port *x, const struct port *y)
{
    int64_t host = FIELD_INT(x->v, "hostPort");
    int64_t other = FIELD_INT(y->v, "hostPort");
    bool same_ip = str_eq(FIELD_STR(x->v, "hostIP"), FIELD_STR(y->v, "hostIP"));
    bool one_ip = (FIELD_STR(x->v, "hostIP").n == 0) != (FIELD_STR(y->v, "hostIP").n == 0);
    const char *how = same_ip && host == other  ? "duplicate"
                      : host == 0 || other == 0 ? "overlapping"
                      : host == other && one_ip ? "dangerously ambiguous"
                                                : NULL;

    if (how && FIELD_INT(x->v, "containerPort") == FIELD_INT(y->v, "containerPort") &&
        str_eq(FIELD_STR(x->v, "protocol"), FIELD_STR(y->v, "protocol")))
        warning_at(w, &x->at, "%s port definition with %" PRI_STR, how,
                   STR_ARG(path_str(w->a, &y->at)));
}

static void ports_warn(struct warnings *w, const struct ports *all)
{
    for (size_t i = 0; i < all->n; i++) {
        jv v = all->at[i].v;
        if (FIELD_STR(v, "hostIP").n && FIELD_INT(v, "hostPort") == 0)
            warning_at(w, &all->at[i].at,
                       "hostIP set without hostPort: {Name:%" PRI_STR
                       " HostPort:0 ContainerPort:%lld Protocol:%" PRI_STR " HostIP:%" PRI_STR "}",
                       STR_ARG(FIELD_STR(v, "name")), (long long)FIELD_INT(v, "containerPort"),
                       STR_ARG(FIELD_STR(v, "protocol")), STR_ARG(FIELD_STR(v, "hostIP")));
        for (size_t j = 0; j < i; j++)
            pair_warn(w, &all->at[i], &all->at[j]);
    }
    for (size_t i = 0; i < all->n; i++)
        for (size_t j = 0; j < i; j++) {
            str name = FIELD_STR(all->at[i].v, "name");
            if (!name.n || !str_eq(name, FIELD_STR(all->at[j].v, "name")))
                continue;
            str first = path_str(w->a, &all->at[j].at);
            warning_at(w, &all->at[i].at,
                       "duplicate port name \"%" PRI_STR "\" with %" PRI_STR
                       ", services and probes that select ports by name will use %" PRI_STR,
                       STR_ARG(name), STR_ARG(first), STR_ARG(first));
            break;
        }
}

static void add_ports(struct warnings *w, struct ports *all, const struct path *container, jv ports)
{
    JV_EACH (it, ports) {
        if (!all->at)
            all->at = arena_alloc(w->a, MAX_PORTS * sizeof(*all->at));
        if (all->n == MAX_PORTS)
            return;
        struct port *to = &all->at[all->n++];
        struct path *up = ARENA_NEW(w->a, struct path);
        *up = *container;
        to->v = it.value;
        to->list = path_field(up, S("ports"));
        to->at = path_index(&to->list, it.i - 1);
    }
}

/* ---- all of it */

static void containers_warn(struct warnings *w, const struct path *p,
                            const struct path *annotations, jv tmpl)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    jv spec = FIELD(tmpl, "spec");
    struct ports all = { 0 };
    struct path list[COUNT(lists)];

    for (size_t i = 0; i < COUNT(lists); i++) {
        list[i] = path_field(p, str_of(lists[i]));
        JV_EACH (it, jv_get(spec, str_of(lists[i]))) {
            const struct path *at = EACH_AT(&list[i], it);
            profiles_warn(w, annotations, FIELD(tmpl, "metadata"), it.value);
            container_warn(w, at, it.value);
            add_ports(w, &all, at, FIELD(it.value, "ports"));
        }
    }
    ports_warn(w, &all);
}

static void addresses_warn(struct warnings *w, const struct path *p, jv spec)
{
    const struct path *servers = AT(AT(p, "dnsConfig"), "nameservers");
    const struct path *aliases = AT(p, "hostAliases");

    JV_EACH (it, FIELD(FIELD(spec, "dnsConfig"), "nameservers"))
        ip_warn(w, EACH_AT(servers, it), jv_str(it.value, S("")));
    JV_EACH (it, FIELD(spec, "hostAliases"))
        ip_warn(w, AT(EACH_AT(aliases, it), "ip"), FIELD_STR(it.value, "ip"));
}

void pod_template_warn(struct warnings *w, const struct path *up, jv tmpl)
{
    const struct path *p = AT(up, "spec");
    const struct path *annotations = AT(AT(up, "metadata"), "annotations");
    const struct path *selector = AT(p, "nodeSelector");
    const struct path *affinity = AT(p, "affinity");
    jv spec = FIELD(tmpl, "spec");
    jv meta = FIELD(tmpl, "metadata");

    JV_EACH (it, FIELD(spec, "nodeSelector"))
        if (node_label_deprecated(it.key))
            warning_at(w, ATK(selector, it.key), "%s", node_label_deprecated(it.key));
    node_affinity_warn(w, AT(affinity, "nodeAffinity"),
                       FIELD(FIELD(spec, "affinity"), "nodeAffinity"));
    spread_warn(w, AT(p, "topologySpreadConstraints"), FIELD(spec, "topologySpreadConstraints"));
    annotations_warn(w, annotations, FIELD(meta, "annotations"));
    volumes_warn(w, AT(p, "volumes"), FIELD(spec, "volumes"));
    twice_warn(w, AT(p, "hostAliases"), FIELD(spec, "hostAliases"), "ip");
    pull_secrets_warn(w, AT(p, "imagePullSecrets"), FIELD(spec, "imagePullSecrets"));
    fraction_warn(w, AT(p, "overhead"), FIELD(spec, "overhead"), S("memory"));
    fraction_warn(w, AT(p, "overhead"), FIELD(spec, "overhead"), S("ephemeral-storage"));
    profile_warn(w, annotations, meta, S("seccomp.security.alpha.kubernetes.io/pod"),
                 FIELD(spec, "securityContext"), "seccompProfile", "non-functional in v1.27+");
    containers_warn(w, p, annotations, tmpl);
    if (jv_int(FIELD(spec, "terminationGracePeriodSeconds"), 0) < 0)
        warning_at(w, AT(p, "terminationGracePeriodSeconds"),
                   "must be >= 0; negative values are invalid and will be treated as 1");
    pod_affinity_warn(w, AT(affinity, "podAffinity"),
                      FIELD(FIELD(spec, "affinity"), "podAffinity"));
    pod_affinity_warn(w, AT(affinity, "podAntiAffinity"),
                      FIELD(FIELD(spec, "affinity"), "podAntiAffinity"));
    addresses_warn(w, p, spec);
}
