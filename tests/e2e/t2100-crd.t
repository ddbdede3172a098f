#!/bin/sh
test_description='custom resources, defined and used'
. "$(dirname "$0")/lib.sh"

crd=$top/examples/crontab-crd.yaml
tab=$top/examples/crontab.yaml

test_expect_success 'start' 'start_api && kubectl delete crd crontabs.example.com --ignore-not-found'

test_expect_success 'a definition is accepted and established' '
	kubectl create -f "$crd" && kubectl wait --for=condition=Established crd/crontabs.example.com --timeout=120s &&
	kubectl get crd crontabs.example.com -o json >got &&
	jq_is "(.status.conditions | map({(.type): .status}) | add | .NamesAccepted == \"True\" and .Established == \"True\") and .status.acceptedNames.kind == \"CronTab\" and .status.storedVersions == [\"v1\"]" got &&
	kubectl get crd >out && has out "^NAME  *CREATED AT" "^crontabs.example.com  *20"
'

test_expect_success KUBECTL_130 'discovery knows it: names, short names, categories' '
	soon sh -c "kubectl api-resources --api-group=example.com --cached=false | grep -q crontabs" &&
	kubectl api-resources --api-group=example.com >out && has out "^crontabs  *ct  *example.com/v1  *true  *CronTab" &&
	kubectl api-resources --categories=tabs -o name >out && is crontabs.example.com "$(cat out)" && kubectl api-versions >out && has out "^example.com/v1$" "^example.com/v1beta1$"
'

test_expect_success 'objects: created, defaulted, with printer columns' '
	kubectl create -f "$tab" && kubectl get ct >out && has out "^NAME  *SCHEDULE  *REPLICAS  *AGE" "^nightly  *0 3 \* \* \*  *1  *[0-9]*s" &&
	kubectl get crontab nightly -o wide >out && has out "PHASE" && kubectl get crontab/nightly -o json >got &&
	jq_is ".spec.replicas == 1 and .spec.policy == \"Allow\" and .metadata.generation == 1 and .metadata.uid" got &&
	kubectl get tabs -o name >out && is crontab.example.com/nightly "$(cat out)" && kubectl get all -o name >out && has out crontab.example.com/nightly
'

test_expect_success KUBECTL_130 'unknown fields: told under strict, pruned otherwise, kept where asked' '
	sed "s/^spec:/spec:\n  colour: red\n  free: {any: {thing: 1}}/; s/nightly/odd/" "$tab" >odd.yaml &&
	test_must_fail kubectl create -f odd.yaml 2>err && has err "strict decoding error: unknown field \"spec.colour\"" &&
	kubectl create -f odd.yaml --validate=ignore && kubectl get ct odd -o json >got && jq_is "(.spec | has(\"colour\") | not) and .spec.free.any.thing == 1" got && kubectl delete ct odd
'

test_expect_success KUBECTL_130 'invalid objects: every fault, with the texts of Kubernetes' '
	cat >bad.yaml <<-EOF &&
	apiVersion: example.com/v1
	kind: CronTab
	metadata: {name: bad}
	spec: {schedule: never, replicas: 11, policy: Maybe, labels: {a: 1}, steps: [{run: x}, {name: much-too-long-a-name}, {name: c}, {name: d}]}
	EOF
	test_must_fail kubectl create -f bad.yaml 2>err && has err "The CronTab \"bad\" is invalid:" "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10" \
		"spec.schedule: Invalid value: \"never\": spec.schedule in body should match " "spec.policy: Unsupported value: \"Maybe\": supported values: \"Allow\", \"Forbid\"" \
		"spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"" "spec.steps\[0\].name: Required value" "spec.steps\[1\].name: Too long: may not be more than 10 bytes" "spec.steps: Too many: 4: must have at most 3 items" &&
	printf "apiVersion: example.com/v1\nkind: CronTab\nmetadata: {name: bad}\n" | test_must_fail kubectl create -f - 2>err && has err "spec: Required value"
'

