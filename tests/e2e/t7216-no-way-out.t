#!/bin/sh
test_description='muster run says it when pods cannot reach outside networks'
. "$(dirname "$0")/lib.sh"

if ! test_have_prereq ROOT || ! unshare -m true 2>/dev/null; then
	skip_all='needs root and mount namespaces'
	test_done
fi
XDG_DATA_HOME=$(mktemp -d) TERM=dumb
export XDG_DATA_HOME TERM

# A machine without nft, in a mount namespace of its own.
without_nft() {
	unshare -m sh -c 'for dir in /usr/sbin /usr/bin /usr/local/sbin /usr/local/bin; do
		test ! -e "$dir/nft" || mount --bind /dev/null "$dir/nft" || exit 9
	done; "$@"' sh "$@"
}

test_expect_success 'a name that cannot be resolved: one line says why' '
	test_expect_code 1 without_nft muster run --isolation namespaces -- sh -c "echo curl: Could not resolve host: example.org; exit 1" >out 2>err &&
	has err "^muster: pods cannot reach outside networks: .*; --isolation shared uses this machine.s network"
'

test_expect_success 'without such a complaint, or with a way out, there is no such line' '
	test_expect_code 1 without_nft muster run --isolation namespaces -- sh -c "exit 1" 2>err && lacks err "outside networks" &&
	test_expect_code 1 muster run --isolation shared -- sh -c "echo Name or service not known; exit 1" >out 2>err && lacks err "outside networks"
'

rm -rf "$XDG_DATA_HOME"
test_done
