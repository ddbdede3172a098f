#!/bin/sh
test_description='what is damaged or missing is reported by name; the rest is served'
. "$(dirname "$0")/lib.sh"

test_expect_success 'objects on disk, the server stopped' '
	start_muster && for name in first second third; do
		echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"$name\"},\"data\":{\"x\":\"needle-in-$name\"}}"
	done | kubectl create -f - && kubectl get configmap first -o json >first.json && stop_muster
'

test_expect_success 'one byte of one object is flipped' '
	test -s "$data/muster.db" && at=$(grep -abo needle-in-second "$data/muster.db" | head -n 1 | cut -d: -f1) &&
	{ test -n "$at" || { sqlite3 "$data/muster.db" "pragma wal_checkpoint(truncate)" >/dev/null 2>&1 && at=$(grep -abo needle-in-second "$data/muster.db" | head -n 1 | cut -d: -f1) && test -n "$at"; }; } &&
	printf X | dd of="$data/muster.db" bs=1 seek="$at" conv=notrunc 2>/dev/null
'

test_expect_success 'it starts, and says which object is damaged' '
	: >muster.log && start_muster && soon grep -q second muster.log && has muster.log "default/second" && lacks muster.log "default/first" "default/third"
'

test_expect_success 'the rest is served as it was' '
	kubectl get configmap first -o json >again.json && test_cmp first.json again.json && kubectl get configmap third && test_must_fail kubectl get configmap second 2>err && has err NotFound
'

test_expect_success 'what is damaged is not served, not even in lists and watches' '
	kubectl get configmaps -o json >list && jq_is "[.items[].metadata.name] | index(\"second\") | not" list
'

test_expect_success 'it can be made anew, and revisions went on' '
	rv=$(jq -r .metadata.resourceVersion first.json) && make ConfigMap second && test "$(kubectl get configmap second -o jsonpath={.metadata.resourceVersion})" -gt "$rv" &&
	stop_muster && : >muster.log && start_muster && kubectl get configmap first second third
'

# What the next ones do to the database is done to a copy of this: killed, with all of three objects in its log.
test_expect_success 'three more objects, and kill -9' '
	for name in one two three; do make ConfigMap $name || return 1; done && kubectl delete configmap first && { stop_muster KILL; true; } &&
	test -s "$data/muster.db-wal" && cp -a "$data" kept
'

# missed WORDS: a start is refused, in one line with these words; the log names what is missing.
missed() {
	test_expect_code 1 timeout 60 muster up --data "$data" --listen 127.0.0.1:0 --no-node >out 2>err && lacks out ready && grep "^muster: " err >said && is 1 "$(wc -l <said)" && has said "$1" "was acknowledged" "muster up --accept-data-loss" &&
	has err "missing.*default/one" "missing.*default/two" "missing.*default/three" "missing.*default/first"
}

test_expect_success 'a log that was removed: refused by name, and all is well when it is put back' '
	mv "$data/muster.db-wal" aside && missed "muster.db ends at revision" && mv aside "$data/muster.db-wal" &&
	start_muster && kubectl get configmap one two three && test_must_fail kubectl get configmap first && stop_muster
'

test_expect_success 'a log that was cut off, an emptied and a removed database are refused, too' '
	rm -rf "$data" && cp -a kept "$data" && truncate -s 100 "$data/muster.db-wal" && missed "muster.db ends at revision" &&
	rm -rf "$data" && cp -a kept "$data" && : >"$data/muster.db" && missed "the database is empty" && is 0 "$(stat -c %s "$data/muster.db")" && cmp kept/muster.db-wal "$data/muster.db-wal" &&
	rm "$data/muster.db" && missed "the database is gone"
'

test_expect_success 'with --accept-data-loss it goes on, above every revision that was acknowledged' '
	rm -rf "$data" && cp -a kept "$data" && start_muster && last=$(api /api/v1/configmaps | jq -r .metadata.resourceVersion) && { stop_muster KILL; true; } &&
	rm "$data/muster.db-wal" && : >muster.log && start_muster --accept-data-loss && has muster.log "default/one.*missing" "default/first.*exists again" &&
	test_must_fail kubectl get configmap one && make ConfigMap one && test "$(kubectl get configmap one -o jsonpath={.metadata.resourceVersion})" -gt "$last" &&
	stop_muster && start_muster && kubectl get configmap one
'

test_expect_success 'a file that is no database at all: one clear line, exit 1, nothing overwritten' '
	stop_muster && rm -f "$data"/muster.db* && echo "this is not a database, but it may be dear to somebody" >"$data/muster.db" && cp "$data/muster.db" before &&
	test_expect_code 1 timeout 60 muster up --data "$data" --listen 127.0.0.1:0 2>err && is 1 "$(wc -l <err)" && has err "muster.db" && test_cmp before "$data/muster.db"
'

test_done
