"""Images: there are none here. What runs anyway, and what is said of the rest."""

from harness.tap import has, is_
from world.record import phase
from world.scene import matches

from . import scene


@scene
def an_image_nobody_knows_runs_here_when_there_is_a_command(s):
    s.start("p", "exit 0", gate=False)
    s.wait_phase("p", "Succeeded")
    s.wait(lambda: [e for e in s.machine.told[s.ns] if "example.com/e2e:1" in e.get("message", "") and
                    "this machine" in e["message"]], "an event says that it ran on this machine")


@scene
def an_image_without_a_command_says_what_to_add(s):
    s.start("p", {"name": "main", "image": "example.com/unknown:7"}, gate=False)
    said = s.wait_waiting("p", "ImageNotMapped")
    has(said, "example.com/unknown:7", "the image is named")
    matches(said, "images.yaml|muster image map", "where to add it")
    is_(phase(s.get("p")), "Pending", "phase")
    assert s.get("p")["spec"].get("nodeName"), "it counts as scheduled"
    s.wait_event("Failed", "example.com/unknown:7", name="p")


@scene
def arguments_alone_are_no_command(s):
    s.start("p", {"name": "main", "image": "example.com/unknown:8", "args": ["--epochs", "3"]}, gate=False)
    s.wait_waiting("p", "ImageNotMapped")


@scene
def a_container_that_waits_for_its_image_does_not_hold_up_deletion(s):
    s.start("p", {"name": "main", "image": "example.com/unknown:9"}, gate=False, grace=600)
    s.wait_waiting("p", "ImageNotMapped")
    s.delete("p")
    s.wait_gone("p")
