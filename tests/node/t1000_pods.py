#!/usr/bin/python3
"""Scenes of pods on this machine, at both levels of isolation, as root and as an ordinary user.
Usage: t1000_pods.py [namespaces|shared] [root|user] [part of a scene's name]..."""

import importlib
import pkgutil

import scenes
from harness.tap import claim
from world.cast import nothing_left, on_each_of_argv
from world.machine import Machine
from world.scene import play

for module in pkgutil.iter_modules(scenes.__path__):
    importlib.import_module("scenes." + module.name)  # they enlist


def all_scenes(tap, level, user, parts):
    machine = Machine(level, user, "--resources", "nvidia.com/gpu=2,example.com/thing=4")
    chosen = [f for f in scenes.of(level, user) if not parts or any(p in f.__name__ for p in parts)]
    tap.run_all([(f"{claim(f)} ({machine.name})", play, machine, f"s{i}", f) for i, f in enumerate(chosen)], width=14)
    tap.run(f"stopped without pods, it leaves nothing behind ({machine.name})", nothing_left, machine)
    machine.remove()


if __name__ == "__main__":
    on_each_of_argv(all_scenes)
