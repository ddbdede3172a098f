#!/bin/sh
test_description='kubectl delete in all ways; owners, finalizers, namespaces'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api'

gone() {
	! kubectl get "$@" -o name >/dev/null 2>gone.err && grep -q NotFound gone.err
}

# vanish NAME...: each is gone, or goes soon s (an old kubectl will not wait for what is gone)
vanish() {
	for name; do
		kubectl wait --for=delete "$name" --timeout=120s || gone "$name" || return 1
	done
}

# owned NAME OWNER [true]: a config map owned by another (and blocking its deletion)
owned() {
	uid=$(kubectl get configmap "$2" -o "jsonpath={.metadata.uid}") &&
		kubectl create -f - <<-EOF
		{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$1","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"$2","uid":"$uid","blockOwnerDeletion":${3:-false}}]}}
		EOF
}

test_expect_success 'by name, several, by type/name, by file, by standard input' '
	for i in a b c d e; do
		make ConfigMap $i || return 1
	done &&
	kubectl delete configmap a >out && is "configmap \"a\" deleted" "$(sed "s/ from .*//" out)" && kubectl delete configmap b c && kubectl delete configmap/d && gone configmap d &&
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\n" | kubectl delete -f - && gone configmap e
'

test_expect_success 'what is not there: an error, unless told to ignore it' '
	test_must_fail kubectl delete configmap nobody 2>err && has err "^Error from server (NotFound): configmaps \"nobody\" not found$" &&
	kubectl delete configmap nobody --ignore-not-found
'

test_expect_success '-l, --field-selector and --all' '
	for i in 1 2 3 4; do
		make ConfigMap "l$i" && kubectl label configmap "l$i" "n=$((i % 2))" || return 1
	done &&
	kubectl delete configmap -l n=1 && is "configmap/l2 configmap/l4" "$(kubectl get configmap -l n -o name | xargs)" &&
	kubectl delete configmap --field-selector metadata.name=l2 && is configmap/l4 "$(kubectl get configmap -l n -o name | xargs)" &&
	kubectl delete configmap --all && is "" "$(kubectl get configmap -l n -o name)"
'

test_expect_success '--dry-run=server deletes nothing' '
	make ConfigMap dry && kubectl delete configmap dry --dry-run=server >out && has out "(server dry run)" && kubectl get configmap dry
'

test_expect_success 'a pod on no node goes at once; one on a node waits for its grace' '
	kubectl create -f "$e2e/pods.yaml" && kubectl delete pod gamma --wait=false && gone pod gamma &&
	kubectl delete pod alpha --wait=false && kubectl get pod alpha -o json >got &&
	jq_is ".metadata.deletionTimestamp and .metadata.deletionGracePeriodSeconds == 30" got &&
	kubectl get pod alpha >out && has out Terminating
'

test_expect_success '--force --grace-period=0 takes it away' '
	kubectl delete pod alpha --force --grace-period=0 2>err && has err "^[Ww]arning: Immediate deletion" && gone pod alpha
'

test_expect_success '--grace-period is kept' '
	kubectl run held --image=example.com/i --overrides="{\"spec\":{\"nodeName\":\"n\"}}" --dry-run=client -o json | kubectl create -f - &&
	kubectl delete pod held --grace-period=7 --wait=false && is 7 "$(kubectl get pod held -o jsonpath={.metadata.deletionGracePeriodSeconds})" &&
	kubectl delete pod held --now --wait=false && is 1 "$(kubectl get pod held -o jsonpath={.metadata.deletionGracePeriodSeconds})" &&
	kubectl delete pod held --force --grace-period=0
'

test_expect_success 'a finalizer holds an object until it is taken off' '
	make ConfigMap fin && kubectl patch configmap fin -p "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}" &&
	kubectl delete configmap fin --wait=false && test -n "$(kubectl get configmap fin -o jsonpath={.metadata.deletionTimestamp})" &&
	test_must_fail timeout 2 kubectl wait --for=delete configmap/fin --timeout=1s &&
	test_must_fail kubectl patch configmap fin -p "{\"metadata\":{\"finalizers\":[\"example.com/hold\",\"example.com/more\"]}}" 2>err && has err "no new finalizers can be added if the object is being deleted" &&
	start vanish configmap/fin && waiter=$! &&
	kubectl patch configmap fin --type=merge -p "{\"metadata\":{\"finalizers\":[]}}" && wait $waiter
'

test_expect_success 'preconditions: a wrong uid or resourceVersion is a conflict' '
	make ConfigMap pre &&
	api "/api/v1/namespaces/$ns/configmaps/pre" -X DELETE --json "{\"preconditions\":{\"uid\":\"other\"}}" >out && jq_is ".code == 409 and .reason == \"Conflict\" and (.message | test(\"UID in the precondition .other. does not match\"))" out &&
	api "/api/v1/namespaces/$ns/configmaps/pre" -X DELETE --json "{\"preconditions\":{\"resourceVersion\":\"1\"}}" >out && jq_is ".code == 409" out && kubectl get configmap pre
