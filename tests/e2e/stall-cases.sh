# Pods and jobs that make no progress, at any level of isolation and whoever they run as; sourced by
# t737*.t, which set both.
# shellcheck shell=sh disable=SC1091,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_node "$level" "$who"

# stalled POD STATUS: its condition.
stalled() {
	field_is "$1" '.status.conditions[?(@.type=="muster.dev/Stalled")].status' "$2"
}
becomes_stalled() {
	soon stalled "$1" "$2" || { kubectl get pod "$1" -o json >&2; return 1; }
}
where() {
	field "$1" '.status.conditions[?(@.type=="muster.dev/Stalled")].message'
}

# watched NAME SCRIPT: a pod that counts as stalled after two seconds.
watched() {
	pod "$1" "$2" >/dev/null && kubectl annotate pod "$1" muster.dev/stall-after=2s >/dev/null
}

# job NAME ANNOTATIONS ROLE=SCRIPT...: a TFJob, or a PyTorchJob if a role is Master; its pods see $notes.
job() {
	name=$1 annotations=$2 kind=TFJob specs=tfReplicaSpecs container=tensorflow roles=
	shift 2
	for role; do
		case $role in
		Master=*) kind=PyTorchJob specs=pytorchReplicaSpecs container=pytorch ;;
		esac
	done
	for role; do
		n=1
		case $role in
		Workers=*) n=2 ;;
		esac
		type=${role%%=*}
		roles=$(printf '%s' "${roles:-{\}}" | jq -c --arg type "${type%s}" --argjson n $n --arg script "${role#*=}" \
			--arg container $container --arg notes "$notes" '.[$type] = {replicas: $n, template: {spec: {
				volumes: [{name: "notes", hostPath: {path: $notes}}], terminationGracePeriodSeconds: 1,
				containers: [{name: $container, image: "x", command: ["sh", "-c", $script],
					volumeMounts: [{name: "notes", mountPath: $notes}]}]}}}')
	done
	jq -n --arg name "$name" --arg kind $kind --arg specs $specs --argjson annotations "$annotations" --argjson roles "$roles" \
		'{apiVersion: "kubeflow.org/v1", kind: $kind, metadata: {name: $name, annotations: $annotations}, spec: {($specs): $roles}}' \
		>"$name.json" && kubectl create -f "$name.json" >/dev/null
}

# told JOB REASON: an event of it.
told() {
	kubectl get events --field-selector "involvedObject.name=$1,reason=$2" -o json >events.json &&
		jq -e ".items | length > 0" events.json >/dev/null
}
ended() {
	test "$2" = "$(kubectl get tfjob "$1" -o json | jq -r '.status.conditions[]? | select(.status == "True") | .reason' | tail -1)"
}

# begin ARGS...: muster run in the background, its pid in $pid.
begin() {
	muster run --data "$data" --no-workdir "$@" >out 2>&1 &
	pid=$!
	background="$background $pid"
}

after='"muster.dev/stall-after": "2s"'
count='i=0; while :; do i=$((i+1)); echo $i; sleep 0.5; done'

test_expect_success 'a pod that waits is stalled; one that prints or computes is not' '
	watched prints "$count" && watched burns "while :; do :; done" && becomes prints .status.phase Running &&
	becomes burns .status.phase Running && watched sleeps "echo begun; exec sleep 9000" &&
	becomes_stalled sleeps True && where sleeps >said &&
	has said "^No output and no CPU use since 20[0-9T:-]*Z: sleep sleeps$" &&
	stalled prints "" && stalled burns "" &&
	soon told sleeps Stalled && jq_is ".items[0].type == \"Warning\" and .items[0].count == 1" events.json &&
	kubectl delete pod prints burns --grace-period=0 --force >/dev/null 2>&1
'

test_expect_success 'a pod without the annotation is not watched' '
	pod free "exec sleep 9000" >/dev/null && becomes free .status.phase Running &&
	watched later "exec sleep 9000" && becomes_stalled later True && stalled free "" &&
	kubectl annotate pod free muster.dev/stall-after=2s >/dev/null && becomes_stalled free True &&
	kubectl delete pod free later --grace-period=0 --force >/dev/null 2>&1
