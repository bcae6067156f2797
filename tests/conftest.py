"""What every test folder uses: the command line, in this process; `in_process_of_its_own` where a test is about that.

A process of its own costs 0.4 s and more before it does anything, hundreds of times over."""

from __future__ import annotations

import functools
import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.testing
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from command_line import run_hotband
from forms import LONG, RANDOM_LOADS, SHORT_LOADS, sized
from shared import shared_folder

if TYPE_CHECKING:
    from hotband.questions.study.definition import Load, Study

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts into the background so, and every process that a test starts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes, or is drawn, is no fault of it on a machine that has other work.
BUSY = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
# Fewer examples than hypothesis draws by default: `make test-long` draws the others.
settings.register_profile("hotband", max_examples=sized(30, 300), deadline=None, suppress_health_check=BUSY)
settings.load_profile("hotband")
if not LONG:
    # Hypothesis parses all modules of ours for constants to draw: eight seconds in each process of the tests.
    providers._get_local_constants = functools.cache(Constants)

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]

pytest_plugins = ["costs"]

# typer makes every command with all its options anew at each call of its runner: 0.15 s, thousands of times over.
typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined]

# By default the collector looks through some hundred thousand objects of collected tests again and again: a tenth of
# all processor time.
gc.set_threshold(50_000, 20, 20)

POOL_LOADS = [
    "read-2-short",
    *(f"{op}-{1 << n}" for op in ("read", "write") for n in range(9) if (op, n) != ("read", 1)),
]
CONTENT_LOADS = {
    **dict.fromkeys(("8k-random-75r", "8k-random-25r"), "40 s"),
    **dict.fromkeys(("8k-seq-75r", "8k-seq-25r", "128k-read", "128k-write"), "5 s"),
    "8k-random-75r-curve": "10 s",
}
SAVVIO_CONFIGS = (
    *(
        f"{drive}-{layout}"
        for drive in ("savvio", "cheetah10", "performance")
        for layout in ("single", "raid0", "raid1")
    ),
    "cheetah15-single",
    *(f"mirror-{rule}" for rule in ("least-pending", "round-robin", "nearest-head", "by-region")),
)
FEWER = {"edit": {"phases.0.duration": "3 s"}, "duration": "4 s"}
SHORTER: dict[str, dict[tuple[str, str], dict[str, Any]]] = {
    # Some thousand I/Os, and more, tell a rate to 2 %.
    "content-hdd": {
        (config, load): {"duration": duration}
        for config in ("ent-15k-raid1", "ent-10k-raid1", "ent-cap-raid1", "ent-10k-raid10", "ecap-raid0")
        for load, duration in sized(CONTENT_LOADS, {}).items()
    },
    # Some thousand I/Os at each depth tell a rate to 2 %; writes into a cache hardly differ between depths.
    "exos-15e900": {
        (config, load): sized({"duration": "10 s"} if load in ("read", "write") else FEWER, {"duration": "10 s"})
        for config in ("awc-off", "awc-on", "turbo", "write-through")
        for load in RANDOM_LOADS
    },
    # Numbers are asked of the conventional pool alone, of the other that it is predicted.
    "mach2-ceph": {
        **{("mach2", load): {"duration": "20 s"} for load in POOL_LOADS},
        ("normal", "write-1-recycled"): {"duration": "60 s"},
    },
    # With compression off the drive is asked how it wears in, and nothing under the five workloads; the 5200 ECO is not
    # asked how it wears in.
    "durawrite": {
        ("plain", "ycsb"): {
            "edit": {
                "phases": [{"name": "warm-up", "duration": "1 s"}, {"name": "run", "duration": "10 s", "measure": True}]
            }
        },
        ("plain", "vdi"): {"edit": {"phases.0.duration": "1 s"}, "duration": "1 s"},
        ("plain", "swbuild"): {"edit": {"phases.0.duration": "1 s"}, "duration": "1 s"},
        ("plain", "oltp"): {"edit": {"phases.3.fills": 0.1}, "duration": "1 s"},
        ("plain", "jetstress"): {"edit": {"phases.1.fills": 0.1}, "duration": "10 s"},
        ("eco", "new-drive"): {"duration": "5 s"},
    },
    # Six hundred I/Os or more determine a rate to 4 %, at sixty points per configuration.
    "savvio-raid": {
        (config, load): {"duration": "8 s"}
        for config in SAVVIO_CONFIGS
        for load in sized(("file-server", "web-server", "database", "workstation"), ())
    },
    "full-sata-ssd": {},
    "real-disks": {},
}
"""Studies that are run for tests without what no test asks: keys of loads by configuration and load."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Properties have a long form, too, and tests of a module with sizes of both; the files that cost most begin, so
    that no worker ends with one of them."""
    for item in items:
        if "long" in item.path.relative_to(TESTS).parts:
            item.add_marker("long")
        is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_property or {"few", "sized", "LONG"} & set(vars(getattr(item, "module", None) or object)):
            item.add_marker("sized")
    items.sort(key=turn)


def turn(item: pytest.Item) -> int:
    """Return the place of a test's file among the others: those of LAST slow what runs after them."""
    folder = item.path.parent.name
    return len(FIRST) + (item.path.name in LAST) if folder not in FIRST else FIRST.index(folder)


