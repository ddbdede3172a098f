#!/bin/sh
test_description='muster image pull: from a real registry, and from one that misbehaves'
. "$(dirname "$0")/lib.sh"

for tool in busybox umoci skopeo docker-registry openssl; do
	if ! command -v $tool >/dev/null; then
		skip_all="no $tool"
		test_done
	fi
done
place=$(mktemp -d) TERM=dumb
XDG_DATA_HOME=$place/data HOME=$place/user
export XDG_DATA_HOME HOME TERM
images=$XDG_DATA_HOME/muster/images
mkdir -p "$HOME/.docker"
started=

# serve NAME MORE OF ITS SETTINGS: Debian's registry on a free port of this machine, in $port.
serve() {
	cat >"$1.yml" <<-END
		version: 0.1
		log: {level: info, formatter: json}
		storage: {filesystem: {rootdirectory: $place/$1}}
		$2
	END
	docker-registry serve "$1.yml" >"$1.log" 2>&1 &
	started="$started $!"
	soon grep -q "listening on" "$1.log" || { cat "$1.log" >&2; return 1; }
	port=$(sed -n 's/.*listening on [^"]*:\([0-9]*\).*/\1/p' "$1.log" | head -n 1)
}

make_image() {
	mkdir -p root/bin && cp "$(command -v busybox)" root/bin/busybox && ln -s busybox root/bin/sh && ln -s busybox root/bin/echo &&
		umoci init --layout layout && umoci new --image layout:v1 && umoci insert --image layout:v1 root / &&
		umoci config --image layout:v1 --config.entrypoint sh --config.entrypoint -c --config.cmd "echo from the registry; echo \$0"
}

push() { # TO FLAGS...
	to=$1 && shift && skopeo copy -q --insecure-policy --dest-tls-verify=false "$@" oci:layout:v1 "docker://$to"
}

login() { # HOST
	jq -n --arg host "$1" --arg auth "$(printf user:secret | base64)" '{auths: {($host): {auth: $auth}}}' >"$HOME/.docker/config.json"
}

nothing_left() {
	is layers "$(ls -A "$images")" && is "" "$(ls -A "$images/layers")"
}

test_expect_success 'setup: an image in a registry of this machine' '
	make_image && serve plain "http: {addr: \"127.0.0.1:0\"}" && plain=127.0.0.1:$port &&
	push $plain/team/app:v1
'

test_expect_success 'plain HTTP to this machine' '
	muster image pull $plain/team/app:v1 >out 2>err && is "image $plain/team/app:v1 imported, 1 layers (1 new)" "$(cat out)" &&
	has err "layer 1 of 1"
'

test_expect_success 'a pod with the image runs in it' '
	cat >pod.yaml <<-END &&
		{apiVersion: v1, kind: Pod, metadata: {name: pulled}, spec: {restartPolicy: Never, containers: [{name: main, image: "$plain/team/app:v1"}]}}
	END
	{ muster run --isolation namespaces --timeout 3m pod.yaml >out 2>err || { cat err >&2; false; }; } && has out "from the registry"
'

test_expect_success 'what is here is not downloaded again' '
	muster image pull $plain/team/app:v1 --name other:1 >out 2>err && is "image other:1 imported, 1 layers (0 new)" "$(cat out)" &&
	! grep -q "layer 1" err
'

