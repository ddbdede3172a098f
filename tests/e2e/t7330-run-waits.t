#!/bin/sh
test_description='muster run: how long it waits, and for what'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

TERM=dumb
export TERM
mark=$((100000 + $$))

# pod NAME SPEC: a plain pod that does not restart
pod() {
	cat <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: $1}
	spec: {restartPolicy: Never, $2}
	END
}

begin() {
	: >out && : >err || return 1
	muster run "$@" >out 2>err &
	pid=$!
	background="$background $pid"
}

# gives_up FILE WORDS: with the usual timeout it would, too; here at once, so that the test is short
gives_up() {
	test_expect_code 1 timeout -k 5 120 muster run --pending-timeout 1ms "$1" >out 2>err || return 1
	shift && has err "$@"
}

test_expect_success 'more than the machine has: exit 1, what was asked, what there is, and what helps' '
	job big 2 true | sed "s/cpu: 10m/cpu: 4000/" >big.yaml &&
	gives_up big.yaml "^tfjob/big Failed after .*: worker-0 (and 1 more) needs \(4000\|8000\) CPUs, this machine has [^;]*; never fits.*: lower resources.requests.cpu in spec.tfReplicaSpecs.Worker.template.spec, or run with --resources cpu=\1$" && lacks err "^  logs: " &&
	run=$(muster ps -o json | jq -r ".runs[0].run") && test_expect_code 1 muster logs "$run" 2>err && is "muster: run $run has no logs: none of its replicas started" "$(cat err)" &&
	muster run --resources cpu=8001 big.yaml &&
	job fpga 1 true | sed "s/cpu: 10m}/cpu: 10m}, limits: {example.com\/fpga: 1}/" >fpga.yaml &&
	gives_up fpga.yaml "needs 1 example.com/fpga, this machine has none; never fits: remove resources.limits.example.com/fpga in "
'

test_expect_success 'a job of roles that do not decide its end has succeeded in all of them, and is not waited for' '
	job odd 2 true | sed "s/Worker:/Wrker:/" >odd.yaml &&
	gives_up odd.yaml "^tfjob/odd Failed after .*: all its replicas have succeeded, but none has a role that decides" "^  wrker-1  *Succeeded"
'

test_expect_success 'labels that no node has' '
	job sel 1 true | sed "s/^\( *\)containers:/\1nodeSelector: {disk: ssd}\n&/" >sel.yaml &&
	gives_up sel.yaml "cannot run on this machine: it does not have the labels disk=ssd: remove nodeSelector in spec.tfReplicaSpecs"
'

test_expect_success 'a queue that nobody can make' '
	job queue 1 true | sed "s/^spec:/&\n  runPolicy: {schedulingPolicy: {queue: nowhere}}/" >queue.yaml &&
	test_expect_code 1 timeout -k 5 120 muster run --gang-scheduler-name volcano --pending-timeout 1ms queue.yaml 2>err &&
	has err "^tfjob/queue Failed after .*: queue \"nowhere\" not found: add the Queue to the files, or remove spec.runPolicy.schedulingPolicy.queue$"
'

test_expect_success 'an image that is not mapped and no command' '
	pod img "containers: [{name: main, image: example.com/trainer}]" >img.yaml &&
	gives_up img.yaml "^pod/img Failed.*its image example.com/trainer is not mapped: add a command to spec.containers, or map the image"
'

test_expect_success 'objects that are not there: in variables, in volumes, and a claim' '
	pod env "containers: [{name: main, image: x, command: [\"true\"], envFrom: [{secretRef: {name: keys}}]}]" >env.yaml &&
	gives_up env.yaml "needs the Secret keys, which does not exist: add it to the files" &&
	pod vol "volumes: [{name: v, configMap: {name: conf}}], containers: [{name: main, image: x, command: [\"true\"], volumeMounts: [{name: v, mountPath: /v}]}]" >vol.yaml &&
	gives_up vol.yaml "needs the ConfigMap conf, which does not exist" &&
	pod pvc "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], containers: [{name: main, image: x, command: [\"true\"], volumeMounts: [{name: v, mountPath: /v}]}]" >pvc.yaml &&
	gives_up pvc.yaml "needs the PersistentVolumeClaim data, which does not exist" &&
	pod path "volumes: [{name: v, hostPath: {path: $space/none}}], containers: [{name: main, image: x, command: [\"true\"], volumeMounts: [{name: v, mountPath: /v}]}]" >path.yaml &&
	gives_up path.yaml "path cannot be started: hostPath $space/none does not exist on this machine: create it, or change volumes in spec"
