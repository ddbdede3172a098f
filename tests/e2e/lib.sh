# Sourced by every test here: sharness, one muster in the trash directory, and words to ask it with.
# With E2E_KUBECONFIG the tests that only need an API run against that cluster instead, which is how
# a test is checked against the real thing.
# shellcheck shell=sh disable=SC2034 # what tests read

e2e=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$e2e/../.." && pwd)
SHARNESS_TEST_DIRECTORY=${E2E_DIR:-$top/build/e2e}
SHARNESS_BUILD_DIRECTORY=${MUSTER_BUILD:-$top/build}
chain_lint=t
mkdir -p "$SHARNESS_TEST_DIRECTORY"
export MUSTER_WATCHDOG=abort # L1: a turn of the loop that takes too long aborts
unset KUBECONFIG XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME KUBE_EDITOR

# shellcheck source=/dev/null
. /usr/share/sharness/sharness.sh
# HOME is the trash directory. `muster run` starts no pods in a home.
mkdir work && cd work || exit 1

# What a test's commands print is kept, and shown with it when it fails.
said=$PWD/said
test "$verbose" = t || exec 3>>"$said" 4>>"$said"
test_failure_() {
	test_failure=$((test_failure + 1))
	echo "not ok $test_count - $1"
	test "$verbose" = t || awk '/^expecting success: / { n = 0 } { line[n++] = $0 }
		END { for (i = n > 60 ? n - 60 : 0; i < n; i++) print "# " substr(line[i], 1, 1000) }' "$said"
	test -z "$immediate" || { EXIT_OK=t; exit 1; }
}

# kubectl: the one `run` chose, reached by the name that `timeout` and `xargs` know too.
: "${E2E_KUBECTL:=$("$e2e/choose-kubectl")}"
mkdir -p bin && printf '#!/bin/sh\nexec "%s" "$@"\n' "$E2E_KUBECTL" >bin/kubectl && chmod +x bin/kubectl
PATH=$PWD/bin:$PATH
kubectl_minor=$(kubectl version --client -o json 2>/dev/null | jq -r '.clientVersion.minor' | tr -dc 0-9)
# What a client as old as Debian's (1.20) cannot do carries this name and is left out with it.
[ "${kubectl_minor:-0}" -lt 30 ] || test_set_prereq KUBECTL_130
[ "$(id -u)" != 0 ] || test_set_prereq ROOT

# Sanitizers keep freed memory, and cost time: no test measures those then.
! grep -aq __asan_init "$(command -v muster)" || test_set_prereq SANITIZED

muster_pid=
data=$PWD/data
# Most tests are about the API, and move pods themselves; empty: pods really run.
no_node="--no-node --no-scheduler"

# Starts muster and returns once its ready line is read: into $ready; $url and KUBECONFIG follow.
# Whatever else it prints to stdout can be read from descriptor 7.
start_muster() {
	rm -f ready.fifo && mkfifo ready.fifo || return 1
	# shellcheck disable=SC2086 # empty: not an argument
	muster up --data "$data" --listen 127.0.0.1:0 $no_node "$@" >ready.fifo 2>>muster.log 7<&- &
	muster_pid=$!
	exec 7<ready.fifo
	read -r ready <&7 || { stop_muster; echo "muster did not get ready" >&2; return 1; }
	url=$(expr "$ready" : '.*\(https://[^ ]*\)')
	KUBECONFIG=$data/kubeconfig
	export KUBECONFIG
}

# Stops it by SIGTERM (or the signal named); returns its exit code.
stop_muster() {
	test -n "$muster_pid" || return 0
	kill -"${1:-TERM}" "$muster_pid" 2>/dev/null
	wait "$muster_pid"
	set -- $?
	muster_pid=
	return "$1"
}

# is_ours PID: a child of this shell, still; the number of one that has ended may be another's by now.
is_ours() {
	grep -qs "^PPid:[[:space:]]*$$\$" "/proc/$1/status"
}

