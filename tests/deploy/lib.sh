# Sourced by every test here: the words of tests/e2e, and those that compare manifests.
# shellcheck shell=sh disable=SC2154 # what e2e/lib.sh sets
deploy=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$deploy/../e2e/lib.sh"
# shellcheck source=tests/e2e/operator.sh
. "$deploy/../e2e/operator.sh"

# as_json FILE: its YAML documents, as a list.
as_json() {
	python3 -c 'import json, sys, yaml; json.dump([d for d in yaml.safe_load_all(sys.stdin) if d], sys.stdout)' <"$1"
}

# A filter: objects in a fixed order, rules as sets of single rights.
plain='
	def rights: [.[] | .resourceNames as $n | .apiGroups[] as $g | .resources[] as $r | .verbs[] | {g: $g, r: $r, v: ., n: $n}] | unique;
	map(if .rules then .rules |= rights else . end) | sort_by(.kind, .metadata.name)'

# as_account NAMESPACE ACCOUNT FILE: a kubeconfig with a token of the account.
as_account() {
	token=$(kubectl create token "$2" -n "$1") &&
		kubectl config view --raw -o json | jq --arg token "$token" ".users[0].user = {token: \$token}" >"$3"
}

# suspended NAME: a TFJob of no pods.
suspended() {
	sed "s/name: later/name: $1/" "$top/examples/tfjob-suspend.yaml"
}