test_expect_success 'patches: merge and JSON Patch, not strategic; apply, both ways' '
	kubectl patch ct nightly --type=merge -p "{\"spec\":{\"policy\":\"Forbid\"}}" && kubectl patch ct nightly --type=json -p "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":2}]" &&
	is "Forbid 2" "$(kubectl get ct nightly -o jsonpath="{.spec.policy} {.spec.replicas}")" && is 3 "$(kubectl get ct nightly -o jsonpath={.metadata.generation})" &&
	test_must_fail kubectl patch ct nightly --type=strategic -p "{}" 2>err && test -s err &&
	kubectl apply -f "$tab" 2>err && sed "s/0 3/0 4/" "$tab" | kubectl apply -f - && is "0 4 * * *" "$(kubectl get ct nightly -o jsonpath={.spec.schedule})" &&
	test_must_fail kubectl patch ct nightly --type=merge -p "{\"spec\":{\"replicas\":0}}" 2>err && has err "should be greater than or equal to 1"
'

test_expect_success 'server-side apply merges lists by their keys' '
	cat >step.yaml <<-EOF && kubectl apply --server-side --field-manager=other -f step.yaml && is "dump send" "$(kubectl get ct nightly -o jsonpath="{.spec.steps[*].name}")" &&
	apiVersion: example.com/v1
	kind: CronTab
	metadata: {name: nightly}
	spec: {schedule: "0 4 * * *", steps: [{name: send, run: send it}]}
	EOF
	sed "s/name: send/name: dump/" step.yaml >conflict.yaml && test_must_fail kubectl apply --server-side --field-manager=other -f conflict.yaml 2>err &&
	has err "conflict with \"kubectl-create\" using example.com/v1: .spec.steps\[name=\"dump\"\].run"
'

test_expect_success KUBECTL_130 'status is written by the subresource alone, and does not count as a generation' '
	generation=$(kubectl get ct nightly -o jsonpath={.metadata.generation}) &&
	kubectl patch ct nightly --type=merge -p "{\"status\":{\"phase\":\"Lost\"}}" && is "" "$(kubectl get ct nightly -o jsonpath={.status.phase})" &&
	kubectl patch ct nightly --subresource=status --type=merge -p "{\"status\":{\"phase\":\"Ready\",\"replicas\":2,\"selector\":\"a=b\"},\"spec\":{\"policy\":\"Allow\"}}" &&
	is "Ready Forbid $generation" "$(kubectl get ct nightly -o jsonpath="{.status.phase} {.spec.policy} {.metadata.generation}")" &&
	kubectl wait --for=jsonpath="{.status.phase}"=Ready ct/nightly --timeout=120s &&
	kubectl get --raw "/apis/example.com/v1/namespaces/$ns/crontabs/nightly/scale" >scale && jq_is ".status.replicas == 2 and .status.selector == \"a=b\"" scale
'

test_expect_success 'scale' '
	kubectl scale ct nightly --replicas=5 && is 5 "$(kubectl get ct nightly -o jsonpath={.spec.replicas})" &&
	kubectl get --raw "/apis/example.com/v1/namespaces/$ns/crontabs/nightly/scale" >scale && jq_is ".kind == \"Scale\" and .apiVersion == \"autoscaling/v1\" and .spec.replicas == 5" scale
'

test_expect_success 'the other version shows the same object; a deprecated one warns' '
	kubectl get crontabs.v1beta1.example.com nightly -o json >got 2>err && jq_is ".apiVersion == \"example.com/v1beta1\" and .spec.replicas == 5" got && has err "^Warning: example.com/v1beta1 CronTab is deprecated"
'

test_expect_success KUBECTL_130 'selectable fields' '
	is crontab.example.com/nightly "$(kubectl get ct --field-selector spec.policy=Forbid -o name)" && is "" "$(kubectl get ct --field-selector spec.policy=Allow -o name)" &&
	test_must_fail kubectl get ct --field-selector spec.replicas=5 2>err && has err "field label not supported: spec.replicas"
'

