#!/bin/sh
test_description='kubectl top and muster top: isolation namespaces, as user'
level=namespaces who=user
. "$(dirname "$0")/top-cases.sh"
