#!/bin/sh
test_description='kubectl logs: what containers write, all of it, from where on, as it comes'
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2016 # $variables are for test_expect_success and for pods

no_node=

# pod NAME SCRIPT [RESTARTPOLICY [MORE OF THE POD, AS JSON MEMBERS]]: its container is called c.
pod() {
	jq -n --arg name "$1" --arg script "$2" --arg policy "${3:-Never}" --argjson more "{${4:-}}" '{
		apiVersion: "v1", kind: "Pod", metadata: {name: $name},
		spec: {restartPolicy: $policy, terminationGracePeriodSeconds: 1,
			containers: [{name: "c", image: "busybox", command: ["sh", "-c", $script]}]}
	} * $more' | kubectl create -f -
}

field() {
	kubectl get pod "$1" -o "jsonpath={$2}" 2>/dev/null
}

field_is() {
	test "$(field "$1" "$2")" = "$3"
}

becomes() {
	soon field_is "$@" || { kubectl get pod "$1" -o json >&2; return 1; }
}

# let POD: what waits in its container goes on; its end may come before the word of touch's.
waits='while ! test -e /tmp/let; do sleep 0.1; done'
let() {
	muster exec "$1" -- touch /tmp/let
}

# refused MESSAGE QUERY: the log of pod `short` is not given, and this is why.
refused() {
	api "/api/v1/namespaces/default/pods/short/log?$2" >out && is "$1" "$(jq -r .message out)"
}

test_expect_success 'start' 'start_muster && kubectl config set-context --current --namespace=default'

test_expect_success 'both streams, in full, when it has ended' '
	pod short "echo one; echo two >&2; printf three" && becomes short .status.phase Succeeded &&
	kubectl logs short >out && printf "one\ntwo\nthree" | sort >want && sort out >got && test_cmp want got
'

test_expect_success 'the last lines, so many bytes, with times' '
	pod five "for i in 1 2 3 4 5; do echo line \$i; done" && becomes five .status.phase Succeeded &&
	printf "line 4\nline 5\n" >want && kubectl logs five --tail 2 >out && test_cmp want out &&
	kubectl logs five --tail 0 >out && test_must_be_empty out &&
	is "line 1|li" "$(kubectl logs five --limit-bytes 9 | tr "\n" "|")" &&
	kubectl logs five --timestamps --tail 1 >out &&
	has out "^20[0-9-]*T[0-9:]*\.[0-9]*Z line 5$"
'

test_expect_success 'what is not older' '
	kubectl logs five --since 1h >out && is 5 "$(wc -l <out)" &&
	kubectl logs five --since-time 2100-01-01T00:00:00Z >out && test_must_be_empty out &&
	pod slow "echo old; sleep 0.5; echo new" && becomes slow .status.phase Succeeded &&
	at=$(kubectl logs slow --timestamps | sed -n "s/ new//p") &&
	api "/api/v1/namespaces/default/pods/slow/log?sinceTime=$at" >out && is new "$(cat out)" &&
	api "/api/v1/namespaces/default/pods/slow/log?sinceTime=$at&tailLines=0" >out && test_must_be_empty out
'

cat >two.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}, "spec": {"restartPolicy": "Never",
 "initContainers": [{"name": "i", "image": "x", "command": ["echo", "first"]}],
 "containers": [{"name": "a", "image": "x", "command": ["echo", "from a"]},
  {"name": "b", "image": "x", "command": ["echo", "from b"]}]}}
END
test_expect_success 'of several containers one is to be named' '
	kubectl create -f two.json && becomes two .status.phase Succeeded &&
	is "from b" "$(kubectl logs two -c b)" && is first "$(kubectl logs two -c i)" &&
	api /api/v1/namespaces/default/pods/two/log >out && jq_is ".code == 400 and .reason == \"BadRequest\"" out &&
	is "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [i]" \
		"$(jq -r .message out)" &&
	api "/api/v1/namespaces/default/pods/two/log?container=z" >out &&
	is "container z is not valid for pod two" "$(jq -r .message out)" &&
	kubectl logs two --all-containers >out && has out "^first" "^from a" "^from b"
'

