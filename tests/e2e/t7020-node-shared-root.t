#!/bin/sh
test_description='pods as processes of this machine: isolation shared, as root'
level=shared who=root
. "$(dirname "$0")/node-cases.sh"
