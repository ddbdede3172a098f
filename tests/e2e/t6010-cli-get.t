#!/bin/sh
test_description='muster get'
. "$(dirname "$0")/lib.sh"
. "$e2e/cli.sh"

test_expect_success 'nothing is there, and that is said' '
	start_muster && muster get >out 2>err && is "" "$(cat out)" && is "there are no jobs in namespace default" "$(cat err)" &&
	muster get -A 2>err && is "there are no jobs" "$(cat err)" && muster get pods 2>err && is "there are no pods in namespace default" "$(cat err)"
'

test_expect_success 'jobs of all kinds, with what their pods do' '
	standin "[{\"job\":\"done\",\"do\":[\"run\",{\"exit\":0}]},{\"job\":\"bad\",\"index\":0,\"do\":[\"run\",{\"restart\":3},{\"after\":3},{\"exit\":1}]},{\"do\":[\"run\"]}]" &&
	tfjob done 1 | kubectl apply -f - && tfjob bad 2 | kubectl apply -f - && tfjob go 3 | kubectl apply -f - &&
	tfjob same 1 | kubectl apply -f - &&
	tfjob same 1 | sed "s/TFJob/PyTorchJob/; s/tfReplica/pytorchReplica/; s/tensorflow/pytorch/; s/Worker:/Master:/" | kubectl apply -f - &&
	soon state_is done Succeeded && soon state_is bad Failed && soon sh -c "muster get tfjob/go | grep -q 3/3" && soon state_is tfjob/same Running && soon state_is pytorchjob/same Running &&
	muster get >out && steady out >got && cat >want <<-EOF && test_cmp want got
	NAME              STATE       RUNNING   SUCCEEDED   FAILED   RESTARTS   LAST EXIT   AGE
	tfjob/bad         Failed      1/2       0           1        1          1           AGE
	tfjob/done        Succeeded   0/1       1           0        0          -           AGE
	tfjob/go          Running     3/3       0           0        0          -           AGE
	pytorchjob/same   Running     1/1       0           0        0          -           AGE
	tfjob/same        Running     1/1       0           0        0          -           AGE
	EOF
'

test_expect_success 'wide, in all namespaces, of a kind, by labels, by name' '
	muster get -A -o wide >out && has out "^NAMESPACE  *NAME .* DURATION  *REASON$" "^default  *tfjob/done  *Succeeded .* TFJobSucceeded$" &&
	muster get pytorchjobs >out && is "2 pytorchjob/same" "$(wc -l <out) $(sed -n "2s/ .*//p" out)" &&
	muster get -l color=blue 2>err && has err "no jobs" && muster get -l color=red --no-headers >out && is 5 "$(wc -l <out)" &&
	muster get tfjob go >out && has out "^tfjob/go " && muster get tfjob/go tfjob/bad --no-headers >out && is 2 "$(wc -l <out)" &&
	muster get same --no-headers >out && is 2 "$(wc -l <out)" && muster get go bad --no-headers >out && is 2 "$(wc -l <out)"
'

test_expect_success 'as objects' '
	muster get -o json >out.json && jq_is ".kind == \"List\" and (.items | length) == 5 and .items[0].kind == \"TFJob\" and .items[0].apiVersion == \"kubeflow.org/v1\"" out.json &&
	muster get tfjob/go -o yaml >out && has out "^kind: TFJob$" && muster get -o name >out && has out "^tfjob.kubeflow.org/go$" "^pytorchjob.kubeflow.org/same$" &&
	muster get pods -o name >out && has out "^pod/go-worker-2$" && muster get po/go-worker-0 -o json >out.json && jq_is ".kind == \"Pod\"" out.json
'

# Both show what is there, one after the other: something may have happened in between.
# shellcheck disable=SC2086 # a list of words
as_kubectl() {
	muster get $1 >mine && kubectl get $1 >theirs && steady -e "s/ *$//" mine >got &&
		steady -e "s/ *$//" theirs >want && test_cmp want got
}

test_expect_success 'other resources in the columns of the server, as kubectl shows them' '
	for what in pods svc ns "pods -A" "pods -o wide" "crd" "events"; do
		soon as_kubectl "$what" || return 1
	done &&
	muster get po,svc >out && has out "^pod/go-worker-0 " "^service/go-worker-0 "
'

test_expect_success 'what is not there, or makes no sense' '
	test_expect_code 1 muster get nothing 2>err && steady err >got && is "muster: SERVER serves no resource \"nothing\", and namespace default has no job of that name" "$(cat got)" &&
	test_expect_code 1 muster get pod/x 2>err && steady err >got && is "muster: cannot get pod \"x\" at SERVER: pods \"x\" not found" "$(cat got)" &&
	test_expect_code 1 muster get tfjob/x 2>err && steady err >got && is "muster: there is no tfjob/x in namespace default at SERVER" "$(cat got)" &&
	test_expect_code 2 muster get -A tfjob/go 2>err && has err "one namespace" && test_expect_code 2 muster get pods tfjob/go 2>err && has err "not both" &&
	test_expect_code 2 muster get -o xml 2>err && has err "one of" && test_expect_code 1 muster get -l "a b" 2>err && has err "cannot list .*: unable to parse"
