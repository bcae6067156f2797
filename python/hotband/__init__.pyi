# Written by scripts/public_stub.py from the table of hotband/__init__.py: do not edit.
from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from polars import DataFrame as DataFrame

from hotband.base.errors import UserError as UserError
from hotband.base.text.values import Toml
from hotband.base.version import __version__ as __version__
from hotband.data.catalog.entries import Product as Product
from hotband.data.inputs.specify import Spec
from hotband.data.jobs.converted import Converted as Converted
from hotband.data.record.record import Record as Record
from hotband.data.record.steadiness import Steadiness as Steadiness
from hotband.data.results.records import load_all as load_all
from hotband.data.store.results_store import ResultsStore as ResultsStore
from hotband.execution.experiment import Executor
from hotband.execution.experiment.executor import Progress as Progress
from hotband.execution.experiment.watch import Wanted
from hotband.execution.programs.result import ProgramResult as ProgramResult
from hotband.execution.serve.served import Served as Served
from hotband.execution.targets.found import DeviceFound as DeviceFound
from hotband.faces.api.calibrate import calibration_plan as calibration_plan
from hotband.faces.api.catalog import drive as drive
from hotband.faces.api.catalog import osd as osd
from hotband.faces.api.catalog import workload as workload
from hotband.faces.api.devices import device_list as device_list
from hotband.faces.api.measure import measure as measure
from hotband.faces.api.programs import programs as programs
from hotband.faces.api.record import load as load
from hotband.faces.api.run import sequence as sequence
from hotband.faces.api.serve import BothWays as BothWays
from hotband.faces.api.serve import emulate as emulate
from hotband.faces.api.store import store as store
from hotband.faces.api.studies import study as study
from hotband.inference.audit.result import AuditResult as AuditResult
from hotband.inference.interval.explained import Why as Why
from hotband.inference.reliability.result import Reliability as Reliability
from hotband.inference.traces.compare import TracesCompared as TracesCompared
from hotband.inference.traces.convert import TraceConverted as TraceConverted
from hotband.inference.traces.fit.fit import TraceFit as TraceFit
from hotband.inference.traces.show import TraceShown as TraceShown
from hotband.questions.advise.advice import Advice as Advice
from hotband.questions.calibrate.calibrated import Calibrated as Calibrated
from hotband.questions.catalog import Layouts as Layouts
from hotband.questions.compare import Compared as Compared
from hotband.questions.corpus import CorpusAdded as CorpusAdded
from hotband.questions.corpus import CorpusChecked as CorpusChecked
from hotband.questions.corpus import CorpusListed as CorpusListed
from hotband.questions.corpus import CorpusShown as CorpusShown
from hotband.questions.entropy import Entropy as Entropy
from hotband.questions.expect.expected import Expected as Expected
from hotband.questions.find.found import Found as Found
from hotband.questions.fleet.result import Fleet as Fleet
from hotband.questions.predictions.asked import CorpusPredicted as CorpusPredicted
from hotband.questions.review.many import Reviewed as Reviewed
from hotband.questions.selftest import Selftest as Selftest
from hotband.questions.study.accounted import Accuracy as Accuracy
from hotband.questions.suites.looked import QuickResult as QuickResult
from hotband.questions.suites.tested import PtsResult as PtsResult
from hotband.questions.sweeps.sweep import Sweep as Sweep
from hotband.views.report.kept import Report as Report

def advise(
    workloads: Spec | Sequence[Spec],
    *,
    slo: str,
    capacity: str | float,
    protect: str,
    candidates: str | Mapping[str, Sequence[str | int]] = "",
    prices: str | PathLike[str] | None = None,
    power: str | float | None = None,
    grow: str | None = None,
    years: float = 5.0,
    duty: str | None = None,
    slo_degraded: str | None = None,
    interval: float = 90.0,
    draws: int = 16,
    seed: int = 1,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Advice:
    """Say what to buy: drives, layouts, numbers and caches that meet an objective, none of them worse in everything.

    Args:
        workloads: Catalog names, TOML files, job files; the objective must hold for each alone.
        slo: The objective, such as "p99 < 5 ms".
        capacity: Usable, such as "50 TB".
        protect: Failures of any drives to survive, such as "two failures".
        candidates: Drives, layouts, counts and caches to search. May be repeated.
        prices: Prices and watts, CSV or TOML. Default: price classes of the catalog.
        power: Power limit of the drives, such as "500 W".
        grow: Growth of the data, such as "30 %/year".
        years: Years of use.
        duty: Share of time that the workloads run, for endurance. Default: 100 %.
        slo_degraded: The objective while a drive has failed.
        interval: Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values.
        seed: Seed of the random numbers.
        jobs: Number of runs at a time. Default: all cores.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    Machines must meet `slo` ("p99 < 5 ms and IOPS > 2000") under each of `workloads`, run alone. `candidates` may be a
    dict of lists; other dimensions are searched whole. `capacity` is usable after `years` of `grow`.

    The result has `recommended` and `runner_up`, `front` (a `Point` each: `cost`, `watts`, `latency` in seconds,
    `rebuild` in hours, `loss` as a chance, with `low` and `high`), `answer`, `why`, `frame`, `to_dict()` and
    `write_html(path)`. If no candidate meets the objective, `recommended` is None and `nearest` comes nearest. Raises
    UserError for a mistake, KeyboardInterrupt if it is stopped, OSError.
    """

def audit(
    results: Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]] = (),
    *,
    study: str | PathLike[str] | None = None,
    on: Spec | None = None,
    media: str | None = None,
    cache: str | float | None = None,
) -> AuditResult:
    """Show what results prove: rules of physics, arithmetic and statistics on yours or published ones.

    Args:
        results: Records, results of other tools, folders of them, CSV tables.
        study: The published table of a study.
        on: The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        media: Media of the target: hdd, ssd, or a speed such as 7200rpm.
        cache: Memory that may serve reads (host, servers), such as "8 GiB".

    A machine (`on`) or `media`, and the `cache` in front of it, state facts about the target that are not known
    otherwise.

    The result has `findings` (`severity`, `rule`, `subject`, `title`, `numbers`, `advice`, `table`), the severest
    first, `is_severe`, `counts` and a `frame`. Raises UserError for a mistake and for what is not a result.
    """

