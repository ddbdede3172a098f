# Sourced by the tests of commands that talk to a server: jobs, and pods that a script moves.
# shellcheck shell=sh

# tfjob NAME WORKERS [FURTHER LINES OF ITS SPEC]
tfjob() {
	cat <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1, labels: {color: red}}
	spec:
	  tfReplicaSpecs:
	    Worker: {replicas: $2, restartPolicy: Never, template: {spec: {containers: [{name: tensorflow, image: none}]}}}
	$3
	END
}

# standin RULES: moves pods by tests/operator/harness/standin.py
standin() {
	echo "$1" >rules.json && rm -f standin.fifo && mkfifo standin.fifo || return 1
	python3 "$top/tests/operator/standin" "$KUBECONFIG" rules.json >standin.fifo 2>standin.log 7<&- &
	background="$background $!"
	read -r _ <standin.fifo
}

# Times that pass and addresses become words.
steady() {
	sed -E -e 's/ [0-9]+(s|m|m[0-9]+s|ms)( |$)/ AGE\2/g' -e 's/\([0-9]+(s|m) ago\)/(AGE ago)/g' \
		-e 's/, [0-9]+s ago$/, AGE ago/' -e 's/[0-9]{4}-[0-9-]+T[0-9:]+Z/TIME/g' -e 's,https://127[^ ]*:[0-9]+,SERVER,g' \
		-e 's/^  [0-9]+s  /  AGE /' -e 's/^[0-9]+s  /AGE /' -e 's/^(Took: +)[0-9]+s$/\1AGE/' "$@"
}

state_is() { # JOB STATE
	muster get "$1" --no-headers | grep -q " $2 "
}
