#!/bin/sh
test_description='a full disk: writes are refused with the reason, reads and deletions go on, and it recovers'
. "$(dirname "$0")/lib.sh"

mkdir small
if ! test_have_prereq ROOT || ! mount -t tmpfs -o size=8m,mode=700 tmpfs small 2>/dev/null; then
	skip_all='a small tmpfs needs root and the right to mount'
	test_done
fi
data=$PWD/small/data
trap 'code=$?; end_all; umount -l small 2>/dev/null; (exit $code); die' EXIT

code() {
	api "$@" -o body -w '%{http_code}'
}

# Writes until one is refused; its code is in $refused, what was acknowledged in the file.
fill() {
	i=0
	while i=$((i + 1)) && test $i -lt 2000; do
		jq -n --arg n "$1-$i" '{metadata: {name: $n}, data: {x: ([range(40000)] | map(tostring) | add)}}' >big.json
		refused=$(code /api/v1/namespaces/default/configmaps --json @big.json)
		test "$refused" = 201 || return 0
		echo "$1-$i" >>acked
	done
	return 1
}

test_expect_success 'writes go on until the disk is full, then get 507 or 500 with the reason' '
	start_muster && is 201 "$(code /api/v1/namespaces/default/configmaps --json "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/x\"]}}")" &&
	jq -n "{apiVersion: \"v1\", kind: \"List\", items: [range(300) | {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"many-\(.)\", labels: {many: \"\"}}, data: {x: \"\(.)\"}}]}" | kubectl create -f - >created &&
	fill a && test -s acked && case $refused in 507 | 500) ;; *) echo "got $refused" >&2; false ;; esac &&
	jq_is ".kind == \"Status\" and .status == \"Failure\" and (.message | test(\"disk|space|full\"; \"i\"))" body
'

test_expect_success 'reads and watches go on' '
	is 200 "$(code /api/v1/namespaces/default/configmaps)" && jq -r ".items[].metadata.name" body | sort >there && sort acked | comm -23 - there >lost && test_must_be_empty lost &&
	api "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0" >events && test -s events
'

test_expect_success 'what was refused is not there' '
	last=$(tail -n 1 acked) && is 404 "$(code "/api/v1/namespaces/default/configmaps/a-$((${last#a-} + 1))")"
'

# Whatever is free goes to somebody else, at once and to the last block.
no_room() {
	{ head -c 64M /dev/zero >small/filler 2>/dev/null || true; } && sync -f small && is 0 "$(df --output=avail -k small | tail -n 1 | tr -d " ")"
}

# delete NAME: it is acknowledged, and taken off the list of what must be there.
delete() {
	is 200 "$(code "/api/v1/namespaces/default/configmaps/$1" -X DELETE)" && grep -vx "$1" acked >left && mv left acked
}

test_expect_success 'deletions go on with no byte free, whatever they take: at once, by finalizers, of many' '
	no_room && delete "$(head -n 1 acked)" && delete "$(tail -n 1 acked)" &&
	is 200 "$(code "/api/v1/namespaces/default/configmaps/held" -X DELETE)" && is 200 "$(code /api/v1/namespaces/default/configmaps/held)" && jq_is .metadata.deletionTimestamp body &&
	is 200 "$(code /api/v1/namespaces/default/configmaps/held -X PATCH -H "Content-Type: application/merge-patch+json" -d "{\"metadata\":{\"finalizers\":null}}")" && is 404 "$(code /api/v1/namespaces/default/configmaps/held)" &&
	is 200 "$(code "/api/v1/namespaces/default/configmaps?labelSelector=many" -X DELETE)" && is 0 "$(api "/api/v1/namespaces/default/configmaps?labelSelector=many" | jq ".items | length")"
'

test_expect_success 'what they freed can be used again, with the disk still full' '
	is 201 "$(code /api/v1/namespaces/default/configmaps --json "{\"metadata\":{\"name\":\"in-between\"}}")" && echo in-between >>acked && no_room
'

test_expect_success 'so do they after kill -9, when it starts on the full disk at another port' '
	{ stop_muster KILL; true; } && start_muster && delete "$(head -n 1 acked)" && is 200 "$(code "/api/v1/namespaces/default/configmaps/$(head -n 1 acked)")"
'

test_expect_success 'with space again, writes go through, without a restart' '
	rm small/filler && mount -o remount,size=64m small &&
	writes() { test "$(code /api/v1/namespaces/default/configmaps --json "{\"metadata\":{\"generateName\":\"again-\"}}")" = 201; } &&
	soon writes
'

test_expect_success 'nothing acknowledged is lost after kill -9 and a restart' '
	{ stop_muster KILL; true; } && start_muster && api /api/v1/namespaces/default/configmaps | jq -r ".items[].metadata.name" | sort >there &&
	sort acked | comm -23 - there >lost && test_must_be_empty lost
'

test_expect_success 'a start on a full disk still serves what there is' '
	stop_muster && free=$(df --output=avail -B1 small | tail -n 1) && { head -c "$free" /dev/zero >small/filler 2>/dev/null || true; } &&
	start_muster --listen "${url#https://}" && is 200 "$(code "/api/v1/namespaces/default/configmaps/$(head -n 1 acked)")" && rm small/filler
'

stop_muster

gone() {
	! pgrep -f "sleep 9000$$" >/dev/null
}

test_expect_success 'a run on it ends when it is told to, and its pods with it' '
	rm -rf small/data && cat >pod.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: lasts}
	spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: main, image: x, command: [sh, -c, "echo ready; exec sleep 9000$$"]}]}
	END
	{ timeout -s KILL 180 muster run --isolation shared --data "$data" pod.yaml >out 2>err & pid=$!; } && background="$background $pid" &&
	soon grep -q ready out && { head -c 64M /dev/zero >small/filler 2>/dev/null || true; } && kill -INT $pid &&
	{ wait $pid; code=$?; cat err >&2; is 130 $code; } && has err "^interrupted after" && lacks err "cannot kill" && soon gone
'

# What it needs before its first pod runs is about 64 KiB; at that, pods once waited for their files.
test_expect_success 'a run with no room for it says so at once, in one line' '
	for free in 0 16 48 64 500; do
		rm -rf small/* && mount -o remount,size=8m small && head -c $(((8 * 1024 - free) * 1024)) /dev/zero >small/filler &&
		test_expect_code 1 timeout -s KILL 60 muster run --isolation shared --data "$data" pod.yaml >out 2>err && is 1 "$(wc -l <err)" && has err "disk of $data is full: .* KiB are free" &&
		test_expect_code 1 env XDG_DATA_HOME="$PWD/small" timeout -s KILL 60 muster run --isolation shared --no-workdir pod.yaml >out 2>err && is 1 "$(wc -l <err)" && has err "disk of $PWD/small/muster is full" || return 1
	done
'

umount -l small
test_done
