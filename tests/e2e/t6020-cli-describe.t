#!/bin/sh
test_description='muster describe, events and delete'
. "$(dirname "$0")/lib.sh"
. "$e2e/cli.sh"

# All that there is to tell is there.
described() {
	muster describe bad >out && grep -q "^  worker-1  *Running" out && grep -q "ExitedWithCode" out && grep -q "^ .*Normal  *TFJobFailed" out
}

test_expect_success 'J7: a failed job on one page' '
	start_muster && standin "[{\"job\":\"bad\",\"index\":0,\"do\":[\"run\",{\"after\":3},{\"exit\":7}]},{\"job\":\"stuck\",\"do\":[{\"unschedulable\":\"0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\"}]},{\"do\":[\"run\"]}]" &&
	tfjob bad 2 | kubectl apply -f - && soon described && steady out | sed "s/  *$//; s/   */  /g" >got && cat >want <<-EOF && test_cmp want got &&
	Name:  bad
	Namespace:  default
	Kind:  TFJob (kubeflow.org/v1)
	State:  Failed
	$(grep "^Why:  .*bad.* because .*Worker.* failed.$" got)
	Created:  TIME (AGE ago)
	Started:  TIME (AGE ago)
	Ended:  TIME (AGE ago)
	Took:  AGE
	Policy:  suspend=false
	Labels:  color=red

	Replicas:
	  REPLICA  STATE  REASON  RESTARTS  EXIT  NODE  AGE
	  worker-0  Failed  Error  0  7  standin  AGE
	  worker-1  Running  -  0  -  standin  AGE

	Conditions:
	  TYPE  STATUS  REASON  SINCE  MESSAGE
	$(sed -n "/^Conditions/,/^$/p" got | sed "1,2d; /^$/d")

	Events:
	  AGE  TYPE  REASON  OBJECT  MESSAGE
	$(sed -n "/^Events/,/^$/p" got | sed "1,2d; /^$/d")

	First failure: worker-0 (container tensorflow) exited with 7 (Error), AGE ago
	Its log cannot be read: $(sed -n "s/^Its log cannot be read: //p" got)
	EOF
	has got "^  Failed  True  TFJobFailed  AGE " "^  AGE  *Normal  ExitedWithCode  tfjob/bad  Pod: default.bad-worker-0 exited with code 7$" &&
	is "SuccessfulCreatePod TFJobFailed" "$(sed -n "/^Events/,/^$/p" got | awk "NR == 3 { print \$3 } /TFJobFailed/ { last = \$3 } END { print last }" | paste -sd " ")"
'

test_expect_success 'J7: why a pod does not start, in full' '
	tfjob stuck 1 | kubectl apply -f - && soon sh -c "kubectl get pod stuck-worker-0 -o json | grep -q Insufficient" && muster describe stuck >out &&
	has out "^  worker-0   Pending   Unschedulable" "^  worker-0: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.$" && lacks out "First failure"
'

test_expect_success 'replicas that have no pod are counted' '
	tfjob rest 3 "  runPolicy: {suspend: true}" | kubectl apply -f - && soon state_is rest Suspended && muster describe rest >out && has out "^  worker (3 of 3)   No pod "
'

test_expect_success 'a name that two kinds share is said to be so' '
	tfjob same 1 | kubectl apply -f - &&
	tfjob same 1 | sed "s/TFJob/PyTorchJob/; s/tfReplica/pytorchReplica/; s/tensorflow/pytorch/; s/Worker:/Master:/" | kubectl apply -f - &&
	for what in describe events delete; do
		test_expect_code 2 muster $what same 2>err && is "muster: \"same\" is a job of 2 kinds: say tfjob/same or pytorchjob/same" "$(cat err)" || return 1
	done && muster describe pytorchjob/same >out && has out "^Kind:  *PyTorchJob" &&
	test_expect_code 1 muster describe none 2>err && has err "^muster: there is no job \"none\" in namespace default at https:" &&
	test_expect_code 2 muster describe pod/x 2>err && has err "no kind of job .pod." && test_expect_code 2 muster describe 2>err && has err "needs a job"
'

