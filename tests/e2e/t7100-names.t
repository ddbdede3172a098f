#!/bin/sh
# Cluster names in running pods, at both levels of isolation: what resolves, what does not, and that
# it follows changes.
test_description='cluster names in pods'
. "$(dirname "$0")/lib.sh"
no_node=

# The words of a pod's log, newest last.
said() {
	cut -d ' ' -f 4- "$data/logs/$1/$2/$2/0.log" 2>/dev/null
}

# until_true COMMAND...: soon, or says what it was last.
until_true() {
	soon quietly "$@" || { cat until.out; return 1; }
}

quietly() {
	"$@" >until.out 2>&1
}

# resolves NAME ADDRESSES: so says the last round of the watcher.
resolves() {
	said default watcher | grep "^$1=" | tail -n 1 | grep -qx "$1=$2" || {
		said default watcher | tail -n 30
		return 1
	}
}

# The watcher has looked at everything again, so what it says is not from before.
new_round() {
	from=$(said default watcher | grep -c '^round')
	until_true newer $((from + 2))
}

newer() {
	test "$(said default watcher | grep -c '^round')" -ge "$1"
}

ip() {
	kubectl -n "$1" get pod "$2" -o 'jsonpath={.status.podIP}'
}

running() {
	is Running "$(kubectl -n "$1" get pod "$2" -o 'jsonpath={.status.phase}')"
}

phase_is() {
	is "$2" "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')"
}

# a port that nobody has
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
python=$(python3 -c 'import sys; print(sys.executable)')

# pod NS NAME SPEC SCRIPT: SPEC is a member of the spec, with a comma, or empty
pod() {
	jq -n --arg ns "$1" --arg name "$2" --arg script "$4" "{
		apiVersion: \"v1\", kind: \"Pod\",
		metadata: {name: \$name, namespace: \$ns, labels: {app: \$name}},
		spec: {$3 containers: [{name: \"c\", image: \"any\", command: [\"sh\", \"-c\", \$script]}]}}" |
		kubectl create -f -
}

# service NS NAME SPEC
service() {
	jq -n --arg ns "$1" --arg name "$2" "{apiVersion: \"v1\", kind: \"Service\",
		metadata: {name: \$name, namespace: \$ns}, spec: $3}" | kubectl create -f -
}

watch='while :; do
	for n in watcher head all web plain late.other deep.late.other.svc.cluster.local late \
		kubernetes.default.svc head.default.svc.cluster.local; do
		echo "$n=$(getent -s files ahostsv4 $n | cut -d " " -f 1 | sort -u | tr "\n" " ")"
	done
	echo round
	sleep 0.2
done'

names_at() {
	level=$1
	data=$PWD/data-$level

	test_expect_success "$2" "$level: pods start" '
		start_muster --isolation "$level" --resources cpu=8,memory=8Gi,ephemeral-storage=20Gi &&
		make Namespace other &&
		pod default watcher "" "$watch" &&
		service default head "{clusterIP: \"None\", selector: {app: \"gated\"}}" &&
		service default all "{clusterIP: \"None\", publishNotReadyAddresses: true, selector: {app: \"gated\"}}" &&
		pod default gated "readinessGates: [{conditionType: \"muster.dev/go\"}]," "sleep 1000" &&
		until_true running default watcher &&
		until_true running default gated
	'
	test_expect_success "$2" "$level: a pod knows itself" '
		until_true resolves watcher "$(ip default watcher) "
	'
	test_expect_success "$2" "$level: names stand for pods that are ready" '
		until_true resolves all "$(ip default gated) " &&
		new_round &&
		resolves head "" &&
		api "/api/v1/namespaces/default/pods/gated/status" -X PATCH -o /dev/null \
			-H "Content-Type: application/strategic-merge-patch+json" \
			-d "{\"status\": {\"conditions\": [{\"type\": \"muster.dev/go\", \"status\": \"True\"}]}}" &&
		until_true resolves head "$(ip default gated) " &&
		until_true resolves head.default.svc.cluster.local "$(ip default gated) "
	'
	test_expect_success "$2" "$level: the server has its name" '
		said default watcher | grep "^kubernetes.default.svc=[0-9]"
	'
	test_expect_success "$2" "$level: services and pods that come later are known, in other namespaces too" '
		service other late "{clusterIP: \"None\", selector: {app: \"deep\"}}" &&
		pod other deep "hostname: \"deep\", subdomain: \"late\"," "sleep 1000" &&
		until_true running other deep &&
		until_true resolves late.other "$(ip other deep) " &&
		until_true resolves deep.late.other.svc.cluster.local "$(ip other deep) " &&
		resolves late ""
	'
	test_expect_success "$2" "$level: what goes is not known any more" '
		kubectl -n other delete pod deep --grace-period=0 --force &&
		until_true resolves late.other "" &&
		kubectl delete service head &&
		until_true resolves head "" &&
		new_round &&
		resolves all "$(ip default gated) "
	'
	test_expect_success "$2" "$level: pods on one port reach each other by name" '
		service default web "{selector: {app: \"one\"}, ports: [{port: 80, targetPort: $port}]}" &&
		for name in one two; do
			service default $name "{clusterIP: \"None\", selector: {app: \"$name\"}}" &&
			pod default $name "" "cd \"\${TMPDIR:-/tmp}\" &&
				echo I am \$(hostname) >who && exec $python -m http.server $port" || return 1
		done &&
		pod default client "restartPolicy: \"Never\"," "for at in one:$port two.default:$port web two:$port; do
			until got=\$(curl -sf -m 60 -w \"%{local_ip}\\n\" http://\$at/who); do sleep 0.2; done
			echo \"\$got\"
		done" &&
		until_true phase_is client Succeeded &&
		said default client >got &&
		printf "I am %s\n$(ip default client)\n" one two one two >want &&
		test_cmp want got
	'
	test_expect_success "$2" "$level: it ends" '
		stop_muster
	'
}

# The node comes after the ready line.
known_level() {
	kubectl get nodes -o "jsonpath={.items[0].metadata.labels.muster\.dev/isolation}" >level && test -s level
}

test_set_prereq SHARED
test_expect_success 'what this machine allows' '
	start_muster && until_true known_level && stop_muster
'
grep -q namespaces level && test_set_prereq NAMESPACES
names_at namespaces NAMESPACES
names_at shared SHARED

test_done
