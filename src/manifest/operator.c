/* The operator as pods of a cluster, and what belongs to them. The pods meet the Pod Security level
 * "restricted". */

#include "manifest/install.h"

/* command: applied over the original's Deployment, it must not keep that one's. The requests are
 * what the operator uses with 10,000 pods, docs/performance.md. Probes wait for nothing at first:
 * the operator listens within milliseconds. */
static const char deployment[] = "apiVersion: apps/v1\n"
                                 "kind: Deployment\n"
                                 "metadata: {name: $name, namespace: $home}\n"
                                 "spec:\n"
                                 "  replicas: 0\n"
                                 "  selector:\n"
                                 "    matchLabels: {$label: $value}\n"
                                 "  template:\n"
                                 "    metadata:\n"
                                 "      labels: {$label: $value}\n"
                                 "      annotations: {sidecar.istio.io/inject: 'false'}\n"
                                 "    spec:\n"
                                 "      serviceAccountName: $name\n"
                                 "      priorityClassName: $cluster-name\n"
                                 "      terminationGracePeriodSeconds: 10\n"
                                 "      securityContext:\n"
                                 "        runAsNonRoot: true\n"
                                 "        runAsUser: 65532\n"
                                 "        runAsGroup: 65532\n"
                                 "        seccompProfile: {type: RuntimeDefault}\n"
                                 "      containers:\n"
                                 "      - name: $container\n"
                                 "        image: $image\n"
                                 "        imagePullPolicy: IfNotPresent\n"
                                 "        command: [muster]\n"
                                 "        ports:\n"
                                 "        - {name: metrics, containerPort: 8080, protocol: TCP}\n"
                                 "        - {name: probes, containerPort: 8081, protocol: TCP}\n"
                                 "        livenessProbe:\n"
                                 "          httpGet: {path: /healthz, port: probes}\n"
                                 "          periodSeconds: 20\n"
                                 "          timeoutSeconds: 3\n"
                                 "        readinessProbe:\n"
                                 "          httpGet: {path: /readyz, port: probes}\n"
                                 "          periodSeconds: 5\n"
                                 "          timeoutSeconds: 3\n"
                                 "        resources:\n"
                                 "          requests: {cpu: 50m, memory: 32Mi}\n"
                                 "          limits: {memory: 64Mi}\n"
                                 "        securityContext:\n"
                                 "          allowPrivilegeEscalation: false\n"
                                 "          capabilities: {drop: [ALL]}\n"
                                 "          readOnlyRootFilesystem: true\n";

static const char spread[] = "- maxSkew: 1\n"
                             "  topologyKey: kubernetes.io/hostname\n"
                             "  whenUnsatisfiable: ScheduleAnyway\n"
                             "  labelSelector:\n"
                             "    matchLabels: {$label: $value}\n";

static const char budget[] = "apiVersion: policy/v1\n"
                             "kind: PodDisruptionBudget\n"
                             "metadata: {name: $name, namespace: $home}\n"
                             "spec:\n"
                             "  maxUnavailable: 1\n"
                             "  selector:\n"
                             "    matchLabels: {$label: $value}\n";

static const char service[] = "apiVersion: v1\n"
                              "kind: Service\n"
                              "metadata:\n"
                              "  name: $name\n"
                              "  namespace: $home\n"
                              "  annotations:\n"
                              "    prometheus.io/scrape: 'true'\n"
                              "    prometheus.io/port: '8080'\n"
                              "    prometheus.io/path: /metrics\n"
                              "spec:\n"
                              "  type: ClusterIP\n"
                              "  selector: {$label: $value}\n"
                              "  ports:\n"
                              "  - {name: metrics, port: 8080, targetPort: 8080, protocol: TCP}\n";

/* Nothing serves the webhook any more. Who has the port in a policy keeps it. */
static const char original_ports[] =
    "- {name: monitoring-port, port: 8080, targetPort: 8080, protocol: TCP}\n"
    "- {name: webhook-server, port: 443, targetPort: 9443, protocol: TCP}\n";

/* Probes come from the node, which every NetworkPolicy lets through. The way to the API server is
 * not known here, so what the operator connects to is not restricted. */
static const char policy[] = "apiVersion: networking.k8s.io/v1\n"
                             "kind: NetworkPolicy\n"
                             "metadata: {name: $name, namespace: $home}\n"
                             "spec:\n"
                             "  podSelector:\n"
                             "    matchLabels: {$label: $value}\n"
                             "  policyTypes: [Ingress]\n"
                             "  ingress:\n"
                             "  - ports:\n"
                             "    - {port: 8080, protocol: TCP}\n";

static const char priority[] =
    "apiVersion: scheduling.k8s.io/v1\n"
    "kind: PriorityClass\n"
    "metadata: {name: $cluster-name}\n"
    "value: 1000000\n"
    "description: The operator of training jobs goes before the pods of jobs.\n";

static void push_arg(struct jbuild *args, const char *flag, str value)
{
    jb_push(args, jstr(args->a, arena_printf(args->a, "%s=%" PRI_STR, flag, STR_ARG(value))));
}

static jv args_of(struct arena *a, const struct manifest_options *o)
{
    struct jbuild args = jb_arr(a);

    jb_push(&args, jstrz(a, "operator"));
    jb_push(&args, jstrz(a, "--leader-elect"));
    push_arg(&args, "--agent-image", o->image);
    if (o->watched.n)
        push_arg(&args, "--namespace", o->watched);
    if (o->gang.n)
        push_arg(&args, "--gang-scheduler-name", o->gang);
    for (size_t i = 0; o->is_some && i < o->n_kinds; i++)
        push_arg(&args, "--enable-scheme", str_of(o->kinds[i]->singular));
    return jb_done(&args);
}

static jv deployment_of(struct arena *a, const struct manifest_options *o)
{
    jv obj = manifest_fill(a, o, deployment);
    jv pod = jv_at(obj, "spec", "template", "spec");
    jv container = jv_index(jv_at(pod, "containers"), 0);

    container = jv_with(a, container, args_of(a, o), "args");
    pod = jv_with(a, pod, jarr(a, container), "containers");
    if (o->replicas > 1)
        pod = jv_with(a, pod, manifest_fill(a, o, spread), "topologySpreadConstraints");
    obj = jv_with(a, obj, pod, "spec", "template", "spec");
    return jv_with(a, obj, jint(a, o->replicas), "spec", "replicas");
}

void manifest_operator(struct jbuild *b, const struct manifest_options *o)
{
    struct arena *a = b->a;
    jv svc = manifest_fill(a, o, service);

    if (o->like_original)
        svc = jv_with(a, svc, manifest_fill(a, o, original_ports), "spec", "ports");
    jb_push(b, manifest_fill(a, o, priority));
    jb_push(b, svc);
    jb_push(b, manifest_fill(a, o, policy));
    if (o->replicas > 1)
        jb_push(b, manifest_fill(a, o, budget));
    jb_push(b, deployment_of(a, o));
}
