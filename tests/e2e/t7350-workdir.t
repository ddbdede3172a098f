#!/bin/sh
test_description='muster run: a script in this directory, and the files that it leaves there'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

make_place
TERM=dumb
export TERM
test "$(id -u)" = 0 && test_set_prereq ROOT
cp "$(command -v muster)" "$place/muster" && chown "$ordinary:$ordinary" "$place/home"
chmod 711 "$place/home"

# as WHO ARGS...: muster in the directory $at.
as() {
	who=$1 && shift
	if test "$who" = user && test_have_prereq ROOT; then
		(cd "$at" && HOME=$place/home XDG_DATA_HOME='' exec setpriv --reuid="$ordinary" --regid="$ordinary" \
			--groups="${groups:-$ordinary}" -- "$place/muster" "$@")
	else
		(cd "$at" && HOME=$place/roots XDG_DATA_HOME='' exec "$place/muster" "$@")
	fi
}

# own DIR: makes it, for $who.
own() {
	mkdir "$1" && { test "$who" = root || chown "$ordinary:$ordinary" "$1"; }
}

# run_fine ARGS...: what it says, if it does not succeed.
run_fine() {
	as "$who" run "$@" >out 2>err || { cat out err >&2 && false; }
}

# pod COMMAND...: a pod that runs it, on standard output; $more is put into its container.
pod() {
	printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: own}' \
		"spec: {restartPolicy: Never, containers: [{name: main, image: mine, $more command: [sh, -c, '$*']}]}"
}

mkdir "$place/roots" "$place/work" "$place/other" && chmod 777 "$place/work" "$place/other"
at=$place/work

for who in root user; do
for level in namespaces shared; do
test $who = root || test_have_prereq ROOT || continue

test_expect_success "$who, $level: N4: a script beside the file is found, and what it writes stays" '
	own "$at/$who-$level" &&
	(at=$at/$who-$level && echo "echo here is \$PWD; echo weights >model" >"$at/train.sh" &&
	pod sh train.sh >"$at/job.yaml" && run_fine --isolation $level job.yaml &&
	is "here is $at" "$(cat out)" && is weights "$(cat "$at/model")" && ls "$at" >left &&
	printf "%s\n" job.yaml model train.sh >want && test_cmp want left)
'

test_expect_success "$who, $level: all replicas share it; -e, --env-file and -v are for all of them" '
	echo shared >"$place/other/data" && printf "# words\n\nB=two words\nA=no\n" >"$at/words.env" &&
	cat >"$at/two.yaml" <<-END &&
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: two}
	spec:
	  tfReplicaSpecs:
	    Worker:
	      replicas: 2
	      template: {spec: {containers: [{name: tensorflow, image: x, env: [{name: A, value: was}],
	        command: [sh, -c, "echo \\"\$A \$B \$C\\" >$who-$level-\$HOSTNAME; cat /muster-e2e-$$/data >>$who-$level-\$HOSTNAME"]}]}}
	END
	C=copied && export C &&
	run_fine --isolation $level -e "A=\$(x)\$\$" --env-file words.env -e C -e MUSTER_E2E_UNSET -v ../other:/muster-e2e-$$:ro two.yaml &&
	printf "%s\n" "\$(x)\$\$ two words copied" shared >want &&
	test_cmp want "$at/$who-$level-two-worker-0" && test_cmp want "$at/$who-$level-two-worker-1"
'

test_expect_success "$who, $level: --workdir names another, --no-workdir none" '
	pod pwd >"$at/pwd.yaml" && is "$place/other" "$(as $who run --isolation $level --workdir ../other pwd.yaml)" &&
	is / "$(as $who run --isolation $level --no-workdir pwd.yaml)"
'

test_expect_success "$who, $level: a container that names its workingDir gets that, and no mount" '
	more="workingDir: $place/other," && pod pwd >"$at/named.yaml" && more= &&
	is "$place/other" "$(as $who run --isolation $level named.yaml)" &&
	as $who run --isolation $level -o json named.yaml >got && jq_is "[.jobs[0].object.spec.volumes[]? | select(.hostPath)] == []" got
'
done

