"""Reports: one self-contained HTML file from records or from a study's result.

    from hotband.views.report import load_record, record_page, study_page, write_report

    write_report(Path("out.html"), record_page([load_record(Path("runs/a"))], "One run"))

`load` reads records, `frames` turns them into the frames that `hotband.views.draw.charts` draws, `record_page` and
`study_page` compose a page, `page` writes it. Left out: paging, and any access to the network (the file's
Content-Security-Policy forbids every load).
"""

from __future__ import annotations

from hotband.data.record.load import LoadedRecord, load_record, loaded_run
from hotband.views.report.page import Page, write_report
from hotband.views.report.record_page import record_page
from hotband.views.report.study_page import study_page

__all__ = ["LoadedRecord", "Page", "load_record", "loaded_run", "record_page", "study_page", "write_report"]
