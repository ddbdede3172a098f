#!/bin/sh
test_description='kubectl through the whole life of a job whose pods really run'
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2016 # $variables are for test_expect_success and for pods

no_node=

test_have_prereq KUBECTL_130 || {
	skip_all='kubectl is older than 1.30'
	test_done
}

# Replicas that print, and wait until somebody says done to them.
cat >job.yaml <<'END'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: life}
spec:
  pytorchReplicaSpecs:
    Master: &replica
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: pytorch
            image: example.com/train
            resources: {requests: {cpu: 10m}}
            command: [sh, -c, 'echo "rank $RANK of $WORLD_SIZE"; until test -e /tmp/done; do sleep 0.1; done; echo bye']
    Worker:
      <<: *replica
      replicas: 2
END
sed '/<<:/d; s/^      replicas: 2/&\n      template: *t/; s/^      template:$/      template: \&t/; s/ &replica//' job.yaml >plain.yaml

wait_for() {
	kubectl wait --timeout=180s "$@"
}

# The container may end before the word of what was run in it is through.
finish() {
	kubectl exec "$1" -- touch /tmp/done 2>err || grep -qE "killed|not found|completed|exit code 137" err
}

# told COMMAND LINE...: what it prints has the lines. Events come a moment after what they tell of.
told() {
	command=$1
	shift
	soon command_says "$@" 2>err || { cat out >&2; return 1; }
}

command_says() {
	$command >out && has out "$@"
}

lines_say() { # FILE LINE...: soon
	soon has "$@" 2>err || { cat err >&2; return 1; }
}

test_expect_success 'apply' '
	start_muster --resources cpu=64,memory=64Gi && kubectl config set-context --current --namespace=default &&
	: >states && start kubectl get pytorchjob -w --output-watch-events >states 2>&1 &&
	sed "s/name: life/name: first/; s/^spec:/&\n  runPolicy: {suspend: true}/" plain.yaml | kubectl create -f - &&
	lines_say states "^ADDED  *first" && kubectl delete pytorchjob first &&
	kubectl apply -f plain.yaml >out && is "pytorchjob.kubeflow.org/life created" "$(cat out)"
'

test_expect_success 'wait --for=condition, of the job and of its pods' '
	wait_for --for=condition=Created pytorchjob/life && wait_for --for=condition=Running pytorchjob/life &&
	wait_for --for=jsonpath="{.status.replicaStatuses.Master.active}"=1 pytorchjob/life &&
	wait_for --for=jsonpath="{.status.replicaStatuses.Worker.active}"=2 pytorchjob/life &&
	wait_for --for=condition=Ready pod -l training.kubeflow.org/job-name=life >out && is 3 "$(wc -l <out)"
'

test_expect_success 'get, as a table, wide, by name, as JSON' '
	kubectl get pytorchjobs >out && has out "^NAME  *STATE  *AGE$" "^life  *Running  *[0-9]*[sm]" &&
	kubectl get pods -o wide >out && has out "^life-master-0  *1/1  *Running  *0 .* [0-9.]*  *[^ ]*" &&
	is "pod/life-master-0 pod/life-worker-0 pod/life-worker-1" "$(kubectl get pods -o name | paste -sd " ")" &&
	kubectl get pytorchjob life -o json >job.json && jq_is ".status.replicaStatuses.Master.active == 1" job.json &&
	kubectl get pods --field-selector status.phase=Running --no-headers >out && is 3 "$(wc -l <out)"
'

test_expect_success 'describe: the job with its conditions and events, a pod with its container' '
	told "kubectl describe pytorchjob life" "^Kind: *PyTorchJob" "Type: *Running" "SuccessfulCreatePod .*Created pod: life-worker-1" &&
	told "kubectl describe pod life-worker-0" "^Status: *Running" "^Controlled By: *PyTorchJob/life" "Started: " "RANK: *1" \
		"Normal  *Scheduled .*Successfully assigned default/life-worker-0" "Normal  *Started "
'

test_expect_success 'events of one object' '
	told "kubectl events --for pytorchjob/life" "Created service: life-worker-0" &&
	told "kubectl get events --field-selector involvedObject.name=life-master-0,reason=Started" "pod/life-master-0"
'

test_expect_success 'events are listed as they happened, also within a second' '
	told "kubectl get events --field-selector involvedObject.name=life-master-0 -o jsonpath={.items[*].reason}" \
		"^Scheduled Pulled Created Started$"
'

test_expect_success 'exec: output, input, files, exit code' '
	is life-worker-1 "$(kubectl exec life-worker-1 -- hostname)" &&
	is "2 of 3" "$(kubectl exec life-worker-1 -- sh -c "echo \$RANK of \$WORLD_SIZE")" &&
	is "a word" "$(echo a word | kubectl exec -i life-worker-0 -c pytorch -- cat)" &&
	test_expect_code 7 kubectl exec life-worker-0 -- sh -c "exit 7"
'

test_expect_success 'scale: another worker comes, and goes' '
	kubectl scale pytorchjob/life --replicas=3 &&
	soon kubectl get pod life-worker-2 && wait_for --for=condition=Ready pod/life-worker-2 &&
	is 3 "$(kubectl get pytorchjob life -o "jsonpath={.spec.pytorchReplicaSpecs.Worker.replicas}")" &&
	kubectl scale pytorchjob/life --current-replicas=3 --replicas=2 && wait_for --for=delete pod/life-worker-2 &&
	test_must_fail kubectl scale pytorchjob/life --current-replicas=7 --replicas=2
'

