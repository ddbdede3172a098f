#!/bin/sh
test_description='kubectl exec, cp and attach: programs in a container, over WebSocket and SPDY'
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2016 # $variables are for test_expect_success and for pods

no_node=

running() {
	test "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Running
}

# A sleep unlike anybody else's.
nap="sleep 8$$.25"
naps() {
	pgrep -c -fx "$nap"
	:
}
naps_is() {
	test "$(naps)" = "$1"
}

cat >box.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "box"}, "spec": {"terminationGracePeriodSeconds": 1,
 "containers": [{"name": "c", "image": "x", "env": [{"name": "GREETING", "value": "hello there"}],
  "command": ["sh", "-c", "echo ready; while ! test -e /tmp/tell; do sleep 0.1; done; while echo told; do sleep 0.1; done"]}]}}
END
cat >pair.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pair"}, "spec": {"restartPolicy": "Never",
 "containers": [{"name": "a", "image": "x", "command": ["true"]}, {"name": "b", "image": "x", "command": ["sleep", "1000"]}]}}
END
test_expect_success 'start, and pods to go into' '
	start_muster && kubectl config set-context --current --namespace=default &&
	kubectl create -f box.json -f pair.json &&
	soon running box && soon running pair &&
	soon sh -c "kubectl get pod pair -o jsonpath={.status.containerStatuses[0].state.terminated.reason} | grep Completed"
'

# kubectl 1.31 and newer speak WebSocket unless told otherwise; 1.30 has to be told, older ones cannot.
for wire in WebSocket SPDY; do

case $wire in
WebSocket) KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true can=KUBECTL_130 ;;
SPDY) KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false can= ;;
esac
export KUBECTL_REMOTE_COMMAND_WEBSOCKETS

test_expect_success "$can" "$wire: output, errors and the exit code" '
	test_expect_code 0 kubectl exec box -- true &&
	test_expect_code 3 kubectl exec box -- sh -c "echo out; echo err >&2; exit 3" >out 2>err &&
	is out "$(cat out)" && has err "^err$" "command terminated with exit code 3"
'

test_expect_success "$can" "$wire: in the container: its environment, its files" '
	is "hello there" "$(kubectl exec box -- sh -c "echo \$GREETING")" &&
	kubectl exec box -- sh -c "echo kept >/tmp/kept-$$" && is kept "$(kubectl exec box -- cat /tmp/kept-$$)"
'

test_expect_success "$can" "$wire: input, and its end" '
	is "some words|end" "$(echo some words | kubectl exec -i box -- sh -c "cat; echo end" | paste -sd "|")"
'

test_expect_success "$can" "$wire: much, both ways" '
	is 30000000 "$(timeout 300 kubectl exec box -- head -c 30000000 /dev/zero | wc -c)" &&
	is 30000000 "$(head -c 30000000 /dev/zero | timeout 300 kubectl exec -i box -- wc -c)"
'

test_expect_success "$can" "$wire: one that takes nothing does not fill our memory" '
	mkfifo slow-$wire && start sh -c "exec timeout 300 kubectl exec box -- head -c 200000000 /dev/zero >slow-$wire" && client=$! &&
	exec 8<slow-$wire && is hi "$(kubectl exec box -- echo hi)" && kubectl exec box -- sleep 1 &&
	{ test_have_prereq SANITIZED || test "$(awk "/VmRSS/ {print \$2}" "/proc/$muster_pid/status")" -lt 80000; } &&
	kill "$client" && exec 8<&-
'

echo 'tty; until test "$(stty size)" = "33 99"; do sleep 0.1; done; stty size; exit 5' >sized
test_expect_success "$can" "$wire: a terminal, with a size, and what it prints" '
	test_expect_code 5 timeout 300 script -qec "stty rows 33 cols 99; kubectl exec -it box -- sh -c \"\$(cat sized)\"" \
		/dev/null >out </dev/null && has out "/dev/pts/" "33 99"
'

