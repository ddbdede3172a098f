#!/bin/sh
test_description='muster init: a job and a script to begin with'
. "$(dirname "$0")/lib.sh"

TERM=dumb
export TERM
# Not in /tmp: there pods have one of their own.
place=$(mktemp -d /var/tmp/muster-init.XXXXXX)
trap 'code=$?; rm -rf "$place"; end_all; (exit $code); die' EXIT

for kind in pytorch tf jax mpi xgboost paddle pod; do
	test_expect_success "$kind: the job is valid, the script is Python, and what to do next is said" '
		muster init $kind "$place/$kind" >out && muster validate "$place/$kind/train.yaml" >valid && has valid "^1 object, all valid" &&
		python3 -c "compile(open(\"$place/$kind/train.py\").read(), \"train.py\", \"exec\")" &&
		has out "^wrote $place/$kind/train.yaml$" "^wrote $place/$kind/train.py$" "^  cd $place/$kind$" "^  muster run train.yaml$" &&
		has "$place/$kind/train.yaml" "muster run train.yaml" "python3" "train.py" && lacks "$place/$kind/train.yaml" workingDir
	'
done

test_expect_success 'plain Python runs as it is, and its model stays' '
	mkdir "$place/here" && (cd "$place/here" && muster init plain >out && has out "^wrote train.yaml$" && lacks out "^  cd " &&
		muster run train.yaml >lines) && has "$place/here/lines" "^step 200: loss 0" "^saved model.json: y = 3.0" &&
	jq_is ".a > 2.9 and .a < 3.1" "$place/here/model.json" &&
	rm "$place/here/model.json" && (cd "$place/here" && muster run -- python3 train.py --steps 100) && test -s "$place/here/model.json"
'

test_expect_success 'nothing that exists is overwritten, and then nothing is written' '
	mkdir "$place/mine" && echo mine >"$place/mine/train.py" &&
	test_expect_code 1 muster init jax "$place/mine" >out 2>err && test_must_be_empty out &&
	has err "^muster: $place/mine/train.py exists already and is not overwritten; name another directory: muster init jax DIR$" &&
	is mine "$(cat "$place/mine/train.py")" && is train.py "$(ls "$place/mine")" &&
	ln -s nowhere "$place/mine/train.yaml" && rm "$place/mine/train.py" &&
	test_expect_code 1 muster init jax "$place/mine" 2>err && has err "train.yaml exists already" && test ! -e "$place/mine/train.py"
'

test_expect_success 'mistakes' '
	test_expect_code 2 muster init 2>err && has err "^muster: init needs a kind (pytorch|tf|jax|mpi|xgboost|paddle|pod)" &&
	test_expect_code 2 muster init keras 2>err && has err "^muster: init: the kind is one of .*|pod, not .keras.$" &&
	test_expect_code 2 muster init pod a b 2>err && has err "at most one directory" &&
	test_expect_code 1 muster init pod "$place/no/such" 2>err && has err "cannot create $place/no/such: No such file" &&
	test_expect_code 1 muster init pod "$place/here/lines" 2>err && has err "^muster: write $place/here/lines/train.yaml: Not a directory" &&
	muster completion bash >bash && has bash "operands=.pytorch tf jax mpi xgboost paddle pod."
'

test_done
