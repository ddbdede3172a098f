#!/bin/sh
test_description='muster why: states made with kubectl, and what is said of each'
. "$(dirname "$0")/lib.sh"
. "$e2e/cli.sh"

no_node=

# worker NAME [RESOURCES [FIELDS OF THE POD]]: a job of one worker that stays
worker() {
	cat <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1}
	spec:
	  tfReplicaSpecs:
	    Worker:
	      replicas: 1
	      template:
	        spec:
	          ${3:-restartPolicy: Always}
	          containers:
	          - {name: tensorflow, image: none, command: [sh, -c, "${command:-sleep 600}"], resources: {limits: {${2:-cpu: 10m}}}}
	END
}

# says WORDS JOB: the first line of its text, and the sentence of its JSON
says() {
	muster why "$2" >out || return 1
	expr "$(head -n 1 out)" : "$1$" >/dev/null || return 1
	muster why "$2" -o json >out.json || return 1
	case $1 in *" waits: "*) jq_is ".state == \"Waiting\"" out.json ;; esac
}

wait_for() { # WORDS JOB
	soon says "$1" "$2" >/dev/null || { cat out; return 1; }
}

gpu="example.com/gpu"

test_expect_success 'a job that runs, and one that waits for what it holds' '
	start_muster --resources "$gpu=2,cpu=4,memory=8Gi" && kubectl apply -f - <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: alone}
	spec: {schedulerName: other, containers: [{name: c, image: none}]}
	END
	worker a "$gpu: 1" | kubectl apply -f - &&
	wait_for "tfjob/a is running: 1 of 1 pods" a &&
	worker b "$gpu: 2" | kubectl apply -f - &&
	wait_for "tfjob/b waits: needs 2 $gpu, this machine has 2, 1 free; held by job default/a (1)" b &&
	has out "^  $gpu   2       2     1      all nodes" "^  job default/a   $gpu   1 " "^What would help:" "^  - wait for job default/a to end, or delete it$" \
		"^  - lower $gpu to 1 in each pod$" "^  - let the machine offer 3 $gpu: muster resources $gpu=3$" &&
	jq_is ".scheduling.lacks[0].holders[0].name == \"a\" and .help[0].steps[0].do == \"End\" and .scheduling.never == false" out.json &&
	muster get >out && has out "  WAITING FOR$" "^tfjob/b .*Insufficient\|^tfjob/b .*held by job default/a"
'

test_expect_success 'a pod of it, its place in the queue, and what is free when it is gone' '
	worker c "$gpu: 2" | kubectl apply -f - && wait_for "tfjob/c waits: needs .*" c && has out "^Before it in the queue:$" "^  job default/b$" &&
	jq_is ".queue.position == 2 and .queue.before[0].name == \"b\"" out.json &&
	wait_for "pod/b-worker-0 waits: needs 2 $gpu, .*" pod/b-worker-0 &&
	kubectl delete tfjob a c --wait=false && wait_for "tfjob/b is running: 1 of 1 pods" b && kubectl delete tfjob b
'

test_expect_success 'more than there is' '
	worker big "cpu: 64" | kubectl apply -f - &&
	wait_for "tfjob/big waits: needs 64 CPUs, this machine has 4, [0-9m]* free.*; never fits" big &&
	has out "^  - lower cpu to [0-9m]* in each pod$" && jq_is ".scheduling.never" out.json
'

test_expect_success 'a label, a taint, a cordoned node' '
	worker label "" "nodeSelector: {disk: ssd}" | kubectl apply -f - &&
	wait_for "tfjob/label waits: cannot run on this machine: it does not have the labels disk=ssd" label &&
	has out "^  - remove nodeSelector and node affinity from its pods$" &&
	node=$(kubectl get nodes -o jsonpath="{.items[0].metadata.name}") && kubectl taint nodes "$node" team=ml:NoSchedule && worker t | kubectl apply -f - &&
	wait_for "tfjob/t waits: cannot run on this machine: it has the taint team=ml, which the pod does not tolerate" t &&
	has out "^  - let its pods tolerate the taint team$" && kubectl taint nodes "$node" team- && wait_for "tfjob/t is running: 1 of 1 pods" t &&
	kubectl cordon "$node" && worker u | kubectl apply -f - && wait_for "tfjob/u waits: cannot run on this machine: it is cordoned" u &&
	has out "^  - uncordon the node " && kubectl uncordon "$node" && wait_for "tfjob/u is running: 1 of 1 pods" u
'

