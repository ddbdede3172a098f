#!/bin/sh
test_description='training in an imported image: Debian python3 and numpy, two replicas, as root and as a user'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

if ! command -v umoci >/dev/null || ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	skip_all="no umoci or no numpy"
	test_done
fi
TERM=dumb
export TERM
make_place || exit 1
job=$place/home/job
XDG_DATA_HOME=$place/home/share
export XDG_DATA_HOME

# Linear regression: the replicas average their gradients over a socket of the master.
cat >train.py <<'END'
import json, os, socket, sys, time
import numpy

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def connect():
    """One line of JSON a message: the master has a stream of each worker, a worker one of the master."""
    if rank == 0:
        server = socket.create_server(("", master[1]))
        return [server.accept()[0].makefile("rw") for _ in range(world - 1)]
    while True:
        try:
            return [socket.create_connection(master).makefile("rw")]
        except OSError:
            time.sleep(0.1)


def send(stream, array):
    print(json.dumps(array.tolist()), file=stream, flush=True)


def receive(stream):
    return numpy.array(json.loads(stream.readline()))


def average(array):
    if rank > 0:
        send(peers[0], array)
        return receive(peers[0])
    mean = (array + sum(receive(p) for p in peers)) / world
    for p in peers:
        send(p, mean)
    return mean


peers = connect()
random = numpy.random.default_rng(rank)
x = numpy.hstack([random.uniform(-1, 1, (500, 2)), numpy.ones((500, 1))])
y = x @ [3, -2, 0.5] + random.normal(0, 0.01, 500)
weights = numpy.zeros(3)
for step in range(201):
    error = x @ weights - y
    loss, *gradient = average(numpy.array([error @ error, *(x.T @ error)]) / len(y))
    weights -= 0.5 * numpy.array(gradient)
    if step % 100 == 0:
        print(f"rank {rank} of {world} step {step}: loss {loss:.4f}", flush=True)
if rank == 0:
    numpy.save("model.npy", weights)
print("python of", open("/etc/made-by").read().strip(), "in", os.getcwd())
END

# The files of the modules that train.py imports, and of the programs that start it and wait for the master.
cat >files.py <<'END'
import sys, sysconfig
import json, os, socket, time, numpy, numpy.random, encodings.idna
print(sys.executable, "/usr/bin/sh", "/usr/bin/sleep", "/usr/bin/getent", sep="\n")
for module in list(sys.modules.values()):
    if getattr(module, "__file__", None):
        print(module.__file__)
for line in open("/proc/self/maps"):
    if line.rstrip().endswith(".so"):
        print(line.split()[-1])
END

make_image() {
	mkdir -p root/usr/lib root/usr/lib64 root/usr/bin root/srv root/etc && ln -s usr/lib usr/lib64 usr/bin root/ &&
		/usr/bin/python3 files.py | grep "^/usr/" | sort -u >files && grep "\.so$\|bin/" files | xargs ldd |
		sed -n 's/.* => \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u >libraries &&
		xargs cp -L --parents -t root <files && xargs cp -L --parents -t root <libraries &&
		cp train.py root/srv/ && echo umoci >root/etc/made-by &&
		umoci init --layout layout && umoci new --image layout:v1 && umoci insert --image layout:v1 root / &&
		umoci config --image layout:v1 --config.entrypoint /usr/bin/python3 --config.entrypoint /srv/train.py &&
		tar -cf "$place/trainer.tar" -C layout . && rm -rf layout root
}

test_expect_success 'setup: an archive of an image with what training needs' '
	make_image
'

# A job as for a cluster: it names the image and no command.
cat >"$place/job.yaml" <<'END'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: "example.org/trainer:v1"}]}}}
    Worker: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: "example.org/trainer:v1"}]}}}
END

# loss STEP: what both ranks print of that step
loss() {
	sed -n "s/.*rank [01] of 2 step $1: loss //p" out | sort -u
}

for who in root user; do

if test $who = root; then
	test_have_prereq ROOT || continue
elif test_have_prereq ROOT; then
	as_ordinary_user && sed -i "s/^cd [^&]*&& //" bin/muster && rm -rf "$XDG_DATA_HOME" "$job" || exit 1
	hash -r # the shell remembers another muster
fi
mkdir "$job" && { ! test_have_prereq ROOT || test $who = root || chown "$ordinary" "$job"; } || exit 1

test_expect_success "$who: a job trains in the image, and the model stays in the working directory" '
	{ (cd "$job" && muster image import "$place/trainer.tar" --name example.org/trainer:v1 &&
		muster run --isolation namespaces --timeout 2m "$place/job.yaml") >out 2>err || { cat out err >&2; false; }; } &&
	has out "master-0.*python of umoci in $job" "worker-0.*python of umoci in $job" &&
	loss 0 >first && loss 200 >last && is 1 "$(wc -l <first)" && is 0.000 "$(cut -c1-5 last)" &&
	has first "^[2-9]" && is "[ 3.  -2.   0.5]" \
		"$(/usr/bin/python3 -c "import numpy, sys; print(numpy.load(sys.argv[1]).round(1))" "$job/model.npy")"
'

done

rm -rf "$place"
test_done
