"""Sends one script of requests to two Kubernetes APIs and compares the answers."""