'

test_expect_success MUSTER 'the owned goes with its owner, and what it owns in turn' '
	make ConfigMap owner && owned child owner && owned grandchild child && kubectl delete configmap owner &&
	vanish configmap/child configmap/grandchild
'

test_expect_success MUSTER 'an object whose owner never was is collected' '
	kubectl create -f - <<-EOF &&
	{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"orphan-of-none","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"never","uid":"00000000-0000-4000-8000-000000000000"}]}}
	EOF
	vanish configmap/orphan-of-none
'

test_expect_success MUSTER '--cascade=orphan leaves the owned, without the reference' '
	make ConfigMap o2 && owned c2 o2 && kubectl delete configmap o2 --cascade=orphan && gone configmap o2 &&
	kubectl get configmap c2 && is "" "$(kubectl get configmap c2 -o jsonpath={.metadata.ownerReferences})"
'

test_expect_success MUSTER '--cascade=foreground: the blocking owned goes first, then the owner' '
	make ConfigMap o3 && owned c3 o3 true && kubectl patch configmap c3 -p "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}" &&
	kubectl delete configmap o3 --cascade=foreground --wait=false && is foregroundDeletion "$(kubectl get configmap o3 -o "jsonpath={.metadata.finalizers[0]}")" &&
	soon sh -c "kubectl get configmap c3 -o yaml | grep -q deletionTimestamp" && kubectl get configmap o3 &&
	kubectl patch configmap c3 --type=merge -p "{\"metadata\":{\"finalizers\":null}}" &&
	vanish configmap/c3 configmap/o3
'

test_expect_success MUSTER 'two owners: it stays until the last has gone' '
	make ConfigMap p1 && make ConfigMap p2 && owned both p1 &&
	uid=$(kubectl get configmap p2 -o jsonpath={.metadata.uid}) &&
	kubectl patch configmap both --type=json -p "[{\"op\":\"add\",\"path\":\"/metadata/ownerReferences/-\",\"value\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"p2\",\"uid\":\"$uid\"}}]" &&
	kubectl delete configmap p1 && test_must_fail kubectl wait --for=delete configmap/both --timeout=1s &&
	kubectl delete configmap p2 && vanish configmap/both
'

test_expect_success MUSTER 'a namespace goes with all that is in it' '
	make Namespace doomed && make ConfigMap inside -n doomed && sed /nodeName/d "$e2e/pods.yaml" | kubectl create -n doomed -f - &&
	kubectl delete namespace doomed --timeout=120s && gone namespace doomed && is "" "$(kubectl get pods -A -o name -l app=batch --field-selector metadata.namespace=doomed)" &&
	make Namespace doomed && is "" "$(kubectl get configmaps -n doomed -o name)"
'

test_expect_success MUSTER 'a namespace being deleted: says so, takes nothing new, says what holds it' '
	make ConfigMap held -n doomed && kubectl patch configmap held -n doomed -p "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}" &&
	kubectl delete namespace doomed --wait=false && is Terminating "$(kubectl get namespace doomed -o jsonpath={.status.phase})" &&
	test_must_fail make ConfigMap new -n doomed 2>err && has err "because it is being terminated" &&
	kubectl wait --for=condition=NamespaceFinalizersRemaining namespace/doomed --timeout=120s &&
	kubectl get namespace doomed -o json >got && jq_is "[.status.conditions[] | select(.status == \"True\") | .message] | any(test(\"example.com/hold in 1 resource instances\"))" got &&
	kubectl patch configmap held -n doomed --type=merge -p "{\"metadata\":{\"finalizers\":null}}" && vanish namespace/doomed
'

test_expect_success 'the namespaces everything needs cannot be deleted' '
	test_must_fail kubectl delete namespace default 2>err && has err "namespaces \"default\" is forbidden: this namespace may not be deleted"
'

test_expect_success 'the service kubernetes comes back, at its address' '
	was=$(kubectl get service kubernetes -n default -o jsonpath="{.metadata.uid} {.spec.clusterIP}") &&
	kubectl delete service kubernetes -n default && soon kubectl get service kubernetes -n default &&
	now=$(kubectl get service kubernetes -n default -o jsonpath="{.metadata.uid} {.spec.clusterIP}") &&
	test "${was% *}" != "${now% *}" && is "${was#* }" "${now#* }"
'

test_expect_success 'deletecollection answers with a list and honours selectors' '
	make ConfigMap x1 && make ConfigMap x2 && kubectl label configmap x1 x=1 &&
	kubectl delete --raw "/api/v1/namespaces/$ns/configmaps?labelSelector=x" >out && gone configmap x1 && kubectl get configmap x2
'

test_done
