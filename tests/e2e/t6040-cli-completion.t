#!/bin/sh
test_description='muster completion, and help'
. "$(dirname "$0")/lib.sh"

complete() { # WORDS...: what bash offers for the last one
	bash -c '. ./muster.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _muster; printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | paste -sd " "
}

test_expect_success 'bash: commands, options, values, files' '
	muster completion bash >muster.bash && bash -n muster.bash && is "delete describe down" "$(complete muster d)" && is "--all-namespaces" "$(complete muster get --all)" &&
	is "json name wide yaml" "$(complete muster get -o "")" && is "--detach" "$(complete muster up --det)" && is "bash fish zsh" "$(complete muster completion "")" &&
	touch file-a file-b && is "file-a file-b" "$(complete muster validate file-)"
'

test_expect_success 'bash: jobs of the server' '
	start_muster && printf "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: mnist}\nspec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}}}\n" | kubectl apply -f - &&
	is "tfjob/mnist" "$(complete muster describe tf)" && stop_muster && is "" "$(complete muster describe tf)"
'

test_expect_success 'zsh and fish have theirs' '
	muster completion zsh >out && has out "^#compdef muster" "_bash_complete -F _muster$" && muster completion fish >out && has out "^complete -c muster -n __fish_use_subcommand -a get -d .list jobs" "from get. -l output -s o -x -a .wide json yaml name" &&
	test_expect_code 2 muster completion tcsh 2>err && has err "bash, zsh or fish" && test_expect_code 2 muster completion
'

test_expect_success 'each command has a help that names its options, and needs no server' '
	unset KUBECONFIG && for c in get describe why resources logs events delete validate; do
		muster $c --help >out && has out "^Usage: muster $c" "^Options:" && muster $c -h >out || return 1
	done && muster help >out && has out "^  logs  *show the logs" "^  completion "
'

test_done