'

test_expect_success 'words that are nearly right get a suggestion' '
	test_expect_code 2 muster rnu 2>err && is "muster: no command .rnu.; did you mean .run.?" "$(tr "\047" . <err)" &&
	test_expect_code 2 muster trains 2>err && has err "^muster: no command .trains.$" "^Usage: muster COMMAND" &&
	test_expect_code 2 muster get --contxt x 2>err && has err "^muster: get has no option .--contxt.; did you mean .--context.?" &&
	test_expect_code 1 muster get pds 2>err && has err "serves no resource .pds.*; did you mean .pods.?" &&
	test_expect_code 1 muster get secrte/x 2>err && has err "serves no resource .secrte.; did you mean .secret.?" &&
	test_expect_code 2 muster describe tfjbo/x 2>err && has err "there is no kind of job .tfjbo.; did you mean .tfjob.?" &&
	test_expect_code 2 muster delete pdo/x 2>err && has err "serves no such resource; did you mean .pod.?" &&
	tfjob near 1 | sed "s/kind: TFJob/kind: TFJbo/" >near.yaml && test_expect_code 2 muster validate near.yaml >out 2>&1 &&
	has out "near.yaml:2:1: kind: there is no kind .TFJbo. in kubeflow.org/v1; was .TFJob. meant?"
'

test_expect_success '-w prints a line for each change, until it is interrupted' '
	start muster get -w >watched && watcher=$! && soon grep -q "^tfjob/go " watched &&
	tfjob later 1 | kubectl apply -f - && soon grep -q "^tfjob/later  *Running" watched && muster delete tfjob/later &&
	soon grep -q "^tfjob/later  *Deleted" watched &&
	has watched "^tfjob/later  *Created  *0/1" && is 1 "$(grep -c ^NAME watched)" && is 1 "$(grep -c "^tfjob/go " watched)" &&
	kill -INT $watcher && { wait $watcher; is 130 $?; }
'

test_expect_success '-w of a table of the server' '
	start muster get pods -w >watched && watcher=$! && soon grep -q "^go-worker-0 " watched &&
	tfjob again 1 | kubectl apply -f - && soon grep -q "^again-worker-0 .*Running" watched && kill -INT $watcher && { wait $watcher; is 130 $?; }
'

test_expect_success 'which server: the flag, KUBECONFIG, the one that runs here' '
	cp "$KUBECONFIG" other && (
		unset KUBECONFIG && XDG_DATA_HOME=$PWD/none && HOME=$PWD/none && export XDG_DATA_HOME HOME &&
		test_expect_code 1 muster get 2>err && has err "^muster: no cluster is known: start one here with .muster up." &&
		muster get --kubeconfig other --no-headers >out && has out "^tfjob/go" && muster get --data "$data" --no-headers >out && has out "^tfjob/go" &&
		mkdir -p none && ln -s "$data" none/muster && muster get --no-headers >out && has out "^tfjob/go" &&
		test_expect_code 1 muster get --kubeconfig nofile 2>err && has err "nofile: there is no such file" &&
		test_expect_code 1 muster get --data "$PWD" 2>err && has err "no server runs on $PWD: start one with .muster up --data $PWD"
	)
'

test_expect_success 'who asks: by the certificate that a plugin prints' '
	jq -n --rawfile c "$data/pki/client.crt" --rawfile k "$data/pki/client.key" \
		"{kind: \"ExecCredential\", apiVersion: \"client.authentication.k8s.io/v1\", status: {clientCertificateData: \$c, clientKeyData: \$k}}" >credential.json &&
	printf "#!/bin/sh\ncat \"%s/credential.json\"\n" "$PWD" >plugin && chmod +x plugin &&
	kubectl config view --raw -o json | jq ".users[0].user = {exec: {apiVersion: \"client.authentication.k8s.io/v1\", command: \"$PWD/plugin\", interactiveMode: \"Never\"}}" >by-plugin &&
	muster get --kubeconfig by-plugin --no-headers >out && has out "^tfjob/go" &&
	jq "del(.users[0].user)" by-plugin >by-nobody && test_expect_code 1 muster get --kubeconfig by-nobody 2>err && has err "Unauthorized"
'

test_expect_success 'a server that is gone is named' '
	stop_muster && test_expect_code 1 muster get 2>err && has err "^muster: cannot list .* 127.0.0.1:[0-9]*: "
'

test_done
