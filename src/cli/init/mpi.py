"""Fits a line on all ranks. Rank 0 saves it to model.json.

It runs alone as well: python3 train.py
"""
import argparse
import json
import random

from mpi4py import MPI

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

ranks = MPI.COMM_WORLD
rank, world = ranks.Get_rank(), ranks.Get_size()
print(f"rank {rank} of {world}")

random.seed(rank)  # each rank has points of its own
xs = [random.uniform(-1, 1) for _ in range(100)]
points = [(x, 3 * x + 1 + random.gauss(0, 0.1)) for x in xs]
a = b = 0.0
for step in range(1, steps + 1):
    errors = [a * x + b - y for x, y in points]
    # The sum over all ranks, which all of them get.
    a -= 0.2 * ranks.allreduce(sum(e * x for e, (x, _) in zip(errors, points))) / (world * len(points))
    b -= 0.2 * ranks.allreduce(sum(errors)) / (world * len(points))
    if step % max(1, steps // 4) == 0:
        print(f"rank {rank} step {step}: loss {sum(e * e for e in errors) / len(points):.4f}")

if rank == 0:  # one rank writes: all share the directory
    with open("model.json", "w") as file:
        json.dump({"a": a, "b": b}, file)
    print(f"saved model.json: y = {a:.2f} x + {b:.2f}")
