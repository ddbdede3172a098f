#!/bin/sh
test_description='pods as processes of this machine: isolation namespaces, as user'
level=namespaces who=user
. "$(dirname "$0")/node-cases.sh"
