"""Fits a line to points, in plain Python. Saves it to model.json."""
import argparse
import json
import random

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

random.seed(1)
xs = [random.uniform(-1, 1) for _ in range(100)]
points = [(x, 3 * x + 1 + random.gauss(0, 0.1)) for x in xs]
a = b = 0.0
for step in range(1, steps + 1):
    errors = [a * x + b - y for x, y in points]
    a -= 0.2 * sum(e * x for e, (x, _) in zip(errors, points)) / len(points)
    b -= 0.2 * sum(errors) / len(points)
    if step % max(1, steps // 4) == 0:
        print(f"step {step}: loss {sum(e * e for e in errors) / len(points):.4f}")

with open("model.json", "w") as file:
    json.dump({"a": a, "b": b}, file)
print(f"saved model.json: y = {a:.2f} x + {b:.2f}")