'

test_expect_success 'an annotation that is no time is told' '
	pod wrong "exec sleep 9000" >/dev/null && becomes wrong .status.phase Running &&
	kubectl annotate pod wrong muster.dev/stall-after=soon >/dev/null && soon told wrong InvalidAnnotation &&
	jq_is ".items[0].message | test(\"stall-after: .soon. is not a time such as 90s or 5m\")" events.json &&
	kubectl delete pod wrong --grace-period=0 --force >/dev/null 2>&1
'

# on_stall NAME HOW POLICY: a pod that stalls in its first run, and whose first run leaves a file.
on_stall() {
	pod "$1" "if test -e $notes/$1; then exit 0; fi; touch $notes/$1; exec sleep 9000" "$3" >/dev/null &&
		kubectl annotate pod "$1" "muster.dev/on-stall=$2" muster.dev/stall-after=2s >/dev/null
}

test_expect_success 'on-stall of a pod that has no controller: it fails, or its container is restarted' '
	on_stall fails fail Always && on_stall restarts restart OnFailure && on_stall never restart Never &&
	becomes fails .status.phase Failed && is Stalled "$(field fails .status.reason)" &&
	field fails .status.message >said && has said "^No output and no CPU use since .*: sleep sleeps$" &&
	becomes restarts .status.phase Succeeded && is 1 "$(field restarts ".status.containerStatuses[0].restartCount")" &&
	soon told never InvalidAnnotation && jq_is ".items[0].message | test(\"on-stall: restart has no effect .* Never$\")" events.json &&
	becomes_stalled never True && is Running "$(field never .status.phase)" &&
	kubectl delete pod fails restarts never --grace-period=0 --force >/dev/null 2>&1
'

