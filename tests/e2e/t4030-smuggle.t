#!/bin/sh
test_description='requests that are not what they seem get nowhere'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start' 'start_muster && token=$(cat "$data/token") && host=${url#https://}'

# raw FILE: sends the bytes over TLS and keeps what comes back, until the server closes
cat >raw.py <<-EOF
	import socket, ssl, sys
	host, port = sys.argv[1].split(":")
	tls = ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(port))))
	tls.settimeout(60)
	try:
	    tls.sendall(sys.stdin.buffer.read())
	    while part := tls.recv(65536):
	        sys.stdout.buffer.write(part)
	except OSError:
	    pass
EOF

raw() {
	timeout 120 /usr/bin/python3 raw.py "$host" <"$1" >answer
}

# one_refusal: exactly one answer came, and it is a 4xx or 5xx; or none at all
one_refusal() {
	if test "$(grep -ac '^HTTP/1.1 ' answer)" -gt 1 || grep -aq '^HTTP/1.1 2' answer; then
		cat answer >&2
		return 1
	fi
	test_must_fail kubectl get namespace smuggled 2>/dev/null
}

evil='POST /api/v1/namespaces HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 35\r\n\r\n{"metadata":{"name":"smuggled"}}   '

# try NAME BYTES: those bytes, then the evil request behind them
try() {
	test_expect_success "$1" '
		{ printf "$bytes"; printf "$evil"; } | sed "s/TOKEN/$token/" >request && raw request && one_refusal && api /healthz
	'
}

bytes='POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX'
try 'Content-Length with Transfer-Encoding'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n'
try 'two lengths that differ'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello'
try 'a length with a sign'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nContent-Length: 5 5\r\n\r\nhello'
try 'a length of two words'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'
try 'a transfer coding nobody knows'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n'
try 'a space before the colon'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n'
try 'a chunk size that is none'
bytes='POST /version HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n'
try 'a chunk size beyond all bounds'
bytes='GET /version HTTP/1.1\r\nHost: h\r\nX: a\r\n b: folded\r\n\r\n'
try 'a folded header'
bytes='GET /version HTTP/1.1\r\nHost: h\nX: y\r\n\r\n'
try 'a bare line feed'
bytes='GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'
try 'two hosts'
bytes='GET /version HTTP/1.1\r\n\r\n'
try 'no host'
bytes='GET /version HTTP/1.1\r\nHost: h\r\nX: a\000b\r\n\r\n'
try 'a NUL in a header'
bytes='GET http://other/version HTTP/9.9\r\nHost: h\r\n\r\n'
try 'a version that is none'

test_expect_success 'the bytes after a request without credentials do not borrow those before' '
	{ printf "GET /api/v1/namespaces HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n" "$host" "$token"
	printf "GET /api/v1/namespaces HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" "$host"; } >request && raw request &&
	is "200 401" "$(sed -n "s/^HTTP.1.1 \([0-9]*\).*/\1/p" answer | xargs)"
'

test_expect_success 'slowloris: a header that drips is cut off, and others do not notice' '
	cat >drip.py <<-EOF &&
	import socket, ssl, sys, time
	host, port = sys.argv[1].split(":")
	socks = []
	for i in range(100):
	    s = ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(port))))
	    s.sendall(b"GET /version HTTP/1.1\r\nHost: h\r\nX-Drip: ")
	    socks.append(s)
	open("dripping", "w").close()
	time.sleep(60)
	EOF
	start /usr/bin/python3 drip.py "$host" && soon test -e dripping && began=$(now_ms) && api /healthz && kubectl get ns default && promptly $began
'

test_expect_success 'paths that climb, hide or repeat' '
	for path in /api/v1/../../../etc/passwd /api/v1/namespaces/%2e%2e/x //api//v1 /api/v1/namespaces/%00 /%zz; do
		case "$(api "$path" --path-as-is -o body -w "%{http_code}")" in 301 | 400 | 403 | 404) ;; *) echo "$path" >&2; cat body >&2; return 1 ;; esac
	done
'

test_expect_success 'bodies too deep, too wide, not UTF-8' '
	/usr/bin/python3 -c "print(\"{\\\"metadata\\\":{\\\"name\\\":\\\"deep\\\"},\\\"x\\\":\" + \"[\" * 100000 + \"]\" * 100000 + \"}\")" >deep.json &&
	is 400 "$(api /api/v1/namespaces/default/configmaps --json @deep.json -o body -w "%{http_code}")" &&
	printf "{\"metadata\":{\"name\":\"utf\"},\"data\":{\"a\":\"\377\"}}" >utf.json && is 400 "$(api /api/v1/namespaces/default/configmaps --json @utf.json -o body -w "%{http_code}")" && api /healthz &&
	printf "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]\n" >bomb.yaml &&
	code=$(api /api/v1/namespaces/default/configmaps -H "Content-Type: application/yaml" --data-binary @bomb.yaml -m 60 -o body -w "%{http_code}") && test "$code" -ge 400 && api /healthz
'

test_done
