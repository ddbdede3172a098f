/* The warn hooks of the rows, but for what is in the pods they make. */

#include "base/base64.h"
#include "builtin/check.h"
#include "builtin/hooks.h"
#include "builtin/warnings.h"

static void name_warn(struct warnings *w, jv obj, const char *used_in)
{
    struct name_errors errs = name_dns1123_label(meta_name(obj));

    if (errs.n)
        warning_add(w,
                    "metadata.name: this is used in %s, which can result in surprising behavior; a "
                    "DNS label is recommended: [%" PRI_STR "]",
                    used_in, STR_ARG(name_join(w->a, &errs, " ")));
}

static bool is_same_generation(jv obj, jv old)
{
    return jv_exists(old) && jv_int(jv_at(obj, "metadata", "generation"), 0) ==
                                 jv_int(jv_at(old, "metadata", "generation"), 0);
}

/* ---- what makes pods */

void pod_warn(struct warnings *w, jv obj, jv old)
{
    if (jv_exists(old))
        return; /* nobody changes pods by hand */
    name_warn(w, obj, "the Pod's hostname");
    pod_template_warn(w, NULL, obj);
}

void podtemplate_warn(struct warnings *w, jv obj, jv old)
{
    if (!is_same_generation(obj, old))
        pod_template_warn(w, ROOT("template"), FIELD(obj, "template"));
}

/* With pods in spec.template whose names begin with its own. */
void workload_warn(struct warnings *w, jv obj, jv old)
{
    if (!jv_exists(old))
        name_warn(w, obj, "Pod names and hostnames");
    if (!is_same_generation(obj, old))
        pod_template_warn(w, AT(ROOT("spec"), "template"), FIELD(FIELD(obj, "spec"), "template"));
}

void daemonset_warn(struct warnings *w, jv obj, jv old)
{
    jv tmpl = FIELD(FIELD(obj, "spec"), "template");

    if (!jv_exists(old) || !jv_equal(tmpl, FIELD(FIELD(old, "spec"), "template")))
        pod_template_warn(w, AT(ROOT("spec"), "template"), tmpl);
}

void statefulset_warn(struct warnings *w, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");
    const struct path *claims = AT(ROOT("spec"), "volumeClaimTemplates");

    if (!is_same_generation(obj, old))
        pod_template_warn(w, AT(ROOT("spec"), "template"), FIELD(spec, "template"));
    JV_EACH (it, FIELD(spec, "volumeClaimTemplates")) {
        const struct path *at = EACH_AT(claims, it);
        claim_spec_warn(w, jv_exists(old) ? AT(at, "Spec") : at, FIELD(it.value, "spec"));
    }
    if (jv_int(FIELD(spec, "revisionHistoryLimit"), 0) < 0)
        warning_add(w, "spec.revisionHistoryLimit: a negative value retains all historical "
                       "revisions; a value >= 0 is recommended");
}

static void job_spec_warn(struct warnings *w, const struct path *p, jv spec)
{
    enum { MANY_COMPLETIONS = 100000, MANY_AT_ONCE = 10000 };

    if (str_eqz(FIELD_STR(spec, "completionMode"), "Indexed") &&
        FIELD_INT(spec, "completions") > MANY_COMPLETIONS &&
        FIELD_INT(spec, "parallelism") > MANY_AT_ONCE)
        warning_at(
            w, p,
            "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism "
            "higher than 10^4, Kubernetes might not be able to track completedIndexes when a "
            "big number of indexes fail");
    pod_template_warn(w, AT(p, "template"), FIELD(spec, "template"));
}

void job_warn(struct warnings *w, jv obj, jv old)
{
    if (!jv_exists(old))
        name_warn(w, obj, "Pod names and hostnames");
    if (!is_same_generation(obj, old))
        job_spec_warn(w, ROOT("spec"), FIELD(obj, "spec"));
}

void cronjob_warn(struct warnings *w, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");

    if (!jv_exists(old))
        name_warn(w, obj, "Pod names and hostnames");
    if (!is_same_generation(obj, old))
        job_spec_warn(w, AT(AT(ROOT("spec"), "jobTemplate"), "spec"),
                      FIELD(FIELD(spec, "jobTemplate"), "spec"));
    if (jv_exists(old) && str_contains(FIELD_STR(spec, "schedule"), S("TZ")))
        warning_add(w, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                       "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for "
                       "more details");
}

/* ---- services and addresses */

