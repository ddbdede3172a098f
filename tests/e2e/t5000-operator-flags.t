#!/bin/sh
test_description='muster operator: flags, what is refused, and what it says'
. "$(dirname "$0")/lib.sh"
. "$e2e/operator.sh"

# refused CODE TEXT ARGS...: ends at once with that code and text.
refused() {
	code=$1 text=$2
	shift 2
	test_expect_code "$code" timeout 60 muster operator --metrics-bind-address 0 \
		--health-probe-bind-address 0 "$@" >out 2>err &&
		test_must_be_empty out && has err "$text"
}

test_expect_success '--help has every flag of the original' '
	muster operator --help >help &&
	for flag in metrics-bind-address health-probe-bind-address leader-elect leader-election-id \
		enable-scheme gang-scheduler-name namespace controller-threads \
		pytorch-init-container-image pytorch-init-container-template-file \
		pytorch-init-container-max-tries mpi-kubectl-delivery-image webhook-server-port \
		webhook-service-name webhook-secret-name kubeconfig zap-devel zap-encoder \
		zap-log-level zap-stacktrace-level zap-time-encoding kube-api-qps kube-api-burst; do
		has help "^  --$flag" || return 1
	done
'

test_expect_success 'an unknown flag: its name and the usage on stderr, exit 2' '
	refused 2 "^flag provided but not defined: -nope" --nope=1 &&
	has err "^Usage: muster operator" "^  --leader-elect"
'

test_expect_success 'a kind that is not there: the words of the original, exit 2' '
	refused 2 "^invalid value \"CaffeJob\" for flag -enable-scheme: scheme caffejob is not supported yet$" \
		--enable-scheme=CaffeJob
'

test_expect_success 'other mistakes in flags: exit 2' '
	refused 2 "^flag needs an argument: -namespace" --namespace &&
	refused 2 "^invalid boolean value \"x\" for -leader-elect: parse error" --leader-elect=x &&
	refused 2 "^unexpected argument .false." --leader-elect false &&
	refused 2 "expected logfmt or json" --log-format yaml &&
	refused 2 "invalid log level" --zap-log-level loud &&
	refused 2 "lease-duration must be" --leader-elect-lease-duration 5s &&
	refused 2 "^invalid value \"A B\" for flag -namespace: not a valid Kubernetes name" --namespace "A B" &&
	refused 2 "^invalid value \"\" for flag -leader-election-id: not a valid Kubernetes name" \
		--leader-elect --leader-election-id "" &&
	(KUBEFLOW_NAMESPACE=Team && export KUBEFLOW_NAMESPACE && refused 2 "^invalid value \"Team\" for flag -namespace:")
'

test_expect_success 'an address that is none: exit 2, whichever flag has it' '
	for flag in metrics health-probe; do
		for value in foo foo:bar :99999 127.0.0.1; do
			refused 2 "^invalid value \"$value\" for flag -$flag-bind-address: expected .ADDRESS.:PORT, or 0 for none$" \
				--$flag-bind-address "$value" || return 1
		done &&
		refused 2 "for flag -$flag-bind-address: .nowhere. is not an IP address$" \
			--$flag-bind-address nowhere:1 || return 1
	done
'

test_expect_success 'a kubeconfig that cannot be used: one line, exit 1' '
	refused 1 "^muster: .*nowhere/config" --kubeconfig "$PWD/nowhere/config" &&
	is 1 "$(wc -l <err)" &&
	echo "{]" >broken && refused 1 "^muster: .*broken:1" --kubeconfig broken && is 1 "$(wc -l <err)"
'

test_expect_success 'nothing to go by: one line, exit 1' '
	(unset KUBECONFIG KUBERNETES_SERVICE_HOST && HOME=$PWD/nobody && export HOME &&
		refused 1 "^muster: ") && is 1 "$(wc -l <err)"
'

test_expect_success 'an API to look after' '
	start_muster --no-operator && crds
'

