#!/bin/sh
test_description='the parts of muster up are users with few rights, and they are enough'
. "$(dirname "$0")/lib.sh"

no_node=

as_part() { # which, verb and resource ...: what the API says
	part=$1 && shift
	case $part in
	node) set -- "$@" --as=system:node:any --as-group=system:nodes ;;
	scheduler) set -- "$@" --as=system:kube-scheduler ;;
	operator) set -- "$@" --as=system:muster:operator ;;
	esac
	kubectl auth can-i "$@" -A || true
}

# Requests of any kind that were refused for want of a right.
refused() {
	api /metrics >metrics && grep "^apiserver_request_total.*code=.403." metrics
}

jobs() {
	cat <<-\EOF
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: words}
	data: {word: hello}
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: disk}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
	---
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: train}
	spec:
	  pytorchReplicaSpecs:
	    Master:
	      replicas: 1
	      template:
	        spec:
	          containers: [{name: pytorch, image: none, command: [sh, -c, 'test "$WORD" = hello && touch "$DISK/x"'], env: [{name: WORD, valueFrom: {configMapKeyRef: {name: words, key: word}}}, {name: DISK, value: /disk}], volumeMounts: [{name: disk, mountPath: /disk}]}]
	          volumes: [{name: disk, persistentVolumeClaim: {claimName: disk}}]
	EOF
}

test_expect_success 'start' 'start_muster && kubectl get clusterrole system:node system:kube-scheduler system:muster:operator'

test_expect_success 'a whole job runs, with a volume, to the end of its life' '
	jobs >jobs.yaml && kubectl apply -f jobs.yaml &&
	kubectl wait --for=condition=Succeeded pytorchjob/train --timeout=120s &&
	kubectl delete -f jobs.yaml --timeout=120s &&
	is "" "$(kubectl get pods -o name)"
'

test_expect_success 'so does an MPI job, whose launcher gets a role' '
	cat >mpi.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: MPIJob
	metadata: {name: many}
	spec:
	  mpiReplicaSpecs:
	    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, image: none, command: [sleep, "0"]}]}}}
	    Worker: {replicas: 1, template: {spec: {containers: [{name: mpi, image: none, command: [sleep, "1000"]}]}}}
	EOF
	kubectl apply -f mpi.yaml && kubectl wait --for=condition=Succeeded mpijob/many --timeout=120s &&
	kubectl get role many-launcher && kubectl delete -f mpi.yaml --timeout=120s
'

test_expect_success 'nobody was refused anything' '! refused'

test_expect_success 'each may do its work' '
	is yes "$(as_part node list pods)" && is yes "$(as_part node patch pods --subresource=status)" &&
	is yes "$(as_part scheduler create pods --subresource=binding)" && is yes "$(as_part operator create pods)"
'

test_expect_success 'and nothing else' '
	for wish in "node create pods" "node patch secrets" "node create clusterrolebindings" "node create pods --subresource=exec" "node impersonate users" "node delete nodes" \
		"scheduler get secrets" "scheduler create pods" "scheduler delete pods" "scheduler patch nodes" \
		"operator get secrets" "operator list nodes" "operator create clusterroles" "operator delete namespaces" "operator impersonate users" "operator escalate roles"; do
		is no "$(as_part $wish 2>&1 | tail -n 1)" || { echo "$wish" >&2; return 1; }
	done &&
	test_must_fail kubectl get secrets -A --as=system:muster:operator 2>err && has err "cannot list resource \"secrets\""
'

test_expect_success 'with PodGroups the operator may make them, and nobody is refused anything either' '
	is no "$(as_part operator create podgroups.scheduling.volcano.sh)" && is no "$(as_part scheduler delete pods)" &&
	stop_muster && start_muster --gang-scheduler-name=volcano --preemption && kubectl apply -f jobs.yaml &&
	kubectl wait --for=condition=Succeeded pytorchjob/train --timeout=120s && kubectl delete -f jobs.yaml --timeout=120s &&
	is yes "$(as_part operator create podgroups.scheduling.volcano.sh)" && is no "$(as_part operator patch queues.scheduling.volcano.sh)" &&
	is yes "$(as_part scheduler patch podgroups.scheduling.volcano.sh)" && is yes "$(as_part scheduler delete pods)" && ! refused
'

test_expect_success 'a role that was changed is as it was after a restart' '
	kubectl patch clusterrole system:kube-scheduler --type=json -p "[{\"op\":\"replace\",\"path\":\"/rules\",\"value\":[]}]" &&
	stop_muster && start_muster && is yes "$(as_part scheduler create pods --subresource=binding)"
'

test_done
