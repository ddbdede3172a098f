#!/bin/sh
test_description='service accounts: tokens in pods, what they may do, and MPI jobs that need them'
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2016 # $variables are for test_expect_success and for pods

no_node=
place=
secrets=/var/run/secrets/kubernetes.io/serviceaccount

cat >objects.yaml <<END
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: see}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get, list]}
- {apiGroups: [""], resources: [pods/exec], verbs: [create], resourceNames: [plain]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: see}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: see}
subjects: [{kind: ServiceAccount, name: reader}]
---
apiVersion: v1
kind: Pod
metadata: {name: asks}
spec:
  serviceAccountName: reader
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: x, command: [sleep, "1000"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: x, command: [sleep, "1000"]}]
END


# A kubeconfig without the certificate, which would be somebody else.
reader_config() {
	kubectl config view --raw --minify -o json |
		jq --arg token "$(cat token)" '.users[0].user = {token: $token}' >reader.json
}

test_expect_success 'start' '
	start_muster && kubectl config set-context --current --namespace=default &&
	kubectl create -f objects.yaml && kubectl wait --for=condition=Ready pod/asks pod/plain --timeout=300s
'

test_expect_success 'a pod runs as an account, and its token is mounted as on a cluster' '
	kubectl get pod asks plain -o json >pods && jq_is ".items[0].spec.serviceAccountName == \"reader\"" pods &&
	jq_is ".items[0].spec.volumes[0] | (.name | startswith(\"kube-api-access-\")) and
		(.projected.sources[0].serviceAccountToken.expirationSeconds == 3607)" pods &&
	jq_is ".items[0].spec.containers[0].volumeMounts[0] | .mountPath == \"$secrets\" and .readOnly" pods &&
	jq_is ".items[1].spec | .serviceAccountName == \"default\" and (has(\"volumes\") | not)" pods &&
	kubectl get serviceaccount default
'

test_expect_success KUBECTL_130 'a namespace has its account before it has pods' '
	kubectl create namespace fresh && soon kubectl get serviceaccount default -n fresh &&
	kubectl create token default -n fresh >out && test -s out && kubectl delete namespace fresh
'

test_expect_success 'an account that is not there' '
	echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"no\"},\"spec\":{\"serviceAccountName\":\"nobody\",
		\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}" >no.json && test_must_fail kubectl create -f no.json 2>err &&
	has err "pods \"no\" is forbidden: error looking up service account default/nobody: serviceaccount \"nobody\" not found"
'

