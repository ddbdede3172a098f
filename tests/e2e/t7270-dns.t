#!/bin/sh
test_description='the server of names that pods ask, isolation namespaces'
# shellcheck disable=SC1091,SC2034,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_network "${who:-root}"

# asked TYPE NAME...: what a pod hears.
asked() {
	muster exec asker -- python3 -c "$(cat "$e2e/dns_ask.py")" "$@"
}

# hears WORDS TYPE NAME
hears() {
	words=$1
	shift
	test "$(asked "$@" 2>/dev/null)" = "$words"
}

# will_hear WORDS [tcp] TYPE NAME: what is known of names follows the objects.
will_hear() {
	soon hears "$@" || { shift && asked "$@" >&2; return 1; }
}

server() {
	jq -n --arg name "$1" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name, labels: {app: "web"}},
		spec: {hostname: $name, subdomain: "heads", terminationGracePeriodSeconds: 0,
			containers: [{name: "main", image: "x", command: ["sleep", "1000"], ports: [{name: "http", containerPort: 8080}]}]}}' |
		kubectl create -f -
}

test_expect_success 'services, and pods behind them' '
	jq -n "{apiVersion: \"v1\", kind: \"List\", items: [
		{apiVersion: \"v1\", kind: \"Service\", metadata: {name: \"web\"},
			spec: {selector: {app: \"web\"}, ports: [{name: \"http\", port: 80, targetPort: \"http\"}]}},
		{apiVersion: \"v1\", kind: \"Service\", metadata: {name: \"heads\"},
			spec: {clusterIP: \"None\", selector: {app: \"web\"}, ports: [{name: \"http\", port: 8080}]}},
		{apiVersion: \"v1\", kind: \"Service\", metadata: {name: \"far\"},
			spec: {type: \"ExternalName\", externalName: \"db.example.invalid\"}}]}" | kubectl create -f - &&
	server one && server two && pod asker "sleep 1000" &&
	becomes one .status.phase Running && becomes two .status.phase Running && becomes asker .status.phase Running &&
	field one .status.podIP >one.ip && field two .status.podIP >two.ip
'

test_expect_success 'resolv.conf: the server, the domains of the namespace' '
	muster exec asker -- cat /etc/resolv.conf >out &&
	has out "^nameserver 10\." "^search default.svc.cluster.local svc.cluster.local cluster.local" "^options ndots:5"
'

test_expect_success 'headless services, and the pods of them' '
	for ip in one two; do cat $ip.ip; echo; done | sort | grep . >ips &&
	will_hear "0 $(paste -sd " " ips)" A heads.default.svc.cluster.local &&
	will_hear "0 $(cat one.ip)" A one.heads.default.svc.cluster.local &&
	will_hear "0 8080:one.heads.default.svc.cluster.local 8080:two.heads.default.svc.cluster.local" \
		SRV _http._tcp.heads.default.svc.cluster.local &&
	will_hear 0 AAAA heads.default.svc.cluster.local
'

test_expect_success CLUSTERIPS 'others by their address' '
	ip=$(kubectl get service web -o "jsonpath={.spec.clusterIP}") &&
	will_hear "0 $ip" A web.default.svc.cluster.local &&
	will_hear "0 80:web.default.svc.cluster.local" SRV _http._tcp.web.default.svc.cluster.local
'

test_expect_success 'addresses have names' '
	reverse=$(awk -F. "{print \$4\".\"\$3\".\"\$2\".\"\$1}" one.ip).in-addr.arpa &&
	will_hear "0 one.heads.default.svc.cluster.local" PTR "$reverse"
'

test_expect_success 'over TCP, and the API' '
	will_hear "0 $(cat two.ip)" tcp A two.heads.default.svc.cluster.local &&
	is 1 "$(asked A kubernetes.default.svc.cluster.local | grep -c "^0 [0-9]")"
'

test_expect_success 'names that nobody has, and those of elsewhere' '
	is 3 "$(asked A nobody.default.svc.cluster.local)" && is 3 "$(asked A x.cluster.local)" &&
	asked CNAME far.default.svc.cluster.local >out && has out "^0 db.example.invalid" &&
	asked A example.invalid >out && has out "^[0-9]"
'

test_expect_success 'they follow changes' '
	kubectl delete pod two --now && will_hear "0 $(cat one.ip)" A heads.default.svc.cluster.local &&
	kubectl delete service heads && will_hear 3 A heads.default.svc.cluster.local
'

test_expect_success 'dnsPolicy' '
	pod plain "cp /etc/resolv.conf $notes/plain" Never "\"dnsPolicy\": \"Default\"" &&
	pod none "cp /etc/resolv.conf $notes/none" Never "\"dnsPolicy\": \"None\", \"dnsConfig\": {\"nameservers\": [\"192.0.2.1\"]}" &&
	pod more "cp /etc/resolv.conf $notes/more" Never "\"dnsConfig\": {\"searches\": [\"more.example\"], \"options\": [{\"name\": \"ndots\", \"value\": \"2\"}]}" &&
	for p in plain none more; do becomes $p .status.phase Succeeded || return 1; done &&
	lacks "$notes/plain" cluster.local && is "nameserver 192.0.2.1" "$(cat "$notes/none")" &&
	has "$notes/more" "^nameserver 10\." "^search default.svc.cluster.local .*cluster.local more.example\$" "ndots:2"
'

test_expect_success 'after a restart of the server, and of the hub' '
	{ stop_muster KILL || :; } && again && taken_over asker && will_hear 3 A nobody.default.svc.cluster.local &&
	hubs >killed && kill_hubs killed && will_hear 3 A nobody.default.svc.cluster.local
'

node_cleanup
test_done
