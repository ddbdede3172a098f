#!/bin/sh
test_description='XGBoost with its tracker, through muster run'
. "$(dirname "$0")/lib.sh"

test_expect_success 'XGBoost is installed' 'activate boosting'

# Saved trees, read by another process than the one that grew them.
cat >predict.py <<'END'
import sys, numpy as np, xgboost as xgb
at = np.array([[0.1, 0.2], [-0.3, 0.4], [0.9, 0.9], [-0.9, 0.7]])
print(*(xgb.Booster(model_file=sys.argv[1]).predict(xgb.DMatrix(at)) > 0.5))
END

for level in namespaces shared; do

test_expect_success "$level: master and workers grow the same trees" '
	train $level xgboostjob &&
	for rank in 0 1 2; do says 1 "rank $rank of 3 is here$" || return 1; done &&
	says 3 "round 60: loss 0\.0[0-9]*$" && is 1 "$(sed -n "s/.*round 60: //p" lines | sort -u | wc -l)"
'

test_expect_success "$level: the saved trees predict" '
	says 1 "saved /model/circle.ubj: 9[5-9]\.[0-9]% right" &&
	is "True True False False" "$(python3 predict.py "$(saved circle.ubj)")"
'

done

test_expect_success 'OnFailure: one of three is killed, all are started again, and go on' '
	sed "s/ROUNDS, SAVED = 60/ROUNDS, SAVED = 300/; s/if (epoch + 1) % 20/time.sleep(0.05)\n            &/" \
		"$examples/xgboostjob.yaml" >longer.yaml &&
	pick master-0 worker-0 worker-1 && submit namespaces ./longer.yaml &&
	told "rank 0 round 40:" && kill_replica xgboost-$picked && finish_job && once_more $picked &&
	grep -E "rank 0 goes on after round [0-9]+$" lines && says 3 "round 300: loss 0\.0[0-9]*$"
'

finish
