#!/bin/sh
test_description='PaddlePaddle: collective training by gloo, through muster run'
. "$(dirname "$0")/lib.sh"

test_expect_success 'PaddlePaddle is installed' 'activate paddle'

# A saved network, read by another process than the one that trained it.
cat >predict.py <<'END'
import sys, paddle
net = paddle.nn.Sequential(paddle.nn.Linear(2, 32), paddle.nn.Tanh(), paddle.nn.Linear(32, 1))
net.set_state_dict(paddle.load(sys.argv[1])["net"])
at = [[0.1, 0.2], [-0.3, 0.4], [0.9, 0.9], [-0.9, 0.7]]
print(*(y > 0 for (y,) in net(paddle.to_tensor(at)).tolist()))
END

test_expect_success 'namespaces: workers train one network, and it is the same in all' '
	train namespaces paddlejob-collective &&
	for rank in 0 1 2; do says 1 "rank $rank of 3 is here$" || return 1; done &&
	says 3 "step 300: loss 0\.0[0-9]*," && is 1 "$(sed -n "s/.*step 300: //p" lines | sort -u | wc -l)"
'

test_expect_success 'the saved network predicts' '
	says 1 "saved /model/circle.pdparams: 9[5-9]\.[0-9]% right" &&
	is "True True False False" "$(python3 predict.py "$(saved circle.pdparams)" 2>/dev/null)"
'

test_expect_success 'shared, OnFailure: one of three is killed, all are started again, and go on' '
	sed "s/STEPS, SAVED = 300/STEPS, SAVED = 400/; s/optimizer.clear_grad()/&; __import__(\"time\").sleep(0.03)/" \
		"$examples/paddlejob-collective.yaml" >longer.yaml &&
	pick worker-0 worker-1 worker-2 && submit shared ./longer.yaml &&
	told "rank 0 step 100:" && kill_replica collective-$picked && finish_job && once_more $picked &&
	grep -E "rank 0 goes on after step [1-9][0-9]*$" lines && says 3 "step 400: loss 0\.0[0-9]*,"
'

finish
