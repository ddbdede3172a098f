#!/bin/sh
test_description='PodGroups and Queues that are made by hand, on nodes that nobody runs'
. "$(dirname "$0")/lib.sh"

no_node=--no-node

# put OBJECT: in YAML of one line, which kubectl would take for JSON
put() { printf -- '---\n%s\n' "$1" | kubectl apply -f -; }

# gpus N: of the one node
gpus() {
	kubectl patch node node1 --subresource=status --type=merge -p "{\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"$1\"},\"allocatable\":{\"nvidia.com/gpu\":\"$1\",\"cpu\":\"8\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
}

# group NAME MIN GPUS [FURTHER MEMBERS OF ITS SPEC]
group() {
	put "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: $1}, spec: {minMember: $2, minResources: {nvidia.com/gpu: $3}$4}}"
}

# pods GROUP N [FURTHER MEMBERS OF THEIR SPEC]: of one GPU each, of that group
pods() {
	for i in $(seq 0 $(($2 - 1))); do
		echo ---
		echo "{apiVersion: v1, kind: Pod, metadata: {name: $1-$i, annotations: {scheduling.k8s.io/group-name: $1}}, spec: {schedulerName: volcano, terminationGracePeriodSeconds: 0, containers: [{name: c, image: none, resources: {limits: {nvidia.com/gpu: 1}}}]$3}}"
	done | kubectl apply -f -
}

# phase NAME WANT: it becomes that
phase() { soon eval "test \"\$(kubectl get podgroup $1 -o 'jsonpath={.status.phase}')\" = '$2'"; }
condition() { kubectl get podgroup "$1" -o "jsonpath={.status.conditions[?(@.type==\"$2\")]['status','reason','message']}"; }
# on GROUP: how many of its pods have a node
on() { kubectl get pods -o json | jq "[.items[] | select(.metadata.annotations[\"scheduling.k8s.io/group-name\"] == \"$1\" and .spec.nodeName != null)] | length"; }
# ends GROUP PHASE: its pods do, as a kubelet says it
pod_phases() {
	for pod in $(kubectl get pods -o name | grep "/$1-"); do
		kubectl patch "$pod" --subresource=status --type=merge -p "{\"status\":{\"phase\":\"$2\"}}" || return 1
	done
}
events() { kubectl get events --field-selector "involvedObject.kind=PodGroup,involvedObject.name=$1,reason=$2" -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}'; }

test_expect_success 'start, with a node' '
	start_muster && put "{apiVersion: v1, kind: Node, metadata: {name: node1}}" && gpus 1
'

test_expect_success '4.6: four GPUs of one are never let in, and it says why' '
	group a 6 4 && phase a Pending &&
	kubectl get podgroup a >table && has table "^NAME *STATUS *MINMEMBER *RUNNINGS *AGE" "^a *Pending *6 *[0-9]*[sm]" &&
	soon eval "condition a Unschedulable | grep \"^True ExceedsCapacity .*needs 4 nvidia.com/gpu, this machine has 1, 1 free; never fits\"" &&
	soon eval "events a Unschedulable | grep \"needs 4 nvidia.com/gpu\""
'

test_expect_success 'it holds up nobody' '
	group small 1 1 && phase small Inqueue && kubectl delete podgroup small
'

test_expect_success 'when the node grows it is let in' 'gpus 4 && phase a Inqueue'

test_expect_success 'its pods start together' '
	pods a 4 && test "$(on a)" = 0 &&
	for i in 4 5; do
		put "{apiVersion: v1, kind: Pod, metadata: {name: a-$i, annotations: {scheduling.k8s.io/group-name: a}}, spec: {schedulerName: volcano, containers: [{name: c, image: none}]}}" || return 1
	done &&
	phase a Running && is 6 "$(on a)" &&
	condition a Scheduled | grep "^True tasks in gang are ready to be scheduled" &&
	condition a Unschedulable | grep "^False" &&
	soon eval "events a Scheduled | grep \"pod group is ready\"" &&
	pod_phases a Running && soon eval "kubectl get podgroup a | grep \"^a *Running *6 *6 \""
'

test_expect_success 'Completed, until it is deleted; what it had is free' '
	pod_phases a Succeeded && phase a Completed && group b 4 4 && phase b Inqueue && kubectl delete podgroup b
