#!/bin/sh
test_description='HTTP/1.1 and HTTP/2 on one port, keep-alive, gzip, upgrades, limits'
. "$(dirname "$0")/lib.sh"

test_expect_success 'start, with a page full of config maps' '
	start_muster &&
	big=$(printf "%4000s" "" | tr " " x) &&
	for i in $(test_seq 1 60); do
		printf "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c%s\"},\"data\":{\"x\":\"%s\"}}\n" $i $big
	done >many.json &&
	kubectl create -f many.json >out && is 60 "$(wc -l <out)"
'

for http in 1.1 2; do
	test_expect_success "HTTP/$http is spoken" '
		is $http "$(api /version --http$http -o body -w "%{http_version}")" && jq_is ".major == \"1\"" body
	'

	test_expect_success "HTTP/$http keeps the connection" '
		is "0 1 1 " "$(api /healthz --http$http -o body -w "%{num_connects} " "$url/version" "$url/version" -o /dev/null -o /dev/null | tr -d "\n" | sed "s/^1 0 0 $/0 1 1 /")"
	'

	test_expect_success "HTTP/$http: large answers are compressed for those who take it" '
		api /api/v1/namespaces/default/configmaps --http$http -D headers -H "Accept-Encoding: gzip" -o packed &&
		has headers "^[Cc]ontent-[Ee]ncoding: gzip" && gzip -dc <packed >plain &&
		api /api/v1/namespaces/default/configmaps --http$http -D headers -o same && test_cmp plain same &&
		lacks headers "^[Cc]ontent-[Ee]ncoding" && test $(wc -c <packed) -lt 40000 && test $(wc -c <plain) -gt 240000
	'

	test_expect_success "HTTP/$http: small answers are not" '
		api /version --http$http -D headers -H "Accept-Encoding: gzip" -o body &&
		lacks headers "^[Cc]ontent-[Ee]ncoding" && jq_is .gitVersion body
	'

	test_expect_success "HTTP/$http: a body of 256 KB arrives whole" '
		jq -n "{metadata: {generateName: \"big-\"}, data: {x: (\"y\" * 262144)}}" >big.json &&
		api /api/v1/namespaces/default/configmaps --http$http --json @big.json >made &&
		jq_is ".data.x | length == 262144" made
	'

	test_expect_success "HTTP/$http: a body beyond the limit gets 413, and the server lives on" '
		head -c 4000000 /dev/zero | tr "\0" " " >huge &&
		is 413 "$(api /api/v1/namespaces/default/configmaps --http$http --json @huge -o body -w "%{http_code}")" &&
		jq_is ".reason == \"RequestEntityTooLarge\"" body && api /healthz
	'

	test_expect_success "HTTP/$http: headers beyond the limit get nowhere" '
		junk=$(head -c 100000 /dev/zero | tr "\0" a) &&
		{ code=$(api /version --http$http -H "X-Junk: $junk" -o /dev/null -w "%{http_code}") || true; } &&
		test "$code" != 200 && api /healthz
	'

	test_expect_success "HTTP/$http: a watch streams event by event" '
		api "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&fieldSelector=metadata.name=c1&timeoutSeconds=1" \
			--http$http -N >events && jq -se ".[0].type == \"ADDED\" and .[0].object.metadata.name == \"c1\"" events
	'

	test_expect_success "HTTP/$http: methods nobody has" '
		case "$(api /api/v1/namespaces --http$http -X BREW -o body -w "%{http_code}")" in 400 | 405 | 501) ;; *) false ;; esac
	'
done

test_expect_success 'clear text on the TLS port gets nowhere' '
	{ curl -sS -m 2 "http://${url#https://}/healthz" >out 2>&1 || true; } && lacks out "^ok$" && api /healthz
'

for verb in exec attach portforward log; do
	test_expect_success "pods/$verb answers 501 with a reason" '
		{ kubectl get pod p >/dev/null 2>&1 ||
			kubectl create -f - <<-EOF
			{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}
			EOF
		} &&
		method=GET && is 501 "$(api "/api/v1/namespaces/default/pods/p/$verb?command=ls&container=c&stdout=1" -X $method -o body -w "%{http_code}")" &&
		jq_is ".kind == \"Status\" and .status == \"Failure\" and .code == 501 and (.message | length > 10)" body
	'
done

test_expect_success 'exec by WebSocket upgrade: 501, not a hung connection' '
	is 501 "$(api "/api/v1/namespaces/default/pods/p/exec?command=ls&stdout=1" --http1.1 -m 60 -o body -w "%{http_code}" \
		-H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" \
		-H "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==" -H "Sec-WebSocket-Protocol: v5.channel.k8s.io")" &&
	jq_is ".code == 501" body
'

test_expect_success 'kubectl logs and exec say why' '
	test_must_fail kubectl logs p 2>err && test -s err && test_must_fail kubectl exec p -- true 2>err && test -s err
'

test_expect_success 'a watch over WebSocket' '
	is 101 "$(api "/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name=c1&timeoutSeconds=2" --http1.1 -m 60 -o frames -w "%{http_code}" \
		-H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" \
		-H "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==" 2>/dev/null)" &&
	tr -d "\0-\010\016-\037" <frames | grep -a -q "\"type\":\"ADDED\""
'

test_expect_success 'Prometheus can read /metrics' '
	api /metrics -D headers >metrics && has headers "text/plain" && has metrics "^# TYPE muster_" "^muster_[a-z_]* "
'

test_done
