#!/bin/sh
test_description='muster up: flags, files, the ready line, and how it ends'
. "$(dirname "$0")/lib.sh"
no_node=

mode() {
	stat -c %a "$1"
}

# refuses TEXT ARGS...: `muster up` prints one line with the text on stderr, nothing on stdout, exits 1.
refuses() {
	text=$1
	shift
	test_expect_code 1 timeout 60 muster up --listen 127.0.0.1:0 "$@" >out 2>err &&
		test_must_be_empty out && is 1 "$(wc -l <err)" && has err "$text"
}

test_expect_success 'gets ready, in one line with the address and what to paste' '
	start_muster &&
	test -n "$url" &&
	case "$ready" in *"export KUBECONFIG="*) ;; *) false ;; esac
'

test_expect_success 'what the line exports can be pasted, and then kubectl works' '
	paste=$(expr "$ready" : ".*\(export KUBECONFIG=.*\)") &&
	(unset KUBECONFIG && eval "$paste" && kubectl get namespace default -o name) >out &&
	is namespace/default "$(cat out)"
'

test_expect_success 'listens on loopback only, on a port that was free' '
	port=${url##*:} && test "$port" -gt 0 &&
	is "https://127.0.0.1:$port" "$url"
'

test_expect_success 'the data directory is 0700, keys, token, kubeconfig and store are 0600' '
	is 700 "$(mode "$data")" && is 700 "$(mode "$data/pki")" &&
	for file in "$data"/pki/*.key "$data/token" "$data/kubeconfig" "$data"/muster.db*; do
		is 600 "$(mode "$file")" || return 1
	done
'

test_expect_success 'SIGTERM: exits 0, and the ready line was all that stdout got' '
	began=$(now_ms) && stop_muster TERM && promptly $began &&
	cat <&7 >rest && test_must_be_empty rest
'

test_expect_success 'SIGINT: exits 0' '
	start_muster && began=$(now_ms) && stop_muster INT && promptly $began
'

test_expect_success 'data goes to $XDG_DATA_HOME/muster unless told otherwise' '
	XDG_DATA_HOME=$PWD/xdg && export XDG_DATA_HOME &&
	test_when_finished "unset XDG_DATA_HOME" &&
	muster up --listen 127.0.0.1:0 --detach >out && test_when_finished "muster down" &&
	test -f xdg/muster/muster.db && is 700 "$(mode xdg/muster)" &&
	has out "xdg/muster/kubeconfig"
'

test_expect_success 'and to ~/.local/share/muster where XDG_DATA_HOME is not set' '
	muster up --listen 127.0.0.1:0 --detach >out && test_when_finished "muster down" &&
	test -f "$HOME/.local/share/muster/muster.db"
'

test_expect_success '--kubeconfig also writes one there, 0600, ready to use' '
	start_muster --kubeconfig "$PWD/my config" && test_when_finished "stop_muster" &&
	is 600 "$(mode "my config")" &&
	kubectl --kubeconfig "my config" get ns default -o name
'

test_expect_success '--kubeconfig over an old, readable file: 0600 all the same' '
	touch old && chmod 644 old && start_muster --kubeconfig "$PWD/old" && test_when_finished "stop_muster" &&
	is 600 "$(mode old)" && kubectl --kubeconfig old get ns default -o name
'

test_expect_success 'listens on IPv6 when told to' '
	muster up --data v6 --listen "[::1]:0" --detach >out && test_when_finished "muster down --data v6" &&
	has out "https://\[::1\]:[1-9]" &&
	kubectl --kubeconfig v6/kubeconfig get ns default -o name
'

test_expect_success 'a second one on the same data says so, in one line, and exits 1' '
	start_muster && test_when_finished "stop_muster" &&
	refuses "$data" --data "$data" && kubectl get ns default
'

test_expect_success 'a taken port: one line, exit 1' '
	start_muster && test_when_finished "stop_muster" &&
	test_expect_code 1 timeout 60 muster up --data other --listen "${url#https://}" >out 2>err &&
	test_must_be_empty out && is 1 "$(wc -l <err)" && has err "${url##*:}"
'

test_expect_success 'a directory that belongs to something else: one line, exit 1, left as it was' '
	mkdir foreign && echo mine >foreign/thesis.tex && chmod 755 foreign &&
	refuses foreign --data foreign && is thesis.tex "$(ls -A foreign)" && is 755 "$(mode foreign)"
'

test_expect_success 'a file where the directory should be: one line, exit 1' '
	echo mine >file && refuses file --data file && is mine "$(cat file)"
'

test_expect_success 'an unwritable directory: one line, exit 1' '
	mkdir -p locked && chmod 500 locked && test_when_finished "chmod 700 locked" &&
	if test_have_prereq ROOT; then
		refuses /proc --data /proc/muster
	else
		refuses locked --data locked/data
	fi
'

test_expect_success 'an unwritable kubeconfig: one line, exit 1' '
	refuses "no/such/dir" --data nk --kubeconfig no/such/dir/config
'

test_expect_success 'wrong flags exit 2 and say what is wrong' '
	test_expect_code 2 timeout 60 muster up --no-such-flag 2>err && has err "no-such-flag" &&
	test_expect_code 2 timeout 60 muster up --data x --listen nonsense:port 2>err && has err "nonsense:port" &&
	test_expect_code 2 timeout 60 muster up --data x --listen 127.0.0.1:70000 2>err && has err "70000" &&
	test_expect_code 2 timeout 60 muster up --data x argument 2>err && has err "argument" &&
	test_expect_code 2 timeout 60 muster up --data 2>err && has err "data" &&
	test_expect_code 2 timeout 60 muster sing 2>err && has err "sing" &&
	test_expect_code 2 timeout 60 muster 2>err && test -s err
'

test_expect_success '--help and version go to stdout and exit 0' '
	muster --help >out && has out "up" && muster up --help >out && has out "--listen" && muster version >out && test -s out
'

test_expect_success 'version: in words, for programs, and nothing else' '
	v=$(muster version | sed -n "s/^muster //p") && test -n "$v" && is "muster $v" "$(muster --version)" &&
	is "$v" "$(muster version -o json | jq -r .version)" && is "version: $v" "$(muster version -o yaml)" &&
	test_expect_code 2 muster version junk 2>err && has err "junk" &&
	test_expect_code 2 muster version -o xml 2>err && has err "json|yaml"
'

test_expect_success '--detach returns once it is ready; down stops it' '
	muster up --detach --data det --listen 127.0.0.1:0 >out && is 1 "$(wc -l <out)" &&
	kubectl --kubeconfig det/kubeconfig get ns default &&
	muster down --data det &&
	test_must_fail kubectl --kubeconfig det/kubeconfig --request-timeout 2s get ns 2>err
'

test_expect_success '--detach on data in use: the same one line, exit 1' '
	start_muster && test_when_finished "stop_muster" && refuses "$data" --data "$data" --detach
'

test_expect_success 'down where nothing runs says so and exits 1' '
	test_expect_code 1 timeout 60 muster down --data det 2>err && is 1 "$(wc -l <err)"
'

test_expect_success 'down returns when the server is gone: up again at once' '
	for i in 1 2 3; do
		muster up --detach --data det --listen 127.0.0.1:0 >out && muster down --data det || return 1
	done
'

test_expect_success 'SIGTERM with open watches: ends them cleanly, exits 0 soon' '
	start_muster &&
	for i in 1 2 3; do
		start kubectl get pods --watch >watch.$i 2>&1
	done &&
	start api "/api/v1/namespaces?watch=true" --http1.1 -N >http1 2>err1 && one=$! &&
	start api "/api/v1/namespaces?watch=true" --http2 -N >http2 2>err2 && two=$! &&
	soon test -s http1 && soon test -s http2 &&
	began=$(now_ms) && stop_muster TERM && promptly $began &&
	wait $one && wait $two
'

test_expect_success 'SIGTERM with a half-sent request: still exits 0 soon' '
	start_muster &&
	mkfifo half.in idle.in && exec 8<>half.in 9<>idle.in &&
	start openssl s_client -connect "${url#https://}" -CAfile "$data/pki/ca.crt" <half.in >half 2>&1 &&
	start openssl s_client -connect "${url#https://}" -CAfile "$data/pki/ca.crt" <idle.in >idle 2>&1 &&
	soon grep -q "Verify return code" half && soon grep -q "Verify return code" idle &&
	printf "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{" >&8 &&
	began=$(now_ms) && stop_muster TERM && promptly $began
'

test_done