'

test_expect_success 'an unknown queue: no phase, one event and a condition' '
	group lost 1 1 ", queue: nope" && soon eval "condition lost Unschedulable | grep \"^True QueueNotFound queue .nope. not found\"" &&
	soon eval "events lost Unschedulable >lost.events && test -s lost.events" && is 1 "$(grep -c . lost.events)" && phase lost ""
'

test_expect_success 'a queue lets in no more than it may use' '
	put "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: narrow}, spec: {capability: {nvidia.com/gpu: 2}}}" &&
	group q1 2 2 ", queue: narrow" && phase q1 Inqueue && group q2 1 1 ", queue: narrow" && phase q2 Pending &&
	soon eval "condition q2 Unschedulable | grep \"queue resource quota insufficient: insufficient nvidia.com/gpu\"" &&
	pods q1 2 && phase q1 Running &&
	soon eval "kubectl get queue narrow -o jsonpath={.status.state}{.status.allocated} | grep \"^Open.*nvidia.com/gpu.:.2\"" &&
	kubectl delete pods q1-0 q1-1 && kubectl delete podgroup q1 && phase q2 Inqueue && kubectl delete podgroup q2
'

test_expect_success 'a closed queue lets in nobody' '
	kubectl patch queue narrow --subresource=status --type=merge -p "{\"status\":{\"state\":\"Closed\"}}" &&
	group q3 1 1 ", queue: narrow" && phase q3 Pending && soon eval "condition q3 Unschedulable | grep -i \"queue.*closed\"" &&
	kubectl patch queue narrow --subresource=status --type=merge -p "{\"status\":{\"state\":\"Open\"}}" &&
	phase q3 Inqueue && kubectl delete podgroup q3
'

test_expect_success 'the more important group is let in first' '
	for p in low:10 high:20; do
		put "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: ${p%:*}}, value: ${p#*:}}" || return 1
	done &&
	group all 4 4 && phase all Inqueue &&
	group p1 3 3 ", priorityClassName: low" && phase p1 Pending && group p2 3 3 ", priorityClassName: high" && phase p2 Pending &&
	kubectl delete podgroup all && phase p2 Inqueue && phase p1 Pending && kubectl delete podgroup p1 p2
'

test_expect_success 'a pod whose group is missing says so' '
	pods gone 1 && soon eval "kubectl get pod gone-0 -o \"jsonpath={.status.conditions[0].message}\" | grep \"podgroup .gone. not found\"" &&
	kubectl delete pod gone-0
'

test_expect_success 'a server that was killed goes on from the phases' '
	group k 2 2 && phase k Inqueue && group k2 3 3 && phase k2 Pending &&
	{ stop_muster KILL || :; } && start_muster && phase k Inqueue && phase k2 Pending &&
	pods k 2 && phase k Running && is 2 "$(on k)" &&
	pod_phases k Running && { stop_muster KILL || :; } && start_muster &&
	kubectl delete pod k-1 && phase k Unknown && phase k2 Pending && pods k 2 && phase k Running &&
	kubectl delete pods k-0 k-1 && phase k Inqueue && kubectl delete podgroup k && phase k2 Inqueue && kubectl delete podgroup k2
'

test_expect_success 'a quota of the namespace is a limit, too' '
	put "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {requests.nvidia.com/gpu: 2}}}" &&
	group over 3 3 && phase over Pending && soon eval "condition over Unschedulable | grep -i quota" &&
	group within 2 2 && phase within Inqueue && group after 1 1 && phase after Pending &&
	kubectl delete podgroup over within && phase after Inqueue && kubectl delete podgroup after && kubectl delete quota few
'

test_expect_success 'with --preemption a more important group gets the place of another' '
	stop_muster && start_muster --preemption &&
	group v 4 4 ", priorityClassName: low" && pods v 4 ", priorityClassName: low" && phase v Running && pod_phases v Running &&
	group w 2 2 ", priorityClassName: high" && phase w Inqueue && pods w 2 ", priorityClassName: high" && phase w Running &&
	soon eval "kubectl get events --field-selector reason=Preempted | grep \"pod/v-[0-3] *Preempted by podgroup default/w on node node1\"" &&
	phase v Pending && is 0 "$(on v)"
'

test_done