test_expect_success 'output ends it' '
	mkfifo "$notes/go" && chmod 666 "$notes/go" &&
	watched wakes "read x <$notes/go; $count" && becomes_stalled wakes True && echo x >"$notes/go" &&
	becomes_stalled wakes False && is Progress "$(field wakes ".status.conditions[?(@.type==\"muster.dev/Stalled\")].reason")" &&
	kubectl delete pod wakes --grace-period=0 --force >/dev/null 2>&1
'

test_expect_success 'so does a program that is started in it, as those of MPI workers are' '
	{ muster exec sleeps -- sh -c "while :; do :; done" & } && exec=$! && becomes_stalled sleeps False &&
	kill $exec && kubectl delete pod sleeps --grace-period=0 --force >/dev/null 2>&1
'

test_expect_success 'a job is stalled, and names the peers that its replicas wait for' '
	job peers "{$after}" \
		"Master=exec python3 -c \"import socket, time; s = socket.socket(); s.bind((\\\"\\\", 23456)); s.listen(0); print(\\\"listens\\\", flush=True); time.sleep(9000)\"" \
		"Workers=exec python3 -c \"import socket, os; s = socket.socket(); print(\\\"dials\\\", flush=True); s.connect((os.environ[\\\"MASTER_ADDR\\\"], 23456)); s.recv(1)\"" &&
	soon told peers PyTorchJobStalled && jq -r ".items[].message" events.json >said &&
	has said "PyTorchJob peers is stalled: peers-master-0: No output and no CPU use since [0-9TZ:-]*: python3 sleeps;" \
		"peers-worker-[01]: No output and no CPU use since [0-9TZ:-]*: python3 is connecting to peers-master-0:23456" \
		"peers-worker-[01]: No output and no CPU use since [0-9TZ:-]*: python3 waits for data from peers-master-0:23456" &&
	is 1 "$(jq ".items | length" events.json)"
'

test_expect_success 'muster get says so, muster describe shows where they wait, and their last lines' '
	muster describe peers >said && sed -n "/^Stalled:/,/^$/p" said >part &&
	muster get peers >got && has got "^pytorchjob/peers  *Stalled  *3/3 " && has part "^  master-0: No output .*python3 sleeps$" "^  listens$" \
		"^  worker-[01]: .* is connecting to peers-master-0:23456$" "^  dials$" &&
	kubectl delete pytorchjob peers >/dev/null
'

test_expect_success 'a parameter server that waits does not make a job stalled' '
	job served "{$after}" "PS=exec sleep 9000" "Worker=$count" && becomes_stalled served-ps-0 True &&
	! told served TFJobStalled && muster describe served >said && ! grep -q "^Stalled:" said &&
	muster get served >said && has said "^tfjob/served  *Running " &&
	kubectl delete tfjob served >/dev/null
'

test_expect_success 'on-stall: fail ends the job' '
	job ends "{$after, \"muster.dev/on-stall\": \"fail\"}" "PS=exec sleep 9000" "Worker=echo begun; exec sleep 9000" &&
	soon ended ends TFJobStalled && soon told ends TFJobStalled &&
	jq_is ".items[0].message | test(\"^Job ends has failed because it was stalled: ends-ps-0: .*; ends-worker-0: .*sleep sleeps$\")" events.json &&
	soon sh -c "! kubectl get pod ends-worker-0 >/dev/null 2>&1" && kubectl delete tfjob ends >/dev/null
'

test_expect_success 'on-stall: restart makes its pods again' '
	job twice "{$after, \"muster.dev/on-stall\": \"restart\"}" \
		"Worker=if test -e $notes/once; then exit 0; fi; touch $notes/once; exec sleep 9000" &&
	soon ended twice TFJobSucceeded && told twice TFJobRestarting &&
	jq_is ".items[0].message == \"TFJob twice is restarting because it was stalled.\"" events.json &&
	kubectl delete tfjob twice >/dev/null
'

test_expect_success 'muster run says so once, with the last lines' '
	printf "%s\n" "{apiVersion: v1, kind: Pod, metadata: {name: hangs}, spec: {restartPolicy: Never," \
		"terminationGracePeriodSeconds: 1, containers: [{name: main, image: x, command: [sh, -c, \"echo first; echo last; exec sleep 9000\"]}]}}" \
		>"$place/home/hangs.yaml" &&
	begin --stall-after 2s "$place/home/hangs.yaml" && soon grep -q "^muster:   last" out && kubectl get pod hangs -o json >hangs.json &&
	jq_is ".metadata.annotations[\"muster.dev/stall-after\"] == \"2s\"" hangs.json &&
	is 1 "$(grep -c "^muster: pod/hangs: stalled: " out)" && is 0 "$(grep -c "Stalled:" out)" &&
	has out "^muster: hangs: No output and no CPU use since [0-9TZ:-]*: sleep sleeps; last lines:$" "^muster:   first$" &&
	kill $pid && test_expect_code 130 wait $pid
'

test_expect_success 'muster run watches for five minutes by default, and not with --stall-after 0' '
	printf "%s\n" "{apiVersion: v1, kind: Pod, metadata: {name: brief}, spec: {restartPolicy: Never," \
		"containers: [{name: main, image: x, command: [\"true\"]}]}}" >"$place/home/brief.yaml" &&
	muster run --data "$data" --no-workdir --keep "$place/home/brief.yaml" >out 2>&1 && kubectl get pod brief -o json >brief.json &&
	jq_is ".metadata.annotations[\"muster.dev/stall-after\"] == \"5m0s\"" brief.json && kubectl delete pod brief >/dev/null &&
	muster run --data "$data" --no-workdir --keep --stall-after 0 "$place/home/brief.yaml" >out 2>&1 && kubectl get pod brief -o json >brief.json &&
	jq_is ".metadata.annotations == null" brief.json
'

test_expect_success 'YAML that is printed has it if it was asked for' '
	muster run --print -- true >said && ! grep stall said &&
	muster run --print --stall-after 1h -- true >said && has said "muster.dev/stall-after: 1h0m0s"
'

node_cleanup
test_done
