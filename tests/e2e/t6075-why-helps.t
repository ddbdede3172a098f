#!/bin/sh
# S3 by experiment; WHY_WORLDS=100 WHY_SEED=7 for more of them.
test_description='muster why: what it says would help, helps'
. "$(dirname "$0")/lib.sh"

no_node=

test_expect_success 'jobs wait, and start when one does what would help' '
	start_muster --resources example.com/gpu=4,cpu=4,memory=8Gi &&
	PYTHONDONTWRITEBYTECODE=1 python3 "$e2e/why_worlds.py" "${WHY_SEED:-1}" "${WHY_WORLDS:-5}"
'

test_expect_success 'the pods end with the server' 'stop_muster'

test_done
