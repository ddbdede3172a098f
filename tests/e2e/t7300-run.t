#!/bin/sh
test_description='muster run: files in, a result out'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

TERM=dumb
export TERM
runs=$XDG_DATA_HOME/muster/runs

# Words that only this test's processes have, so that they can be counted.
mark=$((100000 + $$))
alive() {
	pgrep -fc "sleep $1$mark" || true
}
running() { # MARK N
	test "$(alive "$1")" -ge "$2"
}
gone() {
	test "$(alive "$1")" = 0
}

# begin ARGS...: muster run in the background, its pid in $pid. Nobody shall read what an earlier one said.
begin() {
	: >out && : >err || return 1
	muster run "$@" >out 2>err &
	pid=$!
	background="$background $pid"
}

# Its replicas may be heard before the job is told to run.
job_runs() {
	muster get >listed && grep -q "^tfjob/$1  *Running" listed
}

test_expect_success 'setup' '
	job good 3 "echo hello from \$HOSTNAME" >good.yaml &&
	job bad 2 "echo line one; echo last words; exit 7" >bad.yaml
'

for level in namespaces shared; do

test_expect_success "$level: a job that succeeds: its logs on stdout, each line with its replica; exit 0" '
	muster run --isolation $level good.yaml >out 2>err &&
	sort out >sorted &&
	printf "[worker-%d] hello from good-worker-%d\n" 0 0 1 1 2 2 >want &&
	test_cmp want sorted &&
	has err "^tfjob/good Succeeded after" "^  worker-2   Succeeded   0 " "^  logs: $runs/good-"
'