def pytest_collection_finish() -> None:
    """Take tests and modules, which live as long as the process, out of what the garbage collector looks through."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter collect all at its end: duckdb's binding prints a page about what is left."""
    gc.unfreeze()


TESTS = Path(__file__).parent
FIRST = ("study", "report", "probe", "advise", "output", "calibrate", "docs")
"""Folders whose tests cost most."""
LAST = ("test_nothing_is_written.py",)
"""Files that add an audit hook, which stays: the interpreter calls it at each import and each file that is opened."""


def process(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "hotband", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=1200, check=False)


@pytest.fixture
def hotband(tmp_path: Path) -> Hotband:
    """The command line, run in an empty folder."""
    return lambda *arguments: run_hotband(*arguments, cwd=tmp_path)


@pytest.fixture
def in_process_of_its_own(tmp_path: Path) -> Hotband:
    """The command line as a user runs it, in an empty folder: for tests that are about the process."""
    return lambda *arguments: process(*arguments, cwd=tmp_path)


@pytest.fixture(scope="session")
def call() -> Hotband:
    """The command line for fixtures that run once: `cwd` is theirs to give."""
    return run_hotband


@pytest.fixture(scope="session")
def content_hdd(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of content-hdd."""
    return study_result("content-hdd", tmp_path_factory)


@pytest.fixture(scope="session")
def exos(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of exos-15e900."""
    return study_result("exos-15e900", tmp_path_factory)


@pytest.fixture(scope="session")
def durawrite(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of durawrite."""
    return study_result("durawrite", tmp_path_factory)


def study_result(name: str, factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Runs a study with `--json --out`, once for all processes of a run of the tests.

    Where `HOTBAND_KEPT_RUNS` names a folder (such as `out/accuracy`) its runs are taken over as far as they are of this
    engine and of the same specs: what does not depend on them is tested again without repeating them."""
    kept = os.environ.get("HOTBAND_KEPT_RUNS", "")
    with shared_folder(factory, f"study-{name}") as folder:
        out, printed = Path(kept, name).resolve() if kept else folder / "out", folder / "printed.json"
        if not printed.exists():
            printed.write_text(run_whole(name, out) if name in SHORTER and not kept else run_by_command(name, out))
    return json.loads(printed.read_text()), out


def run_by_command(name: str, out: Path) -> str:
    """What `hotband study run` prints."""
    done = run_hotband("study", "run", name, "--json", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_whole(name: str, out: Path) -> str:
    """The same from the parts of the command, with what no test asks for cut short. The page of content-hdd has the
    sections of single runs, that of full-sata-ssd has none; `make test-long` makes those of the other studies, too."""
    from hotband.questions.study import file
    from hotband.questions.study.asked import StudyRunQuestion
    from hotband.questions.study.study import predict
    from hotband.views.report import study_page, write_report

    only = () if LONG else SHORT_LOADS.get(name, ())
    whole_page = name == "content-hdd"
    study = shortened(file.load(name), SHORTER[name])
    result, _ = predict(study, StudyRunQuestion(study=study, out=out, only=only), page=whole_page)
    if not whole_page and (LONG or name == "full-sata-ssd"):
        write_report(out / "report.html", study_page(result, {}))
    return json.dumps(result)


def shortened(study: Study, cuts: Mapping[tuple[str, str], Mapping[str, Any]]) -> Study:
    """A study with other keys for the loads of some configurations, by both ids. Such a load is there twice, and each
    configuration runs one of the two."""
    loads: list[Load] = []
    for load in study.loads:
        cut = {config: keys for (config, name), keys in cuts.items() if name == load.id}
        others = [config.id for config in study.configs]
        loads.append(replace(load, skip=(*load.skip, *cut)))
        for config, keys in cut.items():
            assert config not in load.skip, "a load that is run is shortened"
            loads.append(replace(load, skip=tuple(one for one in others if one != config), **keys))
    return replace(study, loads=tuple(loads))


@pytest.fixture(scope="session")
def mach2(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of mach2-ceph."""
    return study_result("mach2-ceph", tmp_path_factory)


@pytest.fixture(scope="session")
def full_ssd(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of full-sata-ssd."""
    return study_result("full-sata-ssd", tmp_path_factory)


@pytest.fixture(scope="session")
def savvio(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of savvio-raid."""
    return study_result("savvio-raid", tmp_path_factory)


@pytest.fixture(scope="session")
def real_disks_study(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of real-disks; skipped where its data are not."""
    from hotband.base.errors import UserError
    from hotband.questions.study import file

    study = file.load("real-disks")
    assert study.data is not None
    try:
        study.data.folder(study.name)
    except UserError as error:
        pytest.skip(str(error))
    return study_result(study.name, tmp_path_factory)


@pytest.fixture(scope="session")
def fuzz_target() -> Callable[[str], Callable[[bytes], None]]:
    """What a fuzz target of `fuzz/` does with one input, by the name of the target."""

    def target(name: str) -> Callable[[bytes], None]:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "fuzz" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        one_input: Callable[[bytes], None] = module.one_input
        return one_input

    return target
