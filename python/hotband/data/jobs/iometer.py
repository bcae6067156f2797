"""Iometer's tests as streams, loops and steps.

Traps, each with a test: the random share of a line is a coin for every I/O; `align` 0 is the sector, not the size of
the I/O (IOTargetDisk.cpp, TargetDisk::Seek: "If user enters an alignment of 0 (zero), sector alignment is assumed");
outstanding I/Os are of each target; a delay is before every burst of the worker (IOGrunt.cpp, Grunt::Do_IOs); sizes
and starting sectors count sectors of 512 bytes. Every worker runs its access specifications in order: the first of
all workers together are the first test.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.jobs.form import MOST_STREAMS, UNSAID_SECONDS, Closed, Form, Loop, Step, StreamForm, Value, bytes_text
from hotband.data.jobs.iometer_file import Configuration, Line, Specification, Worker, numbers_of, read_configuration
from hotband.data.jobs.loss import Fate, Location, LossReport
from hotband.data.jobs.parts import Amount, Files
from hotband.data.jobs.source import Option

SECTOR = 512
MOST_OUTSTANDING = 65_536
# What Iometer asks of a worker to begin with.
_ONE_WORKER = "the file has no worker with a target: one worker with one outstanding I/O is assumed"


def form(path: Path, text: str, report: LossReport) -> Form:
    """Read the configuration into streams, loops and steps; `report` gets one line per option. Raises UserError for a
    mistake."""
    configuration = read_configuration(text, report.file)
    specifications = [specification for specification in configuration.specifications if specification.lines]
    if not specifications:
        raise UserError(report.file, "ACCESS SPECIFICATIONS", "", "missing: expected at least one access specification")
    workers = _workers(configuration, specifications, report)
    files = Files()
    for worker in workers:
        _meet(worker, files)
    made = Form(
        f"{path.name}: {', '.join(specification.name or 'access' for specification in specifications[:3])}", report
    )
    seconds, ramp = _times(configuration, report)
    tests = max(len(_assigned(worker, specifications, report)) for worker in workers)
    for number in range(tests):
        _test(made, number, [(w, _assigned(w, specifications, report)) for w in workers], files)
        made.steps[-1].seconds = seconds
        if sum(len(loop.streams) for loop in made.loops) > MOST_STREAMS:
            accepted = f"more than {MOST_STREAMS} streams (workers, lines, targets); expected fewer in one file"
            raise UserError(report.file, "ACCESS SPECIFICATIONS", "", accepted)
    made.steps[0].warm_up = ramp
    if len(made.steps) == 1:
        made.steps[0].name = "measure"
    _cycle(configuration, made, report)
    _report(configuration, specifications, workers, report)
    return made


def _workers(configuration: Configuration, specifications: list[Specification], report: LossReport) -> list[Worker]:
    """Return the workers that do I/O to disks."""
    asking = []
    for worker in configuration.workers:
        if worker.kind != "DISK":
            report.add(
                Fate.IGNORED,
                worker.name.location,
                f"worker {worker.name.value}",
                f"its type is {worker.kind}, not DISK",
            )
        elif worker.targets:
            asking.append(worker)
        else:
            report.add(Fate.IGNORED, worker.name.location, f"worker {worker.name.value}", "it has no target")
    if asking:
        return asking
    origin = specifications[0].location
    report.add(Fate.APPROXIMATED, Location(origin.file, 0), "workers", _ONE_WORKER)
    names = [
        Option("assigned access specs", specification.name, specification.location) for specification in specifications
    ]
    return [
        Worker(
            Option("worker", "worker", origin), "", specifications=names, targets=[Option("target", "target", origin)]
        )
    ]


def _assigned(worker: Worker, specifications: list[Specification], report: LossReport) -> list[Specification]:
    """Return the specifications that a worker runs, in order: those assigned to it, else those assigned by default."""
    names = {specification.name.lower(): specification for specification in specifications}
    assigned = []
    for option in worker.specifications:
        specification_ = names.get(option.value.strip().lower())
        if specification_ is None and list(names) == [""]:
            # Old files: the only specification has no name.
            specification_ = specifications[0]
            report.add(
                Fate.APPROXIMATED,
                option.location,
                option.value,
                "the only access specification of the file, which has no name",
            )
        if specification_ is None:
            known = ", ".join(f'"{each.name}"' for each in specifications[:10])
            option.refuse(f"no access specification has this name; expected one of {known}")
        assigned.append(specification_)
    if assigned:
        return assigned
    default = [specification for specification in specifications if specification.default.upper() in ("ALL", "DISK")]
    if not default:
        worker.name.refuse("has no access specification; expected 'Assigned access specs below it")
    return default


def _disk(worker: Worker) -> tuple[int, int]:
    """Return the first byte and the number of bytes used; 0 bytes for all."""
    if worker.disk is None:
        return 0, 0
    numbers = numbers_of(worker.disk)
    if len(numbers) < 2:
        worker.disk.refuse("expected the maximum size and the starting sector")
    return int(numbers[1]) * SECTOR, int(numbers[0]) * SECTOR


def _meet(worker: Worker, files: Files) -> None:
    start, size = _disk(worker)
    for target in worker.targets:
        files.meet(_file(worker, target), start + size if size else None)


def _file(worker: Worker, target: Option) -> str:
    return f"{worker.manager}:{target.value}"


def _outstanding(worker: Worker) -> int:
    numbers = numbers_of(worker.outstanding) if worker.outstanding else []
    depth = int(numbers[0]) if numbers else 1
    if worker.outstanding and not 1 <= depth * len(worker.targets) <= MOST_OUTSTANDING:
        worker.outstanding.refuse(f"expected outstanding I/Os from 1 to {MOST_OUTSTANDING}")
    return depth


def _test(made: Form, number: int, workers: list[tuple[Worker, list[Specification]]], files: Files) -> None:
    """Add the loops of one test: one per worker; equal random ones are merged."""
    places: list[int] = []
    names: list[str] = []
    equal: dict[tuple[object, ...], int] = {}
    for worker, assigned in workers:
        if number >= len(assigned):
            continue
        specification = assigned[number]
        names.append(specification.name)
        loop = _loop(made.report, worker, specification, files)
        targets = tuple(_file(worker, target) for target in worker.targets)
        identity = (specification.name, targets, _outstanding(worker), _disk(worker))
        random = all(line.random_pct == 100 for line in specification.lines)
        same = equal.get(identity) if random else None
        first = made.loops[same].load if same is not None else None
        if isinstance(first, Closed) and isinstance(loop.load, Closed):
            first.threads += loop.load.threads
            continue
        equal[identity] = len(made.loops)
        places.append(len(made.loops))
        made.loops.append(loop)
    title = ", ".join(dict.fromkeys(name for name in names if name)) or f"test {number + 1}"
    made.steps.append(Step(title, places, None))


def _loop(report: LossReport, worker: Worker, specification: Specification, files: Files) -> Loop:
    start, size = _disk(worker)
    lines = [line for line in specification.lines if line.share > 0]
    if not lines:
        specification.lines[0].option.refuse("% of size is 0 in all lines: expected shares that add up to 100")
    streams = []
    several = len(worker.targets) > 1
    for number, line in enumerate(lines, 1):
        for target in worker.targets:
            offset = Amount(start) if start or size else None
            extent = files.part(_file(worker, target), offset, Amount(size) if size else None, worker.disk or target)
            name = specification.name or worker.name.value
            label = f"{name} line {number}" if len(lines) > 1 else name
            stream = _stream(line, f"{label} {target.value}" if several else label, extent, worker.disk)
            stream.share = line.share / len(worker.targets)
            streams.append(stream)
    return Loop(streams, _load(report, worker, specification, lines))


def _load(report: LossReport, worker: Worker, specification: Specification, lines: list[Line]) -> Closed:
    depth = _outstanding(worker)
    closed = Closed(len(worker.targets), depth)
    delays = {(line.delay_ms, line.burst) for line in lines}
    delay = sum(line.delay_ms * line.share for line in lines) / sum(line.share for line in lines)
    if not delay:
        if len(lines) > 1 and any(line.burst > 1 for line in lines):
            report.add(
                Fate.APPROXIMATED, specification.location, "burst", "a line is drawn for every I/O, not for every burst"
            )
        return closed
    burst = max(line.burst for line in lines)
    if len(delays) > 1:
        why = f"all lines have {delay:g} ms and bursts of {burst}"
        report.add(Fate.APPROXIMATED, specification.location, "delay, burst", why)
    outstanding = min(burst, depth * len(worker.targets))
    if depth * len(worker.targets) > 1:
        why = "the delay begins when all I/Os of the last burst completed; Iometer does not wait for them"
        report.add(Fate.APPROXIMATED, specification.location, "delay", why)
    return Closed(1, outstanding, delay * 1000, burst)


def _stream(line: Line, name: str, extent: list[str] | None, disk: Option | None) -> StreamForm:
    keys: dict[str, Value] = {"read_pct": line.read_pct, "random_pct": line.random_pct, "size": bytes_text(line.size)}
    if 0 < line.random_pct < 100:
        keys["random_mode"] = "coin"
    if line.random_pct:
        keys["align"] = bytes_text(line.align or SECTOR)
    if extent is not None:
        keys["range"] = list(extent)
    came = dict.fromkeys(("read_pct", "random_pct", "size", "align"), line.option)
    return StreamForm(name, keys, {**came, **({"range": disk} if disk else {})})


def _times(configuration: Configuration, report: LossReport) -> tuple[float, float]:
    run, ramp = configuration.setup.get("run time"), configuration.setup.get("ramp up time (s)")
    parts = numbers_of(run) if run else []
    if run is not None and len(parts) != 3:
        run.refuse("expected hours, minutes and seconds")
    seconds = parts[0] * 3600 + parts[1] * 60 + parts[2] if parts else 0.0
    if not seconds:
        origin = run.location if run else Location(report.file, 0)
        report.add(Fate.APPROXIMATED, origin, "Run Time", f"{UNSAID_SECONDS:g} s are measured: the test sets no end")
    warm_up = numbers_of(ramp) if ramp else []
    return seconds or UNSAID_SECONDS, warm_up[0] if warm_up else 0.0


def _cycle(configuration: Configuration, made: Form, report: LossReport) -> None:
    """Read `Test Type`: outstanding I/Os may change from test to test; workers and targets all take part."""
    kind = configuration.setup.get("test type")
    if kind is None or kind.value.upper() == "NORMAL":
        return
    cycle = next((option for key, option in configuration.setup.items() if key.startswith("queue depth cycling")), None)
    load = made.loops[0].load if len(made.loops) == 1 else None
    if "OUTSTANDING" not in kind.value.upper() or cycle is None or not isinstance(load, Closed) or load.think_us:
        report.add(
            Fate.APPROXIMATED,
            kind.location,
            kind.value,
            "all workers, targets and outstanding I/Os at once, in one test",
        )
        return
    numbers = numbers_of(cycle)
    if len(numbers) < 3 or not 1 <= numbers[0] <= numbers[1] <= MOST_OUTSTANDING or not numbers[2]:
        cycle.refuse("expected start, end, step and step type")
    depths: list[int] = []
    depth = int(numbers[0])
    grows = "EXP" in cycle.value.upper()
    while depth <= numbers[1] and len(depths) < 64:
        depths.append(depth)
        depth = depth * int(numbers[2]) if grows and numbers[2] > 1 else depth + int(numbers[2])
    targets = load.threads
    made.loops[0].load = Closed(targets * depths[-1], 1)
    made.steps = [
        replace(
            step,
            name=f"{step.name} {depth} outstanding",
            threads=targets * depth,
            warm_up=step.warm_up if not n else 0.0,
        )
        for step in made.steps
        for n, depth in enumerate(depths)
    ]
    report.add(Fate.KEPT, kind.location, kind.value)


_SETUP_FATES = {
    "run time": (Fate.KEPT, ""),
    "ramp up time (s)": (Fate.KEPT, ""),
    "test description": (Fate.KEPT, ""),
}


def _report(
    configuration: Configuration, specifications: list[Specification], workers: list[Worker], report: LossReport
) -> None:
    """Add one line for every setting, line of an access specification, worker and target."""
    for key, option in configuration.setup.items():
        fate, why = _SETUP_FATES.get(key, (Fate.UNUSED, "affects Iometer's own windows and cycles"))
        if key != "test type":
            report.add(fate, option.location, f"{key}: {option.value}", why)
    used = {id(specification) for worker in workers for specification in _assigned(worker, specifications, report)}
    for specification in specifications:
        fate, why = (Fate.KEPT, "") if id(specification) in used else (Fate.UNUSED, "no worker runs it")
        sequential = len(specification.lines) > 1 and any(line.random_pct < 100 for line in specification.lines)
        if sequential and id(specification) in used:
            why = "each line continues from its own last I/O; Iometer has one position for all lines"
            report.add(Fate.APPROXIMATED, specification.location, f"lines of {specification.name}", why)
            why = ""
        for line in specification.lines:
            report.add(fate, line.option.location, line.option.value, why)
            if line.reply and fate is Fate.KEPT:
                report.add(
                    Fate.IGNORED,
                    line.option.location,
                    f"reply {line.reply}",
                    "replies of a different size are not modelled",
                )
    for worker in workers:
        for option_ in (worker.outstanding, worker.disk, *worker.targets):
            if option_ is not None:
                report.add(Fate.KEPT, option_.location, f"{option_.key.split(',')[0]}: {option_.value}")
        _worker_losses(worker, report)


def _worker_losses(worker: Worker, report: LossReport) -> None:
    option = worker.outstanding
    words = [] if option is None else [word.strip().upper() for word in option.value.split(",")]
    if option is not None and words[1:2] == ["ENABLED"]:
        report.add(Fate.IGNORED, option.location, "test connection rate", "targets stay open")
    if option is not None and words[3:4] == ["ENABLED"]:
        report.add(Fate.UNUSED, option.location, "use fixed seed", "Hotband sets the seed of a run")
