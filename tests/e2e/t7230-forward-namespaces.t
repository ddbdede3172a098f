#!/bin/sh
test_description='kubectl port-forward, isolation namespaces'
level=namespaces
. "$(dirname "$0")/forward-cases.sh"
