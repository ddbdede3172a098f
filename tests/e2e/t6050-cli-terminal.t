#!/bin/sh
test_description='no text from outside controls a terminal; a pipe gets it as it is (R2)'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

# A title, a cleared screen, a raw and an encoded C1 sequence, a direction override, a moved cursor.
evil='\033]0;owned\007\033[2J\2339;1H\302\2332J\342\200\256txt\033[3A'

# What moves, clears, sets or turns: nothing of it may reach a terminal. Colours, line ends and how the
# view below the logs is redrawn may.
clean() {
	python3 - "$1" <<-'END'
	import re, sys
	text = open(sys.argv[1], "rb").read().decode()  # must be UTF-8
	text = re.sub("\033\\[[0-9;:]*m|\r?(\033\\[A)?\033\\[K", "", text).replace("\r\n", "\n")
	bad = re.findall("[\0-\b\v-\037\177-\237\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,20}", text)
	sys.exit(f"{sys.argv[1]}: {bad}" if bad else 0)
	END
}

# on_terminal COMMAND: what a terminal gets of it
on_terminal() {
	script -qec "$1" /dev/null </dev/null
}

test_expect_success 'the check sees what it is for' '
	printf "%b" "$evil" >raw && ! clean raw 2>/dev/null && printf "\033[31mred\033[0m\r\n" >fine && clean fine
'

test_expect_success 'run, on a terminal that cannot be drawn on, and on one that can' '
	job evil 1 "printf \"%b\\n\" \"$evil\"; echo seen" >evil.yaml &&
	for term in dumb xterm; do
		TERM=$term on_terminal "muster run evil.yaml" >out && has out seen && has out txt && clean out || return 1
	done
'

test_expect_success 'run, into a pipe: as it is' '
	muster run evil.yaml >out 2>err && grep -aq "$(printf "%b" "\033\\\\]0;owned")" out
'

test_expect_success 'logs of a job, and of one that is gone' '
	for term in dumb xterm; do
		TERM=$term on_terminal "muster logs evil --color auto" >out && has out seen && clean out || return 1
	done &&
	muster logs evil >out && grep -aq "$(printf "%b" "\033\\\\]0;owned")" out
'

test_expect_success 'validate, of a file whose words are hostile' '
	printf "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: \"x\\\\e]0;owned\\\\a\\\\e[2J\"}\nspec: {\"\\\\u202ebad\\\\x9b2J\": 1}\n" >bad.yaml &&
	test_expect_code 2 on_terminal "muster validate bad.yaml" >out && has out bad && clean out &&
	test_expect_code 2 on_terminal "muster run bad.yaml" >out && has out bad && clean out
'

test_expect_success 'describe and get, of a status that is hostile' '
	start_muster && kubectl create -f - <<-END &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: sad}
	spec: {runPolicy: {suspend: true}, tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow, image: none}]}}}}}
	END
	kubectl patch tfjob sad --subresource status --type merge -p "{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"Bad\",\"message\":\"\\u001b]0;owned\\u0007\\u001b[2J\\u009b2J\\u202etxt seen\"}]}}" &&
	for what in "describe sad" "get sad" "events sad" "get sad -o yaml"; do
		on_terminal "muster $what" >out && clean out || return 1
	done &&
	on_terminal "muster describe sad" >out && has out "txt seen"
'

test_expect_success 'an error names what was asked for, and no more' '
	test_expect_code 1 on_terminal "muster describe \"$(printf "%b" "no\033]0;owned\007such")\"" >out && has out "nosuch" && clean out
'

test_done
