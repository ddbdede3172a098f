# What every node has to do, at any level of isolation and whoever it runs as; sourced by t70*.t, which
# set both.
# shellcheck shell=sh disable=SC1091,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_node "$level" "$who"

test_expect_success 'muster up has a node, ready, at the level asked for, and a default class' '
	soon sh -c "kubectl get nodes --no-headers | grep -w Ready" &&
	is "$level" "$(kubectl get nodes -o "jsonpath={.items[0].metadata.labels.muster\.dev/isolation}")" &&
	soon kubectl get storageclass local-path && world >before
'

test_expect_success '!NAMESPACES' 'what this level does not keep apart is in the conditions of the node' '
	kubectl get node -o json >node.json &&
	jq_is ".items[0].status.conditions | any(.type == \"PrivateFiles\" and .status == \"False\" and (.message | test(\"readOnly\")))" node.json &&
	jq_is ".items[0].status.conditions | any(.type == \"SharedNetwork\" and .status == \"True\" and (.message | test(\"statically linked\")))" node.json
'

test_expect_success 'a pod runs: Succeeded, exit code, reason, times, log' '
	pod fine "echo to stdout; echo to stderr >&2" &&
	becomes fine .status.phase Succeeded && kubectl get pod fine -o json >fine &&
	jq_is ".status.containerStatuses[0].state.terminated | .exitCode == 0 and .reason == \"Completed\"" fine &&
	jq_is ".status.containerStatuses[0].state.terminated | .startedAt and .finishedAt and .containerID" fine &&
	jq_is ".status.containerStatuses[0] | .restartCount == 0 and .ready == false" fine &&
	jq_is ".status.podIP and .status.hostIP and .status.startTime and .spec.nodeName" fine &&
	printed fine >out && has out "^to stdout$" "^to stderr$" &&
	kubectl get pod fine | grep -w Completed
'

test_expect_success 'one that fails: Failed, its code, Error' '
	pod bad "exit 3" && becomes bad .status.phase Failed && kubectl get pod bad -o json >bad &&
	jq_is ".status.containerStatuses[0].state.terminated | .exitCode == 3 and .reason == \"Error\"" bad
'

test_expect_success 'its last words are its message' '
	pod wordy "echo why it failed >/dev/termination-log; exit 3" && becomes wordy .status.phase Failed &&
	is "why it failed" "$(field wordy ".status.containerStatuses[0].state.terminated.message")"
'

test_expect_success 'one that is killed: 137' '
	pod killed "kill -9 \$\$\$\$" && becomes killed .status.phase Failed &&
	is 137 "$(field killed ".status.containerStatuses[0].state.terminated.exitCode")"
'

cat >nowhere.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nowhere"}, "spec": {"restartPolicy": "Never",
 "containers": [{"name": "main", "image": "x", "command": ["no-such-program"]}]}}
END
test_expect_success 'no such program: told in the status and in an event' '
	kubectl create -f nowhere.json && becomes nowhere .status.phase Failed &&
	field nowhere ".status.containerStatuses[0].state.terminated.message" >out && has out no-such-program &&
	soon sh -c "kubectl get events | grep no-such-program"
'

# in_group UID FILE: what a file of the control group of the pod's processes says.
in_group() {
	find /sys/fs/cgroup -path "*/$1/pids.max" -execdir cat "$2" \; 2>/dev/null
}

test_expect_success 'log and condition say which limits are kept; a pod has at most 4096 processes where they are' '
	kubectl get node -o "jsonpath={.items[0].status.conditions[?(@.type==\"LimitsKept\")].message}" >kept &&
	has kept "^limits of cpu: .*; of memory: .*; of 4096 processes a pod: " &&
	has muster.log "msg=\"limits of pods\" cpu=.* memory=.* processes=" &&
	if grep "a pod: cgroup" kept; then
		pod counted "exec $(nap 7)" && runs_soon 1 "$(nap 7)" && uid=$(field counted .metadata.uid) &&
			is 4096 "$(in_group "$uid" pids.max)" && in_group "$uid" cgroup.procs >procs &&
			has procs "^$(pgrep -fx "$(nap 7)")$" && kubectl delete pod counted
	else
		has muster.log "processes=\"not kept\""
	fi
