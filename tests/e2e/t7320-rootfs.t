#!/bin/sh
test_description='images with a root of their own: their programs, their PATH, and an MPIJob in one'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

if ! command -v busybox >/dev/null; then
	skip_all='no busybox'
	test_done
fi
XDG_DATA_HOME=$(mktemp -d) TERM=dumb root=$(mktemp -d /var/tmp/muster-root.XXXXXX)
export XDG_DATA_HOME TERM

# A root with nothing of this machine in it, the C library included.
mkdir -p "$root/bin" "$root/etc" "$root/proc" "$root/dev" "$root/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
for tool in sh echo hostname sleep cat ls; do ln -s busybox "$root/bin/$tool"; done

cat >hello.yaml <<'END'
apiVersion: kubeflow.org/v1
kind: MPIJob
metadata: {name: rooted}
spec:
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, image: rooted, command: [sh, -c, 'ls -d /usr/lib* 2>/dev/null; $OMPI_MCA_plm_rsh_agent rooted-worker-1 echo here is "\$(hostname)"']}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: mpi, image: rooted}]}}}
END

test_expect_success 'its remote shell is muster, with the libraries it brings along' '
	muster image map rooted --rootfs "$root" && { muster run --isolation namespaces --timeout 3m hello.yaml >out 2>err || { cat out err >&2; false; }; } &&
	has out "here is rooted-worker-1$" && ! grep -q "/usr/lib" out
'

# links: a program behind absolute links, which lead elsewhere on this machine, or nowhere.
mkdir -p "$root/opt/real" && ln -s /bin/busybox "$root/opt/real/env" && ln -s /opt/real "$root/opt/tools"
ln -s /opt/tools/env "$root/bin/env"
cat >links.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: links}
spec:
  restartPolicy: Never
  containers: [{name: main, image: rooted, command: [env]}]
END

test_expect_success 'absolute links in it are resolved inside; nothing of this machine is in the environment' '
	{ PATH="$PATH:/only/this/machine" LANG=xx_XX muster run --isolation namespaces --timeout 3m links.yaml >out 2>err ||
		{ cat out err >&2; false; }; } &&
	has out "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin$" &&
	! grep -q "/only/this/machine\|LANG=\|XDG_DATA_HOME=\|HOME=/" out
'

rm -rf "$root"
test_done
