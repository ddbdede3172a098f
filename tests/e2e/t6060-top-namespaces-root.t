#!/bin/sh
test_description='kubectl top and muster top: isolation namespaces, as root'
level=namespaces who=root
. "$(dirname "$0")/top-cases.sh"
