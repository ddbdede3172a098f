#!/bin/sh
test_description='kubectl create and its generators, run, expose'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api'

# made KIND NAME FILTER: the object is there and the filter holds of it
made() {
	kubectl get "$1" "$2" -o json >made.json && jq_is "$3" made.json
}

test_expect_success 'namespace' '
	kubectl create namespace "$ns-two" && made namespace "$ns-two" ".status.phase == \"Active\" and .spec.finalizers == [\"kubernetes\"] and .metadata.labels[\"kubernetes.io/metadata.name\"] == \"$ns-two\""
'

test_expect_success 'configmap from literals, files, binaries and env files' '
	echo text >file && printf "\377\376" >binary && printf "A=1\nB=2\n" >env &&
	kubectl create configmap c --from-literal=k=v --from-file=file --from-file=bin=binary &&
	made configmap c ".data == {k: \"v\", file: \"text\n\"} and .binaryData == {bin: \"//4=\"}" &&
	kubectl create configmap ce --from-env-file=env && made configmap ce ".data == {A: \"1\", B: \"2\"}"
'

test_expect_success 'secret generic, docker-registry, tls' '
	kubectl create secret generic s --from-literal=k=v && made secret s ".data.k == \"dg==\" and .type == \"Opaque\"" &&
	kubectl create secret docker-registry d --docker-username=u --docker-password=p --docker-server=example.com &&
	made secret d ".type == \"kubernetes.io/dockerconfigjson\"" &&
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.crt -subj /CN=x -days 1 2>/dev/null &&
	kubectl create secret tls t --cert tls.crt --key tls.key && made secret t ".type == \"kubernetes.io/tls\" and (.data | keys == [\"tls.crt\", \"tls.key\"])"
'

test_expect_success 'serviceaccount' 'kubectl create serviceaccount sa && made serviceaccount sa ".metadata.name == \"sa\""'

test_expect_success 'deployment' '
	kubectl create deployment d --image=example.com/web:1 --replicas=3 --port=80 -- sleep 1 &&
	made deployment d ".spec.replicas == 3 and .spec.strategy.rollingUpdate.maxSurge == \"25%\" and .spec.template.spec.containers[0].command == [\"sleep\", \"1\"]
		and .spec.revisionHistoryLimit == 10 and .spec.progressDeadlineSeconds == 600 and .metadata.generation == 1" &&
	kubectl get deployment d >out && has out "^NAME  *READY  *UP-TO-DATE  *AVAILABLE  *AGE" "^d  *0/3  *0  *0"
'

test_expect_success KUBECTL_130 'job, and one from a cronjob' '
	kubectl create job j --image=example.com/i -- true && made job j ".spec.backoffLimit == 6 and .spec.completions == 1 and .spec.template.spec.restartPolicy == \"Never\"" &&
	kubectl create cronjob cj --image=example.com/i --schedule="*/5 * * * *" -- date &&
	made cronjob cj ".spec.schedule == \"*/5 * * * *\" and .spec.concurrencyPolicy == \"Allow\" and .spec.suspend == false" &&
	kubectl create job from-cj --from=cronjob/cj && made job from-cj ".metadata.ownerReferences[0].kind == \"CronJob\""
'

test_expect_success 'services of all types' '
	kubectl create service clusterip ip --tcp=80:8080 && made service ip ".spec.clusterIP | test(\"^[0-9.]+$\")" &&
	kubectl create service nodeport np --tcp=80 && made service np ".spec.ports[0].nodePort >= 30000 and .spec.ports[0].nodePort <= 32767" &&
	kubectl create service loadbalancer lb --tcp=80 && made service lb ".spec.type == \"LoadBalancer\" and .spec.allocateLoadBalancerNodePorts" &&
	kubectl create service externalname en --external-name=example.com && made service en ".spec.externalName == \"example.com\" and (.spec | has(\"clusterIP\") | not)" &&
	kubectl create service clusterip headless --clusterip=None --tcp=1 && made service headless ".spec.clusterIP == \"None\""
'

test_expect_success 'role, rolebinding, clusterrole, clusterrolebinding' '
	kubectl create role r --verb=get,list --resource=pods,deployments.apps --resource-name=x && made role r ".rules | length == 2" &&
	kubectl create rolebinding rb --role=r --user=u --group=g --serviceaccount="$ns:sa" && made rolebinding rb ".subjects | length == 3" &&
	kubectl create clusterrole "cr-$ns" --verb=get --resource=nodes &&
	kubectl create clusterrolebinding "crb-$ns" --clusterrole="cr-$ns" --user=u &&
	made clusterrolebinding "crb-$ns" ".roleRef.kind == \"ClusterRole\"" &&
	kubectl delete clusterrole "cr-$ns" && kubectl delete clusterrolebinding "crb-$ns"
