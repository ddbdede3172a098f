#!/bin/sh
test_description='Open MPI: allreduce in C and training in Python, through muster run'
. "$(dirname "$0")/lib.sh"

debian

cat >predict.py <<'END'
import sys, numpy as np
off = abs(np.load(sys.argv[1]) - [3, -2, 0.5, 1]).max()
print("close" if off < 0.05 else f"off by {off}")
END

for level in namespaces shared; do

test_expect_success "$level: a program in C adds up over three workers" '
	train $level mpijob-allreduce && for rank in 0 1 2; do says 1 "rank $rank of 3 on [^ ]*: the sum is 3$" || return 1; done
'

test_expect_success "$level: mpi4py: three ranks learn a line together" '
	train $level mpijob-mpi4py && for rank in 0 1 2; do says 1 "rank $rank of 3 on mpi4py-worker-$rank$" || return 1; done &&
	says 3 "step 150: loss 0\.0[01]" && says 1 "saved /model/line.npy: .* it says 2\.[45]" && is close "$(python3 predict.py "$(saved line.npy)")"
'

done

test_expect_success 'OnFailure: launcher or worker, whoever is killed, mpirun starts again and comes to the end' '
	pick launcher worker-0 worker-1 worker-2 && submit namespaces "$(edited mpijob-mpi4py "s/\"150\"/\"900\"/")" &&
	aim mpi4py-$picked && told "rank 0 step 300" && shoot && finish_job &&
	summary "^mpijob/mpi4py Succeeded" && test "$(grep -c "rank . of 3 on" lines)" -ge 6 && is close "$(python3 predict.py "$(saved line.npy)")"
'

test_expect_success 'Never: without its launcher the job has failed' '
	submit namespaces "$(edited mpijob-mpi4py "s/\"150\"/\"90000\"/; s/OnFailure/Never/")" && aim mpi4py-launcher &&
	told "rank 0 of 3" && shoot && fails_in_the_end && summary "^mpijob/mpi4py Failed" "^ *launcher  *Failed  *137"
'

test_expect_success 'a program that hangs: the job is said to be stalled, with what mpirun waits for' '
	submit namespaces "$(edited mpijob-mpi4py "s/\"150\"/\"90000\"/")" --stall-after 2s && told "rank 0 of 3" &&
	for worker in 0 1 2; do kubectl exec mpi4py-worker-$worker -- pkill -STOP -f train.py || return 1; done &&
	soon grep -q "^muster: mpijob/mpi4py: stalled: none of its replicas makes progress" err &&
	soon grep -qE "^muster: launcher: No output .* mpirun waits for data from" err && ! grep -qE "orted.{300}" err &&
	kill -INT "$run_pid" && { wait "$run_pid"; is 130 "$?"; }
'

finish
