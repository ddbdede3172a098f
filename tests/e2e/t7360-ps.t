#!/bin/sh
test_description='muster run, ps, rerun: what a run leaves, and how it is found and removed'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

TERM=dumb
export TERM
base=$XDG_DATA_HOME/muster

cat >claimer.yaml <<'END'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: out}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: claimer}
spec:
  restartPolicy: Never
  volumes: [{name: out, persistentVolumeClaim: {claimName: out}}]
  containers:
  - name: main
    image: none
    command: [sh, -c, 'echo one more >>/muster-e2e-out/log; wc -l </muster-e2e-out/log; ${END:-exit} ${CODE:-0}']
    volumeMounts: [{name: out, mountPath: /muster-e2e-out}]
END

# latest: the name of the run that began last.
latest() {
	muster ps -o json | jq -r '.runs[0].run'
}

for level in namespaces shared; do
test_expect_success "$level: N4: a claim stays when its run is over, whatever came of it; the summary names it" '
	test_expect_code 3 sh -c "muster run --isolation $level -e CODE=3 claimer.yaml >out 2>err; test \$? = 1 && exit 3" &&
	run=$(latest) && is 1 "$(cat out)" && has err "^claim out: $base/claims/$run/out (.* KiB)$" && is "one more" "$(cat "$base/claims/$run/out/log")"
'

test_expect_success "$level: the next run begins with an empty one, and with --reuse-claims with the last" '
	is 1 "$(muster run --isolation $level claimer.yaml 2>err)" && run=$(latest) &&
	is 2 "$(muster run --isolation $level --reuse-claims claimer.yaml 2>err)" && test ! -e "$base/claims/$run" &&
	is 3 "$(muster run --isolation $level --reuse-claims claimer.yaml 2>err)" && has err "^claim out: $base/claims/$(latest)/out"
'

test_expect_success "$level: --rm removes it" '
	is 1 "$(muster run --isolation $level --rm claimer.yaml 2>err)" && lacks err "^claim" && test ! -e "$base/claims/$(latest)"
'

test_expect_success "$level: with --data, too; with --keep it is a volume of that cluster" '
	is 1 "$(muster run --isolation $level --data "$PWD/data-$level" claimer.yaml 2>err)" && is "one more" "$(cat data-$level/claims/claimer-*/out/log)" &&
	is 1 "$(muster run --isolation $level --data "$PWD/kept-$level" --keep claimer.yaml 2>err)" && is "one more" "$(cat kept-$level/volumes/pvc-*/log)"
'
done

test_expect_success 'a run that is killed loses no claim' '
	sed "s/claimer/lasting/" claimer.yaml >lasting.yaml &&
	{ muster run -e END=sleep -e CODE=100 lasting.yaml >out 2>err & pid=$!; } && background="$background $pid" && soon grep -q 1 out && run=$(latest) &&
	muster ps | grep -q "^$run  *Running" && is 1 "$(muster logs "$run")" && test_expect_code 1 muster ps rm "$run" 2>why && has why "still running" &&
	test_expect_code 1 muster run --reuse-claims lasting.yaml 2>why && has why "claim out is in use: run $run is still running" &&
	kill -KILL $pid && { wait $pid; test $? -gt 128; } && soon sh -c "muster ps | grep -q \"^$run  *Killed\"" &&
	is "one more" "$(cat "$base/claims/$run/out/log")"
'

test_expect_success '--reuse-claims without one to reuse says so' '
	sed "s/claimer/lonely/" claimer.yaml >lonely.yaml && is 1 "$(muster run --reuse-claims lonely.yaml 2>err)" && has err "no earlier run left claim out: it starts empty"
'

test_expect_success 'ps lists runs with their state, what they left and where they were started' '
	muster ps >out && head -n 1 out | grep -q "^RUN  *STATE  *AGE  *TIME  *LEFT  *DIRECTORY$" &&
	has out "^lonely-[0-9a-f]*  *Succeeded .* logs, claim out (.* KiB)  *$PWD$" "^claimer-[0-9a-f]*  *Failed .* logs, claim out"
'

test_expect_success 'rerun: the same command line in the same directory' '
	mkdir elsewhere && run=$(muster ps -o json | jq -r "[.runs[] | select(.state == \"Failed\")][0].run") &&
	(cd elsewhere && test_expect_code 1 muster rerun "$run" >../out 2>../err) && is 1 "$(cat out)" && has err "^pod/claimer Failed" &&
	test_expect_code 1 muster rerun no-such-run 2>err && has err "no run no-such-run: .muster ps. lists them" &&
	printf "%s\n" "apiVersion: v1" "kind: Pod" "metadata: {name: piped}" "spec: {restartPolicy: Never, containers: [{name: m, image: x, command: [\"true\"]}]}" |
		muster run - 2>err && test_expect_code 1 muster rerun "$(latest)" 2>err && has err "standard input"
'

test_expect_success 'ps rm removes runs with all they left; those that go on stay' '
	run=$(muster ps -o json | jq -r "[.runs[] | select(.run | startswith(\"lonely\"))][0].run") && muster ps rm "$run" &&
	test ! -e "$base/runs/$run" && test ! -e "$base/claims/$run" && test_expect_code 2 muster ps rm 2>err && has err "needs the names of runs" &&
	muster ps rm --all >out && ls "$base/runs" "$base/claims" >left && printf "%s\n" "$base/claims:" "" "$base/runs:" >want && test_cmp want left &&
	muster ps >out 2>err && test_must_be_empty out && has err "no runs"
'

test_expect_success 'claims outlive the limit on kept runs' '
	muster run claimer.yaml 2>err && run=$(latest) && for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir -p "$base/runs/other-$i" && touch "$base/runs/other-$i/lock" || return 1
	done && muster run --rm claimer.yaml 2>err && test ! -e "$base/runs/$run" && is "one more" "$(cat "$base/claims/$run/out/log")" &&
	muster ps | grep -q "^$run  *- .* claim out"
'

test_done
