#!/bin/sh
test_description='the network of pods, as user'
who=user
. "$(dirname "$0")/network-cases.sh"
