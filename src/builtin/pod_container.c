/* Containers, init containers and ephemeral containers. */

#include "builtin/pod.h"
#include "builtin/resources.h"

#include <inttypes.h>

static void ports_check(struct problems *ps, const struct path *p, jv ports)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
    AUTO(by_field) struct by_field names = by_field(ports, S("name"));

    EACH (it, ports) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        if (name.n && !name_ok(name, name_port))
            name_check(ps, AT(q, "name"), name, name_port);
        else if (name.n && by_before(&names, it.i - 1, name))
            problem_duplicate(ps, AT(q, "name"), F(it.value, "name"));
        if (!FI(it.value, "containerPort"))
            problem_required(ps, AT(q, "containerPort"), "%s", "");
        else
            port_check(ps, AT(q, "containerPort"), F(it.value, "containerPort"));
        if (FI(it.value, "hostPort"))
            port_check(ps, AT(q, "hostPort"), F(it.value, "hostPort"));
        enum_required(ps, AT(q, "protocol"), F(it.value, "protocol"), protocols);
    }
}

void pull_policy_check(struct problems *ps, const struct path *p, jv policy)
{
    static const char *const policies[] = { "Always", "IfNotPresent", "Never", NULL };

    enum_required(ps, p, policy, policies);
}

static void resize_policy_check(struct problems *ps, const struct path *p, struct pod_seen *seen,
                                jv list)
{
    static const char *const resources[] = { "cpu", "memory", NULL };
    static const char *const policies[] = { "NotRequired", "RestartContainer", NULL };

    EACH (it, list) {
        if (seen_before(list, it.i - 1, S("resourceName"), FS(it.value, "resourceName")))
            problem_duplicate(ps, EACH_AT(p, it), F(it.value, "resourceName"));
        enum_required(ps, p, F(it.value, "resourceName"), resources);
        enum_required(ps, p, F(it.value, "restartPolicy"), policies);
        if (str_eq(seen->restart_policy, S("Never")) &&
            !str_eq(FS(it.value, "restartPolicy"), S("NotRequired")))
            problem_invalid(ps, p, shown(ps->a, F(it.value, "restartPolicy")),
                            "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
}

static void common_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };

    name_required(ps, AT(p, "name"), FS(c, "name"), name_dns1123_label);
    required_check(ps, AT(p, "image"), F(c, "image"));
    enum_required(ps, AT(p, "terminationMessagePolicy"), F(c, "terminationMessagePolicy"),
                  message_policies);
    ports_check(ps, AT(p, "ports"), F(c, "ports"));
    env_check(ps, AT(p, "env"), F(c, "env"));
    env_from_check(ps, AT(p, "envFrom"), F(c, "envFrom"));
    mounts_check(ps, AT(p, "volumeMounts"), seen, c);
    devices_check(ps, AT(p, "volumeDevices"), seen, c);
    pull_policy_check(ps, AT(p, "imagePullPolicy"), F(c, "imagePullPolicy"));
    requirements_check(ps, AT(p, "resources"), F(c, "resources"), seen->claims, false);
    resize_policy_check(ps, AT(p, "resizePolicy"), seen, F(c, "resizePolicy"));
    container_security_check(ps, AT(p, "securityContext"), F(c, "securityContext"),
                             seen->host_users);
}

static void probes_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    lifecycle_check(ps, AT(p, "lifecycle"), seen, F(c, "lifecycle"));
    probe_check(ps, AT(p, "livenessProbe"), seen, PROBE_LIVENESS, F(c, "livenessProbe"));
    probe_check(ps, AT(p, "readinessProbe"), seen, PROBE_READINESS, F(c, "readinessProbe"));
    probe_check(ps, AT(p, "startupProbe"), seen, PROBE_STARTUP, F(c, "startupProbe"));
}

