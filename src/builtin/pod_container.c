/* Containers, init containers and ephemeral containers. */

#include "builtin/pod.h"
#include "builtin/resources.h"

#include <inttypes.h>

static void ports_check(struct problems *ps, const struct path *p, jv ports)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
    AUTO(by_field) struct by_field names = by_field(ports, S("name"));

    JV_EACH (it, ports) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        if (name.n && !name_ok(name, name_port))
            name_check(ps, AT(q, "name"), name, name_port);
        else if (name.n && by_before(&names, it.i - 1, name))
            problem_duplicate(ps, AT(q, "name"), FIELD(it.value, "name"));
        if (!FIELD_INT(it.value, "containerPort"))
            problem_required(ps, AT(q, "containerPort"), "%s", "");
        else
            port_check(ps, AT(q, "containerPort"), FIELD(it.value, "containerPort"));
        if (FIELD_INT(it.value, "hostPort"))
            port_check(ps, AT(q, "hostPort"), FIELD(it.value, "hostPort"));
        enum_required(ps, AT(q, "protocol"), FIELD(it.value, "protocol"), protocols);
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

    JV_EACH (it, list) {
        if (seen_before(list, it.i - 1, S("resourceName"), FIELD_STR(it.value, "resourceName")))
            problem_duplicate(ps, EACH_AT(p, it), FIELD(it.value, "resourceName"));
        enum_required(ps, p, FIELD(it.value, "resourceName"), resources);
        enum_required(ps, p, FIELD(it.value, "restartPolicy"), policies);
        if (str_eq(seen->restart_policy, S("Never")) &&
            !str_eq(FIELD_STR(it.value, "restartPolicy"), S("NotRequired")))
            problem_invalid(ps, p, shown(ps->a, FIELD(it.value, "restartPolicy")),
                            "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
}

static void common_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };

    name_required(ps, AT(p, "name"), FIELD_STR(c, "name"), name_dns1123_label);
    required_check(ps, AT(p, "image"), FIELD(c, "image"));
    enum_required(ps, AT(p, "terminationMessagePolicy"), FIELD(c, "terminationMessagePolicy"),
                  message_policies);
    ports_check(ps, AT(p, "ports"), FIELD(c, "ports"));
    nul_check(ps, AT(p, "command"), FIELD(c, "command"));
    nul_check(ps, AT(p, "args"), FIELD(c, "args"));
    nul_check(ps, AT(p, "workingDir"), FIELD(c, "workingDir"));
    env_check(ps, AT(p, "env"), FIELD(c, "env"));
    env_from_check(ps, AT(p, "envFrom"), FIELD(c, "envFrom"));
    mounts_check(ps, AT(p, "volumeMounts"), seen, c);
    devices_check(ps, AT(p, "volumeDevices"), seen, c);
    pull_policy_check(ps, AT(p, "imagePullPolicy"), FIELD(c, "imagePullPolicy"));
    requirements_check(ps, AT(p, "resources"), FIELD(c, "resources"), seen->claims, false);
    resize_policy_check(ps, AT(p, "resizePolicy"), seen, FIELD(c, "resizePolicy"));
    container_security_check(ps, AT(p, "securityContext"), FIELD(c, "securityContext"),
                             seen->host_users);
}

static void probes_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    lifecycle_check(ps, AT(p, "lifecycle"), seen, FIELD(c, "lifecycle"));
    probe_check(ps, AT(p, "livenessProbe"), seen, PROBE_LIVENESS, FIELD(c, "livenessProbe"));
    probe_check(ps, AT(p, "readinessProbe"), seen, PROBE_READINESS, FIELD(c, "readinessProbe"));
    probe_check(ps, AT(p, "startupProbe"), seen, PROBE_STARTUP, FIELD(c, "startupProbe"));
}

