#!/bin/sh
test_description='an example of each kind through muster run: replicas that really meet'
. "$(dirname "$0")/lib.sh"

XDG_DATA_HOME=$(mktemp -d) TERM=dumb
export XDG_DATA_HOME TERM

# try LEVEL EXAMPLE: it succeeds; what its replicas wrote is in out, sorted
try() {
	muster run --isolation "$1" --timeout 3m "$top/examples/$2.yaml" >lines 2>err || { cat lines err >&2; return 1; }
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

done

test_expect_success 'MPIJob: mpirun starts a program in each worker, and they add up' '
	try namespaces mpijob-allreduce && printf "[launcher] rank %d of 3 on allreduce-worker-%d: the sum is 3\n" 0 0 1 1 2 2 >want &&
	sed "s/\] */] /" sums >got && test_cmp want got
'

test_expect_success 'two of the same at once, on the same ports' '
	{ muster run --timeout 3m "$top/examples/jaxjob-rendezvous.yaml" >out1 2>err1 & one=$!; } &&
	{ muster run --timeout 3m "$top/examples/jaxjob-rendezvous.yaml" >out2 2>err2 & two=$!; } &&
	background="$background $one $two" && wait $one && wait $two && is 3 $(grep -c "sum is 3" out1) && is 3 $(grep -c "sum is 3" out2)
'

test_expect_success 'two at once where namespaces are shared' '
	{ muster run --isolation shared --timeout 3m "$top/examples/jaxjob-rendezvous.yaml" >out1 2>err1 & one=$!; } &&
	{ muster run --isolation shared --timeout 3m "$top/examples/jaxjob-rendezvous.yaml" >out2 2>err2 & two=$!; } &&
	background="$background $one $two" && wait $one && wait $two && is 3 $(grep -c "sum is 3" out1) && is 3 $(grep -c "sum is 3" out2)
'

rm -rf "$XDG_DATA_HOME"
test_done