test_expect_success 'a container that waits has none yet, and that is said' '
	pod blocked "echo late" Never "\"spec\": {\"initContainers\":
		[{\"name\": \"i\", \"image\": \"x\", \"command\": [\"sleep\", \"1000\"]}]}" &&
	becomes blocked ".status.initContainerStatuses[0].state.running.startedAt" "$(
		soon sh -c "kubectl get pod blocked -o jsonpath={.status.initContainerStatuses[0].state.running.startedAt} | grep ." >at && cat at)" &&
	test_must_fail kubectl logs blocked -c c 2>err &&
	has err "(BadRequest): container \"c\" in pod \"blocked\" is waiting to start: PodInitializing$" &&
	test_must_fail kubectl logs short -p 2>err &&
	has err "(BadRequest): previous terminated container \"c\" in pod \"short\" not found$" &&
	test_must_fail kubectl logs nobody 2>err && has err "(NotFound): pods \"nobody\" not found" &&
	kubectl delete pod blocked --now
'

test_expect_success 'a pod without a node has an empty one' '
	pod nowhere true Never "\"spec\": {\"nodeSelector\": {\"no\": \"such\"}}" &&
	kubectl logs nowhere >out && test_must_be_empty out && kubectl delete pod nowhere --now
'

test_expect_success 'options that make no sense' '
	refused "PodLogOptions \"short\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0" tailLines=-1 &&
	refused "PodLogOptions \"short\" is invalid: limitBytes: Invalid value: 0: must be greater than 0" limitBytes=0 &&
	refused "PodLogOptions \"short\" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0" sinceSeconds=0 &&
	api "/api/v1/namespaces/default/pods/short/log?tailLines=x" -o out -w "%{http_code}" >code && is 400 "$(cat code)" &&
	has out "parsing .*x.*: invalid syntax" &&
	api "/api/v1/namespaces/default/pods/short/log?sinceSeconds=99999999999999999999" >out &&
	jq_is ".code == 400 and (.message | endswith(\": value out of range\"))" out
'

test_expect_success 'what is not served is said to be so' '
	api /api/v1/namespaces/default/pods/short/proxy/ >out &&
	jq_is ".code == 501 and .message == \"pods/proxy is not served here; pods/portforward is\"" out &&
	for target in short:80/proxy/ http:short:80/proxy/ short/proxy/a/b; do
		api "/api/v1/namespaces/default/pods/$target" >out && jq_is ".code == 501" out || return 1
	done &&
	api /api/v1/namespaces/default/pods/nobody/proxy/ >out && jq_is ".code == 404" out
'

cat >again.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "again"}, "spec": {"restartPolicy": "OnFailure",
 "terminationGracePeriodSeconds": 1, "volumes": [{"name": "v", "emptyDir": {}}],
 "containers": [{"name": "c", "image": "x", "volumeMounts": [{"name": "v", "mountPath": "$PWD/flag"}],
  "command": ["sh", "-c", "cd '$PWD/flag'; test ! -e it || { echo second; sleep 1000; }; echo first; >it; exit 1"]}]}}
END
test_expect_success 'of the run before a restart, and of each attempt' '
	mkdir flag && kubectl create -f again.json && soon sh -c "kubectl logs again | grep second" &&
	is first "$(kubectl logs again -p)" &&
	is first "$(api "/api/v1/namespaces/default/pods/again/log?attempt=0")" &&
	is second "$(api "/api/v1/namespaces/default/pods/again/log?attempt=1")" &&
	test -s "$data/logs/default/again/again/0.log" && test -s "$data/logs/default/again/again/1.log" &&
	kubectl delete pod again --now
'

test_expect_success 'followed: from its start to its end, as it comes' '
	pod told "echo begun; $waits; echo over; exit 3" &&
	soon sh -c "kubectl logs told | grep begun" &&
	start timeout 300 kubectl logs -f told >followed && follower=$! &&
	soon grep -q begun followed && lacks followed over &&
	{ let told || :; } && wait "$follower" && printf "begun\nover\n" >want && test_cmp want followed
'

test_expect_success 'followed from now on, until nobody reads' '
	pod ticks "while echo tick; do sleep 0.1; done" && becomes ticks .status.phase Running &&
	timeout 200 kubectl logs -f --tail 0 ticks | head -n 3 >out && is 3 "$(grep -c tick out)"
'

test_expect_success 'of a pod that is deleted meanwhile, until its end' '
	start timeout 300 kubectl logs -f ticks >followed && follower=$! && soon grep -q tick followed &&
	kubectl delete pod ticks && wait "$follower"
