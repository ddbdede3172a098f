#!/bin/sh
test_description='the guide: a TFJob of six pods on a machine with one GPU, without and with gang scheduling'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

no_node=
guide=dist-mnist-for-e2e-test
insufficient='0/1 nodes are available: 1 Insufficient nvidia.com/gpu.'

# The guide's image; what its containers run is up to each test.
runs() { muster image map "kubeflow/tf-dist-mnist-test" --host --data "$data" --command "$1" >>said; }
of() { echo "training.kubeflow.org/job-name=$1"; }
# phases JOB N STATE: so many of its pods are in that phase
phases() {
	kubectl get pods -l "$(of "$1")" -o "jsonpath={range .items[*]}{.status.phase}{'\n'}{end}" >phases && is "$2" "$(grep -c "^$3$" phases)"
}
ended() { kubectl wait --for=condition=Succeeded "tfjob/$1" --timeout=120s; }
resources() { muster resources --data "$data" "$@"; }

test_expect_success 'step 1: without gang scheduling all six pods are made, and those that fit start' '
	start_muster --isolation shared --resources nvidia.com/gpu=1 --gang-scheduler-name=none && runs "sleep 600" &&
	kubectl apply -f "$e2e/guide-gang.yaml" && soon phases $guide 3 Running && phases $guide 3 Pending &&
	kubectl get pods -o name >out &&
	is "$(for p in ps-0 ps-1 worker-0 worker-1 worker-2 worker-3; do echo pod/$guide-$p; done | xargs)" "$(sort out | xargs)" &&
	kubectl get pods --field-selector status.phase=Running -o name >out && has out "ps-0$" "ps-1$" "worker-"
'

test_expect_success 'step 1: the others wait, and it is said in the words of kube-scheduler' '
	kubectl get pods --field-selector status.phase=Pending -o json >waiting.json &&
	jq -e --arg text "$insufficient" "[.items[].status.conditions[] | select(.type == \"PodScheduled\" and .status == \"False\" and
		.reason == \"Unschedulable\" and (.message | startswith(\$text)))] | length == 3" waiting.json &&
	kubectl get events --field-selector reason=FailedScheduling -o json >events.json &&
	jq -e --arg text "$insufficient" "[.items[] | select(.type == \"Warning\" and .source.component == \"default-scheduler\" and
		(.message | startswith(\$text))) | .involvedObject.name] | unique | length == 3" events.json &&
	kubectl get podgroup -A 2>err && has err "No resources found"
'

test_expect_success 'a running node is given more, and what waits starts' '
	resources >out && has out "^NODE  *RESOURCE  *HAS  *USED  *FREE  *DECLARED" "nvidia.com/gpu  *1  *1  *0" &&
	resources nvidia.com/gpu=4 >out && has out "nvidia.com/gpu  *4  *[0-4]  *[0-3]  *4" && soon phases $guide 6 Running &&
	resources -o json >out.json && jq_is ".nodes[0].resources[] | select(.name == \"nvidia.com/gpu\") | . == {name: \"nvidia.com/gpu\", has: \"4\", used: \"4\", free: \"0\", declared: \"4\"}" out.json
'

test_expect_success 'it may have less than is in use, which is said' '
	resources nvidia.com/gpu=1 >out 2>err && has err "nvidia.com/gpu: 4 in use, 3 more than there is" && has out "nvidia.com/gpu  *1  *4  *0  *1" &&
	phases $guide 6 Running
'

test_expect_success 'what it was told it knows after a restart, until that is taken back' '
	kubectl delete tfjob $guide && stop_muster && start_muster --isolation shared --resources nvidia.com/gpu=3 --gang-scheduler-name=none &&
	soon eval "resources | grep \"nvidia.com/gpu  *1  *0  *1  *1\"" &&
	resources example.com/a=2,cpu=3 nvidia.com/gpu- >out && has out "nvidia.com/gpu  *3  *0  *3 *$" "example.com/a  *2  *0  *2  *2" "cpu  *3  *0  *3  *3" &&
	resources example.com/a- cpu- >out && lacks out example.com/a && has out "nvidia.com/gpu  *3  *0  *3 *$"
'

test_expect_success 'what cannot be is refused, and nothing changes' '
	kubectl get node -o "jsonpath={.items[0].metadata.annotations}" >before &&
	for words in "nvidia.com/gpu" "nvidia.com/gpu=1.5" "=3" "cpu=-1" "cpu=much" "a,b=1"; do
		test_expect_code 2 muster resources --data "$data" $words 2>err && has err "^muster: resources: " || return 1
	done &&
	test_expect_code 1 muster resources --data "$data" memory- 2>err && has err "resources: memory was not declared" &&
	test_expect_code 1 muster resources --data "$data" --node other cpu=1 2>err && has err "nodes \"other\" not found" &&
	kubectl get node -o "jsonpath={.items[0].metadata.annotations}" >after && test_cmp before after &&
	test_expect_code 2 muster up --data none --resources nvidia.com/gpu=500m 2>err && has err "is not a whole number"
