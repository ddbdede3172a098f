/* One table says for each field of a security context, and for each place (level of isolation, root
 * or an ordinary user), whether it is honoured. docs/node.md has the same table. */

#include "node/confine.h"

#include "sandbox/caps.h"

#define UNSUPPORTED "UnsupportedSecurityContext"

static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };

jv confine_field(jv pod, jv container, const char *field)
{
    jv own = jv_get(jv_at(container, "securityContext"), str_of(field));

    return jv_is_null(own) ? jv_get(jv_at(pod, "spec", "securityContext"), str_of(field)) : own;
}

bool confine_is_privileged(jv container)
{
    return jv_bool(jv_at(container, "securityContext", "privileged"), false);
}

/* ---- what is asked for. container: absent for fields of the pod */

static bool asks_host_pid(jv pod, jv container)
{
    (void)container;
    return jv_bool(jv_at(pod, "spec", "hostPID"), false);
}

static bool asks_host_ipc(jv pod, jv container)
{
    (void)container;
    return jv_bool(jv_at(pod, "spec", "hostIPC"), false);
}

static bool asks_one_process_table(jv pod, jv container)
{
    (void)container;
    return jv_bool(jv_at(pod, "spec", "shareProcessNamespace"), false);
}

static bool asks_own_users(jv pod, jv container)
{
    (void)container;
    return !jv_bool(jv_at(pod, "spec", "hostUsers"), true);
}

static bool asks_privileged(jv pod, jv container)
{
    (void)pod;
    return confine_is_privileged(container);
}

static bool asks_caps(jv pod, jv container)
{
    (void)pod;
    return jv_len(jv_at(container, "securityContext", "capabilities", "add")) > 0;
}

static bool asks_read_only(jv pod, jv container)
{
    (void)pod;
    return jv_bool(jv_at(container, "securityContext", "readOnlyRootFilesystem"), false);
}

static bool asks_seccomp_file(jv pod, jv container)
{
    jv type = jv_at(confine_field(pod, container, "seccompProfile"), "type");

    return str_eq(jv_str(type, S("")), S("Localhost"));
}

/* By the field, or by the annotation that came before it. */
static bool asks_app_armor(jv pod, jv container)
{
    str type = jv_str(jv_at(confine_field(pod, container, "appArmorProfile"), "type"), S(""));
    str name = jv_str(jv_at(container, "name"), S(""));

    JV_EACH (it, jv_at(pod, "metadata", "annotations")) {
        str key = it.key;
        if (str_eq(str_cut(&key, '/'), S("container.apparmor.security.beta.kubernetes.io")) &&
            str_eq(key, name) && !str_eq(jv_str(it.value, S("")), S("unconfined")))
            return true;
    }
    return type.n && !str_eq(type, S("Unconfined"));
}

static bool asks_se_linux(jv pod, jv container)
{
    return jv_len(confine_field(pod, container, "seLinuxOptions")) > 0;
}

static bool asks_windows(jv pod, jv container)
{
    return jv_len(confine_field(pod, container, "windowsOptions")) > 0;
}

static bool asks_proc(jv pod, jv container)
{
    (void)pod;
    return str_eq(jv_str(jv_at(container, "securityContext", "procMount"), S("")), S("Unmasked"));
}

static bool asks_sysctls(jv pod, jv container)
{
    (void)container;
    return jv_len(jv_at(pod, "spec", "securityContext", "sysctls")) > 0;
}

/* ---- the table */

#define OWN_TABLE "each container has a process table of its own at level namespaces"
#define NO_ROOT   "only root can give that at level shared"

