#!/bin/sh
test_description='muster run on a cluster that a kubeconfig names'
. "$(dirname "$0")/lib.sh"

TERM=dumb
export TERM
no_node=
data=$HOME/.local/share/muster # where commands look for a server by themselves
# Not in /tmp: there pods have one of their own.
place=$(mktemp -d /var/tmp/muster-cluster.XXXXXX)
trap 'code=$?; rm -rf "$place"; end_all; (exit $code); die' EXIT

# run_there WORDS...: muster run in the directory of the scripts, which the cluster does not see.
run_there() {
	(cd "$place" && muster run "$@")
}

no_maps() {
	is "" "$(kubectl --kubeconfig "$there" get configmaps -o name)"
}

refused() {
	test_expect_code 2 run_there "$@" >out 2>err </dev/null && test_must_be_empty out
}

test_expect_success 'setup' '
	mkdir -p "${data%/*}" && start_muster && there=$KUBECONFIG && unset KUBECONFIG &&
	printf "import helper\nprint(helper.word)\n" >"$place/train.py" && echo "word = \"uploaded\"" >"$place/helper.py"
'

test_expect_success 'a command runs there and is followed; that nothing is uploaded is said' '
	run_there --kubeconfig "$there" --image python:3.11 --kind tf -N 2 --name words -- sh -c "echo hello from \$HOSTNAME" >out 2>err &&
	sort out >sorted && printf "[worker-%d] hello from words-worker-%d\n" 0 0 1 1 >want && test_cmp want sorted &&
	has err "^muster: no files are uploaded: the command sees those of image python:3.11; --upload sends" "^tfjob/words Succeeded after" &&
	lacks err "^  logs: " && is "" "$(kubectl --kubeconfig "$there" get tfjobs,pods -o name)"
'

test_expect_success 'files of this directory are not there, and its exit code comes back' '
	test_expect_code 1 run_there --kubeconfig "$there" --image python:3.11 -- python3 train.py >out 2>err && has out "can.t open file" &&
	has err "^pod/train Failed after"
'

test_expect_success '--upload sends the scripts, and they go with the job' '
	run_there --kubeconfig "$there" --context muster --image python:3.11 --kind xgboost -N 2 --upload -- python3 train.py >out 2>err &&
	is "[master-0] uploaded" "$(grep master out)" && lacks err "uploaded" &&
	is "" "$(kubectl --kubeconfig "$there" get configmaps,pods -o name)"
'

test_expect_success '--keep leaves the job, which owns its scripts' '
	run_there --kubeconfig "$there" --keep --image python:3.11 --upload --name kept -- python3 train.py >out 2>err && is uploaded "$(cat out)" &&
	is kept "$(kubectl --kubeconfig "$there" get configmap kept-scripts -o "jsonpath={.metadata.ownerReferences[0].name}")" &&
	test_expect_code 1 run_there --kubeconfig "$there" --image python:3.11 --upload --name kept -- python3 train.py 2>err &&
	has err "Pod/kept exists already and has ended; .muster delete --kubeconfig $there -n default pod/kept. makes room" &&
	muster delete --kubeconfig "$there" pod/kept && soon no_maps
'

test_expect_success 'files run there as well' '
	echo "{apiVersion: v1, kind: Pod, metadata: {name: file}, spec: {restartPolicy: Never, containers: [{name: main, image: x, command: [pwd]}]}}" >"$place/pod.yaml" &&
	is / "$(run_there --kubeconfig "$there" pod.yaml 2>err)" && rm "$place/pod.yaml"
'

test_expect_success 'a context is one of the own kubeconfig, also while a server runs here' '
	mkdir -p "$HOME/.kube" && sed "s/current-context: muster/current-context: none/; s/^- name: muster$/- name: prod/; s/cluster: muster$/cluster: prod/" "$there" >"$HOME/.kube/config" &&
	is hello "$(run_there --context prod --image python:3.11 -- echo hello 2>err)" &&
	test_must_fail run_there --context other --image python:3.11 -- echo hello 2>err && has err "^muster: .*other" && rm -r "$HOME/.kube"
'

test_expect_success 'what makes no sense there is refused' '
	refused --kubeconfig "$there" -- true && has err "^muster: --kubeconfig needs --image: a cluster does not have the files of this machine$" &&
	refused --context c --kind jax -- true && has err "^muster: --context needs --image" &&
	for flag in "--data x" "--isolation shared" "--resources cpu=1" "--workdir ." "-v .:/x" --rm; do
		refused --kubeconfig "$there" --image x $flag -- true &&
			has err "^muster: --[a-z]* is about this machine and cannot be used with --kubeconfig$" || return 1
	done && refused --upload -- true && has err "^muster: --upload is for a cluster" &&
	refused --upload --kubeconfig "$there" x.yaml && has err "^muster: --upload is not for files" &&
	head -c 1000000 /dev/zero >"$place/large.txt" &&
	refused --upload --kubeconfig "$there" --image x -- true && has err "more than 900 KB" && rm "$place/large.txt"
'

test_expect_success '--print shows the scripts too' '
	run_there --print --upload --image python:3.11 --kind mpi -N 2 -- python3 train.py >made.yaml &&
	muster validate - <made.yaml >out && has out "^2 objects, all valid" && has made.yaml "^  train.py: |$" "workingDir: /scripts"
'

test_expect_success 'the server stops' 'stop_muster'

test_done
