/* Which volume sources there are, and what each must say. */

#include "builtin/volume.h"
#include "builtin/pod.h"
#include "builtin/resources.h"

static const char file_mode[] = "must be a number between 0 and 0777 (octal), both inclusive";

static void mode_check(struct problems *ps, const struct path *p, jv mode)
{
    if (!jv_is_null(mode) && (jv_int(mode, 0) > 0777 || jv_int(mode, 0) < 0))
        problem_invalid(ps, p, mode, file_mode);
}

static void items_check(struct problems *ps, const struct path *p, jv items)
{
    JV_EACH (it, items) {
        const struct path *q = EACH_AT(p, it);
        required_check(ps, AT(q, "key"), FIELD(it.value, "key"));
        required_check(ps, AT(q, "path"), FIELD(it.value, "path"));
        local_path_reserved_check(ps, AT(q, "path"), FIELD_STR(it.value, "path"));
        mode_check(ps, AT(q, "mode"), FIELD(it.value, "mode"));
    }
}

static void empty_dir_check(struct problems *ps, const struct path *p, jv v)
{
    struct quantity q = quantity_of_jv(FIELD(v, "sizeLimit"));

    if (quantity_sign(&q) < 0)
        problem_forbidden(ps, AT(p, "sizeLimit"),
                          "SizeLimit field must be a valid resource quantity");
}

static void host_path_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL
    };

    if (!FIELD_STR(v, "path").n) {
        problem_required(ps, AT(p, "path"), "%s", "");
        return;
    }
    no_backsteps_check(ps, AT(p, "path"), FIELD_STR(v, "path"));
    enum_optional(ps, AT(p, "type"), FIELD(v, "type"), types);
}

static void git_repo_check(struct problems *ps, const struct path *p, jv v)
{
    local_path_check(ps, AT(p, "directory"), FIELD_STR(v, "directory"));
}

static void partition_check(struct problems *ps, const struct path *p, jv v)
{
    int64_t n = FIELD_INT(v, "partition");

    if (n < 0 || n > 255)
        problem_invalid(ps, AT(p, "partition"), LINT(n), "must be between 1 and 255, inclusive");
}

static void keyed_check(struct problems *ps, const struct path *p, jv v)
{
    mode_check(ps, AT(p, "defaultMode"), FIELD(v, "defaultMode"));
    items_check(ps, AT(p, "items"), FIELD(v, "items"));
}

static void nfs_check(struct problems *ps, const struct path *p, jv v)
{
    if (!str_starts(FIELD_STR(v, "path"), S("/")))
        problem_invalid(ps, AT(p, "path"), shown(ps->a, FIELD(v, "path")),
                        "must be an absolute path");
}

static void lun_check(struct problems *ps, const struct path *p, jv v)
{
    range_check(ps, AT(p, "lun"), FIELD(v, "lun"), 0, 255);
}

static void fc_check(struct problems *ps, const struct path *p, jv v)
{
    size_t wwns = jv_len(FIELD(v, "targetWWNs"));
    size_t wwids = jv_len(FIELD(v, "wwids"));

    if (!wwns && !wwids)
        problem_required(ps, AT(p, "targetWWNs"),
                         "must specify either targetWWNs or wwids, but not both");
    if (wwns && wwids)
        problem_invalid(ps, AT(p, "targetWWNs"), FIELD(v, "targetWWNs"),
                        "targetWWNs and wwids can not be specified simultaneously");
    if (wwns && jv_is_null(FIELD(v, "lun")))
        problem_required(ps, AT(p, "lun"), "lun is required if targetWWNs is specified");
    else if (wwns)
        lun_check(ps, p, v);
}

