#!/bin/sh
test_description='pods and jobs that make no progress: isolation shared, as root'
level=shared who=root
. "$(dirname "$0")/stall-cases.sh"
