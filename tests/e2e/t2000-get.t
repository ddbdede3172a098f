#!/bin/sh
test_description='kubectl get: every output, selectors, sorting, chunks'
. "$(dirname "$0")/lib.sh"

names() {
	tr '\n' ' '
}

test_expect_success 'start, with three pods and a service' '
	start_api && kubectl create -f "$e2e/pods.yaml" >out &&
	is "pod/alpha created pod/beta created pod/gamma created service/web created " "$(names <out)"
'

test_expect_success 'the table that kubectl users know' '
	kubectl get pods >out && head -n 1 out >head &&
	is "NAME READY STATUS RESTARTS AGE" "$(xargs <head)" &&
	has out "^alpha  *0/1  *Pending  *0  *[0-9]*s" "^beta  *0/2  *Pending"
'

test_expect_success '-o wide adds what is wide' '
	kubectl get pods -o wide >out &&
	has out "^NAME  *READY  *STATUS  *RESTARTS  *AGE  *IP  *NODE  *NOMINATED NODE  *READINESS GATES" "^alpha .* node-1 "
'

test_expect_success 'other tables' '
	kubectl get services >out && has out "^NAME  *TYPE  *CLUSTER-IP  *EXTERNAL-IP  *PORT(S)  *AGE" "^web  *ClusterIP  *10[.0-9]*  *<none>  *80/TCP" &&
	kubectl get namespaces >out && has out "^NAME  *STATUS  *AGE" "^default  *Active" &&
	kubectl get configmaps -A >out 2>&1
'

test_expect_success '--no-headers and --show-labels and -L' '
	kubectl get pod alpha --no-headers --show-labels >out && is 1 "$(wc -l <out)" && has out "app=web,tier=front" &&
	kubectl get pods -L app,tier >out && has out "APP  *TIER" "^alpha .* web  *front"
'

test_expect_success KUBECTL_130 '-o yaml' '
	kubectl get pod alpha -o yaml >out &&
	has out "^apiVersion: v1" "^kind: Pod" "^  name: alpha" "^  creationTimestamp: \"20" "^  uid: " "^    image: example.com/web:1" &&
	lacks out managedFields
'

test_expect_success '-o yaml, given back, is the same object' '
	kubectl get pod alpha -o yaml >out && kubectl apply --dry-run=server -f out -o yaml 2>/dev/null >again &&
	grep -v last-applied again >/dev/null && has again "name: alpha"
'

test_expect_success KUBECTL_130 '-o yaml --show-managed-fields' '
	kubectl get pod alpha -o yaml --show-managed-fields >out && has out "managedFields:" "manager: kubectl-create" "f:containers"
'

test_expect_success '-o json' '
	kubectl get pod alpha -o json >out && jq_is ".kind == \"Pod\" and .spec.restartPolicy == \"Always\" and .status.phase == \"Pending\"
		and .status.qosClass == \"Burstable\" and .spec.containers[0].terminationMessagePath == \"/dev/termination-log\"" out &&
	kubectl get pods -o json >out && jq_is ".kind == \"List\" and (.items | length == 3)" out
'

test_expect_success '-o name' '
	is "pod/alpha pod/beta pod/gamma " "$(kubectl get pods -o name | names)" &&
	is "pod/alpha service/web " "$(kubectl get pod/alpha service/web -o name | names)"
'

