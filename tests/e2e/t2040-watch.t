#!/bin/sh
test_description='kubectl get -w and wait; watches from a revision, with bookmarks and selectors'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_api && kubectl create -f "$e2e/pods.yaml"'

# lines N FILE: the file has got that many lines
lines() {
	test "$(wc -l <"$2")" -ge "$1"
}

test_expect_success 'get -w shows what is there, then each change' '
	start kubectl get configmaps --watch --no-headers -l w=1 >watch && watcher=$! &&
	start kubectl get pods -w -o name >pods && pods=$! && soon lines 3 pods &&
	kubectl label pod alpha w=1 && soon lines 4 pods && is pod/alpha "$(sed -n 4p pods)" && kill $pods $watcher
'

test_expect_success 'get --watch-only shows changes alone' '
	start kubectl get pods --watch-only -o name >only && only=$! &&
	poke() { kubectl annotate pod beta poke="$(now_ms)" --overwrite >/dev/null && test -s only; } &&
	soon poke && kill $only && is pod/beta "$(sort -u only)"
'

test_expect_success 'get -w --output-watch-events names the type of change' '
	start kubectl get configmaps -w --output-watch-events --no-headers --field-selector metadata.name=seen >seen && seen=$! &&
	make ConfigMap seen && soon lines 1 seen && kubectl label configmap seen a=b && soon lines 2 seen && kubectl delete configmap seen &&
	soon lines 3 seen && kill $seen && is "ADDED MODIFIED DELETED" "$(cut -d" " -f1 seen | xargs)"
'

events() {
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps?watch=true&timeoutSeconds=1&$1" | jq -r '"\(.type) \(.object.metadata.name // .object.code)"' | xargs
}

test_expect_success 'a watch from a revision sees every change after it, once, in order (A2)' '
	rv=$(make ConfigMap from -o jsonpath={.metadata.resourceVersion}) &&
	for i in 1 2 3; do
		make ConfigMap "seq-$i" || return 1
	done && kubectl delete configmap seq-2 &&
	is "ADDED seq-1 ADDED seq-2 ADDED seq-3 DELETED seq-2" "$(events "resourceVersion=$rv")"
'

test_expect_success 'rv unset and rv 0 begin with what is there' '
	is "ADDED from" "$(events "fieldSelector=metadata.name%3Dfrom")" && is "ADDED from" "$(events "fieldSelector=metadata.name%3Dfrom&resourceVersion=0")"
'

test_expect_success 'a selector turns updates into ADDED and DELETED' '
	kubectl label configmap from on=yes && rv=$(kubectl get configmap from -o jsonpath={.metadata.resourceVersion}) &&
	kubectl label configmap from on- && kubectl label configmap from on=yes &&
	is "DELETED from ADDED from" "$(events "resourceVersion=$rv&labelSelector=on%3Dyes")"
'

test_expect_success 'a DELETED event carries the revision of the deletion' '
	rv=$(make ConfigMap gone -o jsonpath={.metadata.resourceVersion}) && kubectl delete configmap gone &&
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps?watch=1&timeoutSeconds=1&resourceVersion=$rv" >ev &&
	jq_is ".type == \"DELETED\" and (.object.metadata.resourceVersion | tonumber) > $rv" ev
'

test_expect_success 'sendInitialEvents: all that is there, then a bookmark that says so' '
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" >ev &&
	jq -s "map(select(.type == \"BOOKMARK\"))[0]" ev >bookmark &&
	jq_is ".object.metadata.annotations[\"k8s.io/initial-events-end\"] == \"true\" and (.object.metadata.resourceVersion | length > 0)" bookmark &&
	test $(grep -c ADDED ev) -ge 3
'

test_expect_success 'a revision that has not come yet: an answer that says so, not a stale one' '
	api "/api/v1/namespaces/$ns/configmaps?resourceVersion=999999999&resourceVersionMatch=NotOlderThan" -m 60 >late && jq_is ".code == 504 and .details.causes[0].reason == \"ResourceVersionTooLarge\"" late
'

test_expect_success 'exact revisions list the past' '
	rv=$(kubectl get --raw "/api/v1/namespaces/$ns/configmaps" | jq -r .metadata.resourceVersion) && make ConfigMap after &&
	kubectl get --raw "/api/v1/namespaces/$ns/configmaps?resourceVersion=$rv&resourceVersionMatch=Exact" >past &&
	jq_is ".metadata.resourceVersion == \"$rv\" and ([.items[].metadata.name] | index(\"after\") | not)" past
'

test_expect_success 'timeoutSeconds ends the stream, cleanly' '
	began=$(now_ms) && kubectl get --raw "/api/v1/pods?watch=1&timeoutSeconds=1" >/dev/null && promptly $began &&
	began=$(now_ms) && timeout 60 kubectl get --raw "/api/v1/pods?watch=1&timeoutSeconds=-1" >/dev/null && promptly $began
'

test_expect_success KUBECTL_130 'wait --for=condition' '
	start kubectl wait --for=condition=Ready pod/alpha --timeout=120s >waited && waiter=$! &&
	kubectl patch pod alpha --subresource=status --type=merge -p "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}" &&
	wait $waiter && is "pod/alpha condition met" "$(cat waited)"
'

test_expect_success KUBECTL_130 'wait --for=jsonpath, with a value and with existence' '
	kubectl wait --for=jsonpath="{.status.phase}"=Running pod/alpha --timeout=120s &&
	start kubectl wait --for=jsonpath="{.data.done}"=yes configmap/from --timeout=120s && waiter=$! &&
	kubectl patch configmap from --type=merge -p "{\"data\":{\"done\":\"yes\"}}" && wait $waiter
'

test_expect_success KUBECTL_130 'wait --for=delete' '
	start kubectl wait --for=delete configmap/from --timeout=120s && waiter=$! && kubectl delete configmap from --wait=false && wait $waiter &&
	kubectl wait --for=delete configmap/from --timeout=120s
'

test_expect_success KUBECTL_130 'wait --for=create' '
	"$E2E_KUBECTL" wait --help >help && if ! grep -q "for=create" help; then return 0; fi &&
	start kubectl wait --for=create configmap/later --timeout=120s && waiter=$! && make ConfigMap later && wait $waiter
'

test_expect_success 'wait that waits in vain fails in time' '
	test_must_fail kubectl wait --for=condition=Ready pod/beta --timeout=3s 2>err && has err "timed out waiting for the condition on pods/beta"
'

test_expect_success 'events: made, listed, sorted; kubectl events' '
	cat >event.yaml <<-EOF && kubectl create -f event.yaml &&
	apiVersion: v1
	kind: Event
	metadata: {name: alpha.1}
	involvedObject: {apiVersion: v1, kind: Pod, name: alpha, namespace: $ns}
	type: Warning
	reason: Testing
	message: a test speaks
	firstTimestamp: "2024-01-01T00:00:00Z"
	lastTimestamp: "2024-01-01T00:00:00Z"
	count: 1
	EOF
	kubectl get events >out && has out "LAST SEEN  *TYPE  *REASON  *OBJECT  *MESSAGE" "Warning  *Testing  *pod/alpha  *a test speaks" &&
	is event/alpha.1 "$(kubectl get events --field-selector involvedObject.name=alpha,type=Warning -o name)"
'

test_expect_success KUBECTL_130 'kubectl events --for' 'kubectl events --for pod/alpha >out && has out "a test speaks"'

test_done