test_expect_success "$who: refused, with the flags that help: root, homes, the system, above the data directory" '
	if test $who = root || ! test_have_prereq ROOT; then home=$place/roots; else home=$place/home; fi &&
	mkdir -p "$home/.local/share/muster" && chown -R --reference="$home" "$home/.local" && pod pwd >"$place/pwd.yaml" &&
	for dir in / "$home" /etc /usr/lib /var "$home/.local"; do
		(at=$dir && test_expect_code 2 as $who run "$place/pwd.yaml") >out 2>err &&
		test_must_be_empty out && has err "muster: $dir cannot be the working directory.*--workdir DIR.*--no-workdir" || return 1
	done &&
	(at=/ && is / "$(as $who run --no-workdir "$place/pwd.yaml")" && is "$place/other" "$(as $who run --workdir "$place/other" "$place/pwd.yaml")")
'

test_expect_success "$who: files that a pod changed and nobody keeps: one line says how many and where; --keep-files copies them" '
	pod "mkdir \$HOME/results; echo weights >\$HOME/results/model; echo x >/tmp/x; echo y >kept-$who" >"$at/lost.yaml" &&
	home=$place/home && { test $who = user && test_have_prereq ROOT || home=$place/roots; } &&
	run_fine --isolation namespaces lost.yaml && has err "^muster: 1 file that pods changed in $home/results is not kept: --keep-files DIR" &&
	test ! -e "$home/results" && is y "$(cat "$at/kept-$who")" &&
	run_fine --isolation namespaces --keep-files "$place/other/of-$who" lost.yaml && has err "^muster: 1 file that pods changed in $home/results was copied to $place/other/of-$who" &&
	is weights "$(cat "$place/other/of-$who/own$home/results/model")" && is 1 "$(find "$place/other/of-$who" -type f | wc -l)" &&
	run_fine --isolation shared lost.yaml && lacks err "not kept" && is weights "$(cat "$home/results/model")" && rm -r "$home/results" &&
	pod "true" >"$at/nothing.yaml" && run_fine --isolation namespaces nothing.yaml && lacks err "not kept"
'

test_expect_success "$who: a data directory inside it stays hidden" '
	own "$at/inside-$who" &&
	(at=$at/inside-$who && pod "find data; echo looked; cat data/token" >"$at/job.yaml" &&
	test_expect_code 1 as $who run --isolation namespaces --data data job.yaml >out 2>err &&
	printf "%s\n" data looked >want && head -n 2 out >got && test_cmp want got && has out "No such file" && test -s "$at/data/token")
'
done

# A pod that fails once, and looks around when it is started again: again.yaml, of COMMAND FIRST and COMMAND THEN.
again() {
	pod "if test ! -e once; then touch once; $1; exit 1; fi; $2" | sed "s/Never/OnFailure/" >"$at/again.yaml"
}

who=user
test_have_prereq ROOT || who=root
test_expect_success 'R3: a pod cannot move a data directory out of its cover' '
	own "$at/moved" && own "$at/moved/above" &&
	(at=$at/moved && again "mv above away; mkdir -p above/data" "find above away; cat above/data/token away/data/token; echo looked" &&
	test_expect_code 0 as $who run --isolation namespaces --data above/data again.yaml >out 2>err && has out looked "cannot move" && lacks out "^away" &&
	test -s "$at/above/data/token" && ! grep -qF "$(cat "$at/above/data/token")" out)
'

test_expect_success 'R3: nor put a link in the place of a directory that is mounted' '
	own "$at/linked" && own "$at/linked/data" &&
	(at=$at/linked && again "mv data old; ln -s \$HOME data" "echo evil >/muster-e2e-data/evil" &&
	test_expect_code 124 as $who run --isolation namespaces --timeout 5s -v data:/muster-e2e-data again.yaml >out 2>err &&
	has err "data: a symbolic link has taken the place of a directory\|data on .*: a symbolic link has taken" && test ! -e "$place/home/evil" && test ! -e "$place/roots/evil")
'

test_expect_success 'R3: --keep-files writes below its directory alone, whatever a pod calls itself or puts there' '
	own "$at/traps" && home=$place/home && { test $who = user || home=$place/roots; } && own "$home/.ssh" &&
	(at=$at/traps && pod "echo ../../../../../.. >/etc/hostname; mkdir -p kept/own\$HOME; ln -s \$HOME/.ssh kept/own\$HOME/d; mkfifo kept/own\$HOME/f;
		mkdir \$HOME/d; echo evil >\$HOME/d/keys; echo fine >\$HOME/f" | tr "\n" " " | sed "s/ kind:/\nkind:/; s/ metadata:/\nmetadata:/; s/ spec:/\nspec:/" >"$at/job.yaml" &&
	run_fine --isolation namespaces --keep-files kept job.yaml && has err "1 file cannot be copied, the first: $home/d/keys" &&
	is fine "$(cat "$at/kept/own$home/f")" && is "" "$(ls "$home/.ssh")")
