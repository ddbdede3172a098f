#!/bin/sh
test_description='muster up --gang-scheduler-name=kube: the PodGroups of Kubernetes itself'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

no_node=
kube=--gang-scheduler-name=kube
# Of kubectl, a first line that begins with { is JSON.
# pod NAME GROUP [MORE OF ITS SPEC]: of one GPU, of that PodGroup
pod() {
	echo "---" && echo "{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {schedulingGroup: {podGroupName: $2}, restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: c, image: none, command: [sleep, \"600\"], resources: {limits: {nvidia.com/gpu: 1}}}]$3}}"
}
# group NAME POLICY
group() { echo "---" && echo "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: $1}, spec: {schedulingPolicy: $2}}"; }
# phases JOB N STATE: so many of its pods are in that phase
phases() {
	kubectl get pods -l "training.kubeflow.org/job-name=$1" -o "jsonpath={range .items[*]}{.status.phase}{'\n'}{end}" >phases && is "$2" "$(grep -c "^$3$" phases)"
}
condition() { kubectl get podgroup "$1" -o "jsonpath={.status.conditions[?(@.type=='PodGroupScheduled')]['status','reason','message']}"; }
scheduled() { condition "$1" | grep "^$2"; }
node_of() { kubectl get pod "$1" -o "jsonpath={.spec.nodeName}"; }
only_group() { is "$2" "$(kubectl get podgroup -o "jsonpath={.items[*].metadata.name}")"; }
resources() { muster resources --data "$data" "$@"; }
revision() { kubectl get pods -o "jsonpath={.metadata.resourceVersion}"; }
# At no revision from $1 to $2 have some of a job's pods a node and others not.
whole_between() {
	for rev in $(seq "$1" "$2"); do
		api "/api/v1/namespaces/default/pods?resourceVersionMatch=Exact&resourceVersion=$rev" >list.json &&
			jq_is "[.items[] | {job: .metadata.labels[\"training.kubeflow.org/job-name\"], node: (.spec.nodeName != null)}] |
				group_by(.job) | all([.[].node] | unique | length == 1)" list.json || return 1
	done
}

test_expect_success 'without it they are not there' '
	start_muster --isolation shared --resources nvidia.com/gpu=3 &&
	kubectl api-versions >out && has out "^scheduling.k8s.io/v1$" && lacks out v1alpha2 && kubectl get crd -o name >out && lacks out "podgroups.scheduling.k8s.io" &&
	pod p g >pod.yaml && test_must_fail kubectl create -f pod.yaml 2>err && has err "unknown field \"spec.schedulingGroup\"" &&
	kubectl create --validate=ignore -f pod.yaml && kubectl get pod p -o json >pod.json && jq_is ".spec.schedulingGroup == null" pod.json && kubectl delete pod p
'

test_expect_success 'with it they are, beside what 1.34 has' '
	stop_muster && start_muster --isolation shared --resources nvidia.com/gpu=3 $kube &&
	kubectl api-versions >out && has out "^scheduling.k8s.io/v1$" "^scheduling.k8s.io/v1alpha2$" && kubectl get priorityclass -o name >out && has out system-node-critical &&
	api /apis/scheduling.k8s.io >out.json && jq_is ".preferredVersion.version == \"v1\"" out.json &&
	kubectl explain podgroups.scheduling.k8s.io.spec.schedulingPolicy >out && has out "gang"
'