test_expect_success 'explain speaks of it, in the words of its schema' '
	soon sh -c "kubectl explain crontabs >out 2>/dev/null" && has out "Runs a command now and then" && kubectl explain ct.spec.schedule >out && has out "When, in five fields"
'

test_expect_success 'watches, labels, deletion, describe, edit' '
	kubectl label ct nightly x=y && is crontab.example.com/nightly "$(kubectl get ct -l x=y -o name)" && kubectl describe ct nightly >out && has out "Schedule:  *0 4" &&
	printf "#!/bin/sh\nsed -i \"s/policy: Forbid/policy: Allow/\" \"\$1\"\n" >editor && chmod +x editor && EDITOR=./editor kubectl edit ct nightly && is Allow "$(kubectl get ct nightly -o jsonpath={.spec.policy})"
'

test_expect_success 'a definition that is wrong: what and where' '
	sed "s/type: integer/type: whole/" "$crd" >wrong.yaml && test_must_fail kubectl create -f wrong.yaml 2>err && has err "type: Unsupported value: \"whole\"" &&
	sed "s/^  name: crontabs.example.com/  name: tabs.example.com/" "$crd" | test_must_fail kubectl create -f - 2>err && has err "metadata.name: Invalid value: \"tabs.example.com\": must be spec.names.plural+\".\"+spec.group"
'

test_expect_success 'changing the schema changes what is accepted' '
	kubectl patch crd crontabs.example.com --type=json -p "[{\"op\":\"replace\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/replicas/maximum\",\"value\":20}]" &&
	soon kubectl scale ct nightly --replicas=20
'

test_expect_success MUSTER 'CEL: what can be run is run, what cannot is named in a warning' '
	cat >cel.yaml <<-EOF && kubectl create -f cel.yaml 2>err &&
	apiVersion: apiextensions.k8s.io/v1
	kind: CustomResourceDefinition
	metadata: {name: rules.example.com}
	spec:
	  group: example.com
	  scope: Cluster
	  names: {plural: rules, kind: Rule}
	  versions:
	  - name: v1
	    served: true
	    storage: true
	    schema:
	      openAPIV3Schema:
	        type: object
	        properties:
	          spec:
	            type: object
	            properties: {a: {type: integer}, b: {type: integer}, addr: {type: string}}
	            x-kubernetes-validations: [{rule: "self.a < self.b", message: a must be below b}, {rule: "!has(self.addr) || ip(self.addr).family() == 4"}]
	EOF
	has err "^Warning: .*ip(self.addr)" && lacks err "self.a < self.b" && kubectl wait --for=condition=Established crd/rules.example.com --timeout=120s &&
	printf "apiVersion: example.com/v1\nkind: Rule\nmetadata: {name: r}\nspec: {a: 1, b: 2}\n" >rule.yaml && soon kubectl apply -f rule.yaml && kubectl get rules r &&
	test_must_fail kubectl patch rule r --type=merge -p "{\"spec\":{\"a\":3}}" 2>err && has err "The Rule \"r\" is invalid: spec: Invalid value: .*: a must be below b" && kubectl delete crd rules.example.com
'

test_expect_success 'deleting the definition takes its objects along, and the API with them' '
	kubectl delete crd crontabs.example.com --timeout=120s &&
	soon sh -c "! kubectl get --raw /apis/example.com/v1/crontabs >/dev/null 2>&1" && test_must_fail kubectl get crontabs 2>err && has err "the server doesn.t have a resource type\|could not find the requested resource"
'

test_expect_success 'defined again, it begins empty' '
	kubectl create -f "$crd" && kubectl wait --for=condition=Established crd/crontabs.example.com --timeout=120s && soon kubectl get crontabs -A -o name >out && test_must_be_empty out && kubectl delete crd crontabs.example.com
'

test_expect_success MUSTER 'definitions and objects survive a restart' '
	kubectl create -f "$crd" && kubectl wait --for=condition=Established crd/crontabs.example.com --timeout=120s && soon kubectl create -n default -f "$tab" &&
	stop_muster && start_muster && kubectl get ct nightly -n default && test_must_fail kubectl create -n default -f bad.yaml
'

test_done
