//! One run: a workload on a machine with a seed.

use std::collections::BTreeMap;

use hotband_machine::{Expected, Machine, MachineSpec, Part, SpecError};
use hotband_units::{Bytes, Instant, Span};
use hotband_workloads::{Stream, Workload};

use crate::bind::{bind, check_trims};
use crate::build::assemble::{Assembled, assemble_with_spares};
use crate::build::caches::MachineCaches;
use crate::build::catalog::Catalog;
use crate::build::means::{Means, Use};
use crate::control::{Control, RunError};
use crate::drive::{Driver, Ended, PowerSwitch, contents};
use crate::events::{Asked, Happening, check_outs, failing, in_short_forms, measured_time, missed_note, take_back};
use crate::in_use;
use crate::live::Live;
use crate::outcome::Outcome;
use crate::parts::Parts;
use crate::power_cut::PowerCut;
use crate::probes::direction::DirectionStats;
use crate::probes::host::HostProbe;
use crate::probes::io_log::IoLog;
use crate::probes::power_loss::{HeldSink, PowerLossProbe};
use crate::probes::repair::RepairProbe;
use crate::probes::{Probe, Probes};
use crate::record::closing::{About, Closing};
use crate::request::Request;
use crate::sources::agenda::{Above, Sources};
use crate::sources::app::AppAtWork;
use crate::sources::trace::Opened;
use crate::texts::{machine_text, workload_of, workload_text};
use crate::warm_up;

/// A machine as a run left it, for the run that follows on it.
pub struct MachineState {
    machine: Machine,
    now: Instant,
    /// Text and values from which it was built: a machine for others would not be the same.
    built_from: (String, Vec<(String, String)>),
    /// Its spares, and the most bytes a second of a rebuild.
    rebuilds: (u32, Option<u64>),
    /// Events requested with the first run that are still to happen, and how long after the measured
    /// time of the next begins.
    left: Vec<Happening>,
}

/// A run that was checked and can be executed.
pub struct Run {
    request: Request,
    /// Texts of the machine and of the workload.
    texts: (String, String),
    workload: Workload,
    assembled: Assembled,
    /// Values of drives and daemons that `--set` changes.
    drive_set: Vec<(String, String)>,
    streams: Vec<(Stream, u16)>,
    above: Above,
    power_cut: Option<PowerCut>,
    /// Spares of the machine, and the most bytes a second of a rebuild.
    rebuilds: (u32, Option<u64>),
    /// Drives that fail in runs that follow it.
    fail_later: Vec<Part>,
    /// The measured time of it and those that follow; none where that is not known.
    measured: Option<Span>,
    /// Settings chosen for drives in use.
    chosen: Option<in_use::Chosen>,
    /// Settings of a run on drives in use that follows another.
    asked_for: Option<Box<(Catalog, Request)>>,
    /// Events, as they were requested, and as they are to happen.
    asked: Asked,
    happenings: Vec<Happening>,
    /// Probes that the workload names.
    probes: Vec<Box<dyn Probe>>,
}

impl Run {
    /// Reads and checks everything that `request` names, and builds the machine.
    ///
    /// # Errors
    /// The first mistake.
    pub fn new(catalog: &Catalog, request: Request) -> Result<Self, RunError> {
        Self::new_within(catalog, request, &Means::default())
    }

    /// Like `new`, with a memory limit and a cancellation check, because large machines are slow to build.
    ///
    /// # Errors
    /// Those of `new`, interruption, and too little memory.
    pub fn new_within(catalog: &Catalog, request: Request, means: &Means) -> Result<Self, RunError> {
        let request = warm_up::fitted(catalog, request);
        let choices = in_use::settings(catalog, &request);
        let follows = (request.in_use && request.follows).then(|| Box::new((catalog.clone(), request.clone())));
        for chosen in &choices {
            match Self::chosen(catalog, &request, chosen, means) {
                Ok(run) => return Ok(Self { asked_for: follows, ..run }),
                Err(RunError::Interrupted) => return Err(RunError::Interrupted),
                // It does not fit, or is wrong in any case, which is told below.
                Err(_) => {}
            }
        }
        let mut run = Self::with(catalog, request, means)?;
        let is_left_new = choices.iter().any(in_use::Chosen::preconditions);
        run.assembled.remarks.extend(is_left_new.then(|| in_use::too_large(&run.assembled.caches)));
        Ok(Self { asked_for: follows, ..run })
    }

