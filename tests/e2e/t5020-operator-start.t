#!/bin/sh
test_description='muster operator: an API that is not ready for it yet'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

once() {
	is 1 "$(grep -c -e "$2" "$1")"
}

test_expect_success 'a CRD that is missing is named once; ready when it comes' '
	start_api --no-operator && crds && kubectl delete crd tfjobs.kubeflow.org &&
	start_operator crd &&
	soon grep -q "verb=list resource=tfjobs.kubeflow.org" crd.log && sleep 1 &&
	is 500 "$(probe crd /readyz)" && is 200 "$(probe crd /healthz)" &&
	once crd.log "level=warn.*verb=list resource=tfjobs.kubeflow.org" &&
	crds && soon is_ready crd && soon grep -q "msg=ready" crd.log &&
	tfjob late 1 | kubectl create -f - && soon pods_are 1 && end_operator crd
'

misses_jaxjobs() {
	is 500 "$(probe some /readyz/readyz)" && grep -q "cannot list jaxjobs.kubeflow.org: is its CRD installed?" probe
}

test_expect_success 'kinds that are there are looked after, others are waited for' '
	kubectl delete crd jaxjobs.kubeflow.org && start_operator some &&
	tfjob early 1 | kubectl create -f - && soon pods_are 2 &&
	soon misses_jaxjobs &&
	crds && soon is_ready some && end_operator some
'

test_expect_success 'kinds that are not asked for are not missed' '
	kubectl delete crd jaxjobs.kubeflow.org && start_operator tf --enable-scheme tfjob &&
	soon is_ready tf && end_operator tf && crds
'

# job_of IMAGE: a JAXJob, on stdout.
job_of() {
	cat <<-EOF
	apiVersion: kubeflow.org/v1
	kind: JAXJob
	metadata: {name: other}
	spec: {jaxReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: jax, image: "$1"}]}}}}}
	EOF
}

test_expect_success 'parity Q28: jobs of kinds that are not asked for are taken, and judged as ever' '
	kubectl wait --for=condition=Established crd/jaxjobs.kubeflow.org --timeout=120s &&
	start_operator tf --enable-scheme tfjob && soon is_ready tf &&
	job_of train:1 | kubectl create -f - && kubectl delete jaxjob other &&
	job_of "" | test_must_fail kubectl create -f - 2>err && has err "image" &&
	end_operator tf
'

test_expect_success MUSTER 'an API that is away is named; ready when it comes' '
	keep=${url##*:} && stop_muster && start_operator away &&
	soon grep -q "level=warn.*verb=list resource=tfjobs.kubeflow.org" away.log &&
	is 500 "$(probe away /readyz)" && has away.log "level=warn.*verb=list resource=tfjobs.kubeflow.org" &&
	start_muster --no-operator --listen "127.0.0.1:$keep" && soon is_ready away &&
	end_operator away
'

# Nobody in particular: may ask who he is, and nothing else.
as_nobody() {
	jq ".users[0].user.as = \"nobody\"" >nobody.json
}

test_expect_success 'rights that are missing are named by verb and resource, once' '
	kubectl config view --raw --flatten -o json | as_nobody &&
	start_operator nobody --kubeconfig nobody.json --leader-elect &&
	soon grep -q "msg=\"leader election: waiting\"" nobody.log &&
	soon grep -q "msg=\"cannot read.*verb=list resource=pods " nobody.log &&
	for right in "get resource=pods" "create resource=pods" "delete resource=pods" \
		"get resource=services" "create resource=services" \
		"patch resource=services" "create resource=events" "get resource=tfjobs.kubeflow.org" \
		"patch resource=tfjobs/status.kubeflow.org"; do
		soon grep -q "level=warn msg=\"permission missing.*verb=$right\( \|\$\)" nobody.log &&
		echo "$right" >>rights || return 1
	done && sleep 1 &&
	is 500 "$(probe nobody /readyz)" &&
	while read -r right; do
		once nobody.log "level=warn msg=\"permission missing.*verb=$right\( \|\$\)" || return 1
	done <rights &&
	once nobody.log "level=warn msg=\"cannot read.*verb=list resource=pods " &&
	once nobody.log "level=warn msg=\"leader election: waiting\" why=\"cannot get leases.coordination.k8s.io" &&
	test_must_fail grep podgroups nobody.log &&
	kill -0 "$(cat nobody.pid)"
'

test_expect_success 'core 7.1: rights on PodGroups are asked for with gang scheduling alone, and those of its mode alone' '
	start_operator gang --kubeconfig nobody.json --gang-scheduler-name mine &&
	for verb in get create patch delete; do
		soon grep -q "permission missing.*verb=$verb resource=podgroups.scheduling.x-k8s.io" gang.log || return 1
	done &&
	test_must_fail grep "podgroups.scheduling.volcano.sh" gang.log && end_operator gang
'

test_expect_success REAL 'and it goes on when they are granted' '
	kubectl create clusterrolebinding nobody-$$ --clusterrole=cluster-admin --user=nobody &&
	test_when_finished "kubectl delete clusterrolebinding nobody-$$" &&
	soon is_ready nobody && has nobody.log "permission granted.*verb=create resource=pods"
'

test_expect_success 'SIGINT in all that: exit 0' '
	began=$(now_ms) && end_operator nobody INT && promptly $began
'

test_done
