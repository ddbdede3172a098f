#!/bin/sh
test_description='kubectl apply, client-side and server-side; diff; replace; kustomize'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api'

field() {
	kubectl get "$1" "$2" -o "jsonpath=$3"
}

cat >v1.yaml <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, drop: me}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: example.com/web:1
        env: [{name: A, value: "1"}, {name: B, value: "2"}]
        ports: [{containerPort: 80}]
      - name: side
        image: example.com/side
EOF

test_expect_success 'apply makes what is not there' '
	kubectl apply -f v1.yaml >out && is "deployment.apps/web created" "$(cat out)" &&
	is 1 "$(field deployment web {.metadata.generation})"
'

test_expect_success 'applied again: unchanged, and so it is' '
	rv=$(field deployment web {.metadata.resourceVersion}) &&
	kubectl apply -f v1.yaml >out && is "deployment.apps/web unchanged" "$(cat out)" &&
	is "$rv" "$(field deployment web {.metadata.resourceVersion})"
'

test_expect_success 'changed fields change, dropped ones go, others stay (three-way)' '
	kubectl scale deployment web --replicas=5 &&
	kubectl annotate deployment web by=hand &&
	sed -e "s/web:1/web:2/" -e "s/, drop: me//" -e "/replicas:/d" -e "s/, {name: B, value: \"2\"}//" v1.yaml >v2.yaml &&
	kubectl apply -f v2.yaml >out && is "deployment.apps/web configured" "$(cat out)" &&
	kubectl get deployment web -o json >got &&
	jq_is ".spec.template.spec.containers[0].image == \"example.com/web:2\" and (.spec.template.spec.containers[0].env == [{name: \"A\", value: \"1\"}])
		and .metadata.labels == {app: \"web\"} and .metadata.annotations.by == \"hand\" and (.spec.template.spec.containers | length == 2)" got
'

test_expect_success 'a container left out of the file is taken out' '
	sed -e "/name: side/d" -e "/example.com.side/d" v2.yaml >v3.yaml && kubectl apply -f v3.yaml &&
	is main "$(field deployment web "{.spec.template.spec.containers[*].name}")"
'

test_expect_success 'diff shows what apply would do, exit 1; nothing to do: exit 0' '
	sed "s/web:2/web:9/" v3.yaml >v9.yaml &&
	test_expect_code 1 kubectl diff -f v9.yaml >out && has out "^-.*image: example.com/web:2" "^+.*image: example.com/web:9" &&
	kubectl diff -f v3.yaml && is "example.com/web:2" "$(field deployment web "{.spec.template.spec.containers[0].image}")" &&
	test_expect_code 1 kubectl diff --server-side --force-conflicts -f v9.yaml >out && has out "^+.*image: example.com/web:9"
'

test_expect_success 'apply view-last-applied, edit-last-applied, set-last-applied' '
	kubectl apply view-last-applied deployment web >out && has out "image: example.com/web:2" &&
	kubectl apply set-last-applied -f v9.yaml && kubectl apply view-last-applied deployment web >out && has out "web:9"
'

test_expect_success KUBECTL_130 'apply --prune -l takes away what the files no longer have' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, labels: {set: p}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, labels: {set: p}}\n" >two.yaml &&
	kubectl apply -f two.yaml && sed -n "1,/^---/p" two.yaml | sed "/^---/d" >one.yaml &&
	kubectl apply -f one.yaml --prune -l set=p --prune-allowlist=core/v1/ConfigMap >out && has out "configmap/two pruned" &&
	test_must_fail kubectl get configmap two
'