void service_warn(struct warnings *w, jv obj, jv old)
{
    const struct path *p = ROOT("spec");
    jv spec = FIELD(obj, "spec");
    bool is_name = str_eqz(FIELD_STR(spec, "type"), "ExternalName");
    bool headless = str_eqz(FIELD_STR(spec, "clusterIP"), "None");

    (void)old;
    if (jv_exists(jv_get(meta_annotations(obj), S("service.kubernetes.io/topology-aware-hints"))))
        warning_add(w,
                    "annotation service.kubernetes.io/topology-aware-hints is deprecated, please "
                    "use service.kubernetes.io/topology-mode instead");
    if (!headless)
        JV_EACH (it, FIELD(spec, "clusterIPs"))
            ip_warn(w, EACH_AT(AT(p, "clusterIPs"), it), jv_str(it.value, S("")));
    if (headless && FIELD_STR(spec, "loadBalancerIP").n)
        warning_add(w, "spec.loadBalancerIP is ignored for headless services");
    if (headless && jv_len(FIELD(spec, "externalIPs")))
        warning_add(w, "spec.externalIPs is ignored for headless services");
    if (headless && !str_eqz(FIELD_STR(spec, "sessionAffinity"), "None"))
        warning_add(w, "spec.SessionAffinity is ignored for headless services");
    JV_EACH (it, FIELD(spec, "externalIPs"))
        ip_warn(w, EACH_AT(AT(p, "externalIPs"), it), jv_str(it.value, S("")));
    ip_warn(w, AT(p, "loadBalancerIP"), FIELD_STR(spec, "loadBalancerIP"));
    JV_EACH (it, FIELD(spec, "loadBalancerSourceRanges"))
        cidr_warn(w, EACH_AT(AT(p, "loadBalancerSourceRanges"), it),
                  str_trim(jv_str(it.value, S(""))));
    if (is_name && jv_len(FIELD(spec, "externalIPs")))
        warning_add(w, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!is_name && FIELD_STR(spec, "externalName").n)
        warning_add(w, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

static void peers_warn(struct warnings *w, const struct path *rules, jv list, const char *peers)
{
    JV_EACH (rule, list) {
        const struct path *at = ATZ(EACH_AT(rules, rule), peers);
        JV_EACH (it, jv_get(rule.value, str_of(peers))) {
            const struct path *block = AT(EACH_AT(at, it), "ipBlock");
            jv v = FIELD(it.value, "ipBlock");
            cidr_warn(w, AT(block, "cidr"), FIELD_STR(v, "cidr"));
            JV_EACH (e, FIELD(v, "except"))
                cidr_warn(w, EACH_AT(AT(block, "except"), e), jv_str(e.value, S("")));
        }
    }
}

void networkpolicy_warn(struct warnings *w, jv obj, jv old)
{
    const struct path *p = ROOT("spec");

    (void)old;
    peers_warn(w, AT(p, "ingress"), FIELD(FIELD(obj, "spec"), "ingress"), "from");
    peers_warn(w, AT(p, "egress"), FIELD(FIELD(obj, "spec"), "egress"), "to");
}

void ingress_warn(struct warnings *w, jv obj, jv old)
{
    if (!jv_exists(old) && jv_is_null(FIELD(FIELD(obj, "spec"), "ingressClassName")) &&
        jv_exists(jv_get(meta_annotations(obj), S("kubernetes.io/ingress.class"))))
        warning_add(w, "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                       "'spec.ingressClassName' instead");
}

static void subset_warn(struct warnings *w, const struct path *p, jv list)
{
    JV_EACH (it, list)
        ip_warn(w, AT(EACH_AT(p, it), "ip"), FIELD_STR(it.value, "ip"));
}

void endpoints_warn(struct warnings *w, jv obj, jv old)
{
    (void)old;
    JV_EACH (it, FIELD(obj, "subsets")) {
        const struct path *at = EACH_AT(ROOT("subsets"), it);
        subset_warn(w, AT(at, "addresses"), FIELD(it.value, "addresses"));
        subset_warn(w, AT(at, "notReadyAddresses"), FIELD(it.value, "notReadyAddresses"));
    }
}

void endpointslice_warn(struct warnings *w, jv obj, jv old)
{
    if (!jv_exists(old) && str_eqz(FIELD_STR(obj, "addressType"), "FQDN"))
        warning_add(w, "spec.addressType: FQDN endpoints are deprecated");
    JV_EACH (it, FIELD(obj, "endpoints")) {
        const struct path *at = AT(EACH_AT(ROOT("endpoints"), it), "addresses");
        JV_EACH (addr, FIELD(it.value, "addresses"))
            ip_warn(w, EACH_AT(at, addr), jv_str(addr.value, S("")));
    }
}

void node_warn(struct warnings *w, jv obj, jv old)
{
    jv spec = FIELD(obj, "spec");

    (void)old;
    if (FIELD_STR(spec, "externalID").n)
        warning_add(w, "spec.externalID: this field is deprecated, and is unused by Kubernetes");
    JV_EACH (it, FIELD(spec, "podCIDRs"))
        cidr_warn(w, EACH_AT(AT(ROOT("spec"), "podCIDRs"), it), jv_str(it.value, S("")));
}

/* ---- storage */

static void storage_class_warn(struct warnings *w, jv obj)
{
    static const str key = S_INIT("volume.beta.kubernetes.io/storage-class");

    if (jv_exists(jv_get(meta_annotations(obj), key)))
        warning_at(w, ATK(AT(ROOT("metadata"), "annotations"), key),
                   "deprecated since v1.8; use \"storageClassName\" attribute instead");
}

void persistentvolumeclaim_warn(struct warnings *w, jv obj, jv old)
{
    (void)old;
    storage_class_warn(w, obj);
    claim_spec_warn(w, ROOT("spec"), FIELD(obj, "spec"));
}

void persistentvolume_warn(struct warnings *w, jv obj, jv old)
{
    static const str options = S_INIT("volume.beta.kubernetes.io/mount-options");
    static const struct {
        const char *source;
        const char *told; /* NULL: as it is */
        const char *why;
    } rows[] = { { "cephfs", NULL, "deprecated in v1.28, non-functional in v1.31+" },
                 { "photonPersistentDisk", NULL, "deprecated in v1.11, non-functional in v1.16+" },
                 { "scaleIO", NULL, "deprecated in v1.16, non-functional in v1.22+" },
                 { "storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+" },
                 { "glusterfs", NULL, "deprecated in v1.25, non-functional in v1.26+" },
                 { "rbd", NULL, "deprecated in v1.28, non-functional in v1.31+" } };
    const struct path *p = ROOT("spec");
    const struct path *terms = AT(AT(AT(p, "nodeAffinity"), "required"), "nodeSelectorTerms");
    jv spec = FIELD(obj, "spec");

    (void)old;
    storage_class_warn(w, obj);
    if (jv_exists(jv_get(meta_annotations(obj), options)))
        warning_at(w, ATK(AT(ROOT("metadata"), "annotations"), options),
                   "deprecated since v1.31; use \"mountOptions\" attribute instead");
    if (str_eqz(FIELD_STR(spec, "persistentVolumeReclaimPolicy"), "Recycle"))
        warning_at(w, AT(p, "persistentVolumeReclaimPolicy"),
                   "The Recycle reclaim policy is deprecated. Instead, the recommended approach is "
                   "to use dynamic provisioning.");
    JV_EACH (it, jv_at(spec, "nodeAffinity", "required", "nodeSelectorTerms"))
        node_selector_term_warn(w, EACH_AT(terms, it), it.value, false);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!jv_is_null(jv_get(spec, str_of(rows[i].source))))
            warning_at(w, ATZ(p, rows[i].told ? rows[i].told : rows[i].source), "%s", rows[i].why);
}

void storageclass_warn(struct warnings *w, jv obj, jv old)
{
    (void)old;
    JV_EACH (topo, FIELD(obj, "allowedTopologies")) {
        const struct path *at =
            AT(EACH_AT(ROOT("allowedTopologies"), topo), "matchLabelExpressions");
        JV_EACH (it, FIELD(topo.value, "matchLabelExpressions")) {
            const char *why = node_label_deprecated(FIELD_STR(it.value, "key"));
            if (why)
                warning_at(w, AT(EACH_AT(at, it), "key"), "%s", why);
        }
    }
}

/* Whether key and certificate belong together takes more than reading; what is no PEM at all shows.
 */
void secret_warn(struct warnings *w, jv obj, jv old)
{
    static const char *const parts[][2] = { { "tls.crt", "certificate" }, { "tls.key", "key" } };

    (void)old;
    if (!str_eqz(FIELD_STR(obj, "type"), "kubernetes.io/tls"))
        return;
    for (size_t i = 0; i < COUNT(parts); i++) {
        str text = S("");
        base64_decode(w->a, jv_str(jv_get(FIELD(obj, "data"), str_of(parts[i][0])), S("")), &text,
                      NULL);
        if (str_contains(text, S("-----BEGIN ")))
            continue;
        warning_add(w, "tls: failed to find any PEM data in %s input", parts[i][1]);
        return;
    }
}