static void flocker_check(struct problems *ps, const struct path *p, jv v)
{
    str name = FIELD_STR(v, "datasetName");
    str uuid = FIELD_STR(v, "datasetUUID");

    if (!name.n && !uuid.n)
        problem_required(ps, p, "one of datasetName and datasetUUID is required");
    if (name.n && uuid.n)
        problem_invalid(ps, p, LSTR("resource"),
                        "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find(name, '/') >= 0)
        problem_invalid(ps, AT(p, "datasetName"), FIELD(v, "datasetName"), "must not contain '/'");
}

static void downward_file_check(struct problems *ps, const struct path *p, jv file)
{
    required_check(ps, AT(p, "path"), FIELD(file, "path"));
    local_path_reserved_check(ps, AT(p, "path"), FIELD_STR(file, "path"));
    if (!jv_is_null(FIELD(file, "fieldRef"))) {
        field_ref_check(ps, AT(p, "fieldRef"), FIELD(file, "fieldRef"), true);
        if (!jv_is_null(FIELD(file, "resourceFieldRef")))
            problem_invalid(ps, p, LSTR("resource"),
                            "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (!jv_is_null(FIELD(file, "resourceFieldRef"))) {
        resource_field_ref_check(ps, AT(p, "resourceFieldRef"), FIELD(file, "resourceFieldRef"),
                                 true);
    } else {
        problem_required(ps, p, "one of fieldRef and resourceFieldRef is required");
    }
    mode_check(ps, AT(p, "mode"), FIELD(file, "mode"));
}

static void downward_check(struct problems *ps, const struct path *p, jv v)
{
    mode_check(ps, AT(p, "defaultMode"), FIELD(v, "defaultMode"));
    JV_EACH (it, FIELD(v, "items"))
        downward_file_check(ps, p, it.value);
}

/* Every path that projected sources put into the volume, to find two alike. */
struct taken {
    str *at;
    size_t n;
};

static void take_path(struct problems *ps, const struct path *p, struct taken *taken, str path,
                      str owner)
{
    if (!path.n)
        return;
    for (size_t i = 0; i < taken->n; i++) {
        if (str_eq(taken->at[i], path)) {
            problem_invalid(ps, p, jstr(ps->a, owner), "conflicting duplicate paths");
            return;
        }
    }
    taken->at[taken->n++] = path;
}

static void token_check(struct problems *ps, const struct path *p, const struct path *volume_at,
                        jv v)
{
    int64_t seconds = FIELD_INT(v, "expirationSeconds");

    if (seconds < 600)
        problem_invalid(ps, AT(p, "expirationSeconds"), LINT(seconds),
                        "may not specify a duration less than 10 minutes");
    if (seconds > INT64_C(1) << 32)
        problem_invalid(ps, AT(p, "expirationSeconds"), LINT(seconds),
                        "may not specify a duration larger than 2^32 seconds");
    if (!FIELD_STR(v, "path").n)
        problem_required(ps, AT(volume_at, "path"), "%s", "");
    else
        local_path_reserved_check(ps, AT(volume_at, "path"), FIELD_STR(v, "path"));
}

static int keyed_projection_check(struct problems *ps, const struct path *p, jv v,
                                  const struct path *volume_at, struct taken *taken)
{
    if (jv_is_null(v))
        return 0;
    required_check(ps, AT(p, "name"), FIELD(v, "name"));
    items_check(ps, AT(p, "items"), FIELD(v, "items"));
    JV_EACH (it, FIELD(v, "items"))
        take_path(ps, volume_at, taken, FIELD_STR(it.value, "path"), FIELD_STR(v, "name"));
    return 1;
}

static void projected_check(struct problems *ps, const struct path *p, jv v)
{
    size_t files = 0;
    struct taken taken = { .n = 0 };

    mode_check(ps, AT(p, "defaultMode"), FIELD(v, "defaultMode"));
    JV_EACH (s, FIELD(v, "sources"))
        JV_EACH (it, s.value)
            files += jv_len(FIELD(it.value, "items"));
    taken.at = ARENA_ARRAY(ps->a, str, files + 1);
    JV_EACH (s, FIELD(v, "sources")) {
        const struct path *q = ATI(AT(p, "sources"), s.i - 1);
        int n = keyed_projection_check(ps, AT(q, "secret"), FIELD(s.value, "secret"), p, &taken);
        n += keyed_projection_check(ps, AT(q, "configMap"), FIELD(s.value, "configMap"), p, &taken);
        jv downward = FIELD(s.value, "downwardAPI");
        n += !jv_is_null(downward);
        JV_EACH (it, FIELD(downward, "items")) {
            downward_file_check(ps, AT(q, "downwardAPI"), it.value);
            take_path(ps, p, &taken, FIELD_STR(it.value, "path"), FIELD_STR(it.value, "path"));
        }
        jv token = FIELD(s.value, "serviceAccountToken");
        n += !jv_is_null(token);
        if (!jv_is_null(token))
            token_check(ps, AT(q, "serviceAccountToken"), p, token);
        n += !jv_is_null(FIELD(s.value, "clusterTrustBundle"));
        if (n > 1)
            problem_forbidden(ps, q, "may not specify more than 1 volume type per source");
    }
}

void csi_driver_name_check(struct problems *ps, const struct path *p, str name)
{
    struct name_errors e = name_dns1123_subdomain(name_lower(ps->a, name));

    if (!name.n)
        problem_required(ps, p, "%s", "");
    if (name.n > 63)
        too_long(ps, p, 63);
    for (unsigned i = 0; i < e.n; i++)
        problem_invalid(ps, p, jstr(ps->a, name), "%s", e.at[i]);
}

static void csi_check(struct problems *ps, const struct path *p, jv v)
{
    jv secret = FIELD(v, "nodePublishSecretRef");

    csi_driver_name_check(ps, AT(p, "driver"), FIELD_STR(v, "driver"));
    if (jv_is_null(secret))
        return;
    if (!FIELD_STR(secret, "name").n)
        problem_required(ps, AT(AT(p, "nodePublishSecretRef"), "name"), "%s", "");
    else
        name_check(ps, AT(p, "name"), FIELD_STR(secret, "name"), name_dns1123_subdomain);
}

static void secret_reference_check(struct problems *ps, const struct path *p, jv ref)
{
    if (jv_is_null(ref))
        return;
    name_required(ps, AT(p, "name"), FIELD_STR(ref, "name"), name_dns1123_subdomain);
    name_required(ps, AT(p, "namespace"), FIELD_STR(ref, "namespace"), name_dns1123_label);
}

static void csi_pv_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const secrets[] = { "controllerPublishSecretRef",
                                           "controllerExpandSecretRef", "nodePublishSecretRef",
                                           "nodeExpandSecretRef" };

    csi_driver_name_check(ps, AT(p, "driver"), FIELD_STR(v, "driver"));
    required_check(ps, AT(p, "volumeHandle"), FIELD(v, "volumeHandle"));
    for (size_t i = 0; i < COUNT(secrets); i++)
        secret_reference_check(ps, ATZ(p, secrets[i]), jv_get(v, str_of(secrets[i])));
}

static const char *const template_meta[] = { "annotations", "labels", "creationTimestamp", NULL };

static void ephemeral_check(struct problems *ps, const struct path *p, jv v)
{
    jv tmpl = FIELD(v, "volumeClaimTemplate");
    const struct path *q = AT(p, "volumeClaimTemplate");

    if (jv_is_null(tmpl)) {
        problem_required(ps, q, "%s", "");
        return;
    }
    annotations_check(ps, AT(AT(q, "metadata"), "annotations"), meta_annotations(tmpl));
    labels_check(ps, AT(AT(q, "metadata"), "labels"), meta_labels(tmpl));
    only_fields(ps, AT(q, "metadata"), meta_of(tmpl), template_meta);
    claim_spec_check(ps, AT(q, "spec"), FIELD(tmpl, "spec"));
}

static void local_check(struct problems *ps, const struct path *p, jv v)
{
    no_backsteps_check(ps, AT(p, "path"), FIELD_STR(v, "path"));
}

static void flex_check(struct problems *ps, const struct path *p, jv v)
{
    JV_EACH (it, FIELD(v, "options")) {
        str rest = it.key;
        str space = arena_cat(ps->a, S("."), name_lower(ps->a, str_cut(&rest, '/')));
        if (str_ends(space, S(".kubernetes.io")) || str_ends(space, S(".k8s.io")))
            problem_invalid(ps, ATK(AT(p, "options"), it.key), jstr(ps->a, it.key),
                            "kubernetes.io and k8s.io namespaces are reserved");
    }
}

static void image_check(struct problems *ps, const struct path *p, jv v)
{
    pull_policy_check(ps, AT(p, "pullPolicy"), FIELD(v, "pullPolicy"));
}

const struct volume_source pod_volume_sources[] = {
    { "emptyDir", NULL, NULL, empty_dir_check },
    { "hostPath", NULL, NULL, host_path_check },
    { "gitRepo", NULL, "repository", git_repo_check },
    { "gcePersistentDisk", "persistentDisk", "pdName", partition_check },
    { "awsElasticBlockStore", NULL, "volumeID", partition_check },
    { "secret", NULL, "secretName", keyed_check },
    { "nfs", NULL, "server,path", nfs_check },
    { "iscsi", NULL, "targetPortal,iqn", lun_check },
    { "glusterfs", NULL, "endpoints,path", NULL },
    { "flocker", NULL, NULL, flocker_check },
    { "persistentVolumeClaim", NULL, "claimName", NULL },
    { "rbd", NULL, "monitors,image", NULL },
    { "cinder", NULL, "volumeID", NULL },
    { "cephfs", NULL, "monitors", NULL },
    { "quobyte", NULL, "registry,volume", NULL },
    { "downwardAPI", NULL, NULL, downward_check },
    { "fc", NULL, NULL, fc_check },
    { "flexVolume", NULL, "driver", flex_check },
    { "configMap", NULL, "name", keyed_check },
    { "azureFile", NULL, "secretName,shareName", NULL },
    { "vsphereVolume", NULL, "volumePath", NULL },
    { "photonPersistentDisk", NULL, "pdID", NULL },
    { "portworxVolume", NULL, "volumeID", NULL },
    { "azureDisk", NULL, "diskName,diskURI", NULL },
    { "storageos", NULL, "volumeName", NULL },
    { "projected", NULL, NULL, projected_check },
    { "scaleIO", NULL, "gateway,system,volumeName", NULL },
    { "csi", NULL, NULL, csi_check },
    { "ephemeral", NULL, NULL, ephemeral_check },
    { "image", NULL, "reference", image_check },
};
const size_t pod_volume_sources_n = COUNT(pod_volume_sources);

const struct volume_source pv_sources[] = {
    { "hostPath", NULL, NULL, host_path_check },
    { "gcePersistentDisk", "persistentDisk", "pdName", partition_check },
    { "awsElasticBlockStore", NULL, "volumeID", partition_check },
    { "glusterfs", NULL, "endpoints,path", NULL },
    { "flocker", NULL, NULL, flocker_check },
    { "nfs", NULL, "server,path", nfs_check },
    { "rbd", NULL, "monitors,image", NULL },
    { "quobyte", NULL, "registry,volume", NULL },
    { "cephfs", NULL, "monitors", NULL },
    { "iscsi", NULL, "targetPortal,iqn", lun_check },
    { "cinder", NULL, "volumeID", NULL },
    { "fc", NULL, NULL, fc_check },
    { "flexVolume", NULL, "driver", flex_check },
    { "azureFile", NULL, "secretName,shareName", NULL },
    { "vsphereVolume", NULL, "volumePath", NULL },
    { "photonPersistentDisk", NULL, "pdID", NULL },
    { "portworxVolume", NULL, "volumeID", NULL },
    { "azureDisk", NULL, "diskName,diskURI", NULL },
    { "scaleIO", NULL, "gateway,system,volumeName", NULL },
    { "local", NULL, "path", local_check },
    { "storageos", NULL, "volumeName", NULL },
    { "csi", NULL, NULL, csi_pv_check },
};
const size_t pv_sources_n = COUNT(pv_sources);

static void one_source_check(struct problems *ps, const struct path *p,
                             const struct volume_source *s, jv source)
{
    const struct path *q = ATZ(p, s->reported ? s->reported : s->name);
    str rest = str_of(s->required);

    while (rest.p) {
        str field = str_cut(&rest, ',');
        required_check(ps, ATS(q, field), jv_get(source, field));
    }
    if (s->check)
        s->check(ps, q, source);
}

unsigned volume_source_check(struct problems *ps, const struct path *p, jv volume,
                             const struct volume_source *sources, size_t n)
{
    unsigned found = 0;

    for (size_t i = 0; i < n; i++) {
        jv source = jv_get(volume, str_of(sources[i].name));
        if (jv_is_null(source))
            continue;
        if (found++)
            problem_forbidden(ps, ATZ(p, sources[i].name),
                              "may not specify more than 1 volume type");
        else
            one_source_check(ps, p, &sources[i], source);
    }
    if (!found)
        problem_required(ps, p, "must specify a volume type");
    return found;
}
