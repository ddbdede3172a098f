#!/bin/sh
# muster exec against a server that does what the pod's name says.
test_description='muster exec'
. "$(dirname "$0")/lib.sh"

test_expect_success 'the server and how to reach it' '
	{ /usr/bin/python3 "$e2e/exec_server.py" port log >server.log 2>&1 & background="$background $!"; } &&
	soon test -s port &&
	cat >config <<-EOF &&
	apiVersion: v1
	kind: Config
	current-context: c
	contexts: [{name: c, context: {cluster: c, user: u, namespace: ns}}]
	clusters: [{name: c, cluster: {server: "http://127.0.0.1:$(cat port)"}}]
	users: [{name: u, user: {token: sesame}}]
	EOF
	KUBECONFIG=$PWD/config && export KUBECONFIG
'

test_expect_success 'what a command prints, on both streams, and its end' '
	timeout 60 muster exec ok -- echo "a b" c >out 2>err && is "echo a b c" "$(cat out)" && is first "$(cat err)" &&
	has log "exec ok.*\"stdout\": ..true.*auth=Bearer sesame" &&
	for code in 1 7 127 137 255; do
		test_expect_code $code timeout 60 muster exec ok -- exit $code >out 2>err &&
		test_must_be_empty out && test_must_be_empty err || return 1
	done
'

test_expect_success 'the container: asked for, the default one, or the first' '
	timeout 60 muster exec -c side ok -- x 2>err >out && is side "$(cat err)" &&
	timeout 60 muster exec annotated -- x 2>err >out && is chosen "$(cat err)" &&
	timeout 60 muster exec pod/ok --container=side -n other -- x 2>err >out && is side "$(cat err)"
'

test_expect_success 'the older protocol, and none that we know' '
	timeout 60 muster exec v4 -- hi >out 2>err && is hi "$(cat out)" &&
	test_expect_code 1 timeout 60 muster exec odd -- hi 2>err && has err "speaks .v9., which we do not"
'

test_expect_success 'streams that are cut are failures' '
	test_expect_code 1 timeout 60 muster exec cut -- hi >out 2>err && is half "$(cat out)" &&
	has err "the connection was cut" &&
	test_expect_code 1 timeout 60 muster exec closes -- hi 2>err && has err "ended before the command did" &&
	test_expect_code 1 timeout 60 muster exec masks -- hi 2>err && has err "invalid frames"
'

test_expect_success 'frames in pieces, pings between them, and much of it' '
	timeout 60 muster exec split -- hi >out && is "one two" "$(cat out)" &&
	timeout 60 muster exec big -- hi >out && is $((160 * 65535)) "$(wc -c <out)" &&
	timeout 60 muster exec big -- hi | head -c 10 >out && is 10 "$(wc -c <out)"
'

test_expect_success 'output that comes after the end is not lost' '
	test_expect_code 3 timeout 60 muster exec early -- hi >out && is "after the end" "$(cat out)"
'

test_expect_success 'standard input: pipes, files and nothing' '
	printf "one\ntwo\n" >in &&
	timeout 60 muster exec -i ok -- cat <in >out && cmp in out &&
	{ printf "one\n"; sleep 0.2; printf "two\n"; } | timeout 60 muster exec -i ok -- cat >out && cmp in out &&
	timeout 60 muster exec -i ok -- cat </dev/null >out && test_must_be_empty out &&
	{ head -c 1500000 /dev/urandom; echo bye; head -c 1500000 /dev/urandom; } >in &&
	timeout 60 muster exec -i ok -- cat <in >out && cmp in out &&
	echo bye | timeout 60 muster exec -i v4 -- cat >out && is bye "$(cat out)"
'

test_expect_success 'a server that says no is quoted' '
	test_expect_code 1 timeout 60 muster exec refused -- x 2>err && is "muster: container x is not valid for pod" "$(cat err)" &&
	test_expect_code 1 timeout 60 muster exec chunked -- x 2>err && is "muster: pods/exec is forbidden" "$(cat err)" &&
	test_expect_code 1 timeout 60 muster exec plain -- x 2>err && has err "does not open a WebSocket" &&
	test_expect_code 1 timeout 60 muster exec liar -- x 2>err && has err "a protocol other than WebSocket" &&
	test_expect_code 1 timeout 60 muster exec ok -- lost 2>err && is "muster: no such program" "$(cat err)" &&
	test_expect_code 1 timeout 60 muster exec never -- x 2>err && has err "not found"
'

test_expect_success 'parity 7-10: --wait waits in silence until the pod is ready' '
	for pod in ok late comes again forbidden dials cutwatch; do
		timeout 60 muster exec --wait $pod -- hi >out 2>err && is hi "$(cat out)" && is first "$(cat err)" || return 1
	done
'

test_expect_success 'parity 7-10: not for one that has ended, nor for ever for one that is not there' '
	for pod in failed fails done; do
		test_expect_code 1 timeout 60 muster exec --wait $pod -- hi 2>err &&
		has err "pod $pod has ended: its phase is" || return 1
	done &&
	for pod in never goes; do
		test_expect_code 1 timeout 60 muster exec --wait --absent 1s $pod -- hi 2>err &&
		has err "there is no pod $pod in namespace ns" || return 1
	done &&
	test_expect_code 1 timeout 60 muster exec --wait --absent 1500ms hidden -- hi 2>err && has err "forbidden: not yet"
'

test_expect_success 'usage' '
	test_expect_code 2 timeout 60 muster exec 2>err && test_expect_code 2 timeout 60 muster exec ok 2>err &&
	test_expect_code 2 timeout 60 muster exec --install d ok 2>err && test_expect_code 2 timeout 60 muster exec --odd 2>err &&
	timeout 60 muster exec --help >out && has out "Usage: muster exec"
'

test_expect_success 'in a pod: the address, token and namespace are the service account'\''s' '
	test_expect_code 1 timeout 60 env KUBECONFIG= HOME=/nowhere KUBERNETES_SERVICE_HOST=127.0.0.1 \
		KUBERNETES_SERVICE_PORT=1 "$(command -v muster)" exec ok -- x 2>err && test -s err
'

# In an image that has nothing but a shell; ours has none to lend, so the loader is called as
# the script does.
unshare -Ur chroot / true 2>/dev/null && test_set_prereq CHROOT
test_expect_success CHROOT,!SANITIZED '--install brings along all it needs' '
	mkdir -p root/opt && timeout 60 muster exec --install "$PWD/root/opt/kube" &&
	is "muster $(muster version | cut -d" " -f2)" "$(root/opt/kube/muster version)" &&
	loader=$(basename root/opt/kube/lib/ld-*) && mkdir root/etc && cp config root/etc/config &&
	unshare -Ur chroot root "/opt/kube/lib/$loader" --library-path /opt/kube/lib /opt/kube/lib/muster \
		exec --kubeconfig /etc/config ok -- hi >out && is hi "$(cat out)" &&
	timeout 60 muster exec --install "$PWD/root/opt/kube"
'

test_done
