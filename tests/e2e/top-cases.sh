# kubectl top and muster top, at the level of isolation and as the user that the t606*.t which source
# this set.
# shellcheck shell=sh disable=SC1091,SC2034,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_node "$level" "$who"

# used POD: its CPU in thousandths of a core, as kubectl top has it.
used() {
	kubectl top pod "$1" --no-headers >used && awk '{ sub("m$", "", $2); print $2 }' used
}

# What the kernel gave the burning process so far, in thousandths of a core: all of one where nobody
# else wants it.
burnt() {
	awk -v hz="$(getconf CLK_TCK)" 'NR == 1 { up = $1; next } { print int(1000 * ($14 + $15) / (up * hz - $22)) }' \
		/proc/uptime "/proc/$(pgrep -o -f "echo begun-$$")/stat"
}

# At least half of that is told, or 300m.
burns() {
	cpu=$(used burn) && least=$(($(burnt) / 2)) &&
		test "$cpu" -ge $((least < 300 ? least : 300)) && test "$cpu" -gt 0
}

idles() {
	cpu=$(used idle) && test "$cpu" -le 50
}

metrics=/apis/metrics.k8s.io/v1beta1

test_expect_success 'without pods: the node only' '
	kubectl config set-context --current --namespace=default &&
	kubectl get --raw $metrics/pods >out && jq_is ".items == []" out &&
	kubectl top node >out && has out "^NAME  *CPU(cores)  *CPU.*MEMORY" && is 2 "$(wc -l <out)" &&
	kubectl get --raw $metrics/nodes >out && kubectl get nodes -o name >names &&
	is "$(cat names)" "node/$(jq -r ".items[0].metadata.name" out)" &&
	jq_is ".items[0] | .timestamp and (.window | test(\"^[0-9.]+s\$\")) and (.usage.memory | test(\"^[0-9]+[KMG]i\$\"))" out
'

cat >idle.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "idle", "labels": {"app": "idle"}},
 "spec": {"terminationGracePeriodSeconds": 0, "containers": [
  {"name": "sleeps", "image": "x", "command": ["sleep", "1000"]},
  {"name": "holds", "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
   "command": ["python3", "-c", "x = bytearray(b'x') * (100 << 20)\nprint('held', flush=True)\nimport time\ntime.sleep(1000)"]}]}}
END
test_expect_success 'a pod that burns a core, and one that sleeps and holds memory' '
	pod burn "echo begun-$$; while :; do :; done" && kubectl create -f idle.json &&
	becomes burn .status.phase Running && becomes idle .status.phase Running &&
	soon sh -c "kubectl logs idle -c holds | grep -q held" &&
	soon burns && soon idles
'

test_expect_success 'kubectl top: all, by labels, by container' '
	kubectl top pod >out && has out "^NAME  *CPU(cores)  *MEMORY(bytes)" "^burn  *[0-9]*m  *[0-9]*Mi" "^idle " &&
	kubectl top pod -l app=idle --no-headers >out && is 1 "$(wc -l <out)" && has out "^idle " &&
	kubectl top pod -A >out && has out "^default  *burn " &&
	kubectl top pod idle --containers --no-headers >out && is 2 "$(wc -l <out)" &&
	has out "^idle  *sleeps  *[0-9]*m  *[0-9]Mi" "^idle  *holds  *[0-9]*m  *1[0-9][0-9]Mi"
'

test_expect_success 'PodMetrics have what those of metrics-server have' '
	kubectl get --raw $metrics/namespaces/default/pods/idle >out &&
	jq_is ".kind == \"PodMetrics\" and .apiVersion == \"metrics.k8s.io/v1beta1\" and .metadata.labels.app == \"idle\"" out &&
	jq_is ".metadata.creationTimestamp and .timestamp and (.window | test(\"s\$\"))" out &&
	jq_is "[.containers[].name] == [\"sleeps\", \"holds\"] and (.containers | all(.usage.cpu | test(\"^[0-9]+[num]?\$\")))" out &&
	kubectl get pods.metrics.k8s.io >out && has out "^NAME  *CPU  *MEMORY  *WINDOW" "^idle "
'

