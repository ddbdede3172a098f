#!/bin/sh
test_description='a copy of muster that brings its own loader and libraries works as a whole'
. "$(dirname "$0")/lib.sh"
. "$e2e/jobs.sh"

# Pods have a /tmp of their own, where they must find it all the same.
bundle=$(mktemp -d)
trap 'code=$?; rm -rf "$bundle"; end_all; (exit $code); die' EXIT

# Sanitizers look for their program in /proc/self/exe.
if test_have_prereq SANITIZED; then
	skip_all='built with a sanitizer'
	test_done
fi

test_expect_success 'setup: install it, and call it by a link' '
	muster exec --install "$bundle" && ln -s "$bundle/muster" bin/bundled &&
	job good 2 "echo hello from \$HOSTNAME" >good.yaml &&
	job calls 1 "$bundle/muster version" >calls.yaml &&
	is "$(muster version)" "$(bundled version)" &&
	is "$(muster version)" "$(cd "$bundle" && ./muster version)" &&
	is "$(muster version)" "$(cd "$bundle" && sh muster version)"
'

for level in namespaces shared; do

test_expect_success "$level: it runs jobs" '
	bundled run --isolation $level good.yaml >out 2>err &&
	sort out >sorted && printf "[worker-%d] hello from good-worker-%d\n" 0 0 1 1 >want && test_cmp want sorted
'

test_expect_success "$level: pods can run it" '
	bundled run --isolation $level calls.yaml >out 2>err && is "$(muster version)" "$(cat out)"
'

done

test_expect_success 'it runs a job once more' '
	run=$(ls -t "$XDG_DATA_HOME/muster/runs" | head -n 1) && bundled rerun "$run" >out 2>err && is "$(muster version)" "$(cat out)"
'

test_expect_success 'libraries that are loaded only when they are needed come too: with it, or with the tarball' '
	grep -rhoE "\"lib[a-z0-9_+-]*\.so\.[0-9]+\"" "$top/src" | tr -d "\"" | sort -u >loaded && has loaded "libcurl.so.4" &&
	while read -r name; do
		test -e "$bundle/lib/$name" || grep -q "^lazy=.*$name" "$top/tools/make-tarball" ||
			{ echo "no $name" >&2; return 1; }
	done <loaded
'

test_expect_success 'it can be installed from there, with its own loader' '
	bundled exec --install again && diff -r "$bundle" again
'

says_launcher() {
	kubectl get configmaps -o yaml >config && grep -q "muster=.*$bundle/muster" config
}
test_expect_success 'a server that goes to the background, and what operates MPIJobs knows the launcher' '
	bundled up --data "$data" --listen 127.0.0.1:0 --detach >ready && KUBECONFIG=$data/kubeconfig && export KUBECONFIG &&
	is muster "$(ps -o comm= -p "$(pgrep -f "lib/muster up --data $data")")" && kubectl apply -f "$top/examples/mpijob-simple.yaml" >applied &&
	soon says_launcher && bundled down --data "$data"
'

test_done