/* A port of the host goes to one container only. taken: what went before. */
static void host_ports_check(struct problems *ps, const struct path *p, jv container,
                             struct map *taken)
{
    JV_EACH (it, FIELD(container, "ports")) {
        if (!FIELD_INT(it.value, "hostPort"))
            continue;
        str key = arena_printf(
            ps->a, "%" PRI_STR "/%" PRI_STR "/%" PRId64, STR_ARG(FIELD_STR(it.value, "protocol")),
            STR_ARG(FIELD_STR(it.value, "hostIP")), FIELD_INT(it.value, "hostPort"));
        if (map_put(taken, key, ps))
            problem_duplicate(ps, AT(ATI(AT(p, "ports"), it.i - 1), "hostPort"), jstr(ps->a, key));
    }
}

void containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    jv containers = FIELD(seen->spec, "containers");
    struct map taken = { 0 };

    if (!jv_len(containers)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    JV_EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        common_check(ps, q, seen, it.value);
        if (by_before(seen->container_names, it.i - 1, FIELD_STR(it.value, "name")))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, FIELD(it.value, "name")));
        probes_check(ps, q, seen, it.value);
        if (!jv_is_null(FIELD(it.value, "restartPolicy")))
            problem_forbidden(ps, AT(q, "restartPolicy"), "may not be set for non-init containers");
    }
    JV_EACH (it, containers)
        host_ports_check(ps, EACH_AT(p, it), it.value, &taken);
    map_done(&taken);
}

void init_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    static const char *const always[] = { "Always", NULL };
    static const char *const sidecar_only[] = { "lifecycle", "livenessProbe", "readinessProbe",
                                                "startupProbe" };
    jv containers = FIELD(seen->spec, "initContainers");

    JV_EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        common_check(ps, q, seen, it.value);
        enum_optional(ps, AT(q, "restartPolicy"), FIELD(it.value, "restartPolicy"), always);
        if (by_first(seen->container_names, name) >= 0 ||
            (name.n && by_before(seen->init_names, it.i - 1, name)))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, FIELD(it.value, "name")));
        struct map taken = { 0 }; /* counted alone: init containers run one by one */
        host_ports_check(ps, ATI(p, 0), it.value, &taken); /* sic: always reported at [0] */
        map_done(&taken);
        if (str_eq(FIELD_STR(it.value, "restartPolicy"), S("Always"))) {
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

    JV_EACH (it, mounts) {
        const struct path *q = EACH_AT(p, it);
        if (FIELD_STR(it.value, "subPath").n)
            problem_forbidden(ps, AT(q, "subPath"), "%s", text);
        if (FIELD_STR(it.value, "subPathExpr").n)
            problem_forbidden(ps, AT(q, "subPathExpr"), "%s", text);
    }
}

void ephemeral_containers_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    static const char *const forbidden[] = { "ports",          "resources",    "livenessProbe",
                                             "readinessProbe", "startupProbe", "lifecycle" };
    jv list = FIELD(seen->spec, "ephemeralContainers");
    AUTO(by_field) struct by_field names = by_field(list, S("name"));

    JV_EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        str target = FIELD_STR(it.value, "targetContainerName");
        common_check(ps, q, seen, it.value);
        if (by_first(seen->container_names, name) >= 0 || by_first(seen->init_names, name) >= 0 ||
            by_before(&names, it.i - 1, name))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, FIELD(it.value, "name")));
        if (target.n && by_first(seen->container_names, target) < 0 &&
            by_first(seen->init_names, target) < 0)
            problem_add(ps, PROBLEM_NOT_FOUND, AT(q, "targetContainerName"),
                        FIELD(it.value, "targetContainerName"), "%s", "");
        for (size_t i = 0; i < COUNT(forbidden); i++) {
            jv v = jv_get(it.value, str_of(forbidden[i]));
            if (!jv_is_null(v) && jv_len(v))
                problem_forbidden(ps, ATZ(q, forbidden[i]),
                                  "cannot be set for an Ephemeral Container");
        }
        ephemeral_mounts_check(ps, AT(q, "volumeMounts"), FIELD(it.value, "volumeMounts"));
    }
}
