#!/bin/sh
test_description='pods as processes of this machine: isolation shared, as user'
level=shared who=user
. "$(dirname "$0")/node-cases.sh"
