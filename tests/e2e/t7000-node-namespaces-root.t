#!/bin/sh
test_description='pods as processes of this machine: isolation namespaces, as root'
level=namespaces who=root
. "$(dirname "$0")/node-cases.sh"
