"""Fits a line with DistributedDataParallel. Rank 0 saves the model to model.pt.

It runs alone as well: python3 train.py
"""
import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

# The job sets these; the defaults are for a run without one.
for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")):
    os.environ.setdefault(name, value)
dist.init_process_group("gloo")  # "nccl" with a GPU for each rank
rank, world = dist.get_rank(), dist.get_world_size()
print(f"rank {rank} of {world}")

torch.set_num_threads(1)
torch.manual_seed(rank)  # each rank has points of its own
x = torch.rand(200, 1) * 2 - 1
y = 3 * x + 1 + torch.randn(200, 1) * 0.1

model = DistributedDataParallel(torch.nn.Linear(1, 1))  # averages the gradients of all ranks
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1, steps + 1):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % max(1, steps // 4) == 0:
        print(f"rank {rank} step {step}: loss {loss.item():.4f}")

if rank == 0:  # one rank writes: all share the directory
    torch.save(model.module.state_dict(), "model.pt")
    line = model.module
    print(f"saved model.pt: y = {line.weight.item():.2f} x + {line.bias.item():.2f}")
dist.barrier()
dist.destroy_process_group()
