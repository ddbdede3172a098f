"""The command: options, the order of things, and TAP."""

import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from . import compare, normal, script, wire

HERE = pathlib.Path(__file__).resolve().parent.parent


def main():
    options = read_options()
    areas = script.read_all(HERE / "requests")
    if options.count:
        print(sum(len(a.requests) for a in areas))
        return 0
    if options.record:
        return record(options, areas)
    if options.selfcheck:
        return selfcheck(options, areas)
    sides = [wire.Side(path, options.run) for path in (options.left, options.right)]
    with open(options.differences, encoding="utf-8") as lines:
        accepted = compare.Accepted(lines, pathlib.Path(options.differences).name)
    return compare_sides(sides, accepted, areas, options)


def read_options():
    p = argparse.ArgumentParser(description="Sends the same requests to two Kubernetes APIs.")
    p.add_argument("--left", metavar="KUBECONFIG", help="the API to compare with")
    p.add_argument("--right", metavar="KUBECONFIG", help="the API to judge")
    p.add_argument(
        "--record", nargs=2, metavar=("DIR", "KUBECONFIG"), help="write down one API's answers"
    )
    p.add_argument("--selfcheck", action="store_true", help="compare two real ones: no difference")
    p.add_argument("--count", action="store_true", help="say how many requests there are")
    p.add_argument("--only", metavar="PATTERN", default="*", help="requests, such as 'pods/*'")
    p.add_argument("--differences", default=HERE / "differences.txt", help="the accepted ones")
    p.add_argument("--run", help="a word to make names unique (default: a random one)")
    p.add_argument("--keep", action="store_true", help="leave behind what the run made")
    p.add_argument("-v", "--verbose", action="store_true", help="show accepted differences too")
    options = p.parse_args()
    chosen = options.count or options.selfcheck or options.record
    if not chosen and not (options.left and options.right):
        p.error("what to compare? --left and --right, --record or --selfcheck")
    options.run = options.run or "r" + "".join(random.choices("bcdfghjklmnpqrstvwxz", k=6))
    return options


def compare_sides(sides, accepted, areas, options):
    """TAP: a test for each request, and one that every accepted difference is there."""
    number = failed = 0
    normalisers = [normal.Normaliser(side.values["run"]) for side in sides]
    with concurrent.futures.ThreadPoolExecutor(len(sides)) as pool:
        for area in areas:
            if not fnmatch.filter((r.id for r in area.requests), options.only):
                continue
            both = pool.map(lambda side, area=area: side.run(area), sides)
            for request, *answers in zip(area.requests, *both):
                normals = [n.answer(a) for n, a in zip(normalisers, answers)]
                # A request may need those before it: an area runs whole, and some count.
                if not fnmatch.fnmatchcase(request.id, options.only):
                    continue
                number += 1
                failed += not judge(number, request, normals, accepted, options.verbose)
    if not options.keep:
        for side in sides:
            side.clean_up()
    if options.only == "*":
        number += 1
        stale = [f"{where}: no longer so: {ids} {path}" for where, ids, path, _ in accepted.stale()]
        failed += not tell(number, "every accepted difference is there", not stale, stale)
    print(f"1..{number}")
    return 1 if failed else 0


def judge(number, request, normals, accepted, verbose):
    notes, fine = [f"{request.method} {request.path}"], True
    for path, left, right in compare.answers(*normals):
        known = accepted.covers(request.id, path)
        fine = fine and known
        if verbose or not known:
            notes.append(f"{path}{' (accepted)' if known else ''}")
            notes.append(f"  left:  {show(left)}")
            notes.append(f"  right: {show(right)}")
    return tell(number, request.id, fine, notes if notes[1:] else [])


def tell(number, what, fine, notes):
    print(f"{'ok' if fine else 'not ok'} {number} - {what}")
    for note in notes:
        print(f"# {note}")
    sys.stdout.flush()
    return fine


def show(value):
    return value if value == compare.ABSENT else json.dumps(value, ensure_ascii=False)


def record(options, areas):
    """DIR/area/request.json: what was asked, and the answer as it came."""
    folder, kubeconfig = options.record
    side = wire.Side(kubeconfig, options.run)
    for area in areas:
        for request, answer in zip(area.requests, side.run(area)):
            path = pathlib.Path(folder, request.id + ".json")
            path.parent.mkdir(parents=True, exist_ok=True)
            del answer["kept"]
            path.write_text(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
    if not options.keep:
        side.clean_up()
    return 0


def selfcheck(options, areas):
    """Two fresh real APIs, and two words for the run: what differs is our own fault."""
    started, sides = [], []
    options.keep = True
    try:
        for run in ("one" + options.run, "other" + options.run):
            folder = tempfile.mkdtemp(prefix="parity.")
            started.append(folder)
            up = subprocess.run(
                [HERE / "up", folder], check=True, stdout=subprocess.PIPE, text=True
            )
            sides.append(wire.Side(up.stdout.strip(), run))
        return compare_sides(sides, compare.Accepted([]), areas, options)
    finally:
        for folder in started:
            subprocess.run([HERE / "down", folder], check=False)
            shutil.rmtree(folder)
