//! One run: a workload on a machine with a seed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hotband_layouts::KINDS;
use hotband_machine::{BuildError, Look, Machine, MachineSpec, SpecError, short_form, unwatched};
use hotband_units::{Bytes, Instant, Span};
use hotband_workloads::{AppSpec, Data, Load, Random, Stream, Workload, check_bands};
use thiserror::Error;

use crate::apps::AppAtWork;
use crate::build::assemble::{Assembled, assemble_with_spares};
use crate::build::catalog::Catalog;
use crate::build::entropy_file::{DataRecord, data_of};
use crate::driver::{Driver, Loader};
use crate::power_cut::PowerCut;
use crate::probes::Probes;
use crate::probes::caches::CacheSeries;
use crate::probes::io_log::IoLog;
use crate::probes::operations::OperationSeries;
use crate::probes::power::PowerSeries;
use crate::probes::repair::ServiceWatch;
use crate::probes::smart::SmartSeries;
use crate::probes::streams::Series;
use crate::record::Record;
use crate::repair::RepairRequest;
use crate::scripts::Scripts;

/// What can go wrong with a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The user's mistake.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The run was asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system refused memory.
    #[error("{part} needs {needs} of memory, which the system refused")]
    Memory {
        /// Name of the part in the machine.
        part: String,
        /// What it asked for.
        needs: Bytes,
    },
    /// The I/O log could not be written.
    #[error("the I/O log could not be written: {0}")]
    Log(std::io::Error),
    /// A phase that counts I/Os ran out of I/Os.
    #[error(
        "phase \"{phase}\" stalled after {done} of {asked} I/Os or operations: nothing is outstanding and nothing arrives"
    )]
    Stalled {
        /// Its name.
        phase: String,
        /// I/Os, or operations of the app, it completed.
        done: u64,
        /// Those it was to complete.
        asked: u64,
    },
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Spec(error) => Self::Spec(error),
            BuildError::Stopped(_) => Self::Interrupted,
            BuildError::Memory { part, needs } => Self::Memory { part, needs },
        }
    }
}

/// What is asked for, as text.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Machine: a catalog drive, a short form, or TOML text with the name of its file.
    pub machine: String,
    /// Text of the machine file, where `machine` is one.
    pub machine_text: Option<String>,
    /// Workload: a catalog name, or the file of `workload_text`.
    pub workload: String,
    /// Text of the workload file, where `workload` is one.
    pub workload_text: Option<String>,
    /// `--set`.
    pub set: Vec<(String, String)>,
    /// Root seed.
    pub seed: u64,
    /// `--duration`.
    pub duration: Option<String>,
    /// Where to log every I/O.
    pub io_log: Option<PathBuf>,
    /// `--power-loss`.
    pub power_loss: Option<String>,
    /// `--fail` and what belongs to it.
    pub repair: RepairRequest,
}

/// Progress out, interruption in; shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Share of the run that is done, in millionths.
    done: AtomicU64,
    /// I/Os completed.
    ios: AtomicU64,
    stop: AtomicBool,
    phases: AtomicU64,
    phase: AtomicU64,
}

impl Control {
    /// Share done, from 0 to 1, and I/Os completed.
    pub fn progress(&self) -> (f64, u64) {
        (self.done.load(Ordering::Relaxed) as f64 / 1e6, self.ios.load(Ordering::Relaxed))
    }

