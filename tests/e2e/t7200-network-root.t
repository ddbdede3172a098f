#!/bin/sh
test_description='the network of pods, as root'
who=root
. "$(dirname "$0")/network-cases.sh"
