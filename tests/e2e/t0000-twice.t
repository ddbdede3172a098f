#!/bin/sh
# The tests' own machinery: who failed gets a second try, and nothing is counted twice.
test_description='tests/twice and .ci/run'
. "$(dirname "$0")/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL PERL_TEST_HARNESS_DUMP_TAP TESTS_TWICE

# Four tests: one passes, one fails at first, one is killed at first, one always fails.
tests_in() {
	mkdir -p "$1" && (
		cd "$1" || exit 1
		printf '%s\n' 'echo "ok 1 - fine"; echo 1..1' >good.t
		printf '%s\n' 'echo "ok 1 - a"; test -e seen && echo "ok 2 - b" || echo "not ok 2 - b"; >seen; echo 1..2' >flaky.t
		printf '%s\n' 'echo 1..2; echo "ok 1 - a"; test -e died || { >died; kill -KILL $$; }; echo "ok 2 - b"' >dies.t
		printf '%s\n' 'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1' >broken.t
	)
}

# tried DIR FILE...: in that directory, what they said kept in its tap/.
tried() {
	(cd "$1" && shift && PERL_TEST_HARNESS_DUMP_TAP=$PWD/tap TESTS_TWICE=1 \
		"$top/tests/twice" prove -j2 --failures --exec sh -- "$@")
}

test_expect_success 'what passes at the second try is flaky, told at the end, and no failure' '
	tests_in a && tried a good.t flaky.t dies.t >out && tail -n 2 out | sort >got &&
	printf "FLAKY: dies.t\nFLAKY: flaky.t\n" | test_cmp - got
'

test_expect_success 'what is kept of a test is its last try' '
	cat a/tap/*.t | grep -v "^1\.\." | sort >got &&
	printf "%s\n" "ok 1 - a" "ok 1 - a" "ok 1 - fine" "ok 2 - b" "ok 2 - b" | test_cmp - got
'

test_expect_success 'what fails twice fails' '
	tests_in b && test_must_fail tried b good.t flaky.t broken.t >out && tail -n 2 out | sort >got &&
	printf "FAILED TWICE: broken.t\nFLAKY: flaky.t\n" | test_cmp - got &&
	test_must_fail tried b broken.t :: an argument >out && is "FAILED TWICE: broken.t" "$(tail -n 1 out)" &&
	test_must_fail tried b none.t >out 2>&1
'

test_expect_success 'what hangs fails, and what it started ends with it' '
	mkdir e && printf "%s\n" "echo 1..1; sleep 1234 & echo \$! >pid; wait" >e/hangs.t && tests_in e &&
	(export TEST_SECONDS=1 && test_must_fail tried e good.t hangs.t >out) && is "FAILED TWICE: hangs.t" "$(tail -n 1 out)" &&
	! grep -qs "^State:[[:space:]]*[^ZX[:space:]]" "/proc/$(cat e/pid)/status" # ended, whoever reaps it
'

test_expect_success 'nobody asked: one try' '
	tests_in c && (cd c && test_must_fail "$top/tests/twice" prove -j2 --exec sh -- flaky.t >../out) && lacks out FLAKY &&
	(cd c && "$top/tests/twice" prove --exec sh -- flaky.t)
'

test_expect_success 'meson, too' '
	tests_in d && cat >d/meson.build <<-\EOF &&
	project('\''x'\'')
	foreach n : ['\''good'\'', '\''flaky'\'', '\''dies'\'', '\''broken'\'']
	  test('\''room/test_'\'' + n, find_program('\''sh'\''), args: files(n + '\''.t'\''), protocol: '\''tap'\'', suite: '\''unit'\'',
	    workdir: meson.current_source_dir())
	endforeach
	EOF
	meson setup d/build d >/dev/null &&
	test_must_fail env TESTS_TWICE=1 "$top/tests/twice" meson test -C d/build >out 2>&1 && tail -n 3 out | sort >got &&
	printf "%s\n" "FAILED TWICE: room/test_broken" "FLAKY: room/test_dies" "FLAKY: room/test_flaky" | test_cmp - got &&
	jq -r .stdout d/build/meson-logs/testlog.json | grep ok | sort >got &&
	printf "%s\n" "not ok 2 - b" "ok 1 - a" "ok 1 - a" "ok 1 - a" "ok 1 - fine" "ok 2 - b" "ok 2 - b" | test_cmp - got &&
	TESTS_TWICE=1 "$top/tests/twice" meson test -C d/build room/test_good >out 2>&1
'

# A checkout whose every step but one does nothing: checkout DIR TESTS...
checkout() {
	tests_in "$1" && mkdir -p "$1/.ci" "$1/tools" && cp "$top/.ci/run" "$1/.ci/run" && ln -sf "$(command -v true)" "$1/tools/tidy" &&
	cat >"$1/Makefile" <<-EOF
	test: ; @TESTS_TWICE=1 "$top/tests/twice" prove --failures --exec sh -- $2
	bench-quick: ; @test -e tried || { touch tried; exit 1; }
	%: ; @true
	EOF
}

test_expect_success '.ci/run names what was flaky, and counts each check once' '
	checkout e "good.t flaky.t dies.t" && e/.ci/run >out 2>&1 && steps=$(grep -c "^step " e/.ci/run) &&
	is "$((5 + steps)) passed, 0 failed" "$(tail -n 1 out)" && grep -A 2 "^== test: ok" e/build-ci/steps >got &&
	has got "FLAKY: flaky.t" "FLAKY: dies.t" && has out "^== bench: ok at the second try (FLAKY)"
'

test_expect_success '.ci/run fails with what failed twice, and does not run all of it again' '
	checkout f "good.t flaky.t broken.t" && test_must_fail f/.ci/run >out 2>&1 &&
	is "$((4 + steps - 1)) passed, 2 failed" "$(tail -n 1 out)" && has f/build-ci/steps "^== test: FAILED" "^FAILED TWICE: broken.t" &&
	lacks out "test: failed, once more"
'

test_done
