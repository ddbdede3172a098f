/* What a pod has when its author did not say: the defaults of core/v1. */

#include "builtin/pod.h"

enum { DEFAULT_MODE = 0644, DEFAULT_GRACE_S = 30, TOKEN_LIFE_S = 3600 };

static bool is_digest_or_tag(char c)
{
    return c == ':' || c == '@';
}

/* An image without tag or digest, or with the tag "latest", is pulled every time. A name that does
 * not parse has no tag: IfNotPresent, as Kubernetes leaves it. */
static bool is_latest(str image)
{
    ptrdiff_t slash = str_rfind(image, '/');
    str last = str_sub(image, (size_t)(slash + 1), image.n);

    if (!last.n)
        return false;
    if (str_find(image, '@') >= 0) {
        str tagged = str_sub(last, 0, (size_t)str_find(last, '@'));
        return str_ends(tagged, S(":latest"));
    }
    for (size_t i = 0; i < last.n; i++)
        if (is_digest_or_tag(last.p[i]))
            return str_eq(str_sub(last, i, last.n), S(":latest"));
    for (size_t i = 0; i < last.n; i++) /* a repository is written in lower case */
        if (last.p[i] >= 'A' && last.p[i] <= 'Z')
            return false;
    return true;
}

static jv field_ref_defaults(struct arena *a, jv ref)
{
    struct edit e = edit(a, ref);

    edit_default(&e, S("apiVersion"), LSTR("v1"));
    return edit_done(&e);
}

static jv resource_ref_defaults(struct arena *a, jv ref)
{
    struct edit e = edit(a, ref);

    edit_default(&e, S("divisor"), LSTR("0"));
    return edit_done(&e);
}

/* Anything with fieldRef and resourceFieldRef: env sources, downward API files. */
static jv refs_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("fieldRef"), field_ref_defaults);
    edit_in(&e, S("resourceFieldRef"), resource_ref_defaults);
    return edit_done(&e);
}

static jv env_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("valueFrom"), refs_defaults);
    return edit_done(&e);
}

static jv port_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("protocol"), LSTR("TCP"));
    return edit_done(&e);
}

static jv http_get_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("path"), LSTR("/"));
    edit_default(&e, S("scheme"), LSTR("HTTP"));
    return edit_done(&e);
}

static jv grpc_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("service"), LSTR(""));
    return edit_done(&e);
}

static jv handler_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("httpGet"), http_get_defaults);
    edit_in(&e, S("grpc"), grpc_defaults);
    return edit_done(&e);
}

static jv probe_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, handler_defaults(a, v));

    edit_default_zero(&e, S("timeoutSeconds"), 1);
    edit_default_zero(&e, S("periodSeconds"), 10);
    edit_default_zero(&e, S("successThreshold"), 1);
    edit_default_zero(&e, S("failureThreshold"), 3);
    return edit_done(&e);
}

static jv lifecycle_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("postStart"), handler_defaults);
    edit_in(&e, S("preStop"), handler_defaults);
    return edit_done(&e);
}

static jv resources_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("limits"), resource_list_defaults);
    edit_in(&e, S("requests"), resource_list_defaults);
    return edit_done(&e);
}

/* Fields of features that v1.34 has, but not switched on: it drops them. */
static void drop_disabled(struct edit *e)
{
    jv lifecycle = edit_get(e, S("lifecycle"));

    if (jv_exists(FIELD(lifecycle, "stopSignal"))) {
        lifecycle = jv_without(e->a, lifecycle, "stopSignal");
        edit_set(e, S("lifecycle"), jv_len(lifecycle) ? lifecycle : JV_ABSENT);
    }
    edit_set(e, S("restartPolicyRules"), JV_ABSENT);
}

static jv container_common(struct arena *a, jv v, bool sidecars)
{
    struct edit e = edit(a, v);

    drop_disabled(&e);
    if (!sidecars || !str_eq(FIELD_STR(v, "restartPolicy"), S("Always")))
        edit_set(&e, S("restartPolicy"), JV_ABSENT);
    edit_default(&e, S("terminationMessagePath"), LSTR("/dev/termination-log"));
    edit_default(&e, S("terminationMessagePolicy"), LSTR("File"));
    if (is_latest(FIELD_STR(v, "image")))
        edit_default(&e, S("imagePullPolicy"), LSTR("Always"));
    else
        edit_default(&e, S("imagePullPolicy"), LSTR("IfNotPresent"));
    if (!jv_is(FIELD(v, "resources"), JV_OBJ))
        edit_set(&e, S("resources"), JV_EMPTY_OBJ);
    else
        edit_in(&e, S("resources"), resources_defaults);
    edit_each(&e, S("ports"), port_defaults);
    edit_each(&e, S("env"), env_defaults);
    edit_in(&e, S("livenessProbe"), probe_defaults);
    edit_in(&e, S("readinessProbe"), probe_defaults);
    edit_in(&e, S("startupProbe"), probe_defaults);
    edit_in(&e, S("lifecycle"), lifecycle_defaults);
    return edit_done(&e);
}

static jv container_defaults(struct arena *a, jv v)
{
    return container_common(a, v, false);
}

static jv init_container_defaults(struct arena *a, jv v)
{
    return container_common(a, v, true);
}

