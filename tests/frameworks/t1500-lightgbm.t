#!/bin/sh
test_description='LightGBM as an XGBoostJob, through muster run'
. "$(dirname "$0")/lib.sh"

test_expect_success 'LightGBM is installed' 'activate boosting'

# Saved trees, read by another process than the one that grew them.
cat >predict.py <<'END'
import sys, lightgbm as lgb
at = [[0.1, 0.2], [-0.3, 0.4], [0.9, 0.9], [-0.9, 0.7]]
print(*(lgb.Booster(model_file=sys.argv[1]).predict(at) > 0.5))
END

for level in namespaces shared; do

# The last round of the others may come after the master's end, which is the job's.
test_expect_success "$level: master and workers grow the same trees" '
	train $level xgboostjob-lightgbm &&
	for rank in 0 1 2; do says 1 "rank $rank of 3 is here$" || return 1; done &&
	says 3 "round 40: loss 0\.0[0-9]*, middle" && is 1 "$(sed -n "s/.*round 40: .*middle//p" lines | sort -u | wc -l)" &&
	says 1 "rank 0 round 60: loss 0\.0[0-9]*,"
'

test_expect_success "$level: the saved trees predict" '
	says 1 "saved /model/circle.txt: 9[5-9]\.[0-9]% right" &&
	is "True True False False" "$(python3 predict.py "$(saved circle.txt)")"
'

done

# Without one of its machines LightGBM fails in all the others, or waits for it for ever.
test_expect_success 'Never: one of three is killed, the job fails, and nobody is started again' '
	sed "s/ROUNDS, SAVED = 60/ROUNDS, SAVED = 100000/; s/restartPolicy: .*/restartPolicy: Never/" \
		"$examples/xgboostjob-lightgbm.yaml" >longer.yaml &&
	pick master-0 worker-0 worker-1 && submit shared ./longer.yaml &&
	told "rank 0 round 40:" && kill_replica lightgbm-$picked && test_expect_code 1 finish_job &&
	has err "^xgboostjob/lightgbm Failed" && is 3 "$(grep -cE "^  (master|worker)-[01] +[A-Za-z]+ +[0-9-]+( \([^)]*\))? +0 " err)"
'

finish
