"""Fits a line on all processes of the job. Process 0 saves it to model.npz.

It runs alone as well: python3 train.py
"""
import argparse
import os

import jax
import jax.numpy as jnp
import numpy as np

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

env = os.environ
if "COORDINATOR_ADDRESS" in env:  # the job sets these
    jax.config.update("jax_cpu_collectives_implementation", "gloo")  # without GPUs
    jax.distributed.initialize(
        f"{env['COORDINATOR_ADDRESS']}:{env['COORDINATOR_PORT']}",
        int(env["NUM_PROCESSES"]),
        int(env["PROCESS_ID"]),
        cluster_detection_method="deactivate",
    )
rank, world = jax.process_index(), jax.process_count()
print(f"process {rank} of {world}")

devices = jax.local_device_count()
random = np.random.default_rng(rank)  # each process has points of its own
x = random.uniform(-1, 1, (devices, 200)).astype(np.float32)
y = 3 * x + 1 + random.normal(0, 0.1, x.shape).astype(np.float32)


def loss_of(line, x, y):
    return jnp.mean((line["a"] * x + line["b"] - y) ** 2)


def train(line, x, y):
    loss, slope = jax.value_and_grad(loss_of)(line, x, y)
    loss, slope = jax.lax.pmean((loss, slope), "all")  # the mean over all processes
    return jax.tree.map(lambda value, s: value - 0.1 * s, line, slope), loss


train = jax.pmap(train, axis_name="all")
line = {"a": jnp.zeros(devices), "b": jnp.zeros(devices)}
for step in range(1, steps + 1):
    line, loss = train(line, x, y)
    if step % max(1, steps // 4) == 0:
        print(f"process {rank} step {step}: loss {loss[0]:.4f}")

if rank == 0:  # one process writes: all share the directory
    a, b = (float(line[name][0]) for name in "ab")
    np.savez("model.npz", a=a, b=b)
    print(f"saved model.npz: y = {a:.2f} x + {b:.2f}")
if world > 1:
    jax.distributed.shutdown()
