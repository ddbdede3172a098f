# What pods do not see: credentials of servers and of homes; sourced by t7040.t and t7050.t, which set who.
# shellcheck shell=sh disable=SC1091,SC2154,SC2016 # set by lib.sh and node.sh; expanded by test_expect_success

. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

# A home that pods see, with what homes have of the kind.
make_place
HOME=$place/home
config=$place/home/other.kubeconfig
mkdir -p "$HOME/.ssh" "$HOME/.kube" "$HOME/.docker" "$HOME/open" && echo SECRET >"$HOME/.ssh/id" &&
	echo SECRET >"$HOME/.kube/config" && echo SECRET >"$HOME/.docker/config.json" && echo SECRET >"$HOME/.netrc" &&
	echo plain >"$HOME/open/file" && ln -s "$place/home/data/pki" "$HOME/open/link"
make_place() { chown -R "$owner" "$place/home"; } # there already
owner=0
test "$who" = root || owner=$ordinary
start_node namespaces "$who"

# Whatever is written is a find: of the data directory, of another server's, of a run's, of homes.
cat >"$place/look" <<END
#!/bin/sh
# look ROOT...: under each of them
for root; do
	for dir in "\$root$data" "\$root$place/home/other" "\$root$HOME/.local/share/muster"; do
		cat "\$dir/token" "\$dir/kubeconfig" "\$dir/muster.db" "\$dir"/pki/* "\$dir"/runs/*/token "\$dir/log"
		ls "\$dir"
	done
	cat "\$root$config" "\$root$HOME/.ssh/id" "\$root$HOME/.kube/config" "\$root$HOME/.docker/config.json" "\$root$HOME/.netrc"
	cat "\$root$HOME/open/link/ca.key"
done 2>/dev/null
END
chmod +x "$place/look"

finds_nothing() {
	becomes "$1" .status.phase Succeeded && is "looked" "$(printed "$1")"
}

test_expect_success 'the secrets are there, for who may see them' '
	test -s "$data/token" && test -s "$data/pki/ca.key" && test -s "$data/muster.db" && "$place/look" / >out && has out SECRET "PRIVATE KEY"
'

test_expect_success 'a pod sees nothing of them, by paths or by other processes' '
	pod look "$place/look / /proc/*/root /proc/*/cwd/; echo looked" && finds_nothing look
'

