/* Security contexts of pods and containers, to the depth that users on Linux meet. */

#include "builtin/pod.h"

static void id_check(struct problems *ps, const struct path *p, jv id)
{
    if (!jv_is_null(id))
        range_check(ps, p, id, 0, INT32_MAX);
}

static void seccomp_check(struct problems *ps, const struct path *p, jv profile)
{
    static const char *const types[] = { "Localhost", "RuntimeDefault", "Unconfined", NULL };
    jv local = FIELD(profile, "localhostProfile");
    str type = FIELD_STR(profile, "type");

    if (jv_is_null(profile))
        return;
    if (!type.n)
        problem_required(ps, AT(p, "type"), "type is required when seccompProfile is set");
    else
        enum_check(ps, AT(p, "type"), FIELD(profile, "type"), types);
    if (!str_eq(type, S("Localhost"))) {
        if (!jv_is_null(local))
            problem_invalid(
                ps, AT(p, "localhostProfile"),
                jobj(ps->a, { "Type", jstr(ps->a, type) }, { "LocalhostProfile", local }),
                "can only be set when seccomp type is Localhost");
    } else if (jv_is_null(local)) {
        problem_required(ps, AT(p, "localhostProfile"),
                         "must be set when seccomp type is Localhost");
    } else {
        local_path_check(ps, AT(p, "localhostProfile"), jv_str(local, S("")));
    }
}

static void app_armor_check(struct problems *ps, const struct path *p, jv profile)
{
    static const char *const types[] = { "Localhost", "RuntimeDefault", "Unconfined", NULL };
    static const char must_be_set[] = "must be set when AppArmor type is Localhost";
    jv local = FIELD(profile, "localhostProfile");
    str text = jv_str(local, S(""));
    str type = FIELD_STR(profile, "type");
    const struct path *q = AT(p, "localhostProfile");

    if (jv_is_null(profile))
        return;
    if (!type.n) {
        problem_required(ps, AT(p, "type"), "type is required when appArmorProfile is set");
    } else if (!enum_check(ps, AT(p, "type"), FIELD(profile, "type"), types)) {
        return;
    } else if (!str_eq(type, S("Localhost"))) {
        if (!jv_is_null(local))
            problem_invalid(ps, q, local, "can only be set when AppArmor type is Localhost");
    } else if (jv_is_null(local)) {
        problem_required(ps, q, must_be_set);
    } else {
        if (str_trim(text).n != text.n)
            problem_invalid(ps, q, local, "must not be padded with whitespace");
        else if (!text.n)
            problem_required(ps, q, must_be_set);
        if (text.n > 4095)
            too_long(ps, q, 4095);
    }
}

static bool in_set(char c, const char *more)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr(more, c));
}

/* Segments of lower case letters, digits, '-' and '_', joined by '.' or '/'. */
static bool is_sysctl(str s)
{
    bool after_letter = false;

    if (!s.n || s.n > 253)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool edge = s.p[i] == '.' || s.p[i] == '/';
        if (edge && !after_letter)
            return false;
        bool start = i == 0 || s.p[i - 1] == '.' || s.p[i - 1] == '/';
        if (!edge && !in_set(s.p[i], start ? "" : "-_"))
            return false;
        after_letter = in_set(s.p[i], "");
    }
    return after_letter;
}

static void sysctls_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        const struct path *q = AT(EACH_AT(p, it), "name");
        str name = FIELD_STR(it.value, "name");
        if (!name.n)
            problem_required(ps, q, "%s", "");
        else if (!is_sysctl(name))
            problem_invalid(ps, q, jstr(ps->a, name),
                            "must have at most 253 characters and match regex "
                            "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])"
                            "?$");
        else if (seen_before(list, it.i - 1, S("name"), name))
            problem_duplicate(ps, q, jstr(ps->a, name));
    }
}