end_all() {
	! is_ours "${muster_pid:-none}" || kill -KILL "$muster_pid" 2>/dev/null
	for pid in $background; do
		! is_ours "$pid" || kill "$pid" 2>/dev/null
	done
}
background=
trap 'code=$?; end_all; (exit $code); die' EXIT

# An API and a namespace of this test's own for kubectl: start_api [FLAGS OF muster up]
start_api() {
	if test -n "$E2E_KUBECONFIG"; then
		cp "$E2E_KUBECONFIG" kubeconfig && KUBECONFIG=$PWD/kubeconfig && export KUBECONFIG || return 1
		url=$(kubectl config view -o "jsonpath={.clusters[0].cluster.server}")
		test_set_prereq REAL
	else
		test_set_prereq MUSTER
		start_muster "$@" || return 1
	fi
	ns=$(basename "$0" .t)-$$
	make Namespace "$ns" &&
		kubectl config set-context --current --namespace="$ns"
}

# Starts a command in the background, ended with the test; its pid is $!.
start() {
	"$@" &
	background="$background $!"
}

# Asks the API with the bearer token: api PATH [curl's options]
api() {
	path=$1
	shift
	if test -n "$E2E_KUBECONFIG"; then
		curl -sSk -H "Authorization: Bearer $(kubectl config view --raw -o 'jsonpath={.users[0].user.token}')" "$@" "$url$path"
	else
		curl -sS --cacert "$data/pki/ca.crt" -H "Authorization: Bearer $(cat "$data/token")" "$@" "$url$path"
	fi
}

# make KIND NAME [KUBECTL'S OPTIONS]: a bare object of a core kind.
make() {
	kind=$1 name=$2
	shift 2
	echo "{\"apiVersion\":\"v1\",\"kind\":\"$kind\",\"metadata\":{\"name\":\"$name\"}}" | kubectl create -f - "$@"
}

# is WANT GOT: the words are the same; says so when they are not.
is() {
	test "$1" = "$2" || { printf 'expected: %s\n     got: %s\n' "$1" "$2" >&2; return 1; }
}

# has FILE LINE...: each is found in the file (as a basic regular expression).
has() {
	file=$1
	shift
	for want; do
		grep -q -e "$want" "$file" || { echo "no '$want' in:" >&2; cat "$file" >&2; return 1; }
	done
}

lacks() {
	file=$1
	shift
	for want; do
		! grep -q -e "$want" "$file" || { echo "unwanted '$want' in:" >&2; cat "$file" >&2; return 1; }
	done
}

# jq_is FILTER FILE: the filter holds of the JSON in the file.
jq_is() {
	jq -e "$1" "$2" >/dev/null || { echo "not so: $1 in:" >&2; jq . "$2" >&2 || cat "$2" >&2; return 1; }
}

now_ms() {
	date +%s%3N
}

# soon COMMAND...: repeats the command until it succeeds. For states nothing announces. How long that
# may take is no claim of any test, so there is a minute, and more on a busy machine.
soon() {
	within 60 "$@"
}

# within SECONDS COMMAND...: the same for what takes longer.
within() {
	within_from=$(now_ms) within_ms=$(($1 * 1000))
	test "$1" -ge 60 || within_ms=60000
	shift
	until "$@"; do
		waited=$(($(now_ms) - within_from))
		test $waited -lt $within_ms || test $waited -lt $((within_ms * $(slowness))) || {
			echo "in vain: $*" >&2
			return 1
		}
		sleep 0.05
	done
}

# How many times as long as on a machine at rest things take on this one: 1 to 5.
slowness() {
	began_forks=$(now_ms)
	for fork in 1 2 3 4 5 6 7 8 9 10; do
		/bin/true
	done
	forks_ms=$(($(now_ms) - began_forks))
	echo $((forks_ms > 100 ? 5 : forks_ms / 25 + 1))
}

# promptly BEGAN_MS: not after waiting for something that never comes.
promptly() {
	took=$(($(now_ms) - $1))
	test "$took" -lt 30000 || test "$took" -lt $((30000 * $(slowness))) || { echo "took $took ms" >&2; return 1; }
}