test_expect_success "$level: its logs stay, and nothing else of it" '
	dir=$(sed -n "s/^  logs: //p" err) && test -s "$dir/worker-1/0.log" &&
	top_dir=${dir%/logs/*} && ls "$top_dir" >left &&
	printf "%s\n" lock logs summary.json >want && test_cmp want left &&
	jq_is ".state == \"Succeeded\" and .exitCode == 0" "$top_dir/summary.json"
'

test_expect_success "$level: muster logs reads them, without any server" '
	muster logs good >out && sort out >got && test_cmp sorted got &&
	is "hello from good-worker-1" "$(muster logs tfjob/good -i 1)" && muster logs good --timestamps -i 0 | grep -q "^20[0-9T:.-]*Z hello" &&
	test_expect_code 1 muster logs nobody 2>why && has why "no logs of nobody are kept here"
'

# When one has failed the job has, and the other may not get to its end.
test_expect_success "$level: one that fails: exit 1, and who failed first with the last lines, unasked" '
	test_expect_code 1 muster run --isolation $level bad.yaml >out 2>err &&
	has err "^worker-[01] failed first: exit code 7; its last lines:" "^  | line one" "^  | last words" \
		"^tfjob/bad Failed after .*: TFJob default/bad has failed" "^  worker-[01] .* 7  "
'

test_expect_success "$level: time is up: 124, and nothing runs any more" '
	job slow 2 "exec sleep 7$mark" >slow.yaml &&
	test_expect_code 124 muster run --isolation $level --timeout 2s slow.yaml >out 2>err &&
	has err "^muster: time is up" "^tfjob/slow Stopped after" "^timed out after" && soon gone 7
'

test_expect_success "$level: interrupted: 130, cleanly" '
	job term 2 "trap \"echo goodbye; exit 0\" TERM; echo ready; sleep 7$mark & wait" >term.yaml &&
	begin --isolation $level term.yaml &&
	soon sh -c "test \$(grep -c ready out) = 2" && soon job_runs term &&
	is 2 "$(muster logs term | grep -c ready)" && kill -INT $pid && { wait $pid; is 130 $?; } &&
	has out "^.worker-0. goodbye" "^.worker-1. goodbye" &&
	has err "^muster: stopping; Ctrl-C again kills" "^interrupted after" && soon gone 7
'

test_expect_success "$level: interrupted twice: killed, whatever it says to that" '
	job stubborn 2 "trap \"echo no\" TERM; echo ready; while :; do sleep 7$mark & wait; done" >stubborn.yaml &&
	sed -i "s/terminationGracePeriodSeconds: 30/terminationGracePeriodSeconds: 3600/" stubborn.yaml &&
	begin --isolation $level stubborn.yaml &&
	soon sh -c "test \$(grep -c ready out) = 2" && kill -INT $pid &&
	soon sh -c "test \$(grep -c no out) = 2" && kill -INT $pid &&
	{ wait $pid; is 130 $?; } &&
	has err "^muster: killing" "^  worker-0  *Stopped  *137 " "^  worker-1  *Stopped  *137 " && soon gone 7
'

test_expect_success "$level: N1: killed itself, it leaves no process" '
	begin --isolation $level slow.yaml &&
	soon running 7 2 && kill -KILL $pid && { wait $pid; test $? -gt 128; } && soon gone 7
'

test_expect_success "$level: every run of a replica is heard from its first byte" '
	policy=OnFailure && job again 2 "echo first; test -e $space/\$HOSTNAME && echo second && exit 0; echo x >$space/\$HOSTNAME; exit 1" >again.yaml &&
	policy= && { muster run --isolation $level --timeout 2m again.yaml >out 2>err; code=$?; } &&
	sort out >sorted && cat sorted err >&2 && is 0 $code &&
	printf "[worker-%d] %s\n" 0 first 0 first 0 second 1 first 1 first 1 second >want && test_cmp want sorted &&
	muster logs again | sort >got && test_cmp want got && is "[worker-1] first" "$(muster logs again -p | tail -n 1 | sed s/-0/-1/)" &&
	has err "^  worker-0   Succeeded   0      1  " && rm -f "$space"/*
'

done

test_expect_success 'invalid input: exit 2 with file, line, column and field; nothing is made' '
	mv "$XDG_DATA_HOME" home.before && sed "s/replicas: 3/replicas: -3/; s/command/comand/" good.yaml >wrong.yaml &&
	test_expect_code 2 muster run wrong.yaml bad.yaml >out 2>err && test_must_be_empty out &&
	has err "^wrong.yaml:8:[0-9]*: spec.tfReplicaSpecs\[Worker\].replicas: " \
		"^wrong.yaml:[0-9]*:[0-9]*: .*comand: unknown field; was \"command\" meant" &&
	test ! -e "$XDG_DATA_HOME" && mv home.before "$XDG_DATA_HOME" &&
	test_expect_code 2 muster run 2>err && has err "run needs a file" &&
	test_expect_code 2 muster run nothing.yaml 2>err && has err "nothing.yaml" &&
	test_expect_code 2 muster run -n "bad ns" good.yaml 2>err && has err "namespace .bad ns.: must be" &&
	test_expect_code 2 muster run --data "" good.yaml 2>err && has err "run: --data .. names no directory" &&
	test_expect_code 2 muster run --resources cpu=x good.yaml 2>err && has err "cpu: \"x\" is not an amount"
'

test_expect_success 'nothing that ends is nothing to run' '
	echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}" >map.yaml &&
	test_expect_code 2 muster run map.yaml 2>err && has err "no training job or pod in the files" &&
	cat >batch.yaml <<-END &&
	apiVersion: batch/v1
	kind: Job
	metadata: {name: batch}
	spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, command: ["true"]}]}}}
	END
	cat >always.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: always}
	spec: {containers: [{name: main, image: x, command: ["true"]}]}
	END
	test_expect_code 124 muster run --timeout 1s always.yaml 2>err && has err "always.yaml:1:1: the pod.s restartPolicy is Always" &&
	{ cat always.yaml && echo --- && sed "s/x,/z,/" always.yaml; } >namesakes.yaml &&
	test_expect_code 2 muster run namesakes.yaml 2>err && has err "^muster: namesakes.yaml:6:1: the name Pod/always is already used at namesakes.yaml:1:1" &&
	test_expect_code 2 muster run batch.yaml 2>err && has err "^muster: batch.yaml:1:1: Jobs are stored but not run by this server"
'

test_expect_success 'a job that the files have twice is one job' '
	job twice 1 "echo once" >twice.yaml && timeout 120 muster run twice.yaml twice.yaml >out 2>err &&
	is once "$(cat out)" && is 1 "$(grep -c "twice Succeeded" err)"
'

test_expect_success 'standard input, a directory, and several jobs: the worst decides' '
	mkdir many && cp good.yaml many/a.yaml && cp bad.yaml many/b.yml &&
	test_expect_code 1 muster run many >out 2>err &&
	has out "^.good/worker-2. *hello from good-worker-2" "^.bad/worker-[01]. *last words" &&
	has err "^tfjob/good Succeeded" "^tfjob/bad Failed" &&
	muster run - <good.yaml >out 2>err && has out "hello from good-worker-0"
'

test_expect_success 'namespaces first, whatever the order; a plain pod and its account; names that are made up' '
	cat >mixed.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {generateName: solo-, namespace: mine}
	spec:
	  restartPolicy: Never
	  serviceAccountName: trainer
	  containers: [{name: main, image: none, command: [sh, -c, "echo \$GREETING alone"], envFrom: [{configMapRef: {name: words}}]}]
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: words, namespace: mine}
	data: {GREETING: hello}
	---
	apiVersion: v1
	kind: Namespace
	metadata: {name: mine}
	END
	muster run mixed.yaml >out 2>err && echo "hello alone" >want && test_cmp want out &&
	has err "^pod/solo-[a-z0-9]* Succeeded after"
'

test_expect_success '-o json: what came of it on stdout, logs on stderr' '
	test_expect_code 1 muster run -o json bad.yaml >out.json 2>err &&
	jq_is ".state == \"Failed\" and .exitCode == 1 and (.jobs | length) == 1" out.json &&
	jq_is ".jobs[0] | .firstFailure.exitCode == 7 and .firstFailure.lastLines == [\"line one\", \"last words\"]" out.json &&
	jq_is ".jobs[0] | (.replicas | length) == 2 and .object.kind == \"TFJob\" and (.logs | test(\"/runs/bad-\"))" out.json &&
	has err "^.worker-[01]. line one" &&
	muster run -o yaml good.yaml 2>/dev/null >out.yaml && has out.yaml "^state: Succeeded"
'

test_expect_success 'two at once, of the same name, do not meet' '
	job twin 2 "echo begin; until test -e $space/go; do sleep 0.05; done; echo end" >twin.yaml &&
	{ muster run twin.yaml >out1 2>err1 & one=$!; } && { muster run twin.yaml >out2 2>err2 & two=$!; } &&
	background="$background $one $two" &&
	soon sh -c "test \$(cat out1 out2 | grep -c begin) = 4" && touch "$space/go" &&
	wait $one && wait $two && is 2 $(grep -c end out1) && is 2 $(grep -c end out2)
'

test_expect_success 'why nothing runs is said, once, in one sentence' '
	gpu=1 && job wants 3 "sleep 7$mark" >wants.yaml && gpu= &&
	begin --resources nvidia.com/gpu=1 --gang-scheduler-name none wants.yaml &&
	soon grep -q "needs 1 nvidia.com/gpu" err && soon running 7 1 && kill -INT $pid && { wait $pid; is 130 $?; } &&
	grep "needs 1 nvidia.com/gpu" err >told && is 1 $(wc -l <told) &&
	has told "^muster: worker-[0-9]\( and 1 more\)*: Pending: needs 1 nvidia.com/gpu, this machine has 1, 0 free; held by job default/wants (1)$"
'

test_expect_success 'a scheduler that is not there is named' '
	job gang 2 true | sed "s/^\( *\)containers:/\1schedulerName: another\n&/" >gang.yaml && grep -q another gang.yaml &&
	begin gang.yaml && soon grep "waits for the scheduler another" err && kill -INT $pid && { wait $pid; is 130 $?; } &&
	has err "^muster: worker-[01]\( and 1 more\)*: Pending: it waits for the scheduler another (spec.schedulerName); is it running?$"
'

test_expect_success 'an image that is not mapped, and nothing to run: what to do about it' '
	cat >unmapped.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: unmapped}
	spec: {restartPolicy: Never, containers: [{name: main, image: example.com/trainer}]}
	END
	begin unmapped.yaml &&
	soon grep -q "ImageNotMapped.*example.com/trainer" err && kill -INT $pid && { wait $pid; is 130 $?; } &&
	is 1 $(grep -c "^muster: .*ImageNotMapped" err)
'

test_expect_success 'a reader that goes away does not end the job' '
	job chatty 1 "for i in 1 2 3 4 5 6 7 8 9; do echo line; sleep 0.05; done; echo done >$space/finished" >chatty.yaml &&
	{ muster run chatty.yaml 2>err; echo $? >code; } | head -n 1 >out &&
	is 0 "$(cat code)" && test -s "$space/finished"
'

# What is opened next would get the number that is free: the database, say.
test_expect_success 'without stdin, stdout or stderr' '
	timeout -k 5 120 muster run good.yaml >&- 2>err && has err "^tfjob/good Succeeded" &&
	timeout -k 5 120 muster run good.yaml >out 2>&- && is 3 "$(grep -c "hello from" out)" &&
	timeout -k 5 120 muster run good.yaml <&- >&- 2>&- &&
	test_expect_code 2 muster run - <&- 2>err && has err "cannot read <stdin>: Bad file descriptor"
'

if test_have_prereq ROOT && unshare -m true 2>/dev/null; then
	test_set_prereq MOUNTS
fi

test_expect_success MOUNTS 'shared, on files that are mounted noexec: no program complains of the library' '
	mkdir noexec && timeout -k 5 120 unshare -m sh -c "mount -t tmpfs -o noexec none noexec &&
		muster run --isolation shared --data noexec/data good.yaml && cat noexec/data/log" >out 2>err &&
	is 3 "$(grep -c "^.worker-[0-2]. hello from good" out)" && lacks out "ld[.]so" && has out "cannot load the preload library.*noexec"
'

test_expect_success '--keep: all is there for a later muster up' '
	muster run --keep good.yaml >out 2>err && has err "^  logs: $XDG_DATA_HOME/muster/logs/default/good" &&
	KUBECONFIG=$XDG_DATA_HOME/muster/kubeconfig muster logs good -i 0 >out 2>err &&
	is "hello from good-worker-0" "$(tail -n 1 out)" && has err "^muster: showing logs of good kept on this machine" &&
	test_expect_code 1 muster run --keep good.yaml 2>err &&
	has err "good.yaml:1:1: TFJob/good exists already and has ended; after .muster up --detach --data .*muster delete --data .* -n default tfjob/good. makes room"
'

test_expect_success 'with a muster up: used, and left as it was' '
	data=$XDG_DATA_HOME/muster && no_node= && start_muster &&
	muster get tfjob/good >out && has out Succeeded && muster delete tfjob/good --wait &&
	job visit 2 "echo ready; until test -e $space/leave; do sleep 0.05; done" >visit.yaml &&
	begin visit.yaml &&
	soon sh -c "test \$(grep -c ready out) = 2" && soon job_runs visit &&
	touch "$space/leave" && wait $pid && has err "^tfjob/visit Succeeded" "^  logs: $data/logs/default/visit" &&
	test_must_fail muster get tfjob/visit && muster run --keep good.yaml >out 2>err && muster get tfjob/good &&
	test_expect_code 1 muster run --data "$data" good.yaml 2>err &&
	has err "has ended; .muster delete --data $data -n default tfjob/good. makes room" &&
	test_expect_code 2 muster run --resources cpu=1 good.yaml 2>err && has err "muster up. runs on" &&
	test_expect_code 2 muster run -n other mixed.yaml 2>err && has err "is in namespace mine, but -n says other"
'

test_expect_success 'another.s job is followed, and goes on when we are interrupted' '
	kubectl create -f slow.yaml && soon running 7 2 && begin slow.yaml &&
	soon grep -q "tfjob/slow exists already: following it" err && kill -INT $pid && { wait $pid; is 130 $?; } &&
	has err "^muster: it existed before, and continues" && lacks err "stopping" && running 7 2 && muster delete slow --wait && soon gone 7
'

# told UID REASON: a warning, as late as can be, of a pod of that uid
told() {
	kubectl create -f - <<-END
	apiVersion: v1
	kind: Event
	metadata: {generateName: told-, namespace: default}
	involvedObject: {kind: Pod, name: visit-worker-0, namespace: default, uid: "$1"}
	type: Warning
	reason: $2
	message: told by hand
	lastTimestamp: "2100-01-01T00:00:00Z"
	END
}

test_expect_success 'warnings are of the pods of this job, not of a namesake' '
	rm "$space/leave" && told an-earlier-one NotMine && begin visit.yaml &&
	soon sh -c "test \$(grep -c ready out) = 2" && told another-one NotMine &&
	told "$(kubectl get pod visit-worker-0 -o jsonpath={.metadata.uid})" MineIndeed &&
	soon grep -q "^muster: worker-0: MineIndeed: told by hand" err && lacks err NotMine &&
	touch "$space/leave" && wait $pid
'

test_expect_success 'interrupted with --keep: suspended, to be gone on with' '
	begin --keep slow.yaml &&
	soon running 7 2 && kill -INT $pid && { wait $pid; is 130 $?; } && soon gone 7 &&
	kubectl get tfjob slow -o json >job.json && jq_is ".spec.runPolicy.suspend" job.json &&
	stop_muster && rm -rf "$space"
'

test_done