test_expect_success 'by its digest' '
	digest=$(skopeo inspect --tls-verify=false --format "{{.Digest}}" docker://$plain/team/app:v1) &&
	muster image pull $plain/team/app@$digest --name by-digest:1 &&
	test_expect_code 1 muster image pull $plain/team/app@sha256:$(printf %064d 0) 2>err && has err "not found"
'

test_expect_success 'rm' '
	muster image rm $plain/team/app:v1 && muster image rm other:1 && muster image rm by-digest:1 && nothing_left
'

test_expect_success 'what is not there, and who is not there' '
	test_expect_code 1 muster image pull $plain/team/none:v1 2>err && has err "/v2/team/none/manifests/v1: not found" &&
	test_expect_code 1 muster image pull 127.0.0.1:1/team/app 2>err && has err "onnect" && nothing_left
'

# TLS, with a password.
# bcrypt of user:secret
htpasswd='user:$2b$04$w0w5TF5rQ0BGHVY1y0UF0eobb7h/wnwUoPR/G/4yIgtxDJDH4NgbG'
test_expect_success 'setup: a registry with TLS and a password' '
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" \
		-keyout key.pem -out cert.pem 2>/dev/null &&
	echo "$htpasswd" >htpasswd &&
	serve tls "http: {addr: \"127.0.0.1:0\", tls: {certificate: $PWD/cert.pem, key: $PWD/key.pem}}
auth: {htpasswd: {realm: test, path: $PWD/htpasswd}}" && tls=localhost:$port &&
	push $tls/team/app:v1 --dest-creds user:secret
'

test_expect_success 'its certificate is checked' '
	test_expect_code 1 muster image pull $tls/team/app:v1 2>err && has err "certificate" && nothing_left
'

test_expect_success 'a password is needed, and where to put it is said' '
	SSL_CERT_FILE=$PWD/cert.pem && export SSL_CERT_FILE &&
	test_expect_code 1 muster image pull $tls/team/app:v1 2>err && has err "$tls requires credentials for team/app" &&
	echo "{\"credsStore\": \"desktop\"}" >"$HOME/.docker/config.json" &&
	test_expect_code 1 muster image pull $tls/team/app:v1 2>err && has err "the credential helper desktop, which is not supported" &&
	echo "{\"credHelpers\": {\"$tls\": \"ecr-login\"}}" >"$HOME/.docker/config.json" &&
	test_expect_code 1 muster image pull $tls/team/app:v1 2>err && has err "the credential helper ecr-login, which is not supported" &&
	nothing_left
'

test_expect_success 'the password of config.json is used' '
	login $tls && muster image pull $tls/team/app:v1 >out && has out "1 layers (1 new)" && muster image rm $tls/team/app:v1
'

# A registry of our own, for what a real one does not do.
test_expect_success 'setup: a registry with tokens, redirects and faults' '
	mkdir notes && { python3 "$e2e/registry.py" layout notes >port 2>registry.log & started="$started $!"; } &&
	soon test -s port && fake=127.0.0.1:$(cat port) && rm -f "$HOME/.docker/config.json"
'

test_expect_success 'an anonymous token; credentials do not follow a redirect to another port' '
	muster image pull $fake/open/app:v1 >out && has out "1 layers (1 new)" && has notes/asked "^repository:open/app:pull$" &&
	test ! -e notes/leaked && muster image rm $fake/open/app:v1
'

test_expect_success 'a token for a password' '
	test_expect_code 1 muster image pull $fake/team/app:v1 2>err && has err "requires credentials" &&
	login $fake && muster image pull $fake/team/app:v1 && test ! -e notes/leaked && muster image rm $fake/team/app:v1
'

test_expect_success 'a token for an identity token' '
	jq -n --arg host $fake "{auths: {(\$host): {auth: \"dXNlcjo=\", identitytoken: \"refresh\"}}}" >"$HOME/.docker/config.json" &&
	muster image pull $fake/team/app:v1 && has notes/asked "^/token refresh_token repository:team/app:pull$" &&
	muster image rm $fake/team/app:v1 && sed -i s/refresh/expired/ "$HOME/.docker/config.json" &&
	test_expect_code 1 muster image pull $fake/team/app:v1 2>err && has err "does not accept the credentials" &&
	login $fake
'

test ! -e notes/ipv6 || test_set_prereq IPV6
test_expect_success IPV6 'a registry at an IPv6 address' '
	muster image pull "[::1]:${fake#*:}/open/app:v1" && muster image list >out && has out "^\[::1\]:${fake#*:}/open/app:v1 " &&
	sed "s|$plain/team/app:v1|[::1]:${fake#*:}/open/app:v1|; s/pulled/six/" pod.yaml >six.yaml &&
	muster run --isolation namespaces --timeout 3m six.yaml >out && has out "from the registry" &&
	muster image rm "[::1]:${fake#*:}/open/app:v1" && nothing_left
'

test_expect_success 'a connection that breaks is tried again' '
	muster image pull $fake/cut/app:v1 && muster image rm $fake/cut/app:v1
'

for fault in "bad its digest is sha256:" "away plain HTTP is only used to reach this machine" "huge is larger than 4194304 bytes" "round redirects more than"; do

test_expect_success "refused: ${fault%% *}" '
	test_expect_code 1 muster image pull $fake/${fault%% *}/app:v1 2>err && has err "${fault#* }" && nothing_left
'

done

test_expect_success 'refused: a manifest that is another one' '
	test_expect_code 1 muster image pull $fake/lie/app@sha256:$(printf %064d 0) --name lie:1 2>err && has err "its digest is sha256:" && nothing_left
'

for pid in $started; do kill "$pid"; done
rm -rf "$place"
test_done
