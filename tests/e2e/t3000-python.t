#!/bin/sh
test_description='the Python client of Debian: CRUD, lists, watches, patches, custom objects'
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import kubernetes' 2>/dev/null || {
	skip_all='python3-kubernetes is not installed'
	test_done
}

test_expect_success 'start, and let the client run' '
	start_api && kubectl delete crd crontabs.example.com --ignore-not-found &&
	timeout 600 /usr/bin/python3 "$e2e/client.py" "$KUBECONFIG" "$ns" "$top/examples/crontab-crd.yaml" >results 2>trace && test -s results
'

passed() {
	grep -qx "ok $1" results || { cat trace >&2; return 1; }
}

sed -n 's/.*def \([a-z][a-z0-9_]*\)(self):/\1/p' "$e2e/client.py" >claims
while read -r claim; do
	test_expect_success "$(echo "$claim" | tr _ ' ')" 'passed "$claim"'
done <claims

test_done
