# kubectl port-forward, at the level of isolation that the t72*.t which source this set.
# shellcheck shell=sh disable=SC1091,SC2034,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_node "$level" "${who:-root}"

# forward FILE WHAT PORT...: kubectl's words into the file; returns when it listens.
forward() {
	words=$1
	shift
	start kubectl port-forward --address 127.0.0.1 "$@" >"$words" 2>&1 && forward_pid=$! &&
		within 100 grep -q Forwarding "$words"
}

# at FILE REMOTEPORT [PATH]: where it is forwarded from.
at() {
	echo "http://$(sed -n "s/Forwarding from \(.*\) -> $2\$/\1/p" "$1")/$3"
}

ask() {
	curl -sS -m 100 "$@"
}

listens() {
	kubectl logs web | grep -q listening
}

test_expect_success 'a pod that listens on localhost' '
	jq -n --rawfile server "$e2e/forward_server.py" "{apiVersion: \"v1\", kind: \"Pod\",
		metadata: {name: \"web\", labels: {app: \"web\"}}, spec: {terminationGracePeriodSeconds: 0,
		containers: [{name: \"main\", image: \"python\", command: [\"python3\", \"-c\", \$server]}]}}" |
		kubectl create -f - &&
	jq -n "{apiVersion: \"v1\", kind: \"Service\", metadata: {name: \"web\"},
		spec: {selector: {app: \"web\"}, ports: [{port: 80, targetPort: 7002}]}}" | kubectl create -f - &&
	becomes web .status.phase Running && within 100 listens
'

# kubectl 1.31 and newer carry it in a WebSocket unless told otherwise; 1.30 has to be told, older ones cannot.
for wire in WebSocket SPDY; do

case $wire in
WebSocket) KUBECTL_PORT_FORWARD_WEBSOCKETS=true can=KUBECTL_130 ;;
SPDY) KUBECTL_PORT_FORWARD_WEBSOCKETS=false can= ;;
esac
export KUBECTL_PORT_FORWARD_WEBSOCKETS

test_expect_success "$can" "$wire: several ports" '
	forward two-$wire pod/web :7001 :7002 &&
	is "port 7001" "$(ask "$(at two-$wire 7001)")" && is "port 7002" "$(ask "$(at two-$wire 7002)")"
'

test_expect_success "$can" "$wire: much, both ways, and many at once" '
	is 20000000 "$(ask "$(at two-$wire 7001 20000000)" | wc -c)" &&
	head -c 20000000 /dev/zero >much && is 20000000 "$(ask --data-binary @much "$(at two-$wire 7001)")" &&
	curl -sS -m 100 --parallel --parallel-immediate --parallel-max 40 "$(at two-$wire 7001 "1000?[1-40]")" >many &&
	is 40000 "$(wc -c <many)"
'

test_expect_success "$can" "$wire: who takes nothing does not fill our memory, nor stop others" '
	start curl -sS --limit-rate 1k -o slow-$wire "$(at two-$wire 7001 300000000)" && slow=$! && within 100 test -s slow-$wire &&
	forward other-$wire pod/web :7001 && is "port 7001" "$(ask "$(at other-$wire 7001)")" &&
	{ test_have_prereq SANITIZED || test "$(awk "/VmRSS/ {print \$2}" "/proc/$muster_pid/status")" -lt 80000; } &&
	kill "$slow"
'

test_expect_success "$can" "$wire: a port that nobody listens on" '
	forward none-$wire pod/web :7009 && test_must_fail ask "$(at none-$wire 7009)" &&
	within 100 grep -q "error forwarding port 7009 to pod web, uid .*: failed to connect to localhost:7009 inside the pod: connection refused" none-$wire
'

done

test_expect_success 'a service' '
	forward service svc/web :80 && is "port 7002" "$(ask "$(at service 7002)")"
'

test_expect_success 'requests that are none' '
	at=/api/v1/namespaces/default/pods/web/portforward &&
	api "$at" >out && is "Upgrade request required" "$(jq -r .message out)" &&
	api "$at" -X POST -H "Connection: Upgrade" -H "Upgrade: SPDY/3.1" --http1.1 >out &&
	jq_is ".code == 400 and (.message | test(\"X-Stream-Protocol-Version must offer portforward.k8s.io\"))" out &&
	ws="-H Connection:Upgrade -H Upgrade:websocket -H Sec-WebSocket-Version:13 -H Sec-WebSocket-Key:AAAAAAAAAAAAAAAAAAAAAA==" &&
	api "$at" --http1.1 $ws -H "Sec-WebSocket-Protocol: nonsense" >out && jq_is ".code == 400" out &&
	api "$at" --http1.1 $ws -H "Sec-WebSocket-Protocol: v4.channel.k8s.io" >out &&
	is "query parameter \"ports\" is required" "$(jq -r .message out)" &&
	api "${at%web/*}nobody/portforward" >out && jq_is ".code == 404" out
'

if /usr/bin/python3 -c 'from kubernetes.stream import portforward' 2>/dev/null; then
	test_expect_success 'the Python client' '
		timeout 300 /usr/bin/python3 "$e2e/forwards.py" "$KUBECONFIG" web >out && is 3 "$(grep -c ^ok out)"
	'
fi

test_expect_success 'after a restart of the server, and after its pod is gone' '
	{ stop_muster KILL || :; } && again && taken_over web && forward later pod/web :7001 && is "port 7001" "$(ask "$(at later 7001)")" &&
	kubectl delete pod web --now && test_must_fail ask "$(at later 7001)"
'

node_cleanup
test_done