# told NAME UID REASON TIME: a warning of a pod in an event
told() {
	cat <<-EOF
	apiVersion: v1
	kind: Event
	metadata: {generateName: told-, namespace: default}
	involvedObject: {kind: Pod, name: $1, namespace: default, uid: "$2"}
	type: Warning
	reason: $3
	message: told by hand
	lastTimestamp: "$4"
	---
	EOF
}

test_expect_success 'what a pod of a namesake did within the same second is not its own' '
	uid=$(kubectl get pod bad-worker-0 -o jsonpath={.metadata.uid}) &&
	at=$(kubectl get tfjob bad -o jsonpath={.metadata.creationTimestamp}) &&
	{ told bad-worker-0 an-earlier-one NotMine "$at" && told bad-worker-0 "$uid" MineIndeed "$at"; } >told.yaml &&
	kubectl create -f told.yaml && muster describe bad >out && has out MineIndeed && lacks out NotMine &&
	muster events bad >out && has out MineIndeed && lacks out NotMine
'

test_expect_success 'events of a job, of its pods, and of all' '
	cat >event.yaml <<-EOF && kubectl create -f event.yaml &&
	apiVersion: v1
	kind: Event
	metadata: {name: e1, namespace: default}
	involvedObject: {kind: Pod, name: bad-worker-0, namespace: default}
	reason: Odd
	message: "a\nb \e[31m red"
	type: Warning
	count: 3
	lastTimestamp: "$(date -u -d "+1 minute" +%FT%TZ)"
	EOF
	muster events bad >out && has out "^LAST SEEN  *TYPE  *REASON  *OBJECT  *MESSAGE$" "pod/bad-worker-0  *a b .* red (3 times)$" "tfjob/bad" && lacks out "tfjob/stuck" &&
	is "Odd" "$(tail -n 1 out | awk "{ print \$3 }")" && ! grep -q "$(printf "\033")" out &&
	soon sh -c "muster events | grep -q tfjob/stuck" && muster events -A >out && has out "^NAMESPACE  *LAST SEEN" "^default "
'

test_expect_success 'events as they come' '
	start muster events stuck -w >watched && watcher=$! && soon grep -q "tfjob/stuck" watched &&
	kubectl delete pod stuck-worker-0 && soon sh -c "test \$(grep -c SuccessfulCreatePod watched) -ge 2" && lacks watched "tfjob/bad" && kill -INT $watcher && { wait $watcher; is 130 $?; }
'

test_expect_success 'delete, and wait for the pods too' '
	is "tfjob/bad deleted" "$(muster delete bad --wait)" && test_must_fail kubectl get pod bad-worker-1 && test_expect_code 1 muster get tfjob/bad &&
	test_expect_code 1 muster delete bad 2>err && has err "there is no job \"bad\"" && muster delete bad --ignore-not-found &&
	is "service/stuck-worker-0 deleted" "$(muster delete service/stuck-worker-0)"
'

test_expect_success 'delete goes on after what is not there' '
	tfjob third 1 | kubectl apply -f - && test_expect_code 1 muster delete nobody third none >out 2>err &&
	is "tfjob/third deleted" "$(cat out)" && has err "there is no job .nobody." "there is no job .none."
'

test_expect_success 'delete what a file names' '
	{ tfjob stuck 1 && echo --- && tfjob rest 1 && echo --- && echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}"; } >all.yaml &&
	test_expect_code 1 muster delete -f all.yaml >out 2>err && has out "^tfjob/stuck deleted" "^tfjob/rest deleted" && has err "cannot delete configmap/none at .*not found" &&
	muster delete --ignore-not-found -f - <all.yaml && test_expect_code 2 muster delete 2>err && has err "either jobs or -f" &&
	echo "kind: [" >bad.yaml && test_expect_code 2 muster delete -f bad.yaml 2>err && has err "^muster: bad.yaml:2:1: "
'

test_expect_success 'waiting has an end' '
	kubectl patch tfjob same --type=merge -p "{\"metadata\":{\"finalizers\":[\"a.dev/b\"]}}" &&
	test_expect_code 124 muster delete tfjob/same --wait --timeout 3s >out 2>err && has err "^muster: tfjob/same is not gone yet$" &&
	state_is tfjob/same Terminating && kubectl patch tfjob same --type=merge -p "{\"metadata\":{\"finalizers\":[]}}" && stop_muster
'

test_done
