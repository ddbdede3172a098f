#!/bin/sh
test_description='the operator inside muster up'
. "$(dirname "$0")/lib.sh"

job() { # name, further lines of its spec
	cat <<-EOF
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1}
	spec:
	  tfReplicaSpecs:
	    Worker: {replicas: 2, restartPolicy: Never, template: {spec: {containers: [{name: tensorflow, image: none}]}}}
	$2
	EOF
}

test_expect_success 'kinds of jobs are there when it is ready' '
	start_muster && kubectl get crd tfjobs.kubeflow.org -o json >crd.json &&
	jq_is ".status.conditions | map({(.type): .status}) | add | .Established == \"True\" and .NamesAccepted == \"True\"" crd.json &&
	kubectl get tfjobs -A 2>err && has err "No resources found"
'

test_expect_success 'a job gets what it needs, by muster' '
	job good >good.yaml && kubectl apply -f good.yaml &&
	soon sh -c "kubectl get pods -o name | grep -q good-worker-1" &&
	soon sh -c "kubectl get services -o name | grep -q good-worker-1" &&
	soon sh -c "kubectl get tfjob good | grep -q Created" &&
	kubectl get pod good-worker-0 -o json --show-managed-fields >pod.json &&
	jq_is ".metadata.ownerReferences[0].kind == \"TFJob\" and .metadata.managedFields[0].manager == \"muster\"" pod.json
'

test_expect_success 'J7: an invalid job is refused at once, with all that is wrong' '
	job bad "  runPolicy: {backoffLimit: -1, cleanPodPolicy: Some}" | sed "s/name: tensorflow/name: other/" >bad.yaml &&
	test_must_fail kubectl apply -f bad.yaml 2>err && has err "The TFJob \"bad\" is invalid" "spec.runPolicy.backoffLimit: Invalid value: -1" \
		"spec.runPolicy.cleanPodPolicy: Unsupported value: \"Some\"" "must have at least one container with name tensorflow" &&
	test_must_fail kubectl get tfjob bad
'

test_expect_success 'J7: so is a change for the worse, in any way' '
	test_must_fail kubectl patch tfjob good --type=merge -p "{\"spec\":{\"runPolicy\":{\"backoffLimit\":-1}}}" 2>err && has err "spec.runPolicy.backoffLimit: Invalid value: -1" &&
	test_must_fail kubectl apply --server-side --force-conflicts -f bad.yaml 2>err && has err "is invalid" &&
	kubectl patch tfjob good --type=merge -p "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"
'

test_expect_success 'who writes what is deprecated is told' '
	cat >old.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: old}
	spec:
	  elasticPolicy: {nProcPerNode: 2}
	  pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, image: none}]}}}}
	EOF
	kubectl apply -f old.yaml 2>err && has err "Warning: spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead" &&
	kubectl delete -f old.yaml
'

test_expect_success 'so is who writes a job that nothing ends' '
	job endless | sed "s/Worker:/Wroker:/" >endless.yaml && kubectl create --dry-run=server -f endless.yaml 2>err &&
	has err "^Warning: spec.tfReplicaSpecs.Wroker.: not one of Chief, Evaluator, Master, PS and Worker: nothing here decides how the job ends" &&
	job fine | kubectl create --dry-run=server -f - 2>err && lacks err Warning
'

test_expect_success 'scaling through its subresource makes pods' '
	kubectl scale tfjob good --replicas=3 && soon sh -c "kubectl get pods -o name | grep -q good-worker-2"
'

counted() {
	kubectl get --raw /metrics >out && grep -q "^training_operator_jobs_created_total{.*} 1$" out
}

test_expect_success 'it counts what it does' '
	soon counted && has out "^apiserver_request_total" &&
	is "" "$(grep "^# TYPE" out | sort | uniq -d)"
'

test_expect_success 'it stops cleanly, and goes on where it was' '
	stop_muster && start_muster && kubectl get crd tfjobs.kubeflow.org -o json >again.json &&
	is "$(jq -r .metadata.resourceVersion crd.json)" "$(jq -r .metadata.resourceVersion again.json)" &&
	kubectl delete pod good-worker-0 && soon sh -c "kubectl get pods -o name | grep -q good-worker-0" &&
	kubectl delete tfjob good && soon sh -c "! kubectl get pods -o name | grep -q good"
'

test_expect_success 'a changed definition is put right at the next start' '
	kubectl patch crd tfjobs.kubeflow.org --type=json -p "[{\"op\":\"remove\",\"path\":\"/spec/versions/0/additionalPrinterColumns\"}]" &&
	stop_muster && start_muster && kubectl get crd tfjobs.kubeflow.org -o json >again.json &&
	is "$(jq -c .spec crd.json)" "$(jq -c .spec again.json)"
'

test_expect_success 'nothing goes wrong in all of that' 'stop_muster && ! grep -E "level=(warn|error)" muster.log'

two() {
	cat <<-EOF
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: two, namespace: ns2}
	spec:
	  tfReplicaSpecs:
	    PS: {template: {spec: {containers: [{name: tensorflow, image: none}]}}}
	    Worker: {template: {spec: {containers: [{name: tensorflow, image: none}]}}}
	EOF
}

test_expect_success 'CUSTOM_CLUSTER_DOMAIN is in the addresses of TF_CONFIG' '
	CUSTOM_CLUSTER_DOMAIN=tf.training.org && export CUSTOM_CLUSTER_DOMAIN &&
	test_when_finished "unset CUSTOM_CLUSTER_DOMAIN" &&
	data=$PWD/domain && start_muster && kubectl create namespace ns2 && two | kubectl apply -f - &&
	soon sh -c "kubectl -n ns2 get pod two-worker-0 -o json >pod.json" &&
	jq -r ".spec.containers[0].env[0].value" pod.json >got &&
	cat >want <<-\EOF &&
	{"cluster":{"ps":["two-ps-0.ns2.svc.tf.training.org:2222"],"worker":["two-worker-0.ns2.svc.tf.training.org:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"}
	EOF
	test_cmp want got && stop_muster
'

test_expect_success '--no-operator leaves it out' '
	data=$PWD/plain && start_muster --no-operator && kubectl get crd 2>err && has err "No resources found" &&
	muster manifests crds -o json | kubectl apply --server-side -f - && kubectl wait --for=condition=Established crd/tfjobs.kubeflow.org --timeout=120s &&
	kubectl apply -f good.yaml && sleep 1 && kubectl get pods 2>err && has err "No resources found" && stop_muster
'

test_done
