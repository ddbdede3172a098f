#!/bin/sh
test_description='kubectl top and muster top: isolation shared, as root'
level=shared who=root
. "$(dirname "$0")/top-cases.sh"
