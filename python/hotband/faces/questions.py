"""The questions, one line each: declaration, answering function, and purpose. The command line, the Python interface
and the page are generated from these lines."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from hotband.data.store.into import into_store

if TYPE_CHECKING:
    from hotband.base.question import Question, Way


class Line(NamedTuple):
    """A question: its class ("module:Class"), the function that answers it ("module:function", of the question and its
    `Way`), and the first paragraph of its docstring, which lists of commands show without loading it. `function` is the
    name of its Python function, if it differs: `study.run` is a method of the result of `study`, which is the first
    field; None if only the command line has it, or if methods of another object replace it. A `with` block of Python
    enters the object that `opens` makes, instead of the answer."""

    question: str
    answer: str
    summary: str
    function: str | None = ""
    opens: str = ""


QUESTIONS = {
    "advise": Line(
        "hotband.questions.advise.asked:AdviseQuestion",
        "hotband.questions.advise.advise:answer",
        "Say what to buy: drives, layouts, numbers and caches that meet an objective, none of them worse in "
        "everything.",
    ),
    "audit": Line(
        "hotband.questions.audit:AuditQuestion",
        "hotband.questions.audit:answer",
        "Show what results prove: rules of physics, arithmetic and statistics on yours or published ones.",
    ),
    "calibrate": Line(
        "hotband.questions.calibrate.asked:CalibrateQuestion",
        "hotband.questions.calibrate.run:answer",
        "Fit a product's values to a drive: measure it, or use existing results or a trace.",
    ),
    "compare": Line(
        "hotband.questions.compare:CompareQuestion",
        "hotband.questions.compare:answer",
        "Report whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.",
    ),
    "corpus add": Line(
        "hotband.questions.corpus:AddCorpusQuestion",
        "hotband.questions.corpus:added",
        "Add measured figures to your own corpus, which `corpus show` and `drives` then print as well: results of fio "
        "and of other tools with the drive's name (`--model`), or a file in the format of the corpus.",
        "add_to_corpus",
    ),
    "corpus check": Line(
        "hotband.questions.corpus:CheckCorpusQuestion",
        "hotband.questions.corpus:checked",
        "Check a file of figures: columns, units, Little's law, percentiles that rise. Exit code 1 if its figures "
        "contradict each other.",
        "check_corpus",
    ),
    "corpus list": Line(
        "hotband.questions.corpus:ListCorpusQuestion",
        "hotband.questions.corpus:listed",
        "List the drives, arrays and volumes that others measured, and how many figures there are of each.",
        "corpus_families",
    ),
    "corpus predict": Line(
        "hotband.questions.predictions.asked:PredictCorpusQuestion",
        "hotband.questions.predictions.asked:predicted",
        "Predict measured figures from data sheets alone, and print how far off the predictions are, by class of load.",
        "predict_corpus",
    ),
    "corpus show": Line(
        "hotband.questions.corpus:ShowCorpusQuestion",
        "hotband.questions.corpus:shown",
        "Show what others measured on a drive: a line for each load, with its source. NAME is a drive of the catalog, "
        "a family of `hotband corpus list`, or words of a model name.",
        "corpus",
    ),
    "device": Line(
        "hotband.questions.device:DeviceQuestion",
        "hotband.questions.device:device",
        "Show a drive's identity, SMART data and its protection from being overwritten. Nothing is written.",
    ),
    "drives new": Line(
        "hotband.questions.datasheet.new:NewDriveQuestion",
        "hotband.questions.datasheet.new:write_drive",
        "Describe a drive of your own by lines of its data sheet; write a file that `--on` and `drives` accept.",
        "new_drive",
    ),
    "drives show": Line(
        "hotband.questions.catalog:DrivesQuestion",
        "hotband.questions.catalog:drives",
        "List the drives of the catalog; with NAME show every value of a drive, with its source.",
        "drives",
    ),
    "entropy": Line(
        "hotband.questions.entropy:EntropyQuestion",
        "hotband.questions.entropy:answer",
        "Measure how well your data compresses, which decides how fast a compressing SSD writes it.",
    ),
    "events": Line(
        "hotband.questions.catalog:EventsQuestion",
        "hotband.questions.catalog:events",
        "List the events of a run (failures, loss of power, changed values) and what supports them.",
    ),
    "expect": Line(
        "hotband.questions.expect.asked:ExpectQuestion",
        "hotband.questions.expect.expect:expect",
        "Check whether a result is as good as the model predicts for its load on a machine.",
    ),
    "find": Line(
        "hotband.questions.find.asked:FindQuestion",
        "hotband.questions.find.find:find",
        "Find the rate, queue depth, number of drives or value that meets a condition, in at most 12 runs per machine.",
    ),
    "fleet": Line(
        "hotband.questions.fleet.asked:FleetQuestion",
        "hotband.questions.fleet.run:answer",
        "Simulate a fleet over months: failures, rebuilds, spares, wear, energy, expected loss of data and cost.",
    ),
    "import auto": Line(
        "hotband.questions.imported:AutoQuestion",
        "hotband.questions.imported:recognised",
        "Recognise by content which tool wrote each file, and turn it into records.",
        None,
    ),
    "import diskspd": Line(
        "hotband.questions.imported:DiskspdQuestion",
        "hotband.questions.imported:of_tool",
        "Turn DiskSpd's XML (-Rxml) into records, one per time span.",
        None,
    ),
    "import fio": Line(
        "hotband.questions.imported:FioQuestion",
        "hotband.questions.imported:of_tool",
        "Turn fio's output (JSON, JSON+, terse, logs) into records; logs next to their JSON become its series.",
        None,
    ),
    "import hdr": Line(
        "hotband.questions.imported:HdrQuestion",
        "hotband.questions.imported:of_tool",
        "Turn HdrHistogram logs (.hlog) into records, one per tag.",
        None,
    ),
    "import iometer": Line(
        "hotband.questions.imported:IometerQuestion",
        "hotband.questions.imported:of_tool",
        "Turn Iometer's results CSV into records, one per test.",
        None,
    ),
    "import vdbench": Line(
        "hotband.questions.imported:VdbenchQuestion",
        "hotband.questions.imported:of_tool",
        "Turn vdbench's flatfile, summary, totals and histogram into records, one per run definition.",
        None,
    ),
    "keys": Line(
        "hotband.questions.catalog:KeysQuestion",
        "hotband.questions.catalog:keys",
        "List every key that --set takes for a workload on a machine: its current value, allowed values and meaning.",
    ),
    "layouts": Line(
        "hotband.questions.catalog:LayoutsQuestion",
        "hotband.questions.catalog:layouts",
        "List the layouts of drives (RAID, mirrors, pools), how each is written, and what it survives.",
    ),
    "measure selftest": Line(
        "hotband.questions.selftest:SelftestQuestion",
        "hotband.questions.selftest:selftest",
        "Check that a drive is identified, protected and measured right. Nothing is written.",
        "selftest",
    ),
    "mount": Line(
        "hotband.execution.serve.asked:MountQuestion",
        "hotband.execution.serve.until_end:answer",
        "Mount an emulated machine: one file per volume, with --loop also block devices, while the command runs.",
        None,
    ),
    "osds": Line(
        "hotband.questions.catalog:OsdsQuestion",
        "hotband.questions.catalog:osds",
        "List object storage daemons of the catalog, for replicated pools; with NAME show all values of one.",
    ),
    "plot": Line(
        "hotband.views.report.latency_asked:LatencyQuestion",
        "hotband.views.report.latency_asked:answer",
        "Draw the latency of several runs by percentile, as far out as their samples support.",
        None,
    ),
    "program": Line(
        "hotband.questions.program:ProgramQuestion",
        "hotband.questions.program:program",
        "Run a real program on a machine that is served as block devices, or in a folder.",
    ),
    "pts": Line(
        "hotband.questions.suites.tested:PtsQuestion",
        "hotband.questions.suites.tested:answer",
        "Run SNIA's performance test for SSDs (PTS 2.0.2): purge, precondition, measure rounds until steady.",
    ),
    "quick": Line(
        "hotband.questions.suites.looked:QuickQuestion",
        "hotband.questions.suites.looked:answer",
        "Test a disk, SSD or NVMe drive in a few minutes, and compare it with what the model expects.",
    ),
    "reliability": Line(
        "hotband.inference.reliability.asked:ReliabilityQuestion",
        "hotband.inference.reliability.assess:answer",
        "Predict when an array loses data: mean time to data loss and the chance of loss, with the closed form.",
    ),
    "serve": Line(
        "hotband.execution.serve.asked:ServeQuestion",
        "hotband.execution.serve.until_end:answer",
        "Serve an emulated machine in real time as a block device: NBD, a file or a loop device.",
        opens="hotband.execution.serve.block:served",
    ),
    "review": Line(
        "hotband.questions.review.reviewed:ReviewQuestion",
        "hotband.questions.review.reviewed:answer",
        "Review a machine, emulated:MACHINE or hardware (real:PATH): transfer curve, access time, block sizes, "
        "streams, server patterns, files; compare it with others.",
    ),
    "report": Line(
        "hotband.views.report.asked:ReportQuestion",
        "hotband.views.report.asked:answer",
        "Write one self-contained HTML report of records, and its charts as SVG or PNG.",
    ),
    "store query": Line(
        "hotband.questions.store:SqlQuestion",
        "hotband.questions.store:rows_of",
        "Query a store in SQL, read-only.",
        None,
    ),
    "run": Line(
        "hotband.questions.run.asked:RunQuestion",
        "hotband.questions.run.run:answer",
        "Run a workload on a machine in virtual time, or on hardware (--on real:PATH) through fio; with --then "
        "several, one after the other on the same machine.",
    ),
    "steady": Line(
        "hotband.questions.steady:SteadyQuestion",
        "hotband.questions.steady:answer",
        "Report whether records reached steady state by the rule of the SNIA PTS, and whether they left it.",
    ),
    "store add": Line(
        "hotband.questions.store:AddQuestion",
        "hotband.questions.store:added",
        "Add records to a store; create it if necessary. A run is stored once.",
        None,
    ),
    "store check": Line(
        "hotband.questions.store:CheckQuestion",
        "hotband.questions.store:checked",
        "Verify every file by its checksum. Exit code 1 if one is damaged or missing.",
        None,
    ),
    "store compact": Line(
        "hotband.questions.store:CompactQuestion",
        "hotband.questions.store:compacted",
        "Merge many small files into few large ones; recover the runs of interrupted writers.",
        None,
    ),
    "store list": Line(
        "hotband.questions.store:ListQuestion",
        "hotband.questions.store:runs_of",
        "List runs, the newest first: workload, factors, rate and latency. JSON has all columns.",
        None,
    ),
    "store show": Line(
        "hotband.questions.store:ShowQuestion",
        "hotband.questions.store:record_in",
        "Show a run of a store in full.",
        None,
    ),
    "studies": Line(
        "hotband.questions.study.listed:StudiesQuestion",
        "hotband.questions.study.listed:studies",
        "List studies of the catalog; with NAME show its machines, loads and published figures.",
    ),
    "sweep": Line(
        "hotband.questions.sweeps.asked:SweepQuestion",
        "hotband.questions.sweeps.run:answer",
        "Run a workload at every combination of settings on one machine or several, models and hardware (real:PATH): "
        "curves, and the answer in words.",
    ),
    "trace compare": Line(
        "hotband.inference.traces.compare:CompareTracesQuestion",
        "hotband.inference.traces.compare:answer",
        "Compare the latencies of two traces: means, percentiles, demerit, and I/O by I/O if both have the same I/Os.",
        "compare_traces",
    ),
    "trace convert": Line(
        "hotband.inference.traces.convert:ConvertTraceQuestion",
        "hotband.inference.traces.convert:answer",
        "Convert a trace to another format, and list what that format cannot express.",
        "convert_trace",
    ),
    "trace fit": Line(
        "hotband.inference.traces.fit.fit:FitTraceQuestion",
        "hotband.inference.traces.fit.fit:answer",
        "Fit a synthetic workload to a trace, and report how well it matches.",
        "fit_trace",
    ),
    "trace show": Line(
        "hotband.inference.traces.show:ShowTraceQuestion",
        "hotband.inference.traces.show:answer",
        "Describe traces: sizes, bursts, sequentiality, working set, popularity, cache hit ratios.",
        "show_trace",
    ),
    "workloads convert": Line(
        "hotband.data.inputs.convert:ConvertWorkloadQuestion",
        "hotband.data.inputs.convert:answer",
        "Convert a workload or job file to another format, and list exact, approximated and ignored options.",
        "convert",
    ),
    "workloads show": Line(
        "hotband.questions.catalog:WorkloadsQuestion",
        "hotband.questions.catalog:workloads",
        "List workloads of the catalog; with NAME print the text of one, to copy and change.",
        "workloads",
    ),
    "study run": Line(
        "hotband.questions.study.asked:StudyRunQuestion",
        "hotband.questions.study.study:answer",
        "Predict a study's figures; print them next to the published ones.",
        "study.run",
    ),
    "study emulate": Line(
        "hotband.questions.study.asked:StudyEmulateQuestion",
        "hotband.questions.study.emulate.run:answer",
        "Run real programs on a study's machines, emulated at a scale that fits this host; print ratios next to those "
        "of model and publication.",
        "study.emulate",
    ),
    "study swings": Line(
        "hotband.questions.study.asked:StudySwingsQuestion",
        "hotband.questions.study.swings:answer",
        "Run each assumption at both ends of its range; print which of them change a prediction.",
        "study.swings",
    ),
    "study intervals": Line(
        "hotband.questions.study.asked:StudyIntervalsQuestion",
        "hotband.questions.study.intervals.all_studies:answer",
        "Compute intervals of a study's figures from its uncertain values; with --all also how often intervals contain "
        "the published figures, each study left out.",
        "study.intervals",
    ),
    "study why": Line(
        "hotband.questions.study.asked:StudyWhyQuestion",
        "hotband.questions.study.intervals.of_study:answer",
        "Show the sources of uncertainty of a study's figure, from its stored samples; without FIGURE, list the "
        "figures with the largest errors. Runs nothing.",
        "study.why",
    ),
    "study accuracy": Line(
        "hotband.questions.study.asked:StudyAccuracyQuestion",
        "hotband.questions.study.account:answer",
        "Run studies; print their errors by class of figure: figures fitted with them in view, and figures predicted "
        "first, with the errors at the time and today.",
        "accuracy",
    ),
    "study blind": Line(
        "hotband.questions.study.asked:StudyBlindQuestion",
        "hotband.questions.study.blind_errors:answer",
        "Print errors of predictions made before the published figure was seen. Runs nothing.",
        "blind_errors",
    ),
    "why": Line(
        "hotband.inference.interval.asked:WhyQuestion",
        "hotband.inference.interval.explained:why",
        "Show the sources of a prediction's uncertainty, value by value, and the measurement that would reduce it.",
        "explain",
    ),
}
GROUPS = {
    "drives": ("List and filter drives of the catalog, and describe your own from its data sheet.", ("show", "new")),
    "import": ("Results of other tools, as records.", ("auto", "fio", "vdbench", "diskspd", "iometer", "hdr")),
    "corpus": (
        "Figures that others measured on drives, arrays and volumes.",
        ("list", "show", "add", "check", "predict"),
    ),
    "store": (
        "Store the results of many runs as Parquet files; list and query them.",
        ("list", "query", "add", "show", "compact", "check"),
    ),
    "study": (
        "Predict published evaluations, and print the published figures next to ours.",
        ("run", "emulate", "swings", "intervals", "why", "accuracy", "blind"),
    ),
    "trace": (
        "Show, convert, compare and fit I/O traces of Hotband and other tools.",
        ("show", "convert", "compare", "fit"),
    ),
    "workloads": (
        "List workloads of the catalog; convert job files of fio, vdbench, Iometer and DiskSpd.",
        ("show", "convert"),
    ),
}
"""Groups of questions: the summary of each, and the last words of its commands in the order of its help."""


def function_name(name: str) -> str:
    """Return the name of the Python function of a question, or of its method after a dot."""
    return QUESTIONS[name].function or name


def has_function(name: str) -> bool:
    """Return whether a question has a Python function or a method."""
    return QUESTIONS[name].function is not None


def by_function() -> dict[str, str]:
    """Return the questions by the names of their Python functions, without methods."""
    named = {function_name(name): name for name in QUESTIONS if has_function(name)}
    return {function: name for function, name in named.items() if "." not in function}


def _loaded(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


@cache
def declared(name: str) -> type[Question]:
    """Return the class of a question by its name."""
    question: type[Question] = _loaded(QUESTIONS[name].question)
    return question


def reading(question: Question) -> AbstractContextManager[None]:
    """Return the context in which the files of a question are read: what one lacks becomes a UserError."""
    from hotband.data.record.incomplete import refusing_incomplete

    files = question.files()
    return refusing_incomplete(files) if files else nullcontext()


def opened(question: Question) -> Any:
    """Return the object that a `with` block enters. Raises UserError for a mistake."""
    return _loaded(QUESTIONS[question.name].opens)(question)


def answer(question: Question, way: Way) -> Any:
    """Return the answer to a question. Raises UserError for a mistake, and what its runs raise."""
    with reading(question), into_store(getattr(question, "into", None)):
        return _loaded(QUESTIONS[question.name].answer)(question, way)
