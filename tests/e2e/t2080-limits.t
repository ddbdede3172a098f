#!/bin/sh
test_description='limit ranges, quotas under load, warnings'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api'

test_expect_success 'a limit range fills in what containers lack, and refuses too much' '
	printf "apiVersion: v1\nkind: LimitRange\nmetadata: {name: lr}\nspec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 100m}, max: {cpu: \"1\"}}]}\n" | kubectl create -f - &&
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n" | kubectl create -f - &&
	kubectl get pod p -o json >out &&
	jq_is ".spec.containers[0].resources == {limits: {cpu: \"500m\"}, requests: {cpu: \"100m\"}}" out &&
	jq_is ".metadata.annotations[\"kubernetes.io/limit-ranger\"] == \"LimitRanger plugin set: cpu request for container c; cpu limit for container c\"" out &&
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{name: c, image: i, resources: {limits: {cpu: 2}}}]}\n" >big.yaml &&
	test_must_fail kubectl create -f big.yaml 2>err &&
	has err "maximum cpu usage per Container is 1, but limit is 2"
'

test_expect_success MUSTER 'many at once never get past a quota, and its status says how many did' '
	printf "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {secrets: \"7\"}}\n" | kubectl create -f - &&
	pids= &&
	for i in $(seq 40); do
		api "/api/v1/namespaces/$ns/secrets" --json "{\"metadata\":{\"name\":\"s$i\"}}" >"s$i.json" &
		pids="$pids $!"
	done &&
	wait $pids &&
	kubectl get secrets -o json >out && jq_is ".items | length == 7" out &&
	cat s*.json >all && jq -s "map(select(.code == 403)) | length" all >n && test "$(cat n)" = 33 &&
	kubectl wait --for=jsonpath="{.status.used.secrets}"=7 quota/few --timeout=120s &&
	kubectl delete secret --all && kubectl wait --for=jsonpath="{.status.used.secrets}"=0 quota/few --timeout=120s
'

test_expect_success 'kubectl shows warnings' '
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: warned}\nspec: {nodeSelector: {beta.kubernetes.io/os: linux}, containers: [{name: c, image: i, env: [{name: A, value: x}, {name: A, value: z}]}]}\n" | kubectl create --dry-run=server -f - 2>err &&
	grep -qF "Warning: spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead" err &&
	grep -qF "Warning: spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply" err
'

test_expect_success 'autoscalers of v1 and v2 are the same' '
	api "/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers" --json "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"maxReplicas\":3,\"targetCPUUtilizationPercentage\":42,\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"d\",\"apiVersion\":\"apps/v1\"}}}" >out &&
	api "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers/h" >out &&
	jq_is ".spec.metrics[0].resource.target.averageUtilization == 42" out
'

test_done
