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

node_cleanup
test_done
