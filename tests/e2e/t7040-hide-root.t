#!/bin/sh
test_description='pods see no credentials of servers and homes: isolation namespaces, as root'
who=root
. "$(dirname "$0")/hide-cases.sh"