'

test_expect_success KUBECTL_130 'quota, priorityclass, poddisruptionbudget, ingress' '
	kubectl create quota q --hard=pods=100,services=50 && made quota q ".spec.hard == {pods: \"100\", services: \"50\"}" &&
	kubectl create priorityclass "pc-$ns" --value=7 && made priorityclass "pc-$ns" ".value == 7 and .preemptionPolicy == \"PreemptLowerPriority\"" && kubectl delete priorityclass "pc-$ns" &&
	kubectl create pdb p --selector=app=x --min-available=50% && made pdb p ".spec.minAvailable == \"50%\"" &&
	kubectl create ingress i --rule="example.com/*=ip:80" && made ingress i ".spec.rules[0].http.paths[0].pathType == \"Prefix\""
'

test_expect_success MUSTER,KUBECTL_130 'token' '
	test_might_fail kubectl create token sa >out 2>err && { test -s out || has err rror; }
'

test_expect_success 'run makes a pod, expose a service for it' '
	kubectl run r --image=example.com/i --port=80 --env=A=B --labels=x=y && made pod r ".spec.containers[0].env == [{name: \"A\", value: \"B\"}]" &&
	kubectl expose pod r --port=80 --name=rs && made service rs ".spec.selector == {x: \"y\"}" &&
	kubectl expose deployment d && made service d ".spec.ports[0].port == 80"
'

test_expect_success 'autoscale makes a horizontal pod autoscaler' '
	kubectl autoscale deployment d --min=1 --max=5 --cpu-percent=80 && made hpa d ".spec.maxReplicas == 5"
'

test_expect_success 'generateName' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: gen-}\n" >gen.yaml &&
	kubectl create -f gen.yaml -o name >one && kubectl create -f gen.yaml -o name >two &&
	has one "^configmap/gen-[a-z0-9]\{5\}$" && ! test_cmp one two
'

test_expect_success '--dry-run=server answers as if, and stores nothing' '
	kubectl create configmap dry --from-literal=a=b --dry-run=server -o yaml >out && has out "uid: " &&
	test_must_fail kubectl get configmap dry 2>err && has err NotFound
'

test_expect_success KUBECTL_130 'what exists already' '
	test_must_fail kubectl create configmap c 2>err && has err "^error: failed to create configmap: configmaps \"c\" already exists$"
'

test_expect_success 'a namespace that is not there' '
	test_must_fail kubectl create configmap c -n nowhere 2>err && has err "namespaces \"nowhere\" not found"
'

test_expect_success KUBECTL_130 'unknown fields: refused, warned of, or dropped, as asked' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndatum: {a: b}\n" >odd.yaml &&
	test_must_fail kubectl create -f odd.yaml 2>err && has err "strict decoding error: unknown field \"datum\"" &&
	kubectl create -f odd.yaml --validate=warn 2>err && has err "^Warning: unknown field \"datum\"" && kubectl delete configmap odd &&
	kubectl create -f odd.yaml --validate=ignore 2>err && lacks err Warning && made configmap odd "has(\"datum\") | not"
'

test_expect_success 'duplicate fields are refused' '
	api "/api/v1/namespaces/$ns/configmaps?fieldValidation=Strict" --json "{\"metadata\":{\"name\":\"dup\"},\"data\":{\"a\":\"b\"},\"data\":{\"a\":\"c\"}}" >out &&
	jq_is ".code == 400 and (.message | test(\"strict decoding error: .*duplicate field \\\"data\\\"\"))" out
'

test_expect_success 'create --raw, --edit and --save-config' '
	echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"raw\"}}" | kubectl create --raw "/api/v1/namespaces/$ns/configmaps" -f - >out && jq_is ".metadata.uid" out &&
	kubectl create -f gen.yaml --save-config -o json >out && jq_is ".metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]" out
'

test_expect_success 'a YAML body is taken' '
	api "/api/v1/namespaces/$ns/configmaps" -H "Content-Type: application/yaml" --data-binary "metadata: {name: from-yaml}" >out && jq_is ".metadata.name == \"from-yaml\"" out
'

test_done
