#!/bin/sh
test_description='what muster manifests prints, and what it makes of a cluster'
. "$(dirname "$0")/lib.sh"

test_expect_success 'it prints YAML, or a list in JSON, and nothing else' '
	muster manifests >crds.yaml && head -n 1 crds.yaml >out && is --- "$(cat out)" &&
	muster manifests crds -o json >crds.json && jq_is ".kind == \"List\" and (.items | map(.kind) | unique) == [\"CustomResourceDefinition\"]" crds.json &&
	muster manifests --output=json >again.json && test_cmp crds.json again.json &&
	muster manifests --help >out && has out "^Usage: muster manifests"
'

test_expect_success 'what it does not know it says' '
	test_expect_code 2 muster manifests helm 2>err && has err "no manifests called .helm." &&
	test_expect_code 2 muster manifests crds crds 2>err && has err "takes no argument" &&
	test_expect_code 2 muster manifests -o xml 2>err && has err "no output format .xml." &&
	test_expect_code 1 muster manifests >/dev/full 2>err && has err "cannot write"
'

test_expect_success 'start' 'start_api'

test_expect_success KUBECTL_130 'a cluster takes the definitions, without a warning, again and again' '
	kubectl apply --server-side --force-conflicts -f crds.yaml >out 2>err && has out tfjobs.kubeflow.org && ! grep -i warning err &&
	kubectl wait --for=condition=Established crd/tfjobs.kubeflow.org --timeout=120s &&
	muster manifests | kubectl apply --server-side --force-conflicts -f - && soon kubectl get tfjobs
'

test_expect_success KUBECTL_130 'names and words: api-resources and explain' '
	soon sh -c "kubectl api-resources --api-group=kubeflow.org --cached=false | grep -q \"^tfjobs  *kubeflow.org/v1  *true  *TFJob\"" &&
	kubectl explain tfjob.spec.runPolicy >out && has out "backoffLimit	<integer>" "Which pods go once the job has finished" &&
	kubectl explain tfjob.spec.tfReplicaSpecs.template.spec.containers.ports >out && has out "containerPort	<integer> -required-"
'

test_expect_success KUBECTL_130 'the examples are accepted, strictly' '
	for f in "$top"/examples/*job-*.yaml; do
		kubectl create --dry-run=server --validate=strict -f "$f" || return 1
	done
'

test_expect_success KUBECTL_130 'a job is read with its run policy, shown with its state, and scaled' '
	sed "s/name: later/name: shown/" "$top/examples/tfjob-suspend.yaml" | kubectl apply -f - &&
	kubectl get tfjob shown -o json >got && jq_is ".spec.runPolicy == {suspend: true}" got &&
	kubectl get tfjobs >out && has out "^NAME  *STATE  *AGE" "^shown " &&
	kubectl scale tfjob shown --replicas=5 && kubectl get tfjob shown -o json >got && jq_is ".spec.tfReplicaSpecs.Worker.replicas == 5" got &&
	test_must_fail kubectl scale tfjob shown --replicas=5 --current-replicas=2 && kubectl describe tfjob shown >out && has out "Replicas:  *5" "Suspend:  *true"
'

test_expect_success KUBECTL_130 'what cannot change is refused' '
	test_must_fail kubectl patch tfjob shown --type merge -p "{\"spec\":{\"runPolicy\":{\"managedBy\":\"kueue.x-k8s.io/multikueue\"}}}" 2>err &&
	has err "spec.runPolicy.managedBy: Invalid value: .*: field is immutable" && kubectl delete tfjob shown
'

test_expect_success KUBECTL_130 'a wrong job is refused with every fault' '
	cat >bad.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: 1-bad}
	spec:
	  runPolicy: {backoffLimit: -1}
	  tfReplicaSpecs:
	    Worker: {replicas: -1, template: {spec: {containers: [{name: tf}]}}}
	    Chief: {}
	EOF
	test_must_fail kubectl create -f bad.yaml 2>err && has err "metadata.name: Invalid value: .*: should match: a DNS-1035 label" "spec.runPolicy.backoffLimit: Invalid value: .*: must be greater than or equal to 0" \
		"spec.tfReplicaSpecs.Chief..template.spec.containers: Required value: must be specified" "spec.tfReplicaSpecs.Worker..replicas: Invalid value: .*: must be greater than or equal to 0" \
		"containers: Required value: must have at least one container with name tensorflow" "containers.0..image: Required value: must be required"
'

test_done