'

test_expect_success 'the others of a run go on' '
	job fine 1 "echo fine" >fine.yaml &&
	test_expect_code 1 timeout -k 5 120 muster run --pending-timeout 1ms big.yaml fine.yaml >out 2>err &&
	has err "^tfjob/fine Succeeded" "^tfjob/big Failed" && has out "fine"
'

# The one GPU goes from one replica to the next.
test_expect_success 'what may come free is waited for' '
	gpu=1 && job turns 3 "echo ran" >turns.yaml && gpu= &&
	timeout -k 5 120 muster run --resources nvidia.com/gpu=1 --gang-scheduler-name none --pending-timeout 1ms turns.yaml >out 2>err &&
	is 3 "$(grep -c ran out)"
'

test_expect_success '--pending-timeout 0: for ever' '
	test_expect_code 124 muster run --pending-timeout 0 --timeout 3s sel.yaml 2>err && lacks err "remove nodeSelector"
'

# With the 50m that the original asks for, not one worker would fit.
test_expect_success 'many PyTorch workers that ask for nothing fit on a small machine' '
	cat >torch.yaml <<-END &&
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: torch}
	spec:
	  pytorchReplicaSpecs:
	    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: none, command: [sh, -c, "until test -e $space/done; do sleep 0.05; done"], volumeMounts: [{name: space, mountPath: $space}]}], volumes: [{name: space, hostPath: {path: $space}}]}}}
	    Worker: {replicas: 4, template: {spec: {containers: [{name: pytorch, image: none, command: [sh, -c, "echo here"]}]}}}
	END
	begin --resources cpu=40m torch.yaml && soon sh -c "test \$(grep -c here out) = 4" && touch "$space/done" && wait $pid &&
	has err "^pytorchjob/torch Succeeded" && lacks err "Insufficient"
'

