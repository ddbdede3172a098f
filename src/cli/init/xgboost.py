"""Learns which points lie in a circle. Rank 0 saves the trees to model.json.

It runs alone as well: python3 train.py
"""
import argparse
import os
import socket
import time

import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

options = argparse.ArgumentParser()
options.add_argument("--rounds", type=int, default=40)
rounds = options.parse_args().rounds

env = os.environ  # the job sets these; the defaults are for a run without one
rank, world = int(env.get("RANK", 0)), int(env.get("WORLD_SIZE", 1))
name, port = env.get("MASTER_ADDR", "localhost"), int(env.get("MASTER_PORT", 9999))


def address_of(name):
    """The name of the master is known once its pod runs."""
    while True:
        try:
            return socket.gethostbyname(name)
        except OSError:
            time.sleep(0.2)


def points(n, seed):
    x = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return x, (np.linalg.norm(x, axis=1) < 0.8).astype(int)


class Progress(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, log):
        if (epoch + 1) % max(1, rounds // 4) == 0:
            print(f"rank {rank} round {epoch + 1}: loss {log['train']['logloss'][-1]:.4f}")


master = address_of(name)
if rank == 0:
    tracker = RabitTracker(n_workers=world, host_ip=master, port=port, sortby="task")
    tracker.start()
with collective.CommunicatorContext(
    dmlc_tracker_uri=master, dmlc_tracker_port=port, dmlc_task_id=str(rank), dmlc_retry=60
):
    print(f"rank {collective.get_rank()} of {collective.get_world_size()}")
    data = xgb.DMatrix(*points(1000, seed=rank))  # each rank has points of its own
    model = xgb.train(
        {"objective": "binary:logistic", "max_depth": 3, "nthread": 1},
        data,
        rounds,
        evals=[(data, "train")],
        verbose_eval=False,
        callbacks=[Progress()],
    )
if rank == 0:  # one rank writes: all share the directory
    tracker.wait_for()  # until the others have ended
    model.save_model("model.json")
    x, y = points(1000, seed=1000)
    right = np.mean((model.predict(xgb.DMatrix(x)) > 0.5) == y)
    print(f"saved model.json: {right:.1%} right on new points")
