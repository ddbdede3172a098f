#!/bin/sh
test_description='L1: no pod and no helper that hangs stops the API; the watchdog aborts on a slow turn'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_network root

# Nobody was slow, and the server that answers is the one that was started.
no_turn_was_slow() {
	kubectl get --raw /metrics >metrics && has metrics "^muster_loop_slow_turns_total 0$" &&
		kill -0 "$muster_pid"
}

cat >many.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "many"}, "spec": {"restartPolicy": "Never",
 "terminationGracePeriodSeconds": 0, "volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "main",
  "image": "busybox", "command": ["sh", "-c", "cd /v && seq 100000 | xargs touch && exec sleep 1000"],
  "volumeMounts": [{"name": "v", "mountPath": "/v"}], "readinessProbe": {"exec": {"command": ["test", "-e", "/v/100000"]},
   "periodSeconds": 1}}]}}
END
no_files_of_pods() {
	test -z "$(ls -A "$data/pods")"
}
test_expect_success 'a pod with 100,000 files is deleted: no turn of the loop is slow, and nothing is left' '
	kubectl create -f many.json && becomes many .status.containerStatuses[0].ready true &&
	kubectl delete pod many && soon no_files_of_pods && no_turn_was_slow
'

# Of a size that the API takes within a turn; each key is a file.
python3 -c "import json; print(json.dumps({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'keys'},
    'data': {f'k{i}': '' for i in range(6000)}}))" >keys.json
cat >reads.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reads"}, "spec": {"restartPolicy": "Never",
 "volumes": [{"name": "v", "configMap": {"name": "keys"}}, {"name": "w", "configMap": {"name": "keys"}}],
 "containers": [{"name": "main", "image": "busybox", "command": ["sh", "-c", "test -e /v/k5999 -a -e /w/k5999"],
  "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/w"}]}]}}
END
test_expect_success 'a ConfigMap with thousands of keys becomes files: no turn of the loop is slow' '
	kubectl create -f keys.json && kubectl create -f reads.json && becomes reads .status.phase Succeeded &&
	kubectl delete pod reads && soon no_files_of_pods && no_turn_was_slow
'

# stopped PIDS COMMAND...: runs the command while the processes are stopped.
stopped() {
	stopped_pids=$1 && shift
	# shellcheck disable=SC2086 # a list
	kill -STOP $stopped_pids || return 1
	"$@"
	stopped_rc=$?
	# shellcheck disable=SC2086 # a list
	kill -CONT $stopped_pids
	return $stopped_rc
}

# The API is asked and pods are made and deleted, all without an answer of the hub.
api_goes_on() {
	pod "$1" "exec sleep 1000" && kubectl get pods >/dev/null &&
		becomes running .status.phase Running && kubectl get --raw /readyz && no_turn_was_slow
}
test_expect_success 'the hub is stopped: the API goes on, and pods start when it runs again' '
	pod running "exec sleep 1000" && becomes running .status.phase Running &&
	stopped "$(hubs)" api_goes_on waiting &&
	becomes waiting .status.phase Running && kubectl delete pods --all && no_turn_was_slow
'

test_expect_success 'a pod is deleted while the hub is stopped: it goes when the hub runs again' '
	pod early "exec sleep 1000" && becomes early .status.phase Running && pod running "exec sleep 1000" &&
	becomes running .status.phase Running &&
	stopped "$(hubs)" sh -c "kubectl delete pod early --wait=false && kubectl get pod running" &&
	soon sh -c "! kubectl get pod early" && no_turn_was_slow
'

wardens() {
	pgrep -f "warden $data/pods"
}
test_expect_success 'a pod whose keeper is stopped stops nobody else' '
	stopped "$(wardens)" api_goes_on beside && becomes beside .status.phase Running
'

nurseries() {
	pgrep -P "$muster_pid" -f nursery
}
test_expect_success 'the nursery is stopped: the API goes on, and pods start when it runs again' '
	stopped "$(nurseries)" api_goes_on later && becomes later .status.phase Running &&
	kubectl delete pods --all && no_turn_was_slow
'

node_cleanup
test_done