    /// Return a run on drives in use, as they were chosen.
    fn chosen(catalog: &Catalog, request: &Request, chosen: &in_use::Chosen, means: &Means) -> Result<Self, RunError> {
        let mut run = Self::with(catalog, chosen.add_to(request), means)?;
        run.assembled.remarks.extend(chosen.notes(&run.assembled.caches, &run.workload, &run.streams));
        Ok(Self { chosen: Some(chosen.clone()), ..run })
    }

    /// Rebuilds a run whose drives differ from those of `first`, at the scale that was chosen for `first`.
    fn at_scale_of(&mut self, first: &Self) -> Result<(), RunError> {
        let Some(asked_for) = self.asked_for.take().filter(|_| self.built_from() != first.built_from()) else {
            return Ok(());
        };
        let (catalog, request) = *asked_for;
        let means = Means::default();
        *self = match &first.chosen {
            Some(chosen) => Self::chosen(&catalog, &request, &chosen.of_follower(), &means)?,
            None => Self::with(&catalog, request, &means)?,
        };
        Ok(())
    }

    fn with(catalog: &Catalog, request: Request, means: &Means) -> Result<Self, RunError> {
        let (machine_file, machine_text) = machine_text(catalog, &request)?;
        let workload_text = workload_text(catalog, &request)?;
        let (workload, drive_set) = workload_of(&request, &workload_text)?;
        let spec = MachineSpec::read(&machine_file, &machine_text)?;
        let requested = Asked::of(&request, &workload, &spec.events)?;
        if !request.follows && !request.is_followed {
            check_outs(&spec, &workload)?;
        }
        let spares = request.repair.spares(&spec, &requested)?;
        let means = means.for_use(Use::of(&workload));
        let assembled = assemble_with_spares(&spec, catalog, (&drive_set, request.seed), spares, &means)?;
        Self::bound(request, (machine_text, workload_text), workload, requested, (assembled, drive_set))
    }

    /// Like `new`, for a machine without a text, which `request` only names.
    ///
    /// # Errors
    /// The first mistake in the workload.
    #[doc(hidden)]
    pub fn on_machine(machine: Machine, request: Request) -> Result<Self, RunError> {
        let text = request.workload_text.clone().unwrap_or_default();
        let (workload, _) = workload_of(&request, &text)?;
        let assembled = Assembled {
            machine,
            products: BTreeMap::new(),
            layouts: Vec::new(),
            memory: Bytes(0),
            remarks: Vec::new(),
            has_named_volumes: true,
            caches: MachineCaches::default(),
        };
        let requested = Asked::of(&request, &workload, &[])?;
        Self::bound(request, (String::new(), text), workload, requested, (assembled, Vec::new()))
    }

