#!/bin/sh
test_description='JAX: processes that add up and train together, through muster run'
. "$(dirname "$0")/lib.sh"

test_expect_success 'JAX is installed' 'activate jax'

cat >predict.py <<'END'
import sys, numpy as np
w = np.load(sys.argv[1])
at = np.array([[-1.2], [-0.4], [0.3], [1.5]])
off = abs(np.tanh(at * w["in"] + w["bias"]) @ w["out"] - np.sin(2 * at)).max()
print("close" if off < 0.2 else f"off by {off}")
END

for level in namespaces shared; do

test_expect_success "$level: psum over three processes, and a curve they fit together" '
	train $level jaxjob-train &&
	for rank in 0 1 2; do says 1 "process $rank of 3 with 3 devices: the sum is 3$" || return 1; done &&
	says 3 "step 400: loss 0\.00[0-9]*$" && is 1 "$(sed -n "s/.*step 400: //p" lines | sort -u | wc -l)"
'

test_expect_success "$level: what was saved predicts" '
	says 1 "saved /model/sine.npz: at -1, 0.5 and 1 it says -0\.[89]" && is close "$(python3 predict.py "$(saved sine.npz)")"
'

done

# A process that is lost takes the others along, and all meet again.
test_expect_success 'OnFailure: whoever is killed, all are there again and come to the end' '
	pick 0 1 2 && submit namespaces "$(edited jaxjob-train "s/\"400\"/\"1200\"/")" && aim jax-train-worker-$picked &&
	told "process $picked step 300: loss" && shoot && finish_job &&
	summary "^jaxjob/jax-train Succeeded" "^ *worker-$picked  *Succeeded  *0  *[1-9]" && says 3 "step 1200: loss 0\.00"
'

test_expect_success 'Never: whoever is killed, the job has failed' '
	pick 2 0 1 && submit namespaces "$(edited jaxjob-train "s/\"400\"/\"40000\"/; s/OnFailure/Never/")" &&
	aim jax-train-worker-$picked && told "process $picked of 3" && shoot && fails_in_the_end &&
	summary "^jaxjob/jax-train Failed" "^ *worker-$picked  *Failed  *137"
'

finish
