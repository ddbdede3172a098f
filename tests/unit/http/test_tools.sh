#!/bin/sh
# Other people's clients against our server: curl over both versions of HTTP, nghttp and h2load.
# usage: test_tools.sh ECHO_SERVER; speaks TAP.

server=$1
dir=$(mktemp -d) || exit 1
n=0
bad=0

ok() { # WHAT: judges the status of the command before
    status=$?
    n=$((n + 1))
    if [ $status -eq 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        bad=1
    fi
}

have() { command -v "$1" >/dev/null 2>&1; }

if ! have curl; then
    echo "1..0 # SKIP curl is not installed"
    exit 0
fi
mkfifo "$dir/in"
"$server" <"$dir/in" >"$dir/out" 2>"$dir/err" &
pid=$!
exec 3>"$dir/in" # the server ends when this is closed
until [ -s "$dir/out" ]; do
    kill -0 $pid || exit 1
    sleep 0.05
done
read -r port certs <"$dir/out"
url=https://127.0.0.1:$port
get() { curl -sS --max-time 20 --cacert "$certs/ca.crt" "$@"; }

head -c 2000000 /dev/urandom >"$dir/body"
head -c 4000000 /dev/zero >"$dir/large"
for v in --http1.1 --http2; do
    test "$(get $v "$url/")" = ok
    ok "curl $v: a plain request"
    get $v --data-binary "@$dir/body" "$url/echo" | cmp -s - "$dir/body"
    ok "curl $v: two megabytes there and back"
    get $v -H 'Transfer-Encoding: chunked' --data-binary "@$dir/body" "$url/echo" |
        cmp -s - "$dir/body"
    ok "curl $v: in chunks, where there are such"
    get $v "$url/bytes?3000000" >"$dir/plain"
    get $v --compressed "$url/bytes?3000000" | cmp -s - "$dir/plain"
    ok "curl $v: gzip gives the same bytes"
    test "$(get $v "$url/stream?3000000" | wc -c)" -eq 3000000
    ok "curl $v: an answer of unknown length"
    test "$(get $v -o "$dir/413" -w '%{http_code}' --data-binary "@$dir/large" "$url/echo")" = 413
    ok "curl $v: a large body is refused"
    grep -q RequestEntityTooLarge "$dir/413"
    ok "curl $v: and the answer comes through"
    test "$(get $v --cert "$certs/client.crt" --key "$certs/client.key" "$url/whoami")" = \
        "muster-admin system:masters"
    ok "curl $v: a client certificate"
    ! get $v "$url/abort?1000" >/dev/null 2>&1
    ok "curl $v: an answer that breaks off is an error"
    get $v -I "$url/bytes?77" | grep -qi '^content-length: 77'
    ok "curl $v: HEAD"
done
test "$(get --http1.1 -w '%{num_connects} ' -o /dev/null -o /dev/null "$url/" "$url/head")" = "1 0 "
ok "curl: connections are kept"

if have nghttp; then
    test "$(nghttp --no-verify-peer "$url/bytes?5000" 2>/dev/null | wc -c)" -eq 5000
    ok "nghttp: an answer"
    nghttp -n --no-verify-peer -m 50 "$url/bytes?50000" >/dev/null 2>&1
    ok "nghttp: fifty at once"
fi
if have h2load; then
    h2load -n 5000 -c 4 -m 20 "$url/" 2>/dev/null | grep -q ' 5000 succeeded, 0 failed'
    ok "h2load: HTTP/2"
    h2load --npn-list=http/1.1 -n 2000 -c 4 "$url/" 2>/dev/null |
        grep -q ' 2000 succeeded, 0 failed'
    ok "h2load: HTTP/1.1"
fi
exec 3>&-
wait $pid
ok "the server ends well"
test ! -s "$dir/err"
ok "and has nothing to complain about"
cat "$dir/err" >&2
rm -r "$dir"
echo "1..$n"
exit $bad
