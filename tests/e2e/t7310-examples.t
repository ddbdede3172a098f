#!/bin/sh
test_description='an example of each kind through muster run: replicas that really meet'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

XDG_DATA_HOME=$(mktemp -d) TERM=dumb
export XDG_DATA_HOME TERM

examples=$top/examples

# try LEVEL EXAMPLE: it succeeds; what its replicas wrote is in out, sorted
try() {
	muster run --isolation "$1" --timeout 6m "$examples/$2.yaml" >lines 2>err || { cat lines err >&2; return 1; }
	sort lines >out # a port may be another's on this machine: then a replica is started again
	grep "the sum is" out >sums || true
}

for level in namespaces shared; do

test_expect_success "$level: TFJob: a ring of workers learns the same" '
	try $level tfjob-rendezvous && is 4 "$(grep -c "y = 2.995x -2.001$" out)" &&
	has out "^.worker-0. step 40: loss 0.0097, 2000 points" "^.worker-3. worker 3: [0-9.]* on my left, [0-9.]* on my right"
'

test_expect_success "$level: PyTorchJob: workers meet at the master" '
	try $level pytorchjob-rendezvous && printf "[%s] rank %d of 3: the sum is 3\n" master-0 0 worker-0 1 worker-1 2 >want && test_cmp want sums
'

test_expect_success "$level: XGBoostJob: workers meet at the master" '
	try $level xgboostjob-rendezvous && is 3 "$(grep -c "the sum is 3; workers: meet-xgboost-worker-0,meet-xgboost-worker-1$" out)"
'

test_expect_success "$level: PaddleJob: workers meet at the first" '
	try $level paddlejob-rendezvous && is 3 "$(grep -c "the sum is 3$" out)" && has out "^.worker-2. worker 2 of 3 met at meet-paddle-worker-0"
'

test_expect_success "$level: JAXJob: workers meet at the coordinator" '
	try $level jaxjob-rendezvous && printf "[worker-%d] process %d of 3: the sum is 3\n" 0 0 1 1 2 2 >want && test_cmp want sums
'

test_expect_success "$level: MPIJob: mpirun starts a program in each worker, and they add up" '
	try $level mpijob-allreduce && printf "rank %d of 3: the sum is 3\n" 0 1 2 >want &&
	sed "s/^.*\] *//; s/ on [^:]*:/:/" sums >got && test_cmp want got
'

done

test_expect_success 'two of the same at once, on the same ports' '
	{ muster run --timeout 6m "$top/examples/jaxjob-rendezvous.yaml" >out1 2>err1 & one=$!; } &&
	{ muster run --timeout 6m "$top/examples/jaxjob-rendezvous.yaml" >out2 2>err2 & two=$!; } &&
	background="$background $one $two" && wait $one && wait $two && is 3 $(grep -c "sum is 3" out1) && is 3 $(grep -c "sum is 3" out2)
'

test_expect_success 'two at once where namespaces are shared' '
	{ muster run --isolation shared --timeout 6m "$top/examples/jaxjob-rendezvous.yaml" >out1 2>err1 & one=$!; } &&
	{ muster run --isolation shared --timeout 6m "$top/examples/jaxjob-rendezvous.yaml" >out2 2>err2 & two=$!; } &&
	background="$background $one $two" && wait $one && wait $two && is 3 $(grep -c "sum is 3" out1) && is 3 $(grep -c "sum is 3" out2)
'

# A newcomer has the data where it is by default, and a kubeconfig of another cluster: the launcher sees both.
test_expect_success 'MPIJob: the launcher asks the server it belongs to, whatever is at home' '
	(
		HOME=$XDG_DATA_HOME/home && export HOME && unset XDG_DATA_HOME && mkdir -p "$HOME/.kube" &&
		printf "%s\n" "apiVersion: v1" "kind: Config" "current-context: x" "contexts: [{name: x, context: {cluster: x, user: x}}]" \
			"clusters: [{name: x, cluster: {server: \"https://127.0.0.1:1\"}}]" "users: [{name: x, user: {}}]" >"$HOME/.kube/config" &&
		for level in namespaces shared; do try $level mpijob-allreduce && is 3 "$(wc -l <sums)" || exit 1; done
	)
'

rm -rf "$XDG_DATA_HOME"

# The same as an ordinary user, who may or may not be allowed namespaces here.
unset XDG_DATA_HOME
if test_have_prereq ROOT && make_place && as_ordinary_user; then
	examples=$place && cp "$top"/examples/*.yaml "$place" && chmod 644 "$place"/*.yaml
	echo "{apiVersion: v1, kind: Pod, metadata: {name: probe}, spec: {restartPolicy: Never, containers: [{name: a, image: none, command: [\"true\"]}]}}" >"$place/probe.yaml"
	chmod 644 "$place/probe.yaml"
	test_set_prereq USER_shared
	! muster run --isolation namespaces --timeout 5m "$place/probe.yaml" >/dev/null 2>&1 || test_set_prereq USER_namespaces
fi

for level in namespaces shared; do

test_expect_success USER_$level "$level, as an ordinary user: TFJob, PyTorchJob, JAXJob" '
	try $level tfjob-rendezvous && is 4 "$(grep -c "y = 2.995x -2.001$" out)" &&
	try $level pytorchjob-rendezvous && is 3 $(wc -l <sums) && try $level jaxjob-rendezvous && is 3 $(wc -l <sums)
'

done

test -z "$place" || rm -rf "$place"
test_done