test_expect_success 'a scheduling gate, a claim and a ConfigMap that are not there' '
	worker gate "" "schedulingGates: [{name: example.com/quota}]" | kubectl apply -f - &&
	wait_for "tfjob/gate waits: held by the scheduling gate example.com/quota" gate &&
	worker claim "" "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]" | kubectl apply -f - &&
	wait_for "tfjob/claim waits: needs the PersistentVolumeClaim data, which does not exist" claim && has out "^  - create it$" &&
	worker conf "" "volumes: [{name: v, configMap: {name: conf}}]" | kubectl apply -f - &&
	wait_for "tfjob/conf waits: needs the ConfigMap conf, which does not exist" conf && has out "^  - create it$"
'

test_expect_success 'an image without a command, a program that fails again and again' '
	worker img | sed "s/ command: [^]]*],//" | kubectl apply -f - &&
	wait_for "tfjob/img waits: names no command and its image none is not mapped" img && has out "^  - add a command" &&
	command=false worker crash | sed "s/      template:/      restartPolicy: Always\n&/" | kubectl apply -f - &&
	wait_for "tfjob/crash waits: fails again and again: exited with 1, [0-9]* restarts*; the next start is delayed" crash
'

test_expect_success 'suspended, by whom; ended; a quota' '
	worker s | sed "s/^spec:/&\n  runPolicy: {suspend: true}/" | kubectl apply -f - &&
	wait_for "tfjob/s is suspended (spec.runPolicy.suspend is true, written by kubectl.*)" s && has out "^  - set spec.runPolicy.suspend to false$" &&
	worker k | sed "s/^spec:/&\n  runPolicy: {suspend: true}/; s/name: k/&, labels: {kueue.x-k8s.io\/queue-name: team}/" | kubectl apply -f - &&
	wait_for "tfjob/k is suspended until Kueue admits it from the LocalQueue team" k &&
	command=true worker done | kubectl apply -f - && wait_for "tfjob/done has ended: Succeeded: .*" done &&
	kubectl create namespace small && kubectl create quota none --hard=pods=0 -n small && worker q | kubectl apply -n small -f - &&
	soon sh -c "muster why q -n small | grep -q \"^tfjob/q waits: its pods cannot be created: exceeded quota: none, requested: pods=1\"" &&
	test_expect_code 1 muster why nothing 2>err && has err "there is no job \"nothing\"" && test_expect_code 2 muster why 2>err && has err "needs one job"
'

# It was created at the beginning: a scheduler has some seconds to answer.
test_expect_success 'a scheduler that is not there' '
	wait_for "pod/alone waits: the scheduler other has not answered; is it running?" pod/alone
'

test_expect_success 'with fewer rights: what is not known is told, the rest stays' '
	kubectl create serviceaccount reader && kubectl create role reader --verb=get,list --resource=pods,tfjobs.kubeflow.org &&
	kubectl create rolebinding reader --role=reader --serviceaccount=default:reader &&
	token=$(echo "{\"spec\":{}}" | kubectl create --raw /api/v1/namespaces/default/serviceaccounts/reader/token -f - | jq -r .status.token) &&
	cp "$KUBECONFIG" few && KUBECONFIG=few kubectl config set-credentials reader --token="$token" && KUBECONFIG=few kubectl config set-context --current --user=reader &&
	muster why tfjob/big --kubeconfig few >out && has out "^tfjob/big waits: .*" "^Not known:$" "^  nodes cannot be listed, so what they have is not known: .*forbidden" "^  pods of other namespaces cannot be listed" "^  events cannot be listed"
'

# member NAME GROUP [SCHEDULER]: a pod of a group that is made by hand
member() {
	cat <<-END
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: $1, annotations: {scheduling.k8s.io/group-name: $2}}
	spec: {schedulerName: ${3:-volcano}, containers: [{name: c, image: none, command: [sleep, "600"], resources: {limits: {$gpu: 1}}}]}
	END
}

# group KIND NAME SPEC
group() {
	printf -- "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: %s\nmetadata: {name: %s}\nspec: {%s}\n" "$1" "$2" "$3"
}

