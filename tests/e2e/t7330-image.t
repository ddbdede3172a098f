#!/bin/sh
test_description='muster image: archives of real images are imported, run unchanged YAML, and go again'
. "$(dirname "$0")/lib.sh"
. "$e2e/node.sh"

for tool in busybox umoci skopeo; do
	if ! command -v $tool >/dev/null; then
		skip_all="no $tool"
		test_done
	fi
done
TERM=dumb
export TERM
make_place || exit 1
chmod 755 "$place/notes"
XDG_DATA_HOME=$place/home
export XDG_DATA_HOME
images=$XDG_DATA_HOME/muster/images
copy() {
	skopeo copy -q --insecure-policy "$@"
}

# An image of two layers and a whiteout. Nothing of this machine is in it, the C library included.
make_image() {
	mkdir -p root/bin root/etc root/srv/app root/srv/trainer root/opt && cp "$(command -v busybox)" root/opt/busybox &&
		for tool in sh env id cat ls sleep hostname; do ln -s /opt/busybox "root/bin/$tool" || return 1; done &&
		printf 'root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:1000::/srv/trainer:/bin/sh\n' >root/etc/passwd &&
		printf 'root:x:0:\ntrainer:x:1000:\n' >root/etc/group &&
		echo removed >root/etc/removed && cp root/opt/busybox root/bin/suid && chmod 4755 root/bin/suid &&
		cat >train <<-'END' && chmod 755 train &&
			#!/bin/sh
			echo "$HOSTNAME with $* in $PWD at $HOME by $GREETING"
			ls /etc/removed /usr 2>&1
			id -u
		END
		umoci init --layout layout && umoci new --image layout:v1 && umoci insert --image layout:v1 root / &&
		umoci insert --image layout:v1 train /usr/local/bin/train && umoci insert --image layout:v1 --whiteout /etc/removed &&
		umoci config --image layout:v1 --config.env GREETING=image --config.env PATH=/usr/local/bin:/bin \
			--config.entrypoint train --config.cmd --lr=0.1 --config.workingdir /srv/app --config.user trainer
}