'

# confined NAME SCRIPT SECURITYCONTEXT: as pod, with that of its container, as JSON members.
confined() {
	jq -n --arg name "$1" --arg script "$2" --argjson context "{$3}" '{
		apiVersion: "v1", kind: "Pod", metadata: {name: $name}, spec: {restartPolicy: "Never", containers: [
			{name: "main", image: "busybox", command: ["sh", "-c", $script], securityContext: $context}]}
	}' | kubectl create -f -
}

test_expect_success 'a security setting that cannot be honoured: the pod fails, with the field and the reason' '
	pod labelled true Never "\"securityContext\": {\"seLinuxOptions\": {\"level\": \"s0\"}}" &&
	pod tuned true Never "\"securityContext\": {\"sysctls\": [{\"name\": \"kernel.msgmax\", \"value\": \"1\"}]}" &&
	becomes labelled .status.phase Failed && is UnsupportedSecurityContext "$(field labelled .status.reason)" &&
	is "seLinuxOptions of container main cannot be honoured on this node: muster does not set SELinux labels" \
		"$(field labelled .status.message)" &&
	soon sh -c "kubectl get events | grep UnsupportedSecurityContext.*pod/labelled" &&
	becomes tuned .status.reason SysctlForbidden && kubectl delete pod labelled tuned
'

test_expect_success 'system calls are filtered, escalation is forbidden, capabilities are dropped' '
	confined filtered "grep -E \"Seccomp:|NoNewPrivs\" /proc/self/status | cut -f2" "\"allowPrivilegeEscalation\": false" &&
	confined free "grep Seccomp: /proc/self/status | cut -f2" "\"seccompProfile\": {\"type\": \"Unconfined\"}" &&
	confined powerless "grep CapEff /proc/self/status | cut -f2" "\"capabilities\": {\"drop\": [\"ALL\"]}" &&
	for name in filtered free powerless; do becomes $name .status.phase Succeeded || return 1; done &&
	is 1,2 "$(printed filtered | paste -sd ,)" && is 0 "$(printed free)" && is 0000000000000000 "$(printed powerless)" &&
	kubectl delete pod filtered free powerless
'

test_expect_success NAMESPACES 'the machine is read-only where it is not hidden, and so is the root where asked' '
	confined kernel "for f in /proc/sys/kernel/core_pattern /sys/kernel/uevent_helper /proc/sysrq-trigger; do
		(: >>\$f) 2>/dev/null && echo \$f; done; ls /sys/class/net | xargs" "" &&
	confined fixed "touch /x 2>/dev/null || echo fixed; touch /dev/shm/x && echo shm" "\"readOnlyRootFilesystem\": true" &&
	pod tuned "cat /proc/sys/net/ipv4/tcp_syncookies" Never \
		"\"securityContext\": {\"sysctls\": [{\"name\": \"net.ipv4.tcp_syncookies\", \"value\": \"0\"}]}" &&
	for name in kernel fixed tuned; do becomes $name .status.phase Succeeded || return 1; done &&
	printed kernel >out && ! grep / out && has out "\<lo\>" && is fixed,shm "$(printed fixed | paste -sd ,)" &&
	is 0 "$(printed tuned)" && kubectl delete pod kernel fixed tuned
'

test_expect_success '!NAMESPACES' 'what needs namespaces is refused' '
	confined fixed true "\"readOnlyRootFilesystem\": true" && becomes fixed .status.phase Failed &&
	field fixed .status.message >out && has out "readOnlyRootFilesystem .*level shared" && kubectl delete pod fixed
'

cat >imageless.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "imageless"}, "spec": {"restartPolicy": "Never",
 "containers": [{"name": "main", "image": "example.org/trainer:1"}]}}
END
test_expect_success 'an image that says nothing here, and no command: ImageNotMapped, and the line to add' '
	kubectl create -f imageless.json &&
	becomes imageless ".status.containerStatuses[0].state.waiting.reason" ImageNotMapped &&
	field imageless ".status.containerStatuses[0].state.waiting.message" >out &&
	has out "example.org/trainer:1" "muster image map example.org/trainer --host"
'

