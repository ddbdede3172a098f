#!/bin/sh
test_description='kubectl api-resources, api-versions, explain, auth, version, cluster-info, describe'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api && kubectl create -f "$e2e/pods.yaml"'

test_expect_success 'api-versions names every group that is promised' '
	kubectl api-versions >out &&
	for group in v1 apps/v1 batch/v1 autoscaling/v2 policy/v1 rbac.authorization.k8s.io/v1 scheduling.k8s.io/v1 storage.k8s.io/v1 coordination.k8s.io/v1 \
		events.k8s.io/v1 discovery.k8s.io/v1 networking.k8s.io/v1 admissionregistration.k8s.io/v1 apiextensions.k8s.io/v1 authorization.k8s.io/v1 authentication.k8s.io/v1; do
		grep -qx "$group" out || { echo "no $group" >&2; return 1; }
	done
'

test_expect_success KUBECTL_130 'api-resources, and by group, verb and scope' '
	kubectl api-resources >out && has out "^pods  *po  *v1  *true  *Pod" "^deployments  *deploy  *apps/v1  *true  *Deployment" "^nodes  *no  *v1  *false  *Node" &&
	kubectl api-resources --api-group=batch -o name >out && is "cronjobs.batch jobs.batch" "$(sort out | xargs)" &&
	kubectl api-resources --namespaced=false -o name >out && has out "^namespaces$" && lacks out "^pods$" &&
	kubectl api-resources -o wide >out && has out "^pods .*create,delete,deletecollection,get,list,patch,update,watch" &&
	kubectl api-resources --categories=all -o name >out && has out "^pods$" "^deployments.apps$" && lacks out "^configmaps$"
'

test_expect_success 'core/v1 has every resource and subresource that is promised' '
	kubectl get --raw /api/v1 | jq -r ".resources[].name" >have &&
	for name in namespaces namespaces/status namespaces/finalize nodes nodes/status pods pods/status pods/binding pods/eviction pods/log pods/exec pods/attach pods/portforward \
		services endpoints configmaps secrets serviceaccounts events persistentvolumeclaims persistentvolumes resourcequotas limitranges podtemplates replicationcontrollers replicationcontrollers/scale; do
		grep -qx "$name" have || { echo "no $name" >&2; return 1; }
	done
'

test_expect_success 'aggregated discovery and the plain one agree' '
	api /apis -H "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" >agg && jq_is ".kind == \"APIGroupDiscoveryList\"" agg &&
	jq -r ".items[] | .metadata.name as \$g | .versions[] | .version as \$v | .resources[] | \"\(\$g)/\(\$v) \(.resource)\"" agg | sort >agg.list &&
	for gv in $(kubectl get --raw /apis | jq -r ".groups[].versions[].groupVersion"); do
		kubectl get --raw "/apis/$gv" | jq -r "\"$gv \" + (.resources[].name | select(contains(\"/\") | not))"
	done | sort >plain.list && test_cmp agg.list plain.list && test $(wc -l <agg.list) -gt 35
'

test_expect_success 'explain a kind, a field, fields within' '
	kubectl explain pods >out && has out "^KIND:  *Pod" "^VERSION:  *v1" "spec" "status" &&
	kubectl explain pods.spec.containers >out && has out "image" "ports" "volumeMounts" "FIELDS:" &&
	kubectl explain pod.spec.containers.livenessProbe.httpGet >out && has out "path" "port" &&
	kubectl explain deployment.spec.strategy >out && has out "rollingUpdate" &&
	test_must_fail kubectl explain pods.spec.nonsense 2>err && has err "nonsense"
'

test_expect_success KUBECTL_130 'explain --recursive, and every kind has something' '
	kubectl explain cronjobs --recursive >out && test $(wc -l <out) -gt 300 && has out "jobTemplate" "containers" &&
	for kind in nodes services configmaps jobs.batch roles ingresses leases pdb hpa customresourcedefinitions; do
		kubectl explain $kind >out || return 1
	done
'

test_expect_success KUBECTL_130 'explain from OpenAPI v2 gives the same kind' '
	kubectl explain pods --output=plaintext-openapiv2 >out && has out "KIND:  *Pod"
'

