#!/bin/sh
test_description='an MPIJob whose image has a root of its own: its launcher reaches its workers'
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

rm -rf "$root"
test_done