test_expect_success 'groups that are made by hand: what helps others is not said of them' '
	kubectl delete tfjobs --all && kubectl delete pod alone &&
	{ group Queue tight "capability: {$gpu: 1}" && group PodGroup tight "queue: tight, minMember: 2, minResources: {$gpu: 2}" && member tight0 tight && member tight1 tight && member loose tight default-scheduler &&
	group PodGroup part "minMember: 2" && member part0 part && member lost none &&
	group PodGroup roles "minMember: 2, minTaskMember: {worker: 1}" && member roles0 roles && member roles1 roles &&
	group PodGroup much "minMember: 2, minResources: {$gpu: 6}" && member much0 much && member much1 much; } | kubectl apply -f - &&
	wait_for "pod/loose is running: 1 of 1 pods" pod/loose &&
	wait_for "podgroup/tight waits: needs 2 $gpu, its queue tight may use 1, 0 in use; never fits" podgroup/tight && has out "^  - raise the capability of the queue tight$" "^  tight is Pending in queue tight" &&
	jq_is ".help == [{text: \"raise the capability of the queue tight\", steps: []}]" out.json &&
	wait_for "pod/tight1 waits: needs 2 $gpu, its queue tight may use 1, 0 in use; never fits" pod/tight1 &&
	wait_for "podgroup/part waits: .*1 of .*" podgroup/part && jq_is ".help == []" out.json &&
	wait_for "pod/part0 waits: .*1 of .*" pod/part0 && jq_is ".help == []" out.json &&
	wait_for "pod/lost waits: its PodGroup none does not exist" pod/lost && jq_is "[.help[].text] == [\"create the PodGroup none\"]" out.json &&
	wait_for "podgroup/roles waits: podgroup default/roles lacks pods of role .worker. (annotation volcano.sh/task-spec)" podgroup/roles && jq_is ".help == []" out.json &&
	wait_for "podgroup/much waits: needs 6 $gpu, this machine has 2, .*; never fits" podgroup/much && jq_is "all(.help[]; .steps[].do == \"Offer\")" out.json
'

test_expect_success 'what a group that was let in keeps is held by it, and free when it is gone' '
	group PodGroup kept "minMember: 1, minResources: {$gpu: 1}" | kubectl apply -f - && soon sh -c "kubectl get podgroup kept | grep -q Inqueue" &&
	group PodGroup next "minMember: 1, minResources: {$gpu: 1}" | kubectl apply -f - &&
	wait_for "podgroup/next waits: needs 1 $gpu, this machine has 2, 0 free; held by pod default/loose (1), podgroup default/kept (1)" podgroup/next &&
	has out "^  - wait for podgroup default/kept to end, or delete it$" && lacks out "much\|tight" &&
	kubectl delete podgroup kept && soon sh -c "kubectl get podgroup next | grep -q Inqueue"
'

test_expect_success 'a quota that keeps a group out: what nodes have is no help' '
	group PodGroup over "minMember: 2, minResources: {$gpu: 1}" | kubectl apply -n small -f - &&
	soon sh -c "muster why podgroup/over -n small | grep -q \"^podgroup/over waits: its PodGroup is not admitted: exceeded quota: none, requested: pods=2\"" &&
	muster why podgroup/over -n small -o json >out.json && jq_is "[.help[].text] == [\"raise the ResourceQuota, or wait for other pods of the namespace to end\"]" out.json
'

test_expect_success 'a job that is created again as a whole, but not yet' '
	command="exit 3" worker again | sed "s/name: again/&, annotations: {muster.dev\/restart-scope: job}/; s/restartPolicy: Always//; s/^      template:/      restartPolicy: OnFailure\n&/" | kubectl apply -f - &&
	wait_for "tfjob/again waits: TFJob again is restarting because again-worker-0 (Worker) failed with exit code 3.*[^.]" again && kubectl delete tfjob again
'

test_expect_success 'the pods end with the server' 'stop_muster'

test_expect_success 'pods that take turns: one of them is looked at, and it fits some time' '
	start_muster --gang-scheduler-name none --resources "$gpu=1" && kubectl delete podgroups,pods --all --now && worker turns "$gpu: 1" | sed "s/replicas: 1/replicas: 3/" | kubectl apply -f - &&
	wait_for "tfjob/turns waits: needs 1 $gpu, this machine has 1, 0 free; held by job default/turns (1)" turns &&
	jq_is "[.scheduling.never, .help[].text] == [false, \"let the machine offer 2 $gpu: muster resources $gpu=2\"]" out.json &&
	worker more "$gpu: 1" | sed "s/replicas: 1/replicas: 2/" | kubectl apply -f - && wait_for "tfjob/more waits: needs 1 $gpu, this machine has 1, 0 free; held by job default/turns (1)" more &&
	has out "^  - wait for job default/turns to end, or delete it$" && kubectl delete tfjob turns && soon sh -c "kubectl get pod more-worker-0 | grep -q Running" && stop_muster
'

test_done
