#!/bin/sh
test_description='kubectl edit, patch, label, annotate, scale, set, taint, cordon, rollout'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' '
	start_api && kubectl create -f "$e2e/pods.yaml" &&
	cat >d.yaml <<-EOF && kubectl create -f d.yaml
	apiVersion: apps/v1
	kind: Deployment
	metadata: {name: d}
	spec:
	  replicas: 3
	  selector: {matchLabels: {app: d}}
	  template:
	    metadata: {labels: {app: d}}
	    spec: {containers: [{name: c, image: "example.com/i:1", ports: [{containerPort: 80}]}]}
	EOF
'

field() {
	kubectl get "$1" "$2" -o "jsonpath=$3"
}

test_expect_success 'label: set, refuse to overwrite, overwrite, remove, by selector' '
	kubectl label pod alpha colour=red && is red "$(field pod alpha {.metadata.labels.colour})" &&
	test_must_fail kubectl label pod alpha colour=blue 2>err && has err "overwrite is false" &&
	kubectl label pod alpha colour=blue --overwrite && is blue "$(field pod alpha {.metadata.labels.colour})" &&
	kubectl label pod alpha colour- && is "" "$(field pod alpha {.metadata.labels.colour})" &&
	kubectl label pods -l app=web group=w && is "w w" "$(kubectl get pods -l app=web -o "jsonpath={.items[*].metadata.labels.group}")"
'

test_expect_success 'label: a bad value is refused by the server' '
	test_must_fail kubectl label pod alpha "bad=$(printf "%070d" 1)" 2>err && has err "must be no more than 63"
'

test_expect_success 'annotate: set and remove' '
	kubectl annotate pod alpha note="hello there" && is "hello there" "$(field pod alpha {.metadata.annotations.note})" &&
	kubectl annotate pod alpha note- && is "" "$(field pod alpha {.metadata.annotations.note})"
'

test_expect_success 'patch: strategic merge joins lists by key' '
	kubectl patch deployment d -p "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"example.com/s\"}]}}}}" >out &&
	is "deployment.apps/d patched" "$(cat out)" && kubectl get deployment d -o json >got &&
	jq_is "[.spec.template.spec.containers[].name] | sort == [\"c\", \"side\"]" got &&
	kubectl patch deployment d -p "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"\$patch\":\"delete\"}]}}}}" &&
	is c "$(field deployment d "{.spec.template.spec.containers[*].name}")"
'

test_expect_success 'patch: strategic merge directives replace and setElementOrder and deleteFromPrimitiveList' '
	kubectl patch pod beta -p "{\"metadata\":{\"finalizers\":[\"example.com/a\",\"example.com/b\"]}}" &&
	kubectl patch pod beta -p "{\"metadata\":{\"\$deleteFromPrimitiveList/finalizers\":[\"example.com/a\"]}}" &&
	is "example.com/b" "$(field pod beta "{.metadata.finalizers[*]}")" &&
	kubectl patch pod beta -p "{\"metadata\":{\"finalizers\":null}}" && is "" "$(field pod beta "{.metadata.finalizers}")" &&
	kubectl patch deployment d -p "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"\$patch\":\"replace\"},{\"name\":\"only\",\"image\":\"example.com/o\"}]}}}}" &&
	is only "$(field deployment d "{.spec.template.spec.containers[*].name}")" &&
	kubectl patch deployment d -p "{\"spec\":{\"strategy\":{\"\$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}}" &&
	is "{\"type\":\"Recreate\"}" "$(field deployment d {.spec.strategy})"
'

test_expect_success 'patch: merge replaces lists whole and null removes' '
	kubectl patch deployment d --type=merge -p "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"example.com/m\"}]}}},\"metadata\":{\"labels\":{\"a\":\"b\"}}}" &&
	is m "$(field deployment d "{.spec.template.spec.containers[*].name}")" &&
	kubectl patch deployment d --type=merge -p "{\"metadata\":{\"labels\":null}}" && is "" "$(field deployment d {.metadata.labels})"
'

