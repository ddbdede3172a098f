/* Volumes of a pod, and where containers mount them. */

#include "builtin/pod.h"
#include "builtin/volume.h"

void no_backsteps_check(struct problems *ps, const struct path *p, str path)
{
    for (str rest = path; rest.p;) {
        if (str_eq(str_cut(&rest, '/'), S(".."))) {
            problem_invalid(ps, p, jstr(ps->a, path), "must not contain '..'");
            return;
        }
    }
}

void local_path_check(struct problems *ps, const struct path *p, str path)
{
    if (str_starts(path, S("/")))
        problem_invalid(ps, p, jstr(ps->a, path), "must be a relative path");
    no_backsteps_check(ps, p, path);
}

void local_path_reserved_check(struct problems *ps, const struct path *p, str path)
{
    local_path_check(ps, p, path);
    if (str_starts(path, S("..")) && !str_starts(path, S("../")))
        problem_invalid(ps, p, jstr(ps->a, path), "must not start with '..'");
}

static str claim_of(struct arena *a, struct pod_seen *seen, str volume)
{
    return arena_printf(a, "%" PRI_STR "-%" PRI_STR, STR_ARG(FIELD_STR(seen->meta, "name")),
                        STR_ARG(volume));
}

/* An ephemeral volume makes a claim called POD-VOLUME, which must be a name, and its own. */
static void ephemeral_claim_check(struct problems *ps, const struct path *p, struct pod_seen *seen,
                                  jv volume)
{
    str name = FIELD_STR(volume, "name");

    if (jv_is_null(FIELD(volume, "ephemeral")) || !FIELD_STR(seen->meta, "name").n || !name.n)
        return;
    str claim = claim_of(ps->a, seen, name);
    struct name_errors e = name_dns1123_subdomain(claim);
    for (unsigned i = 0; i < e.n; i++)
        problem_invalid(ps, AT(p, "name"), jstr(ps->a, name), "PVC name \"%" PRI_STR "\": %s",
                        STR_ARG(claim), e.at[i]);
}

static bool is_ephemeral_claim(struct pod_seen *seen, str claim)
{
    str pod = FIELD_STR(seen->meta, "name");

    if (!pod.n || !str_starts(claim, pod) || claim.n <= pod.n || claim.p[pod.n] != '-')
        return false;
    int64_t i = by_first(seen->volume_names, str_sub(claim, pod.n + 1, claim.n));
    return i >= 0 && !jv_is_null(FIELD(jv_index(seen->volumes, (size_t)i), "ephemeral"));
}

/* Only volumes without problems take their name. */
static bool taken_before(struct pod_seen *seen, size_t i, str name)
{
    int64_t first = by_first(seen->volume_names, name);

    return first >= 0 && (size_t)first < i && seen->volume_ok[first];
}

void volumes_check(struct problems *ps, const struct path *p, struct pod_seen *seen)
{
    seen->volume_ok = ARENA_ARRAY(ps->a, bool, jv_len(seen->volumes) + 1);
    JV_EACH (it, seen->volumes) {
        const struct path *q = EACH_AT(p, it);
        size_t before = ps->n;
        str claim = FIELD_STR(FIELD(it.value, "persistentVolumeClaim"), "claimName");
        volume_source_check(ps, q, it.value, pod_volume_sources, pod_volume_sources_n);
        ephemeral_claim_check(ps, q, seen, it.value);
        name_required(ps, AT(q, "name"), FIELD_STR(it.value, "name"), name_dns1123_label);
        if (taken_before(seen, it.i - 1, FIELD_STR(it.value, "name")))
            problem_duplicate(ps, AT(q, "name"), shown(ps->a, FIELD(it.value, "name")));
        seen->volume_ok[it.i - 1] = ps->n == before;
        if (claim.n && is_ephemeral_claim(seen, claim))
            problem_invalid(ps, AT(AT(q, "persistentVolumeClaim"), "claimName"), jstr(ps->a, claim),
                            "must not reference a PVC that gets created for an ephemeral volume");
    }
}

static jv volume_named(struct pod_seen *seen, str name)
{
    int64_t i = by_first(seen->volume_names, name);

    return i >= 0 && seen->volume_ok[i] ? jv_index(seen->volumes, (size_t)i) : JV_ABSENT;
}

static void propagation_check(struct problems *ps, const struct path *p, jv mount, jv container)
{
    static const char *const modes[] = { "Bidirectional", "HostToContainer", "None", NULL };
    jv mode = FIELD(mount, "mountPropagation");

    enum_optional(ps, p, mode, modes);
    if (str_eq(jv_str(mode, S("")), S("Bidirectional")) &&
        !FIELD_BOOL(FIELD(container, "securityContext"), "privileged"))
        problem_forbidden(ps, p,
                          "Bidirectional mount propagation is available only to privileged "
                          "containers");
}

