#!/bin/sh
test_description='pods see no credentials of servers and homes: isolation namespaces, as user'
who=user
. "$(dirname "$0")/hide-cases.sh"
