#!/bin/sh
test_description='pods and jobs that make no progress: isolation namespaces, as a user'
level=namespaces who=user
. "$(dirname "$0")/stall-cases.sh"