void pod_security_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const fs_policies[] = { "Always", "OnRootMismatch", NULL };
    static const char *const group_policies[] = { "Merge", "Strict", NULL };
    static const char *const se_policies[] = { "MountOption", "Recursive", NULL };
    jv sc = FIELD(spec, "securityContext");

    if (jv_len(sc)) {
        id_check(ps, AT(p, "fsGroup"), FIELD(sc, "fsGroup"));
        id_check(ps, AT(p, "runAsUser"), FIELD(sc, "runAsUser"));
        id_check(ps, AT(p, "runAsGroup"), FIELD(sc, "runAsGroup"));
        JV_EACH (it, FIELD(sc, "supplementalGroups"))
            id_check(ps, ATI(AT(p, "supplementalGroups"), it.i - 1), it.value);
    }
    if (FIELD_BOOL(spec, "shareProcessNamespace") && FIELD_BOOL(spec, "hostPID"))
        problem_invalid(ps, AT(p, "shareProcessNamespace"), JV_TRUE,
                        "ShareProcessNamespace and HostPID cannot both be enabled");
    if (!jv_len(sc))
        return;
    sysctls_check(ps, AT(p, "sysctls"), FIELD(sc, "sysctls"));
    enum_optional(ps, AT(p, "fsGroupChangePolicy"), FIELD(sc, "fsGroupChangePolicy"), fs_policies);
    seccomp_check(ps, AT(p, "seccompProfile"), FIELD(sc, "seccompProfile"));
    app_armor_check(ps, AT(p, "appArmorProfile"), FIELD(sc, "appArmorProfile"));
    enum_optional(ps, AT(p, "supplementalGroupsPolicy"), FIELD(sc, "supplementalGroupsPolicy"),
                  group_policies);
    enum_optional(ps, AT(p, "seLinuxChangePolicy"), FIELD(sc, "seLinuxChangePolicy"), se_policies);
}

/* A security context as Go prints its internal type: every field, by its Go name. */
static jv context_shown(struct arena *a, jv sc)
{
    static const struct {
        const char *go;
        const char *json;
    } fields[] = {
        { "Capabilities", "capabilities" },
        { "Privileged", "privileged" },
        { "SELinuxOptions", "seLinuxOptions" },
        { "WindowsOptions", "windowsOptions" },
        { "RunAsUser", "runAsUser" },
        { "RunAsGroup", "runAsGroup" },
        { "RunAsNonRoot", "runAsNonRoot" },
        { "ReadOnlyRootFilesystem", "readOnlyRootFilesystem" },
        { "AllowPrivilegeEscalation", "allowPrivilegeEscalation" },
        { "ProcMount", "procMount" },
        { "SeccompProfile", "seccompProfile" },
        { "AppArmorProfile", "appArmorProfile" },
    };
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < COUNT(fields); i++) {
        jv v = jv_get(sc, str_of(fields[i].json));
        if (i == 0 && jv_is(v, JV_OBJ))
            v = jobj(a, { "Add", jv_is_null(FIELD(v, "add")) ? JV_NULL_V : FIELD(v, "add") },
                     { "Drop", jv_is_null(FIELD(v, "drop")) ? JV_NULL_V : FIELD(v, "drop") });
        jb_add(&b, str_of(fields[i].go), jv_is_null(v) ? JV_NULL_V : v);
    }
    return jb_done(&b);
}

static void escalation_check(struct problems *ps, const struct path *p, jv sc)
{
    if (jv_bool(FIELD(sc, "allowPrivilegeEscalation"), true))
        return;
    if (FIELD_BOOL(sc, "privileged"))
        problem_invalid(ps, p, context_shown(ps->a, sc),
                        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    if (str_list_has(FIELD(FIELD(sc, "capabilities"), "add"), S("CAP_SYS_ADMIN")))
        problem_invalid(ps, p, context_shown(ps->a, sc),
                        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                        "CAP_SYS_ADMIN");
}

void container_security_check(struct problems *ps, const struct path *p, jv sc, bool host_users)
{
    static const char *const mounts[] = { "Default", "Unmasked", NULL };

    if (!jv_len(sc))
        return;
    id_check(ps, AT(p, "runAsUser"), FIELD(sc, "runAsUser"));
    id_check(ps, AT(p, "runAsGroup"), FIELD(sc, "runAsGroup"));
    enum_optional(ps, AT(p, "procMount"), FIELD(sc, "procMount"), mounts);
    if (host_users && str_eq(FIELD_STR(sc, "procMount"), S("Unmasked")))
        problem_invalid(ps, AT(p, "procMount"), FIELD(sc, "procMount"),
                        "`hostUsers` must be false to use `Unmasked`");
    seccomp_check(ps, AT(p, "seccompProfile"), FIELD(sc, "seccompProfile"));
    escalation_check(ps, p, sc);
    app_armor_check(ps, AT(p, "appArmorProfile"), FIELD(sc, "appArmorProfile"));
}
