#!/bin/sh
test_description='kubectl attach -i and run -i, isolation shared'
level=shared
. "$(dirname "$0")/attach-cases.sh"
