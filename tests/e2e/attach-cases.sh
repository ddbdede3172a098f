# Standard input and terminals of containers, at the level of isolation that the t72*.t which source this set.
# shellcheck shell=sh disable=SC1091,SC2034,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
start_node "$level" "${who:-root}"

# runs_with_input NAME SCRIPT: kubectl run -i, which ends with the program.
run_with_input() {
	name=$1
	shift
	timeout 200 kubectl run "$name" -i --quiet --rm --restart=Never --image=x --command -- sh -c "$@"
}

logged() {
	kubectl logs "$1" | grep -q "$2"
}

test_expect_success KUBECTL_130 'kubectl run -i: input, and its end' '
	is "some words|end" "$(echo some words | run_with_input words "cat; echo end" | paste -sd "|")"
'

test_expect_success KUBECTL_130 'a program that ends at once is heard, with -i and with --attach' '
	is "short" "$(run_with_input short-in "echo short" </dev/null)" &&
	is "short" "$(timeout 200 kubectl run short-out --attach --quiet --rm --restart=Never --image=x --command -- echo short)"
'

test_expect_success KUBECTL_130 'what was printed before the client came is shown to the first, not to the next' '
	pod early "" Never "\"containers\": [{\"name\": \"main\", \"image\": \"x\", \"stdin\": true, \"stdinOnce\": true,
		\"command\": [\"sh\", \"-c\", \"echo first words; cat; while :; do echo tick; sleep 0.1; done\"]}]" &&
	becomes early .status.phase Running && within 100 logged early "first words" &&
	: >first && start sh -c "echo typed | kubectl attach -i early >first 2>&1" && within 100 grep -q typed first &&
	has first "^first words" && : >second && start sh -c "kubectl attach early >second 2>&1" &&
	within 100 grep -q tick second && lacks second "first words" && kubectl delete pod early --now
'

test_expect_success KUBECTL_130 'much of it, to a program that is slow' '
	is 2000000 "$(head -c 2000000 /dev/zero | run_with_input much "sleep 1; wc -c")"
'

test_expect_success KUBECTL_130 'kubectl debug: a container of its own beside those that run' '
	pod patient "" Never "\"containers\": [{\"name\": \"main\", \"image\": \"x\", \"command\": [\"sleep\", \"1000\"]}]" &&
	becomes patient .status.phase Running &&
	is "some words" "$(echo some words | timeout 200 kubectl debug patient -i -q --profile=general --image=x -c eyes -- sh -c "read line; echo \$line")" &&
	becomes patient ".status.ephemeralContainerStatuses[0].state.terminated.exitCode" 0 &&
	is "some words" "$(kubectl logs patient -c eyes)" && is Running "$(field patient .status.phase)" &&
	kubectl get pod patient >out && has out "patient  *1/1  *Running  *0 " &&
	kubectl delete pod patient --now
'

test_expect_success KUBECTL_130 'without stdinOnce it stays open for the next' '
	pod open "" Never "\"containers\": [{\"name\": \"main\", \"image\": \"x\",
		\"stdin\": true, \"command\": [\"sh\", \"-c\", \"while read line; do echo got \$line; done; echo over\"]}]" &&
	becomes open .status.phase Running &&
	echo one >one && start sh -c "kubectl attach -i open <one >first 2>&1" && first=$! && within 100 logged open "got one" &&
	echo two >two && start sh -c "kubectl attach -i open <two >second 2>&1" && within 100 logged open "got two" &&
	kubectl logs open >out && lacks out over && within 100 grep -q "got two" second
'

test_expect_success KUBECTL_130 'a server that dies and comes again' '
	{ stop_muster KILL || :; } && again && taken_over open &&
	echo three >three && start sh -c "kubectl attach -i open <three >third 2>&1" && within 100 logged open "got three" &&
	kubectl delete pod open --now
'

cat >talk <<'END'
until test "$(stty size)" = "33 99"; do sleep 0.1; done; printf 'name? '; read name; echo "hello $name"; exit 5
END
# --foreground: with a group of its own kubectl would be in the background of the terminal, and stopped,
# wherever script's shell (SHELL, or sh) does not exec its last command.
test_expect_success KUBECTL_130 'a terminal: of the size of the client, and at once' '
	cat >typist <<-END &&
		stty rows 33 cols 99
		exec timeout --foreground 200 kubectl run terminal -it --restart=Never --image=x --command -- sh -c "\$(cat talk)"
	END
	mkfifo typed && start sh -c "exec script -qec \"sh typist\" /dev/null <typed >shown; :" && exec 8>typed &&
	within 100 grep -q "name?" shown && echo world >&8 && within 100 grep -q "hello world" shown &&
	becomes terminal .status.phase Failed && exec 8>&- &&
	is 5 "$(field terminal ".status.containerStatuses[0].state.terminated.exitCode")" &&
	kubectl logs terminal >out && has out "name? world" "hello world"
'

node_cleanup
test_done