    /// Asks the run to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn report(&self, share: f64, ios: u64) -> Result<(), RunError> {
        let phases = self.phases.load(Ordering::Relaxed).max(1) as f64;
        let whole = (self.phase.load(Ordering::Relaxed) as f64 + share.clamp(0.0, 1.0)) / phases;
        self.done.store((whole * 1e6) as u64, Ordering::Relaxed);
        self.ios.store(ios, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(RunError::Interrupted) } else { Ok(()) }
    }
}

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
        Self::new_watched(catalog, request, &unwatched)
    }

    /// The same, as long as somebody waits for it: building a large machine takes its time.
    ///
    /// # Errors
    /// Those of `new`, and interruption.
    pub fn new_watched(catalog: &Catalog, request: Request, look: Look) -> Result<Self, RunError> {
        let (machine_file, machine_text) = machine_text(catalog, &request)?;
        let workload_text = match &request.workload_text {
            Some(text) => text.clone(),
            None => catalog.text("workloads", &request.workload, ("WORKLOAD", ""))?,
        };
        let (workload, drive_set) = workload_of(&request, &workload_text)?;
        let spec = MachineSpec::read(&machine_file, &machine_text)?;
        let spares = request.repair.spares(&spec)?;
        let assembled = assemble_with_spares(&spec, catalog, (&drive_set, request.seed), spares, look)?;
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
        let assembled = Assembled { machine, products: BTreeMap::new(), layouts: Vec::new() };
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
            return Err(SpecError::new("--power-loss", "", at, accepted).into());
        }
        let streams = bind(&workload, &assembled, &request)?;
        check_trims(&workload, &streams, &assembled.machine, power_cut.is_some())?;
        let app = AppAtWork::bind(&workload, &assembled, request.seed, power_cut.is_some())?;
        let of_app = app.iter().flat_map(|app| app.names.iter().map(String::as_str));
        let names: Vec<&str> = streams.iter().map(|(stream, _)| stream.name()).chain(of_app).collect();
        workload.limits.iter().try_for_each(|limit| limit.check(&workload.file, &names))?;
        let texts = (machine_text, workload_text);
        Ok(Self { request, texts, workload, assembled, drive_set, streams, app, power_cut, rebuild_rate })
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
        let loaders = loaders(&self.workload, seed);
        let (streams, mut targets): (Vec<Stream>, Vec<u16>) = self.streams.into_iter().unzip();
        let names: Vec<String> = streams.iter().map(|stream| stream.name().to_owned()).chain(app_names).collect();
        targets.extend(app_targets);
        let machine = &mut self.assembled.machine;
        let mut probes = Probes::new(all, &self.workload, log);
        probes.with_service(ServiceWatch::of(machine, &self.workload));
        let mut driver = Driver::new(machine, streams, targets, loaders, probes);
        driver.now = begin;
        driver.scripts = Scripts::new(&self.workload, seed);
        driver.app = self.app.take();
        self.power_cut.iter().for_each(|cut| cut.prepare(&mut driver));
        // Preconditioning and laying out the files of an app count as one more phase each.
        let laid_out = u64::from(driver.app.is_some());
        let before = u64::from(self.workload.precondition.is_some()) + laid_out;
        let phases = before + self.workload.phases.len() as u64;
        control.phases.store(phases, Ordering::Relaxed);
        driver.probes.start(driver.machine);
        driver.precondition(&self.workload, seed, control)?;
        control.phase.store(before - laid_out, Ordering::Relaxed);
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
        let scripts = driver.scripts.as_ref().map_or_else(Vec::new, |scripts| scripts.finish(duration));
        let app = driver.app.take().map(|app| app.finish(duration));
        let (app, operations) = app.map_or_else(Default::default, |(record, series)| (Some(record), series));
        let Probes { streams: mut recorder, after, .. } = driver.probes;
        recorder.join_steps();
        control.phase.store(phases, Ordering::Relaxed);
        let _ = control.report(0.0, ios);
        let record = Record::new(&crate::record::Ingredients {
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
        });
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
        control.phase.store(before + index as u64, Ordering::Relaxed);
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

/// Whether any target lies on a replicated pool.
fn is_served(machine: &Machine) -> bool {
    (0..machine.targets().len() as u16).any(|target| machine.is_served(target))
}

/// The workload of `request` with what `--set` and `--duration` change in it, and what of `--set` is for the drives.
fn workload_of(request: &Request, text: &str) -> Result<(Workload, Vec<(String, String)>), SpecError> {
    let mut workload = Workload::read(&request.workload, text)?;
    let clients_of_app = workload.app.is_some() && workload.scripts.is_empty();
    let of_app = |key: &str| {
        let key = key.strip_prefix("app.").or((key == "clients" && clients_of_app).then_some(key));
        key.map(str::to_owned)
    };
    let app_set = request.set.iter().filter_map(|(key, value)| Some((of_app(key)?, value.clone())));
    workload.set_app(text, &app_set.collect::<Vec<_>>())?;
    let mut drive_set = Vec::new();
    for (key, value) in request.set.iter().filter(|(key, _)| of_app(key).is_none()) {
        match key.as_str() {
            "data" => workload.set_data(&data_of(value)?),
            other if Workload::SET_KEYS.contains(&other) => workload.set(key, value)?,
            _ => drive_set.push((key.clone(), value.clone())),
        }
    }
    workload.check_untimed()?;
    if let Some(duration) = &request.duration {
        let span: Span = duration.parse().map_err(|error: hotband_units::UnitError| {
            SpecError::new("--duration", "", duration, format!("expected {}", error.accepted))
        })?;
        workload.set_duration(span)?;
    }
    Ok((workload, drive_set))
}

pub(crate) fn machine_text(catalog: &Catalog, request: &Request) -> Result<(String, String), SpecError> {
    if let Some(text) = &request.machine_text {
        return Ok((request.machine.clone(), text.clone()));
    }
    if let Some(text) = short_form(&request.machine, &KINDS)? {
        // The product is named in the argument, not in a file of the user's.
        return Ok(("MACHINE".to_owned(), text));
    }
    catalog.text("drives", &request.machine, ("MACHINE", ""))?;
    Ok(("MACHINE".to_owned(), format!("[drives.d0]\nproduct = \"{}\"\n", request.machine)))
}