'

# 10 MB a file, 5 of them: of 64 MB the first are gone, the last are there, in one piece.
test_expect_success 'rotated by size: what is followed is whole, what is kept is limited' '
	pod much "$waits;
		awk '\''BEGIN { s = sprintf(\"%1000s\", \"\"); for (i = 1; i <= 60000; i++) print i s }'\''" &&
	becomes much .status.phase Running && start sh -c "timeout 300 kubectl logs -f much | cut -c 1-8 >followed" && follower=$! &&
	let much && becomes much .status.phase Succeeded && wait "$follower" &&
	is 60000 "$(tail -n 1 followed | tr -d " ")" &&
	dir=$data/logs/default/much/much && is 5 "$(ls "$dir" | grep -c "^0\.log")" &&
	for file in "$dir"/0.log*; do test "$(stat -c %s "$file")" -le 10500000 || return 1; done &&
	kubectl logs much | cut -c 1-8 | tr -d " " >kept && is 60000 "$(tail -n 1 kept)" &&
	first=$(head -n 1 kept) && test "$first" -gt 1 && seq "$first" 60000 >want && test_cmp want kept &&
	kubectl logs much --tail 20000 | cut -c 1-8 | tr -d " " >last && seq 40001 60000 >want && test_cmp want last
'

test_expect_success 'lines that are longer than any buffer come back as they were' '
	pod long "head -c 50000 /dev/zero | tr \"\\0\" x; echo; echo after" &&
	becomes long .status.phase Succeeded && is 50001 "$(kubectl logs long | head -n 1 | wc -c)" &&
	is after "$(kubectl logs long --tail 1)"
'

test_expect_success 'of a pod that is gone, by its uid' '
	uid=$(field five .metadata.uid) && kubectl delete pod five --now &&
	soon sh -c "! test -e $data/pods/$uid" &&
	api "/api/v1/namespaces/default/pods/five/log?uid=$uid" >out && is 5 "$(wc -l <out)" &&
	api "/api/v1/namespaces/default/pods/five/log?uid=../../$uid" >out && jq_is ".code == 404" out &&
	api "/api/v1/namespaces/default/pods/..%2F..%2Ffive/log?uid=$uid" >out && jq_is ".code == 404" out
'

test_expect_success 'by its name, as a job.s: kept in the directory that the kubeconfig is in' '
	muster logs five >out && is 5 "$(wc -l <out)" && is 2 "$(KUBECONFIG= muster logs --kubeconfig "$data/kubeconfig" five --tail 2 | wc -l)" &&
	is 1 "$(KUBECONFIG=none:$KUBECONFIG muster logs five --tail 1 | wc -l)" &&
	test_expect_code 1 muster logs nobody 2>err && has err "there is no job .nobody."
'

test_expect_success 'a pod of the same name writes to the next file' '
	pod five "echo again" && becomes five .status.phase Succeeded && is again "$(kubectl logs five)" &&
	test -s "$data/logs/default/five/five/0.log" && test -s "$data/logs/default/five/five/1.log" &&
	is 2 "$(grep -c "c\*" "$data/logs/default/five/five/index")"
'

test_expect_success 'a server that is killed and comes back goes on where it was' '
	pod stays "echo before; $waits; echo after; sleep 1000" &&
	soon sh -c "kubectl logs stays | grep before" && test_expect_code 137 stop_muster KILL && start_muster &&
	soon let stays && start timeout 300 kubectl logs -f stays >followed && follower=$! &&
	soon grep -q after followed && printf "before\nafter\n" >want && test_cmp want followed
'

test_expect_success 'stopping the server ends what is followed; what was kept can be read still' '
	stop_muster && wait "$follower" && muster logs stays >out 2>err && test_cmp want out && has err "showing logs of stays kept on this machine"
'

stop_muster
if unshare -Ur true 2>/dev/null; then
	test_set_prereq USERNS
fi
test_expect_success USERNS 'a log is followed also where there are no inotify instances left' '
	unshare -Ur sh -c "echo 0 >/proc/sys/user/max_inotify_instances && timeout 60 muster run --data bare --isolation shared --no-workdir -- sh -c \"echo one; sleep 0.5; echo two\"" >out 2>err &&
	printf "%s\n" one two >want && test_cmp want out
'

test_done
