#!/bin/sh
test_description='muster logs'
. "$(dirname "$0")/lib.sh"

# pod INDEX RUN [STATE]
pod() {
	jq -n --arg i "$1" --argjson run "$2" --arg state "${3:-running}" '{kind: "Pod", apiVersion: "v1",
		metadata: {name: "mnist-worker-\($i)", namespace: "default", uid: "p\($i)", resourceVersion: "1",
			labels: {"training.kubeflow.org/job-name": "mnist", "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": $i},
			ownerReferences: [{kind: "TFJob", name: "mnist", uid: "j1", controller: true}]},
		spec: {containers: [{name: "side"}, {name: "tensorflow"}]},
		status: {containerStatuses: [{name: "tensorflow", restartCount: $run, state: {($state): {exitCode: 0}}}]}}'
}

# job REPLICAS [CONDITION]
job() {
	jq -n --argjson n "$1" --arg c "$2" '{kind: "TFJob", apiVersion: "kubeflow.org/v1", metadata: {name: "mnist", namespace: "default", uid: "j1", resourceVersion: "1"},
		spec: {tfReplicaSpecs: {Worker: {replicas: $n, template: {}}}}, status: {conditions: [{type: $c, status: "True"}]}}' >s/job.new && mv s/job.new s/job.json
}

turn() { # what was written is told
	turns=$((${turns:-0} + 1)) && echo "$turns" >s/turn.new && mv s/turn.new s/turn
}

test_expect_success 'a server with a job of two replicas' '
	mkdir s && job 2 Running && { pod 0 0; pod 1 1; } | jq -s . >s/pods.json && mkfifo port.fifo &&
	start sh -c "exec python3 \"$e2e/logserver.py\" s >port.fifo 2>logserver.log" && read -r port <port.fifo &&
	KUBECONFIG=$PWD/kc && export KUBECONFIG && printf "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: http://127.0.0.1:%s}}]\ncontexts: [{name: a, context: {cluster: a}}]\n" $port >kc &&
	printf "a\nb\n" >s/mnist-worker-0.0.log && printf "old\n" >s/mnist-worker-1.0.log && printf "one\ntwo without end" >s/mnist-worker-1.1.log
'

test_expect_success 'lines of all replicas, each with its name' '
	muster logs mnist >out && sort out >got && cat >want <<-EOF && test_cmp want got
	[worker-0] a
	[worker-0] b
	[worker-1] one
	[worker-1] two without end
	EOF
'

test_expect_success 'of one, as they are' '
	is "$(printf "a\nb")" "$(muster logs tfjob/mnist --role Worker --index 0)" && is "[worker-1] one" "$(muster logs mnist -i 1 | head -n 1)" &&
	is "old" "$(muster logs mnist --no-prefix -i 1 -p)"
'

test_expect_success 'what is asked for reaches the server' '
	: >s/asked && muster logs mnist -i 0 --tail 5 --since 1500ms --timestamps -c side >out &&
	is "mnist-worker-0 container=side&sinceSeconds=2&tailLines=5&timestamps=true" "$(cat s/asked)" && : >s/asked && muster logs mnist -i 0 >out && is "mnist-worker-0 container=tensorflow" "$(cat s/asked)"
'