test_expect_success 'what cannot be is refused, and their spec does not change' '
	for how in "{}" "{gang: {minCount: 0}}" "{basic: {}, gang: {minCount: 2}}"; do
		group bad "$how" >bad.yaml && test_must_fail kubectl create -f bad.yaml 2>err && has err "schedulingPolicy" || return 1
	done &&
	group g "{gang: {minCount: 2}}" | kubectl create -f - && for patch in "{\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":1}}}}" "{\"spec\":{\"priorityClassName\":\"a\"}}"; do
		test_must_fail kubectl patch podgroup g --type=merge -p "$patch" 2>err && has err "^The PodGroup .g. is invalid: spec: .*field is immutable" || return 1
	done && test_must_fail kubectl patch podgroup g --type=merge -p "{\"spec\":null}" 2>err && has err "spec: Required value"
'

test_expect_success 'pods name their group, for good' '
	pod g-0 g | kubectl create --dry-run=server -o json -f - >pod.json && jq_is ".spec.schedulingGroup.podGroupName == \"g\" and .spec.schedulerName == \"default-scheduler\"" pod.json &&
	test_must_fail kubectl get pod g-0 2>err && pod g-0 g | kubectl apply --server-side -f - &&
	kubectl get pod g-0 -o json --show-managed-fields >pod.json && jq_is ".spec.schedulingGroup.podGroupName == \"g\" and (.metadata.managedFields[0].fieldsV1[\"f:spec\"][\"f:schedulingGroup\"] != null)" pod.json &&
	test_must_fail kubectl patch pod g-0 -p "{\"spec\":{\"schedulingGroup\":{\"podGroupName\":\"other\"}}}" 2>err && has err "pod updates may not change" &&
	test_must_fail kubectl patch pod g-0 -p "{\"spec\":{\"schedulingGroup\":null}}" 2>err && has err "pod updates may not change" &&
	kubectl label pod g-0 a=b && pod bad A_b >bad.yaml && test_must_fail kubectl create -f bad.yaml 2>err && has err "spec.schedulingGroup.podGroupName: Invalid value" &&
	sed "s/podGroupName: A_b/groupName: g/" bad.yaml >odd.yaml && test_must_fail kubectl create -f odd.yaml 2>err && has err "unknown field \"spec.schedulingGroup.groupName\""
'

test_expect_success 'a gang starts together, and one of a basic group by itself' '
	test -z "$(node_of g-0)" && pod g-1 g | kubectl create -f - && kubectl wait --for=condition=Ready pod/g-0 pod/g-1 --timeout=120s && soon scheduled g "True Scheduled" &&
	soon eval "kubectl get podgroup g | grep \"^g  *2  *Scheduled \"" &&
	group b "{basic: {}}" | kubectl create -f - && pod b-0 b | kubectl create -f - && pod b-1 b | kubectl create -f - &&
	soon eval "kubectl get pods b-0 b-1 -o \"jsonpath={.items[*].status.phase}\" | tr \" \" \"\n\" | sort | xargs | grep \"^Pending Running$\"" &&
	kubectl delete pod g-0 g-1 b-0 b-1 && kubectl delete podgroup g b
'

test_expect_success 'a job of four waits whole for its four GPUs, and its group says why' '
	gpu=1 job ring 4 "until test -e $space/over; do sleep 0.1; done" | kubectl apply -f - && soon phases ring 4 Pending &&
	only_group ring ring && soon scheduled ring "False Unschedulable .*needs 4 nvidia.com/gpu, this machine has 3, 3 free" &&
	kubectl get podgroup ring -o json >group.json && jq_is ".spec == {schedulingPolicy: {gang: {minCount: 4}}} and (.status | keys == [\"conditions\"]) and .metadata.ownerReferences[0].kind == \"TFJob\"" group.json &&
	soon eval "kubectl get events --field-selector involvedObject.kind=PodGroup,involvedObject.name=ring,reason=Unschedulable | grep \"needs 4 nvidia.com/gpu\"" &&
	muster get >out && has out "^tfjob/ring .*needs 4 nvidia.com/gpu, this machine has 3" &&
	for name in ring podgroup/ring; do muster why $name >out && has out "waits: needs 4 nvidia.com/gpu, this machine has 3, 3 free" || return 1; done
'

test_expect_success 'a server that was killed knows who waits' '
	{ stop_muster KILL || :; } && start_muster --isolation shared --resources nvidia.com/gpu=3 $kube && phases ring 4 Pending &&
	pod alone none | sed "s/schedulingGroup: {podGroupName: none}, //" | kubectl create -f - && kubectl wait --for=condition=Ready pod/alone --timeout=120s && kubectl delete pod alone &&
	phases ring 4 Pending && scheduled ring "False Unschedulable"
'

test_expect_success 'when the machine grows all four start at once' '
	from=$(revision) && resources nvidia.com/gpu=4 && soon phases ring 4 Running && whole_between $from $(revision) && soon scheduled ring "True Scheduled" &&
	kubectl get pods -l training.kubeflow.org/job-name=ring -o json >pods.json && jq_is "all(.items[].spec; .schedulerName == \"default-scheduler\" and .schedulingGroup == {podGroupName: \"ring\"})" pods.json
'

test_expect_success 'a server that was killed knows who runs' '
	kubectl get pods -o "jsonpath={.items[*].metadata.uid}" >before && { stop_muster KILL || :; } && start_muster --isolation shared $kube && soon phases ring 4 Running &&
	kubectl get pods -o "jsonpath={.items[*].metadata.uid}" >after && test_cmp before after && scheduled ring "True Scheduled" &&
	pod alone none | sed "s/schedulingGroup: {podGroupName: none}, //" | kubectl create -f - && soon eval "kubectl get pod alone -o yaml | grep \"1 Insufficient nvidia.com/gpu\"" && kubectl delete pod alone
'

test_expect_success 'when the job has ended its group goes' '
	touch "$space/over" && kubectl wait --for=condition=Succeeded tfjob/ring --timeout=120s && soon test_must_fail kubectl get podgroup ring && kubectl delete tfjob ring
'

test_expect_success 'two jobs that pod by pod would block each other both end' '
	from=$(revision) && for name in one two; do gpu=1 job $name 3 "sleep 0.2"; echo ---; done | kubectl apply -f - &&
	kubectl wait --for=condition=Succeeded tfjob/one tfjob/two --timeout=120s && whole_between $from $(revision) && kubectl delete tfjob one two
'

test_expect_success 'muster run takes it, too' '
	gpu=1 job r 2 "echo ran" >r.yaml && muster run $kube --resources nvidia.com/gpu=2 r.yaml >out 2>err && is 2 "$(grep -c ran out)" &&
	test_expect_code 1 timeout -k 5 120 muster run $kube --resources nvidia.com/gpu=1 --pending-timeout 1ms r.yaml >out 2>err && has err "needs 2 nvidia.com/gpu, this machine has 1, 1 free; never fits"
'

test_expect_success 'without the flag again pods that have a group go on, and end' '
	rm "$space/over" && gpu=1 job ring 4 "until test -e $space/over; do sleep 0.1; done" | kubectl apply -f - && soon phases ring 4 Running &&
	stop_muster && start_muster --isolation shared && gpu=1 job late 2 "until test -e $space/over; do sleep 0.1; done" | kubectl apply -f - && touch "$space/over" &&
	kubectl wait --for=condition=Succeeded tfjob/late --timeout=120s && kubectl get tfjob,pod,podgroups.scheduling.k8s.io && kubectl delete tfjob ring late && soon test_must_fail kubectl get pod ring-worker-0
'

test_done