test_expect_success 'setup: one image as docker archive, as OCI archive, as both, as layout, with gzip and zstd' '
	make_image && copy oci:layout:v1 docker-archive:docker.tar:docker.io/library/trainer:v1 &&
	copy oci:layout:v1 oci-archive:oci.tar:example.org/team/trainer:v1 && gzip -k oci.tar &&
	copy --dest-compress --dest-compress-format zstd oci:layout:v1 oci:zstd:v1 &&
	grep -q zstd zstd/blobs/sha256/* && chmod -R a+rX . &&
	cp -r layout both && digest=$(jq -r ".manifests[0].digest" both/index.json) &&
	jq --arg tag both:1 "[{Config: (\"blobs/sha256/\" + .config.digest[7:]), RepoTags: [\$tag], Layers: [.layers[].digest | \"blobs/sha256/\" + .[7:]]}]" \
		"both/blobs/sha256/${digest#sha256:}" >both/manifest.json && tar -cf both.tar -C both . && chmod -R a+rX . &&
	cp -r both.tar docker.tar oci.tar oci.tar.gz layout zstd "$place/"
'

cat >"$place/job.yaml" <<'END'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: train}
spec:
  tfReplicaSpecs:
    Worker: {replicas: 1, template: {spec: {containers: [{name: tensorflow, image: "trainer:v1"}]}}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: other}
spec:
  tfReplicaSpecs:
    Worker: {replicas: 1, template: {spec: {containers: [{name: tensorflow, image: "docker.io/library/trainer:v1", args: [mine]}]}}}
END

cat >"$place/holds.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: holds}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: "trainer:v1", command: [sh, -c, "echo begun; exec sleep 9000"]}]
END

rootfs() {
	sed -n 's/^ *rootfs: //p' "$XDG_DATA_HOME/muster/images.yaml" | head -n 1
}

start_pod() {
	muster run --no-workdir --isolation namespaces --timeout 3m "$place/holds.yaml" >out 2>err &
	pid=$!
	background="$background $pid"
}

# An import that is not done.
has_new() {
	test -n "$(find "$images" -maxdepth 1 -name ".new-*")"
}

# kill_import SIGNAL STATUS: an archive comes to a standstill, and its import is killed there.
kill_import() {
	rm -f half && mkfifo -m 666 half || return 1
	muster image import - --name half:1 <half &
	pid=$!
	exec 8>half
	head -c 1500000 "$place/docker.tar" >&8
	soon has_new || return 1
	kill "-$1" $pid
	wait $pid
	code=$?
	exec 8>&-
	is "$2" $code
}

# After the image was imported: a job runs with what is in it, as user $1.
job_runs() {
	muster run --no-workdir --isolation namespaces --timeout 3m "$place/job.yaml" >out 2>err || { cat out err >&2; return 1; }
	has out "train-worker-0 with --lr=0.1 in /srv/app at /srv/trainer by image$" "other-worker-0 with mine in /srv/app" \
		"/etc/removed: No such file" "\[.*\] $1$" &&
		! grep -q "^.*share$" out
}

for who in root user; do

if test $who = root; then
	uid=1000
	test_have_prereq ROOT || continue
else
	uid=$(id -u)
	if test_have_prereq ROOT; then
		uid=$ordinary
		rm -rf "$XDG_DATA_HOME/muster" && as_ordinary_user || exit 1
		hash -r # the muster that the shell remembers is another one
	fi
fi

test_expect_success "$who: a docker archive is imported under its own name" '
	muster image import "$place/docker.tar" >out 2>err && is "image trainer:v1 imported, 3 layers (3 new)" "$(cat out)" &&
	has err "removed the setuid or setgid bit of 1 files" && muster image list >out && has out "^trainer:v1  *imported, [0-9a-f]\{12\}  *train"
'

test_expect_success "$who: a job that names it runs with what is in the image" '
	job_runs $uid
'

test_expect_success "$who: an image is not removed while a pod runs in it; one of its two names is" '
	start_pod && soon grep -q begun out && muster image import "$place/docker.tar" --name second:1 && muster image rm second:1 &&
	test_expect_code 1 muster image rm trainer:v1 2>said && has said "image trainer:v1 is in use by running containers (holds): stop them first" &&
	muster image list >said && has said "^trainer:v1 " && test -e "$(rootfs)/opt/busybox" &&
	kill -INT $pid && { wait $pid; is 130 $?; } && muster image rm trainer:v1 && muster image import "$place/docker.tar"
'

test_expect_success "$who: the same image from other archives costs the disk nothing" '
	muster image import "$place/oci.tar" >out && is "image example.org/team/trainer:v1 imported, 3 layers (0 new)" "$(cat out)" &&
	muster image import "$place/oci.tar.gz" --name again:1 >out && is "image again:1 imported, 3 layers (0 new)" "$(cat out)" &&
	muster image import "$place/zstd" --name zstd:1 >out && is "image zstd:1 imported, 3 layers (0 new)" "$(cat out)" &&
	muster image import "$place/both.tar" >out && is "image both:1 imported, 3 layers (0 new)" "$(cat out)" &&
	muster image import - --name stdin:1 <"$place/docker.tar" >out && is "image stdin:1 imported, 3 layers (0 new)" "$(cat out)" &&
	is 1 "$(ls -d "$images"/sha256-* | wc -l)" && is 3 "$(ls "$images/layers" | wc -l)"
'

test_expect_success "$who: the muster that pods find does not bring the libraries of the import" '
	ls "$XDG_DATA_HOME/muster/agent/lib" >libs && has libs "^libcurl" && ! grep -q "archive\|xml" libs
'

test_expect_success "$who: no setuid bit, no whiteout, no other owner" '
	test ! -u "$(rootfs)/bin/suid" && test ! -e "$(rootfs)/etc/removed" &&
	is "" "$(find "$(rootfs)" -name ".wh.*")" && { test $who = root || is "" "$(find "$(rootfs)" ! -uid $uid)"; }
'

test_expect_success "$who: what is left of an image goes with the last name of it" '
	for name in trainer:v1 again:1 both:1 zstd:1 docker.io/library/stdin:1; do muster image rm $name || return 1; done &&
	test -d "$(rootfs)" && muster image rm example.org/team/trainer:v1 &&
	is layers "$(ls -A "$images")" && is "" "$(ls -A "$images/layers")" &&
	test_expect_code 1 muster image rm trainer:v1 2>err && has err "there is no image trainer:v1"
'

test_expect_success "$who: zstd layers are unpacked, too" '
	muster image import "$place/zstd" --name trainer:v1 && job_runs $uid && muster image rm trainer:v1
'

test_expect_success "$who: a damaged blob is found, and nothing of the image is left" '
	rm -rf "$place/bad" && cp -r "$place/layout" "$place/bad" &&
	blob=$(ls -S "$place/bad/blobs/sha256/"* | head -n 1) && printf x >>"$blob" &&
	test_expect_code 1 muster image import "$place/bad" --name bad:1 2>err && has err "bad: layer 1: its digest is sha256:" &&
	is "" "$(ls -A "$images/layers")" && muster image list >out 2>&1 && ! grep -q bad:1 out
'

test_expect_success "$who: an import that is killed leaves no image, and the next one removes its files" '
	kill_import KILL 137 && has_new && muster image list >out 2>&1 && ! grep -q half out &&
	muster image import "$place/docker.tar" && ! has_new && muster image rm trainer:v1
'

test_expect_success "$who: an import that is interrupted clears away what it made" '
	kill_import TERM 143 2>err && has err "interrupted" && ! has_new && is "" "$(ls -A "$images/layers")"
'

test_expect_success "$who: a name is needed, and may not be a pattern" '
	test_expect_code 1 muster image import "$place/layout" 2>err && has err "does not name its image: use --name" &&
	test_expect_code 1 muster image import "$place/layout" --name "*" 2>err && has err "is not the name of an image" &&
	is "" "$(ls -A "$images/layers")"
'

test_expect_success "$who: what was mapped by hand is not removed" '
	muster image map mapped --rootfs / && test_expect_code 1 muster image rm mapped 2>err && has err "is mapped, not imported"
'

done

rm -rf "$place"
test_done
