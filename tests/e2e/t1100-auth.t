#!/bin/sh
test_description='who may ask: anonymous, token, certificate, browsers'
. "$(dirname "$0")/lib.sh"

# code PATH [curl's options]: the status without any credential
code() {
	path=$1
	shift
	curl -sS --cacert "$data/pki/ca.crt" -o body -w "%{http_code}" "$@" "$url$path"
}

bearer() {
	echo "Authorization: Bearer $(cat "$data/token")"
}

test_expect_success 'start' 'start_muster'

for path in /healthz /livez /readyz /version; do
	test_expect_success "anonymous may read $path" 'is 200 "$(code $path)"'
done

for path in /api /apis /api/v1/namespaces /openapi/v2 /openapi/v3 /metrics / /nowhere /healthzz /version/x; do
	test_expect_success "anonymous gets 401 on $path" '
		is 401 "$(code $path)" && jq_is ".kind == \"Status\" and .reason == \"Unauthorized\" and .message == \"Unauthorized\" and .code == 401" body
	'
done

test_expect_success 'anonymous cannot write' '
	is 401 "$(code /api/v1/namespaces --json "{\"metadata\":{\"name\":\"anon\"}}")" &&
	is 401 "$(code /api/v1/namespaces/default -X DELETE)" &&
	test_must_fail kubectl get namespace anon
'

test_expect_success 'the bearer token lets in' 'is 200 "$(code /api/v1/namespaces -H "$(bearer)")"'

test_expect_success 'so it does after a "bearer" of any case, as a client in a pod writes it' '
	is 200 "$(code /api/v1/namespaces -H "$(bearer | sed s/Bearer/bearer/)")" &&
	is 200 "$(code /api/v1/namespaces -H "$(bearer | sed s/Bearer/BEARER/)")" &&
	is 401 "$(code /api/v1/namespaces -H "$(bearer | sed "s/Bearer /bearer/")")"
'

test_expect_success 'a wrong, cut, longer or empty token does not' '
	token=$(cat "$data/token") &&
	is 401 "$(code /api/v1/namespaces -H "Authorization: Bearer wrong")" &&
	is 401 "$(code /api/v1/namespaces -H "Authorization: Bearer ${token%?}")" &&
	is 401 "$(code /api/v1/namespaces -H "Authorization: Bearer ${token}0")" &&
	is 401 "$(code /api/v1/namespaces --http1.1 -H "Authorization: Bearer ")" &&
	is 401 "$(code /api/v1/namespaces -H "Authorization: Basic $token")" &&
	is 401 "$(code "/api/v1/namespaces?access_token=$token")"
'

test_expect_success 'the client certificate lets in' '
	is 200 "$(code /api/v1/namespaces --cert "$data/pki/client.crt" --key "$data/pki/client.key")"
'

test_expect_success 'a certificate of another CA does not' '
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout evil.key -out evil.crt \
		-subj "/O=system:masters/CN=muster-admin" -days 1 2>/dev/null &&
	{ got=$(code /api/v1/namespaces --cert evil.crt --key evil.key) || got=$?; } &&
	test "$got" != 200
'

test_expect_success 'the kubeconfig holds what kubectl needs and nothing of the CA key' '
	kubectl get namespaces && lacks "$data/kubeconfig" "$(sed -n 2p "$data/pki/ca.key")"
'

test_expect_success 'the server certificate is for localhost and loopback addresses, from our CA' '
	port=${url##*:} &&
	is 200 "$(curl -sS --cacert "$data/pki/ca.crt" -o body -w "%{http_code}" "https://localhost:$port/healthz")" &&
	openssl x509 -in "$data/pki/server.crt" -noout -ext subjectAltName >san &&
	has san "DNS:localhost" "IP Address:127.0.0.1" "DNS:kubernetes.default.svc" &&
	test_must_fail curl -sS "$url/healthz"
'

test_expect_success 'only TLS 1.2 and later' '
	test_must_fail openssl s_client -connect "${url#https://}" -tls1_1 </dev/null
'

test_expect_success 'a browser with a foreign Host is refused, whatever its credential' '
	is 403 "$(code /api/v1/namespaces -H "$(bearer)" -H "Host: evil.example" -H "Origin: https://evil.example")" &&
	is 403 "$(code /version -H "Host: evil.example" -H "Origin: https://evil.example")" &&
	is 403 "$(code /api/v1/namespaces -H "$(bearer)" -H "Host: evil.example" -A "Mozilla/5.0")"
'

test_expect_success 'a browser page of another site is refused too' '
	is 403 "$(code /api/v1/namespaces -H "$(bearer)" -H "Origin: https://evil.example" --json "{\"metadata\":{\"name\":\"csrf\"}}")" &&
	test_must_fail kubectl get namespace csrf
'

test_expect_success 'no answer invites other sites' '
	code /api/v1/namespaces -H "$(bearer)" -D headers && lacks headers "[Aa]ccess-[Cc]ontrol-[Aa]llow"
'

test_expect_success 'whoami' '
	api /apis/authentication.k8s.io/v1/selfsubjectreviews --json "{}" >who &&
	jq_is ".kind == \"SelfSubjectReview\" and (.status.userInfo.groups | index(\"system:authenticated\"))" who
'

test_expect_success 'tokenreview knows our token and no other' '
	api /apis/authentication.k8s.io/v1/tokenreviews --json "{\"spec\":{\"token\":\"$(cat "$data/token")\"}}" >yes &&
	jq_is ".status.authenticated == true and (.status.user.username | length > 0)" yes &&
	api /apis/authentication.k8s.io/v1/tokenreviews --json "{\"spec\":{\"token\":\"guess\"}}" >no &&
	jq_is ".status.authenticated != true" no
'

test_done
