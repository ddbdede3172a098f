/* Between the node's JSON and the records of wardens (sys/record.h). */
#pragma once

#include "base/json.h"

/* Adds what a JSON value holds. Members of objects become keys with dots, elements of lists pairs
 * with the same key; an element that is an object is a pair without a value, and its members
 * follow. */
void warden_record_add(struct buf *b, const char *key, jv v);
/* DIR/state, and what a warden says at first: {ip, …, containers: {NAME: {attempt, …}}}. */
jv warden_record_state(struct arena *a, str record);
/* Of DIR/sandbox what a node that was restarted needs: {net: {host, ip}, note: {devices}}. */
jv warden_record_sandbox(struct arena *a, const char *dir);