'

test_expect_success 'an annotation that cannot be read changes nothing, and the node says so' '
	kubectl annotate node --all muster.dev/resources=many && soon eval "kubectl get node -o json | jq -e \".items[0].status | .capacity[\\\"nvidia.com/gpu\\\"] == \\\"3\\\" and
		any(.conditions[]; .type == \\\"muster.dev/Resources\\\" and .reason == \\\"Invalid\\\")\"" &&
	resources nvidia.com/gpu=1 >out && has out "nvidia.com/gpu  *1  *0  *1  *1"
'

test_expect_success 'who may read nodes but not change them can look, and no more' '
	kubectl create serviceaccount reader && kubectl create clusterrole reads --verb=get,list,watch --resource=nodes &&
	kubectl create clusterrolebinding reads --clusterrole=reads --serviceaccount=default:reader &&
	kubectl config view --raw >reader.conf && kubectl --kubeconfig reader.conf config unset users && token=$(kubectl create token reader) &&
	kubectl --kubeconfig reader.conf config set-credentials reader --token="$token" && kubectl --kubeconfig reader.conf config set-context --current --user=reader &&
	muster resources --kubeconfig reader.conf >out 2>err && has out "nvidia.com/gpu  *1  *?  *?  *1" && has err "what is used is not known" &&
	test_expect_code 1 muster resources --kubeconfig reader.conf cpu=1 2>err && has err "cannot patch node" forbidden
'

test_expect_success 'names of schedulers that cannot be are refused' '
	for name in kube/ A_b; do
		test_expect_code 2 muster up --data none --gang-scheduler-name=$name 2>err && has err "^muster: --gang-scheduler-name=$name: " || return 1
	done &&
	test_expect_code 2 muster run --gang-hold-seconds 3 -- true 2>err && has err "^muster: --gang-hold-seconds is for PodGroups"
'

# ---- with gang scheduling

group() { kubectl get podgroup "$1" -o json >group.json && jq_is "$2" group.json; }
# At no revision from $1 to $2 have some of a job's pods a node and others not, or more GPUs are given than there are.
whole_between() {
	for rev in $(seq "$1" "$2"); do
		api "/api/v1/namespaces/default/pods?resourceVersionMatch=Exact&resourceVersion=$rev" >list.json || return 1
		jq -e --argjson most "${3:-4}" "([.items[] | {job: .metadata.labels[\"training.kubeflow.org/job-name\"], node: (.spec.nodeName != null)}] |
			group_by(.job) | all([.[].node] | unique | length == 1)) and ([.items[] | select(.spec.nodeName and (.status.phase | IN(\"Succeeded\", \"Failed\") | not)) |
			.spec.containers[].resources.limits[\"nvidia.com/gpu\"] // \"0\" | tonumber] | add // 0) <= \$most" list.json >>said ||
			{ echo "at $rev of $1 to $2"; cat list.json; return 1; }
	done
}
revision() { kubectl get pods -o "jsonpath={.metadata.resourceVersion}"; }

test_expect_success 'step 2: with gang scheduling there is a PodGroup, and nothing else' '
	stop_muster && data=$PWD/gang && mkdir gang && runs "sleep 600" &&
	start_muster --isolation shared --resources nvidia.com/gpu=1 --gang-scheduler-name=volcano &&
	kubectl apply -f "$e2e/guide-gang.yaml" && soon eval "kubectl get podgroup | grep Pending" && kubectl get podgroup >out &&
	has out "^NAME  *STATUS  *MINMEMBER  *RUNNINGS  *AGE$" "^$guide  *Pending  *6  *[0-9]*m*[0-9]*s$" &&
	group $guide ".spec | .minMember == 6 and .minResources == {\"nvidia.com/gpu\": \"4\"} and .queue == \"default\""
'

test_expect_success 'step 2: the job says why, in one sentence' '
	soon eval "kubectl get tfjob $guide -o yaml | grep \"Waiting for PodGroup\"" &&
	kubectl get tfjob $guide -o "jsonpath={.status.conditions[*].message}" >out &&
	has out "^TFJob $guide is created. Waiting for PodGroup $guide (6 pods with nvidia.com/gpu=4): needs 4 nvidia.com/gpu, this machine has 1, 1 free; never fits$" &&
	muster get >out && has out "WAITING FOR" "needs 4 nvidia.com/gpu, this machine has 1, 1 free; never fits" &&
	muster describe $guide >out && has out "all replicas: needs 4 nvidia.com/gpu, this machine has 1, 1 free; never fits" &&
	kubectl get pods 2>err && has err "No resources found" && kubectl get services -o name >out && is service/kubernetes "$(cat out)"
'

test_expect_success 'step 3: when the machine grows the group is let in, and all six pods start in one step' '
	from=$(revision) && resources nvidia.com/gpu=4 && soon phases $guide 6 Running && soon eval "kubectl get podgroup | grep \"^$guide  *Running  *6  *6 \"" &&
	whole_between $from $(revision) &&
	kubectl get services -o name >out && is 7 "$(wc -l <out)" &&
	kubectl get pod $guide-worker-0 -o json >pod.json && jq_is ".spec.schedulerName == \"volcano\" and
		.metadata.annotations == {\"scheduling.k8s.io/group-name\": \"$guide\", \"volcano.sh/task-spec\": \"worker\"}" pod.json &&
	kubectl get tfjob $guide -o "jsonpath={.status.conditions[0].message}" >out && is "TFJob $guide is created." "$(cat out)"
'

test_expect_success 'a second one waits, and says for whom; it starts when the first has ended' '
	sed "s/$guide/second/" "$e2e/guide-gang.yaml" | kubectl apply -f - &&
	soon eval "kubectl get tfjob second -o yaml | grep \"needs 4 nvidia.com/gpu, this machine has 4, 0 free; held by \"" &&
	kubectl get podgroup second >out && has out "^second  *Pending  *6 " &&
	sed "s/$guide/third/" "$e2e/guide-gang.yaml" | kubectl apply -f - && soon kubectl get podgroup third &&
	muster why third >out && has out "^tfjob/third waits: needs 4 nvidia.com/gpu, this machine has 4, 0 free; held by " "^  third is \(new\|Pending\) in queue default" "^  job default/second$" \
		"^  - wait for job default/$guide and job default/second to end, or delete them$" "^  - let the machine offer 12 nvidia.com/gpu: muster resources nvidia.com/gpu=12$" &&
	muster why podgroup/third -o json >out.json && jq_is ".queue.position == 2 and .group.queue.name == \"default\" and .object == \"podgroup/third\"" out.json && kubectl delete tfjob third &&
	kubectl delete tfjob $guide && soon phases second 6 Running && test_must_fail kubectl get podgroup $guide &&
	kubectl delete tfjob second && soon test_must_fail kubectl get podgroup second
'

test_expect_success 'what its queue does not allow is the reason, whatever is free' '
	echo "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"small\"},\"spec\":{\"capability\":{\"nvidia.com/gpu\":2}}}" | kubectl apply -f - &&
	in_queue() { sed "s/$guide/$1/;s/^spec:/spec:\n  runPolicy: {schedulingPolicy: {queue: $2}}/" "$e2e/guide-gang.yaml" | kubectl apply -f -; } &&
	in_queue capped small && in_queue lost nowhere && soon eval "muster get | grep \"tfjob/capped .* queue resource quota insufficient: insufficient nvidia.com/gpu\"" &&
	muster why capped >out && has out "^tfjob/capped waits: needs 4 nvidia.com/gpu, its queue small may use 2, 0 in use; never fits$" "^  - raise the capability of the queue small$" && lacks out "Resources:" &&
	muster why lost >out && has out "^tfjob/lost waits: its queue nowhere does not exist$" "^  - create the Queue nowhere$" &&
	kubectl delete tfjob capped lost && kubectl delete queue small
'

# twice N: two such jobs at once, which run one after the other
twice() {
	echo "turn $1" && from=$(revision) && for name in "x$1" "y$1"; do sed "s/$guide/$name/" "$e2e/guide-gang.yaml"; echo ---; done | kubectl apply -f - &&
		ended "x$1" && ended "y$1" && whole_between "$from" "$(revision)" && kubectl delete tfjob "x$1" "y$1"
}

test_expect_success "step 4: two such jobs take turns, ${GANG_REPEAT:-5} times, and never does a part of one start" '
	runs "sleep 0.2" && for turn in $(seq ${GANG_REPEAT:-5}); do twice $turn || return 1; done
'

# Twenty pods that want one GPU each.
singles() {
	for i in $(seq 20); do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"one-$i\",\"labels\":{\"one\":\"\"}},\"spec\":{\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":0,
			\"containers\":[{\"name\":\"c\",\"image\":\"none\",\"command\":[\"true\"],\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}}]}}"
	done
}
# One of those that look for it ends as if it were killed.
dies="until rm $space/die 2>/dev/null; do sleep 0.1; done; exit 137"
one_died() { ! test -e "$space/die"; }
uids() { kubectl get pods -l "$(of "$1")" -o "jsonpath={.items[*].metadata.uid}" | tr " " "\n" | sort; }
has_changed() { uids "$1" >now && ! cmp -s before now; }

test_expect_success 'step 5: a worker that was killed comes back, and nobody else gets its GPU' '
	gpu=1 policy=ExitCode job ring 4 "$dies" | kubectl apply -f - && soon phases ring 4 Running && singles | kubectl apply -f - && uids ring >before &&
	from=$(revision) && touch "$space/die" && soon one_died && soon has_changed ring && soon phases ring 4 Running &&
	is 3 "$(comm -12 before now | wc -l)" &&
	for rev in $(seq $from $(revision)); do
		api "/api/v1/namespaces/default/pods?labelSelector=one&resourceVersionMatch=Exact&resourceVersion=$rev" >list.json &&
			jq_is "[.items[] | select(.spec.nodeName)] == []" list.json || return 1
	done
'

test_expect_success 'step 5: when it cannot come back the whole job waits again, and others run' '
	kubectl delete tfjob ring && kubectl delete pod -l one && stop_muster && start_muster --isolation shared --gang-scheduler-name=volcano --gang-hold-seconds=1 &&
	gpu=1 policy=ExitCode job ring 4 "$dies" | kubectl apply -f - && soon phases ring 4 Running && singles | kubectl apply -f - && resources nvidia.com/gpu=3 && touch "$space/die" && soon one_died &&
	soon eval "kubectl get events --field-selector involvedObject.name=ring | grep \"its gang is broken: for 1 s only 3 of the 4\"" &&
	soon eval "kubectl get podgroup ring | grep Pending" &&
	kubectl wait --for=jsonpath="{.status.phase}"=Succeeded pod -l one --timeout=120s &&
	kubectl get pods -l "$(of ring)" 2>err && has err "No resources found"
'

test_expect_success 'step 6: a job that never fits does not block a smaller one' '
	gpu=3 job big 3 true | kubectl apply -f - && soon eval "kubectl get tfjob big -o yaml | grep \"needs 9 nvidia.com/gpu, this machine has 3.*never fits\"" &&
	gpu=1 job small 2 true | kubectl apply -f - && ended small && kubectl delete tfjob big ring small && kubectl delete pod -l one
'

test_expect_success 'a PodGroup of scheduler-plugins, for any other name of a scheduler' '
	stop_muster && start_muster --isolation shared --gang-scheduler-name=my-scheduler && soon eval "resources nvidia.com/gpu=4" &&
	for name in p q; do gpu=1 job $name 3 "until test -e $space/go; do sleep 0.1; done"; echo ---; done >two.yaml && from=$(revision) && kubectl apply -f two.yaml &&
	soon eval "kubectl get podgroups.scheduling.x-k8s.io p -o yaml | grep minMember" &&
	soon eval "kubectl get pod p-worker-0 -o yaml | grep \"schedulerName: my-scheduler\"" &&
	touch "$space/go" && ended p && ended q && whole_between $from $(revision) && kubectl delete tfjob p q
'

test_expect_success 'by default no PodGroup is made, and two jobs that pod by pod would block each other both end' '
	stop_muster && start_muster --isolation shared && soon eval "resources nvidia.com/gpu=4" &&
	from=$(revision) && kubectl apply -f two.yaml && ended p && ended q && whole_between $from $(revision) && kubectl get podgroup -A 2>err && has err "No resources found"
'

test_expect_success 'muster run has PodGroups, too, and gives up on one that is never let in' '
	gpu=1 job r 2 "echo ran" >r.yaml && muster run --gang-scheduler-name=volcano --resources nvidia.com/gpu=2 r.yaml >out 2>err && is 2 "$(grep -c ran out)" &&
	test_expect_code 1 timeout -k 5 120 muster run --gang-scheduler-name=volcano --resources nvidia.com/gpu=1 --pending-timeout 1ms r.yaml >out 2>err &&
	has err "^muster: tfjob/r: Pending: needs 2 nvidia.com/gpu, this machine has 1, 1 free; never fits$" "^tfjob/r Failed after .*never fits: lower what its replicas ask for"
'

# ---- the kinds

test_expect_success 'queues are there from the start, and definitions that somebody changed stay so' '
	kubectl get queue >out && has out "^NAME  *PARENT$" "^default  *root$" "^root *$" && kubectl get q default -o name && kubectl get pg 2>err && has err "No resources found" &&
	kubectl get crd podgroups.scheduling.volcano.sh -o json | jq "del(.status, .metadata.managedFields) | .spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.more = {type: \"string\"}" | kubectl apply -f - &&
	stop_muster && start_muster --isolation shared && kubectl get crd podgroups.scheduling.volcano.sh -o json >crd.json &&
	jq_is ".spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.more.type == \"string\"" crd.json
'

test_expect_success 'without our scheduler they are not' '
	stop_muster && data=$PWD/plain && start_muster --no-scheduler && kubectl get crd -o name >out && lacks out podgroups queues
'

test_expect_success 'the pods end with the server' 'stop_muster'

test_done
