#!/bin/sh
test_description='muster validate'
. "$(dirname "$0")/lib.sh"

test_expect_success 'all examples are valid' '
	muster validate "$top/examples" >out && has out "^[0-9]* objects, all valid$"
'

test_expect_success 'J7: each fault has a file, a line, a column and a field' '
	cat >bad.yaml <<-EOF &&
	apiVersion: v1
	kind: Pod
	metadata: {name: a}
	spec:
	  containers:
	  - name: a
	    imge: b
	EOF
	test_expect_code 2 muster validate bad.yaml >out &&
	has out "^bad.yaml:7:5: spec.containers\[0\].imge: unknown field; was \"image\" meant?$" &&
	has out "^bad.yaml:6:5: spec.containers\[0\].image: Required value$"
'

test_expect_success 'a number too large is told once, where it stands, as it was written' '
	cat >many.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: a}
	spec:
	  tfReplicaSpecs:
	    PS:
	      replicas: 5000000000
	      template: {spec: {containers: [{name: tensorflow, image: b}]}}
	    Worker:
	      replicas: 1099511627776
	      template: {spec: {containers: [{name: tensorflow, image: b}]}}
	EOF
	test_expect_code 2 muster validate many.yaml >out &&
	printf "many.yaml:%s: spec.tfReplicaSpecs[%s].replicas: Invalid value: %s: should be less than or equal to 100000\n" \
		7:7 PS 5000000000 10:7 Worker 1099511627776 >want && test_cmp want out
'

test_expect_success 'what both the rules and the schema object to is told once' '
	cat >twice.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: XGBoostJob
	metadata: {name: a}
	spec:
	  xgbReplicaSpecs:
	    Master: {replicas: "1", template: {spec: {containers: [{name: xgboost, image: b}]}}}
	    Foo: {replicas: 1, template: {spec: {containers: [{name: xgboost, image: b}]}}}
	---
	apiVersion: kubeflow.org/v1
	kind: MPIJob
	metadata: {name: a}
	spec:
	  mpiReplicaSpecs:
	    Launcher: {template: {spec: {containers: [{name: mpi}]}}}
	EOF
	test_expect_code 2 muster validate twice.yaml >out &&
	cat >want <<-EOF &&
	twice.yaml:6:14: spec.xgbReplicaSpecs[Master].replicas: Invalid value: "1": must be of type integer
	twice.yaml:7:5: spec.xgbReplicaSpecs[Foo]: Unsupported value: "Foo": supported values: "Master", "Worker"
	twice.yaml:14:47: spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].image: MPIReplicaSpec is not valid: Image is undefined in the container of Launcher
	EOF
	test_cmp want out
'

test_expect_success 'a job that nothing ends is warned of, where it says so' '
	cat >endless.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: a}
	spec:
	  tfReplicaSpecs:
	    PS: {template: {spec: {containers: [{name: tensorflow, image: b}]}}}
	---
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: b}
	spec:
	  tfReplicaSpecs:
	    worker: {template: {spec: {containers: [{name: tensorflow, image: b}]}}}
	    Extra: {template: {spec: {containers: [{name: tensorflow, image: b}]}}}
	EOF
	muster validate endless.yaml >out &&
	cat >want <<-EOF &&
	endless.yaml:5:3: warning: spec.tfReplicaSpecs: without Chief, Master or Worker nothing decides how the job ends
	endless.yaml:14:5: warning: spec.tfReplicaSpecs[Extra]: not one of Chief, Evaluator, Master, PS and Worker: it has no say in how the job ends
	2 objects, all valid
	EOF
	test_cmp want out
'

test_expect_success 'as JSON, too' '
	test_expect_code 2 muster validate -o json bad.yaml >out.json &&
	jq_is ".valid == false and .objects == 1 and (.findings | length) == 2" out.json &&
	jq_is ".findings[1] == {file: \"bad.yaml\", line: 7, column: 5, level: \"error\", object: \"Pod/a\", field: \"spec.containers[0].imge\", message: \"unknown field; was \\\"image\\\" meant?\"}" out.json
'

test_expect_success 'what it says is what the server says' '
	start_muster && mkdir wrong &&
	cat >wrong/job.yaml <<-EOF &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: a}
	spec:
	  runPolicy: {backoffLimit: -1, cleanPodPolicy: Some}
	  tfReplicaSpecs: {Worker: {restartPolicy: Often, template: {spec: {containers: [{name: other, image: b}]}}}}
	EOF
	cat >wrong/service.yaml <<-EOF &&
	apiVersion: v1
	kind: Service
	metadata: {name: A}
	spec: {ports: [{port: 0}], type: Odd}
	EOF
	for file in wrong/*; do
		test_expect_code 2 muster validate -o json $file >out.json &&
		jq -r ".findings[] | .field + \": \" + .message" out.json | sort >offline &&
		test_must_fail kubectl create --validate=false -f $file -o json 2>err &&
		kind=$(sed -n "s/^kind: //p" $file) &&
		api "/$(test $kind = Service && echo api/v1 || echo apis/kubeflow.org/v1)/namespaces/default/$(echo $kind | tr A-Z a-z)s" -H "Content-Type: application/yaml" --data-binary @$file >answer.json &&
		jq -r ".details.causes[] | .field + \": \" + .message" answer.json | sort >online &&
		test_cmp online offline || return 1
	done && stop_muster
'

test_expect_success 'standard input, and several files at once' '
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" >good.yaml &&
	muster validate - good.yaml <good.yaml >out && is "2 objects, all valid" "$(cat out)" &&
	test_expect_code 2 muster validate good.yaml - <bad.yaml >out && has out "^<stdin>:7:5: "
'

test_expect_success 'a directory is searched' '
	mkdir -p dir/sub dir/none && cp good.yaml dir/sub/a.yml && cp bad.yaml dir/b.yaml && echo nonsense: [ >dir/c.txt &&
	test_expect_code 2 muster validate dir >out && has out "^dir/b.yaml:7:5: " && lacks out "c.txt" &&
	test_expect_code 2 muster validate dir/none 2>err && has err "^muster: dir/none has no \*.yaml"
'

test_expect_success 'kinds nobody defines are warned of, unless --strict' '
	printf "apiVersion: a.dev/v1\nkind: Boat\n" >boat.yaml &&
	muster validate boat.yaml >out && has out "^boat.yaml:2:1: warning: kind: not checked" &&
	muster validate -q boat.yaml >out && is "" "$(cat out)" && test_expect_code 2 muster validate --strict boat.yaml
'

test_expect_success 'what is asked wrongly is answered with 2' '
	test_expect_code 2 muster validate 2>err && has err "needs a file" &&
	test_expect_code 2 muster validate nothing.yaml 2>err && has err "^muster: cannot read nothing.yaml: No such file" &&
	test_expect_code 2 muster validate --outptu x 2>err && has err "^muster: validate has no option .--outptu." &&
	test_expect_code 2 muster validate -o 2>err && has err "option .-o. needs a value" &&
	test_expect_code 2 muster validate -o xml good.yaml 2>err && has err "one of text|json" &&
	muster validate --help >out && has out "^Usage: muster validate" "^  -o, --output FORMAT"
'

test_done