test_expect_success 'patch: JSON Patch, all operations' '
	kubectl patch deployment d --type=json -p "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3},{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4},
		{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{}},{\"op\":\"add\",\"path\":\"/metadata/labels/example.com~1x\",\"value\":\"1\"},
		{\"op\":\"copy\",\"from\":\"/metadata/labels/example.com~1x\",\"path\":\"/metadata/labels/y\"},
		{\"op\":\"move\",\"from\":\"/metadata/labels/y\",\"path\":\"/metadata/labels/z\"},{\"op\":\"remove\",\"path\":\"/metadata/labels/example.com~1x\"}]" &&
	is "{\"z\":\"1\"}" "$(field deployment d {.metadata.labels})" && is 4 "$(field deployment d {.spec.replicas})"
'

test_expect_success KUBECTL_130 'patch: a test that fails, a path that is not there, nonsense' '
	test_must_fail kubectl patch deployment d --type=json -p "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":9}]" 2>err && has err "the server rejected our request due to an error in our request\|test failed\|testing path" &&
	test_must_fail kubectl patch deployment d --type=json -p "[{\"op\":\"remove\",\"path\":\"/spec/nothing\"}]" 2>err && test -s err &&
	test_must_fail kubectl patch deployment d --type=merge -p "{\"spec\":{\"replicas\":\"many\"}}" 2>err && test -s err &&
	is 4 "$(field deployment d {.spec.replicas})"
'

test_expect_success KUBECTL_130 'patch: --subresource=status reaches the status only' '
	kubectl patch pod gamma --subresource=status --type=merge -p "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.1.1.1\",\"podIPs\":[{\"ip\":\"10.1.1.1\"}]},\"metadata\":{\"labels\":{\"sneaky\":\"yes\"}}}" &&
	is Running "$(field pod gamma {.status.phase})" &&
	kubectl patch pod gamma --type=merge -p "{\"status\":{\"phase\":\"Failed\"}}" >out && has out "no change" && is Running "$(field pod gamma {.status.phase})"
'

test_expect_success 'patch that changes nothing says so' '
	kubectl patch deployment d -p "{\"spec\":{\"replicas\":4}}" >out && has out "patched (no change)"
'

test_expect_success 'scale: plain, with a precondition, by the scale subresource' '
	generation=$(field deployment d {.metadata.generation}) &&
	kubectl scale deployment d --replicas=7 && is 7 "$(field deployment d {.spec.replicas})" &&
	is $((generation + 1)) "$(field deployment d {.metadata.generation})" &&
	test_must_fail kubectl scale deployment d --current-replicas=3 --replicas=1 2>err && has err "xpected replicas to be 3, was 7" &&
	kubectl get --raw "/apis/apps/v1/namespaces/$ns/deployments/d/scale" >scale && jq_is ".kind == \"Scale\" and .spec.replicas == 7 and .status.selector == \"app=d\"" scale &&
	test_must_fail kubectl scale deployment d --replicas=-1
'

test_expect_success 'edit: what the editor leaves is what there is' '
	printf "#!/bin/sh\nsed -i \"s/replicas: 7/replicas: 8/\" \"\$1\"\n" >editor && chmod +x editor &&
	EDITOR=./editor kubectl edit deployment d >out && is "deployment.apps/d edited" "$(cat out)" && is 8 "$(field deployment d {.spec.replicas})" &&
	EDITOR=true kubectl edit deployment d >out 2>&1 && has out "no changes made"
'

test_expect_success 'edit: what is invalid is given back with the reason' '
	printf "#!/bin/sh\nif test -e edited; then cp \"\$1\" second; sed -i \"s/replicas: .*/replicas: 6/\" \"\$1\"; else touch edited; sed -i \"s/replicas: 8/replicas: -8/\" \"\$1\"; fi\n" >editor &&
	EDITOR=./editor kubectl edit deployment d && has second "spec.replicas: Invalid value: -8: must be greater than or equal to 0" && is 6 "$(field deployment d {.spec.replicas})"
'

test_expect_success 'set image, env, resources, serviceaccount, selector' '
	kubectl set image deployment d m=example.com/m:2 && is example.com/m:2 "$(field deployment d "{.spec.template.spec.containers[0].image}")" &&
	kubectl set env deployment/d A=1 B=2 && kubectl set env deployment/d A- && is B "$(field deployment d "{.spec.template.spec.containers[0].env[*].name}")" &&
	kubectl set resources deployment d --limits=cpu=200m,memory=1Gi && is 200m "$(field deployment d "{.spec.template.spec.containers[0].resources.limits.cpu}")" &&
	kubectl set serviceaccount deployment d robot && is robot "$(field deployment d "{.spec.template.spec.serviceAccountName}")" &&
	kubectl set selector service web app=other && is "{\"app\":\"other\"}" "$(field service web {.spec.selector})"
'

test_expect_success 'rollout pause, resume, restart, history' '
	kubectl rollout pause deployment d && is true "$(field deployment d {.spec.paused})" &&
	kubectl rollout resume deployment d && is "" "$(field deployment d {.spec.paused})" &&
	kubectl rollout restart deployment d && test -n "$(field deployment d "{.spec.template.metadata.annotations}")" &&
	kubectl rollout history deployment d >out && has out "deployment.apps/d"
'

test_expect_success 'nodes: taint, cordon, uncordon, label' '
	node=node-$$ && make Node $node && test_when_finished "kubectl delete node $node" &&
	kubectl taint node $node key=value:NoSchedule && is "key=value:NoSchedule" "$(field node $node "{.spec.taints[?(@.key==\"key\")].key}={.spec.taints[?(@.key==\"key\")].value}:{.spec.taints[?(@.key==\"key\")].effect}")" &&
	kubectl taint node $node key- && is "" "$(field node $node "{.spec.taints[?(@.key==\"key\")]}")" &&
	kubectl cordon $node && is true "$(field node $node {.spec.unschedulable})" &&
	kubectl get nodes $node >out && has out "SchedulingDisabled" &&
	kubectl uncordon $node && is "" "$(field node $node {.spec.unschedulable})"
'

test_expect_success KUBECTL_130 'generation counts spec changes, not labels or status' '
	before=$(field deployment d {.metadata.generation}) &&
	kubectl label deployment d q=r && kubectl patch deployment d --subresource=status --type=merge -p "{\"status\":{\"replicas\":1}}" &&
	is "$before" "$(field deployment d {.metadata.generation})"
'

test_expect_success 'eviction removes the pod; a budget can forbid it' '
	cat >evict.json <<-EOF && kubectl create --raw "/api/v1/namespaces/$ns/pods/gamma/eviction" -f evict.json &&
	{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"gamma"}}
	EOF
	{ kubectl get pod gamma -o json >left 2>err || has err NotFound; } && { test ! -s left || jq_is ".metadata.deletionTimestamp" left; }
'

test_expect_success 'resize changes resources, and not the class of service' '
	resize() {
		api "/api/v1/namespaces/$ns/pods/$1/resize" -X PATCH -H "Content-Type: application/strategic-merge-patch+json" \
			-d "{\"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"other\", \"resources\": {\"requests\": {\"cpu\": \"$2\"}}}]}}"
	} &&
	for spec in "none:{}" "some:{\"requests\": {\"cpu\": \"1\"}}"; do
		kubectl create -f - <<-EOF || return 1
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "size-${spec%%:*}"},
		 "spec": {"containers": [{"name": "c", "image": "i", "resources": ${spec#*:}}]}}
		EOF
	done &&
	resize size-some 2 >got && jq_is ".spec.containers[0] | .resources.requests.cpu == \"2\" and .image == \"i\"" got &&
	resize size-none 2 >got && jq_is ".code == 422 and
		(.message | endswith(\"spec: Invalid value: \\\"BestEffort\\\": Pod QOS Class may not change as a result of resizing\"))" got
'

test_expect_success 'binding puts a pod on a node' '
	cat >bind.json <<-EOF && kubectl create --raw "/api/v1/namespaces/$ns/pods/beta/binding" -f bind.json &&
	{"apiVersion":"v1","kind":"Binding","metadata":{"name":"beta"},"target":{"kind":"Node","name":"node-9"}}
	EOF
	is node-9 "$(field pod beta {.spec.nodeName})" && kubectl get pod beta -o json >got && jq_is ".status.conditions[] | select(.type == \"PodScheduled\") | .status == \"True\"" got &&
	test_must_fail kubectl create --raw "/api/v1/namespaces/$ns/pods/beta/binding" -f bind.json 2>err && has err "already assigned to node"
'

test_done