static void recursive_read_only_check(struct problems *ps, const struct path *p, jv mount)
{
    static const char *const modes[] = { "Disabled", "Enabled", "IfPossible", NULL };
    jv mode = FIELD(mount, "recursiveReadOnly");
    str propagation = FIELD_STR(mount, "mountPropagation");

    if (jv_is_null(mode) || !enum_check(ps, p, mode, modes) ||
        str_eq(jv_str(mode, S("")), S("Disabled")))
        return;
    if (!FIELD_BOOL(mount, "readOnly"))
        problem_forbidden(ps, p, "may only be specified when readOnly is true");
    if (propagation.n && !str_eq(propagation, S("None")))
        problem_forbidden(ps, p,
                          "may only be specified when mountPropagation is None or not specified");
}

void mounts_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    jv mounts = FIELD(c, "volumeMounts");
    jv devices = FIELD(c, "volumeDevices");
    AUTO(by_field) struct by_field paths = by_field(mounts, S("mountPath"));
    AUTO(by_field) struct by_field device_names = by_field(devices, S("name"));
    AUTO(by_field) struct by_field device_paths = by_field(devices, S("devicePath"));

    JV_EACH (it, mounts) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        str path = FIELD_STR(it.value, "mountPath");
        str sub = FIELD_STR(it.value, "subPath");
        str expr = FIELD_STR(it.value, "subPathExpr");
        if (!name.n)
            problem_required(ps, AT(q, "name"), "%s", "");
        if (!jv_exists(volume_named(seen, name)))
            problem_add(ps, PROBLEM_NOT_FOUND, AT(q, "name"), shown(ps->a, FIELD(it.value, "name")),
                        "%s", "");
        if (!path.n)
            problem_required(ps, AT(q, "mountPath"), "%s", "");
        if (by_before(&paths, it.i - 1, path))
            problem_invalid(ps, AT(q, "mountPath"), shown(ps->a, FIELD(it.value, "mountPath")),
                            "must be unique");
        if (by_first(&device_names, name) >= 0)
            problem_invalid(ps, AT(q, "name"), jstr(ps->a, name),
                            "must not already exist in volumeDevices");
        if (by_first(&device_paths, path) >= 0)
            problem_invalid(ps, AT(q, "mountPath"), jstr(ps->a, path),
                            "must not already exist as a path in volumeDevices");
        if (sub.n)
            local_path_check(ps, AT(p, "subPath"), sub);
        if (expr.n && sub.n)
            problem_invalid(ps, AT(q, "subPathExpr"), FIELD(it.value, "subPathExpr"),
                            "subPathExpr and subPath are mutually exclusive");
        if (expr.n)
            local_path_check(ps, AT(p, "subPathExpr"), expr);
        propagation_check(ps, AT(p, "mountPropagation"), it.value, c);
        recursive_read_only_check(ps, AT(p, "recursiveReadOnly"), it.value);
    }
}

static bool has_backsteps(str path)
{
    for (str rest = path; rest.p;)
        if (str_eq(str_cut(&rest, '/'), S("..")))
            return true;
    return false;
}

void devices_check(struct problems *ps, const struct path *p, struct pod_seen *seen, jv c)
{
    jv devices = FIELD(c, "volumeDevices");
    jv mounts = FIELD(c, "volumeMounts");
    AUTO(by_field) struct by_field names = by_field(devices, S("name"));
    AUTO(by_field) struct by_field paths = by_field(devices, S("devicePath"));
    AUTO(by_field) struct by_field mount_names = by_field(mounts, S("name"));
    AUTO(by_field) struct by_field mount_paths = by_field(mounts, S("mountPath"));

    JV_EACH (it, devices) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        str path = FIELD_STR(it.value, "devicePath");
        jv volume = volume_named(seen, name);
        jv name_v = jstr(ps->a, name);
        jv path_v = jstr(ps->a, path);
        if (!name.n)
            problem_required(ps, AT(q, "name"), "%s", "");
        else if (by_before(&names, it.i - 1, name))
            problem_invalid(ps, AT(q, "name"), name_v, "must be unique");
        if (!jv_exists(volume))
            problem_add(ps, PROBLEM_NOT_FOUND, AT(q, "name"), name_v, "%s", "");
        else if (jv_is_null(FIELD(volume, "persistentVolumeClaim")) &&
                 jv_is_null(FIELD(volume, "ephemeral")))
            problem_invalid(ps, AT(q, "name"), name_v,
                            "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                            "for block mode");
        if (!path.n)
            problem_required(ps, AT(q, "devicePath"), "%s", "");
        if (by_before(&paths, it.i - 1, path))
            problem_invalid(ps, AT(q, "devicePath"), path_v, "must be unique");
        if (has_backsteps(path))
            problem_invalid(ps, AT(q, "devicePath"), path_v, "can not contain backsteps ('..')");
        if (by_first(&mount_names, name) >= 0)
            problem_invalid(ps, AT(q, "name"), name_v, "must not already exist in volumeMounts");
        if (by_first(&mount_paths, path) >= 0)
            problem_invalid(ps, AT(q, "devicePath"), path_v,
                            "must not already exist as a path in volumeMounts");
    }
}
