#!/bin/sh
test_description='kubectl port-forward, isolation shared'
level=shared
. "$(dirname "$0")/forward-cases.sh"