test_expect_success 'mapped while it waits: it runs' '
	muster image map example.org/trainer --host --command "sh -c \"echo trained here\"" --data "$data" &&
	becomes imageless .status.phase Succeeded && is "trained here" "$(printed imageless)" &&
	muster image list --data "$data" >out && has out "^example.org/trainer  *this machine  *sh -c echo trained here$" &&
	test_expect_code 2 muster image map x --host --command "sh -c \"echo" --data "$data" &&
	test_expect_code 2 muster image map "" --host --data "$data" 2>err && has err "needs the name of an image" &&
	test_expect_code 2 muster image map x --venv /etc --data "$data" 2>err && has err "/etc is not a Python environment" &&
	muster image unmap example.org/trainer --data "$data" && kubectl delete pod imageless
'

cat >two-lines.json <<END
{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "two-lines"}, "spec": {
 "runPolicy": {"cleanPodPolicy": "None"}, "tfReplicaSpecs": {"Worker": {"restartPolicy": "Never", "template": {"spec": {
 "containers": [{"name": "tensorflow", "image": "none", "command": ["sh", "-c", "echo one; echo number two; exit 3"]}]}}}}}}
END
test_expect_success 'muster describe: every line of the replica that failed' '
	kubectl create -f two-lines.json && soon sh -c "muster get | grep two-lines.*Failed" &&
	muster describe two-lines >out && is "Its last lines:,  one,  number two" "$(tail -3 out | paste -sd ,)" &&
	kubectl delete tfjob two-lines
'

test_expect_success 'OnFailure: started again until it succeeds, in the same pod' '
	pod again "echo run >>$notes/count; test \$(wc -l <$notes/count) -ge 2" OnFailure &&
	becomes again .status.phase Succeeded && kubectl get pod again -o json >again &&
	jq_is ".status.containerStatuses[0] | .restartCount == 1 and .lastState.terminated.exitCode == 1" again &&
	is 2 "$(wc -l <"$notes/count")"
'

# It does for some seconds only: all that is said then is in the file seen.
backs_off() {
	kubectl get pod "$1" -o json >seen && jq -e ".status.containerStatuses[0].state.waiting.reason == \"CrashLoopBackOff\"" seen >/dev/null
}

test_expect_success 'Always: started again even when it succeeded; then it waits, and says so' '
	pod always "exit 0" Always && soon backs_off always && jq_is ".status.phase == \"Running\"" seen &&
	jq_is ".status.containerStatuses[0] | .restartCount > 0 and .lastState.terminated.reason == \"Completed\"" seen &&
	kubectl delete pod always
'

test_expect_success 'N1: children that left their session die with the pod' '
	pod leavers "(setsid $(nap 1) &); (setsid sh -c \"$(nap 1) & $(nap 1)\" &); exec $(nap 2)" &&
	runs_soon 1 "$(nap 2)" && runs_soon 3 "$(nap 1)" &&
	kubectl delete pod leavers && runs_soon 0 "$(nap 1)" && runs_soon 0 "$(nap 2)"
'

test_expect_success 'N1: and with a container that ends by itself' '
	pod left "(setsid $(nap 3) &); exit 0" && becomes left .status.phase Succeeded && runs_soon 0 "$(nap 3)"
'

test_expect_success 'deletion gives grace, and what it prints in it is kept' '
	pod polite "trap \"echo bye; exit 0\" TERM; echo ready; while :; do sleep 0.05; done" &&
	soon sh -c "grep -rqw ready $data/logs/default/polite" &&
	kubectl delete pod polite --grace-period=30 && printed polite >out && has out "^bye$"
'

test_expect_success 'one that will not go is killed when its grace is over' '
	pod stubborn "trap \"\" TERM; while :; do $(nap 4); done" && runs_soon 1 "$(nap 4)" &&
	kubectl delete pod stubborn --grace-period=1 && runs_soon 0 "$(nap 4)"
'

