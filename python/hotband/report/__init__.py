"""Reports: one self-contained HTML file from records or from a study's result.

    from hotband.report import load_record, record_page, study_page, write_report

    write_report(Path("out.html"), record_page([load_record(Path("runs/a"))], "One run"))

`load` reads records, `frames` turns them into the frames that `hotband.draw.charts` draws, `record_page` and
`study_page` say what stands on a page, `page` writes it. What is left out: paging, and any access to the
network (the file forbids itself every load through its Content-Security-Policy).

The package can be called (`hotband.packages` says why): `hotband.report([one, other])` is `api.report`.
"""

from __future__ import annotations

from hotband.packages import make_callable
from hotband.report.load import LoadedRecord, load_record, loaded_run
from hotband.report.page import Page, write_report
from hotband.report.record_page import record_page
from hotband.report.study_page import study_page

__all__ = ["LoadedRecord", "Page", "load_record", "loaded_run", "record_page", "study_page", "write_report"]

make_callable(__name__, "hotband.api", "report")
