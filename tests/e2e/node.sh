# Sourced after lib.sh by tests whose pods really run: start_node LEVEL root|user starts muster at that
# level of isolation, as root or as an ordinary user, or skips all when the machine does not let us.
# shellcheck shell=sh disable=SC2034,SC2154 # what tests read, and what lib.sh sets

no_node=
ordinary=12345

# A place for all of it without spaces in its name, where pods and an ordinary user can write. Not in
# /tmp: there pods have one of their own. An ordinary user cannot reach into a checkout below
# somebody's home, so he gets a copy.
make_place() {
	place=$(mktemp -d /var/tmp/muster-node.XXXXXX) && chmod 755 "$place" && mkdir "$place/home" &&
		data=$place/home/data notes=$place/notes && mkdir "$notes" && chmod 777 "$notes"
}

as_ordinary_user() {
	cp "$(command -v muster)" "$place/muster" && chown "$ordinary:$ordinary" "$place/home" || return 1
	cat >bin/muster <<-END
		#!/bin/sh
		cd "$place/home" && HOME=$place/home exec setpriv --reuid=$ordinary --regid=$ordinary \
			--clear-groups -- "$place/muster" "\$@"
	END
	chmod +x bin/muster
}

start_node() {
	level=$1
	make_place || return 1
	if test "$2" = user && test_have_prereq ROOT; then
		as_ordinary_user || return 1
	elif test "$2" = root && ! test_have_prereq ROOT; then
		skip_all="not root" && test_done
	fi
	start_muster --isolation "$level" || return 1
	# what it says of isolation comes right behind the ready line
	soon grep -q "isolation=" muster.log || return 1
	if grep -q "is not possible here: pods" muster.log; then
		stop_muster
		skip_all=$(sed -n "s/.*is not possible here: pods.*why=//p" muster.log) && test_done
	fi
	test "$level" = shared || test_set_prereq NAMESPACES
	test "$2" = user || test_set_prereq AS_ROOT
	soon node_is_ready
}

# The node comes after the ready line, and all its conditions at once.
node_is_ready() {
	kubectl get nodes --no-headers | grep -qw Ready
}

# node_says CONDITION
node_says() {
	kubectl get nodes -o json |
		jq -e --arg type "$1" '.items[0].status.conditions[] | select(.type == $type and .status == "True")' >/dev/null
}

# start_network root|user: a node whose pods have a network of their own, or all is skipped.
start_network() {
	start_node namespaces "$1" || return 1
	if node_says NetworkUnavailable; then
		node_cleanup
		skip_all="no network of pods here: $(cat muster.log)" && test_done
	fi
	! node_says ClusterIPs || test_set_prereq CLUSTERIPS
}

# again [FLAGS OF muster up]: once more on the same data.
again() {
	start_muster --isolation "$level" "$@"
}

# taken_over POD: nothing else tells that, as what is stored of it has not changed.
taken_over() {
	soon muster exec "$1" -- true
}

node_cleanup() {
	stop_muster KILL
	for pod in "$data"/pods/*; do
		pkill -KILL -f "warden $pod" 2>/dev/null
	done
	rm -rf "$place"
}

# pod NAME SCRIPT [RESTARTPOLICY [MORE OF THE SPEC, AS JSON MEMBERS]]: runs sh -c SCRIPT, which may
# write to $notes.
pod() {
	jq -n --arg notes "$notes" --arg name "$1" --arg script "$2" --arg policy "${3:-Never}" --argjson more "{${4:-}}" '{
		apiVersion: "v1", kind: "Pod", metadata: {name: $name},
		spec: ({restartPolicy: $policy, terminationGracePeriodSeconds: 1,
			containers: [{name: "main", image: "busybox", command: ["sh", "-c", $script],
				volumeMounts: [{name: "notes", mountPath: $notes}]}],
			volumes: [{name: "notes", hostPath: {path: $notes}}]} * $more)
	}' | kubectl create -f -
}

# field POD JSONPATH
field() {
	kubectl get pod "$1" -o "jsonpath={$2}" 2>/dev/null
}

field_is() {
	test "$(field "$1" "$2")" = "$3"
}

# becomes POD JSONPATH VALUE: the field will have the value.
becomes() {
	soon field_is "$@" || { kubectl get pod "$1" -o json >&2; return 1; }
}

# What a pod's containers printed, all runs.
printed() {
	find "$data/logs" -path "*/$1/*" -name "*.log*" -exec cat {} + | cut -d" " -f4-
}

# A sleep unlike anybody else's: nap NUMBER
nap() {
	echo "sleep 9000$1.$$"
}

# How many processes have this command line.
runs() {
	pgrep -c -fx -- "$1"
	:
}

runs_is() {
	test "$(runs "$1")" = "$2"
}

# runs_soon N COMMANDLINE
runs_soon() {
	soon runs_is "$2" "$1" || { pgrep -a -fx -- "$2" >&2; return 1; }
}

# The processes of our hub; not what they have forked and what is not nft yet.
hubs() {
	ps -o pid=,ppid= -p "$(pgrep -d , -f "hub $data")" 2>/dev/null |
		awk '{ of[$1] = $2 } END { for (p in of) if (!(of[p] in of) || !(of[of[p]] in of)) print p }' | sort -n
}

# kill_hubs FILE: those in it, of which one may be gone with the other before it is shot itself.
kill_hubs() {
	for pid in $(cat "$1"); do
		kill -9 "$pid" 2>/dev/null
	done
	test -s "$1"
}

# What our pods could leave behind, to be compared; others may run beside us.
world() {
	grep -F "$place" /proc/self/mountinfo
	ls -A "$data/pods" 2>/dev/null
	pgrep -a -f "warden $data/pods"
	:
}
