#!/bin/sh
test_description='muster run without YAML: jobs made from a command'
. "$(dirname "$0")/lib.sh"

TERM=dumb
export TERM
# Not in /tmp: there pods have one of their own.
place=$(mktemp -d /var/tmp/muster-make.XXXXXX)
trap 'code=$?; rm -rf "$place"; end_all; (exit $code); die' EXIT

# run_there WORDS...: muster run in the directory of the scripts.
run_there() {
	(cd "$place" && muster run "$@")
}

# refused WORDS...: muster run with them is a usage error and prints nothing but why, in err.
refused() {
	test_expect_code 2 muster run "$@" >out 2>err </dev/null && test_must_be_empty out
}

test_expect_success 'setup' '
	cat >"$place/who.py" <<-\END &&
	import os, socket, sys, time
	rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
	print("rank", rank, "of", world, *sys.argv[1:])
	where = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
	if rank == 0:  # ends last: with it, the job does
	    door = socket.create_server(("", where[1]))
	    others = [door.accept()[0] for _ in range(world - 1)]
	    for other in others:
	        other.recv(1)
	else:
	    while True:
	        try:
	            line = socket.create_connection(where, timeout=60)
	            break
	        except OSError:
	            time.sleep(0.05)
	END
	echo "int(\"bug\")" >"$place/bug.py"
'

for kind in pytorch tf jax mpi xgboost paddle; do
	test_expect_success "$kind: what --print shows is a job of four that validate and run take" '
		muster run --kind $kind -N 4 --gpus 1 --cpu 500m --memory 64Mi --print -- python3 train.py --lr 0.1 >made.yaml 2>err &&
		test_must_be_empty err && muster validate - <made.yaml >out && has out "^1 object, all valid" &&
		has made.yaml "^# image localhost/this-machine means" "^  name: train$" "nvidia.com/gpu: 1" "restartPolicy: Never" &&
		lacks made.yaml workingDir && is 4 "$(awk "/replicas:/ { n += \$2 } END { print n }" made.yaml | sed "s/5/4/")" &&
		muster run --print --name train --kind $kind -N 4 --gpus 1 --cpu 500m --memory 64Mi -- python3 train.py --lr 0.1 >again &&
		test_cmp made.yaml again
	'
done

test_expect_success 'KUBECTL: kubectl and a server take what --print shows' '
	start_muster && for kind in pytorch tf jax mpi xgboost paddle; do
		muster run --kind $kind -N 2 --name "$kind-job" --print -- python3 train.py | kubectl apply -f - || return 1
	done && muster run --name pod --print -- echo hello | kubectl apply -f - && kubectl get pod pod && stop_muster &&
	unset KUBECONFIG
'

for level in namespaces shared; do

test_expect_success "$level: a command alone is a pod; its words arrive as they are" '
	run_there --isolation $level -- sh -c "echo \"\$@\" \$(echo inner); test \$\$ -gt 0" sh "\$(HOME)" "a  b" --print >out 2>err &&
	is "\$(HOME) a  b --print inner" "$(cat out)" && has err "^pod/sh Succeeded after"
'

test_expect_success "$level: pytorch: three replicas are a world of three" '
	run_there --isolation $level --kind pytorch --replicas 3 -- python3 who.py --lr 0.1 >out 2>err &&
	sort out >sorted && cat >want <<-END && test_cmp want sorted && has err "^pytorchjob/who Succeeded after"
	[master-0] rank 0 of 3 --lr 0.1
	[worker-0] rank 1 of 3 --lr 0.1
	[worker-1] rank 2 of 3 --lr 0.1
	END
'

test_expect_success "$level: a script with a bug fails once, with its traceback and no advice about images" '
	test_expect_code 1 run_there --isolation $level --kind jax --name buggy -- python3 bug.py >out 2>err &&
	has err "^jaxjob/buggy Failed after" "^  | ValueError: invalid literal" "^  worker-0  *Failed  *1  *0 " &&
	lacks err "not mapped" "this-machine" && is 1 "$(grep -c ValueError out)"
'

done

command -v mpirun >/dev/null && test_set_prereq MPIRUN
test_expect_success MPIRUN 'mpi: mpirun starts the command once in each slot of each worker' '
	run_there --kind mpi --replicas 2 --nproc-per-node 2 --name ring -- \
		sh -c "echo rank \$OMPI_COMM_WORLD_RANK of \$OMPI_COMM_WORLD_SIZE on \$HOSTNAME" >out 2>err &&
	grep -o "rank . of . on.*" out | sort >sorted &&
	printf "rank %d of 4 on ring-worker-%d\n" 0 0 1 0 2 1 3 1 >want && test_cmp want sorted
'

test_expect_success 'what is kept of --print runs as the command does' '
	run_there --kind tf --role worker=2 -e WORD=given --print -- sh -c "echo \$HOSTNAME \$WORD \$(echo \$\$ | tr -d 0-9)." >kept.yaml && lacks kept.yaml workdir workingDir &&
	run_there - <kept.yaml >out 2>err && sort out >sorted &&
	printf "[worker-%d] sh-worker-%d given .\n" 0 0 1 1 >want && test_cmp want sorted
'

test_expect_success 'files and a command exclude each other; flags that make a job need a command' '
	refused kept.yaml -- true && has err "^muster: files and a command exclude each other: .kept.yaml. comes before --$" &&
	refused --kind pytorch && has err "^muster: --kind needs a command after --, as in: muster run --kind pytorch -- python3 train.py$" &&
	refused --kind pytorch python3 train.py && has err "^muster: --kind is not for files: it needs a command after --" &&
	refused --print kept.yaml && has err "^muster: --print is not for files: it needs a command after --" &&
	refused --gpus 1 kept.yaml && has err "^muster: --gpus is not for files" &&
	refused -- && has err "run needs a file, a directory, - for standard input, or a command after --" &&
	refused -- "" && has err "the command after -- is empty" &&
	refused train.py && has err "^muster: train.py is a script, not a file of jobs; run it with: muster run -- python3 train.py$"
'

test_expect_success 'what makes no sense is refused in one sentence' '
	refused --kind torch -- true && has err "^muster: run: --kind is one of pytorch|tf|jax|mpi|xgboost|paddle, not .torch.$" &&
	refused -N 2 -- true && has err "^muster: --replicas needs --kind: without one, a single pod is made$" &&
	refused --kind jax -N 0 -- true && has err "^muster: --replicas is 0: want 1 to 100000$" &&
	refused --kind jax -N two -- true && has err "^muster: run: --replicas takes a number, not .two.$" &&
	refused --kind jax -N 2 --role worker=2 -- true && has err "exclude each other" &&
	refused --kind jax --role ps=2 -- true && has err "^muster: --role .ps=2.: the roles of a JAXJob are worker$" &&
	refused --kind jax --nproc-per-node 2 -- true && has err "is for pytorch, mpi and paddle" &&
	refused --name Train -- true && has err "^muster: --name .Train.: want" &&
	refused --cpu much -- true && has err "^muster: --cpu .much. is not an amount: want cores, as in 2 or 500m$"
'

test_expect_success 'shells complete the new options and their values' '
	muster completion bash >bash && has bash "[-][-]kind) values=.pytorch tf jax mpi xgboost paddle." "[-][-]replicas|-N)"
'

test_expect_success 'what a made job writes to the directory it is run from stays' '
	run_there -- sh -c "echo learned >model" && is learned "$(cat "$place/model")"
'

test_done
