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

test_expect_success 'J3.1: without gang scheduling all six pods are made, and those that fit start' '
	start_muster --isolation shared --resources nvidia.com/gpu=1 --gang-scheduler-name=none && runs "sleep 600" &&
	kubectl apply -f "$e2e/guide-gang.yaml" && soon phases $guide 3 Running && phases $guide 3 Pending &&
	kubectl get pods -o name >out &&
	is "$(for p in ps-0 ps-1 worker-0 worker-1 worker-2 worker-3; do echo pod/$guide-$p; done | xargs)" "$(sort out | xargs)" &&
	kubectl get pods --field-selector status.phase=Running -o name >out && has out "ps-0$" "ps-1$" "worker-"
'

test_expect_success 'J3.1: the others wait, and it is said in the words of kube-scheduler' '
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
	for name in kube Kube A_b; do
		test_expect_code 2 muster up --data none --gang-scheduler-name=$name 2>err && has err "^muster: --gang-scheduler-name=$name: " || return 1
	done &&
	test_expect_code 2 muster run --gang-hold-seconds 3 -- true 2>err && has err "^muster: --gang-hold-seconds is for PodGroups"
'

test_done