test_expect_success KUBECTL_130 'a token: who it is, what it may, what it may not' '
	kubectl create token reader >token && reader_config &&
	kubectl --kubeconfig reader.json auth whoami -o json >me && jq_is ".status.userInfo |
		.username == \"system:serviceaccount:default:reader\" and (.groups | index(\"system:serviceaccounts:default\"))" me &&
	kubectl --as system:serviceaccount:default:reader auth whoami -o json >me && jq_is ".status.userInfo.groups |
		index(\"system:serviceaccounts:default\")" me &&
	kubectl --kubeconfig reader.json get pods -o name >out && has out pod/asks &&
	test_must_fail kubectl --kubeconfig reader.json get secrets 2>err &&
	has err "secrets is forbidden: User \"system:serviceaccount:default:reader\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\"" &&
	test_must_fail kubectl --kubeconfig reader.json get pods -n kube-system &&
	test_must_fail kubectl --kubeconfig reader.json delete pod plain &&
	is yes "$(kubectl --kubeconfig reader.json auth can-i list pods)" &&
	is no "$(kubectl --kubeconfig reader.json auth can-i create deployments)" &&
	is yes "$(kubectl auth can-i get pods --subresource log --as system:serviceaccount:default:reader)"
'

test_expect_success KUBECTL_130 'exec by name only' '
	is hello "$(muster exec --kubeconfig reader.json plain -- echo hello)" &&
	test_must_fail muster exec --kubeconfig reader.json asks -- true 2>err && has err "forbidden"
'

test_expect_success KUBECTL_130 'roles cannot be used to get more' '
	kubectl create role binder --verb create,update,patch --resource roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io &&
	kubectl create rolebinding binder --role binder --serviceaccount default:reader &&
	test_must_fail kubectl --kubeconfig reader.json create role all --verb "*" --resource secrets 2>err && has err forbidden &&
	kubectl create clusterrole all --verb "*" --resource "*.*" &&
	test_must_fail kubectl --kubeconfig reader.json create rolebinding all --clusterrole all --serviceaccount default:reader 2>err &&
	has err forbidden "not currently held" && kubectl delete clusterrole all
'
test_expect_success KUBECTL_130 'and can be used to hand on what one has' '
	kubectl --kubeconfig reader.json create role some --verb get,list --resource pods &&
	kubectl --kubeconfig reader.json create rolebinding some --role some --serviceaccount default:other &&
	is yes "$(kubectl auth can-i list pods --as system:serviceaccount:default:other)" && kubectl delete rolebinding binder some
'

test_expect_success KUBECTL_130 'a role that goes takes its rights along, and so does an account' '
	kubectl delete rolebinding see && test_must_fail kubectl --kubeconfig reader.json get pods 2>err && has err forbidden &&
	kubectl delete serviceaccount reader && test_must_fail kubectl --kubeconfig reader.json get pods 2>err &&
	has err "Unauthorized\|must be logged in\|provide credentials" && kubectl apply -f objects.yaml
'

test_expect_success KUBECTL_130 'the roles that every cluster has are there to be bound' '
	kubectl create rolebinding editor --clusterrole edit --serviceaccount default:editor &&
	kubectl create clusterrolebinding boss --clusterrole cluster-admin --serviceaccount default:boss &&
	editor="--as system:serviceaccount:default:editor" boss="--as system:serviceaccount:default:boss" &&
	is yes "$(kubectl auth can-i create deployments.apps $editor)" && is yes "$(kubectl auth can-i list pods $editor)" &&
	test_must_fail kubectl auth can-i create roles.rbac.authorization.k8s.io $editor &&
	test_must_fail kubectl auth can-i list pods -n kube-system $editor &&
	is yes "$(kubectl auth can-i delete tfjobs.kubeflow.org -A $boss)" && is yes "$(kubectl auth can-i get /metrics $boss)" &&
	kubectl auth can-i --list $editor >out && has out "^deployments.apps .*create.*watch" "^pods/log " &&
	kubectl delete clusterrolebinding boss && kubectl delete rolebinding editor
'

test_expect_success KUBECTL_130 'requests for tokens that make no sense' '
	test_must_fail kubectl create token nobody 2>err && has err "serviceaccounts \"nobody\" not found" &&
	test_must_fail kubectl create token reader --duration 5s 2>err && has err "may not specify a duration less than 10 minutes" &&
	test_must_fail kubectl create token reader --bound-object-kind Pod --bound-object-name plain 2>err &&
	has err "different serviceaccount"
'

test_expect_success KUBECTL_130 'bound to a pod: gone with it' '
	kubectl delete pod asks --now && kubectl apply -f objects.yaml && kubectl wait --for=condition=Ready pod/asks --timeout=300s &&
	kubectl create token reader --bound-object-kind Pod --bound-object-name asks >token && reader_config &&
	kubectl --kubeconfig reader.json get pods -o name >out && has out pod/asks &&
	kubectl delete pod asks --now && test_must_fail kubectl --kubeconfig reader.json get pods
'

# What the pod itself sees: by its files, or, where all pods share this machine\'s, by KUBECONFIG.
test_expect_success 'from inside: muster exec into another pod' '
	kubectl apply -f objects.yaml && kubectl wait --for=condition=Ready pod/asks --timeout=300s &&
	is "in plain" "$(muster exec asks -- "$(command -v muster)" exec plain -- echo in plain)"
'

test_expect_success 'an MPI job: the launcher starts its workers' '
	kubectl apply -f "$top/examples/mpijob-simple.yaml" &&
	kubectl wait --for=condition=Succeeded mpijob/hello --timeout=300s && kubectl logs hello-launcher >out &&
	has out "hello from hello-worker-0" "hello from hello-worker-1"
'

cat >allreduce.c <<END
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int mine = rank + 1;
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d: sum %d\n", rank, size, sum);
	MPI_Finalize();
	return 0;
}
END
reduces() {
	jq -n --arg run "exec mpirun --allow-run-as-root -n 3 $place/allreduce" '{
		apiVersion: "kubeflow.org/v1", kind: "MPIJob", metadata: {name: "reduce"}, spec: {slotsPerWorker: 1,
		runPolicy: {cleanPodPolicy: "Running"}, mpiReplicaSpecs: {
		Launcher: {replicas: 1, template: {spec: {containers: [{name: "mpi", image: "x", command: ["sh", "-c", $run]}]}}},
		Worker: {replicas: 3, template: {spec: {containers: [{name: "mpi", image: "x"}]}}}}}}' >reduce.json &&
		kubectl create -f reduce.json && { kubectl wait --for=condition=Succeeded mpijob/reduce --timeout=300s ||
			{ kubectl logs reduce-launcher >&2; kubectl get pods >&2; false; }; } &&
		kubectl logs reduce-launcher >out && has out "rank 0 of 3: sum 6" "rank 1 of 3: sum 6" "rank 2 of 3: sum 6"
}
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
	test_set_prereq MPI
	place=$(mktemp -d /var/tmp/muster-mpi.XXXXXX) # not /tmp, which each pod has for itself
