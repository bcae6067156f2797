"""Fates of vdbench's parameters: one line each for the loss report."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.source import Option
from hotband.data.jobs.vdbench_file import Definition, Parameters, listed

_RESULTS = "affects results, not I/Os"
_HOSTS = "the modelled machine has one host"
_FATES: dict[str, tuple[Fate, str]] = {
    **dict.fromkeys(
        ("histogram", "report", "monitor", "messagescan", "port", "showlba", "debug", "misc", "report_run_totals"),
        (Fate.UNUSED, _RESULTS),
    ),
    **dict.fromkeys(("auxreport", "tmpdir", "timeout"), (Fate.UNUSED, _RESULTS)),
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
        ("dedupratio", "dedupunit", "dedupsets", "dedupflipflop", "deduphotsets"),
        (Fate.IGNORED, "no modelled drive deduplicates data"),
    ),
    **dict.fromkeys(
        ("validate", "journal", "pattern", "patterns", "force_error_after"),
        (Fate.IGNORED, "data is not verified: a model stores none"),
    ),
    **dict.fromkeys(
        ("rhpct", "whpct", "forrhpct", "forwhpct", "forhpct", "hpct", "hitarea", "forhitarea"),
        (Fate.IGNORED, "seekpct= sets the offsets: no I/O is directed at a cache"),
    ),
    **dict.fromkeys(("compratio_rd", "forcompratio"), (Fate.IGNORED, "the data of a workload is the same in all runs")),
    "streams": (Fate.IGNORED, "a workload has one sequential position on an sd"),
    "priority": (Fate.IGNORED, "all I/Os have the same priority"),
    "replay": (Fate.IGNORED, "a trace is not a workload"),
    **dict.fromkeys(
        ("concatenate", "concatenatesds"),
        (Fate.IGNORED, "storage definitions are placed one after the other on the target"),
    ),
    "formatsds": (Fate.IGNORED, "SSDs are preconditioned; state= says how"),
    "fwd_thread_adjust": (Fate.UNUSED, "applies only to file systems"),
    "maxdata": (Fate.IGNORED, "a run ends after its time"),
    "stopcurve": (Fate.IGNORED, "there is no curve to stop"),
    "pause": (Fate.IGNORED, "steps follow one another directly"),
    "loop": (Fate.IGNORED, "each run happens once"),
    "workload_size": (Fate.IGNORED, "range= sets the ranges"),
    "swat": (Fate.IGNORED, "a trace is not a workload"),
    "abort_failed_skew": (Fate.IGNORED, "a skew is the probability with which a workload is chosen"),
}


def report_all(
    parameters: Parameters,
    report: LossReport,
    fates: Mapping[int, tuple[Fate, str]],
    opened: Mapping[str, Collection[str]],
) -> None:
    """Add one line per option in the order of the file; `fates` are those that the reader set, `opened` the flags with
    which runs open storage definitions."""
    seen: set[int] = set()
    for option in parameters.general:
        _report(option, report, fates, seen)
    for definition in parameters.definitions:
        report.add(
            Fate.UNUSED if definition.kind == "hd" else Fate.KEPT,
            definition.location,
            f"{definition.kind}={definition.name}",
        )
        for option in definition.options.values():
            _report(option, report, fates, seen)
        if definition.kind == "sd" and definition.name != "default":
            own = definition.get("openflags")
            _page_cache(definition, opened.get(definition.name, [own.value if own else ""]), report)


def _report(option: Option, report: LossReport, fates: Mapping[int, tuple[Fate, str]], seen: set[int]) -> None:
    if id(option) not in seen:
        seen.add(id(option))
        fate, why = fates.get(id(option)) or _FATES.get(option.key, (Fate.KEPT, ""))
        report.add(fate, option.location, str(option), why)


def _page_cache(definition: Definition, opened: Collection[str], report: LossReport) -> None:
    """Report a file that a run opens without `directio`, which goes through the page cache; a raw device of Windows
    does not."""
    lun, direct = definition.get("lun"), {"directio", "o_direct", "o_sync", "o_dsync"}
    if lun is None or lun.value.startswith(("/dev/", "\\\\.\\")):
        return
    if all({flag.lower() for flag in listed(flags)} & direct for flags in opened):
        return
    why = "every I/O bypasses the host's page cache, which is not modelled, as with openflags=directio"
    report.add(Fate.APPROXIMATED, definition.location, f"sd={definition.name} without openflags=directio", why)
