# The network of pods at level namespaces, whoever muster runs as; sourced by t72*.t, which set who.
# shellcheck shell=sh disable=SC1091,SC2034,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_network "$who"

# server NAME LABEL READYPORT: says its name on port 8080 of every address, to anybody.
server() {
	jq -n --arg name "$1" --arg app "$2" --argjson port "$3" '{
		apiVersion: "v1", kind: "Pod", metadata: {name: $name, labels: {app: $app}},
		spec: {terminationGracePeriodSeconds: 0, containers: [{name: "main", image: "perl",
			command: ["perl", "-MIO::Socket::INET", "-e",
				"$|=1; $s=IO::Socket::INET->new(LocalAddr=>\"0.0.0.0\",LocalPort=>8080,Listen=>9,ReuseAddr=>1) or die; while(1){$c=$s->accept or next; $c->recv($x,4096); print $c \"HTTP/1.0 200 OK\\r\\n\\r\\nI am $ENV{HOSTNAME}\\n\"; close $c}"],
			readinessProbe: {httpGet: {port: $port, path: "/"}, periodSeconds: 1, timeoutSeconds: 30}}]}}' |
		kubectl create -f -
}

# asks NAME URL TEXT: a pod that asks until it hears the text.
asks() {
	pod "$1" "until curl -sk -m 20 $2 | tee $notes/$1 | grep -q \"$3\"; do sleep 0.1; done" &&
		becomes "$1" .status.phase Succeeded
}

# tagged N COMMAND...: as many lines of what it prints carry the hub's tag. Nothing announces that
# the network is laid: muster is ready before.
tagged() {
	many=$1
	shift
	test "$many" = "$("$@" | grep -c "\(mst\|muster_\)$(cat tag)")"
}

# The kernel takes links down in its own time.
no_link() {
	! ip -o link | grep "$1"
}

no_hubs() {
	test -z "$(hubs)"
}

test_expect_success 'two pods listen on the same port; probes reach them at their addresses' '
	server one web 8080 && server two web 8080 &&
	becomes one ".status.conditions[?(@.type==\"Ready\")].status" True &&
	becomes two ".status.conditions[?(@.type==\"Ready\")].status" True &&
	field one .status.podIP >one.ip && field two .status.podIP >two.ip && ! cmp one.ip two.ip &&
	has one.ip "^10\."
'

# The hub's marks on the machine carry a tag: root's link to the pods' network has it.
test_have_prereq AS_ROOT && ip -o route get "$(cat one.ip)" | sed -n "s/.* dev mst\([0-9a-f]*\) .*/\1/p" >tag

test_expect_success 'a pod reaches another by its address' '
	asks by-address "http://$(cat one.ip):8080/" "I am one"
'

# Asks for a datagram as whom it names: spoof FROM TO. Raw sockets take CAP_NET_RAW.
cat >spoof.py <<'END'
import socket, struct, sys
def send(whom, to, text):
    udp = struct.pack("!HHHH", 9000, 9000, 8 + len(text), 0) + text
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(whom), socket.inet_aton(to))
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    s.sendto(ip + udp, (to, 0))
own = socket.gethostbyname(socket.gethostname())
for whom, text in ((sys.argv[1], b"forged"), ("10.96.0.1", b"forged"), ("8.8.8.8", b"forged"), (own, b"own")):
    send(whom, sys.argv[2], text)
END
cat >hear.py <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 9000))
print("listens", flush=True)
text = b""
while text != b"own":
    text, whom = s.recvfrom(99)
    print(text.decode(), flush=True)
END
test_expect_success 'R3: a pod sends from no address but its own' '
	cp spoof.py hear.py "$notes" && pod hears "exec python3 $notes/hear.py" && becomes hears .status.phase Running &&
	soon sh -c "grep -rqw listens $data/logs/default/hears" && field hears .status.podIP >hears.ip &&
	jq -n --arg notes "$notes" --arg script "exec python3 $notes/spoof.py $(cat two.ip) $(cat hears.ip)" "{
		apiVersion: \"v1\", kind: \"Pod\", metadata: {name: \"forges\"}, spec: {restartPolicy: \"Never\",
		containers: [{name: \"main\", image: \"python\", command: [\"sh\", \"-c\", \$script],
			securityContext: {capabilities: {add: [\"NET_RAW\"]}},
			volumeMounts: [{name: \"notes\", mountPath: \$notes}]}],
		volumes: [{name: \"notes\", hostPath: {path: \$notes}}]}}" | kubectl create -f - &&
	becomes forges .status.phase Succeeded && becomes hears .status.phase Succeeded &&
	is listens,own "$(printed hears | paste -sd ,)"
'

test_expect_success 'the API answers where the environment says' '
	asks to-api "https://\$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT/version" gitVersion &&
	openssl x509 -in "$data/pki/server.crt" -noout -ext subjectAltName >san && has san "10\.96\.0\.1"
'

test_expect_success CLUSTERIPS 'a service leads to its ready pods, by name and by address' '
	kubectl expose pod one --name web --port 80 --target-port 8080 --selector app=web &&
	asks first "http://web/" "I am one" && asks second "http://web.default.svc.cluster.local/" "I am two" &&
	asks third "http://$(kubectl get service web -o "jsonpath={.spec.clusterIP}")/" "I am"
'

test_expect_success CLUSTERIPS 'and to nobody else: not to one that is not ready, not to one that is gone' '
	kubectl delete pod one --wait && server three web 9 &&
	becomes three .status.phase Running &&
	pod steady "n=0; until test \$n = 9; do
			case \$(curl -s -m 20 http://web/ | tee -a $notes/steady) in *two*) n=\$((n + 1)) ;; *) n=0 ;; esac
		done" &&
	becomes steady .status.phase Succeeded && has "$notes/steady" "I am two" &&
	! grep "I am one\|I am three" "$notes/steady" && kubectl delete pod three
'

test_expect_success 'a hub that is killed is replaced, and pods are where they were' '
	hubs >before && kill_hubs before && soon grep -q "network helper died" muster.log &&
	asks after-hub "http://$(cat two.ip):8080/" "I am two"
'

test_expect_success 'muster is killed: the hub stays, and the next one finds it' '
	hubs >before && { stop_muster KILL; hubs >after; } && cmp before after && again && hubs >after && cmp before after &&
	asks after-up "http://$(cat two.ip):8080/" "I am two" &&
	asks api-after "https://\$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT/version" gitVersion
'

test_expect_success 'all of it is killed at once: the next start clears away what was left' '
	hubs >before && { stop_muster KILL; kill_hubs before; } && soon no_hubs &&
	again && hubs >after && ! cmp before after && if test_have_prereq AS_ROOT; then
		soon tagged 1 nft list tables && soon tagged 1 ip -o link
	fi && server last web 8080 && becomes last ".status.conditions[?(@.type==\"Ready\")].status" True &&
	asks after-all "http://$(field last .status.podIP):8080/" "I am last"
'

test_expect_success 'N2: at the end there is no hub, no link and no table' '
	kubectl delete pods --all && stop_muster && soon no_hubs &&
	test ! -e "$data/hub/ctl" &&
	if test_have_prereq AS_ROOT; then
		soon no_link "mst$(cat tag)" && nft list tables >tables && ! grep "muster_$(cat tag)" tables
	fi
'

node_cleanup
test_done
