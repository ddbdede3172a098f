# Sourced by the tests of `muster operator`, after lib.sh.
# shellcheck shell=sh disable=SC2154 # what lib.sh sets

# start_operator NAME ARGS...: in the background, on free ports; its log is NAME.log, its pid in
# NAME.pid. Returns when it listens, minds signals and has said what it looks after.
start_operator() {
	op=$1
	shift
	: >"$op.log"
	muster operator --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:0 \
		"$@" >"$op.out" 2>"$op.log" &
	echo $! >"$op.pid"
	background="$background $!"
	soon grep -q 'msg="muster operator"' "$op.log"
}

# port NAME WHAT: where it serves metrics or health-probe.
port() {
	sed -n "s/.*msg=serving what=$2 .*port=\([0-9]*\).*/\1/p" "$1.log"
}

# probe NAME PATH: the status is printed, the body goes to the file probe.
probe() {
	curl -s -o probe -w '%{http_code}' "http://127.0.0.1:$(port "$1" health-probe)$2"
}

is_ready() {
	test "$(probe "$1" /readyz)" = 200
}

# metric NAME SAMPLE: its value now, nothing if there is none. SAMPLE with its labels.
metric() {
	curl -s "http://127.0.0.1:$(port "$1" metrics)/metrics" >"$1.metrics" &&
		awk -v want="$2" '$1 == want { print $2 }' "$1.metrics"
}

# counts NAME METRIC VALUE: for soon; what the server shows is counted when its answer is read.
counts() {
	is "$3" "$(metric "$1" "$2")" 2>/dev/null
}

# end_operator NAME [SIGNAL]: returns its exit status.
end_operator() {
	kill -"${2:-TERM}" "$(cat "$1.pid")"
	wait "$(cat "$1.pid")"
}

crds() {
	muster manifests crds >crds.yaml && kubectl apply -f crds.yaml >/dev/null
}

# tfjob NAME WORKERS: on stdout.
tfjob() {
	cat <<-EOF
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1}
	spec:
	  tfReplicaSpecs:
	    Worker:
	      replicas: $2
	      template:
	        spec:
	          containers:
	          - {name: tensorflow, image: busybox, command: [sleep, "60"]}
	EOF
}

pods_are() {
	test "$(kubectl get pods -o name | wc -l)" = "$1"
}

has_some_pods() {
	test -n "$(kubectl get pods -o name)"
}