'

test_expect_success 'read-only: nothing can be written' '
	pod "echo x >$place/work/no" >"$at/ro.yaml" && test_expect_code 1 as root run --isolation namespaces --workdir .:ro ro.yaml >out 2>err &&
	has out "[Rr]ead-only" && test ! -e "$at/no"
'

test_expect_success ROOT 'as root in the directory of another user one line says whose new files are' '
	mkdir "$place/theirs" && chown $ordinary:$ordinary "$place/theirs" &&
	(at=$place/theirs && as root run "$place/pwd.yaml" >out 2>err) && has err "^muster: $place/theirs belongs to .*: new files there will belong to root"
'

test_expect_success ROOT 'a directory of one of the user'\''s other groups (setgid) can be written to' '
	mkdir "$place/group" && chgrp 4711 "$place/group" && chmod 2775 "$place/group" && mkdir "$place/home/group" &&
	chown $ordinary:4711 "$place/home/group" && chmod 2775 "$place/home/group" && pod "mkdir made && echo x >made/file && ls -n made" >"$place/write.yaml" &&
	groups=$ordinary,4711 &&
	for at in "$place/group" "$place/home/group"; do
		who=user && run_fine --isolation namespaces "$place/write.yaml" &&
		is "x $ordinary:4711" "$(cat "$at/made/file") $(stat -c %u:%g "$at/made/file")" || return 1
	done && groups= at=$place/work
'

test_expect_success ROOT 'in a private home, a directory of such a group can be written to, and keeps nothing' '
	mkdir -p "$place/home/own/deep" && chown -R $ordinary:$ordinary "$place/home/own" && chgrp 4711 "$place/home/own/deep" &&
	chmod 2775 "$place/home/own/deep" && echo old >"$place/home/own/deep/old" && chown $ordinary:4711 "$place/home/own/deep/old" &&
	pod "cd $place/home/own/deep && mkdir made && echo x >made/file && echo y >file && cat old && ls -A" >"$place/write.yaml" &&
	groups=$ordinary,4711 who=user && run_fine --isolation namespaces "$place/write.yaml" && groups= &&
	is "old file made old " "$(tr "\n" " " <out)" && has err "2 files that pods changed" && is old "$(ls "$place/home/own/deep")"
'

test_expect_success 'an image with a root of its own has it at the same path' '
	mkdir -p "$place/root/bin" && cp "$(command -v busybox)" "$place/root/bin/busybox" && ln -s busybox "$place/root/bin/sh" &&
	as root image map mine --rootfs "$place/root" && pod "echo rooted >rooted; pwd" >"$at/job.yaml" &&
	is "$place/work" "$(as root run --isolation namespaces job.yaml)" && is rooted "$(cat "$at/rooted")" && as root image unmap mine
'

test_expect_success 'what cannot be is said at once: exit 2' '
	pod pwd >"$at/pwd.yaml" &&
	bad() { # WORDS OF THE MESSAGE, ARGS...
		words=$1 && shift && test_expect_code 2 as root run "$@" pwd.yaml >out 2>err && has err "$words" && test_must_be_empty out
	} &&
	bad "no-such-dir: No such file" --workdir no-such-dir && bad "not a directory" --workdir pwd.yaml &&
	bad "exclude each other" --workdir . --no-workdir && bad "must be HOST:POD" -v /srv && bad "must be absolute" -v /srv:srv &&
	bad "nowhere: No such file" -v nowhere:/srv && bad "must be NAME=VALUE" -e =x && bad "no.env" --env-file no.env &&
	printf "A=1\n=2\n" >"$at/bad.env" && bad "bad.env:2: " --env-file bad.env
'

test_expect_success 'in a running muster up: honoured for its own user, below its --host-path-roots' '
	as root up --detach --listen 127.0.0.1:0 --host-path-roots "$place/work" >up 2>&1 &&
	is "$place/work" "$(as root run pwd.yaml)" &&
	(at=$place/other && test_expect_code 2 as root run "$place/pwd.yaml") >out 2>err && has err "^muster: $place/other cannot be mounted.*--host-path-roots.*--no-workdir" &&
	test_expect_code 2 as root run -v "$place/other:/srv" pwd.yaml >out 2>err && has err "$place/other cannot be mounted.*--host-path-roots" &&
	as root down
'

node_cleanup
test_done