test_expect_success '-o jsonpath and jsonpath-as-json' '
	is "alpha:example.com/web:1 beta:example.com/web:2 gamma:example.com/batch:1 " \
		"$(kubectl get pods -o jsonpath="{range .items[*]}{.metadata.name}:{.spec.containers[0].image}{\" \"}{end}")" &&
	is beta "$(kubectl get pods -o "jsonpath={.items[?(@.spec.restartPolicy==\"Never\")].metadata.name}")" &&
	is "[\"main\",\"side\"]" "$(kubectl get pod beta -o jsonpath-as-json="{.spec.containers[*].name}" | jq -c .)"
'

test_expect_success '-o go-template' '
	is "alpha beta gamma " "$(kubectl get pods -o go-template="{{range .items}}{{.metadata.name}} {{end}}")"
'

test_expect_success '-o custom-columns' '
	kubectl get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image,NODE:.spec.nodeName >out &&
	has out "^N  *I  *NODE" "^alpha  *example.com/web:1  *node-1" "^beta  *example.com/web:2,example.com/side  *<none>"
'

test_expect_success '-l: equality, sets, existence' '
	is "pod/alpha pod/beta " "$(kubectl get pods -l app=web -o name | names)" &&
	is "pod/beta " "$(kubectl get pods -l app=web,tier!=front -o name | names)" &&
	is "pod/alpha pod/gamma " "$(kubectl get pods -l "tier notin (back)" -o name | names)" &&
	is "pod/alpha pod/beta pod/gamma " "$(kubectl get pods -l "app in (web,batch)" -o name | names)" &&
	is "pod/gamma " "$(kubectl get pods -l "!tier" -o name | names)" &&
	is "pod/alpha pod/beta " "$(kubectl get pods -l tier -o name | names)"
'

test_expect_success '-l: a bad selector is said to be bad' '
	test_must_fail kubectl get pods -l "app in web" 2>err && has err "unable to parse requirement"
'

test_expect_success '--field-selector' '
	is "pod/beta " "$(kubectl get pods --field-selector metadata.name=beta -o name | names)" &&
	is "pod/alpha " "$(kubectl get pods --field-selector spec.nodeName=node-1 -o name | names)" &&
	is "pod/alpha pod/beta pod/gamma " "$(kubectl get pods --field-selector status.phase=Pending -o name | names)" &&
	is "pod/alpha pod/gamma " "$(kubectl get pods --field-selector spec.restartPolicy!=Never -o name | names)" &&
	test_must_fail kubectl get pods --field-selector spec.colour=red 2>err && has err "field label not supported: spec.colour"
'

test_expect_success '--sort-by' '
	is "alpha beta gamma " "$(kubectl get pods --sort-by=.metadata.creationTimestamp --no-headers | cut -d" " -f1 | names)" &&
	is "gamma alpha beta " "$(kubectl get pods --sort-by=.spec.containers[0].image --no-headers | cut -d" " -f1 | names)"
'

test_expect_success '-A shows the namespace' '
	kubectl get pods -A >out && has out "^NAMESPACE  *NAME" "^$ns  *alpha" &&
	is "$ns/alpha " "$(kubectl get pods -A -l tier=front -o jsonpath="{range .items[*]}{.metadata.namespace}/{.metadata.name} {end}")"
'

test_expect_success '--chunk-size walks through pages and finds all' '
	is "pod/alpha pod/beta pod/gamma " "$(kubectl get pods --chunk-size=1 -o name | names)" &&
	kubectl get pods --chunk-size=2 >out && is 4 "$(wc -l <out)"
'

test_expect_success 'a page with limit says how many remain, and continue goes on where it ended' '
	kubectl get --raw "/api/v1/namespaces/$ns/pods?limit=2" >page &&
	jq_is "(.items | length == 2) and .metadata.remainingItemCount == 1 and (.metadata.continue | length > 0)" page &&
	make Pod delta --dry-run=client >/dev/null &&
	kubectl get --raw "/api/v1/namespaces/$ns/pods?limit=2&continue=$(jq -r .metadata.continue page)" >rest &&
	jq_is "[.items[].metadata.name] == [\"gamma\"] and (.metadata.continue // \"\") == \"\"" rest &&
	is "$(jq -r .metadata.resourceVersion page)" "$(jq -r .metadata.resourceVersion rest)"
'

test_expect_success 'several kinds, all, and one that is not there' '
	kubectl get pods,services -o name >out && is "pod/alpha pod/beta pod/gamma service/web " "$(names <out)" &&
	kubectl get all -o name >out && has out pod/alpha service/web &&
	test_must_fail kubectl get pod nobody 2>err && has err "^Error from server (NotFound): pods \"nobody\" not found$" &&
	kubectl get pod nobody --ignore-not-found >out && test_must_be_empty out &&
	test_must_fail kubectl get unicorns 2>err && has err "the server doesn.t have a resource type \"unicorns\""
'

test_expect_success 'an empty namespace: no resources found' '
	kubectl get deployments 2>err && has err "^No resources found in $ns namespace.$"
'

test_expect_success 'short names, singular names, names with version and group' '
	kubectl get po alpha -o name && kubectl get pods.v1. alpha -o name && kubectl get svc web -o name && kubectl get service/web -o name &&
	kubectl get deployments.v1.apps -o name
'

test_expect_success 'get -f and get -k' '
	is "pod/alpha pod/beta pod/gamma service/web " "$(kubectl get -f "$e2e/pods.yaml" -o name | names)"
'

test_expect_success 'PartialObjectMetadata for those who ask' '
	kubectl get --raw "/api/v1/namespaces/$ns/pods" >/dev/null &&
	api "/api/v1/namespaces/$ns/pods" -H "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" >meta &&
	jq_is ".kind == \"PartialObjectMetadataList\" and .items[0].kind == \"PartialObjectMetadata\" and .items[0].metadata.name == \"alpha\" and (.items[0] | has(\"spec\") | not)" meta
'

test_expect_success 'YAML for those who ask' '
	api "/api/v1/namespaces/$ns/pods/alpha" -H "Accept: application/yaml" -D headers >yaml && has headers "application/yaml" && has yaml "^kind: Pod"
'

test_expect_success 'every kind can be listed as a table' '
	kubectl api-resources --verbs=list -o name >kinds && test $(wc -l <kinds) -gt 40 &&
	kubectl get "$(paste -sd, kinds)" -A >out 2>err && has out pod/alpha && lacks err rror
'

test_done
