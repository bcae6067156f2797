//! One run: a workload on a machine with a seed.

use std::collections::BTreeMap;

use hotband_machine::{Machine, MachineSpec, SpecError};
use hotband_units::{Bytes, Instant, Span};
use hotband_workloads::{AppSpec, Stream, Workload};

use crate::bind::{bind, check_trims, is_served};
use crate::build::assemble::{Assembled, assemble_with_spares};
use crate::build::catalog::Catalog;
use crate::build::entropy_file::DataRecord;
use crate::build::means::{Means, Use};
use crate::control::{Control, RunError};
use crate::drive::Driver;
use crate::power_cut::PowerCut;
use crate::probes::Probes;
use crate::probes::caches::CacheSeries;
use crate::probes::direction::Side;
use crate::probes::io_log::IoLog;
use crate::probes::operations::OperationSeries;
use crate::probes::power::PowerSeries;
use crate::probes::repair::ServiceWatch;
use crate::probes::smart::SmartSeries;
use crate::probes::streams::Series;
use crate::record::Record;
use crate::request::Request;
use crate::sources::agenda::Sources;
use crate::sources::app::AppAtWork;
use crate::texts::{machine_text, workload_of};

/// What a run leaves.
pub struct Outcome {
    /// The record.
    pub record: Record,
    /// Its series.
    pub series: Series,
    /// Caches over time; empty where the machine has none.
    pub caches: CacheSeries,
    /// The app over time; empty where there is none.
    pub operations: OperationSeries,
    /// What drives draw over time; empty where that is not known.
    pub power: PowerSeries,
    /// SMART attributes over time; empty where no drive has them.
    pub smart: SmartSeries,
    /// Names of the streams, for the series and the log.
    pub streams: Vec<String>,
    /// I/Os simulated, warm-up included.
    pub ios: u64,
}

/// A machine as a run left it, for the run that follows on it.
pub struct Kept {
    machine: Machine,
    now: Instant,
    /// What it was built from: a machine for another text or other values would not be the same.
    built_from: (String, Vec<(String, String)>),
}

/// A run that was checked and can be executed.
pub struct Run {
    request: Request,
    /// Of the machine, and of the workload.
    texts: (String, String),
    workload: Workload,
    assembled: Assembled,
    /// Values of drives and daemons that `--set` changes.
    drive_set: Vec<(String, String)>,
    streams: Vec<(Stream, u16)>,
    app: Option<AppAtWork>,
    power_cut: Option<PowerCut>,
    /// Most bytes a second of a rebuild.
    rebuild_rate: Option<u64>,
}

impl Run {
    /// Reads and checks everything that `request` names, and builds the machine.
    ///
    /// # Errors
    /// The first mistake.
    pub fn new(catalog: &Catalog, request: Request) -> Result<Self, RunError> {
        Self::new_within(catalog, request, &Means::default())
    }

    /// The same with so much memory, and as long as somebody waits for it: a large machine takes its time and room.
    ///
    /// # Errors
    /// Those of `new`, interruption, and too little memory.
    pub fn new_within(catalog: &Catalog, request: Request, means: &Means) -> Result<Self, RunError> {
        let (machine_file, machine_text) = machine_text(catalog, &request)?;
        let workload_text = match &request.workload_text {
            Some(text) => text.clone(),
            None => catalog.text("workloads", &request.workload, ("WORKLOAD", ""))?,
        };
        let (workload, drive_set) = workload_of(&request, &workload_text)?;
        let spec = MachineSpec::read(&machine_file, &machine_text)?;
        let spares = request.repair.spares(&spec)?;
        let assembled = assemble_with_spares(
            &spec,
            catalog,
            (&drive_set, request.seed),
            spares,
            &means.for_use(Use::of(&workload)),
        )?;
        Self::bound(request, (machine_text, workload_text), workload, (assembled, drive_set))
    }

    /// The same on a machine that is no text: `request` only names it.
    ///
    /// # Errors
    /// The first mistake in the workload.
    #[doc(hidden)]
    pub fn on_machine(machine: Machine, request: Request) -> Result<Self, RunError> {
        let text = request.workload_text.clone().unwrap_or_default();
        let (workload, _) = workload_of(&request, &text)?;
        let memory = Bytes(0);
        let assembled = Assembled { machine, products: BTreeMap::new(), layouts: Vec::new(), memory };
        Self::bound(request, (String::new(), text), workload, (assembled, Vec::new()))
    }