test_expect_success 'server-side apply makes and owns fields' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {a: \"1\", b: \"2\"}\n" >ssa.yaml &&
	kubectl apply --server-side --field-manager=first -f ssa.yaml >out && is "configmap/ssa serverside-applied" "$(cat out)" &&
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps/ssa" >got &&
	jq_is ".metadata.managedFields[0] | .manager == \"first\" and .operation == \"Apply\" and .apiVersion == \"v1\" and .fieldsType == \"FieldsV1\" and
		.fieldsV1 == {\"f:data\": {\"f:a\": {}, \"f:b\": {}}}" got
'

test_expect_success 'another manager that changes a field gets the conflict told, by manager and field' '
	sed "s/a: \"1\"/a: \"9\"/" ssa.yaml >other.yaml &&
	test_must_fail kubectl apply --server-side --field-manager=second -f other.yaml 2>err &&
	has err "Apply failed with 1 conflict: conflict with \"first\": .data.a" "force-conflicts" &&
	is 1 "$(field configmap ssa {.data.a})"
'

test_expect_success 'sharing a value is no conflict; force takes it over' '
	kubectl apply --server-side --field-manager=second -f ssa.yaml &&
	kubectl apply --server-side --field-manager=second --force-conflicts -f other.yaml &&
	is 9 "$(field configmap ssa {.data.a})" &&
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps/ssa" >got &&
	jq_is "[.metadata.managedFields[] | select(.manager == \"first\")][0].fieldsV1 == {\"f:data\": {\"f:b\": {}}}" got
'

test_expect_success 'a field that its only owner drops goes; one that another holds stays' '
	sed "s/, b: \"2\"//" other.yaml >less.yaml && kubectl apply --server-side --field-manager=second -f less.yaml &&
	is 2 "$(field configmap ssa {.data.b})" &&
	sed "s/a: \"1\", b: \"2\"/z: \"0\"/" ssa.yaml >zero.yaml && kubectl apply --server-side --field-manager=first -f zero.yaml &&
	is "" "$(field configmap ssa {.data.b})" && is 9 "$(field configmap ssa {.data.a})"
'

test_expect_success 'server-side apply twice: nothing changes' '
	rv=$(field configmap ssa {.metadata.resourceVersion}) &&
	kubectl apply --server-side --field-manager=first -f zero.yaml && is "$rv" "$(field configmap ssa {.metadata.resourceVersion})"
'

test_expect_success 'lists by key: two managers, each with its own port and env' '
	cat >svc.yaml <<-EOF &&
	apiVersion: v1
	kind: Service
	metadata: {name: ports}
	spec: {ports: [{name: a, port: 1}]}
	EOF
	kubectl apply --server-side --field-manager=first -f svc.yaml &&
	sed "s/name: a, port: 1/name: b, port: 2/" svc.yaml | kubectl apply --server-side --field-manager=second -f - &&
	is "a b" "$(field service ports "{.spec.ports[*].name}")" &&
	sed "s/name: a, port: 1/name: b, port: 2/; s/spec:.*/spec: {}/" svc.yaml | kubectl apply --server-side --field-manager=second -f - &&
	is "a" "$(field service ports "{.spec.ports[*].name}")"
'

test_expect_success KUBECTL_130 'from client-side to server-side apply' '
	kubectl apply -f v9.yaml && kubectl apply --server-side -f v9.yaml 2>err &&
	kubectl get --raw "/apis/apps/v1/namespaces/$ns/deployments/web" >got &&
	jq_is "[.metadata.managedFields[] | select(.operation == \"Apply\") | .manager] | index(\"kubectl\")" got &&
	sed "s/web:9/web:10/" v9.yaml | kubectl apply --server-side -f - && is "example.com/web:10" "$(field deployment web "{.spec.template.spec.containers[0].image}")"
'

test_expect_success 'replace, by file, with and without a resourceVersion that is too old' '
	kubectl get configmap ssa -o json >old.json && kubectl label configmap ssa x=y &&
	test_must_fail kubectl replace -f old.json 2>err &&
	has err "Error from server (Conflict): .*Operation cannot be fulfilled on configmaps \"ssa\": the object has been modified; please apply your changes to the latest version and try again" &&
	jq "del(.metadata.resourceVersion)" old.json | kubectl replace -f - && is "" "$(field configmap ssa {.metadata.labels})"
'

test_expect_success 'replace --force deletes and makes anew' '
	uid=$(field configmap ssa {.metadata.uid}) && kubectl replace --force -f ssa.yaml &&
	test "$uid" != "$(field configmap ssa {.metadata.uid})"
'

test_expect_success 'replace of what is not there' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ghost}\n" >ghost.yaml &&
	test_must_fail kubectl replace -f ghost.yaml 2>err && has err "configmaps \"ghost\" not found"
'

test_expect_success KUBECTL_130 'apply -k: kustomize with generators, prefixes and patches' '
	mkdir k && cp v1.yaml k/ &&
	cat >k/kustomization.yaml <<-EOF &&
	resources: [v1.yaml]
	namePrefix: kust-
	labels: [{pairs: {by: kustomize}}]
	configMapGenerator: [{name: conf, literals: [a=b]}]
	EOF
	kubectl apply -k k >out && has out "configmap/kust-conf-[a-z0-9]* created" "deployment.apps/kust-web created" &&
	is kustomize "$(field deployment kust-web {.metadata.labels.by})" && kubectl delete -k k
'

test_expect_success 'a directory, standard input and many documents at once' '
	mkdir dir && cp ssa.yaml svc.yaml dir/ && kubectl apply -f dir >out && is 2 "$(wc -l <out)" &&
	cat ssa.yaml - svc.yaml <<-EOF | kubectl apply -f - >out && is 2 "$(wc -l <out)"
	---
	EOF
'

test_expect_success 'apply --dry-run=server' '
	sed "s/a: \"1\"/a: dry/" ssa.yaml | kubectl apply --dry-run=server -f - -o yaml >out && has out "a: dry" && is 1 "$(field configmap ssa {.data.a})"
'

test_done