    fn bound(
        request: Request,
        (machine_text, workload_text): (String, String),
        mut workload: Workload,
        asked: Asked,
        (mut assembled, drive_set): (Assembled, Vec<(String, String)>),
    ) -> Result<Self, RunError> {
        let traces = Opened::all(&mut workload, &request.traces)?;
        asked.check(&assembled.machine, request.repair.spares)?;
        let probes = crate::probes::asked(&workload)?;
        let repair = request.repair.plan(&assembled.machine, &asked, request.seed)?;
        let rate = repair.as_ref().and_then(|repair| repair.rate_limit).map(|rate| rate.0);
        let rebuilds = (request.repair.spares, rate);
        if repair.is_some() {
            assembled.machine.expect(Expected { repair, ..Expected::default() }).expect("no daemon goes out");
        }
        let happenings = asked.happenings(&assembled.machine, &[])?;
        asked.tell_pools(&mut assembled.machine)?;
        let measured = measured_time(&workload);
        asked.check_times(&workload, if request.is_followed { None } else { measured })?;
        let power_cut = PowerCut::of(&asked, &workload)?;
        let request = in_short_forms(request)?;
        let parts = Parts::of(&workload, &assembled);
        let streams = bind(&workload, &assembled, parts.as_ref(), request.seed)?;
        assembled.remarks.extend(parts.and_then(|parts| parts.remark()));
        check_trims(&workload, &streams, &assembled.machine, power_cut.is_some())?;
        let (seed, cut) = (request.seed, power_cut.is_some());
        let above = Above {
            app: AppAtWork::bind(&workload, &assembled, seed, cut)?,
            traces: Opened::bind(traces, &workload, &assembled, seed, cut)?,
        };
        let (own_streams, _) = above.streams();
        let names = streams.iter().map(|(stream, _)| stream.name()).chain(own_streams.iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        workload.limits.iter().try_for_each(|limit| limit.check(&workload.file, &names))?;
        let texts = (machine_text, workload_text);
        Ok(Self {
            request,
            texts,
            workload,
            assembled,
            drive_set,
            streams,
            above,
            power_cut,
            rebuilds,
            fail_later: Vec::new(),
            measured,
            chosen: None,
            asked_for: None,
            asked,
            happenings,
            probes,
        })
    }

    /// Bytes of memory that it takes, as far as that is known before it runs: the machine, what streams leave, and the
    /// contents of preconditioned drives, which are stored for later runs.
    pub fn memory(&self) -> Bytes {
        let streams = (self.streams.len() + self.above.streams().0.len()) as u64;
        let stored = self.drives_key().map_or(0, |_| contents::stored(&self.assembled.machine));
        Bytes(self.assembled.memory.0 + streams * DirectionStats::MEMORY + stored)
    }

    /// What preconditioning reads of its drives, as text: runs that also agree in workload and seed share contents. None
    /// if nothing is preconditioned, or contents cannot be carried from one run to another.
    pub fn drives_key(&self) -> Option<String> {
        self.workload.precondition.as_ref().and_then(|_| self.assembled.machine.contents_key())
    }

    /// Return its phases in order, for progress displays.
    pub fn phases(&self) -> Vec<String> {
        let preconditions = self.workload.precondition.as_ref().map(|_| "preconditioning".to_owned());
        let lays_out = self.above.app.as_ref().map(|_| "laying out the app's files".to_owned());
        let named = self.workload.phases.iter().map(|phase| phase.name.clone());
        preconditions.into_iter().chain(lays_out).chain(named).collect()
    }

    /// Names of the volumes of its machine, by number.
    pub fn volumes(&self) -> Vec<String> {
        self.assembled.machine.volumes().iter().map(|volume| volume.name.clone()).collect()
    }

    /// Runs it.
    ///
    /// # Errors
    /// Interruption, a log that cannot be written, or a run that was over before power was to be cut.
    pub fn execute(self, control: &Control) -> Result<Outcome, RunError> {
        self.execute_on(None, false, control).map(|(outcome, _)| outcome)
    }

    /// Makes it ready to follow `first` and those that were made so before: it is on the same machine, with the same
    /// values of its drives. The machine of the first is told what is to happen to it in this run.
    ///
    /// # Errors
    /// It cannot follow, or an event that does not go together with those before it.
    pub fn follow(&mut self, first: &mut Self) -> Result<(), RunError> {
        first.asked.check_sequence()?;
        self.asked.check_sequence()?;
        self.at_scale_of(first)?;
        if self.built_from() != first.built_from() {
            let accepted = "a run that follows another must use the same machine and the same values";
            return Err(SpecError::new("MACHINE", "", &self.request.machine, accepted).into());
        }
        self.request.repair.check_follower()?;
        let machine = &mut first.assembled.machine;
        let before: Vec<Part> = failing(&first.happenings).chain(first.fail_later.iter().copied()).collect();
        let happenings = self.asked.happenings(machine, &before)?;
        first.fail_later.extend(failing(&happenings));
        if machine.repair().is_none()
            && let repair @ Some(_) = self.request.repair.plan(machine, &self.asked, first.request.seed)?
        {
            machine.expect(Expected { repair, ..Expected::default() }).expect("no daemon goes out");
        }
        self.asked.tell_pools(machine)?;
        self.happenings = happenings;
        first.measured = first.measured.and_then(|before| Some(before + measured_time(&self.workload)?));
        Ok(())
    }

    /// Whether its events come before the last of the runs that follow it ends, if that is known.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_times(&self) -> Result<(), SpecError> {
        self.asked.check_times(&self.workload, self.measured)
    }

    fn built_from(&self) -> (&str, &[(String, String)]) {
        (&self.texts.0, &self.drive_set)
    }

    /// Runs it on the machine that another run left, or on a fresh one; leaves the machine for the next run, when
    /// everything outstanding has been completed.
    ///
    /// # Errors
    /// Those of `execute`.
    ///
    /// # Panics
    /// If it cannot follow, or something happens in it for which the first run was not made ready: see [`Run::follow`].
    pub fn execute_after(
        self,
        before: Option<MachineState>,
        control: &Control,
    ) -> Result<(Outcome, MachineState), RunError> {
        self.execute_on(before, true, control)
    }

