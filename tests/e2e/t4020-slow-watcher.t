#!/bin/sh
test_description='watchers that never read hold nobody up, and no memory'
. "$(dirname "$0")/lib.sh"

rss_kb() {
	awk '/^VmRSS/ { print $2 }' "/proc/$muster_pid/status"
}

# A client that asks for a watch and then reads nothing at all.
cat >deaf.py <<-EOF
	import os, socket, ssl, sys, time
	host, port = sys.argv[1].split(":")
	raw = socket.create_connection((host, int(port)))
	raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	tls = ssl._create_unverified_context().wrap_socket(raw)
	tls.sendall(("GET /api/v1/namespaces/default/configmaps?watch=1 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n" % tuple(sys.argv[1:3])).encode())
	tls.recv(1)
	open("deaf.%d" % os.getpid(), "w").close()
	time.sleep(60)
EOF

test_expect_success 'start, with ten watchers that do not read and one that does' '
	start_muster && make ConfigMap busy &&
	for i in 1 2 3 4 5 6 7 8 9 10; do
		start /usr/bin/python3 deaf.py "${url#https://}" "$(cat "$data/token")"
	done && soon sh -c "test \$(ls deaf.[0-9]* 2>/dev/null | wc -l) = 10" &&
	start api "/api/v1/namespaces/default/configmaps?watch=1" -N >heard && soon test -s heard && rss_kb >before
'

test_expect_success '3000 updates of 10 KB each go through at full speed' '
	cat >storm.py <<-EOF &&
	import http.client, json, ssl, sys
	host, port = sys.argv[1].split(":")
	c = http.client.HTTPSConnection(host, int(port), context=ssl._create_unverified_context())
	head = {"Authorization": "Bearer " + sys.argv[2], "Content-Type": "application/merge-patch+json"}
	for i in range(3000):
	    c.request("PATCH", "/api/v1/namespaces/default/configmaps/busy", json.dumps({"data": {"n": str(i), "x": "y" * 10000}}), head)
	    answer = c.getresponse()
	    answer.read()
	    assert answer.status == 200, answer.status
	EOF
	timeout 600 /usr/bin/python3 storm.py "${url#https://}" "$(cat "$data/token")"
'

# The last one, all of it: it comes in pieces.
heard_last() {
	tail -n 1 heard | jq -e '.object.data.n == "2999"' >/dev/null 2>&1
}

test_expect_success 'the watcher that reads has seen every one of them, in order' '
	soon heard_last &&
	jq -r "select(.type == \"MODIFIED\") | .object.data.n" heard >numbers && seq 0 2999 >want && test_cmp want numbers
'

test_expect_success !SANITIZED 'memory stayed bounded' '
	grown=$(($(rss_kb) - $(cat before))) && echo "grew by $grown KB" && test $grown -lt 60000
'

test_expect_success 'others are served at once, and it stops in time' '
	began=$(now_ms) && kubectl get configmap busy -o name && promptly $began &&
	began=$(now_ms) && stop_muster && promptly $began
'

test_done
