"""What became of vdbench's parameters: one line each for the loss report."""

from __future__ import annotations

from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.source import Option
from hotband.data.jobs.vdbench_file import Definition, Parameters, listed

_RESULTS = "is about results, not about I/Os"
_HOSTS = "the machine that is run has one host"
_FATES: dict[str, tuple[Fate, str]] = {
    **dict.fromkeys(
        ("histogram", "report", "monitor", "messagescan", "port", "showlba", "debug", "misc"), (Fate.UNUSED, _RESULTS)
    ),
    **dict.fromkeys(
        ("host", "system", "vdbench", "jvms", "shell", "user", "clients", "mount", "master"), (Fate.UNUSED, _HOSTS)
    ),
    **dict.fromkeys(
        (
            "startcmd",
            "endcmd",
            "start_cmd",
            "end_cmd",
            "resetbus",
            "resetlun",
            "ios_per_jvm",
            "data_errors",
            "create_anchors",
        ),
        (Fate.UNUSED, _HOSTS),
    ),
    **dict.fromkeys(
        ("dedupratio", "dedupunit", "dedupsets", "dedupflipflop"),
        (Fate.IGNORED, "no drive here stores equal data once"),
    ),
    **dict.fromkeys(
        ("validate", "journal", "pattern", "patterns", "force_error_after"),
        (Fate.IGNORED, "data is not checked: a model holds none"),
    ),
    **dict.fromkeys(
        ("rhpct", "whpct", "forrhpct", "forwhpct", "forhpct", "hpct", "hitarea", "forhitarea"),
        (Fate.IGNORED, "I/Os go where seekpct= sends them: none is made to hit a cache"),
    ),
    **dict.fromkeys(("compratio_rd", "forcompratio"), (Fate.IGNORED, "the data of a workload is the same in all runs")),
    "streams": (Fate.IGNORED, "a workload has one sequential position on an sd"),
    "priority": (Fate.IGNORED, "all I/Os are alike"),
    "replay": (Fate.IGNORED, "a trace is no workload"),
    "concatenate": (Fate.IGNORED, "storage definitions lie one after the other on the target"),
    "maxdata": (Fate.IGNORED, "a run ends with its time"),
    "stopcurve": (Fate.IGNORED, "there is no curve to stop"),
    "pause": (Fate.IGNORED, "steps follow one another directly"),
    "loop": (Fate.IGNORED, "a run is made once"),
    "workload_size": (Fate.IGNORED, "ranges are those of range="),
    "swat": (Fate.IGNORED, "a trace is no workload"),
    "abort_failed_skew": (Fate.IGNORED, "a skew is a share to draw by"),
}


def report_all(parameters: Parameters, report: LossReport, fates: dict[int, tuple[Fate, str]]) -> None:
    """One line an option, in the order of the file; `fates` are those that the reader found."""
    seen: set[int] = set()
    for option in parameters.general:
        _report(option, report, fates, seen)
    for definition in parameters.definitions:
        report.add(
            Fate.UNUSED if definition.kind == "hd" else Fate.KEPT,
            definition.place,
            f"{definition.kind}={definition.name}",
        )
        for option in definition.options.values():
            _report(option, report, fates, seen)
        if definition.kind == "sd" and definition.name != "default":
            _page_cache(definition, report)


def _report(option: Option, report: LossReport, fates: dict[int, tuple[Fate, str]], seen: set[int]) -> None:
    if id(option) not in seen:
        seen.add(id(option))
        fate, why = fates.get(id(option)) or _FATES.get(option.key, (Fate.KEPT, ""))
        report.add(fate, option.place, str(option), why)


def _page_cache(definition: Definition, report: LossReport) -> None:
    """A file that is opened without `directio` goes through the page cache; a raw device of Windows does not."""
    flags, lun = definition.get("openflags"), definition.get("lun")
    direct = {"directio", "o_direct", "o_sync", "o_dsync"}
    if (
        lun is None
        or lun.value.startswith(("/dev/", "\\\\.\\"))
        or (flags and {f.lower() for f in listed(flags.value)} & direct)
    ):
        return
    why = "every I/O goes to the target as with openflags=directio: the host's page cache is not modelled"
    report.add(Fate.APPROXIMATED, definition.place, f"sd={definition.name} without openflags=directio", why)