    /// Takes the machine that another run left; returns when that was.
    fn go_on_with(&mut self, before: MachineState) -> Instant {
        let (text, set) = &before.built_from;
        assert_eq!((text.as_str(), set.as_slice()), self.built_from(), "checked before the first of them began");
        self.assembled.machine = before.machine;
        let caches = std::mem::take(&mut self.assembled.caches);
        self.assembled.caches = caches.left_in(&self.assembled.machine);
        self.rebuilds = before.rebuilds;
        self.happenings.extend(before.left);
        before.now
    }

    fn execute_on(
        mut self,
        before: Option<MachineState>,
        drain: bool,
        control: &Control,
    ) -> Result<(Outcome, MachineState), RunError> {
        let is_new = before.is_none();
        let begin = before.map_or(Instant::ZERO, |before| self.go_on_with(before));
        let (seed, rebuilds, drive_set) = (self.request.seed, self.rebuilds, std::mem::take(&mut self.drive_set));
        let cache = self.request.cache.take();
        let (requested, is_followed) = (std::mem::take(&mut self.asked), self.request.is_followed);
        let Begun { mut machine, parts, closing } = self.begin(None)?;
        let DriverParts { streams, targets, names, sources, probes, events, power } = parts;
        let mut driver = Driver::new(&mut machine, streams, targets, sources, probes);
        (driver.now, driver.events, driver.power) = (begin, events, power);
        // Preconditioning and laying out the files of an app count as one more phase each.
        let workload = &closing.workload;
        let laid_out = u64::from(workload.app.is_some());
        let before = u64::from(workload.precondition.is_some()) + laid_out;
        let phases = before + workload.phases.len() as u64;
        control.set_phases(phases);
        driver.probes.start(driver.machine);
        driver.precondition(workload, (seed, is_new), cache.as_ref(), control)?;
        control.begin_phase(before - laid_out);
        driver.lay_out(control)?;
        let (duration, left) = run_phases(&mut driver, workload, (before, seed), control)?;
        let ios = driver.ios;
        let Ended { watched, sources, now } = driver.finish(duration, &names, drain)?;
        control.begin_phase(phases);
        control.report(0.0, ios)?;
        let built_from = (closing.texts.0.clone(), drive_set);
        let (left, missed) = requested.split(left, &machine, is_followed);
        let sources = sources.with_notes(missed_note(&missed, &machine));
        let (record, tables) = closing.record(duration, sources, watched, &|| control.report(0.0, ios))?;
        Ok((Outcome { record, tables, ios }, MachineState { machine, now, built_from, rebuilds, left }))
    }

    /// Makes it ready for programs to ask: what its drives hold is there, and its measured time begins. Its load is
    /// `clients`; nothing else requests I/Os.
    ///
    /// # Errors
    /// Interruption, a load that asks by itself, or an I/O log that cannot be written.
    pub fn live(mut self, control: &Control) -> Result<Live, RunError> {
        let (seed, cache) = (self.request.seed, self.request.cache.take());
        let held: Option<HeldSink> = self.power_cut.is_some().then(HeldSink::default);
        let Begun { mut machine, parts, mut closing } = self.begin(held.clone())?;
        let DriverParts { streams, targets, names, sources, probes, events, power } = parts;
        let of_volume = |volume: usize| targets.iter().position(|target| usize::from(*target) == volume);
        let of_volumes: Option<Vec<usize>> = (0..machine.volumes().len()).map(of_volume).collect();
        let asks = names.len() > streams.len() || sources.iter().any(|source| source.turns().is_some());
        let (Some(of_volumes), false) = (of_volumes, asks) else {
            let accepted = "a served machine has one stream a volume, whose load is clients = {}";
            return Err(SpecError::new(&closing.workload.file, "streams", "", accepted).into());
        };
        let of_volumes = of_volumes.into_iter().map(|stream| stream as u16).collect();
        let mut driver = Driver::new(&mut machine, streams, targets, sources, probes);
        (driver.events, driver.power) = (events, power);
        control.set_phases(2);
        driver.probes.start(driver.machine);
        if let Some(before) = &mut closing.workload.precondition {
            // What programs will write nobody knows yet: flash is worn in by writes all over it.
            before.random += std::mem::take(&mut before.workload);
        }
        driver.precondition_enlarged(&closing.workload, seed, cache.as_ref(), control)?;
        control.begin_phase(1);
        let (now, cut) = driver.begin_live();
        let Driver { probes, .. } = driver;
        closing.target = "emulated";
        Ok(Live::new(machine, probes, (now, cut), (names, of_volumes), (closing, held)))
    }