fi

test_expect_success MPI 'Open MPI: an allreduce over three workers' '
	mpicc -o "$place/allreduce" allreduce.c && reduces && kubectl delete mpijob reduce
'

test_expect_success 'where pods share this machine: from inside, and an MPI job' '
	stop_muster && data=$PWD/data-shared && start_muster --isolation shared &&
	kubectl config set-context --current --namespace=default && kubectl create -f objects.yaml &&
	kubectl wait --for=condition=Ready pod/asks pod/plain --timeout=300s &&
	is "in plain" "$(muster exec asks -- "$(command -v muster)" exec plain -- echo in plain)" &&
	test_must_fail muster exec plain -- sh -c "test -n \"\$KUBECONFIG\"" &&
	kubectl apply -f "$top/examples/mpijob-simple.yaml" &&
	kubectl wait --for=condition=Succeeded mpijob/hello --timeout=300s && kubectl logs hello-launcher >out &&
	has out "hello from hello-worker-0" "hello from hello-worker-1" && kubectl delete mpijob hello
'

# Each has other files at /etc/mpi, which is one place of this machine.
both_run() {
	test "$(kubectl get pod first-launcher second-launcher -o "jsonpath={.items[*].status.phase}")" = "Running Running"
}
test_expect_success 'two MPI jobs at once' '
	go=$(mktemp -d /var/tmp/muster-two.XXXXXX) && test_when_finished "rm -rf $go" &&
	for name in first second; do
		sed -e "s/name: hello/name: $name/" -e "s|cat /etc/mpi/hostfile|until test -e $go/go; do sleep 0.1; done; cat /etc/mpi/hostfile|" \
			"$top/examples/mpijob-simple.yaml" && echo --- || return 1
	done >two.yaml && kubectl create -f two.yaml && within 60 both_run && touch "$go/go" &&
	for name in first second; do
		kubectl wait --for=condition=Succeeded mpijob/$name --timeout=300s && kubectl logs $name-launcher >out &&
			has out "^$name-worker-0 slots=1" "hello from $name-worker-0" "hello from $name-worker-1" || return 1
	done
'

test_expect_success MPI 'and Open MPI there' '
	reduces && kubectl delete mpijob reduce
'

test -z "$place" || rm -rf "$place"
stop_muster
test_done
