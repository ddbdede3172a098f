# Sourced by every test here: the words of tests/e2e/lib.sh, and those for training through `muster run`.
# shellcheck shell=sh disable=SC2034,SC2154 # what tests read, and what lib.sh sets

frameworks=$(cd "$(dirname "$0")" && pwd)
# Where packages are kept; tests have another home.
: "${FRAMEWORKS_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/muster/frameworks}"
export FRAMEWORKS_CACHE
: "${E2E_KUBECTL:=$("$frameworks/../e2e/choose-kubectl")}"
: "${FRAMEWORKS_SEED:=1}"
# shellcheck source=tests/e2e/lib.sh
. "$frameworks/../e2e/lib.sh"

TERM=dumb
export TERM
# Not in /tmp: there pods have one of their own. What the data directory holds is the machine's.
place=$(mktemp -d /var/tmp/muster-frameworks.XXXXXX)
examples=$top/examples

finish() {
	rm -rf "$place"
	test_done
}

# activate NAME: packages of NAME.txt, the way a newcomer has them: in an active virtual environment.
activate() {
	venv=$("$frameworks/packages" "$1") || return 1
	PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv
	export PATH VIRTUAL_ENV
}

# debian: python3 is Debian's, which sees Debian's packages, whatever other is on the PATH.
debian() {
	PATH=$PWD/bin:/usr/bin:$PATH
	export PATH
}

# train LEVEL EXAMPLE [FLAGS OF muster run]: the job of examples/EXAMPLE.yaml (or of EXAMPLE, if that is
# a file's path), at that level of isolation. What replicas wrote is in lines, what muster says in
# err; volumes are left below $data for saved to find. Returns what muster run returns.
train() {
	submit "$@"
	finish_job
}

# submit LEVEL EXAMPLE [FLAGS]: the same, and goes on while it runs: kubectl asks the server it runs in.
submit() {
	level=$1 example=$2
	shift 2
	case $example in
	*/*) file=$example ;;
	*) file=$examples/$example.yaml ;;
	esac
	data=$(mktemp -d "$place/run.XXXX")
	KUBECONFIG=$data/kubeconfig
	export KUBECONFIG
	: >lines
	muster run --data "$data" --keep --isolation "$level" --timeout 8m "$@" "$file" >lines 2>err &
	run_pid=$!
	background="$background $run_pid"
}

# edited EXAMPLE SED: the example with some words changed, which must be there; its path.
edited() {
	sed "$2" "$examples/$1.yaml" >"$1.yaml" && ! cmp -s "$examples/$1.yaml" "$1.yaml" && echo "./$1.yaml"
}

# finish_job: waits for the end of what submit started, and returns its exit code.
# fails_in_the_end: the same, and the job must have failed.
finish_job() {
	wait "$run_pid" && return 0
	set -- $?
	test "$1" = "${expected:-0}" || tail -n 60 lines err >&2
	return "$1"
}

fails_in_the_end() {
	expected=1 finish_job
	test $? = 1
}

# summary PATTERN...: what muster run said at the end has such lines.
summary() {
	has err "$@"
}

# says N PATTERN: N lines of what replicas wrote match (an extended regular expression).
says() {
	is "$1" "$(grep -cE -e "$2" lines)" || { tail -n 60 lines >&2; return 1; }
}

# goes_on: muster run has not ended.
goes_on() {
	kill -0 "$run_pid" 2>/dev/null
}

# told PATTERN: waits until a replica has written such a line, as long as the job runs.
told() {
	told_from=$(now_ms)
	until grep -qE -e "$1" lines; do
		if ! goes_on || test $(($(now_ms) - told_from)) -gt 300000; then
			echo "nobody wrote: $1" >&2
			tail -n 40 lines err >&2
			return 1
		fi
		sleep 0.1
	done
}

# saved FILE: a file in the only volume of the job, after it has ended.
saved() {
	set -- "$data"/volumes/pvc-*/"$1"
	test $# = 1 && test -f "$1" && echo "$1"
}

# main_pid POD: the process that the pod's first container runs, as this machine counts.
main_pid() {
	main_uid=$(kubectl get pod "$1" -o "jsonpath={.metadata.uid}") || return 1
	ps -eo pid=,ppid=,args= | awk -v pod="warden $data/pods/$main_uid" '
		index($0, pod) && $3 ~ /muster/ { warden[$1] = 1; next }
		{ parent[$1] = $2 }
		END { for (p in parent) if (parent[p] in warden) { print p; exit } }' | grep .
}

# pick WORD...: one of them, as the seed says; told as a comment.
pick() {
	shift $((FRAMEWORKS_SEED % $#))
	say "FRAMEWORKS_SEED=$FRAMEWORKS_SEED: $1"
	picked=$1
}

# aim POD: waits until its container runs, and knows its process from then on: to ask only when it is to be
# killed would take time in which it might end.
aim() {
	victim=$1
	within 120 aimed "$1"
}

aimed() {
	victim_pid=$(main_pid "$1" 2>/dev/null) && victim_is=$(looks)
}

# looks: when and as what the process that was aimed at was started; numbers are given out again.
looks() {
	ps -o lstart=,args= -p "$victim_pid"
}

# shoot: SIGKILL for the program that was aimed at, or for the one that took its place.
shoot() {
	test "$(looks)" = "$victim_is" || aimed "$victim" || return 1
	kill -KILL "$victim_pid"
}

# kill_replica POD: both at once.
kill_replica() {
	aim "$1" && shoot
}

# once_more REPLICA: it was started again, as muster run says at its end.
once_more() {
	grep -E "^  $1 +[A-Za-z]+ +[0-9-]+( \([^)]*\))? +[1-9]" err || { cat err >&2; return 1; }
}
