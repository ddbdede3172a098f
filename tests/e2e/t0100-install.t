#!/bin/sh
test_description='packages that are needed, make install, man pages, the Debian package, the preload library'
. "$(dirname "$0")/lib.sh"

# `make` is a function of lib.sh.
target() {
	command make -s -C "$top" --no-print-directory BUILD="$SHARNESS_BUILD_DIRECTORY" "$@"
}

# ---- tools/install-deps. A system of its own: nothing is installed but what $have names.
have=
mkdir -p fake
fake() { # NAME BODY
	printf '#!/bin/sh\n%s\n' "$2" >"fake/$1" && chmod +x "fake/$1"
}
fake dpkg-query 'for package in $HAVE; do echo "$package installed"; done'
fake apt-get 'echo "apt-get $*" >>"$CALLS"; case $* in *"$REFUSE"*) exit 100 ;; esac'
fake apt-cache 'case " $UNKNOWN " in *" $2 "*) exit 100 ;; esac'
fake id 'echo "${FAKE_UID:-0}"'
for tool in sh awk tr sed cat env; do
	ln -sf "$(command -v $tool)" fake/$tool
done
deps() {
	: >calls
	PATH=$PWD/fake HAVE=$have CALLS=$PWD/calls REFUSE=${refuse:-none} UNKNOWN=$unknown FAKE_UID=$uid \
		/bin/sh "$top/tools/install-deps" "$@"
}
# What building needs, as it is asked for where nothing is installed.
build=$(deps --build >/dev/null; sed -n 's/.*--no-install-recommends //p' calls)

test_expect_success 'install-deps --help helps and installs nothing, anywhere on the line' '
	deps --help >out && has out "^Usage: tools/install-deps" "  --run " && test_must_be_empty calls &&
	deps --build --help >out && has out "^Usage: " && test_must_be_empty calls
'

test_expect_success 'install-deps: an unknown option is a mistake, and installs nothing' '
	test_expect_code 2 deps --biuld 2>err && has err "unknown option .--biuld." "^Usage: " && test_must_be_empty calls &&
	test_expect_code 2 deps everything 2>err && test_must_be_empty calls
'

test_expect_success 'install-deps --build --run, as make demo calls it: with what networking needs' '
	grep -q "install-deps --build --run" "$top/Makefile" && echo "$build" >asked && has asked "build-essential .*libssl-dev" &&
	deps --build --run >out && has calls "install .* build-essential .* nftables passt$" &&
	have=$build && deps --build --run >out && has calls "install .*--no-install-recommends nftables passt$" &&
	have="$build nftables passt" && deps --build --run >out && test_must_be_empty calls
'

test_expect_success 'install-deps: a release without passt gets slirp4netns, once' '
	have=$build unknown=passt && deps --build --run && has calls "install .* nftables slirp4netns$" &&
	have="$build nftables slirp4netns" && deps --build --run && test_must_be_empty calls
'
unknown=

test_expect_success 'install-deps: what only networking needs is no reason to stop' '
	have=$build && refuse=nftables deps --build --run 2>err && has err "pods may not reach other machines without nftables passt" &&
	uid=1000 deps --build --run 2>err && has err "needs root or sudo to install: nftables passt" "going on" &&
	have= && refuse=build-essential && test_expect_code 1 deps --build --run 2>err && uid=1000 &&
	test_expect_code 1 deps --build --run 2>err && has err "needs root or sudo"
'
uid=
refuse=

test_expect_success 'make demo says that it installs and builds before it does' '
	target -n demo >plan && grep "install-deps\|ninja -C\|^echo" plan >steps &&
	sed "s/^echo .make demo: \([a-z]*\) .*/\1/; s/.*install-deps.*/install-deps/; s/.*ninja -C.*/ninja/" steps >order &&
	printf "%s\n" checking install-deps building ninja >want && test_cmp want order
'

# ---- make install
test_expect_success 'make install, into a DESTDIR' '
	(umask 077 && target install DESTDIR="$PWD/dest" PREFIX=/opt/m >/dev/null) && root=$PWD/dest/opt/m &&
	is "$(muster version)" "$("$root/bin/muster" version)" && "$root/bin/muster" --help >/dev/null &&
	for file in share/man/man1/muster.1 share/man/man1/muster-run.1 share/bash-completion/completions/muster \
		share/zsh/site-functions/_muster share/fish/vendor_completions.d/muster.fish share/doc/muster/LICENSE \
		share/doc/muster/README.md share/doc/muster/docs/install.md share/doc/muster/examples/tfjob-simple.yaml; do
		test -s "$root/$file" || { echo "no $file" >&2; return 1; }
	done
'

test_expect_success 'modes are right whatever the umask is, and the program is stripped' '
	find dest -type f -perm 0755 >programs && is dest/opt/m/bin/muster "$(cat programs)" &&
	find dest -type f ! -perm 0755 ! -perm 0644 >odd && test_must_be_empty odd &&
	find dest/opt -type d ! -perm 0755 >odd && test_must_be_empty odd &&
	readelf -S "$root/bin/muster" >sections && ! grep -q "debug_info\|symtab" sections
'

test_expect_success ROOT 'make install works for an ordinary user' '
	away=$(mktemp -d) && chmod 0777 "$away" && cp -p "$root/bin/muster" "$away/muster" &&
	mkdir "$away/top" && cp -r "$top/tools" "$top/docs" "$top/examples" "$top/LICENSE" "$top/README.md" \
		"$top/CONTRIBUTING.md" "$away/top/" && chmod -R a+rX "$away" &&
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nowhere TMPDIR="$away" STRIP="$(command -v strip)" \
		"$away/top/tools/install-files" "$away/muster" "$away/dest" &&
	(cd "$away/dest" && find . -type f | sort) >got && (cd "$root" && find . -type f | sort) >want &&
	test_cmp want got; code=$?; rm -rf "$away"; return $code
