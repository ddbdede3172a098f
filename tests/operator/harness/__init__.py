"""What the operator's tests are made of; see README.md beside this folder."""
