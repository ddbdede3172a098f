#!/bin/sh
test_description='the container image: what is in it, and that it runs'
. "$(dirname "$0")/lib.sh"

version=$(muster version | sed 's/^muster //')

make_image() {
	SOURCE_DATE_EPOCH=1700000000 "$top/tools/make-image" "$(command -v muster)" "$1" >name && is "$1/muster-$version-image.tar" "$(cat name)"
}

test_expect_success 'made twice, it is the same bit by bit' '
	make_image one && (umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make_image two) && cmp one/muster-$version-image.tar two/muster-$version-image.tar &&
	diff -r one two && tar -tvf one/muster-$version-image.tar >list && lacks list " root/root "
'

test_expect_success 'it is small, has a number as user, and muster as entry point' '
	image=oci:one/muster-$version-image:$version && skopeo inspect --raw "$image" >manifest && jq_is "[.config.size, .layers[].size] | add < 11000000" manifest &&
	skopeo inspect --config "$image" >config && jq_is ".config.User == \"65532:65532\" and .config.Entrypoint == [\"/usr/local/bin/muster\"]" config &&
	jq_is ".created == \"2023-11-14T22:13:20Z\" and .config.Labels[\"org.opencontainers.image.version\"] == \"$version\"" config &&
	skopeo inspect "oci-archive:one/muster-$version-image.tar" >out && jq_is ".Os == \"linux\"" out && skopeo copy "oci-archive:one/muster-$version-image.tar" docker-archive:docker.tar
'

test_expect_success 'without what makes images it says so' '
	mkdir -p none && for tool in dirname sh uname; do ln -sf "$(command -v $tool)" none/; done && test_must_fail env PATH="$PWD/none" "$top/tools/make-image" muster one 2>err && has err "install libdeflate-gzip"
'

test_expect_success ROOT 'no shell, no other program, nothing with rights of its own' '
	umoci unpack --image one/muster-$version-image:$version bundle >out 2>&1 && root=$PWD/bundle/rootfs &&
	find "$root" -type f -perm /111 ! -path "*/lib*/*" >programs && is "$root/usr/local/bin/muster" "$(cat programs)" &&
	is "" "$(find "$root" -perm /6000)" && is "" "$(find "$root" ! -uid 0)" && is "$root/tmp" "$(find "$root" -perm /002 ! -type l)"
'

within_image() {
	chroot --userspec=65532:65532 "$root" /usr/local/bin/muster "$@"
}

test_expect_success ROOT 'it runs with nothing but its files, as its user' '
	is "muster $version" "$(within_image version)" && within_image manifests >out && muster manifests >want && test_cmp want out
'

test_expect_success ROOT 'its operator runs jobs of a cluster, with the rights of the installed account' '
	no_node= && start_muster --no-operator && muster manifests install | kubectl apply -f - >out && as_account muster-system muster account.json &&
	kubectl --kubeconfig account.json config view --raw --flatten >"$root/tmp/kubeconfig" && chmod 644 "$root/tmp/kubeconfig" &&
	: >op.log && start chroot --userspec=65532:65532 "$root" /usr/local/bin/muster operator --kubeconfig /tmp/kubeconfig --leader-elect --leader-election-namespace muster-system \
		--metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:0 2>op.log && soon is_ready op &&
	tfjob quick 1 | sed "s/sleep, \"60\"/sleep, \"0\"/" | kubectl apply -f - && kubectl wait --for=condition=Succeeded tfjob/quick --timeout=120s
'

test_expect_success ROOT 'as a pod, imported: entry point, user, no shell' '
	muster image import --data "$data" "one/muster-$version-image.tar" --name muster:$version >out &&
	kubectl run it --image muster:$version --restart=Never --overrides="{\"spec\":{\"containers\":[{\"name\":\"it\",\"image\":\"muster:$version\",\"args\":[\"version\"]}]}}" &&
	kubectl wait --for=jsonpath="{.status.phase}"=Succeeded pod/it --timeout=120s && is "muster $version" "$(kubectl logs it)"
'

test_expect_success ROOT 'the agent of MPIJobs is copied from it, and runs in files of others' '
	cat >agent.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: agent}
	spec:
	  restartPolicy: Never
	  initContainers: [{name: copy, image: "muster:$version", args: [exec, --install, /agent/here], volumeMounts: [{name: agent, mountPath: /agent}]}]
	  containers: [{name: use, image: other, command: [/agent/here/muster, version], volumeMounts: [{name: agent, mountPath: /agent}]}]
	  volumes: [{name: agent, emptyDir: {}}]
	END
	kubectl apply -f agent.yaml && kubectl wait --for=jsonpath="{.status.phase}"=Succeeded pod/agent --timeout=120s && is "muster $version" "$(kubectl logs agent -c use)"
'

test_expect_success ROOT 'helm test runs from it' '
	helm install muster "$top/deploy/helm/muster" -n muster-system --take-ownership >out && helm test muster -n muster-system --timeout 5m >out && has out "Phase: *Succeeded"
'

test_done
