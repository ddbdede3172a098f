#!/bin/sh
test_description='what was acknowledged is there after a restart and after kill -9 (A1)'
. "$(dirname "$0")/lib.sh"

rv() {
	kubectl get --raw /api/v1/namespaces/default/configmaps | jq -r .metadata.resourceVersion
}

test_expect_success 'a restart keeps objects, uids and resourceVersions, and goes on from there' '
	start_muster &&
	make ConfigMap kept && make Namespace kept &&
	kubectl get configmap kept -n default -o json >before && rv >rv.before &&
	stop_muster && start_muster &&
	kubectl get configmap kept -n default -o json >after && test_cmp before after &&
	kubectl get namespace kept && rv >rv.after && test "$(cat rv.after)" -ge "$(cat rv.before)" &&
	make ConfigMap next &&
	test "$(kubectl get configmap next -o jsonpath={.metadata.resourceVersion})" -gt "$(cat rv.after)"
'

test_expect_success 'certificates and token stay: an old kubeconfig with the same port would work' '
	cp "$data/token" token && cp -r "$data/pki" pki && stop_muster && start_muster &&
	test_cmp token "$data/token" && diff -r pki "$data/pki"
'

# Writers note each name once its create was answered 201; nothing else may be missing afterwards.
write_loop() {
	i=0
	while :; do
		i=$((i + 1))
		code=$(api /api/v1/namespaces/default/configmaps -o /dev/null -w "%{http_code}" --json \
			"{\"metadata\":{\"name\":\"w$1-$i\"},\"data\":{\"n\":\"$i\"}}" 2>/dev/null)
		test "$code" = 201 || return 0
		echo "w$1-$i" >>"acked.$1"
	done
}

for round in 1 2 3; do
	test_expect_success "kill -9 while writing, round $round: nothing acknowledged is lost" '
		rm -f acked.* &&
		for w in 1 2 3; do
			start write_loop "$round$w"
		done &&
		soon test -s "acked.${round}3" && soon sh -c "test \$(cat acked.* | wc -l) -ge 60" &&
		api /api/v1/namespaces/default/configmaps | jq -r .metadata.resourceVersion >rv.seen &&
		{ stop_muster KILL; true; } && start_muster &&
		kubectl get configmaps -n default -o name | sed "s,.*/,," | sort >there &&
		sort acked.* >acked && comm -23 acked there >lost && test_must_be_empty lost &&
		test "$(rv)" -ge "$(cat rv.seen)" && test_must_fail grep -i damage muster.log
	'
done

test_expect_success 'a watch from before the kill goes on from its revision, or is told 410' '
	from=$(rv) && make ConfigMap seen-later &&
	{ stop_muster KILL; true; } && start_muster &&
	api "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$from&timeoutSeconds=1" >events &&
	jq -se "(.[0].type == \"ADDED\" and .[0].object.metadata.name == \"seen-later\") or .[0].object.code == 410" events
'

test_done
