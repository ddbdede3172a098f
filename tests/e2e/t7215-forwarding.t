#!/bin/sh
test_description='settings of the machine that servers changed are put back by the last one'
. "$(dirname "$0")/lib.sh"

if ! test_have_prereq ROOT || ! command -v nft >/dev/null || ! unshare -n -m mount -t sysfs none /sys 2>/dev/null; then
	skip_all='needs root, nft and network namespaces'
	test_done
fi

# In network namespaces of their own, which forward nothing yet. The note of one says nothing of the other.
cat >settings <<'END'
ip link set lo up && mount -t sysfs none /sys && echo 0 >/proc/sys/net/ipv4/ip_forward || exit 1
say() { echo "$1: $(cat /proc/sys/net/ipv4/ip_forward)"; }
up() { muster up --data "$PWD/$1" --listen 127.0.0.1:0 --isolation namespaces --detach; }
END
cat >elsewhere <<'END'
. ./settings
up third && say third && muster down --data "$PWD/third" && say nobody
END
cat >servers <<'END'
. ./settings
up first && up second && say both
unshare -n -m sh elsewhere
muster down --data "$PWD/first" && say second
muster down --data "$PWD/second" && say none
END

test_expect_success 'net.ipv4.ip_forward' '
	unshare -n -m sh servers >out 2>err </dev/null && grep -v ready out >got &&
	printf "%s\n" "both: 1" "third: 1" "nobody: 0" "second: 1" "none: 0" >want && test_cmp want got
'

test_done