static jv mode_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    if (jv_is_null(edit_get(&e, S("defaultMode"))))
        edit_set(&e, S("defaultMode"), LINT(DEFAULT_MODE));
    return edit_done(&e);
}

static jv downward_items_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_each(&e, S("items"), refs_defaults);
    return edit_done(&e);
}

static jv downward_defaults(struct arena *a, jv v)
{
    return downward_items_defaults(a, mode_defaults(a, v));
}

static jv token_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    if (jv_is_null(edit_get(&e, S("expirationSeconds"))))
        edit_set(&e, S("expirationSeconds"), LINT(TOKEN_LIFE_S));
    return edit_done(&e);
}

static jv projection_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("downwardAPI"), downward_items_defaults);
    edit_in(&e, S("serviceAccountToken"), token_defaults);
    return edit_done(&e);
}

static jv projected_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, mode_defaults(a, v));

    edit_each(&e, S("sources"), projection_defaults);
    return edit_done(&e);
}

static jv host_path_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("type"), LSTR(""));
    return edit_done(&e);
}

static jv iscsi_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("iscsiInterface"), LSTR("default"));
    return edit_done(&e);
}

static jv rbd_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("pool"), LSTR("rbd"));
    edit_default(&e, S("user"), LSTR("admin"));
    edit_default(&e, S("keyring"), LSTR("/etc/ceph/keyring"));
    return edit_done(&e);
}

static jv azure_disk_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("cachingMode"), LSTR("ReadWrite"));
    edit_default(&e, S("fsType"), LSTR("ext4"));
    edit_default(&e, S("kind"), LSTR("Shared"));
    if (jv_is_null(edit_get(&e, S("readOnly"))))
        edit_set(&e, S("readOnly"), JV_FALSE);
    return edit_done(&e);
}

static jv scale_io_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("storageMode"), LSTR("ThinProvisioned"));
    edit_default(&e, S("fsType"), LSTR("xfs"));
    return edit_done(&e);
}

jv claim_spec_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("volumeMode"), LSTR("Filesystem"));
    edit_in(&e, S("resources"), resources_defaults);
    return edit_done(&e);
}

static jv claim_template_defaults(struct arena *a, jv v)
{
    return edit_member(a, v, S("spec"), claim_spec_defaults);
}

static jv ephemeral_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_in(&e, S("volumeClaimTemplate"), claim_template_defaults);
    return edit_done(&e);
}

static const struct {
    str source;
    edit_fn *fill;
} sources[] = {
    { S_INIT("configMap"), mode_defaults },
    { S_INIT("secret"), mode_defaults },
    { S_INIT("downwardAPI"), downward_defaults },
    { S_INIT("projected"), projected_defaults },
    { S_INIT("hostPath"), host_path_defaults },
    { S_INIT("iscsi"), iscsi_defaults },
    { S_INIT("rbd"), rbd_defaults },
    { S_INIT("azureDisk"), azure_disk_defaults },
    { S_INIT("scaleIO"), scale_io_defaults },
    { S_INIT("ephemeral"), ephemeral_defaults },
};

static bool has_source(jv volume)
{
    JV_EACH (it, volume)
        if (!str_eq(it.key, S("name")) && !jv_is_null(it.value))
            return true;
    return false;
}

jv volume_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    if (!has_source(v))
        edit_set(&e, S("emptyDir"), JV_EMPTY_OBJ);
    for (size_t i = 0; i < COUNT(sources); i++)
        edit_in(&e, sources[i].source, sources[i].fill);
    return edit_done(&e);
}

jv pod_spec_defaults(struct arena *a, jv v)
{
    struct edit e = edit(a, v);

    edit_default(&e, S("dnsPolicy"), LSTR("ClusterFirst"));
    edit_default(&e, S("restartPolicy"), LSTR("Always"));
    edit_default(&e, S("schedulerName"), LSTR("default-scheduler"));
    if (jv_is_null(edit_get(&e, S("securityContext"))))
        edit_set(&e, S("securityContext"), JV_EMPTY_OBJ);
    if (jv_is_null(edit_get(&e, S("terminationGracePeriodSeconds"))))
        edit_set(&e, S("terminationGracePeriodSeconds"), LINT(DEFAULT_GRACE_S));
    edit_default(&e, S("serviceAccountName"), edit_get(&e, S("serviceAccount")));
    /* The old name of the field follows the new one. */
    if (jv_str(edit_get(&e, S("serviceAccountName")), S("")).n &&
        !jv_equal(edit_get(&e, S("serviceAccount")), edit_get(&e, S("serviceAccountName"))))
        edit_set(&e, S("serviceAccount"), edit_get(&e, S("serviceAccountName")));
    edit_each(&e, S("containers"), container_defaults);
    edit_each(&e, S("initContainers"), init_container_defaults);
    edit_set(&e, S("hostnameOverride"), JV_ABSENT);
    edit_each(&e, S("ephemeralContainers"), container_defaults);
    edit_each(&e, S("volumes"), volume_defaults);
    edit_in(&e, S("overhead"), resource_list_defaults);
    edit_in(&e, S("resources"), resources_defaults);
    return edit_done(&e);
}

jv pod_template_defaults(struct arena *a, jv tmpl)
{
    return edit_member(a, tmpl, S("spec"), pod_spec_defaults);
}