def calibrate(
    target: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    like: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    duration: str | float = "10 min",
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    workload: Spec | None = None,
    set: Mapping[str, object] | None = None,
    reads_only: bool = False,
    erase: str | None = None,
    size: str | float | None = None,
    anyway: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Calibrated:
    """Fit a product's values to a drive: measure it, or use existing results or a trace.

    Args:
        target: Target to measure (real:PATH, emulated:MACHINE or a machine), or existing results or a trace.
        like: Product whose values are fitted.
        output: Product file to write (.toml).
        duration: Time limit of the measurements.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        workload: Workload of the results, if they do not state it.
        set: Values to change.
        reads_only: Write nothing to the target.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        anyway: emulated: also a machine that is faster than this host can serve.
        seed: Seed of the random numbers.
        jobs: Number of runs at a time. Default: all cores.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    `target` is "real:PATH", "emulated:MACHINE", a machine (its model is measured), one or several results of fio,
    vdbench, DiskSpd or Iometer, or a trace with latencies, whose second half validates the fit. `like` is a product of
    the catalog or a file of yours. `set` has known values of the product.

    The result has `values` (key, value, low, high: the middle 90 %, state: told, narrowed or unknown), `told`,
    `unknown`, `checks` (loads that the fit did not use, with `error_pct`), `best_next`, `misfit`, `text` (the file),
    for a trace `comparison` (its second half, as in a record), a `frame` with one row per value, and `to_dict()`.
    Raises UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

def compare(
    first: Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]],
    *others: Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]],
    anyway: bool = False,
    seed: int = 1,
) -> Compared:
    """Report whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.

    Args:
        first: Records or results of other tools; put vs between the repeats of A and of B.
        others: Records or results of other tools; put vs between the repeats of A and of B.
        anyway: Compare even if their loads differ.
        seed: Seed of the resampling.

    A side is a record, the path of a result of any tool that is recognised, a folder of results whose tests have the
    same names on all sides, or a list of repeats of one. Raises UserError if a result cannot be read, or loads of the
    sides differ, unless `anyway` is set.
    """

def add_to_corpus(
    path: str | PathLike[str],
    *,
    model: str = "",
    device_class: str = "",
    state: str | None = None,
) -> CorpusAdded:
    """Add measured figures to your own corpus, which `corpus show` and `drives` then print as well: results of fio and
    of other tools with the drive's name (`--model`), or a file in the format of the corpus.

    Args:
        path: Results, a folder of them, or FIGURES.csv.
        model: The drive that was measured, such as "Samsung 990 PRO 2TB".
        device_class: Its class in `hotband corpus list`, such as hdd.
        state: State of a solid-state drive before the results: fob (fresh out of the box), filled, preconditioned,
            steady. Default: unknown.

    Intervals also use those figures whose drives are in the catalog. Adding results again with another state corrects
    the state of their figures.
    """

def check_corpus(
    path: str | PathLike[str] | None = None,
) -> CorpusChecked:
    """Check a file of figures: columns, units, Little's law, percentiles that rise. Exit code 1 if its figures
    contradict each other.

    Args:
        path: A file in the format of the corpus. Default: the shipped corpus and your own.
    """

def corpus_families(
    words: str | Sequence[str] = (),
) -> CorpusListed:
    """List the drives, arrays and volumes that others measured, and how many figures there are of each.

    Args:
        words: Words from the name of a class, a family or a device, such as "nvme3" or "samsung".
    """

def predict_corpus(
    path: str | PathLike[str] | None = None,
    *,
    sheets: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
) -> CorpusPredicted:
    """Predict measured figures from data sheets alone, and print how far off the predictions are, by class of load.

    Args:
        path: Figures in the format of the corpus. Default: those that ship.
        sheets: Data sheets of the families of FIGURES.csv.
        out: Folder of the runs, which continue there. Default: the cache.
        jobs: Number of runs at a time. Default: all cores.

    Without FIGURES.csv it predicts the figures of our corpus, each family left out of the rules. A file of the same
    form needs the data sheets of its families; rules and intervals then rest on the families of our corpus.
    """

def corpus(
    drive: str,
) -> CorpusShown:
    """Show what others measured on a drive: a line for each load, with its source. NAME is a drive of the catalog, a
    family of `hotband corpus list`, or words of a model name.

    Args:
        drive: Such as 7450-pro-3840 or "samsung 970".
    """

def device(
    path: str | PathLike[str],
) -> DeviceFound:
    """Show a drive's identity, SMART data and its protection from being overwritten. Nothing is written.

    Args:
        path: A block device, a file, or JSON of smartctl or nvme; all devices without it.

    The result has the identity, the counters since the drive was new, the reasons not to write it, and the text that
    permits writing. As root, smartctl and nvme report more, and it shows which devices contain data. Raises UserError
    if there is no such device.
    """

def new_drive(
    name: str | PathLike[str],
    *,
    kind: str | None = None,
    title: str | None = None,
    source: str | None = None,
    force: bool = False,
    **lines: object,
) -> Product:
    """Describe a drive of your own by lines of its data sheet; write a file that `--on` and `drives` accept.

    Args:
        name: Name of the drive; its file is NAME.toml. Or JSON of smartctl or nvme, which has name, kind and capacity.
        kind: hdd, ssd (SATA or SAS), nvme or cloud (a volume).
        title: Title in reports. Default: its name.
        source: The data sheet: document, revision, page.
        force: Replace an existing file.
        lines: Lines of the data sheet.

    `on="./NAME.toml"` and `drive` accept the file. `lines` are those that `hotband drives new --help` lists, with _
    for -: `capacity="16 TB"`, `read_iops=98000`, `power_loss_protection=True`, `class_="nearline"`; missing lines are
    assumed from the class. Raises UserError for lines that are unknown or make no drive.
    """

def drives(
    *words: str,
    min: str | float | None = None,
    max: str | float | None = None,
    sort: str | None = None,
) -> DataFrame:
    """List the drives of the catalog; with NAME show every value of a drive, with its source.

    Args:
        words: A drive in detail, or words that filter: nvme, sata, hdd, smr, 15k, tlc, enterprise, seagate ...
        min: Smallest capacity, such as "3 TB".
        max: Largest capacity.
        sort: Sort by name, size, read-iops, write-iops, read-rate, write-rate, endurance, rpm, seek, year, price,
            class, interface; drives without the value come last.

    Returns a row per drive: capacity, interface, speed or flash, class, launch year, rated I/Os and rates, and the
    price of a terabyte of its class (null if the data sheet states nothing); of a single drive a row per value: `key`,
    `value`, `low`, `high`, `source`, `confidence`, `estimate`, `note`. Raises UserError for an unknown word, size or
    key.
    """

def entropy(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    compressor: str | Sequence[str] = (),
    chunk: str | Sequence[str] = (),
    sample: str | float | None = None,
    seed: int = 1,
    jobs: int | None = None,
    one_file_system: bool = False,
) -> Entropy:
    """Measure how well your data compresses, which decides how fast a compressing SSD writes it.

    Args:
        paths: Files and folders.
        compressor: lz4, deflate or zstd. Default: all.
        chunk: "4 KiB" to "64 KiB", or none for the archive alone. Default: all sizes.
        sample: Amount of data to read at random places, or "all". Default: 1 GB.
        seed: Seed of the sample.
        jobs: Number of threads. Default: all cores.
        one_file_system: Skip file systems mounted in the tree.

    Ctrl-C ends it with what was measured (`complete` is False). The result has `archive` and a `frame`. Raises
    UserError, KeyboardInterrupt if nothing was measured.
    """

def events() -> DataFrame:
    """List the events of a run (failures, loss of power, changed values) and what supports them.

    Returns one row per event and part with `event`, `group` ("layout", "drive" or "with"), `on`, `supported` and
    `why` not (null if it is).
    """

def expect(
    result: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    on: Spec | None = None,
    workload: Spec | None = None,
    set: Mapping[str, object] | None = None,
    interval: float = 90.0,
    draws: int = 16,
    duration: str | float | None = None,
    seed: int = 1,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Expected:
    """Check whether a result is as good as the model predicts for its load on a machine.

    Args:
        result: Results of fio, vdbench, DiskSpd or Iometer.
        on: The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        workload: Workload of the result, if it does not state it.
        set: Values to change; further keyword arguments are also values to change.
        interval: Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values.
        duration: Measured time of a prediction, such as "60 s".
        seed: Seed of the random numbers.
        jobs: Number of runs at a time. Default: all cores.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    `result` is a file, a folder, or several. `duration` is the measured time of a prediction, by default 100,000 I/Os.

    The result has `verdict` (in words), `rows`, `figures(row)` (measured, predicted, low, high, verdict; IOPS, bytes
    per second, ns), `assumed`, `explanations`, `ranking`, a `frame` with one row per figure, and `to_dict()`. Raises
    UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

def find(
    question: str,
    workload: Spec,
    *,
    on: Spec | Sequence[Spec],
    set: Mapping[str, object] | None = None,
    range: str | None = None,
    within: float = 2.0,
    arrival: str = "poisson",
    ios: int | None = None,
    duration: str | float | None = None,
    seed: int = 1,
    interval: float | None = None,
    draws: int | None = None,
    jobs: int | None = None,
    into: str | PathLike[str] | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Found:
    """Find the rate, queue depth, number of drives or value that meets a condition, in at most 12 runs per machine.

    Args:
        question: Such as "IOPS at p99 < 10 ms".
        workload: A catalog name, a TOML file, a job file or an I/O log.
        on: A drive, LAYOUT:COUNTxDRIVE, LAYOUT:{n}xDRIVE or a TOML file. May be repeated.
        set: Values to change; further keyword arguments are also values to change.
        range: Range of the varied value, such as 1..64.
        within: Precision of the answer.
        arrival: Arrivals of an open loop: poisson or fixed.
        ios: Measured I/Os per trial. Default: 60,000 to 300,000.
        duration: Measured time of a trial instead, such as "60 s".
        seed: Seed of the random numbers.
        interval: Print intervals. Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values for interval. Default: 64.
        jobs: Number of runs at a time. Default: all cores.
        into: Add the answers' runs to this store (hotband store).
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    `question` is text: "IOPS at p99 < 10 ms" (the highest rate of an open loop with `arrival` "poisson" or "fixed"),
    "drives for 50000 IOPS at p99 < 2 ms" (`on="raid10:{n}xDRIVE"`), "queue depth for 90 % of the most", "bs for 500
    MB/s". A store receives the run of each answer, with the answer as a factor.

    The result has one `Answer` per machine (`found.answers`, `found["MACHINE"]`): `status`, `text`, `value` (I/Os per
    second, bytes, seconds or a count), `figures` (I/Os and bytes per second, seconds), `interval`, `trials`, `record`;
    a `frame` with one row per trial, and `to_dict()`. If no value meets the condition, the answer's status says so;
    that is not an error. Raises UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

def fleet(
    fleet: str | PathLike[str] | Mapping[str, Toml],
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Fleet:
    """Simulate a fleet over months: failures, rebuilds, spares, wear, energy, expected loss of data and cost.

    Args:
        fleet: A TOML file: docs/guides/fleet.md.
        repetitions: Number of repetitions, in place of the file's (default 1000).
        seed: Seed of the random numbers.
        jobs: Number of runs at a time. Default: all cores.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    `fleet` is a path, TOML text or a mapping like the file. An executor runs the model's runs; repetitions are computed
    here. The folder `out` stores both. An interrupt returns the finished ones (`Fleet.complete`).

    The result has `frame` (one row per group and month), `years`, `summary`, `answers`, `report("page.html")`. Raises
    UserError for a mistake, KeyboardInterrupt if nothing was finished.
    """

def keys(
    workload: str,
    *,
    on: str,
    set: Mapping[str, object] | None = None,
) -> DataFrame:
    """List every key that --set takes for a workload on a machine: its current value, allowed values and meaning.

    Args:
        workload: A catalog name, a TOML file, a job file or an I/O log.
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        set: Values to change.

    Returns one row per key with `key`, `part` (its owner), `value` (current; null if it has none, or several),
    `accepted`, `meaning` and `fio` (its name in fio). `set` is changed first. Raises UserError.
    """

def layouts() -> Layouts:
    """List the layouts of drives (RAID, mirrors, pools), how each is written, and what it survives.

    Returns their names: `on="raid5:8xent-10k"` is eight drives in one of them.
    """

def selftest(
    path: str,
    *,
    duration: str | float = "3 s",
    progress: Wanted = None,
) -> Selftest:
    """Check that a drive is identified, protected and measured right. Nothing is written.

    Args:
        path: A block device or a file of this computer.
        duration: Time of each of the three measurements.
        progress: How progress is shown: True, False, or a function.

    Compares fio's results with the kernel's counters of the drive. Raises UserError for a path that cannot be measured.
    """

def osds() -> DataFrame:
    """List object storage daemons of the catalog, for replicated pools; with NAME show all values of one."""

def program(
    name: str,
    *,
    on: str,
    set: Mapping[str, object] | None = None,
    predict: str | Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    anyway: bool = False,
    progress: Callable[[str], None] | None = None,
    **settings: object,
) -> ProgramResult:
    """Run a real program on a machine that is served as block devices, or in a folder.

    Args:
        name: A program; without it, all.
        on: A drive, LAYOUT:COUNTxDRIVE, a TOML file, or real:DIR, a folder of this host.
        set: Values to change; further keyword arguments are also values to change.
        predict: Also replay its I/Os on the model of this machine. May be repeated.
        out: Folder for the output.
        fresh: Overwrite the record in the folder.
        anyway: Also on a machine that is faster than this host can serve.
        progress: Function called with each line of progress, also from other threads.

    The machine is on the wall clock; a folder is `on="real:DIR"`. Further arguments are settings of the program
    (`clients=8`, `total="1 GiB"`), which `hotband program NAME` lists. All processes are ended, file systems unmounted
    and files removed, even after Ctrl-C. Raises UserError for a mistake and for a program that is not installed,
    OSError if the program fails.
    """

def pts(
    on: str,
    *,
    drive_class: str = "enterprise",
    tests: str | Sequence[str] = (),
    quick: bool = False,
    minute: str | float | None = None,
    threads: int | None = None,
    depth: int | None = None,
    sponsor: str = "",
    set: Mapping[str, object] | None = None,
    erase: str | None = None,
    size: str | float | None = None,
    purge_by: str | None = None,
    set_write_cache: bool = False,
    anyway: bool = False,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Wanted = None,
) -> PtsResult:
    """Run SNIA's performance test for SSDs (PTS 2.0.2): purge, precondition, measure rounds until steady.

    Args:
        on: A drive, LAYOUT:COUNTxDRIVE, a TOML file; emulated:MACHINE serves it, real:PATH measures.
        drive_class: The specification's class.
        tests: These alone.
        quick: Use a tenth of all times: a quick test, not a result.
        minute: Time that one minute of it takes: a quick test, not a result.
        threads: Threads of random loads. Default: as the class requires.
        depth: Outstanding I/Os per thread.
        sponsor: Name of the tester, for the report's header.
        set: Values to change.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        purge_by: real: discard, format, sanitize or secure-erase; best first.
        set_write_cache: real: set the drive's write cache as the class requires, and restore it.
        anyway: emulated: also a machine that is faster than this host can serve.
        seed: Seed of the random numbers.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        progress: How progress is shown: True, False, or a function.

    `tests` are iops, throughput, latency, write-saturation, idle-recovery, cross-stimulus (all if none is named).
    Neither `quick` nor another `minute` gives a result by the specification. With `out` every run is stored there as it
    ends, and the same call continues after a stop. Raises UserError for a mistake, KeyboardInterrupt if it is
    stopped.
    """

def quick(
    on: str,
    *,
    duration: str | float = "5 min",
    expect: str | None = None,
    set: Mapping[str, object] | None = None,
    picture: str | PathLike[str] | None = None,
    erase: str | None = None,
    size: str | float | None = None,
    anyway: bool = False,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Wanted = None,
) -> QuickResult:
    """Test a disk, SSD or NVMe drive in a few minutes, and compare it with what the model expects.

    Args:
        on: A drive, LAYOUT:COUNTxDRIVE, a TOML file; emulated:MACHINE serves it, real:PATH measures.
        duration: Total time.
        expect: The product it should be, whose predicted figures are shown next to the measured ones.
        set: Values to change.
        picture: A picture to paste: sequential and random reads and writes in four rows.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        anyway: emulated: also a machine that is faster than this host can serve.
        seed: Seed of the random numbers.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        progress: How progress is shown: True, False, or a function.

    A real drive is only read, unless `erase` is its serial number; in a folder, a file of `size` is created. Without
    `expect`, figures are compared with the catalog's drive that has the device's model number. Raises UserError for a
    mistake, KeyboardInterrupt if it is stopped.
    """

def reliability(
    on: Spec,
    *,
    layout: str | None = None,
    set: Mapping[str, object] | None = None,
    mtbf: str | None = None,
    afr: str | None = None,
    rebuild_time: str | None = None,
    rebuild_rate: str | None = None,
    record: Record | str | PathLike[str] | None = None,
    spares: int = 0,
    replacement: str | None = None,
    error_rate: str | None = None,
    one_rebuild: bool = False,
    distribution: str = "exponential",
    shape: float | None = None,
    rebuild_distribution: str = "exponential",
    years: float = 10.0,
    method: str = "auto",
    arrays: int = 200000,
    seed: int = 1,
    **settings: object,
) -> Reliability:
    """Predict when an array loses data: mean time to data loss and the chance of loss, with the closed form.

    Args:
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        layout: Layout of a machine that has several.
        set: Values to change; further keyword arguments are also values to change.
        mtbf: Mean life of a drive, as "1400000 h".
        afr: Instead of mtbf: share of drives failing per year, as "0.9 %".
        rebuild_time: Time to rebuild a drive, as "6 h".
        rebuild_rate: Rate limit of a rebuild, such as "50 MB/s". Default: the media rate.
        record: Rebuild time from a record of a run in which a drive failed.
        spares: Spare drives in stock.
        replacement: Delivery time of an ordered drive, such as "24 h". Default: none.
        error_rate: Bits read for one unrecoverable error, as "1e15", or none.
        one_rebuild: Rebuild drives one after the other.
        distribution: Distribution of drives' lives.
        shape: Shape of Weibull lives; above 1 drives wear out.
        rebuild_distribution: Distribution of rebuild times.
        years: Length of the mission in years.
        method: Method of simulating the mean time.
        arrays: Number of simulated cycles or arrays.
        seed: Seed of the random numbers.

    Unless they are given, lives of drives are from the catalog, and rebuild times from the media rate.

    The result has `mttdl_years`, `loss`, `bytes_lost_per_tb` (each with `value`, `low`, `high`), `exact_mttdl_years`,
    `exact_loss`, `causes`, `sources` and a `frame`. Raises UserError.
    """

def serve(
    on: Spec,
    *,
    socket: str | PathLike[str] | None = None,
    tcp: str | None = None,
    tls: str | PathLike[str] | None = None,
    insecure_loopback: bool = False,
    fuse: str | PathLike[str] | None = None,
    loop: bool = False,
    store: str | PathLike[str] | None = None,
    base: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    io_log: str | PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,
    events: str | Sequence[str] = (),
    seed: int = 1,
    spin: str | float = "200 us",
    priority: bool = True,
    awake: bool = True,
    anyway: bool = False,
    nbd: bool = True,
    **settings: object,
) -> Served:
    """Serve an emulated machine in real time as a block device: NBD, a file or a loop device.

    Args:
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        socket: Unix socket for NBD clients. Default: a temporary one.
        tcp: NBD on TCP, with tls or insecure_loopback.
        tls: server-cert.pem, server-key.pem, ca-cert.pem.
        insecure_loopback: TCP without TLS, for this host only.
        fuse: Mount one file per volume in this folder.
        loop: With one loop device per volume (needs root).
        store: File that stores written data. Default: memory.
        base: Image to read for blocks not yet written; it is never changed.
        out: Folder for the record.
        io_log: Log every I/O, to .parquet or .csv.
        set: Values to change; further keyword arguments are also values to change.
        events: An event, such as 'at 60 s: power-off'. May be repeated.
        seed: Seed of the random numbers.
        spin: Busy wait before a completion is due; "0 us" for none.
        priority: Real-time priority for slow drives, otherwise the highest other priority, if permitted.
        awake: Prevent the host's cores from sleeping, if permitted.
        anyway: Serve it even if it is faster than this host can serve.
        nbd: Whether clients of NBD are served on a unix socket.

    It is served during a `with` block. Within it `.volumes["d0"]` has `uri` (NBD on TCP, else a unix socket), `file`
    (with `fuse`, a folder, or `loop`) and `device` (with `loop`: a block device; both need root); `.serving()` returns
    what was completed so far and how late; `.wait(seconds)` waits; `.port` is that of `tcp` ("127.0.0.1:0"). After the
    block, `.record` is its Record. After a power-off among `events`, `store` holds what the drives hold.

    Raises UserError for a mistake, for what the host refuses, and for a machine that is faster than the host can serve
    unless it is served `anyway`.
    """

def review(
    on: str | Sequence[str],
    *,
    set: Mapping[str, object] | None = None,
    volume: str | None = None,
    only: str | Sequence[str] = (),
    quick: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    events: str | Sequence[str] = (),
    interval: float | None = None,
    draws: int | None = None,
    erase: str | None = None,
    size: str | float | None = None,
    keep: bool = False,
    anyway: bool = False,
    out: str | PathLike[str] | None = None,
    into: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Reviewed:
    """Review a machine, emulated:MACHINE or hardware (real:PATH): transfer curve, access time, block sizes, streams,
    server patterns, files; compare it with others.

    Args:
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        set: Values to change; further keyword arguments are also values to change.
        volume: The volume to review, if a machine has several.
        only: Review only these parts.
        quick: Use a quarter of the I/Os, fewer places and depths.
        seed: Seed of the random numbers.
        jobs: Number of runs at a time. Default: all cores.
        events: An event in every run, such as 'at 0 s: fail d3'.
        interval: Print intervals. Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values for interval. Default: 16.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        keep: real:DIR: keep the file afterwards.
        anyway: emulated: also a machine that is faster than this host can serve.
        out: Folder for the output.
        into: Also add every run to this store (hotband store).
        fresh: Start over; otherwise runs already in the folder are not repeated.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    The others are compared with the first machine. Machines are catalog names, short forms or paths. `interval` is a
    percentage. `out` is the folder of all files; runs that it already has are not repeated, unless `fresh`. Everything
    else as in `run`.

    The result has `reviews` and `comparison`, documents as `hotband review --json` prints them. An interrupted review
    has the finished parts (`interrupted`). Raises UserError before anything runs, OSError.
    """

def report(
    records: Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]],
    *,
    title: str | None = None,
    audit: bool = False,
    on: Spec | None = None,
    media: str | None = None,
    cache: str | float | None = None,
) -> Report:
    """Write one self-contained HTML report of records, and its charts as SVG or PNG.

    Args:
        records: Records, folders of them, results of other tools, or the folder of a study run.
        title: Heading. Default: the workload and the machine.
        audit: Include the auditor's findings.
        on: The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        media: Media of the target: hdd, ssd, or a speed such as 7200rpm.
        cache: Memory that may serve reads (host, servers), such as "8 GiB".

    The result's `.save("page.html")` writes the page, `.charts` has each of its charts by name (`.view` for altair,
    `.save("chart.svg")` or `.png`), `.save_charts("folder")` writes all of them. The page begins with which record is
    faster and by how much; records that differ only in their seed are repeats. Raises UserError if there is no record.
    """

def run(
    workload: Spec,
    *,
    on: Spec,
    set: Mapping[str, object] | None = None,
    rate: float | str | Sequence[float] | None = None,
    slo: str | None = None,
    seed: int = 1,
    duration: str | float | None = None,
    precision: str | None = None,
    out: str | PathLike[str] | None = None,
    into: str | PathLike[str] | None = None,
    io_log: str | PathLike[str] | None = None,
    power_loss: str | float | None = None,
    fail: str | Sequence[str] = (),
    spares: int = 0,
    rebuild_rate: str | float | None = None,
    rebuild_after: str | float | None = None,
    events: str | Sequence[str] = (),
    fresh: bool = False,
    interval: float | None = None,
    draws: int | None = None,
    erase: str | None = None,
    size: str | float | None = None,
    keep: bool = False,
    hosts: str | None = None,
    expect: str | None = None,
    power: str | None = None,
    purge_by: str | None = None,
    anyway: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Record:
    """Run a workload on a machine in virtual time, or on hardware (--on real:PATH) through fio; with --then several,
    one after the other on the same machine.

    Args:
        workload: A catalog name, a TOML file, a job file or an I/O log.
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        set: Values to change; further keyword arguments are also values to change.
        rate: I/Os (of a script: transactions) per second; none waits for another.
        slo: An objective, such as "p99 < 1 ms": is it met?
        seed: Seed of the random numbers.
        duration: Measured time of a step, as "60 s".
        precision: Stop at this precision of rates, such as "1 %"; off: whole runs.
        out: Folder for the output.
        into: Also add every run to this store (hotband store).
        io_log: Log every I/O, to .parquet or .csv.
        power_loss: Cut power at this measured time, such as "30 s".
        fail: A drive fails, such as d3@"60 s". May be repeated.
        spares: Drives that wait to replace failed ones.
        rebuild_rate: Rate limit of a rebuild, such as "50 MB/s".
        rebuild_after: Delay between a failure and the start of its rebuild.
        events: What happens, such as 'at 60 s: fail d3'. May be repeated.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        interval: Print intervals. Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values for interval. Default: 64.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        keep: real:DIR: keep the file afterwards.
        hosts: real: hosts with fio --server that issue I/Os together.
        expect: real: drive whose prediction is compared; nearest: search for it; none: no prediction.
        power: real: a command that prints the drive's watts.
        purge_by: real: discard, format, sanitize or secure-erase; best first.
        anyway: emulated: also a machine that is faster than this host can serve.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    The same arguments give the same record, bit for bit. `settings` are keys of the workload or of the drives (`qd=32`,
    `bs="8 KiB"`, `wce=True`); keys that are not Python names (`app.cache`) go into `set`. An I/O log as `workload` is
    replayed (`issue="after-completion"`, `speed=2`: docs/guides/traces.md). `slo` ("p99 < 1 ms") is judged in
    `Record.document["slo"]`; `interval` (a percentage) gives `Record.intervals`. `power_loss` ("30 s") and `fail`
    ("d3@60 s") are short forms of `events` ("at 60 s: fail d3"). Threads that call this use all cores.

    `progress=True` shows a bar, False none; None shows one after a second in a notebook or on a terminal. A function is
    called with a `Progress` about ten times a second; if it raises KeyboardInterrupt the run is stopped.

    `on="emulated:MACHINE"` serves the machine on the wall clock, and fio runs the workload on it; `emulate` also has
    the model's record. `on="real:PATH"` is hardware (docs/guides/measure.md), written without confirmation;
    `Record.document["expected"]` has the prediction of the nearest model, or of that of `expect`.

    Raises UserError for a mistake or if the workload can never end, KeyboardInterrupt if it is stopped (no record is
    stored), OSError if the disk fails.
    """

def steady(
    records: Record | str | PathLike[str] | Sequence[Record | str | PathLike[str]],
    *,
    round: str | float | None = None,
    track: str | None = None,
) -> Steadiness:
    """Report whether records reached steady state by the rule of the SNIA PTS, and whether they left it.

    Args:
        records: Records, results of other tools, or folders of them.
        round: Length of a round; default: that of the run, or "60 s".
        track: iops, latency or bandwidth; default: that of the run, or iops.

    Records, or their paths, that have a series are divided into rounds; one without a series is one round. The rounds
    keep the given order. The result has `verdicts`, `reached` and a `frame`. Raises UserError.
    """

def studies() -> DataFrame:
    """List studies of the catalog; with NAME show its machines, loads and published figures."""

def sweep(
    workload: Spec | Sequence[Spec],
    *,
    on: Spec | Sequence[Spec],
    set: Mapping[str, object] | None = None,
    rate: float | str | Sequence[float] | None = None,
    slo: str | None = None,
    repeat: int | None = None,
    seed: int | Sequence[int] = 1,
    duration: str | float | None = None,
    events: str | Sequence[str] = (),
    interval: float | None = None,
    draws: int | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    into: str | PathLike[str] | None = None,
    fresh: bool = False,
    records: bool = True,
    erase: str | None = None,
    size: str | float | None = None,
    keep: bool = False,
    hosts: str | None = None,
    purge_by: str | None = None,
    anyway: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Sweep:
    """Run a workload at every combination of settings on one machine or several, models and hardware (real:PATH):
    curves, and the answer in words.

    Args:
        workload: A catalog name, a TOML file, a job file or an I/O log.
        on: A machine, as for run. May be repeated.
        set: Values to change; further keyword arguments are also values to change.
        rate: I/Os (of a script: transactions) per second, without waiting for others: one value or several.
        slo: An objective, such as "p99 < 1 ms": is it met?
        repeat: Seeds of every point; its mean and spread are shown.
        seed: Seed of the random numbers; the first of several.
        duration: Measured time of a step, as "60 s".
        events: What happens in every run. May be repeated.
        interval: Print intervals. Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values for interval. Default: 64.
        jobs: Number of runs at a time. Default: all cores.
        out: Folder for the output.
        into: Also add every run to this store (hotband store).
        fresh: Start over; otherwise runs already in the folder are not repeated.
        records: Keep the record of every run.
        erase: real: serial number of the drive that may be overwritten.
        size: real:DIR: size of the test file.
        keep: real:DIR: keep the file afterwards.
        hosts: real: hosts with fio --server that issue I/Os together.
        purge_by: real: discard, format, sanitize or secure-erase; best first.
        anyway: emulated: also a machine that is faster than this host can serve.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    A list, tuple or range is an axis (`qd=[1, 8, 32]`, `seed=range(5)`), and so is a text with a range or commas
    (`qd="1..256"` doubles, `qd="1..100/5"` steps, `bs="4KiB,64KiB"`), also of `rate`. `slo` ("p99 < 1 ms") is judged
    at every point, in columns of `Sweep.means` named by its conditions. With `interval` the first seed of every point
    has intervals. An interrupt returns the sweep with the finished runs; `Sweep.missing` lists the others,
    `Sweep.resume()` continues. Without `records` only the rows of the frame are stored, in a thousandth of the memory.
    `executor` may also be an `Executor` of `hotband.execution.experiment`. All runs are checked before the first
    begins. Raises UserError for a mistake in one, and for more than 100,000.
    """

def compare_traces(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, object] | None = None,
    skip_bad: int = 0,
    unpack: int | None = None,
    device: str | int | Sequence[str | int] = (),
    host: str | int | Sequence[str | int] = (),
    process: str | int | Sequence[str | int] = (),
    direction: str | int | Sequence[str | int] = (),
    range: str | int | Sequence[str | int] = (),
    from_: str | float | None = None,
    for_: str | float | None = None,
    of_b: Mapping[str, object] | None = None,
) -> TracesCompared:
    """Compare the latencies of two traces: means, percentiles, demerit, and I/O by I/O if both have the same I/Os.

    Args:
        a: The measured trace, with latencies.
        b: The trace to compare with it.
        format: Format of the trace, if it is not recognised.
        columns: Columns of any CSV: time=1:us,offset=2:sectors,size=3,op=4; op=4:1 if 1 is a read.
        skip_bad: Skip up to N invalid lines.
        unpack: Accept a compressed trace that unpacks to N times its size. Default: 200, or half of the free memory.
        device: Only this device. May be repeated.
        host: Only this host. May be repeated.
        process: Only this process. May be repeated.
        direction: Only read, write, flush or trim. May be repeated.
        range: Range of addresses: ["0 GB", "300 GB"].
        from_: Start this long after the first I/O, such as "1 h".
        for_: Length of the part to use.
        of_b: Keys of B that differ, such as format and columns.

    The result has `demerit_pct`, `mean_error_pct`, `rms_ns` (None unless both have the same I/Os in the same
    order: `same_ios`), a `frame` by class of I/O and a page with both distributions. Raises UserError for a mistake,
    such as a trace without latencies; OSError.
    """

def convert_trace(
    source: str | PathLike[str],
    output: str | PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, object] | None = None,
    skip_bad: int = 0,
    unpack: int | None = None,
    device: str | int | Sequence[str | int] = (),
    host: str | int | Sequence[str | int] = (),
    process: str | int | Sequence[str | int] = (),
    direction: str | int | Sequence[str | int] = (),
    range: str | int | Sequence[str | int] = (),
    from_: str | float | None = None,
    for_: str | float | None = None,
    to: str | None = None,
) -> TraceConverted:
    """Convert a trace to another format, and list what that format cannot express.

    Args:
        source: A trace, plain or compressed by gzip or zstd.
        output: The new file; its suffix sets the format.
        format: Format of the trace, if it is not recognised.
        columns: Columns of any CSV: time=1:us,offset=2:sectors,size=3,op=4; op=4:1 if 1 is a read.
        skip_bad: Skip up to N invalid lines.
        unpack: Accept a compressed trace that unpacks to N times its size. Default: 200, or half of the free memory.
        device: Only this device. May be repeated.
        host: Only this host. May be repeated.
        process: Only this process. May be repeated.
        direction: Only read, write, flush or trim. May be repeated.
        range: Range of addresses: ["0 GB", "300 GB"].
        from_: Start this long after the first I/O, such as "1 h".
        for_: Length of the part to use.
        to: The new format.

    The result has `written` I/Os, what was `lost` of how many, and `notes`. Raises UserError for a mistake, such as
    the first line that is wrong; OSError.
    """

def fit_trace(
    source: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, object] | None = None,
    skip_bad: int = 0,
    unpack: int | None = None,
    device: str | int | Sequence[str | int] = (),
    host: str | int | Sequence[str | int] = (),
    process: str | int | Sequence[str | int] = (),
    direction: str | int | Sequence[str | int] = (),
    range: str | int | Sequence[str | int] = (),
    from_: str | float | None = None,
    for_: str | float | None = None,
    on: Spec | None = None,
    issue: str | None = None,
    seed: int = 1,
) -> TraceFit:
    """Fit a synthetic workload to a trace, and report how well it matches.

    Args:
        source: A trace, plain or compressed by gzip or zstd.
        output: Write the workload here, as TOML.
        format: Format of the trace, if it is not recognised.
        columns: Columns of any CSV: time=1:us,offset=2:sectors,size=3,op=4; op=4:1 if 1 is a read.
        skip_bad: Skip up to N invalid lines.
        unpack: Accept a compressed trace that unpacks to N times its size. Default: 200, or half of the free memory.
        device: Only this device. May be repeated.
        host: Only this host. May be repeated.
        process: Only this process. May be repeated.
        direction: Only read, write, flush or trim. May be repeated.
        range: Range of addresses: ["0 GB", "300 GB"].
        from_: Start this long after the first I/O, such as "1 h".
        for_: Length of the part to use.
        on: The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        issue: With on: issue the trace's I/Os as recorded or after-completion.
        seed: Seed of the random numbers.

    The result has the text of the `workload`, `rows` with the properties of both and their errors, and the names of
    those `kept` and `lost`. On a machine both run (`replayed`). Raises UserError for a mistake, such as a trace of
    several devices; OSError.
    """

def show_trace(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    format: str | None = None,
    columns: Mapping[str, object] | None = None,
    skip_bad: int = 0,
    unpack: int | None = None,
    device: str | int | Sequence[str | int] = (),
    host: str | int | Sequence[str | int] = (),
    process: str | int | Sequence[str | int] = (),
    direction: str | int | Sequence[str | int] = (),
    range: str | int | Sequence[str | int] = (),
    from_: str | float | None = None,
    for_: str | float | None = None,
    block: str | float = "4 KiB",
    sample: int | None = None,
) -> TraceShown:
    """Describe traces: sizes, bursts, sequentiality, working set, popularity, cache hit ratios.

    Args:
        source: Traces, plain or compressed by gzip or zstd.
        format: Format of the trace, if it is not recognised.
        columns: Columns of any CSV: time=1:us,offset=2:sectors,size=3,op=4; op=4:1 if 1 is a read.
        skip_bad: Skip up to N invalid lines.
        unpack: Accept a compressed trace that unpacks to N times its size. Default: 200, or half of the free memory.
        device: Only this device. May be repeated.
        host: Only this host. May be repeated.
        process: Only this process. May be repeated.
        direction: Only read, write, flush or trim. May be repeated.
        range: Range of addresses: ["0 GB", "300 GB"].
        from_: Start this long after the first I/O, such as "1 h".
        for_: Length of the part to use.
        block: Block size for counts of accesses.
        sample: Most blocks to follow.

    The result has `properties` (typed; sizes in bytes, times in ns, shares of one), `answer` in sentences, a `frame`
    (the miss-ratio curve of an LRU cache), and `others` if there are several traces. Counts by block follow every
    block if there are no more than the sample. Raises UserError for a mistake, such as the first line
    that is wrong; OSError.
    """

def convert(
    workload: Spec,
    to: str = "toml",
    *,
    target: str | None = None,
) -> Converted:
    """Convert a workload or job file to another format, and list exact, approximated and ignored options.

    Args:
        workload: A catalog name, a TOML file, a job file or an I/O log.
        to: toml, fio or vdbench.
        target: Device or file on which a written job runs.

    The result has the `text` and `losses`, the result for each option. Raises UserError for a mistake, and for a
    workload that a job file cannot express.
    """

def workloads() -> DataFrame:
    """List workloads of the catalog; with NAME print the text of one, to copy and change."""

def accuracy(
    studies: str | Sequence[str] = (),
    *,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Accuracy:
    """Run studies; print their errors by class of figure: figures fitted with them in view, and figures predicted
    first, with the errors at the time and today.

    Args:
        studies: Only these studies. Default: all.
        out: Folder for the output.
        fresh: Start over; otherwise runs already in the folder are not repeated.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    All studies take five to ten minutes on two cores. The result has a `frame` and `goals`. Raises UserError,
    KeyboardInterrupt if it is stopped.
    """

def blind_errors() -> DataFrame:
    """Print errors of predictions made before the published figure was seen. Runs nothing.

    One row per study (last "all") and class of figures: study, figures, measurements, median_pct, p90_pct, largest_pct.
    """

def explain(
    workload: Spec,
    *,
    on: Spec,
    set: Mapping[str, object] | None = None,
    figure: str = "iops",
    interval: float = 90.0,
    draws: int = 64,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Why:
    """Show the sources of a prediction's uncertainty, value by value, and the measurement that would reduce it.

    Args:
        workload: A catalog name, a TOML file, a job file or an I/O log.
        on: A drive, LAYOUT:COUNTxDRIVE, or a TOML file.
        set: Values to change; further keyword arguments are also values to change.
        figure: iops, bandwidth, mean, p50, p99 or p999; read.p99 if there are reads and writes.
        interval: Confidence level of the interval in percent, 1 to 99.
        draws: Samples of the uncertain values.
        seed: Seed of the random numbers.
        duration: Measured time of a step, as "60 s".
        jobs: Number of runs at a time. Default: all cores.
        executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
        progress: How progress is shown: True, False, or a function.

    `figure` is of a workload that reads and writes also "read.p99" and so on. Everything else as in `run`.

    The result has the interval (`predicted`, `low`, `high`), shares of its squared width (`of_values`, `of_seed`,
    `of_model`), `advice` in words and a `frame` with one row per value. Raises UserError, KeyboardInterrupt if it is
    stopped before there are draws enough.
    """

__all__ = [
    "Accuracy",
    "AuditResult",
    "BothWays",
    "Compared",
    "Converted",
    "Entropy",
    "Fleet",
    "Product",
    "ProgramResult",
    "Progress",
    "PtsResult",
    "QuickResult",
    "Record",
    "Reliability",
    "ResultsStore",
    "Steadiness",
    "Sweep",
    "TraceConverted",
    "TraceFit",
    "TraceShown",
    "TracesCompared",
    "UserError",
    "Why",
    "__version__",
    "accuracy",
    "add_to_corpus",
    "advise",
    "audit",
    "blind_errors",
    "calibrate",
    "calibration_plan",
    "check_corpus",
    "compare",
    "compare_traces",
    "convert",
    "convert_trace",
    "corpus",
    "corpus_families",
    "device",
    "device_list",
    "drive",
    "drives",
    "emulate",
    "entropy",
    "events",
    "expect",
    "explain",
    "find",
    "fit_trace",
    "fleet",
    "keys",
    "layouts",
    "load",
    "load_all",
    "measure",
    "new_drive",
    "osd",
    "osds",
    "predict_corpus",
    "program",
    "programs",
    "pts",
    "quick",
    "reliability",
    "report",
    "review",
    "run",
    "selftest",
    "sequence",
    "serve",
    "show_trace",
    "steady",
    "store",
    "studies",
    "study",
    "sweep",
    "workload",
    "workloads",
]
