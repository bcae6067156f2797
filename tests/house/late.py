"""Names of our own that are imported inside functions: by reason, then by the module that imports them.

All others are imported at the top of the file."""

LATE = {
    "Each imports the other": {
        "execution.devices.readings": ["execution.devices.context.sensor_of"],
        "execution.experiment.experiment": ["execution.experiment.Experiment", "execution.experiment.points_of"],
        "faces.commands.names": ["faces.commands.group.place_of"],
        "inference.audit.tools": ["inference.audit.littles_law.submission_ns"],
        "inference.traces.properties": ["inference.traces.zipf.zipf_of"],
        "questions.advise.asked": [
            "questions.advise.prices.guesses_about",
            "questions.advise.prices.read_prices",
        ],
        "questions.fleet.result": ["questions.fleet.summary.summary_of"],
        "questions.review.target": ["questions.review.hardware.hardware_target"],
    },
    "Cost: who shows a study needs no jinja2": {
        "questions.study.study": ["questions.study.conclusions.conclude.conclusions_of"],
    },
    "A test replaces the name where it is defined": {
        "questions.study.study": ["questions.study.intervals.listing.intervals_of"],
    },
    "An interruption prints a single line from the first moment on, even while the commands are being loaded": {
        "__main__": ["faces.cli.main"],
    },
    "Loads numpy, the tables of rich or a web server, and the importer is also used without them": {
        "faces.commands.ui": ["faces.ui.server.serve"],
        "faces.ui.shown": ["questions.fleet.result.WHOLE", "views.calibrate.views"],
    },
    "Cost: the help of a command needs none of it, and it takes 10 ms and more to load": {
        "faces.commands.executors": ["execution.experiment.expect_models", "execution.experiment.using"],
        "faces.commands.question": ["data.results.walk.series_in"],
        "faces.questions": ["data.record.incomplete.refusing_incomplete"],
    },
    "Cost: the list of commands needs none of it": {
        "data.catalog": ["data.catalog.named.is_real"],
        "faces.commands.names": [
            "data.inputs.keys.set_keys",
            "execution.programs.PROGRAMS",
            "execution.programs.find_program",
            "questions.study.file.names",
        ],
        "faces.commands.output": [
            "base.text.layout.fitted",
            "base.text.layout.hanging",
            "base.text.schema.with_schema",
        ],
    },
    "Cost: a run in virtual time needs none of it: hardware, intervals, tables, jobs of fio, rates that are set": {
        "data.catalog.filters": ["data.catalog.hints.drive_hint"],
        "data.inputs.reports": ["data.importers.files.read_beginning", "data.importers.unread.text_about_a_device"],
        "data.inputs.texts": ["data.inputs.meant.refuse_other_names", "data.jobs.job_file.job_text"],
        "data.traces.files": ["base.temporary.TemporaryFolder", "data.traces.io_log.write_log_rows"],
        "execution.experiment.chosen": ["execution.experiment.on_ray.OnRay"],
        "execution.runs.run": ["execution.runs.rate_mix.mix_notes"],
        "execution.targets.fields": [
            "execution.targets.real_target.real_target_of",
            "execution.targets.target.executor_for",
            "execution.targets.target.expect_folder",
        ],
        "faces.asked.kinds": ["data.traces.guesses.guesses_in"],
        "inference.traces.asked": ["data.traces.guesses.guesses_of"],
        "execution.targets.real_options": ["execution.targets.hosts.hosts_of", "execution.targets.on_device.Setup"],
        "questions.run.asked": ["data.inputs.rate.setting_of", "questions.slo.slo_of"],
        "questions.run.ran": [
            "data.record.record.record_of",
            "inference.beside.beside_data",
            "questions.slo.judge",
            "questions.slo.with_rate",
        ],
        "questions.run.run": [
            "data.inputs.rate.mistakes_of_rate",
            "data.inputs.rate.setting_of",
            "data.record.written.record_text",
            "execution.targets.emulated.emulate",
            "inference.interval.of_record.intervals_of",
            "inference.interval.of_record.keep",
            "inference.interval.of_run.Asked",
            "inference.interval.of_run.pinned",
            "questions.slo.slo_of",
            "questions.targets.expected.expected_of",
        ],
    },
    "Cost: `hb.run` of one workload needs none of it: hardware, intervals, results of other tools": {
        "data.importers": [
            "data.importers.diskspd",
            "data.importers.hdr",
            "data.importers.iometer",
            "data.importers.vdbench",
            "data.record.load.loaded_import",
        ],
        "data.jobs.job_file": [
            "data.jobs.diskspd",
            "data.jobs.fio_form",
            "data.jobs.fio_write.fio_text",
            "data.jobs.iometer",
            "data.jobs.vdbench_form",
            "data.jobs.vdbench_write.vdbench_text",
        ],
        "data.record.record": ["data.record.load.loaded_frames", "data.record.trace.traces_in"],
        "data.store.into": ["data.store.results_store.ResultsStore"],
        "execution.targets.fio_run": ["execution.targets.states.STATES"],
        "execution.targets.on_device": [
            "execution.devices.held.held",
            "execution.targets.ahead.ahead",
            "execution.targets.states.Data",
            "execution.targets.states.STATES",
            "execution.targets.states.Step",
            "execution.targets.states.prepare",
        ],
        "execution.targets.own_file": [
            "execution.devices.held.holding",
            "execution.devices.nodes.open_at",
            "execution.devices.safety.permission",
        ],
        "execution.targets.real_target": ["execution.targets.remote.export_of"],
        "execution.targets.target": ["execution.devices.safety.permission", "execution.targets.states.expect_state"],
    },
    "Cost: a listing of the catalog needs none of it": {
        "data.inputs.texts": [
            "data.traces.files.is_trace",
            "data.traces.files.refuse_other_traces",
            "data.traces.files.trace_text",
        ],
    },
}