test_expect_success 'a port that is taken: one line, exit 1' '
	taken=${url##*:} &&
	test_expect_code 1 timeout 60 muster operator --metrics-bind-address "127.0.0.1:$taken" 2>err &&
	is "muster: --metrics-bind-address 127.0.0.1:$taken: listen on 127.0.0.1 port $taken: Address already in use" "$(cat err)"
'

test_expect_success 'all flags of the original at once; those without effect are told' '
	start_operator all --leader-elect --leader-election-id=lock -enable-scheme TFJob \
		--enable-scheme=tfjob --gang-scheduler-name= --namespace default --controller-threads 4 \
		--pytorch-init-container-image a --pytorch-init-container-template-file b \
		--pytorch-init-container-max-tries 3 --mpi-kubectl-delivery-image c \
		--webhook-server-port 9443 --webhook-service-name d --webhook-secret-name e \
		-kubeconfig="$KUBECONFIG" --zap-devel=false --zap-encoder=console --zap-log-level=2 \
		--zap-stacktrace-level error --zap-time-encoding iso8601 --kube-api-qps 20.5 \
		--kube-api-burst=30 &&
	soon is_ready all &&
	for flag in webhook-server-port webhook-service-name webhook-secret-name controller-threads; do
		has all.log "flag without effect.*flag=$flag why=" || return 1
	done &&
	has all.log "msg=\"ignoring the init container template\"" &&
	has all.log "msg=\"muster operator\".*kinds=TFJob namespace=default" &&
	held() { kubectl -n default get lease lock -o jsonpath={.spec.holderIdentity} >holder; } && soon held &&
	is "$(hostname)_" "$(sed "s/_[0-9a-f-]\{36\}$/_/" holder)" &&
	end_operator all
'

test_expect_success 'core 7.1: a gang scheduler that the cluster lacks is named once, with what to install; it is not ready' '
	gang() {
		start_operator gang --gang-scheduler-name "$1" && soon grep -q "$2" gang.log &&
		is 500 "$(probe gang /readyz/readyz)" && has probe "$2" && is 1 "$(grep -c "$2" gang.log)" &&
		end_operator gang
	} &&
	kubectl delete --ignore-not-found crd podgroups.scheduling.volcano.sh podgroups.scheduling.x-k8s.io &&
	gang Volcano "podgroups.scheduling.volcano.sh.*install Volcano" &&
	gang mine "podgroups.scheduling.x-k8s.io.*install scheduler-plugins" &&
	gang kube "podgroups.scheduling.k8s.io.*Kubernetes 1.36"
'

test_expect_success 'core 7.1: none, in any case, needs nothing' '
	start_operator none --gang-scheduler-name None && soon is_ready none && end_operator none
'

test_expect_success 'core 7.1: limits of gang restarts that make no sense: exit 2' '
	refused 2 "^-gang-hold-seconds must be 0 to" --gang-hold-seconds=-1 &&
	refused 2 "^-gang-max-restarts must be -1" --gang-max-restarts=-2
'

test_expect_success 'KUBEFLOW_NAMESPACE stands in for --namespace' '
	KUBEFLOW_NAMESPACE=team && export KUBEFLOW_NAMESPACE &&
	test_when_finished "unset KUBEFLOW_NAMESPACE" &&
	start_operator team && has team.log "namespace=team" && end_operator team
'

test_expect_success '--log-format json, --zap-encoder json: each line is an object' '
	for flags in "--log-format json" "--zap-encoder json" "--zap-devel=false"; do
		: >log && { muster operator --metrics-bind-address 0 --health-probe-bind-address 127.0.0.1:0 $flags 2>log & } &&
		pid=$! && soon grep -q "muster operator" log && kill $pid && wait $pid &&
		jq -es "length > 2 and all(.[]; .time and .level and .msg)" log >/dev/null || return 1
	done
'

test_expect_success '0 serves nothing' '
	: >log && { muster operator --metrics-bind-address=0 --health-probe-bind-address=0 2>log & } &&
	pid=$! && soon grep -q "msg=ready" log && lacks log "msg=serving" && kill $pid && wait $pid
'

test_done