test_expect_success 'nor through a hostPath above them; what else is there it sees' '
	pod above "$place/look /there; cat /there$HOME/open/file; echo looked" Never "$(jq -cn --arg notes "$notes" "{
		volumes: [{name: \"notes\", hostPath: {path: \"/\"}}],
		containers: [{name: \"main\", image: \"x\", command: [\"sh\", \"-c\", \"$place/look /there; cat /there$HOME/open/file; echo looked\"],
			volumeMounts: [{name: \"notes\", mountPath: \"/there\"}]}]}" | sed "s/^{//;s/}$//")" &&
	becomes above .status.phase Succeeded && is "plain,looked" "$(printed above | paste -sd ,)"
'

# A socket in /run, as root's daemons have them, and one in the directory of a user's.
if test "$who" = root; then
	door=/run/muster-door-$$
else
	door=/run/user/muster-door-$$
	test -d /run/user || made_run_user=yes
	mkdir -p /run/user
fi
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(9)
while True:
    s.accept()[0].send(b"OPEN")' "$door" &
door_pid=$!
cat >"$place/knock" <<END
#!/usr/bin/env python3
import socket
try:
    s = socket.socket(socket.AF_UNIX)
    s.connect("$door")
    print(s.recv(4).decode())
except OSError:
    print("closed")
END
chmod +x "$place/knock"

test_expect_success 'a pod reaches no socket of a daemon in /run' '
	soon test -S "$door" && chmod 666 "$door" && is OPEN "$("$place/knock")" &&
	pod knock "$place/knock" && becomes knock .status.phase Succeeded && is closed "$(printed knock)"
'
kill "$door_pid"
rm -f "$door"
test -z "${made_run_user-}" || rmdir /run/user

test "$who" = root || test_expect_success 'nor does one that is privileged, as far as an ordinary user can give that, uncover them' '
	peel="umount $HOME/.ssh $data; mkdir /tmp/x; mount --bind $place/home /tmp/x; cat /tmp/x/.ssh/id; $place/look /; mount -t tmpfs none /mnt && echo mounts" &&
	pod peel "($peel) 2>/dev/null; until test -e $notes/peeled; do sleep 0.05; done; echo looked" Never "$(jq -cn --arg peel "$peel" "{
		containers: [{name: \"main\", image: \"x\", securityContext: {privileged: true},
			command: [\"sh\", \"-c\", \"(\\(\$peel)) 2>/dev/null; until test -e $notes/peeled; do sleep 0.05; done; echo looked\"],
			volumeMounts: [{name: \"notes\", mountPath: \"$notes\"}]}]}" | sed "s/^{//;s/}$//")" &&
	becomes peel .status.phase Running && test_might_fail kubectl exec peel -- sh -c "$peel" >out 2>err && lacks out SECRET "PRIVATE KEY" &&
	: >"$notes/peeled" && becomes peel .status.phase Succeeded && is "mounts,looked" "$(printed peel | paste -sd ,)"
'

# refused NAME PATH WORD: the pod waits, and both status and event say why.
refused() {
	pod "$1" "echo seen" Never "\"volumes\": [{\"name\": \"notes\", \"hostPath\": {\"path\": \"$2\"}}]" &&
		becomes "$1" ".status.containerStatuses[0].state.waiting.reason" HostPathRefused &&
		field "$1" ".status.containerStatuses[0].state.waiting.message" >out && has out "$2" "$3" &&
		soon sh -c "kubectl get events | grep 'FailedMount.*pod/$1 .*$2'" && kubectl delete pod "$1"
}

test_expect_success 'a hostPath that leads there is refused: by itself, a link, a path to be made, a volume' '
	refused into "$data" credentials && refused linked "$HOME/open/link" credentials &&
	refused made "$data/new/dir" credentials && refused proc /proc/1 /proc && refused home "$HOME/.ssh" --show-home-secrets &&
	test_must_fail ls "$data/new" &&
	kubectl create -f - <<-END &&
	{"apiVersion": "v1", "kind": "List", "items": [
	 {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "thief"}, "spec": {"capacity": {"storage": "1Gi"},
	  "accessModes": ["ReadWriteOnce"], "storageClassName": "", "hostPath": {"path": "$data/pki"},
	  "claimRef": {"namespace": "default", "name": "thief"}}},
	 {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "thief"}, "spec": {"volumeName": "thief",
	  "storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}
	END
	pod thief "cat $notes/*" Never "\"volumes\": [{\"name\": \"notes\", \"persistentVolumeClaim\": {\"claimName\": \"thief\"}}]" &&
	soon sh -c "kubectl get events | grep \"FailedMount.*pod/thief .*credentials\"" && kubectl delete pod thief
'

test_expect_success 'its own volumes, token and files it sees' '
	pod own "cat /var/run/secrets/kubernetes.io/serviceaccount/token | wc -l; echo end >/dev/termination-log; test -s /etc/hosts && echo hosts" &&
	becomes own .status.phase Succeeded && is "0,hosts" "$(printed own | paste -sd ,)"
'

test_expect_success 'a server that is started later, and its --kubeconfig, are hidden from a pod that runs' '
	pod early "echo up; until test -e $notes/go; do sleep 0.05; done; $place/look / /proc/*/root; echo looked" &&
	soon sh -c "grep -rqw up $data/logs/default/early" &&
	muster up --data "$place/home/other" --listen 127.0.0.1:0 --no-node --kubeconfig "$config" --detach &&
	grep -q "client-key\|token" "$config" && test -s "$place/home/other/pki/ca.key" && : >"$notes/go" &&
	becomes early .status.phase Succeeded && is "up,looked" "$(printed early | paste -sd ,)"
'

cat >look.yaml <<END
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: look}
spec:
  tfReplicaSpecs:
    Worker: {restartPolicy: Never, template: {spec: {containers: [{name: tensorflow, image: x, command: [sh, -c, "$place/look / /proc/*/root; echo looked"]}]}}}
END
test_expect_success 'nor does a job of muster run see any of it, nor what runs have' '
	cp look.yaml "$place/look.yaml" && muster run --isolation namespaces --no-workdir "$place/look.yaml" >out 2>err && has out looked &&
	lacks out SECRET "PRIVATE KEY" "apiVersion" "SQLite" "certificate-authority" && muster down --data "$place/home/other"
'

test_expect_success 'the node says so' '
	kubectl get node -o json >node.json &&
	jq_is ".items[0].status.conditions | any(.type == \"PrivateCredentials\" and .status == \"True\")" node.json
'

test_expect_success '--host-path-roots: nothing else; --show-home-secrets: they are seen' '
	stop_muster && test_expect_code 2 muster up --data "$data" --host-path-roots nowhere 2>err && has err "host-path-roots.*nowhere" &&
	again --host-path-roots "$notes" --host-path-roots "$HOME/open,/usr" --show-home-secrets && soon node_is_ready &&
	refused elsewhere "$place/home" --host-path-roots &&
	pod shown "cat $HOME/.ssh/id; cat $data/token" && becomes shown .status.phase Failed && is SECRET "$(printed shown | head -1)" &&
	kubectl get node -o json >node.json &&
	jq_is ".items[0].status.conditions | any(.type == \"PrivateCredentials\" and .reason == \"HomesShown\")" node.json
'

node_cleanup
test_done
