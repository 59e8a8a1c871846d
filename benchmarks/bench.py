"""How fast the package is, as ratios to what it cannot do without.

Run it on a quiet machine: tox run -e bench, or one part of it: tox run -e bench -- scaling

- scaling: :func:`attnlab.measure_scaling` at the sizes of section 5, against drawing its random
  numbers and nothing else, and against a plain loop over the trials; and its peak memory.
- import: ``import attnlab`` against ``import numpy``, each in a fresh process.
- site: a build of the site from nothing, and one more with nothing changed.
- pages: what a reader's browser loads, and when it shows; see ``pages.py``.

What is compared runs in turn, round by round, so that a slow moment of the machine slows each of
them; the ratio is the median over the rounds. The exit code is 1 if a ratio misses its aim.
"""

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from attnlab import ScalingMeasurement, measure_scaling, softmax
from attnlab.sections.s5_scaling import KEYS, SIZES, TRIALS

#: What a ratio to the floor may be at most.
AIM = 1.3
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def plain_scaling(rng: np.random.Generator, d: int, trials: int, keys: int) -> ScalingMeasurement:
    """Measure trial by trial, as one would write it first."""
    dots, unscaled, scaled = [], [], []
    for _ in range(trials):
        query, key = rng.standard_normal(d), rng.standard_normal((keys, d))
        scores = key @ query
        dots.append(scores)
        unscaled.append(softmax(scores).max())
        scaled.append(softmax(scores / math.sqrt(d)).max())
    means = float(np.mean(unscaled)), float(np.mean(scaled))
    return ScalingMeasurement(d, float(np.std(dots)), *means)


def seconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(
    measure: Mapping[str, Callable[[], float]], rounds: int, floor: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Measure each in turn: the median times, and the medians of the ratios to the floor."""
    found = [{name: run() for name, run in measure.items()} for _ in range(rounds)]
    times = {name: statistics.median(r[name] for r in found) for name in measure}
    ratios = {name: statistics.median(r[name] / r[floor] for r in found) for name in measure}
    return times, ratios


def scaling() -> Iterator[bool]:
    """Time the measurement of section 5, and watch its memory."""
    total = sum(SIZES) * (1 + KEYS) * TRIALS

    def each_size(run: Callable[..., object]) -> Callable[[], float]:
        def sizes() -> None:
            rng = np.random.default_rng(0)
            for d in SIZES:
                run(rng, d, TRIALS, KEYS)

        return lambda: seconds(sizes)

    # The numbers alone, into memory that is there already: nothing can be faster.
    block = np.empty(2**16)
    whole, rest = divmod(total, block.size)

    def draw() -> None:
        rng = np.random.default_rng(0)
        for _ in range(whole):
            rng.standard_normal(out=block)
        rng.standard_normal(out=block[:rest])

    times, ratios = medians(
        {
            "drawing the numbers alone": lambda: seconds(draw),
            "measure_scaling": each_size(measure_scaling),
            "a plain loop": each_size(plain_scaling),
        },
        rounds=15,
        floor="drawing the numbers alone",
    )
    print(f"scaling: {TRIALS} trials of {KEYS} keys at d = {', '.join(map(str, SIZES))}")
    for name, took in times.items():
        print(f"  {name:<26} {1000 * took:8.1f} ms   {ratios[name]:6.2f} times the drawing")
    speed_up = ratios["a plain loop"] / ratios["measure_scaling"]
    print(f"  measure_scaling is {speed_up:.1f} times as fast as the plain loop")
    yield within_aim("measure_scaling to drawing", ratios["measure_scaling"])

    peaks = {}
    for factor in (1, 10, 100):
        tracemalloc.start()
        measure_scaling(np.random.default_rng(0), max(SIZES), factor * TRIALS, KEYS)
        peaks[factor] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    for factor, peak in peaks.items():
        print(
            f"  peak memory, {factor * TRIALS:>6} trials of d = {max(SIZES)}: {peak / 1e6:.2f} MB"
        )
    yield within_aim("memory at 100 times the trials to 1 time", peaks[100] / peaks[1])


def imports() -> Iterator[bool]:
    """Time the import in fresh processes."""

    def load(name: str) -> Callable[[], float]:
        command = [sys.executable, "-c", IMPORT.format(name)]
        return lambda: float(subprocess.run(command, check=True, capture_output=True).stdout)

    times, ratios = medians(
        {"numpy": load("numpy"), "attnlab": load("attnlab")}, rounds=31, floor="numpy"
    )
    print("import, in a fresh process")
    for name, took in times.items():
        print(f"  {name:<26} {1000 * took:8.1f} ms   {ratios[name]:6.2f} times numpy")
    yield within_aim("import attnlab to import numpy", ratios["attnlab"])


def site() -> Iterator[bool]:
    """Time two builds of the site, in a copy of the project."""
    from pages import build, copy_project

    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        cold, again = (seconds(lambda: build(Path(folder)).check_returncode()) for _ in "12")
    print("site")
    print(f"  from nothing               {cold:8.1f} s")
    print(f"  with nothing changed       {again:8.1f} s    {again / cold:6.2f} times the first")
    yield True


def pages() -> Iterator[bool]:
    """Measure the pages in a browser, if there is one."""
    import pages as measured

    if measured.CHROMIUM.exists():
        yield from measured.pages()
    else:
        print(f"pages: left out, there is no {measured.CHROMIUM}")


def within_aim(what: str, ratio: float) -> bool:
    """Say whether a ratio is within the aim."""
    verdict = "within" if ratio <= AIM else "MISSES"
    print(f"  {verdict} the aim of at most {AIM}: {what}: {ratio:.2f}")
    return ratio <= AIM


PARTS = {"scaling": scaling, "import": imports, "site": site, "pages": pages}


def main() -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Time the package; see the top of this file.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}")
    parts = parser.parse_args().parts or list(PARTS)
    unknown = set(parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {' or '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    met = [aim_met for name in parts for aim_met in PARTS[name]()]  # all run, whatever they find
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
