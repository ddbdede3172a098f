#!/bin/sh
test_description='kubectl top and muster top: isolation shared, as user'
level=shared who=user
. "$(dirname "$0")/top-cases.sh"
