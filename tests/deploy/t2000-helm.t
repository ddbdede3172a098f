#!/bin/sh
test_description='deploy/helm/muster with Helm: what it makes, upgrade, uninstall, test'
. "$(dirname "$0")/lib.sh"

chart=$top/deploy/helm/muster

# Without what only a release has: its labels, and the hooks.
shipped() {
	as_json out.yaml | jq -S "[.[] | select(.metadata.annotations[\"helm.sh/hook\"] == null and .kind != \"Namespace\")
		| del(.metadata.labels, .metadata.annotations[\"helm.sh/resource-policy\"]) | if .metadata.annotations == {} then del(.metadata.annotations) else . end] | $plain"
}

same() { # OPTIONS OF HELM -- OPTIONS OF muster manifests install
	helm_options=
	while test "$1" != --; do helm_options="$helm_options $1" && shift; done
	shift
	# shellcheck disable=SC2086 # a list of words
	helm template muster "$chart" $helm_options >out.yaml && shipped >got &&
		muster manifests install "$@" >out.yaml && shipped >want && test_cmp want got
}

test_expect_success 'the chart is of this version, and lint finds nothing' '
	is "muster $(sed -n "s/^appVersion: //p" "$chart/Chart.yaml")" "$(muster version)" &&
	helm lint --strict "$chart" && helm lint --strict "$chart" --set watchNamespace=a,enableSchemes={jaxjob},serviceMonitor.create=true,crds.install=false
'

test_expect_success 'it makes what muster manifests install prints' '
	same -n muster-system -- && same -n a --set replicas=1 -- --install-namespace a --replicas 1
'

test_expect_success 'for some kinds, in one namespace, and with gang scheduling, too' '
	for gang in volcano kube other; do same -n a --set watchNamespace=a,gangSchedulerName=$gang -- --namespace a --gang-scheduler-name $gang || return 1; done &&
	same -n muster-system --set gangSchedulerName=volcano -- --gang-scheduler-name volcano &&
	for kind in tfjob pytorchjob xgboostjob mpijob paddlejob jaxjob; do same -n a --set "enableSchemes={$kind}" -- --install-namespace a --enable-scheme $kind || return 1; done
'

test_expect_success 'values that make no sense are refused' '
	for wrong in replicas=0 replicas=x enableSchemes={cronjob} watchNamespace=A_b image.tagg=1 gangSchedulerName="a b" test.timeout=soon; do
		test_must_fail helm template muster "$chart" --set "$wrong" 2>err && has err "values don.t meet the specifications of the schema" || return 1
	done
'

test_expect_success 'start' 'no_node= && start_muster --no-operator && kubectl create namespace muster-system'

released() {
	kubectl get crd tfjobs.kubeflow.org -o jsonpath="{.metadata.annotations.meta\\.helm\\.sh/release-name} {.metadata.annotations.helm\\.sh/resource-policy}"
}

test_expect_success 'install; the release fits in its secret' '
	helm install muster "$chart" -n muster-system >out && has out "helm test muster" "kubectl delete crd .*tfjobs.kubeflow.org" &&
	is "muster keep" "$(released)" && kubectl get secret -n muster-system sh.helm.release.v1.muster.v1 -o json >secret.json && test "$(wc -c <secret.json)" -lt 700000
'

test_expect_success 'its account runs a job, and so does helm test, again and again' '
	as_account muster-system muster account.json && start_operator op --kubeconfig account.json --leader-elect --leader-election-namespace muster-system && soon is_ready op &&
	helm test muster -n muster-system --timeout 5m >out && has out "Phase: *Succeeded" && helm test muster -n muster-system --timeout 5m &&
	is "" "$(kubectl get tfjobs,pods,configmaps,sa -n muster-system -o name | grep test)" && lacks op.log "[Ff]orbidden" "permission missing"
'

test_expect_success 'helm test fails when no operator runs' '
	end_operator op && helm upgrade muster "$chart" -n muster-system --set test.timeout=5s && test_must_fail helm test muster -n muster-system --timeout 5m >out 2>&1 &&
	kubectl get pod muster-test -n muster-system -o jsonpath="{.status.phase}" >phase && is Failed "$(cat phase)" && kubectl delete pod muster-test -n muster-system
'

test_expect_success 'upgrade: definitions, too; jobs stay' '
	suspended kept | kubectl apply -f - && uid=$(kubectl get tfjob kept -o jsonpath="{.metadata.uid}") && cp -r "$chart" newer &&
	sed -i "s/How many pods\\./How many pods there are./" newer/files/crds/tfjobs.yaml && ! cmp -s newer/files/crds/tfjobs.yaml "$chart/files/crds/tfjobs.yaml" &&
	helm upgrade muster newer -n muster-system --set replicas=3 >out && has out "has been upgraded" &&
	soon sh -c "kubectl explain tfjob.spec.tfReplicaSpecs.replicas | grep \"How many pods there are\"" &&
	is 3 "$(kubectl get deployment muster -n muster-system -o jsonpath="{.spec.replicas}")" && is "$uid" "$(kubectl get tfjob kept -o jsonpath="{.metadata.uid}")" &&
	helm rollback muster 2 -n muster-system && is 2 "$(kubectl get deployment muster -n muster-system -o jsonpath="{.spec.replicas}")"
'

test_expect_success 'uninstall keeps the definitions and every job' '
	helm uninstall muster -n muster-system >out 2>&1 && has out "kept due to the resource policy" "CustomResourceDefinition. tfjobs.kubeflow.org" &&
	is "$uid" "$(kubectl get tfjob kept -o jsonpath="{.metadata.uid}")" && is "muster keep" "$(released)" &&
	is "" "$(kubectl get sa,role,rolebinding,service,deployment -n muster-system -o name | grep muster)" && is "" "$(kubectl get clusterrole,clusterrolebinding,priorityclass -o name | grep /muster)"
'

test_expect_success 'installed again, it goes on with them' '
	helm install muster "$chart" -n muster-system >out && is "$uid" "$(kubectl get tfjob kept -o jsonpath="{.metadata.uid}")" && helm uninstall muster -n muster-system
'

test_expect_success 'definitions that others made are adopted when asked for' '
	kubectl delete tfjob kept && kubectl delete crd --all && muster manifests crds | kubectl apply -f - && suspended old | kubectl apply -f - && uid=$(kubectl get tfjob old -o jsonpath="{.metadata.uid}") &&
	test_must_fail helm install muster "$chart" -n muster-system 2>err && has err "cannot be imported into the current release" &&
	helm install muster "$chart" -n muster-system --take-ownership && is "muster keep" "$(released)" && is "$uid" "$(kubectl get tfjob old -o jsonpath="{.metadata.uid}")" &&
	helm upgrade muster "$chart" -n muster-system && helm uninstall muster -n muster-system && kubectl get tfjob old
'

test_expect_success 'definitions that others keep are left alone' '
	helm install muster "$chart" -n muster-system --set crds.install=false && helm uninstall muster -n muster-system && kubectl get tfjob old
'

test_done