test_expect_success 'N1: muster killed with -9: pods run on, the next one takes them over, none twice' '
	pod stays "echo run >>$notes/stays; exec $(nap 5)" &&
	pod ends "while ! test -e $notes/go; do sleep 0.05; done; exit 5" &&
	becomes stays .status.phase Running && becomes ends .status.phase Running && runs_soon 1 "$(nap 5)" &&
	pid=$(pgrep -fx "$(nap 5)") && uid=$(field stays .metadata.uid) &&
	{ stop_muster KILL; true; } && is 1 "$(runs "$(nap 5)")" &&
	touch "$notes/go" &&
	again && becomes ends .status.phase Failed &&
	is 5 "$(field ends ".status.containerStatuses[0].state.terminated.exitCode")" &&
	is Running "$(field stays .status.phase)" && is "$uid" "$(field stays .metadata.uid)" &&
	is 0 "$(field stays ".status.containerStatuses[0].restartCount")" &&
	is "$pid" "$(pgrep -fx "$(nap 5)")" && is 1 "$(wc -l <"$notes/stays")"
'

test_expect_success 'N1: what was taken over is minded: its end is seen, its restarts go on' '
	pod minded "echo run >>$notes/minded; exec $(nap 6)" OnFailure &&
	runs_soon 1 "$(nap 6)" && becomes minded .status.phase Running && { stop_muster KILL; true; } && again &&
	pkill -KILL -fx "$(nap 6)" && becomes minded ".status.containerStatuses[0].restartCount" 1 &&
	runs_soon 1 "$(nap 6)" && is 2 "$(wc -l <"$notes/minded")" && kubectl delete pod minded stays &&
	runs_soon 0 "$(nap 5)" && runs_soon 0 "$(nap 6)"
'

test_expect_success 'N1: pods deleted while no node was there do not run on' '
	pod orphan "exec $(nap 7)" && runs_soon 1 "$(nap 7)" && { stop_muster KILL; true; } &&
	no_node="--no-node --no-scheduler" && start_muster && kubectl delete pod orphan --force --grace-period=0 && stop_muster &&
	no_node= && is 1 "$(runs "$(nap 7)")" && again && runs_soon 0 "$(nap 7)"
'

test_expect_success 'a clean stop ends what pods run, soon; the next start tells how, and restarts' '
	pod never "exec $(nap 8)" && pod onfailure "exec $(nap 9)" OnFailure &&
	pod deaf "trap \"\" TERM; while :; do $(nap 10); done" &&
	becomes never .status.phase Running && becomes onfailure .status.phase Running && runs_soon 1 "$(nap 10)" &&
	stop_muster && runs_soon 0 "$(nap 8)" && runs_soon 0 "$(nap 9)" && runs_soon 0 "$(nap 10)" &&
	again && becomes never .status.phase Failed &&
	is 143 "$(field never ".status.containerStatuses[0].state.terminated.exitCode")" &&
	becomes deaf .status.phase Failed &&
	becomes onfailure ".status.containerStatuses[0].restartCount" 1 && runs_soon 1 "$(nap 9)"
'

for i in 1 2; do
	cat <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: conf$i}
data: {name: "number $i"}
---
apiVersion: v1
kind: Pod
metadata: {name: conf$i}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: x
    command: [sh, -c, "cat /etc/muster-e2e-$$/name && while ! test -e $notes/conf; do sleep 0.05; done"]
    volumeMounts: [{name: c, mountPath: /etc/muster-e2e-$$}, {name: notes, mountPath: $notes}]
  volumes: [{name: c, configMap: {name: conf$i}}, {name: notes, hostPath: {path: $notes}}]
---
END
done >conf.yaml
test_expect_success 'pods that run at once have different files at the same place' '
	kubectl create -f conf.yaml && becomes conf1 .status.phase Running && becomes conf2 .status.phase Running &&
	touch "$notes/conf" && becomes conf1 .status.phase Succeeded && becomes conf2 .status.phase Succeeded &&
	is "number 1" "$(printed conf1)" && is "number 2" "$(printed conf2)"
'

test_expect_success NAMESPACES,AS_ROOT 'what root changes of the system in a pod is gone with it' '
	pod litter "touch /usr/e2e-$$ /e2e-$$ && mkdir -p /var/cache/e2e-$$ /no/such/dir && ls /usr/e2e-$$" &&
	becomes litter .status.phase Succeeded && test_must_fail ls -d /usr/e2e-$$ /e2e-$$ /var/cache/e2e-$$ 2>err &&
	is 3 "$(wc -l <err)"
