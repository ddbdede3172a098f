#!/bin/sh
test_description='the Python client of Debian with pods that really run: watches, logs, exec, the dynamic client'
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import kubernetes' 2>/dev/null || {
	skip_all='python3-kubernetes is not installed'
	test_done
}
no_node=

test_expect_success 'start, and let the client run' '
	start_api --resources cpu=64,memory=64Gi &&
	timeout 900 /usr/bin/python3 "$e2e/pods_client.py" "$KUBECONFIG" "$ns" >results 2>trace && test -s results
'

passed() {
	grep -qx "ok $1" results || { cat trace >&2; return 1; }
}

sed -n 's/.*def \([a-z][a-z0-9_]*\)(self):/\1/p' "$e2e/pods_client.py" >claims
while read -r claim; do
	test_expect_success "$(echo "$claim" | tr _ ' ')" 'passed "$claim"'
done <claims

test_done