# On this machine as it is. No worker ends before all 61 replicas run.
test_expect_success 'a PyTorchJob of 61 replicas that ask for nothing runs all of them at once' '
	rm -f "$space"/* && cat >many.yaml <<-END &&
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: many}
	spec:
	  pytorchReplicaSpecs:
	    Master: &master {replicas: 1, template: {spec: {containers: [{name: pytorch, image: none, command: [sh, -c, "touch $space/\$HOSTNAME; until test \$(ls $space | wc -l) = 61; do sleep 0.5; done"], volumeMounts: [{name: space, mountPath: $space}]}], volumes: [{name: space, hostPath: {path: $space}}]}}}
	    Worker: {<<: *master, replicas: 60}
	END
	{ muster run --timeout 4m many.yaml >out 2>err || { cat err >&2; false; }; } &&
	has err "^  61 replicas, all Succeeded" && lacks err "Insufficient" && rm -f "$space"/*
'

# leads NAME COMMAND: a job that has succeeded when its first worker has; the second runs COMMAND. A parameter server runs on.
leads() {
	cat <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1}
	spec:
	  runPolicy: {cleanPodPolicy: None}
	  tfReplicaSpecs:
	    PS: {replicas: 1, template: {spec: {containers: [{name: tensorflow, image: none, command: [sleep, "7$mark"]}]}}}
	    Worker:
	      replicas: 2
	      restartPolicy: Never
	      template:
	        spec:
	          volumes: [{name: space, hostPath: {path: $space}}]
	          containers:
	          - name: tensorflow
	            image: none
	            volumeMounts: [{name: space, mountPath: $space}]
	            command: [sh, -c, 'echo begun; case \$HOSTNAME in *-0) until test -e $space/begun; do sleep 0.05; done; exit;; esac; echo x >$space/begun; $2']
	END
}

# The second worker goes on when the job is seen to have succeeded, and not before.
test_expect_success 'a worker that still runs when the job has succeeded gets to its end; a parameter server does not count' '
	rm -f "$space"/* && leads last "until test -e $space/go; do sleep 0.05; done; echo last words" >last.yaml &&
	begin --linger 5m last.yaml && soon grep -q "^muster: succeeded; waiting up to 5m0s for 1 replica to end" err &&
	touch "$space/go" && wait $pid && has out "^.worker-1. last words" &&
	has err "^tfjob/last Succeeded" "^  worker-1 *Succeeded *0 " "^  ps-0 *Stopped "
'

test_expect_success '--linger limits that' '
	rm -f "$space"/* && leads short "exec sleep 7$mark" >short.yaml &&
	muster run --linger 1ms short.yaml >out 2>err && has err "^tfjob/short Succeeded" "^  worker-1 *Stopped "
'

test_expect_success 'muster get: replicas that fail again and again do not run, and their last exit is shown' '
	policy=OnFailure && job loops 2 "exit 139" >loops.yaml && policy= && begin loops.yaml &&
	soon sh -c "muster get | grep -q \"^tfjob/loops  *Running  *0/2  *0  *0  *[1-9][0-9]*  *139 (SIGSEGV) \"" &&
	soon grep -q "CrashLoopBackOff: exit code 139 (SIGSEGV); it is started again" err &&
	muster describe loops >said && has said " 139 (SIGSEGV)  " "exited with 139 (SIGSEGV), " &&
	kill -INT $pid && { wait $pid; is 130 $?; } && has err "^  worker-0  *Stopped  *139 (SIGSEGV) "
'

test_expect_success 'what an init container repeats is shown once, and counted' '
	pod init "initContainers: [{name: early, image: x, command: [sh, -c, \"for i in 1 2 3 4 5; do echo waiting for master; done; echo no; exit 1\"]}], containers: [{name: main, image: x, command: [\"true\"]}]" >init.yaml &&
	test_expect_code 1 timeout -k 5 120 muster run init.yaml >out 2>err && cat out &&
	is "1 4" "$(grep -c "waiting for master" out) $(sed -n "s/.*the line above was repeated \([0-9]*\) times.*/\1/p" out)" && has out "no$" &&
	dir=$(sed -n "s/^  logs: //p" err) && is 5 "$(grep -c "waiting for master" "$dir/init/0.early.log")"
'

test_expect_success 'muster down: the data directory is free when it returns, whatever its pods do' '
	job stays 2 "trap \"\" TERM; echo ready; while :; do sleep 7$mark; done" >stays.yaml &&
	for level in namespaces shared; do
		muster up --detach --data det --isolation $level --listen 127.0.0.1:0 >/dev/null &&
		kubectl --kubeconfig det/kubeconfig create -f stays.yaml &&
		soon sh -c "test \$(pgrep -fc \"^sleep 7$mark\") = 2" &&
		timeout -k 5 120 muster down --data det && test "$(pgrep -fc "^sleep 7$mark")" = 0 &&
		rm -rf det && test ! -e det || return 1
	done
'

test_expect_success 'muster down waits for a run whose pods take their time' '
	rm -f "$space"/* && job slow 1 "trap \"until test -e $space/go; do sleep 0.05; done; exit 0\" TERM; echo ready; while :; do sleep 0.1; done" | sed "s/Seconds: 30/Seconds: 600/" >slow.yaml &&
	begin --data det slow.yaml && soon grep -q ready out &&
	start muster down --data det 2>said && down=$! && soon grep -q "^muster: waiting for pid $pid to stop its pods" said &&
	touch "$space/go" && wait $down && { wait $pid; is 130 $?; }
'

test_expect_success 'with a muster up: a ConfigMap may come, and more than the machine has does not' '
	data=$XDG_DATA_HOME/muster && no_node= && start_muster &&
	gives_up big.yaml "needs \([0-9]*\) CPUs.*or start .muster up. with --resources cpu=\1$" &&
	begin --pending-timeout 1ms vol.yaml && soon grep -q FailedMount err &&
	kubectl create configmap conf --from-literal=a=b && wait $pid && has err "^pod/vol Succeeded" &&
	stop_muster
'

rm -rf "$space"
test_done
