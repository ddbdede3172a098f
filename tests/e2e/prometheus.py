#!/usr/bin/env python3
"""prometheus.py FILE: reads metrics as Prometheus does; prints the families, fails at what is odd."""
import sys

from prometheus_client.parser import text_string_to_metric_families

seen = set()
for family in text_string_to_metric_families(open(sys.argv[1], encoding="utf-8").read()):
    assert family.documentation and family.type != "unknown", family.name
    buckets = {}
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in seen, key
        seen.add(key)
        if sample.name.endswith("_bucket"):
            rest = tuple(item for item in key[1] if item[0] != "le")
            buckets.setdefault(rest, []).append(sample)
    for of_one in buckets.values():
        values = [s.value for s in of_one]
        assert values == sorted(values), family.name
        assert of_one[-1].labels["le"] == "+Inf", family.name
    print(family.name)
