#!/bin/sh
test_description='deploy/kustomize: current, and what the original had'
. "$(dirname "$0")/lib.sh"

overlay() {
	kubectl kustomize "$top/deploy/kustomize/$1" >out.yaml && as_json out.yaml | jq -S "$plain"
}

# The source of the original, with its manifests.
original() {
	(cd "$deploy/../clients" && ../again go mod download github.com/kubeflow/training-operator && go list -m -f "{{.Dir}}" github.com/kubeflow/training-operator)
}

test_expect_success 'make deploy changes nothing' '
	mkdir -p fresh && (cd "$top" && git ls-files deploy) >shipped && tar -C "$top" -cf - -T shipped | tar -xf - -C fresh &&
	rm fresh/deploy/kustomize/base/operator.yaml fresh/deploy/helm/muster/files/rights.json fresh/deploy/helm/muster/files/crds/tfjobs.yaml &&
	"$top/tools/make-deploy" muster fresh/deploy && diff -r fresh/deploy "$top/deploy"
'

test_expect_success 'a file that is not current is seen' '
	echo >>fresh/deploy/kustomize/base/operator.yaml && ! diff -qr fresh/deploy "$top/deploy" >out
'

test_expect_success 'standalone is what muster manifests install prints' '
	overlay overlays/standalone >got && muster manifests install >want.yaml && as_json want.yaml | jq -S "$plain" >want && test_cmp want got
'

test_expect_success 'kubeflow is what it prints for the original, without its namespace' '
	overlay overlays/kubeflow >got && muster manifests install --like-original --replicas 1 >want.yaml && as_json want.yaml | jq -S "$plain" >want && test_cmp want got &&
	jq_is "map(.kind) | index(\"Namespace\") == null" got && jq_is "map(.metadata.namespace // \"kubeflow\") | unique == [\"kubeflow\"]" got
'

test_expect_success 'names, labels and Service of the original' '
	jq_is "[.[] | select(.kind == \"Deployment\" or .kind == \"ServiceAccount\" or .kind == \"Service\") | .metadata.name] | unique == [\"training-operator\"]" got &&
	jq_is "[.[] | select(.kind == \"ClusterRoleBinding\") | .roleRef.name, .subjects[0].name, .subjects[0].namespace] == [\"training-operator\", \"training-operator\", \"kubeflow\"]" got &&
	jq_is "[.[] | select(.kind == \"Deployment\" or .kind == \"Service\") | .metadata.labels.app, (.spec.selector.matchLabels // .spec.selector)] | unique == [\"training-operator\", {\"control-plane\": \"kubeflow-training-operator\"}]" got &&
	jq_is ".[] | select(.kind == \"Service\") | .metadata.annotations == {\"prometheus.io/scrape\": \"true\", \"prometheus.io/port\": \"8080\", \"prometheus.io/path\": \"/metrics\"}" got &&
	jq_is "[.[] | select(.kind == \"Service\") | .spec.ports[] | [.name, .port, .targetPort]] == [[\"monitoring-port\", 8080, 8080], [\"webhook-server\", 443, 9443]]" got &&
	jq_is "[.[] | select(.metadata.name == \"kubeflow-training-edit\") | .metadata.labels | keys[] | select(test(\"aggregate\"))] == [\"rbac.authorization.kubeflow.org/aggregate-to-kubeflow-edit\", \"rbac.authorization.kubeflow.org/aggregate-to-kubeflow-training-admin\"]" got
'

test_expect_success 'start' 'no_node= && start_muster --no-operator'

test_expect_success KUBECTL_130 'kubectl apply -k takes each, again and again' '
	kubectl apply -k "$top/deploy/kustomize/overlays/standalone" && kubectl get deployment muster -n muster-system &&
	kubectl apply -k "$top/deploy/kustomize/overlays/kubeflow" && kubectl get deployment training-operator -n kubeflow &&
	kubectl apply -k "$top/deploy/kustomize/overlays/kubeflow" >out && is "" "$(grep -v unchanged out)"
'

test_expect_success KUBECTL_130 'over an original that was applied by the server, too' '
	theirs=$(original) && kubectl kustomize "$theirs/manifests/overlays/kubeflow" >out.yaml && as_json out.yaml >original &&
	jq -r ".[] | select(.kind | IN(\"Secret\", \"ValidatingWebhookConfiguration\") | not) | .kind + \" \" + .metadata.name" original | sort >names && overlay overlays/kubeflow >got &&
	jq -r ".[] | .kind + \" \" + .metadata.name" got | sort >ours && is "" "$(comm -23 names ours)" &&
	kubectl delete -n kubeflow deployment training-operator && jq "{apiVersion: \"v1\", kind: \"List\", items: map(select(.kind | IN(\"Deployment\", \"Service\", \"ClusterRole\", \"ClusterRoleBinding\", \"ServiceAccount\")))}" original | kubectl apply --server-side --force-conflicts -f - &&
	is /manager "$(kubectl get deployment training-operator -n kubeflow -o jsonpath="{.spec.template.spec.containers[0].command[0]}")" &&
	kubectl apply -k "$top/deploy/kustomize/overlays/kubeflow" 2>err && kubectl get deployment training-operator -n kubeflow -o json >got &&
	jq_is "[.spec.template.spec.containers[] | .name, .command, .args[0]] == [\"training-operator\", [\"muster\"], \"operator\"]" got
'

test_expect_success KUBECTL_130 'an overlay of a user: namespace, image' '
	mkdir -p mine && cp -r "$top/deploy/kustomize" mine/muster && cat >mine/kustomization.yaml <<-EOF &&
	namespace: training
	resources: [muster/base]
	images: [{name: muster, newName: registry.example/muster, newTag: "7"}]
	EOF
	kubectl kustomize mine >out.yaml && as_json out.yaml >got && jq_is "map(.metadata.namespace // \"training\") | unique == [\"training\"]" got &&
	jq_is ".[] | select(.kind == \"ClusterRoleBinding\") | .subjects[0].namespace == \"training\"" got &&
	jq_is ".[] | select(.kind == \"Deployment\") | .spec.template.spec.containers[0].image == \"registry.example/muster:7\"" got
'

test_expect_success KUBECTL_130 'the account of the kubeflow overlay runs a job' '
	as_account kubeflow training-operator account.json && start_operator kf --kubeconfig account.json --leader-elect --leader-election-namespace kubeflow && soon is_ready kf &&
	tfjob quick 1 | sed "s/sleep, \"60\"/sleep, \"0\"/" | kubectl apply -f - && kubectl wait --for=condition=Succeeded tfjob/quick --timeout=120s &&
	lacks kf.log "[Ff]orbidden" "permission missing" && end_operator kf
'

test_done
