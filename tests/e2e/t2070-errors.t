#!/bin/sh
test_description='what kubectl says of invalid objects, conflicts and immutable fields'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api'

# refused FILE TEXT...: the server refuses the file, and each text is in what kubectl prints
refused() {
	test_must_fail kubectl create -f "$1" 2>err || return 1
	shift
	for text; do
		grep -qF -e "$text" err || { echo "no '$text' in:" >&2; cat err >&2; return 1; }
	done
}

test_expect_success 'a pod with many faults: all of them, by field path' '
	cat >bad.yaml <<-EOF &&
	apiVersion: v1
	kind: Pod
	metadata: {name: Bad_Name, labels: {"-x": "y"}}
	spec:
	  restartPolicy: Sometimes
	  containers:
	  - {name: a, image: i, ports: [{containerPort: 70000}], imagePullPolicy: Perhaps}
	  - {name: a, image: i, volumeMounts: [{name: nowhere, mountPath: /x}], env: [{name: "a=b", value: c}]}
	  - {name: b, image: ""}
	EOF
	refused bad.yaml "The Pod \"Bad_Name\" is invalid:" "* metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters" \
		"* metadata.labels: Invalid value: \"-x\"" "* spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive" \
		"* spec.containers[0].imagePullPolicy: Unsupported value: \"Perhaps\": supported values: \"Always\", \"IfNotPresent\", \"Never\"" \
		"* spec.containers[1].name: Duplicate value: \"a\"" "* spec.containers[1].volumeMounts[0].name: Not found: \"nowhere\"" "* spec.containers[1].env[0].name: Invalid value: \"a=b\"" \
		"* spec.containers[2].image: Required value" "* spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\""
'

# kube-apiserver takes it, and the container then never starts.
test_expect_success MUSTER 'NUL in what a program is to be given, by field path' '
	echo "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"command\":[\"a\",\"b\\u0000\"],\"workingDir\":\"/\\u0000\",\"env\":[{\"name\":\"A\",\"value\":\"b\\u0000c\"}],\"livenessProbe\":{\"exec\":{\"command\":[\"\\u0000\"]}}}]}}" >nul.json &&
	refused nul.json "spec.containers[0].env[0].value: Invalid value: \"b\\u0000c\": must not contain a NUL character" "spec.containers[0].command[1]: Invalid value" "spec.containers[0].workingDir: Invalid value" "spec.containers[0].livenessProbe.exec.command[0]: Invalid value"
'

test_expect_success 'no containers, no name' '
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n" >none.yaml && refused none.yaml "spec.containers: Required value" &&
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n" >noname.yaml && refused noname.yaml "name"
'

test_expect_success 'requests above limits, bad quantities, probes and volumes' '
	cat >res.yaml <<-EOF &&
	apiVersion: v1
	kind: Pod
	metadata: {name: p}
	spec:
	  volumes: [{name: v, emptyDir: {}, hostPath: {path: /}}, {name: w, emptyDir: {}}, {name: w, emptyDir: {}}]
	  containers:
	  - name: c
	    image: i
	    resources: {requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 1}}
	    livenessProbe: {periodSeconds: -1, httpGet: {path: /, port: 0}}
	EOF
	refused res.yaml "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1" "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type" \
		"spec.volumes[2].name: Duplicate value: \"w\"" "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0" "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0"
'

test_expect_success KUBECTL_130 'types that do not fit: where and what' '
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: many}\n" >type.yaml && refused type.yaml "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container" &&
	printf "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, resources: {limits: {cpu: lots}}}]}\n" >qty.yaml && refused qty.yaml "quantities must match the regular expression"
'

test_expect_success 'services' '
	cat >svc.yaml <<-EOF &&
	apiVersion: v1
	kind: Service
	metadata: {name: 1svc}
	spec: {type: Odd, ports: [{port: 0}, {port: 80, protocol: ICMP}], sessionAffinity: Always}
	EOF
	refused svc.yaml "metadata.name: Invalid value: \"1svc\"" "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive" "spec.ports[1].protocol: Unsupported value: \"ICMP\"" "spec.type: Unsupported value: \"Odd\"" "spec.sessionAffinity: Unsupported value: \"Always\""
'

