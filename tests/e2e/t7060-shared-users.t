#!/bin/sh
test_description='pods of other users without namespaces: nobody reads what is for one of them alone'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"
umask 0
start_node shared root

kubectl create secret generic sesame --from-literal=word=open

# guest NAME UID SCRIPT: with a Secret, and no runAsGroup
guest() {
	pod "$1" "$3" Never "$(jq -cn --arg notes "$notes" --argjson uid "$2" --arg script "$3" '{
		securityContext: {runAsUser: $uid},
		containers: [{name: "main", image: "x", command: ["sh", "-c", $script], env: [{name: "WORD", value: "HIDDEN"}],
			volumeMounts: [{name: "notes", mountPath: $notes}, {name: "word", mountPath: "/e2e-word"}, {name: "empty", mountPath: "/e2e-empty"}]}],
		volumes: [{name: "notes", hostPath: {path: $notes}}, {name: "word", secret: {secretName: "sesame"}}, {name: "empty", emptyDir: {}}]
		}' | sed "s/^{//;s/}$//;s|/e2e-\([a-z]*\)|/e2e-\1-$1-$$|g")"
}

test_expect_success 'a pod with runAsUser and no runAsGroup has its files, and a group of its own' '
	chmod 755 "$place/home" && guest first 4711 "id -u; id -g >$notes/gid; cat /e2e-word/word; echo; echo x >/e2e-empty/file;
		echo private >\$TMPDIR/file; stat -c %a \$TMPDIR; cd \$TMPDIR; while ! test -e $notes/end; do sleep 0.1; done" &&
	within 60 grep -qrs 1777 "$data/logs/default/first" &&
	is "4711,open,1777" "$(printed first | paste -sd ,)" && test "$(cat "$notes/gid")" -gt 65535
'

# Everything below the data directory, as root knows it, and what the pod runs.
listed() {
	find "$data" -type f ! -path "*/.common/*" ! -path "*/names/*" >"$notes/files" &&
		pgrep -u 4711 | sed "s|.*|/proc/&/environ\n/proc/&/cwd/file|" >>"$notes/files" && chmod 644 "$notes/files" &&
		has "$notes/files" "$data/token" "/word$" "account/token" "tmp/main/file" /environ
}
look="while read -r file; do case \$file in */\$MUSTER_POD/*) ;; *) cat \$file && echo SEEN \$file;; esac; done <$notes/files 2>/dev/null; echo looked"

test_expect_success 'another user, and another pod of the same user, read nothing of it' '
	listed && guest other 4712 "$look" && becomes other .status.phase Succeeded && printed other >out && lacks out SEEN && has out looked &&
	guest same 4711 "$look" && becomes same .status.phase Succeeded && printed same >out && lacks out SEEN && has out looked
'

test_expect_success 'nor does a stranger without any group, nor can they change what is there' '
	setpriv --reuid=4713 --regid=0 --clear-groups sh -c "MUSTER_POD=none; $look" >out && lacks out SEEN &&
	find "$data" ! -type l -perm /002 ! -perm -1000 ! -path "*/volumes/*" ! -name "term.*" >out && is "" "$(cat out)" &&
	touch "$notes/end" && becomes first .status.phase Succeeded
'

test_expect_success 'the node and the log say what this level does not keep' '
	kubectl get node -o json >node.json && has muster.log "can read this server.s credentials" &&
	jq_is ".items[0].status.conditions | any(.type == \"PrivateCredentials\" and .status == \"False\" and (.message | test(\"runAsUser\")))" node.json
'

node_cleanup
test_done
