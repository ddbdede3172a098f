#!/bin/sh
test_description='J6: of several operators one acts, and a leader that lost its lease writes nothing'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

lock=muster-e2e-$$
# Long enough that a busy machine does not lose it, short enough to wait for its end.
times="--leader-elect-lease-duration 15s --leader-elect-renew-deadline 10s --leader-elect-retry-period 500ms"

# candidate NAME ARGS...
candidate() {
	who=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	start_operator "$who" --leader-elect --leader-election-id "$lock" \
		--leader-election-namespace "$ns" $times "$@"
}

leads() {
	is 1 "$(metric "$1" "leader_election_master_status{name=\"$lock\"}")" 2>/dev/null
}

stands_by() {
	is 0 "$(metric "$1" "leader_election_master_status{name=\"$lock\"}")"
}

lease() {
	kubectl get lease "$lock" -o "jsonpath={.spec.$1}"
}

# All that the jobs own, with its versions.
world() {
	kubectl get pods,services,tfjobs -o json |
		jq -r ".items[] | [.kind, .metadata.name, .metadata.uid, .metadata.resourceVersion] | @tsv" | sort
}

services_are() {
	test "$(kubectl get services -o name | wc -l)" = "$1"
}

# Nothing changes for a second and a half (the lease apart).
is_quiet() {
	world >quiet1 && sleep 1.5 && world >quiet2 && cmp -s quiet1 quiet2
}

# Of those named, how many lead.
leaders() {
	n=0
	for who; do
		leads "$who" && n=$((n + 1))
	done
	echo $n
}

one_leads() {
	test "$(leaders "$@")" = 1
}

test_expect_success 'the first one leads, the second stands by and is ready' '
	start_api --no-operator && crds && candidate a && soon leads a && candidate b &&
	soon is_ready b && stands_by b &&
	soon grep -q "msg=ready role=\"standing by\"" b.log &&
	is 15 "$(lease leaseDurationSeconds)" && is 0 "$(lease leaseTransitions)" &&
	lease renewTime | grep -q "\.[0-9]\{6\}Z$"
'

test_expect_success 'only the one that leads acts' '
	tfjob one 2 | kubectl create -f - && soon pods_are 2 &&
	soon counts a created_pods_total 2 && is 0 "$(metric b created_pods_total)" &&
	is 0 "$(metric b muster_fenced_writes_total)"
'

test_expect_success 'parity Q15: a lease that is let go is taken at the next try' '
	end_operator a && has a.log "msg=\"lease released\"" &&
	soon leads b && is 1 "$(lease leaseTransitions)" &&
	tfjob two 1 | kubectl create -f - && soon pods_are 3
'

test_expect_success 'a leader that is killed is followed after the lease, not before' '
	candidate a && soon is_ready a && stands_by a &&
	kill -KILL "$(cat b.pid)" && renewed=$(lease renewTime) && soon leads a &&
	taken=$(sed -n "s/time=\([^ ]*\) .*lease taken.*/\1/p" a.log) &&
	test $(($(date -d "$taken" +%s%3N) - $(date -d "$renewed" +%s%3N))) -ge 15000 &&
	tfjob three 1 | kubectl create -f - && soon pods_are 4
'

# The leader a may send two requests a second, so that most of its creates wait inside it.
test_expect_success 'a leader that is stopped in the middle and goes on later writes nothing' '
	end_operator a && kubectl delete tfjobs --all && kubectl delete pods,services --all &&
	candidate a --enable-scheme tfjob --kube-api-qps 2 --kube-api-burst 2 && soon leads a && soon is_ready a &&
	candidate b && soon is_ready b && stands_by b &&
	tfjob wide 30 | kubectl create -f - && soon has_some_pods && kill -STOP "$(cat a.pid)" &&
	test "$(kubectl get pods -o name | wc -l)" -lt 30 &&
	soon leads b && soon pods_are 30 && soon services_are 30 && soon is_quiet &&
	world >before &&
	kill -CONT "$(cat a.pid)" && test_expect_code 1 wait "$(cat a.pid)" &&
	has a.log "msg=\"leader election lost\"" && sleep 2 &&
	world >after && test_cmp before after && leads b
'

test_expect_success 'a short stop is survived' '
	kill -STOP "$(cat b.pid)" && sleep 0.7 && kill -CONT "$(cat b.pid)" && sleep 1 && leads b
'

test_expect_success 'a leader that is cut off ends before another takes over' '
	{ python3 "$e2e/relay.py" "${url##*:}" >relay.port & } &&
	relay=$! && background="$background $relay" && soon test -s relay.port &&
	kubectl config view --raw --flatten -o json |
		jq ".clusters[0].cluster.server = \"https://127.0.0.1:$(cat relay.port)\"" >relayed.json &&
	end_operator b && candidate c --kubeconfig relayed.json && soon leads c &&
	candidate d && soon is_ready d && stands_by d &&
	kill -STOP $relay && began=$(now_ms) &&
	test_expect_code 1 wait "$(cat c.pid)" && promptly $began &&
	has c.log "msg=\"leader election lost\" why=\"the lease could not be renewed in time\"" &&
	soon leads d && kill -KILL $relay &&
	cat c.log d.log | grep -e "leader election lost" -e "lease taken" | sort | cut -d" " -f3,4 >order &&
	printf "msg=\"lease taken\"\nmsg=\"leader election\nmsg=\"lease taken\"\n" | test_cmp - order &&
	tfjob four 1 | kubectl create -f - && soon pods_are 31 && end_operator d
'

test_expect_success 'two that start at once: one leads' '
	candidate e && candidate f && soon is_ready e && soon is_ready f &&
	soon one_leads e f && sleep 1 && one_leads e f &&
	end_operator e && end_operator f && is "" "$(lease holderIdentity)"
'

test_expect_success 'a lease taken by hand ends it at once' '
	candidate g && soon leads g &&
	kubectl patch lease "$lock" --type merge -p "{\"spec\":{\"holderIdentity\":\"somebody\"}}" &&
	test_expect_code 1 wait "$(cat g.pid)" && has g.log "why=\"another holds the lease\"" &&
	is somebody "$(lease holderIdentity)"
'

test_done
