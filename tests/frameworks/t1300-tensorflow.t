#!/bin/sh
test_description='TensorFlow: parameter servers and mirrored workers, through muster run'
. "$(dirname "$0")/lib.sh"

test_expect_success 'TensorFlow is installed' 'activate tensorflow'

# A saved model, read by another process than the one that trained it: what it says about two points.
cat >predict.py <<'END'
import sys, tensorflow as tf
model = tf.saved_model.load(sys.argv[1])
print(*(f"{y:.1f}" for (y,) in model(tf.constant(eval(sys.argv[2]), tf.float32)).numpy() + 0.0))
END
export TF_CPP_MIN_LOG_LEVEL=2

test_expect_success 'namespaces: chief, parameter server, workers and evaluator train one model' '
	train namespaces tfjob-evaluator &&
	for who in "chief 0" "ps 0" "worker 0" "worker 1" "evaluator 0"; do says 1 "\] *$who is here$" || return 1; done &&
	says 1 "chief: the weights are on /job:ps/" &&
	says 1 "^.worker-0. *this worker.s step 0 loss " && says 1 "^.worker-1. *this worker.s step 0 loss " &&
	says 1 "chief: step 300, loss 0\.00[0-9]*$" && says 1 "evaluator says loss 0\.00[0-9]* at step 300"
'

test_expect_success 'the saved model predicts' '
	is "4.0 6.0" "$(python3 predict.py "$(dirname "$(saved model/saved_model.pb)")" "[[0, 0, 0], [1, 1, 1]]" 2>/dev/null)"
'

test_expect_success 'shared: mirrored workers hold the same weights, worker 0 is the chief' '
	train shared tfjob-multiworker &&
	for who in 0 1 2; do says 1 "worker $who of 3 is here$" || return 1; done &&
	says 3 "epoch 4: loss 0\.[01][0-9]*," && is 1 "$(sed -n "s/.*epoch 4: //p" lines | sort -u | wc -l)"
'

test_expect_success 'the saved model predicts' '
	says 1 "saved /model/circle: 9[5-9]\.[0-9]% right" &&
	python3 predict.py "$(dirname "$(saved circle/saved_model.pb)")" "[[0.1, 0.2], [-0.3, 0.4], [0.9, 0.9], [-0.9, 0.7]]" 2>/dev/null >out &&
	grep -E "^[0-9.]+ [0-9.]+ -[0-9.]+ -[0-9.]+$" out
'

test_expect_success 'shared: one of five is killed, is started again, and training goes on' '
	sed "s/STEPS, FOLDER = 300/STEPS, FOLDER = 1200/; s/saved.save(step)/&; time.sleep(1)/" \
		"$examples/tfjob-evaluator.yaml" >longer.yaml &&
	pick chief-0 ps-0 worker-0 worker-1 evaluator-0 && submit shared ./longer.yaml &&
	told "evaluator: loss .* at step [0-9]*00$" && kill_replica evaluator-$picked && finish_job &&
	once_more $picked && says 1 "chief: step 1200, loss 0\.00" && says 1 "evaluator says loss 0\.00[0-9]* at step 1200"
'

test_expect_success 'namespaces: a mirrored worker is killed, all are started again, and go on' '
	sed "s/EPOCHS, FOLDER = 4/EPOCHS, FOLDER = 12/; s/saved.save(epoch)/&; __import__(\"time\").sleep(1)/" \
		"$examples/tfjob-multiworker.yaml" >longer.yaml &&
	pick worker-0 worker-1 worker-2 && submit namespaces ./longer.yaml &&
	told "worker 0 epoch 3:" && kill_replica multiworker-$picked && finish_job &&
	for who in 0 1 2; do once_more worker-$who && grep -E "worker $who goes on after epoch [2-9]" lines || return 1; done &&
	says 3 "epoch 12: loss 0\.0[0-9]*,"
'

finish
