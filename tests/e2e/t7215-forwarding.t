#!/bin/sh
test_description='settings of the machine that servers changed are put back by the last one'
. "$(dirname "$0")/lib.sh"

if ! test_have_prereq ROOT || ! unshare -n -m mount -t sysfs none /sys 2>/dev/null; then
	skip_all='needs root and network namespaces'
	test_done
fi

cat >servers <<'END'
ip link set lo up && mount -t sysfs none /sys && echo 0 >/proc/sys/net/ipv4/ip_forward || exit 1
say() { echo "$1: $(cat /proc/sys/net/ipv4/ip_forward)"; }
for one in first second; do
	muster up --data "$PWD/$one" --listen 127.0.0.1:0 --isolation namespaces --detach || exit 1
done
grep -q "ip_forward was 0" first/log || exit 3
say both
muster down --data "$PWD/first" && say second
muster down --data "$PWD/second" && say none
END

test_expect_success 'net.ipv4.ip_forward' '
	{ unshare -n -m sh servers >out 2>err; code=$?; } && cat err && { test $code = 3 || {
		is 0 $code && grep -v ready out >got && printf "%s\n" "both: 1" "second: 1" "none: 0" >want && test_cmp want got; }; }
'

test_done