test_expect_success 'OpenAPI v3 is an index of documents, each with paths and schemas' '
	kubectl get --raw /openapi/v3 >index && jq_is ".paths[\"api/v1\"].serverRelativeURL | test(\"^/openapi/v3/api/v1[?]hash=\")" index &&
	kubectl get --raw "$(jq -r ".paths[\"apis/apps/v1\"].serverRelativeURL" index)" >apps && jq_is ".openapi and .components.schemas[\"io.k8s.api.apps.v1.Deployment\"][\"x-kubernetes-group-version-kind\"][0].kind == \"Deployment\"" apps
'

test_expect_success 'OpenAPI v2' '
	kubectl get --raw /openapi/v2 >v2 && jq_is ".swagger == \"2.0\" and .definitions[\"io.k8s.api.core.v1.Pod\"].properties.spec" v2
'

test_expect_success 'auth can-i' '
	is yes "$(kubectl auth can-i create pods)" && is yes "$(kubectl auth can-i "*" "*")" && is yes "$(kubectl auth can-i get /metrics)" &&
	kubectl auth can-i --list >out && has out "^Resources"
'

test_expect_success KUBECTL_130 'auth whoami' 'kubectl auth whoami >out && has out "^ATTRIBUTE  *VALUE" "^Username" "Groups .*system:authenticated"'

test_expect_success 'version and cluster-info' '
	kubectl version -o json >out && jq_is ".serverVersion.major == \"1\" and (.serverVersion.minor | tonumber >= 34)" out &&
	kubectl cluster-info >out && has out "$url"
'

test_expect_success 'get --raw of the health endpoints' '
	is ok "$(kubectl get --raw /healthz)" && is ok "$(kubectl get --raw /livez)" && is ok "$(kubectl get --raw /readyz)" && kubectl get --raw "/readyz?verbose" >out && has out "check passed\|ok"
'

test_expect_success 'top: no metrics server, and kubectl says so' '
	test_must_fail kubectl top pods 2>err && has err "Metrics API not available"
'

test_expect_success 'describe pod' '
	kubectl describe pod alpha >out && has out "^Name:  *alpha" "^Namespace:  *$ns" "^Node:  *node-1" "^Labels:  *app=web" "^Status:  *Pending" "^    Image:  *example.com/web:1" "^QoS Class:  *Burstable" "MODE: *test" "memory: *128Mi"
'

test_expect_success 'describe service, namespace, configmap, secret, serviceaccount' '
	kubectl describe service web >out && has out "^Selector:  *app=web" "^Type:  *ClusterIP" "^TargetPort:  *http/TCP" &&
	kubectl describe namespace "$ns" >out && has out "^Status:  *Active" "No resource quota" &&
	echo "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"stringData\":{\"k\":\"1234\"}}" | kubectl create -f - && kubectl describe secret s >out && has out "^k:  *4 bytes" &&
	make ServiceAccount sa && kubectl describe serviceaccount sa >out && has out "^Name:  *sa" && make ConfigMap c && kubectl describe configmap c >out && has out "^Data"
'

test_expect_success 'describe node' '
	node=node-$$ && make Node $node && test_when_finished "kubectl delete node $node" && kubectl describe node $node >out && has out "^Name:  *$node" "^Unschedulable:  *false" "^Taints:" "^Non-terminated Pods:"
'

test_expect_success KUBECTL_130 'describe deployment, job, cronjob, ingress, pdb, hpa, role, pvc, quota, limits' '
	cat >many.yaml <<-EOF && kubectl create -f many.yaml &&
	apiVersion: apps/v1
	kind: Deployment
	metadata: {name: d}
	spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: j}
	spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
	---
	apiVersion: batch/v1
	kind: CronJob
	metadata: {name: cj}
	spec: {schedule: "0 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}
	---
	apiVersion: policy/v1
	kind: PodDisruptionBudget
	metadata: {name: b}
	spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}
	---
	apiVersion: autoscaling/v2
	kind: HorizontalPodAutoscaler
	metadata: {name: h}
	spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: claim}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
	---
	apiVersion: v1
	kind: LimitRange
	metadata: {name: l}
	spec: {limits: [{type: Container, default: {cpu: 100m}}]}
	---
	apiVersion: networking.k8s.io/v1
	kind: Ingress
	metadata: {name: i}
	spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
	EOF
	kubectl describe deployment d >out && has out "^Replicas:  *1 desired" "^StrategyType:  *RollingUpdate" &&
	kubectl describe job j >out && has out "^Parallelism:  *1" && kubectl describe cronjob cj >out && has out "^Schedule:  *0 \* \* \* \*" &&
	kubectl describe pdb b >out && has out "^Min available:  *1" && kubectl describe hpa h >out && has out "^Max replicas:  *3" &&
	kubectl describe pvc claim >out && has out "^Status:  *Pending" && kubectl describe limits l >out && has out "Container  *cpu" && kubectl describe ingress i >out && has out "^Default backend:  *web:80"
'

test_done
