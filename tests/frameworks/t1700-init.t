#!/bin/sh
test_description='what muster init writes trains as it is, and without YAML'
. "$(dirname "$0")/lib.sh"

# began KIND [PACKAGES]: in its directory, with what it needs installed.
began() {
	muster init "$1" "$place/$1" && cd "$place/$1" && if test -n "$2"; then activate "$2"; else debian; fi
}

# trains KIND PACKAGES RESULT: by the file, and by the command.
trains() {
	(
		began "$1" "$2" && muster run --timeout 5m train.yaml >lines 2>err && grep "saved $3: " lines && test -e "$3" &&
			rm -r "$3" && muster run --timeout 5m --kind "$1" -N 3 -- python3 train.py >lines 2>err &&
			grep "saved $3: " lines && test -e "$3" && is 3 "$(grep -c "\\(rank\\|worker\\|process\\) [012] of 3$" lines)"
	) || { tail -n 60 "$place/$1/lines" "$place/$1/err" >&2; return 1; }
}

test_expect_success 'pytorch' 'trains pytorch "" model.pt'
test_expect_success 'mpi' 'trains mpi "" model.json'
test_expect_success 'jax' 'trains jax jax model.npz'
test_expect_success 'tf' 'trains tf tensorflow model'
test_expect_success 'xgboost' 'trains xgboost boosting model.json'
test_expect_success 'paddle' 'trains paddle paddle model.pdparams'

test_expect_success 'pytorch: two processes in each of two replicas are a world of four' '
	(cd "$place/pytorch" && debian && muster run --timeout 5m --kind pytorch -N 2 --nproc-per-node 2 -- python3 train.py >lines 2>err) &&
	is 4 "$(grep -c "rank [0-3] of 4$" "$place/pytorch/lines")"
'

finish
