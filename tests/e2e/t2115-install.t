#!/bin/sh
test_description='muster manifests install: a cluster takes all of it, and the operator has the rights that it needs'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

no_node= # tokens of accounts need a node, and jobs really run

test_expect_success 'each part is printed, and small' '
	muster manifests >crds.yaml && test "$(wc -c <crds.yaml)" -lt 600000 &&
	muster manifests install >install.yaml && test "$(wc -c <install.yaml)" -lt 600000 &&
	muster manifests -o json >crds.json && test "$(wc -c <crds.json)" -lt 600000 &&
	jq_is ".items | all(tojson | utf8bytelength < 200000)" crds.json &&
	muster manifests install -o json >install.json && muster manifests rbac -o json >rbac.json &&
	jq_is "[.items[].kind] | index(\"CustomResourceDefinition\") == null and index(\"ClusterRole\") != null" rbac.json &&
	jq_is "[.items[].kind] | index(\"Deployment\") != null and .[0] == \"Namespace\"" install.json
'

test_expect_success 'options: image, replicas, namespace, kinds, gang scheduler' '
	muster manifests install -o json --image example.org/m:1 --replicas 1 --namespace team-a --enable-scheme TFJob --gang-scheduler-name volcano >one.json &&
	jq_is ".items | map(select(.metadata.namespace != null)) | all(.metadata.namespace == \"team-a\")" one.json &&
	jq_is ".items | map(.kind) | index(\"Namespace\") == null and index(\"PodDisruptionBudget\") == null" one.json &&
	jq_is "[.items[] | select(.kind == \"Deployment\") | .spec.replicas, .spec.template.spec.containers[0].image] == [1, \"example.org/m:1\"]" one.json &&
	jq_is ".items[] | select(.kind == \"Deployment\") | .spec.template.spec.containers[0].args == [\"operator\", \"--leader-elect\", \"--agent-image=example.org/m:1\", \"--namespace=team-a\", \"--gang-scheduler-name=volcano\", \"--enable-scheme=tfjob\"]" one.json &&
	jq_is "[.items[] | select(.kind == \"CustomResourceDefinition\") | .metadata.name] == [\"tfjobs.kubeflow.org\"]" one.json &&
	jq_is "[.items[] | select(.kind == \"Role\" and .metadata.name == \"muster\") | .rules[].resources[]] | sort == [\"events\", \"podgroups\", \"pods\", \"services\", \"tfjobs\", \"tfjobs/finalizers\", \"tfjobs/status\"]" one.json &&
	jq_is "[.items[] | select(.kind == \"ClusterRole\" and .metadata.name == \"muster-team-a\") | .rules[].resources[]] == [\"priorityclasses\"]" one.json
'

test_expect_success 'the names of the original, to replace it' '
	muster manifests install -o json --like-original >like.json &&
	jq_is "[.items[] | select(.kind == \"Deployment\" or .kind == \"Service\" or .kind == \"ServiceAccount\") | .metadata | .name, .namespace] | unique == [\"kubeflow\", \"training-operator\"]" like.json &&
	jq_is ".items[] | select(.kind == \"Deployment\") | .spec.selector.matchLabels == {\"control-plane\": \"kubeflow-training-operator\"}" like.json &&
	jq_is "[.items[] | select(.kind == \"ClusterRole\") | .metadata.name] | sort == [\"kubeflow-training-admin\", \"kubeflow-training-edit\", \"kubeflow-training-view\", \"training-operator\"]" like.json &&
	jq_is "[.items[] | select(.kind == \"Service\") | .spec.ports[] | .name, .port] == [\"monitoring-port\", 8080, \"webhook-server\", 443]" like.json
'

test_expect_success 'uninstall names all that any options of install make' '
	for o in "" "--namespace a" "--like-original" "--install-namespace b"; do
		muster manifests install -o json --gang-scheduler-name volcano $o | jq -r ".items[] | select(.kind | IN(\"CustomResourceDefinition\", \"Namespace\") | not) | [.kind, .metadata.name, .metadata.namespace] | @tsv" | sort >made &&
			muster manifests uninstall -o json $o | jq -r ".items[] | [.kind, .metadata.name, .metadata.namespace] | @tsv" | sort >gone && test_cmp made gone || return 1
	done
'

test_expect_success 'what makes no sense is refused' '
	test_expect_code 2 muster manifests install --namespace A_b 2>err && has err "A_b. is not a name of a namespace" &&
	test_expect_code 2 muster manifests install --install-namespace "" 2>err && has err "is not a name of a namespace" &&
	test_expect_code 2 muster manifests install --image "a b" 2>err && has err "is not a name of an image" &&
	test_expect_code 2 muster manifests install --replicas 0 2>err && has err "replicas must be from 1 to 10" &&
	test_expect_code 2 muster manifests install --gang-scheduler-name "a: b" 2>err && has err "not a name of a scheduler" &&
	test_expect_code 2 muster manifests rbac --enable-scheme cronjob 2>err && has err "no kind of job called .cronjob." &&
	test_expect_code 2 muster manifests install --foo 2>err && has err "no option"
'

test_expect_success 'start' 'start_muster --no-operator && test_set_prereq MUSTER'

versions() {
	kubectl get crd,clusterrole,clusterrolebinding,priorityclass -o jsonpath="{range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}" &&
		kubectl get -n muster-system sa,role,rolebinding,service,networkpolicy,pdb,deployment -o jsonpath="{range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}"
}

