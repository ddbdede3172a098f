#!/bin/sh
test_description='jobs start whole or not at all on one machine'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

no_node=
gpu=1

# phases LABELS N STATE: so many pods of that phase
phases() {
	kubectl get pods -l "$1" -o "jsonpath={range .items[*]}{.status.phase}{'\n'}{end}" >phases && is "$2" "$(grep -c "^$3$" phases)"
}
of() { echo "training.kubeflow.org/job-name=$1"; }
why() { kubectl get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'; }

# halves: in which jobs of the list in file $1 some, but not all, of the pods have a node
halves() {
	jq -r '[.items[] | {job: .metadata.labels["training.kubeflow.org/job-name"], node: (.spec.nodeName != null)}] |
		group_by(.job)[] | select(([.[].node] | unique | length) > 1) | .[0].job' "$1"
}

# whole_between FROM TO: at no revision
whole_between() {
	for rev in $(seq "$1" "$2"); do
		api "/api/v1/namespaces/default/pods?resourceVersionMatch=Exact&resourceVersion=$rev" >list.json || return 1
		! halves list.json | grep "^t" || { echo "at $rev of $1 to $2"; return 1; }
	done
}

test_expect_success 'start' 'start_muster --isolation shared --resources nvidia.com/gpu=3'

test_expect_success 'of two jobs for which there is no room together one starts whole, the other not at all' '
	job a 2 "sleep 300" | kubectl apply -f - && soon phases $(of a) 2 Running &&
	job b 2 "sleep 300" | kubectl apply -f - &&
	soon eval "why b-worker-1 | grep Insufficient" && phases $(of b) 2 Pending
'

test_expect_success 'why, after the words of kube-scheduler, in one sentence' '
	why b-worker-0 >reason && grep "^0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: .* In short: needs 2 nvidia.com/gpu, this machine has 3, 1 free; held by job default/a (2)\.$" reason &&
	soon eval "kubectl get events --field-selector reason=FailedScheduling,involvedObject.name=b-worker-0 -o jsonpath={.items[0].message} | grep -F \"$(cat reason)\""
'

test_expect_success 'a smaller job that fits is not held up' '
	job one 1 "echo ran" | kubectl apply -f - && kubectl wait --for=condition=Succeeded tfjob/one --timeout=120s
'

test_expect_success 'it starts when there is room, all of it' '
	kubectl delete tfjob a --wait=false && soon phases $(of b) 2 Running &&
	kubectl get events --field-selector reason=Scheduled -o json | jq -e "[.items[].involvedObject.name | select(startswith(\"b-\"))] | length == 2"
'

test_expect_success 'no list shows a part of a job that starts, whatever revision it names' '
	kubectl delete tfjob b --wait=false &&
	for n in 1 2 3 4 5 6; do job t$n 2 true; echo ---; done | kubectl apply -f - &&
	from=$(kubectl get pods -o "jsonpath={.metadata.resourceVersion}") &&
	kubectl wait --for=condition=Succeeded tfjob/t1 tfjob/t2 tfjob/t3 tfjob/t4 tfjob/t5 tfjob/t6 --timeout=120s &&
	to=$(kubectl get pods -o "jsonpath={.metadata.resourceVersion}") &&
	whole_between $from $to
'

test_expect_success 'a job that can never start whole says so, and what helps' '
	job four 4 true | kubectl apply -f - &&
	soon eval "why four-worker-3 | grep \"needs 4 nvidia.com/gpu, this machine has 3.*never fits: its 4 pods start together, --gang-scheduler-name=none starts them one by one\\.$\"" &&
	job two 2 true | kubectl apply -f - && kubectl wait --for=condition=Succeeded tfjob/two --timeout=120s
'

test_expect_success 'pods that only look like members count for nothing' '
	kubectl get pod four-worker-0 -o json | jq "del(.metadata.ownerReferences, .metadata.uid, .metadata.resourceVersion, .spec.nodeName, .status) | .metadata.name = \"forged\"" >forged.json &&
	kubectl apply -f forged.json && kubectl wait --for=jsonpath="{.status.phase}"=Succeeded pod/forged --timeout=120s &&
	phases "$(of four),training.kubeflow.org/replica-index!=9" 4 Pending
'

test_expect_success 'with --gang-scheduler-name=none pods start one by one' '
	stop_muster && start_muster --isolation shared --resources nvidia.com/gpu=3 --gang-scheduler-name=none &&
	kubectl wait --for=condition=Succeeded tfjob/four --timeout=120s
'

test_expect_success 'the pods end with the server' 'stop_muster'

test_done