'

test_expect_success 'a hostPath that is not there is waited for, with a reason; it is not made' '
	pod absent "cat /e2e-absent-$$/word" Never "\"volumes\": [{\"name\": \"notes\", \"hostPath\": {\"path\": \"$notes/absent\"}}]" &&
	becomes absent ".status.containerStatuses[0].state.waiting.reason" HostPathMissing &&
	field absent ".status.containerStatuses[0].state.waiting.message" >out && has out "$notes/absent does not exist" &&
	test ! -e "$notes/absent" && mkdir "$notes/absent" && becomes absent .status.phase Failed && kubectl delete pod absent
'

test_expect_success 'a workingDir that is not there is made for the pod alone, and an event says so' '
	pod astray "pwd" Never "\"containers\": [{\"name\": \"main\", \"image\": \"x\", \"workingDir\": \"$notes/no/where\", \"command\": [\"sh\", \"-c\", \"pwd; ls -A\"]}]" &&
	becomes astray .status.phase Succeeded && is "$notes/no/where" "$(printed astray)" && soon test ! -e "$notes/no" &&
	soon sh -c "kubectl get events | grep \"WorkingDirMissing.*pod/astray .*$notes/no/where\""
'

test_expect_success 'a workingDir below /tmp that is the user'\''s is that directory' '
	mine=$(mktemp -d /tmp/muster-mine.XXXXXX) && chown --reference="$place/home" "$mine" &&
	pod mine "echo x" Never "\"containers\": [{\"name\": \"main\", \"image\": \"x\", \"workingDir\": \"$mine\", \"command\": [\"sh\", \"-c\", \"echo kept >file\"]}]" &&
	becomes mine .status.phase Succeeded && is kept "$(cat "$mine/file")" && rm -rf "$mine"
'