    fn bound(
        request: Request,
        (machine_text, workload_text): (String, String),
        workload: Workload,
        (mut assembled, drive_set): (Assembled, Vec<(String, String)>),
    ) -> Result<Self, RunError> {
        let repair = request.repair.plan(&assembled.machine, &workload, &request)?;
        let rebuild_rate = repair.as_ref().and_then(|repair| repair.rate_limit).map(|rate| rate.0);
        if let Some(repair) = repair {
            assembled.machine.prepare_repair(repair, None);
        }
        let power_cut = PowerCut::of(&request, &workload)?;
        if let (Some(at), true) = (&request.power_loss, is_served(&assembled.machine)) {
            let accepted = "a replicated pool is modelled without the loss of power: leave it out";
            return Err(SpecError::new("power_loss", "", at, accepted).into());
        }
        let streams = bind(&workload, &assembled, request.seed)?;
        check_trims(&workload, &streams, &assembled.machine, power_cut.is_some())?;
        let app = AppAtWork::bind(&workload, &assembled, request.seed, power_cut.is_some())?;
        let of_app = app.iter().flat_map(|app| app.names.iter().map(String::as_str));
        let names: Vec<&str> = streams.iter().map(|(stream, _)| stream.name()).chain(of_app).collect();
        workload.limits.iter().try_for_each(|limit| limit.check(&workload.file, &names))?;
        let texts = (machine_text, workload_text);
        Ok(Self { request, texts, workload, assembled, drive_set, streams, app, power_cut, rebuild_rate })
    }

    /// Bytes of memory that it takes, as far as that is known before it runs: the machine, and what streams leave.
    pub fn memory(&self) -> Bytes {
        let streams = (self.streams.len() + self.app.as_ref().map_or(0, |app| app.names.len())) as u64;
        Bytes(self.assembled.memory.0 + streams * Side::MEMORY)
    }

    /// What it will do, one after the other, for whoever watches it.
    pub fn phases(&self) -> Vec<String> {
        let preconditions = self.workload.precondition.as_ref().map(|_| "preconditioning".to_owned());
        let lays_out = self.app.as_ref().map(|_| "laying out the app's files".to_owned());
        let named = self.workload.phases.iter().map(|phase| phase.name.clone());
        preconditions.into_iter().chain(lays_out).chain(named).collect()
    }

    /// Runs it.
    ///
    /// # Errors
    /// Interruption, a log that cannot be written, or a run that was over before power was to be cut.
    pub fn execute(self, control: &Control) -> Result<Outcome, RunError> {
        self.execute_on(None, false, control).map(|(outcome, _)| outcome)
    }

    /// Whether it can follow `before`: it is on the same machine, with the same values of its drives.
    ///
    /// # Errors
    /// It is not.
    pub fn check_follows(&self, before: &Self) -> Result<(), SpecError> {
        let stays = |run: &Self| run.request.power_loss.is_none() && run.request.repair.is_empty();
        if self.built_from() == before.built_from() && stays(self) && stays(before) {
            return Ok(());
        }
        let accepted = "a run that follows another is on the same machine with the same values, power stays on, and no drive fails";
        Err(SpecError::new("MACHINE", "", &self.request.machine, accepted))
    }

    fn built_from(&self) -> (&str, &[(String, String)]) {
        (&self.texts.0, &self.drive_set)
    }

    /// Runs it on the machine that another run left, or on a fresh one; leaves the machine for the next run, when
    /// everything outstanding has been answered.
    ///
    /// # Errors
    /// Those of `execute`.
    ///
    /// # Panics
    /// If it cannot follow: see [`Run::check_follows`].
    pub fn execute_after(self, before: Option<Kept>, control: &Control) -> Result<(Outcome, Kept), RunError> {
        self.execute_on(before, true, control)
    }

    /// Takes the machine that another run left; returns when that was.
    fn go_on_with(&mut self, before: Kept) -> Instant {
        let (text, set) = &before.built_from;
        assert_eq!((text.as_str(), set.as_slice()), self.built_from(), "checked before the first of them began");
        self.assembled.machine = before.machine;
        before.now
    }

