#!/bin/sh
test_description='muster operator: how it ends'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

test_expect_success 'parity Q15: SIGTERM in the middle of much work: what was sent is finished, exit 0, soon' '
	start_api --no-operator && crds && start_operator op --leader-elect --leader-election-namespace "$ns" &&
	soon is_ready op && tfjob wide 200 | kubectl create -f - &&
	soon has_some_pods && began=$(now_ms) && end_operator op &&
	promptly $began && lacks op.log "not all requests were answered" &&
	is "" "$(kubectl get lease 1ca428e5.training-operator.kubeflow.org -o jsonpath={.spec.holderIdentity})"
'

test_expect_success 'the next one goes on from there: 200 pods, none twice' '
	start_operator op && soon pods_are 200 && is 0 "$(metric op failed_pods_total)" &&
	kubectl get pods -o json | jq -r ".items[].metadata.labels[\"training.kubeflow.org/replica-index\"]" |
		sort -n >got && seq 0 199 | test_cmp - got
'

test_expect_success 'an idle one ends at once' '
	sleep 1 && began=$(now_ms) && end_operator op && promptly $began
'

test_expect_success MUSTER 'without its API it ends as well, lease or not' '
	start_operator op --leader-elect --leader-election-namespace "$ns" && soon is_ready op &&
	kill -STOP $muster_pid && sleep 0.3 && began=$(now_ms) &&
	{ end_operator op; code=$?; kill -CONT $muster_pid; is 0 $code; } &&
	promptly $began
'

test_done