test_expect_success "$can" "$wire: a program that is not there" '
	test_must_fail kubectl exec box -- no-such-program 2>err &&
	has err "Internal error occurred: error executing command in container: .*no-such-program.*not found"
'

test_expect_success "$can" "$wire: containers that do not run, or are not there" '
	test_must_fail kubectl exec pair -c a -- true 2>err && has err "container not found (\"a\")" &&
	test_must_fail kubectl exec pair -c z -- true 2>err && has err "container z is not valid for pod pair\|container not found" &&
	test_must_fail kubectl exec nobody -- true 2>err && has err "pods \"nobody\" not found"
'

test_expect_success "$can" "$wire: whoever leaves takes the program along" '
	start kubectl exec box -- sh -c "$nap; :" && client=$! && soon naps_is 1 &&
	kill -KILL "$client" && soon naps_is 0
'

test_expect_success "$can" "$wire: cp: there and back" '
	mkdir -p tree/sub && head -c 3000000 /dev/urandom >tree/blob && echo text >tree/sub/file &&
	timeout 300 kubectl cp tree box:/tmp/tree-$wire-$$ && timeout 300 kubectl cp box:/tmp/tree-$wire-$$ back-$wire &&
	cmp tree/blob back-$wire/blob && cmp tree/sub/file back-$wire/sub/file
'

done

test_expect_success 'requests that are none' '
	at=/api/v1/namespaces/default/pods/box/exec &&
	api "$at?command=true&stdout=1" >out && is "Upgrade request required" "$(jq -r .message out)" &&
	api "$at?stdout=1" >out && is "you must specify at least one command for the container" "$(jq -r .message out)" &&
	api "$at?command=true" >out && is "you must specify at least 1 of stdin, stdout, stderr" "$(jq -r .message out)" &&
	api "$at?command=true&stdout=1" -X POST -H "Connection: Upgrade" -H "Upgrade: SPDY/3.1" --http1.1 >out &&
	jq_is ".code == 400 and (.message | test(\"X-Stream-Protocol-Version must offer v4.channel.k8s.io\"))" out &&
	api "$at?command=true&stdout=1" --http1.1 -H "Connection: Upgrade" -H "Upgrade: websocket" \
		-H "Sec-WebSocket-Version: 13" -H "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==" \
		-H "Sec-WebSocket-Protocol: nonsense" >out && jq_is ".code == 400" out
'

test_expect_success 'muster exec: the same' '
	test_expect_code 4 muster exec box -- sh -c "echo via muster; exit 4" >out 2>err &&
	is "via muster" "$(cat out)" &&
	is word "$(echo word | muster exec -i box -- cat)"
'

test_expect_success KUBECTL_130 'attach: what the container writes from now on' '
	start sh -c "kubectl attach box >attached 2>/dev/null" && kubectl exec box -- touch /tmp/tell &&
	soon grep -q told attached
'

if /usr/bin/python3 -c 'import kubernetes' 2>/dev/null; then
	cat >py.json <<-END
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "py"}, "spec": {"terminationGracePeriodSeconds": 1,
		 "containers": [{"name": "c", "image": "x", "command": ["sh", "-c", "echo ready; sleep 1000"]}]}}
	END
	test_expect_success 'the Python client: streams, exit codes, input, a terminal, refusals, logs' '
		kubectl create -f py.json && soon running py && soon sh -c "kubectl logs py | grep ready" &&
		timeout 400 /usr/bin/python3 "$e2e/execs.py" "$KUBECONFIG" py >out && is 6 "$(grep -c ^ok out)"
	'
fi

test_expect_success KUBECTL_130 'the end of the pod is the end of what runs in it' '
	start sh -c "kubectl exec pair -c b -- sh -c \"$nap; :\"; echo \$? >code" && client=$! && soon naps_is 1 &&
	kubectl delete pod pair --now && wait "$client" && is 137 "$(cat code)" && soon naps_is 0
'

stop_muster
test_done