    fn execute_on(mut self, before: Option<Kept>, drain: bool, control: &Control) -> Result<(Outcome, Kept), RunError> {
        let begin = before.map_or(Instant::ZERO, |before| self.go_on_with(before));
        let seed = self.request.seed;
        let (app_names, app_targets) =
            self.app.as_ref().map(|app| (app.names.clone(), app.targets.clone())).unwrap_or_default();
        let all = self.streams.len() + app_names.len();
        let log = self.request.io_log.as_deref().map(IoLog::create).transpose().map_err(RunError::Log)?;
        let sources = Sources::of(&self.workload, self.app.take(), seed);
        let (streams, mut targets): (Vec<Stream>, Vec<u16>) = self.streams.into_iter().unzip();
        let names: Vec<String> = streams.iter().map(|stream| stream.name().to_owned()).chain(app_names).collect();
        targets.extend(app_targets);
        let machine = &mut self.assembled.machine;
        let mut probes = Probes::new(all, &self.workload, log);
        probes.with_service(ServiceWatch::of(machine, &self.workload));
        let mut driver = Driver::new(machine, streams, targets, sources, probes);
        driver.now = begin;
        self.power_cut.iter().for_each(|cut| cut.prepare(&mut driver));
        // Preconditioning and laying out the files of an app count as one more phase each.
        let laid_out = u64::from(self.workload.app.is_some());
        let before = u64::from(self.workload.precondition.is_some()) + laid_out;
        let phases = before + self.workload.phases.len() as u64;
        control.set_phases(phases);
        driver.probes.start(driver.machine);
        driver.precondition(&self.workload, seed, control)?;
        control.begin_phase(before - laid_out);
        driver.lay_out(control)?;
        let duration = run_phases(&mut driver, &self.workload, (before, seed), control)?;
        driver.probes.finish(driver.now, driver.machine)?;
        let power_loss = self.power_cut.map(|cut| cut.end(&mut driver, duration, &names)).transpose()?;
        let ios = driver.ios;
        let service = driver.probes.service.take();
        let repair = service.map(|service| service.record(driver.machine, &self.request.repair, self.rebuild_rate));
        let steady = std::mem::take(&mut driver.probes.steady_phases);
        if drain {
            driver.drain();
        }
        let now = driver.now;
        let scripts = driver.sources.scripts().map_or_else(Vec::new, |scripts| scripts.finish(duration));
        let app = driver.sources.app().map(|app| app.finish(duration));
        let (app, operations) = app.map_or_else(Default::default, |(record, series)| (Some(record), series));
        let Probes { streams: mut recorder, after, .. } = driver.probes;
        recorder.join_steps();
        control.begin_phase(phases);
        control.report(0.0, ios)?;
        let ingredients = crate::record::Ingredients {
            request: &self.request,
            machine_text: &self.texts.0,
            workload_text: &self.texts.1,
            products: &self.assembled.products,
            concurrency: self.workload.concurrency(),
            streams: &names,
            recorder: &recorder,
            after: &after,
            duration,
            interval: self.workload.interval,
            power_loss,
            repair,
            scripts,
            app,
            steady,
            limits: &self.workload.limits,
            data: data_records(&self.workload),
            without_workload: self.workload.is_left_out_of_preconditioning(),
        };
        let record = Record::new(&ingredients, &|| control.report(0.0, ios))?;
        let (series, caches, smart) = (recorder.series, recorder.caches.series, recorder.smart.series);
        let power = recorder.power.series;
        let built_from = (self.texts.0, self.drive_set);
        let kept = Kept { machine: self.assembled.machine, now, built_from };
        Ok((Outcome { record, series, caches, operations, power, smart, streams: names, ios }, kept))
    }
}

/// Runs all phases; returns the measured time.
fn run_phases(
    driver: &mut Driver,
    workload: &Workload,
    (before, seed): (u64, u64),
    control: &Control,
) -> Result<Span, RunError> {
    let mut duration = Span::ZERO;
    for (index, phase) in workload.phases.iter().enumerate() {
        control.begin_phase(before + index as u64);
        control.report(0.0, driver.ios)?;
        let threads = workload.threads_in(phase);
        if let Some(measured) = driver.phase(phase, threads, seed, control)? {
            duration += measured;
        }
        if driver.is_cut() {
            break;
        }
    }
    Ok(duration)
}

/// What the record says of the data of the streams that write.
fn data_records(workload: &Workload) -> Vec<DataRecord> {
    let writers = workload.streams.iter().enumerate().filter(|(_, stream)| stream.read_pct < 100.0);
    let streams = writers.filter_map(|(n, stream)| Some(DataRecord::new(&stream.name, workload.data_of(n)?)));
    let of_app = workload.data_of_app().into_iter().flat_map(|data| {
        let streams = workload.app.iter().flat_map(AppSpec::streams);
        streams.map(|stream| DataRecord::new(&stream.name, data))
    });
    streams.chain(of_app).collect()
}
