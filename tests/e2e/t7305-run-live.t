#!/bin/sh
test_description='muster run on a terminal: a view below the logs'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

LC_ALL=C.UTF-8
export LC_ALL
socket=

if ! command -v tmux >/dev/null; then
	skip_all='no tmux'
	test_done
fi

# on_terminal COLUMNS ROWS COMMAND: runs it, and says its exit code at the end
on_terminal() {
	drop_terminal
	terminals=$((${terminals:-0} + 1)) && socket=muster-$$-$terminals # an old server may still be on its way out
	tmux -u -f /dev/null -L "$socket" new-session -d -s t -x "$1" -y "$2" "$3; echo exit code \$?; exec sleep 1000"
}
# A test that failed leaves one. It has our standard output: whoever reads that would wait for it.
drop_terminal() {
	test -z "$socket" || tmux -L "$socket" kill-server 2>/dev/null
	socket=
}
trap 'code=$?; drop_terminal; end_all; (exit $code); die' EXIT
end_terminal() {
	drop_terminal
	rm -f "$space"/*
}
pane() {
	tmux -L "$socket" capture-pane -p -t t "$@"
}
pane_has() {
	pane >shown && grep -q -e "$1" shown
}
see() {
	soon pane_has "$1" || { cat shown >&2; return 1; }
}
one_view() {
	pane >shown && test "$(grep -c "^tfjob/live" shown)" = 1 && test "$(grep -c "^  worker-1 " shown)" = 1
}
# A pane that is looked at while it is redrawn shows half of it.
view_below() {
	one_view && test "$(grep -n "two$" shown | tail -n 1 | cut -d: -f1)" -lt "$(grep -n "^tfjob/live" shown | cut -d: -f1)"
}
coloured() {
	pane -e >colours && grep -q "$(printf "\033\\\\[3[0-9]mRunning")" colours
}

test_expect_success 'each replica has a line of its own below what they write' '
	job live 2 "echo one; until test -e $space/two; do sleep 0.1; done; echo two; until test -e $space/end; do sleep 0.1; done; test \$HOSTNAME = live-worker-1 || exit 0; until test -e $space/fail; do sleep 0.1; done; exit 3" >live.yaml &&
	on_terminal 80 24 "muster run live.yaml" &&
	see "^.worker-0. one" && see "^.worker-1. one" && see "^tfjob/live  Running  2/2 running  [0-9.]*s" &&
	see "^  worker-0  Running  [0-9.]*s" && see "^  worker-1  Running  [0-9.]*s"
'

test_expect_success 'logs scroll above it, and it is redrawn in place' '
	touch "$space/two" && see "^.worker-0. two" && see "^.worker-1. two" &&
	{ soon view_below || { cat shown >&2; return 1; }; }
'

test_expect_success 'colours' '
	soon coloured
'

test_expect_success 'narrower, wider, lower: still one view, cut at the edge' '
	for size in "24 20" "100 30" "40 10"; do
		set -- $size && tmux -L "$socket" resize-window -t t -x $1 -y $2 &&
		see "^tfjob/live  Run" && soon one_view || return 1
	done
'

test_expect_success 'at the end the view is gone, and what came of it stays' '
	tmux -L "$socket" resize-window -t t -x 100 -y 40 && touch "$space/end" && see "^  worker-0  Succeeded" &&
	touch "$space/fail" && see "^exit code 1" && pane >shown &&
	has shown "^worker-1 failed first: exit code 3; its last lines:" "^  | two" "^tfjob/live Failed after" \
		"^  worker-0   Succeeded   0  " "^  worker-1   Failed      3  " && lacks shown "running" && end_terminal
'

test_expect_success 'Ctrl-C: said, done, 130' '
	job stop 2 "trap \"until test -e $space/end; do sleep 0.1; done; exit 0\" TERM; echo up; sleep 1000 & wait" >stop.yaml && on_terminal 80 24 "muster run stop.yaml" &&
	see "^.worker-1. up" && see "^.worker-0. up" && tmux -L "$socket" send-keys -t t C-c &&
	see "^stopping; Ctrl-C again kills at once" && touch "$space/end" && see "^exit code 130" && pane >shown &&
	has shown "^tfjob/stop Stopped after" "^interrupted after" && end_terminal
'

test_expect_success 'many replicas are counts' '
	job many 14 "echo up; until test -e $space/end; do sleep 0.5; done" >many.yaml && on_terminal 80 24 "muster run many.yaml" &&
	see "^tfjob/many  Running  14/14 running" && see "^  worker     14 Running" && pane >shown && lacks shown "^  worker-3" &&
	touch "$space/end" && see "^exit code 0" && end_terminal
'

test_expect_success 'what programs do to the screen stays theirs' '
	job wild 2 "printf \"\\\\033[2J\\\\033[10;10Hcleared\\\\n 10%%\\\\r 50%%\\\\r100%%\\\\n\"; until test -e $space/end; do sleep 0.1; done" >wild.yaml &&
	on_terminal 80 24 "muster run wild.yaml" && see "^.worker-0. cleared" && see "^.worker-1. 100%" && see "^  worker-1  Running" &&
	touch "$space/end" && see "^exit code 0" && end_terminal
'

summed_up() {
	grep -q "^tfjob/live Failed" err
}

test_expect_success 'what we say goes to standard error, and logs and the view to the terminal' '
	touch "$space/two" "$space/end" && on_terminal 100 40 "muster run live.yaml 2>err" && see "^.worker-1. two" && see "^  worker-0  Succeeded" &&
	touch "$space/fail" && see "^exit code 1" && soon summed_up && pane >shown &&
	has err "^worker-1 failed first: exit code 3" "^  worker-1   Failed      3  " && lacks err "$(printf "\033")" &&
	lacks shown "Failed after" "failed first" && end_terminal
'

test_expect_success 'without UTF-8 the view is ASCII' '
	on_terminal 24 24 "LC_ALL=C muster run live.yaml" && see "^tfjob/live  Running  \.\.\.$" &&
	touch "$space/two" "$space/end" "$space/fail" && see "^exit code 1" && end_terminal
'

test_expect_success 'NO_COLOR: a view without; TERM=dumb: plain lines' '
	touch "$space/two" "$space/end" "$space/fail" && NO_COLOR=1 && export NO_COLOR && on_terminal 80 24 "muster run live.yaml" && see "^exit code 1" &&
	pane -e >colours && ! grep -q "$(printf "\033")" colours && end_terminal && unset NO_COLOR &&
	touch "$space/two" "$space/end" && on_terminal 80 40 "TERM=dumb muster run live.yaml" && see "^.worker-0. two" &&
	touch "$space/fail" && see "^exit code 1" && pane >shown &&
	has shown "^muster: tfjob/live created" "^.worker-0. two" && end_terminal && rm -rf "$space"
'

test_done