'

test_expect_success 'completions are for the shells they are installed for' '
	bash -n "$root/share/bash-completion/completions/muster" &&
	head -n 1 "$root/share/zsh/site-functions/_muster" | grep -q "^#compdef muster" &&
	has "$root/share/fish/vendor_completions.d/muster.fish" "^complete -c muster"
'

test_expect_success 'make uninstall removes it all, and nothing else' '
	cp -r dest dest2 && echo other >dest2/opt/m/share/man/man1/muster-other.1 &&
	target uninstall DESTDIR="$PWD/dest2" PREFIX=/opt/m &&
	find dest2 -type f >left && is dest2/opt/m/share/man/man1/muster-other.1 "$(cat left)"
'

# ---- man pages
# What a page says, as text: escapes undone.
page() {
	sed 's/\\-/-/g; s/\\(aq/'\''/g; s/\\(ga/`/g; s/\\f[BR]//g; s/\\&//g; s/\\e/\\/g' "$root/share/man/man1/$1.1"
}
# The words of a text, one a line, without markup and headings.
words() {
	grep -v '^\.' | tr -s ' ' '\n' | grep .
}

test_expect_success 'every command has a man page, and every page a command' '
	completions=$(muster completion bash | sed -n "s/^ *words=.\(.*\) version help.$/\1/p" | head -n 1) &&
	test -n "$completions" &&
	for command in $completions; do echo "muster-$command.1"; done | sort -u >want &&
	(cd "$root/share/man/man1" && ls muster-*.1) >got && test_cmp want got &&
	page muster | sed -n "s/^\.BR \(.*\) (1),*$/\1.1/p" | sort >refs && test_cmp want refs
'

test_expect_success 'a man page has every option and every word of --help' '
	for name in $(cd "$root/share/man/man1" && ls muster-*.1 | sed "s/^muster-//; s/\.1$//"); do
		muster $name --help >help && page muster-$name >page &&
		grep -o -- "--[a-z][a-z-]*" help | sort -u >options &&
		while read -r option; do grep -qF -- "$option" page || { echo "$name: no $option" >&2; return 1; }; done <options &&
		grep -vE "^[A-Z][a-z]+:$" help | sed "1s/^Usage: *//" | words | sort >want &&
		sed "1,/^.SH SYNOPSIS/d; /^.SH SEE ALSO/,\$d" page | words | sort >got &&
		diff want got >&2 || { echo "muster-$name.1 says something else" >&2; return 1; }
	done
'

test_expect_success 'man finds no fault with them' '
	for page in "$root"/share/man/man1/*.1; do
		if command -v mandoc >/dev/null; then mandoc -Tlint -Wwarning "$page" || return 1; fi
		if command -v man >/dev/null && command -v groff >/dev/null; then
			LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" >/dev/null 2>warned && test_must_be_empty warned || return 1
		fi
	done
'

# ---- the Debian package
command -v dpkg-shlibdeps >/dev/null && test_set_prereq DPKG
export SOURCE_DATE_EPOCH=1700000000 DEB_LEVEL=1

test_expect_success DPKG 'make deb' '
	deb=$("$top/tools/make-deb" "$(command -v muster)" deb1) && test -s "$deb" &&
	dpkg-deb -I "$deb" >info &&
	has info "Package: muster$" "Version: $(muster version | cut -d" " -f2)$" "Architecture: $(dpkg --print-architecture)$" \
		"Recommends: nftables, passt" &&
	for lib in libc6 libssl libuv1 libsqlite3 libnghttp2 libcurl libarchive; do has info "Depends:.* $lib" || return 1; done
'

test_expect_success DPKG 'its files are of root, where Debian has them' '
	dpkg-deb -c "$deb" >files && ! grep -v " root/root " files &&
	has files "^-rwxr-xr-x .* ./usr/bin/muster$" "^-rw-r--r-- .* ./usr/share/man/man1/muster-run.1.gz$" \
		"./usr/share/zsh/vendor-completions/_muster$" "./usr/share/doc/muster/copyright$" "./usr/share/doc/muster/changelog.gz$" &&
	! grep -v " 2023-11-14 22:13 " files
'

test_expect_success DPKG 'what is in it runs, and its sums are right' '
	dpkg-deb -R "$deb" unpacked && is "$(muster version)" "$(unpacked/usr/bin/muster version)" &&
	unpacked/usr/bin/muster --help >out && (cd unpacked && md5sum --quiet -c DEBIAN/md5sums)
'

test_expect_success DPKG 'the same program gives the same package' '
	again=$("$top/tools/make-deb" "$(command -v muster)" deb2) && cmp "$deb" "$again"
'

command -v lintian >/dev/null && test_set_prereq LINTIAN
test_expect_success DPKG,LINTIAN 'lintian finds no errors' '
	lintian --allow-root --fail-on error "$deb" >&2
'

# ---- the preload library goes into programs with other C libraries
test_expect_success 'the preload library needs no symbol above GLIBC_2.17, and nothing of one loader' '
	lib=$SHARNESS_BUILD_DIRECTORY/src/preload/libmuster_names.so && objdump -T "$lib" >symbols && objdump -p "$lib" >headers &&
	has symbols "GLIBC_2" &&
	{ grep -o "GLIBC_[0-9.]*" symbols; echo GLIBC_2.17; } | sort -uV | tail -n 1 >newest && is GLIBC_2.17 "$(cat newest)" &&
	sed -n "s/^ *NEEDED *//p" headers | sort >needed && printf "%s\n" libc.so.6 libdl.so.2 >want && test_cmp want needed
'

test_done