/// Binds every stream to its target.
fn bind(workload: &Workload, assembled: &Assembled, request: &Request) -> Result<Vec<(Stream, u16)>, SpecError> {
    let machine = &assembled.machine;
    let block = machine.block().0;
    let shared = workload.largest_load();
    let bound = workload.streams.iter().enumerate().map(|(index, spec)| {
        let key = format!("{}.volume", spec.key);
        let target = target_of(workload, &key, spec.volume.as_deref(), assembled)?;
        let capacity = machine.capacity(target).0;
        workload.check_clients(index, capacity)?;
        let bounds = spec.bounds(&workload.file, capacity, block)?;
        let threads = match (workload.users(index), spec.load.or(shared)) {
            (Some(users), _) => users as usize,
            (None, Some(Load::Closed { threads, .. })) => threads as usize,
            _ => 1,
        };
        let path = format!("streams.{}", spec.name);
        let mut stream = Stream::new(spec.clone(), bounds, threads, Random::new(request.seed, &path));
        if let Some(data) = workload.data_of(index) {
            stream = stream.with_data(Data::new(data, Random::new(request.seed, &format!("{path}.data"))));
        }
        let Some(files) = spec.files else { return Ok((stream, target)) };
        let mut random = Random::new(request.seed, &format!("{path}.files"));
        let files = files.lay_out((&workload.file, &format!("{}.files", spec.key)), bounds, &mut random)?;
        Ok((stream.with_files(files), target))
    });
    let bound = bound.collect::<Result<Vec<_>, _>>()?;
    check_bands(&workload.file, &bound)?;
    Ok(bound)
}

/// Why a target takes no trims.
pub(crate) fn stops_trims(machine: &Machine, target: u16) -> String {
    let name = &machine.targets()[usize::from(target)].name;
    format!("\"{name}\" lies on a parity layout, which passes no trims on to its drives")
}

/// Why nothing is trimmed where power is cut.
pub(crate) const TRIM_OR_LOSS: &str = "what was trimmed cannot be told from what was lost: leave out the power loss";

/// Trims are asked for only where they reach drives, and not where power is cut: a trimmed byte would look lost.
fn check_trims(
    workload: &Workload,
    streams: &[(Stream, u16)],
    machine: &Machine,
    power_cut: bool,
) -> Result<(), SpecError> {
    for (spec, (_, target)) in workload.streams.iter().zip(streams).filter(|(spec, _)| spec.trim_pct > 0.0) {
        let accepted = match () {
            () if !machine.passes_trim(*target) => stops_trims(machine, *target),
            () if power_cut => TRIM_OR_LOSS.to_owned(),
            () => continue,
        };
        let key = format!("{}.trim_pct", spec.key);
        return Err(SpecError::new(&workload.file, &key, spec.trim_pct.to_string(), accepted));
    }
    let Some(spec) = workload.precondition.as_ref().filter(|spec| spec.trim) else { return Ok(()) };
    let mut targets = 0..machine.targets().len() as u16;
    match targets.find(|target| !machine.passes_trim(*target)) {
        Some(target) => Err(SpecError::new(&spec.asked_at.0, &spec.asked_at.1, "", stops_trims(machine, target))),
        None => Ok(()),
    }
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

/// The target that `volume` names, or the only one.
pub(crate) fn target_of(
    workload: &Workload,
    key: &str,
    volume: Option<&str>,
    assembled: &Assembled,
) -> Result<u16, SpecError> {
    let targets = assembled.machine.targets();
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    match volume {
        Some(name) => {
            let found = names.iter().position(|have| *have == name);
            found.map(|index| index as u16).ok_or_else(|| SpecError::unknown(&workload.file, key, name, &names))
        }
        None if targets.len() == 1 => Ok(0),
        None => {
            let accepted = format!("missing: the machine has several volumes; expected one of {}", names.join(", "));
            Err(SpecError::new(&workload.file, key, "", accepted))
        }
    }
}

fn loaders(workload: &Workload, seed: u64) -> Vec<Loader> {
    let mut loaders = Vec::new();
    let shared: Vec<(usize, f64)> =
        workload.shared_streams().map(|(index, stream)| (index, stream.share_pct)).collect();
    if let Some(load) = workload.largest_load() {
        loaders.push(Loader::new(load, shared, Random::new(seed, "load")).with_steps());
    }
    for (index, stream) in workload.streams.iter().enumerate() {
        if let Some(load) = stream.load {
            let random = Random::new(seed, &format!("streams.{}.load", stream.name));
            loaders.push(Loader::new(load, vec![(index, 1.0)], random));
        }
    }
    loaders
}