test_expect_success KUBECTL_130 'a plain apply takes all of it, and a second one changes nothing' '
	kubectl apply -f install.yaml >out 2>err && is "" "$(grep -v "Deployments are stored but not run" err)" &&
	versions >before && kubectl apply -f install.yaml >out && versions >after && test_cmp before after &&
	is "" "$(grep -v -e unchanged -e "^poddisruptionbudget.*configured" out)"
'

# as_account CONTEXT-FILE: a kubeconfig with a token of the operator's account.
as_account() {
	token=$(kubectl create token muster -n "$1") &&
		kubectl config view --raw -o json | jq --arg token "$token" ".users[0].user = {token: \$token}" >"$2"
}

jobs() {
	cat <<-\EOF
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: train}
	spec:
	  elasticPolicy: {minReplicas: 1, maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}
	  pytorchReplicaSpecs:
	    Worker: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: none, command: [sleep, "1"]}]}}}
	---
	apiVersion: kubeflow.org/v1
	kind: MPIJob
	metadata: {name: many}
	spec:
	  mpiReplicaSpecs:
	    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, image: none, command: [sleep, "0"]}]}}}
	    Worker: {replicas: 1, template: {spec: {containers: [{name: mpi, image: none, command: [sleep, "1000"]}]}}}
	EOF
}

refused() {
	api /metrics >metrics && grep "^apiserver_request_total.*code=.403." metrics
}

test_expect_success KUBECTL_130 'the operator runs jobs as this account, and nothing is forbidden' '
	as_account muster-system account.json &&
	start_operator all --kubeconfig account.json --leader-elect --leader-election-namespace muster-system &&
	soon is_ready all && lacks all.log "permission missing" &&
	jobs >jobs.yaml && kubectl apply -f jobs.yaml && kubectl wait --for=condition=Succeeded pytorchjob/train mpijob/many --timeout=240s &&
	kubectl get role many-launcher && kubectl delete -f jobs.yaml --timeout=120s &&
	lacks all.log "[Ff]orbidden" && ! refused && end_operator all
'

test_expect_success KUBECTL_130 'it may do nothing else' '
	for wish in "create secrets" "get secrets" "create deployments" "delete nodes" "create clusterroles" "update pods" "delete configmaps" "update pytorchjobs" "create tfjobs"; do
		is no "$(kubectl auth can-i $wish -A --as system:serviceaccount:muster-system:muster)" || return 1
	done
'

test_expect_success KUBECTL_130 'without a right it is not ready, and says which' '
	kubectl get clusterrole muster -o json | jq "del(.rules[] | select(.resources == [\"services\"]))" | kubectl replace -f - &&
	start_operator less --kubeconfig account.json && soon grep -q "permission missing.*resource=services" less.log && end_operator less &&
	kubectl apply -f install.yaml >out && has out "clusterrole.*/muster configured"
'

test_expect_success KUBECTL_130 'in one namespace a Role is enough' '
	make Namespace team-b && muster manifests rbac --namespace team-b >team.yaml && kubectl apply -f team.yaml && as_account team-b team.json &&
	is no "$(kubectl auth can-i list pods -A --as system:serviceaccount:team-b:muster)" &&
	start_operator team --kubeconfig team.json --namespace team-b --leader-elect --leader-election-namespace team-b && soon is_ready team &&
	jobs | kubectl apply -n team-b -f - && kubectl wait -n team-b --for=condition=Succeeded pytorchjob/train mpijob/many --timeout=240s &&
	lacks team.log "[Ff]orbidden" && end_operator team
'

test_expect_success KUBECTL_130 'people: edit and view' '
	kubectl get clusterrole muster-jobs-edit muster-jobs-view -o json >roles.json &&
	jq_is "[.items[].metadata.labels | keys[] | select(test(\"aggregate\"))] == [\"rbac.authorization.k8s.io/aggregate-to-edit\", \"rbac.authorization.k8s.io/aggregate-to-view\"]" roles.json &&
	jq_is ".items[1].rules | map(.verbs[]) | unique == [\"get\", \"list\", \"watch\"]" roles.json &&
	kubectl create rolebinding ann --clusterrole=muster-jobs-edit --user=ann && kubectl create rolebinding bob --clusterrole=muster-jobs-view --user=bob &&
	is yes "$(kubectl auth can-i create tfjobs --as ann)" && is yes "$(kubectl auth can-i list tfjobs --as bob)" && is no "$(kubectl auth can-i create tfjobs --as bob)"
'

test_expect_success KUBECTL_130 'uninstall: the definitions, the jobs and their pods stay' '
	as_account muster-system account.json && start_operator last --kubeconfig account.json && soon is_ready last &&
	tfjob stays 1 | kubectl apply -f - && kubectl wait --for=condition=Running tfjob/stays --timeout=120s && end_operator last &&
	muster manifests uninstall >gone.yaml && kubectl delete -f gone.yaml >out && has out "deployment.apps .muster. deleted" "clusterrole.rbac.authorization.k8s.io .muster. deleted" &&
	is Deployment "$(sed -n "s/^kind: //p" gone.yaml | head -n 1)" && lacks gone.yaml "^kind: CustomResourceDefinition" "^kind: Namespace" &&
	is "" "$(kubectl get sa,role,rolebinding,service,networkpolicy,pdb,deployment -n muster-system -o name | grep muster)" &&
	kubectl get tfjob stays && kubectl get pod stays-worker-0 -o jsonpath="{.status.phase}" >out && is Running "$(cat out)" &&
	kubectl delete -f gone.yaml --ignore-not-found >out && is "" "$(cat out)"
'

test_expect_success KUBECTL_130 'the pods end with the server' 'stop_muster'

test_done
