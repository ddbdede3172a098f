"""Fits a line with MultiWorkerMirroredStrategy. Worker 0 saves the model to the directory model.

It runs alone as well: python3 train.py
"""
import argparse
import tempfile

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=200)
steps = options.parse_args().steps

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # reads TF_CONFIG, which the job sets
resolver = strategy.cluster_resolver
rank = resolver.task_id or 0
world = len(resolver.cluster_spec().as_dict().get("worker", [rank]))
print(f"worker {rank} of {world}")


class Line(tf.Module):
    def __init__(self):
        self.a, self.b = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def __call__(self, x):
        return self.a * x + self.b


with strategy.scope():
    model = Line()

x = tf.random.stateless_uniform([200], [rank, 0], -1.0, 1.0)  # each worker has points of its own
y = 3 * x + 1 + tf.random.stateless_normal([200], [rank, 1], 0.0, 0.1)


def step_of(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    slopes = tape.gradient(loss, model.trainable_variables)
    slopes = tf.distribute.get_replica_context().all_reduce("mean", slopes)
    for variable, slope in zip(model.trainable_variables, slopes):
        variable.assign_sub(0.1 * slope)
    return loss


@tf.function
def train(x, y, n):
    loss = 0.0
    for _ in tf.range(n):
        loss = strategy.run(step_of, (x, y))
    return loss


part = max(1, steps // 4)
for step in range(part, steps + 1, part):
    print(f"worker {rank} step {step}: loss {float(train(x, y, tf.constant(part))):.4f}")

# All workers have to save; only what worker 0 writes is kept.
tf.saved_model.save(model, "model" if rank == 0 else tempfile.mkdtemp())
if rank == 0:
    print(f"saved model: y = {model.a.numpy():.2f} x + {model.b.numpy():.2f}")
