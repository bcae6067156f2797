"""Views by result: one line per result lists its functions by form. They are imported when a result is shown."""

from hotband.base.views import register

register(
    "hotband.data.record.record:Record",
    chart="hotband.views.record.picture:chart",
    frame="hotband.questions.sweeps.of_record:frame_of_record",
    html="hotband.views.record.picture:html",
    terminal="hotband.views.store:record",
)
register("hotband.data.catalog.filters:DriveSelection", terminal="hotband.views.catalog:drives")
register("hotband.data.jobs.converted:Converted", terminal="hotband.views.text.converted:workload")
register("hotband.data.record.steadiness:Steadiness", terminal="hotband.views.steady:terminal")
register("hotband.data.store.check:Checked", terminal="hotband.views.store:checked")
register("hotband.data.store.compact:Compacted", terminal="hotband.views.store:compacted")
register("hotband.data.store.folders:Added", terminal="hotband.views.store:added")
register("hotband.data.store.listed:Listed", terminal="hotband.views.store:selected")
register("hotband.data.store.listed:RunsListed", terminal="hotband.views.store:runs")
register("hotband.execution.programs.result:ProgramResult", terminal="hotband.views.programs:figures")
register("hotband.execution.targets.found:DeviceFound", terminal="hotband.views.devices:terminal")
register("hotband.execution.targets.found:DeviceReported", terminal="hotband.views.devices:reported_terminal")
register(
    "hotband.inference.audit.result:AuditResult",
    report="hotband.views.report.of_results:of_audit",
    terminal="hotband.views.audit:terminal",
)
register("hotband.inference.interval.explained:Why", terminal="hotband.views.interval:terminal")
register("hotband.questions.study.intervals.largest:FigureErrors", terminal="hotband.views.interval:largest_terminal")
register(
    "hotband.inference.reliability.result:Reliability",
    lines="hotband.views.reliability:summary_lines",
    terminal="hotband.views.reliability:terminal",
)
register(
    "hotband.inference.traces.compare:TracesCompared",
    report="hotband.views.traces.compared_page:of_traces",
    terminal="hotband.views.traces.compare:terminal",
)
register("hotband.inference.traces.convert:TraceConverted", terminal="hotband.views.text.converted:trace")
register("hotband.inference.traces.fit.fit:TraceFit", terminal="hotband.views.traces.fit:terminal")
register(
    "hotband.inference.traces.show:TraceShown",
    frame="hotband.views.traces.frames:curve_frame",
    page="hotband.views.traces.page:write_page",
    sentences="hotband.views.traces.told:answers_of",
    terminal="hotband.views.traces.show:terminal",
)
register(
    "hotband.questions.advise.advice:Advice",
    html="hotband.views.draw.advise:advice_html",
    report="hotband.views.report.of_results:of_advice",
    terminal="hotband.views.advise.show:terminal",
)
register("hotband.questions.catalog:Events", terminal="hotband.views.catalog:events")
register("hotband.questions.catalog:Layouts", terminal="hotband.views.catalog:layouts")
register("hotband.questions.catalog:Listing", terminal="hotband.views.catalog:entries")
register("hotband.questions.catalog:SetKeys", terminal="hotband.views.catalog:keys")
register("hotband.questions.catalog:ShownProduct", terminal="hotband.views.catalog:product")
register("hotband.questions.catalog:ShownWorkload", terminal="hotband.views.catalog:workload")
register(
    "hotband.questions.compare:Compared",
    report="hotband.views.report.of_results:of_comparison",
    terminal="hotband.views.compare:terminal",
)
register("hotband.questions.calibrate.calibrated:Calibrated", terminal="hotband.views.calibrate:terminal")
register("hotband.questions.calibrate.run:CalibrationPlan", terminal="hotband.views.calibrate:plan_terminal")
register("hotband.questions.corpus:CorpusAdded", terminal="hotband.views.corpus:added")
register("hotband.questions.corpus:CorpusChecked", terminal="hotband.views.corpus:checked")
register("hotband.questions.corpus:CorpusListed", terminal="hotband.views.corpus:listed")
register("hotband.questions.corpus:CorpusShown", terminal="hotband.views.corpus:shown")
register("hotband.questions.predictions.asked:CorpusPredicted", terminal="hotband.views.predictions:predicted")
register("hotband.questions.datasheet.new:NewDrive", terminal="hotband.views.catalog:new_drive")
register("hotband.questions.device:DeviceList", terminal="hotband.views.devices:list_terminal")
register("hotband.questions.selftest:Selftest", terminal="hotband.views.selftest:terminal")
register("hotband.questions.entropy:Entropy", terminal="hotband.views.entropy:terminal")
register("hotband.questions.expect.expected:Expected", terminal="hotband.views.expect_screen:terminal")
register(
    "hotband.questions.find.found:Found",
    lines="hotband.views.find:answer_views",
    terminal="hotband.views.find_screen:terminal",
)
register(
    "hotband.questions.fleet.result:Fleet",
    answers="hotband.views.fleet.show:answers_of",
    chart="hotband.views.draw.fleet:month_chart",
    html="hotband.views.fleet.show:html_of",
    report="hotband.views.fleet.page:report_of",
    terminal="hotband.views.fleet.screen:terminal",
)
register("hotband.questions.imported:ImportedFiles", terminal="hotband.views.imported:files")
register("hotband.questions.imported:ImportedFolders", terminal="hotband.views.imported:folders")
register("hotband.questions.program:ProgramList", terminal="hotband.views.programs:programs")
register("hotband.questions.program:ProgramOutline", terminal="hotband.views.programs:outline")
register("hotband.questions.study.listed:ShownStudy", terminal="hotband.views.catalog:study")
register("hotband.views.report.latency_asked:LatencyChart", terminal="hotband.views.report.latency_asked:terminal")
register("hotband.views.report.kept:Report", terminal="hotband.views.report.asked:terminal")
register(
    "hotband-review",
    folder="hotband.views.report.review_page:write_review",
    lines="hotband.views.review:views",
)
register("hotband-emulated", report="hotband.views.report.of_runs:of_emulation")
register("hotband-run", report="hotband.views.report.of_runs:of_hardware")
register("hotband.questions.run.ran:Ran", terminal="hotband.views.run_screen:terminal")
register("hotband.questions.run.ran:Emulation", terminal="hotband.views.run_screen:emulation")
register("hotband.questions.review.many:Reviewed", terminal="hotband.views.review_screen:terminal")
register(
    "hotband-study-accuracy",
    rewritable="hotband.views.accuracy.page:rewritable",
    rewrite="hotband.views.accuracy.page:rewrite",
)
register("hotband.execution.serve.left:ServedLeft", terminal="hotband.views.serve:terminal")
register("hotband-served", live="hotband.views.serve:live_lines", reached="hotband.views.serve:reached_lines")
register(
    "hotband-study",
    chart="hotband.views.report.of_results:study_chart",
    report="hotband.views.report.of_results:of_study",
)
register("hotband.questions.study.accounted:Accuracy", terminal="hotband.views.accuracy.screen:accuracy")
register("hotband.questions.study.accounted:AllBlindErrors", terminal="hotband.views.accuracy.screen:blind")
register("hotband.questions.study.emulate.result:EmulationResult", terminal="hotband.views.study.emulate:terminal")
register("hotband.questions.study.intervals.spreads:AllIntervals", terminal="hotband.views.interval:all_terminal")
register("hotband.questions.study.intervals.spreads:Spreads", terminal="hotband.views.interval:spreads_terminal")
register("hotband.questions.study.result:StudyResult", terminal="hotband.views.study.show:terminal")
register("hotband.questions.study.swung:Swings", terminal="hotband.views.study.swings:terminal")
register(
    "hotband.questions.suites.looked:QuickResult",
    page="hotband.views.suites.quick_page:write_quick",
    picture="hotband.views.suites.picture:write_picture",
    terminal="hotband.views.suites.screens:quick",
)
register(
    "hotband.questions.suites.tested:PtsResult",
    page="hotband.views.suites.page:write_page",
    terminal="hotband.views.suites.screens:pts",
)
register(
    "hotband.questions.sweeps.sweep:Sweep",
    answers="hotband.views.sweeps.answers:answers_of",
    chart="hotband.views.sweeps.chart:sweep_chart",
    html="hotband.views.sweeps.chart:sweep_html",
    report="hotband.views.report.sweep_page:report_of",
    terminal="hotband.views.sweeps.screen:terminal",
)
