#!/bin/sh
test_description='bytes and requests that mean no good'
. "$(dirname "$0")/lib.sh"

widgets() {
	cat <<-\EOF
	apiVersion: apiextensions.k8s.io/v1
	kind: CustomResourceDefinition
	metadata: {name: widgets.hostile.io}
	spec:
	  group: hostile.io
	  scope: Namespaced
	  names: {plural: widgets, singular: widget, kind: Widget}
	  versions:
	  - name: v1
	    served: true
	    storage: true
	    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
	EOF
}

has_widgets() {
	api /apis/hostile.io/v1/widgets >list && grep -q uid list
}

# Creates a thousand widgets as fast as it can; most meet the end of their definition.
write_widgets() {
	api "/apis/hostile.io/v1/namespaces/default/widgets?n=[1-1000]" -sZ --parallel-max 50 -o /dev/null \
		--json "{\"apiVersion\":\"hostile.io/v1\",\"kind\":\"Widget\",\"metadata\":{\"generateName\":\"w-\"}}"
}

test_expect_success 'start' 'start_muster'

test_expect_success 'an object that owns itself can be deleted in the foreground' '
	uid=$(make ConfigMap narcissus -o jsonpath="{.metadata.uid}") &&
	kubectl patch configmap narcissus --type=merge -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"narcissus\",\"uid\":\"$uid\",\"blockOwnerDeletion\":true}]}}" &&
	kubectl delete configmap narcissus --cascade=foreground --timeout=120s
'

test_expect_success 'a definition can be deleted while its objects are being written' '
	for round in 1 2 3 4 5; do
		widgets | kubectl create -f - &&
		kubectl wait --for=condition=Established crd/widgets.hostile.io --timeout=120s || return 1
		write_widgets &
		soon has_widgets || return 1
		kubectl delete crd widgets.hostile.io --timeout=120s || return 1
		wait $!
	done &&
	widgets | kubectl create -f - &&
	kubectl wait --for=condition=Established crd/widgets.hostile.io --timeout=120s &&
	is "" "$(kubectl get widgets -A -o name)"
'

test_expect_success 'bytes that are no text are refused at the door' '
	code=$(api "/api/v1/namespaces/default/configmaps/manager?fieldManager=a%ff" -X PATCH -o body -w "%{http_code}" \
		-H "Content-Type: application/merge-patch+json" -d "{\"data\":{\"a\":\"b\"}}") &&
	is 400 "$code" && has body "the query of the request is not UTF-8 at byte 14" &&
	printf "{\"spec\":\"\377\"}" >body.json &&
	code=$(api /apis/authorization.k8s.io/v1/selfsubjectaccessreviews -H "Accept: application/yaml" -o body -w "%{http_code}" --json @body.json) &&
	is 400 "$code" && has body "the body of the request is not UTF-8 at byte 9" && api /healthz
'

test_expect_success 'the same mistake a thousand times is one warning' '
	{ printf "{\"metadata\":{\"name\":\"twice\"},\"data\":{"; yes "\"a\":\"b\"," | head -n 1000; echo "\"a\":\"b\"}}"; } >body.json &&
	api /api/v1/namespaces/default/configmaps -H "Content-Type: application/json" -D heads --data-binary @body.json >/dev/null &&
	is 1 "$(grep -ci "^warning:" heads)"
'

test_expect_success 'directives of YAML are refused when they are many' '
	{ for i in $(seq 2000); do echo "%TAG !e$i! tag:x"; done; echo "---"; echo "metadata: {name: tags}"; } >body.yaml &&
	is 400 "$(api /api/v1/namespaces/default/configmaps -H "Content-Type: application/yaml" -o body -w "%{http_code}" --data-binary @body.yaml)" &&
	has body "more than 100 %TAG directives"
'

test_expect_success 'a directory with a lock that is not ours is left alone' '
	mkdir -m 755 foreign && echo theirs >foreign/lock && touch foreign/status &&
	test_expect_code 1 muster up --data foreign --listen 127.0.0.1:0 2>err &&
	has err "foreign is not empty and was not made by muster" &&
	is theirs "$(cat foreign/lock)" && is 755 "$(stat -c %a foreign)"
'

test_expect_success 'an empty --data is a mistake' '
	test_expect_code 2 muster up --data "" --listen 127.0.0.1:0 2>err && has err "names no directory"
'

test_expect_success 'stop' 'stop_muster'

test_done