test_expect_success 'a pod that has ended or never was has none, and nothing is watched' '
	pod fine "true" && becomes fine .status.phase Succeeded &&
	test_must_fail kubectl get --raw $metrics/namespaces/default/pods/fine 2>err &&
	has err "podmetrics.metrics.k8s.io .*default/fine.* not found" &&
	test_must_fail kubectl get --raw $metrics/namespaces/default/pods/none 2>err && has err "not found" &&
	is 405 "$(api "$metrics/pods?watch=1" -o out -w "%{http_code}")" &&
	is 405 "$(api "$metrics/namespaces/default/pods/burn" -X DELETE -o out -w "%{http_code}")"
'

test_expect_success 'whoever may view pods may see what they use' '
	test_must_fail kubectl top pod --as vera 2>err && has err Forbidden &&
	kubectl create rolebinding vera --clusterrole=view --user=vera && kubectl top pod --as vera >out && has out "^burn " &&
	test_must_fail kubectl top node --as vera 2>err && has err Forbidden
'

cat >job.json <<END
{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "go"}, "spec": {"tfReplicaSpecs": {
 "Worker": {"replicas": 2, "restartPolicy": "Never", "template": {"spec": {"terminationGracePeriodSeconds": 0,
  "containers": [{"name": "tensorflow", "image": "x", "command": ["sleep", "1000"]}]}}}}}}
END
job_is_measured() {
	muster top --no-headers | grep -q "^tfjob/go  *2/2  *[0-9]*m  *[0-9]*Mi  *0$"
}
test_expect_success 'muster top: jobs, replicas, pods and nodes' '
	muster top 2>err && is "no jobs are running in namespace default" "$(cat err)" &&
	kubectl create -f job.json && soon job_is_measured &&
	muster top -A >out && has out "^NAMESPACE  *NAME  *RUNNING  *CPU(cores)  *MEMORY(bytes)  *GPUS$" "^default  *tfjob/go " &&
	muster top go >out && has out "^REPLICA  *STATE  *CPU(cores)  *MEMORY(bytes)  *GPUS  *POD$" \
		"^worker-0  *Running  *[0-9]*m  *[0-9]*Mi  *0  *go-worker-0$" "^worker-1 " &&
	muster top pods >out && has out "^NAME  *CPU(cores)  *MEMORY(bytes)$" "^burn " "^idle " "^go-worker-0 " &&
	muster top pods -l app=idle --containers --no-headers >out && is 2 "$(wc -l <out)" && has out "^idle  *holds " &&
	muster top pods burn --no-headers >out && is 1 "$(wc -l <out)" &&
	muster top nodes >out && has out "^NAME  *CPU(cores)  *CPU(%)  *MEMORY(bytes)  *MEMORY(%)$" "[0-9]m  *[0-9]*%  *[0-9]*Mi  *[0-9]*%$"
'

test_expect_success 'muster top: what is not there' '
	test_expect_code 1 muster top none 2>err && has err "no job \"none\"" &&
	test_expect_code 1 muster top pods none 2>err && has err "pods \"none\" not found" &&
	test_expect_code 2 muster top a b 2>err && test_expect_code 2 muster top go -A 2>err &&
	test_expect_code 2 muster top --containers 2>err && has err "muster top pods"
'

test_expect_success 'pods that outlived their server are measured by the next one' '
	{ stop_muster KILL || :; } && again && taken_over burn && soon burns
'

test_expect_success 'whoever goes before the answer comes does no harm' '
	stop_muster && again && soon node_is_ready &&
	{ api $metrics/nodes -m 0.2 --http1.1 || :; } && { api $metrics/pods -m 0.2 --http2 || :; } &&
	kubectl top node >out && is 2 "$(wc -l <out)"
'

test_expect_success 'a server that is stopped while somebody waits ends at once' '
	start kubectl top node >out 2>&1 && stop_muster && { wait $! || :; }
'

test_expect_success 'without a node there is no Metrics API' '
	start_muster --no-node --no-scheduler && test_must_fail kubectl top pod 2>err && has err "Metrics API not available" &&
	kubectl api-versions >out && lacks out metrics.k8s.io &&
	test_expect_code 1 muster top 2>err && has err "the Metrics API (metrics.k8s.io) is not available at https://"
'

node_cleanup
test_done