test_expect_success 'colours on a terminal only' '
	muster logs mnist >out && ! grep -q "$(printf "\033")" out && muster logs mnist --color always >out && grep -q "$(printf "^\033\\\\[[0-9]*m\\\\[worker-0\\\\]\033\\\\[0m a$")" out &&
	TERM=xterm script -qec "muster logs mnist" /dev/null >out && grep -q "$(printf "\033\\\\[[0-9]*m\\\\[worker-0")" out &&
	NO_COLOR=1 TERM=xterm script -qec "muster logs mnist" /dev/null >out && ! grep -q "$(printf "\033")" out
'

test_expect_success 'what a container beside the main one repeats is folded on a terminal, and not in a pipe' '
	printf "wait\nwait\nwait\ngo\ngo\n" >s/mnist-worker-0.0.log && is "wait wait wait go go" "$(muster logs mnist --no-prefix -i 0 -c side | xargs)" &&
	TERM=dumb script -qec "muster logs mnist --no-prefix -i 0 -c side" /dev/null >out && tr -d "\r" <out >got &&
	is "wait|(the line above was repeated 2 times)|go|(the line above was repeated once)|" "$(tr "\n" "|" <got)" &&
	TERM=dumb script -qec "muster logs mnist -i 0" /dev/null >out && is 3 "$(grep -c wait out)" && printf "a\nb\n" >s/mnist-worker-0.0.log
'

test_expect_success '-f goes on over restarts and new pods until the job is over' '
	start muster logs mnist -f >followed && reader=$! && soon grep -q "^\[worker-1\] one" followed &&
	echo c >>s/mnist-worker-0.0.log && soon grep -q "^\[worker-0\] c" followed &&
	touch s/mnist-worker-1.1.end && soon grep -q "two without end" followed && echo again >s/mnist-worker-1.2.log && touch s/mnist-worker-1.2.end && echo late >s/mnist-worker-2.0.log && touch s/mnist-worker-2.0.end &&
	{ pod 0 0; pod 1 2 terminated; pod 2 0; } | jq -s . >s/new && mv s/new s/pods.json && turn && soon grep -q "^\[worker-1\] again" followed && soon grep -q "^\[worker-2\] late" followed &&
	job 2 Succeeded && turn && touch s/mnist-worker-0.0.end && wait $reader && is 1 "$(grep -c again followed)" && is 1 "$(grep -c "two without" followed)"
'

test_expect_success 'logs that cannot be read are told, the others are shown' '
	rm s/mnist-worker-0.0.log && muster logs mnist >out 2>err && has out "worker-1. again" && has err "^muster: worker-0: its log cannot be read: container .* is waiting to start$" &&
	test_expect_code 1 muster logs mnist -i 0 2>err && test_expect_code 1 muster logs mnist -i 9 2>err && has err "^muster: tfjob/mnist has no such pods at http:" &&
	test_expect_code 2 muster logs 2>err && has err "needs one job" && test_expect_code 2 muster logs -f -p mnist 2>err && has err "cannot be followed" && test_expect_code 2 muster logs mnist --since yesterday 2>err && has err "takes a time"
'

test_expect_success 'Ctrl-C ends it' '
	job 2 Running && rm -f s/*.end && start muster logs mnist -f >followed && reader=$! && soon grep -q again followed && kill -INT $reader && { wait $reader; is 130 $?; }
'

test_expect_success 'replicas that wait say why, also when followed' '
	job 1 Created && jq -n "[{kind: \"Pod\", apiVersion: \"v1\", metadata: {name: \"mnist-worker-0\", namespace: \"default\", uid: \"w\", resourceVersion: \"1\",
		labels: {\"training.kubeflow.org/job-name\": \"mnist\", \"training.kubeflow.org/replica-type\": \"worker\", \"training.kubeflow.org/replica-index\": \"0\"},
		ownerReferences: [{kind: \"TFJob\", name: \"mnist\", uid: \"j1\", controller: true}]}, spec: {containers: [{name: \"tensorflow\"}]},
		status: {phase: \"Pending\", conditions: [{type: \"PodScheduled\", status: \"False\", reason: \"Unschedulable\", message: \"no room\"}]}}]" >s/new && mv s/new s/pods.json && turn &&
	muster logs mnist >out 2>err && test_must_be_empty out && has err "^muster: worker-0 has not begun: Unschedulable: no room$" &&
	start muster logs mnist -f 2>followed && soon grep -q "^muster: worker-0 has not begun: Unschedulable: no room$" followed
'

test_expect_success 'a replica that nobody schedules says so' '
	jq "del(.[0].status.conditions)" s/pods.json >s/new && mv s/new s/pods.json && turn && muster logs mnist 2>err && has err "NotScheduled: no scheduler has looked at this pod"
'

test_expect_success 'a replica that has printed nothing' '
	job 1 Running && pod 0 0 | jq -s . >s/new && mv s/new s/pods.json && : >s/mnist-worker-0.0.log && touch s/mnist-worker-0.0.end && turn &&
	muster logs mnist >out 2>err && test_must_be_empty out && has err "^muster: tfjob/mnist has printed nothing$"
'

test_done