test_expect_success 'deployments: selector, template labels, replicas' '
	cat >dep.yaml <<-EOF &&
	apiVersion: apps/v1
	kind: Deployment
	metadata: {name: d}
	spec: {replicas: -1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {x: z}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
	EOF
	refused dep.yaml "spec.replicas: Invalid value: -1: must be greater than or equal to 0" "spec.template.metadata.labels: Invalid value: {\"x\":\"z\"}: \`selector\` does not match template \`labels\`" "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""
'

test_expect_success 'jobs and cron jobs' '
	printf "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: often, jobTemplate: {spec: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}}}}\n" >cron.yaml &&
	refused cron.yaml "spec.schedule: Invalid value: \"often\"" "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""
'

test_expect_success 'config maps and secrets: keys, size, base64' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {\"a/b\": c}\n" >key.yaml && refused key.yaml "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters" &&
	printf "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: \"%%%%\"}\n" >b64.yaml && refused b64.yaml "illegal base64 data at input byte 0" &&
	jq -n "{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"big\"}, data: {x: (\"y\" * 1100000)}}" >big.json && refused big.json "may not be more than 1048576 bytes"
'

test_expect_success 'the rest of the crowd' '
	printf "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"a.b\"}\n" >ns.yaml && refused ns.yaml "metadata.name: Invalid value: \"a.b\": must not contain dots" &&
	printf "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p}\nspec: {}\n" >pvc.yaml && refused pvc.yaml "spec.accessModes: Required value: at least 1 access mode is required" "spec.resources[storage]: Required value" &&
	printf "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: r}\nroleRef: {apiGroup: x, kind: Robe, name: m}\n" >rb.yaml && refused rb.yaml "roleRef.apiGroup: Unsupported value: \"x\"" "roleRef.kind: Unsupported value: \"Robe\"" &&
	printf "apiVersion: v1\nkind: Unicorn\nmetadata: {name: u}\n" >uni.yaml && refused uni.yaml "no matches for kind \"Unicorn\" in version \"v1\""
'

test_expect_success 'owner references and finalizers' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: \"\"}], finalizers: [nope]}\n" >own.yaml &&
	refused own.yaml "* metadata.ownerReferences.uid: Invalid value: \"\": must not be empty" "* metadata.finalizers[0]: Invalid value: \"nope\": name is neither a standard finalizer name nor is it fully qualified"
'

test_expect_success 'pod spec is immutable, but for the few fields that are not' '
	kubectl create -f "$e2e/pods.yaml" &&
	test_must_fail kubectl patch pod alpha -p "{\"spec\":{\"restartPolicy\":\"Never\"}}" 2>err &&
	has err "The Pod \"alpha\" is invalid: spec: Forbidden: pod updates may not change fields other than .spec.containers\[\*\].image." &&
	kubectl patch pod alpha -p "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"example.com/new\"}]}}"
'

test_expect_success 'other immutable things' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {a: b}\n" | kubectl create -f - &&
	test_must_fail kubectl patch configmap fixed -p "{\"data\":{\"a\":\"c\"}}" 2>err && has err "data: Forbidden: field is immutable when .immutable. is set" &&
	test_must_fail kubectl patch service web --type=merge -p "{\"spec\":{\"clusterIP\":\"10.9.9.9\"}}" 2>err && has err "spec.clusterIPs\[0\]: Invalid value: .*: may not change once set" &&
	printf "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n" | kubectl create -f - &&
	test_must_fail kubectl patch deployment d --type=merge -p "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"c\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"c\"}}}}}" 2>err && has err "spec.selector: Invalid value: .*: field is immutable" &&
	test_must_fail kubectl patch configmap fixed --type=merge -p "{\"metadata\":{\"name\":\"other\"}}" 2>err && has err "the name of the object (other) does not match the name on the URL (fixed)\|metadata.name: Invalid value" &&
	test_must_fail kubectl patch configmap fixed --type=merge -p "{\"metadata\":{\"uid\":\"other\"}}" 2>err && has err "onflict\|immutable"
'

test_expect_success 'conflict on update with an old resourceVersion' '
	make ConfigMap c && kubectl get configmap c -o json >old && kubectl label configmap c a=b && test_must_fail kubectl replace -f old 2>err &&
	has err "the object has been modified; please apply your changes to the latest version and try again"
'

test_expect_success MUSTER,KUBECTL_130 'quota is enforced' '
	printf "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {secrets: \"1\"}}\n" | kubectl create -f - &&
	kubectl wait --for=jsonpath="{.status.hard.secrets}"=1 quota/q --timeout=120s && make Secret one && test_must_fail make Secret two 2>err &&
	has err "secrets \"two\" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1"
'

test_expect_success 'broken JSON, wrong kind, wrong version' '
	api "/api/v1/namespaces/$ns/configmaps" --json "{nope" >out && jq_is ".code == 400 and .reason == \"BadRequest\"" out &&
	api "/api/v1/namespaces/$ns/configmaps" --json "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"}}" >out && jq_is ".code == 400 and (.message | test(\"Secret in version\"))" out &&
	api "/api/v1/namespaces/$ns/configmaps" -H "Content-Type: text/plain" -d hello >out && jq_is ".code == 415 and .reason == \"UnsupportedMediaType\"" out &&
	api "/api/v1/namespaces/$ns/configmaps/c" -H "Accept: text/html" >out && jq_is ".code == 406 and .reason == \"NotAcceptable\"" out &&
	api "/api/v1/nowhere" >out && grep -q "404 page not found\|NotFound" out
'

test_done
