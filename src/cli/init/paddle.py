"""Fits a line with DataParallel. Rank 0 saves the model to model.pdparams.

It runs alone as well: python3 train.py
"""
import argparse

import numpy as np
import paddle
import paddle.distributed as dist

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

paddle.set_device("cpu")  # "gpu" with a GPU for each rank
dist.init_parallel_env()
rank, world = dist.get_rank(), dist.get_world_size()
print(f"rank {rank} of {world}")

random = np.random.default_rng(rank)  # each rank has points of its own
x = random.uniform(-1, 1, (200, 1)).astype("float32")
y = (3 * x + 1 + random.normal(0, 0.1, x.shape)).astype("float32")
x, y = paddle.to_tensor(x), paddle.to_tensor(y)

net = paddle.nn.Linear(1, 1)
model = paddle.DataParallel(net)  # averages the gradients of all ranks
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
for step in range(1, steps + 1):
    loss = paddle.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    if step % max(1, steps // 4) == 0:
        print(f"rank {rank} step {step}: loss {float(loss):.4f}")

if rank == 0:  # one rank writes: all share the directory
    paddle.save(net.state_dict(), "model.pdparams")
    print(f"saved model.pdparams: y = {net.weight.item():.2f} x + {net.bias.item():.2f}")