    /// The key of its preconditioned contents.
    #[cfg(test)]
    pub(crate) fn contents_key(self) -> Option<String> {
        let seed = self.request.seed;
        let Begun { mut machine, parts, closing } = self.begin(None).ok()?;
        let DriverParts { streams, targets, sources, probes, .. } = parts;
        Driver::new(&mut machine, streams, targets, sources, probes).contents_key(&closing.workload, seed)
    }

    /// Whether only streams issue I/Os, the machine has no events, and no new flash is filled: then
    /// its rates change no more, once its memories are full.
    fn is_even(&self) -> bool {
        let is_whole = self.happenings.is_empty() && self.fail_later.is_empty() && self.power_cut.is_none();
        let wears = !self.assembled.machine.drives().smart().is_empty();
        let fills_flash = wears && !self.workload.is_preconditioned() && Use::of(&self.workload) != Use::Reads;
        self.workload.is_streams() && is_whole && !fills_flash
    }

    /// The running parts, separate from their description; the machine keeps account of what may happen.
    fn begin(mut self, held: Option<HeldSink>) -> Result<Begun, RunError> {
        let (above_names, above_targets) = self.above.streams();
        let is_even = self.is_even();
        let log = self.request.io_log.as_deref().map(IoLog::create).transpose().map_err(RunError::Log)?;
        let sources = Sources::new(&self.workload, std::mem::take(&mut self.above), self.request.seed);
        let Assembled { mut machine, products, layouts, remarks, caches, .. } = self.assembled;
        let fills = caches.fills().filter(|_| is_even);
        let about = About { products, layouts, caches, remarks };
        let closing = Closing::new(self.request, self.texts, self.workload, &self.streams, about);
        let (streams, mut targets): (Vec<Stream>, Vec<u16>) = self.streams.into_iter().unzip();
        let names: Vec<String> = streams.iter().map(|stream| stream.name().to_owned()).chain(above_names).collect();
        targets.extend(above_targets);
        let mut probes = Probes::new(&names, &closing.workload, fills);
        if let Some(log) = log {
            probes.add(Box::new(log));
        }
        self.probes.into_iter().for_each(|probe| probes.add(probe));
        let power = PowerSwitch::new(self.power_cut.as_ref().map(|cut| cut.after));
        if let Some(cut) = self.power_cut {
            probes.add(Box::new(PowerLossProbe::new(&mut machine, cut, held)));
        }
        if let Some(repair) = RepairProbe::of(&machine, &closing.workload, self.rebuilds) {
            probes.add(Box::new(repair));
        }
        if let Some(host) = HostProbe::of(&machine) {
            probes.add(Box::new(host));
        }
        let parts = DriverParts { streams, targets, names, sources, probes, events: self.happenings, power };
        Ok(Begun { machine, parts, closing })
    }
}

/// A run about to begin: its machine, further input of the driver, and data for its record.
struct Begun {
    machine: Machine,
    parts: DriverParts,
    closing: Closing,
}

/// Parts of a driver, apart from its machine.
struct DriverParts {
    streams: Vec<Stream>,
    /// Volume of each stream, those of an app last.
    targets: Vec<u16>,
    names: Vec<String>,
    sources: Sources,
    probes: Probes,
    events: Vec<Happening>,
    power: PowerSwitch,
}

/// Runs all phases; returns the measured time and the remaining events.
fn run_phases(
    driver: &mut Driver,
    workload: &Workload,
    (before, seed): (u64, u64),
    control: &Control,
) -> Result<(Span, Vec<Happening>), RunError> {
    let (mut duration, mut left) = (Span::ZERO, Vec::new());
    let last = workload.phases.iter().rposition(|phase| phase.measure);
    for (index, phase) in workload.phases.iter().enumerate() {
        control.begin_phase(before + index as u64);
        control.report(0.0, driver.ios)?;
        let threads = workload.threads_in(phase);
        if let Some(measured) = driver.phase(phase, threads, seed, control)? {
            duration += measured;
        }
        if last == Some(index) || driver.is_cut() {
            left = take_back(driver.machine, driver.now);
        }
        if driver.is_cut() {
            break;
        }
    }
    Ok((duration, left))
}
