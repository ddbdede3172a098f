#!/bin/sh
test_description='kubectl attach -i and run -i, isolation namespaces'
level=namespaces
. "$(dirname "$0")/attach-cases.sh"
