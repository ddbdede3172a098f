#!/bin/sh
test_description='deploy/monitoring: alerts and dashboard name only metrics that the operator has'
. "$(dirname "$0")/lib.sh"

monitoring=$top/deploy/monitoring

check() {
	"$deploy/metric-names" op.metrics "$1" "$2"
}

test_expect_success 'an operator that has run a job' '
	no_node= && start_muster --no-operator && crds && start_operator op --leader-elect && soon is_ready op &&
	tfjob quick 1 | sed "s/sleep, \"60\"/sleep, \"0\"/" | kubectl apply -f - && kubectl wait --for=condition=Succeeded tfjob/quick --timeout=120s &&
	tfjob bad 1 | sed "s/sleep, \"60\"/sh, -c, exit 138/; s/replicas: 1/replicas: 1\n      restartPolicy: ExitCode/; s/^spec:/spec:\n  runPolicy: {backoffLimit: 3}/" | kubectl apply -f - && kubectl wait --for=condition=Failed tfjob/bad --timeout=120s &&
	soon counts op "training_operator_jobs_failed_total{framework=\"tensorflow\",job_namespace=\"default\"}" 1
'

test_expect_success 'every metric and label that is named is there' 'check "$monitoring/alerts.yaml" "$monitoring/dashboard.json"'

test_expect_success 'one that is not is seen' '
	sed "s/muster_ready == 0/muster_reddy == 0/; s/sum by (controller)/sum by (colour)/" "$monitoring/alerts.yaml" >alerts.yaml &&
	test_must_fail check alerts.yaml "$monitoring/dashboard.json" >out && has out "MusterNotReady: nothing has muster_reddy" "MusterReconcileErrors: nothing has colour" &&
	sed "s/muster_cached_objects/muster_cash/; s/job_namespace=/jobspace=/" "$monitoring/dashboard.json" >dashboard.json &&
	test_must_fail check "$monitoring/alerts.yaml" dashboard.json >out && has out "Objects in caches: nothing has muster_cash" "Jobs failed: nothing has jobspace"
'

test_expect_success 'the ServiceMonitor selects the Service that is installed, by a port that it has' '
	as_json "$monitoring/servicemonitor.yaml" >monitor && muster manifests install -o json >install &&
	jq_is ".[0].spec.selector.matchLabels == {\"app.kubernetes.io/name\": \"muster\"} and .[0].spec.endpoints[0].port == \"metrics\"" monitor &&
	jq_is "[.items[] | select(.kind == \"Service\" and .metadata.labels[\"app.kubernetes.io/name\"] == \"muster\") | .spec.ports[].name] == [\"metrics\"]" install
'

test_expect_success 'end' 'end_operator op'

test_done