test_expect_success 'label, annotate, patch, apply again, diff' '
	kubectl label pytorchjob life team=a && kubectl annotate pytorchjob life why=test &&
	is life "$(kubectl get pytorchjobs -l team=a -o "jsonpath={.items[*].metadata.name}")" &&
	kubectl patch pytorchjob life --type=merge -p "{\"spec\": {\"runPolicy\": {\"ttlSecondsAfterFinished\": 3600}}}" &&
	kubectl diff -f plain.yaml && sed "s/name: life}/name: life, labels: {team: b}}/" plain.yaml >changed.yaml &&
	test_expect_code 1 kubectl diff -f changed.yaml >out && has out "^+    team: b" &&
	kubectl apply -f changed.yaml >out && has out "life configured" &&
	kubectl apply -f changed.yaml >out && has out "life unchanged" &&
	kubectl apply --server-side --force-conflicts -f changed.yaml >out && has out "life serverside-applied"
'

test_expect_success 'logs -f, of one and of all, to the end' '
	is "rank 0 of 3" "$(kubectl logs life-master-0)" &&
	: >one && start kubectl logs -f life-master-0 >one 2>&1 && one=$! &&
	: >all && start kubectl logs -f -l training.kubeflow.org/job-name=life --prefix >all 2>&1 && all=$! &&
	lines_say one "rank 0 of 3" && lines_say all "life-worker-1/pytorch. rank 2 of 3" "life-worker-0/pytorch. rank 1 of 3" &&
	for pod in worker-0 worker-1 master-0; do finish life-$pod || return 1; done &&
	wait $one && wait $all && has one "^bye$" && is 3 "$(grep -c bye all)"
'

test_expect_success 'wait for the end: the job, and its pods' '
	wait_for --for=condition=Succeeded pytorchjob/life &&
	wait_for --for=jsonpath="{.status.phase}"=Succeeded pod -l training.kubeflow.org/job-name=life &&
	is "Created Running=False Succeeded" "$(kubectl get pytorchjob life -o json |
		jq -r "[.status.conditions[] | if .status == \"True\" then .type else .type + \"=\" + .status end] | join(\" \")")" &&
	kubectl logs life-worker-1 >out && has out "^bye$"
'

test_expect_success 'get -w told it all' '
	lines_say states "life .*Created" "life .*Running" "life .*Succeeded" &&
	has states "^ADDED  *life" "^MODIFIED  *life"
'

test_expect_success 'delete, and nothing is left of it' '
	kubectl delete pytorchjob life >out && has out "\"life\" deleted" &&
	soon sh -c "! kubectl get pods,services -o name | grep life" && lines_say states "^DELETED  *life"
'

test_expect_success 'delete --cascade=foreground while it runs; --cascade=orphan leaves the pods' '
	for name in front left; do sed "s/name: life/name: $name/" plain.yaml | kubectl apply -f - || return 1; done &&
	for name in front left; do
		wait_for --for=jsonpath="{.status.replicaStatuses.Worker.active}"=2 pytorchjob/$name &&
		wait_for --for=condition=Ready pod -l training.kubeflow.org/job-name=$name || return 1
	done &&
	kubectl delete pytorchjob front --cascade=foreground --timeout=180s &&
	is "" "$(kubectl get pods -l training.kubeflow.org/job-name=front -o name)" &&
	kubectl delete pytorchjob left --cascade=orphan && is 3 "$(kubectl get pods -l training.kubeflow.org/job-name=left -o name | wc -l)" &&
	kubectl exec left-worker-0 -- true && kubectl delete pod --all --timeout=180s && kubectl delete service -l training.kubeflow.org/job-name=left
'

test_expect_success 'a job that fails is waited for, and says why' '
	sed "s/name: life/name: bad/; s/OnFailure/Never/; s/until test.*echo bye/exit 3/" plain.yaml | kubectl create -f - &&
	wait_for --for=condition=Failed pytorchjob/bad && kubectl get pytorchjob bad >out && has out "^bad  *Failed" &&
	kubectl describe pytorchjob bad >out && has out "replica(s) failed" && kubectl delete pytorchjob bad
'

test_expect_success 'an invalid job is refused by name of the field, by dry runs too' '
	sed "s/name: pytorch$/name: wrong/" plain.yaml >wrong.yaml &&
	test_must_fail kubectl apply -f wrong.yaml 2>err && has err "The PyTorchJob \"life\" is invalid" "spec.pytorchReplicaSpecs" &&
	test_must_fail kubectl apply --dry-run=server -f wrong.yaml 2>err && has err "is invalid" &&
	kubectl apply --dry-run=server -f plain.yaml >out && has out "created (server dry run)" &&
	test_must_fail kubectl get pytorchjob life 2>err && has err "not found"
'

test_expect_success KUBECTL_130 'what nobody here makes pods of is said to be so' '
	kubectl create deployment idle --image=x 2>err && has err "^Warning: Deployments are stored but not run by this server" &&
	kubectl create job idle --image=x -- true 2>err && has err "^Warning: Jobs are stored but not run by this server" &&
	kubectl delete deployment,job idle 2>err && lacks err Warning
'

test_expect_success 'a resize that would not be done is not taken' '
	kubectl run sized --image=x --command -- sleep 1000 &&
	api /api/v1/namespaces/default/pods/sized/resize -X PATCH -H "Content-Type: application/merge-patch+json" -d "{}" >got &&
	jq_is ".code == 501 and (.message | startswith(\"pods/resize is not served here\"))" got && kubectl delete pod sized --now
'

test_expect_success 'it stops' 'stop_muster'

test_done
