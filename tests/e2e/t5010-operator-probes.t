#!/bin/sh
test_description='muster operator: probes and metrics'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

! /usr/bin/python3 -c "import prometheus_client" 2>/dev/null || test_set_prereq PROMETHEUS

test_expect_success 'an API and an operator' '
	start_api --no-operator && crds && start_operator op && soon is_ready op
'

test_expect_success 'probes answer as the original framework does' '
	is 200 "$(probe op /healthz)" && is ok "$(cat probe)" &&
	is 200 "$(probe op /healthz/healthz)" && is ok "$(cat probe)" &&
	is 200 "$(probe op /healthz/)" && is ok "$(cat probe)" &&
	is 200 "$(probe op /readyz)" && is ok "$(cat probe)" &&
	is 200 "$(probe op /readyz/readyz)" && is ok "$(cat probe)" &&
	is 404 "$(probe op /healthz/other)" && is 404 "$(probe op /)" && is 404 "$(probe op /metrics)"
'

test_expect_success '?verbose and ?exclude' '
	is 200 "$(probe op "/readyz?verbose")" &&
	printf "[+]readyz ok\nhealthz check passed\n" >want && test_cmp want probe &&
	is 200 "$(probe op "/readyz?verbose&exclude=readyz")" &&
	printf "[+]readyz excluded: ok\nhealthz check passed\n" >want && test_cmp want probe &&
	is 200 "$(probe op "/healthz?verbose=1&exclude=x")" &&
	printf "[+]healthz ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nhealthz check passed\n" >want &&
	test_cmp want probe
'

test_expect_success 'a job leaves its marks in /metrics' '
	tfjob mnist 2 | kubectl create -f - && soon pods_are 2 &&
	soon counts op "training_operator_jobs_created_total{framework=\"tensorflow\",job_namespace=\"$ns\"}" 1 &&
	soon counts op created_pods_total 2 && soon counts op succeeded_service_creation_total 2 &&
	is 0 "$(metric op failed_pods_total)" && is 0 "$(metric op deleted_pods_total)" &&
	reconciled() { test "$(metric op "controller_runtime_reconcile_total{controller=\"tfjob-controller\",result=\"success\"}")" -ge 1; } &&
	soon reconciled &&
	test "$(metric op process_resident_memory_bytes)" -gt 1000000 &&
	is 1 "$(metric op muster_ready)"
'

test_expect_success 'requests are counted by method, code and host' '
	has op.metrics "^rest_client_requests_total{code=\"201\",host=\"${url#https://}\",method=\"POST\"} "
'

test_expect_success 'each family has one HELP and one TYPE, before its samples' '
	grep "^# TYPE" op.metrics | sort >types && sort -u types | test_cmp - types &&
	for name in created_pods_total deleted_pods_total failed_pods_total created_pod_groups_total \
		deleted_pod_groups_total succeeded_service_creation_total failed_service_creation_total \
		controller_runtime_reconcile_total controller_runtime_reconcile_errors_total \
		controller_runtime_reconcile_time_seconds workqueue_depth rest_client_requests_total \
		muster_reaction_seconds muster_watch_restarts_total process_cpu_seconds_total; do
		has op.metrics "^# HELP $name " "^# TYPE $name " || return 1
	done
'

test_expect_success PROMETHEUS 'Prometheus reads it' '
	/usr/bin/python3 "$e2e/prometheus.py" op.metrics >families &&
	test "$(wc -l <families)" -gt 20
'

test_expect_success 'only /metrics is there, and only as plain HTTP' '
	is 404 "$(curl -s -o /dev/null -w "%{http_code}" "http://127.0.0.1:$(port op metrics)/")" &&
	test_expect_code 35 curl -sk "https://127.0.0.1:$(port op metrics)/metrics"
'

misses_its_api() {
	is 500 "$(probe op /readyz/readyz)" && grep -q "^internal server error: cannot [a-z]* [a-z.]*: " probe
}

test_expect_success MUSTER 'not ready without its API; healthy all the same; then ready again' '
	keep=${url##*:} && stop_muster &&
	soon misses_its_api && is 200 "$(probe op /healthz)" &&
	is 500 "$(probe op /readyz)" &&
	printf "[-]readyz failed: reason withheld\nhealthz check failed\n" >want && test_cmp want probe &&
	start_muster --no-operator --listen "127.0.0.1:$keep" && soon is_ready op
'

test_expect_success 'SIGTERM: exit 0' '
	end_operator op && has op.log "msg=stopping signal=TERM"
'

test_done