# A home below /tmp is not seen in pods, whose /tmp is their own.
case $HOME in
/tmp/*) ;;
*) test_set_prereq HOME_SEEN ;;
esac
test_expect_success NAMESPACES,HOME_SEEN 'what a pod writes to a home is gone with it, and what is there can be read' '
	if test_have_prereq AS_ROOT; then home=$HOME; else home=$place/home; fi &&
	test True = "$(kubectl get node -o jsonpath="{.items[0].status.conditions[?(@.type==\"PrivateFiles\")].status}")" &&
	echo mine >"$home/e2e-$$" && chown --reference="$home" "$home/e2e-$$" &&
	pod dweller "cd && cat e2e-$$ && echo more >>e2e-$$ && echo new >new-$$ && cat ./*-$$ && ls -A $data" &&
	becomes dweller .status.phase Succeeded && printf "%s\n" mine mine more new >expect &&
	printed dweller >actual && test_cmp expect actual && is mine "$(cat "$home/e2e-$$")" && test ! -e "$home/new-$$"
'

cat >other.yaml <<END
apiVersion: v1
kind: Secret
metadata: {name: sesame}
stringData: {word: open}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec:
  restartPolicy: Never
  securityContext: {runAsUser: 4711, runAsGroup: 4712}
  containers:
  - name: main
    image: x
    command: [sh, -c, 'id -u && cat /e2e-word-$$/word && echo && tmp=\${TMPDIR:-/tmp} && echo x >\$tmp/file && cat \$tmp/file &&
      echo y >/e2e-empty-$$/file && cat /e2e-empty-$$/file && echo bye >/dev/termination-log && while ! test -e $notes/other; do sleep 0.1; done &&
      cat /e2e-word-$$/word']
    volumeMounts: [{name: word, mountPath: /e2e-word-$$}, {name: empty, mountPath: /e2e-empty-$$}, {name: notes, mountPath: $notes}]
  volumes: [{name: word, secret: {secretName: sesame}}, {name: empty, emptyDir: {}}, {name: notes, hostPath: {path: $notes}}]
END
stranger() { # COMMAND...: as neither root nor the pod's user
	setpriv --reuid=4713 --regid=4713 --clear-groups "$@"
}
test_expect_success AS_ROOT 'a pod of another user reaches its own files, and nobody else does' '
	kubectl create -f other.yaml && becomes other .status.phase Running && within 60 grep -q "F y" "$data"/logs/default/other/other/0.log &&
	dir=$data/pods/$(field other .metadata.uid) && words=$(find "$data/pods" -name word) && test -n "$words" &&
	{ stranger find "$data" >found 2>/dev/null; ! grep -e /token -e /kubeconfig -e /logs/ found; } &&
	{ stranger cat "$data/token" "$data/kubeconfig" "$dir"/volumes/word/word "$dir"/account/token "$dir"/kubeconfig >found 2>/dev/null; test ! -s found; } &&
	{ stop_muster KILL; again; } && becomes other .status.phase Running && touch "$notes/other" &&
	becomes other .status.phase Succeeded && printf "%s\n" 4711 open x y open >expect &&
	printed other >actual && test_cmp expect actual && is bye "$(field other ".status.containerStatuses[0].state.terminated.message")"
'

test_expect_success 'a pod that keeps more on disk than it may is evicted' '
	pod hoarder "head -c 9000000 /dev/zero >\${TMPDIR:-/tmp}/file; $(nap 14)" &&
	kubectl get pod hoarder -o json | jq "del(.metadata, .status, .spec.nodeName) | .metadata.name = \"greedy\" |
		.spec.containers[0].resources.limits[\"ephemeral-storage\"] = \"1Mi\"" >greedy.json &&
	kubectl create -f greedy.json && becomes greedy .status.phase Failed && is Evicted "$(field greedy .status.reason)" &&
	field greedy .status.message >out && has out "ephemeral local storage usage exceeds the total limit of containers 1Mi" &&
	soon sh -c "kubectl get events | grep \"Evicted .*pod/greedy\"" && becomes hoarder .status.phase Running && runs_soon 1 "$(nap 14)"
'

job() { # KIND SPECS CONTAINER ROLE=REPLICAS...
	kind=$1 specs=$2 container=$3
	shift 3
	cat <<-END
		apiVersion: kubeflow.org/v1
		kind: $kind
		metadata: {name: $(echo "$kind" | tr "[:upper:]" "[:lower:]")}
		spec:
		  runPolicy: {cleanPodPolicy: Running}
		  $specs:
	END
	for role; do
		script='exit 0'
		case $kind-$role in TFJob-PS* | MPIJob-Worker*) script="exec $(nap 11)" ;; esac
		cat <<-END
			    ${role%=*}:
			      replicas: ${role#*=}
			      restartPolicy: Never
			      template: {spec: {containers: [{name: $container, image: x, command: [sh, -c, "$script"]}]}}
		END
	done
	echo ---
}
{
	job TFJob tfReplicaSpecs tensorflow Worker=2 PS=1
	job PyTorchJob pytorchReplicaSpecs pytorch Master=1 Worker=2
	job XGBoostJob xgbReplicaSpecs xgboost Master=1 Worker=1
	job PaddleJob paddleReplicaSpecs paddle Worker=2
	job JAXJob jaxReplicaSpecs jax Worker=2
	job MPIJob mpiReplicaSpecs mpi Launcher=1 Worker=2
} >jobs.yaml

test_expect_success 'a job of each kind succeeds, and what it leaves running is cleaned up' '
	kubectl create -f jobs.yaml >made && is "$(grep -c ^kind jobs.yaml)" "$(wc -l <made)" &&
	for job in $(sed "s/ created//" made); do
		kubectl wait --for=condition=Succeeded --timeout=300s "$job" || return 1
	done &&
	runs_soon 0 "$(nap 11)"
'

# The last to go is the process that cleared away.
world_is() {
	world >after && cmp "$1" after
}

test_expect_success 'N2: once all is deleted, nothing is left: process, mount, file' '
	sed "s/ created//" made | xargs kubectl delete && kubectl delete pods --all &&
	soon sh -c "test -z \"\$(ls -A \"$data/pods\")\"" && { soon world_is before || test_cmp before after; }
'

# What it told to end needs a moment for that.
nothing_runs() {
	test -z "$(pgrep -f "$data")"
}

test_expect_success 'and when muster has stopped, nothing at all' '
	stop_muster && { soon nothing_runs || { pgrep -a -f "$data" >&2; return 1; }; }
'

node_cleanup
test_done