/* A port of the host goes to one container only. taken: what went before. */
static void host_ports_check(struct problems *ps, const struct path *p, jv container,
                             struct map *taken)
{
    EACH (it, F(container, "ports")) {
        if (!FI(it.value, "hostPort"))
            continue;
        str key = arena_printf(ps->a, "%" PRI_STR "/%" PRI_STR "/%" PRId64,
                               STR_ARG(FS(it.value, "protocol")), STR_ARG(FS(it.value, "hostIP")),
                               FI(it.value, "hostPort"));
        if (map_put(taken, key, ps))
            problem_duplicate(ps, AT(ATI(AT(p, "ports"), it.i - 1), "hostPort"), jstr(ps->a, key));
    }
}

void containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    jv containers = F(seen->spec, "containers");
    struct map taken = { 0 };

    if (!jv_len(containers)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        common_check(ps, q, seen, it.value);
        if (by_before(seen->container_names, it.i - 1, FS(it.value, "name")))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        probes_check(ps, q, seen, it.value);
        if (!jv_is_null(F(it.value, "restartPolicy")))
            problem_forbidden(ps, AT(q, "restartPolicy"), "may not be set for non-init containers");
    }
    EACH (it, containers)
        host_ports_check(ps, EACH_AT(p, it), it.value, &taken);
    map_done(&taken);
}

void init_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    static const char *const always[] = { "Always", NULL };
    static const char *const sidecar_only[] = { "lifecycle", "livenessProbe", "readinessProbe",
                                                "startupProbe" };
    jv containers = F(seen->spec, "initContainers");

    EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        common_check(ps, q, seen, it.value);
        enum_optional(ps, AT(q, "restartPolicy"), F(it.value, "restartPolicy"), always);
        if (by_first(seen->container_names, name) >= 0 ||
            (name.n && by_before(seen->init_names, it.i - 1, name)))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        struct map taken = { 0 }; /* counted alone: init containers run one by one */
        host_ports_check(ps, ATI(p, 0), it.value, &taken); /* sic: always reported at [0] */
        map_done(&taken);
        if (str_eq(FS(it.value, "restartPolicy"), S("Always"))) {
            probes_check(ps, q, seen, it.value);
            continue;
        }
        for (size_t i = 0; i < COUNT(sidecar_only); i++)
            if (!jv_is_null(jv_get(it.value, str_of(sidecar_only[i]))))
                problem_forbidden(ps, ATZ(q, sidecar_only[i]),
                                  "may not be set for init containers without "
                                  "restartPolicy=Always");
    }
}

static void ephemeral_mounts_check(struct problems *ps, const struct path *p, jv mounts)
{
    static const char *const text = "cannot be set for an Ephemeral Container";

    EACH (it, mounts) {
        const struct path *q = EACH_AT(p, it);
        if (FS(it.value, "subPath").n)
            problem_forbidden(ps, AT(q, "subPath"), "%s", text);
        if (FS(it.value, "subPathExpr").n)
            problem_forbidden(ps, AT(q, "subPathExpr"), "%s", text);
    }
}

void ephemeral_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    static const char *const forbidden[] = { "ports",          "resources",    "livenessProbe",
                                             "readinessProbe", "startupProbe", "lifecycle" };
    jv list = F(seen->spec, "ephemeralContainers");
    AUTO(by_field) struct by_field names = by_field(list, S("name"));

    EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        str target = FS(it.value, "targetContainerName");
        common_check(ps, q, seen, it.value);
        if (by_first(seen->container_names, name) >= 0 || by_first(seen->init_names, name) >= 0 ||
            by_before(&names, it.i - 1, name))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        if (target.n && by_first(seen->container_names, target) < 0 &&
            by_first(seen->init_names, target) < 0)
            problem_add(ps, PROBLEM_NOT_FOUND, AT(q, "targetContainerName"),
                        F(it.value, "targetContainerName"), "%s", "");
        for (size_t i = 0; i < COUNT(forbidden); i++) {
            jv v = jv_get(it.value, str_of(forbidden[i]));
            if (!jv_is_null(v) && jv_len(v))
                problem_forbidden(ps, ATZ(q, forbidden[i]),
                                  "cannot be set for an Ephemeral Container");
        }
        ephemeral_mounts_check(ps, AT(q, "volumeMounts"), F(it.value, "volumeMounts"));
    }
}
