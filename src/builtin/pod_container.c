/* Containers, init containers and ephemeral containers. */

#include "builtin/pod.h"
#include "builtin/resources.h"

#include <inttypes.h>

static void ports_check(struct problems *ps, const struct path *p, jv ports)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

    EACH (it, ports) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        if (name.n && !name_ok(name, name_port))
            name_check(ps, AT(q, "name"), name, name_port);
        else if (name.n && seen_before(ports, it.i - 1, S("name"), name))
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

static void resize_policy_check(struct problems *ps, const struct path *p,
                                const struct pod_seen *seen, jv list)
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

static void common_check(struct problems *ps, const struct path *p, const struct pod_seen *seen,
                         jv c)
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

static void probes_check(struct problems *ps, const struct path *p, const struct pod_seen *seen,
                         jv c)
{
    lifecycle_check(ps, AT(p, "lifecycle"), seen, F(c, "lifecycle"));
    probe_check(ps, AT(p, "livenessProbe"), seen, PROBE_LIVENESS, F(c, "livenessProbe"));
    probe_check(ps, AT(p, "readinessProbe"), seen, PROBE_READINESS, F(c, "readinessProbe"));
    probe_check(ps, AT(p, "startupProbe"), seen, PROBE_STARTUP, F(c, "startupProbe"));
}

/* Whether port j of container i, on its host, stands before in the list. */
static bool host_port_taken(jv containers, size_t i, size_t j, jv port)
{
    for (size_t ci = 0; ci <= i; ci++) {
        jv ports = F(jv_index(containers, ci), "ports");
        size_t end = ci == i ? j : jv_len(ports);
        for (size_t pi = 0; pi < end; pi++) {
            jv other = jv_index(ports, pi);
            if (FI(other, "hostPort") == FI(port, "hostPort") &&
                str_eq(FS(other, "protocol"), FS(port, "protocol")) &&
                str_eq(FS(other, "hostIP"), FS(port, "hostIP")))
                return true;
        }
    }
    return false;
}

static void host_ports_check(struct problems *ps, const struct path *p, jv containers, size_t from,
                             size_t to)
{
    for (size_t i = from; i < to; i++) {
        jv ports = F(jv_index(containers, i), "ports");
        EACH (it, ports) {
            if (!FI(it.value, "hostPort") || !host_port_taken(containers, i, it.i - 1, it.value))
                continue;
            const struct path *q = ATI(AT(ATI(p, i), "ports"), it.i - 1);
            str text = arena_printf(ps->a, "%" PRI_STR "/%" PRI_STR "/%" PRId64,
                                    STR_ARG(FS(it.value, "protocol")),
                                    STR_ARG(FS(it.value, "hostIP")), FI(it.value, "hostPort"));
            problem_duplicate(ps, AT(q, "hostPort"), jstr(ps->a, text));
        }
    }
}

void containers_check(struct problems *ps, const struct path *p, const struct pod_seen *seen)
{
    jv containers = F(seen->spec, "containers");

    if (!jv_len(containers)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        common_check(ps, q, seen, it.value);
        if (seen_before(containers, it.i - 1, S("name"), FS(it.value, "name")))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        probes_check(ps, q, seen, it.value);
        if (!jv_is_null(F(it.value, "restartPolicy")))
            problem_forbidden(ps, AT(q, "restartPolicy"), "may not be set for non-init containers");
    }
    host_ports_check(ps, p, containers, 0, jv_len(containers));
}

void init_containers_check(struct problems *ps, const struct path *p, const struct pod_seen *seen)
{
    static const char *const always[] = { "Always", NULL };
    static const char *const sidecar_only[] = { "lifecycle", "livenessProbe", "readinessProbe",
                                                "startupProbe" };
    jv containers = F(seen->spec, "initContainers");
    jv regular = F(seen->spec, "containers");

    EACH (it, containers) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        common_check(ps, q, seen, it.value);
        enum_optional(ps, AT(q, "restartPolicy"), F(it.value, "restartPolicy"), always);
        if (seen_before(regular, jv_len(regular), S("name"), name) ||
            (name.n && seen_before(containers, it.i - 1, S("name"), name)))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        jv one = jarr(ps->a, it.value); /* counted alone: init containers run one by one */
        host_ports_check(ps, p, one, 0, 1);
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

void ephemeral_containers_check(struct problems *ps, const struct path *p,
                                const struct pod_seen *seen)
{
    static const char *const forbidden[] = { "ports",          "resources",    "livenessProbe",
                                             "readinessProbe", "startupProbe", "lifecycle" };
    jv list = F(seen->spec, "ephemeralContainers");
    jv regular = F(seen->spec, "containers");
    jv init = F(seen->spec, "initContainers");

    EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        str name = FS(it.value, "name");
        str target = FS(it.value, "targetContainerName");
        common_check(ps, q, seen, it.value);
        if (seen_before(regular, jv_len(regular), S("name"), name) ||
            seen_before(init, jv_len(init), S("name"), name) ||
            seen_before(list, it.i - 1, S("name"), name))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, F(it.value, "name")));
        if (target.n && !seen_before(regular, jv_len(regular), S("name"), target) &&
            !seen_before(init, jv_len(init), S("name"), target))
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
