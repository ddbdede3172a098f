#!/bin/sh
test_description='GPUs belong to one pod of the machine at a time, whatever server or run it is of'
# Under a /dev of its own, with files instead of GPUs; as who is not root, in a user namespace.
if [ -z "${OWN_DEV:-}" ]; then
	OWN_DEV=1
	export OWN_DEV
	as=
	[ "$(id -u)" = 0 ] || as=--map-root-user
	# shellcheck disable=SC2086
	if unshare --mount $as true 2>/dev/null; then
		exec unshare --mount $as "$0" "$@"
	fi
	OWN_DEV=none
fi
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"
if [ "$OWN_DEV" = none ]; then
	skip_all='no mount namespaces here'
	test_done
fi

TERM=dumb
export TERM

# Two GPUs.
make_dev() {
	mkdir dev && mount -t tmpfs none dev && mkdir dev/shm &&
	for name in null zero full random urandom tty; do
		touch "dev/$name" && mount --bind "/dev/$name" "dev/$name" || return 1
	done &&
	ln -s /proc/self/fd dev/fd && touch dev/nvidia0 dev/nvidia1 && mount --rbind "$PWD/dev" /dev &&
	umount --recursive --lazy "$PWD/dev" && rmdir dev
}

# pod NAME GPUS: says NAME.began with its GPUs, and runs until there is NAME.go
pod() {
	cat <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: $1}
	spec:
	  restartPolicy: Never
	  terminationGracePeriodSeconds: 0
	  containers:
	  - name: main
	    image: x
	    command: [sh, -c, 'cd "$PWD" && echo "\$NVIDIA_VISIBLE_DEVICES" >$1.new && mv $1.new $1.began; until [ -e $1.go ]; do sleep 0.05; done']
	    resources: {limits: {nvidia.com/gpu: $2}}
	END
}

# begin NAME GPUS: `muster run` of such a pod, in the background
begin() {
	pod "$1" "$2" >"$1.yaml" || return 1
	muster run --isolation shared "$1.yaml" >"$1.out" 2>&1 &
	pid=$!
	background="$background $pid"
}

waits() {
	soon grep -q "held by another run or server on this machine: GPU .* is in use by process [0-9]*" "$1.out" &&
	test ! -e "$1.began"
}

# told POD: why the server has not scheduled it
told() {
	kubectl get pod "$1" -o jsonpath="{.status.conditions[?(@.reason==\"Unschedulable\")].message}" >told &&
		has told "Insufficient nvidia.com/gpu.* GPU 0 is in use by process [0-9]*, GPU 1 is in use by process [0-9]* of another run or server on this machine[.]"
}

# keeper NAME: the process that holds the GPU that pod NAME waits for
keeper() {
	sed -n "s/.*GPU 0 is in use by process \([0-9]*\).*/\1/p" "$1.out" | head -n 1
}

test_expect_success 'two runs get different GPUs' '
	make_dev && begin a 1 && soon test -e a.began && begin b 1 && soon test -e b.began &&
	is "0 1" "$(echo $(cat a.began b.began))"
'

test_expect_success 'a third waits, says why, and starts when one of them comes free' '
	begin c 1 && waits c && touch b.go && soon test -e c.began && is 1 "$(cat c.began)"
'

test_expect_success 'who asks for both waits for both' '
	begin d 2 && waits d && touch a.go && soon grep -q "GPU 1 is in use" d.out && test ! -e d.began &&
	touch c.go && soon test -e d.began && is 0,1 "$(cat d.began)"
'

test_expect_success 'kill -9 of a run gives them back' '
	killed=$pid && begin e 1 && waits e && kill -9 "$killed" && soon test -e e.began
'

test_expect_success 'so does that of the process that holds them' '
	begin f 2 && waits f && kill -9 "$(keeper f)" && soon test -e f.began
'

test_expect_success 'a server knows of them, too: the pod is not scheduled, and the node says less' '
	no_node= && start_muster --isolation shared && pod g 1 | kubectl apply -f - &&
	soon told g &&
	is "0 True" "$(kubectl get node -o jsonpath="{.items[0].status.allocatable.nvidia\.com/gpu} {.items[0].status.conditions[?(@.type==\"muster.dev/GPUsElsewhere\")].status}")" &&
	touch f.go && soon test -e g.began && touch g.go
'

test_done