static const struct row {
    const char *field;
    bool of_pod;
    bool (*asks)(jv pod, jv container);
    const char *reason;
    const char *why[CONFINE_PLACES]; /* NULL: honoured */
} rows[] = {
    { "hostPID", true, asks_host_pid, UNSUPPORTED, { OWN_TABLE, OWN_TABLE } },
    { "shareProcessNamespace",
      true,
      asks_one_process_table,
      UNSUPPORTED,
      { OWN_TABLE, OWN_TABLE } },
    { "hostIPC",
      true,
      asks_host_ipc,
      UNSUPPORTED,
      { "each pod has an IPC namespace of its own at level namespaces",
        "each pod has an IPC namespace of its own at level namespaces" } },
    { "hostUsers: false",
      true,
      asks_own_users,
      UNSUPPORTED,
      { "pods of root have no user namespace of their own", NULL,
        "there are no user namespaces at level shared",
        "there are no user namespaces at level shared" } },
    { "sysctls",
      true,
      asks_sysctls,
      "SysctlForbidden",
      { NULL, NULL, "at level shared they would be the machine's",
        "at level shared they would be the machine's" } },
    { "privileged", false, asks_privileged, UNSUPPORTED, { NULL, NULL, NULL, NO_ROOT } },
    { "capabilities.add", false, asks_caps, UNSUPPORTED, { NULL, NULL, NULL, NO_ROOT } },
    { "readOnlyRootFilesystem",
      false,
      asks_read_only,
      UNSUPPORTED,
      { NULL, NULL, "containers have the machine's files at level shared",
        "containers have the machine's files at level shared" } },
    { "seccompProfile of type Localhost",
      false,
      asks_seccomp_file,
      UNSUPPORTED,
      { "profiles of files are not read; use RuntimeDefault or Unconfined",
        "profiles of files are not read; use RuntimeDefault or Unconfined",
        "profiles of files are not read; use RuntimeDefault or Unconfined",
        "profiles of files are not read; use RuntimeDefault or Unconfined" } },
    { "appArmorProfile",
      false,
      asks_app_armor,
      "AppArmor",
      { "muster does not set AppArmor profiles; use Unconfined",
        "muster does not set AppArmor profiles; use Unconfined",
        "muster does not set AppArmor profiles; use Unconfined",
        "muster does not set AppArmor profiles; use Unconfined" } },
    { "seLinuxOptions",
      false,
      asks_se_linux,
      UNSUPPORTED,
      { "muster does not set SELinux labels", "muster does not set SELinux labels",
        "muster does not set SELinux labels", "muster does not set SELinux labels" } },
    { "windowsOptions",
      false,
      asks_windows,
      UNSUPPORTED,
      { "this is a Linux node", "this is a Linux node", "this is a Linux node",
        "this is a Linux node" } },
    { "procMount: Unmasked",
      false,
      asks_proc,
      UNSUPPORTED,
      { "it needs hostUsers: false, which pods of root cannot have" } },
};

static struct confine_refusal refuse(struct arena *a, const struct row *row, const char *why,
                                     jv container)
{
    str name = jv_str(jv_at(container, "name"), S(""));

    return (struct confine_refusal){
        .reason = str_of(row->reason),
        .message = row->of_pod
                       ? arena_printf(a, "%s cannot be honoured on this node: %s", row->field, why)
                       : arena_printf(
                             a, "%s of container %" PRI_STR " cannot be honoured on this node: %s",
                             row->field, STR_ARG(name), why),
    };
}

/* ---- names in lists */

/* As kubelet's: namespaced, and without harm to others. */
static const char *const safe_sysctls[] = {
    "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem",
};

static str with(struct arena *a, str name, char from, char to)
{
    str out = arena_str(a, name);

    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] == from)
            ((char *)(uintptr_t)out.p)[i] = to;
    return out;
}

static bool is_safe(str name)
{
    for (size_t i = 0; i < COUNT(safe_sysctls); i++)
        if (str_eqz(name, safe_sysctls[i]))
            return true;
    return false;
}

static struct confine_refusal check_sysctls(struct arena *a, jv pod)
{
    bool host = jv_bool(jv_at(pod, "spec", "hostNetwork"), false);

    JV_EACH (it, jv_at(pod, "spec", "securityContext", "sysctls")) {
        str name = with(a, jv_str(jv_at(it.value, "name"), S("")), '/', '.');
        const char *why = !is_safe(name) ? "not allowlisted"
                          : host && str_starts(name, S("net."))
                              ? "not allowed with host net enabled"
                              : NULL;
        if (why)
            return (struct confine_refusal){
                .reason = S("SysctlForbidden"),
                .message =
                    arena_printf(a, "forbidden sysctl: \"%" PRI_STR "\" %s", STR_ARG(name), why),
            };
    }
    return (struct confine_refusal){ 0 };
}

jv confine_sysctls(struct arena *a, jv pod)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(pod, "spec", "securityContext", "sysctls"))
        jb_push(&b, jstr(a, arena_printf(
                                a, "%" PRI_STR "=%" PRI_STR,
                                STR_ARG(with(a, jv_str(jv_at(it.value, "name"), S("")), '.', '/')),
                                STR_ARG(jv_str(jv_at(it.value, "value"), S(""))))));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static struct confine_refusal check_caps(struct arena *a, jv container)
{
    static const char *const keys[] = { "add", "drop" };
    jv caps = jv_at(container, "securityContext", "capabilities");

    for (size_t i = 0; i < COUNT(keys); i++)
        JV_EACH (it, jv_get(caps, str_of(keys[i]))) {
            str name = jv_str(it.value, S(""));
            if (str_eq(name, S("ALL")) || warden_caps_named(name))
                continue;
            return (struct confine_refusal){
                .reason = S(UNSUPPORTED),
                .message = arena_printf(a,
                                        "capabilities.%s of container %" PRI_STR ": \"%" PRI_STR
                                        "\" is not a capability, such as NET_ADMIN or ALL",
                                        keys[i], STR_ARG(jv_str(jv_at(container, "name"), S(""))),
                                        STR_ARG(name)),
            };
        }
    return (struct confine_refusal){ 0 };
}

static struct confine_refusal check_container(struct arena *a, jv pod, jv container,
                                              enum confine_place place)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!rows[i].of_pod && rows[i].why[place] && rows[i].asks(pod, container))
            return refuse(a, &rows[i], rows[i].why[place], container);
    return check_caps(a, container);
}

struct confine_refusal confine_check(struct arena *a, jv pod, enum confine_place place)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].of_pod && rows[i].why[place] && rows[i].asks(pod, JV_ABSENT))
            return refuse(a, &rows[i], rows[i].why[place], JV_ABSENT);
    struct confine_refusal r = check_sysctls(a, pod);
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_get(jv_at(pod, "spec"), str_of(lists[i])))
            if (!r.reason.n)
                r = check_container(a, pod, it.value, place);
    return r;
}

/* ---- what a container is started with */

static bool has_all(jv list)
{
    JV_EACH (it, list)
        if (str_eq(jv_str(it.value, S("")), S("ALL")))
            return true;
    return false;
}

/* Those that are named one by one. */
static uint64_t caps_in(jv list)
{
    uint64_t set = 0;

    JV_EACH (it, list)
        set |= warden_caps_named(jv_str(it.value, S("")));
    return set;
}

/* As container engines add and drop: ALL of either first, then what is named. */
static uint64_t caps_of(jv caps)
{
    jv add = jv_at(caps, "add"), drop = jv_at(caps, "drop");
    uint64_t set = has_all(drop) ? 0 : has_all(add) ? WARDEN_CAPS_ALL : warden_caps_default();

    return (set | caps_in(add)) & ~caps_in(drop);
}

jv confine_start(struct arena *a, jv pod, jv container, enum confine_place place)
{
    jv sc = jv_at(container, "securityContext"), caps = jv_at(sc, "capabilities");
    bool privileged = confine_is_privileged(container);
    bool user = place == CONFINE_NAMESPACES_USER;
    uint64_t keep = privileged ? WARDEN_CAPS_ALL : caps_of(caps);
    bool all = privileged || has_all(jv_at(caps, "add"));
    uint64_t ambient = !user ? 0 : all ? keep : keep & caps_in(jv_at(caps, "add"));
    str seccomp = jv_str(jv_at(confine_field(pod, container, "seccompProfile"), "type"), S(""));

    return jobj(
        a, { "privileged", privileged ? JV_TRUE : JV_ABSENT },
        { "caps", keep == warden_caps_default() ? JV_ABSENT : jint(a, (int64_t)keep) },
        { "ambient", ambient ? jint(a, (int64_t)ambient) : JV_ABSENT },
        { "no_new_privs",
          jv_bool(jv_at(sc, "allowPrivilegeEscalation"), true) ? JV_ABSENT : JV_TRUE },
        { "unconfined", str_eq(seccomp, S("Unconfined")) ? JV_TRUE : JV_ABSENT },
        { "read_only", jv_bool(jv_at(sc, "readOnlyRootFilesystem"), false) ? JV_TRUE : JV_ABSENT },
        { "unmasked", asks_proc(pod, container) ? JV_TRUE : JV_ABSENT });
}
