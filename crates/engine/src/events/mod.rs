//! Events that happen to the machine of a run: those of the request, the workload and the machine as one list, checked
//! against the table of what is supported.

pub mod support;

use std::collections::{HashMap, HashSet};

use hotband_layouts::is_pool;
use hotband_layouts::replicated::PoolSpec;
use hotband_machine::{EventSpec, Expected, LayoutView, Machine, MachineSpec, Outs, Part, SpecError, What};
use hotband_units::{Instant, Span};
use hotband_workloads::{Phase, Workload};

use crate::repair::drive_of;
use crate::request::Request;
use support::{On, Why, supported};

/// Requested events of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub events: Vec<EventSpec>,
    /// For each of them whether the workload requests it; all others may come in a run that follows.
    of_workload: Vec<bool>,
}

/// An event at this time since the measured time began.
pub(crate) type Happening = (Span, Part, What);

/// The events that a request names, in whichever form.
fn of_request(request: &Request) -> Result<Vec<EventSpec>, SpecError> {
    let failures = request.repair.fail.iter().map(|text| EventSpec::failure("repair.fail", text));
    let power = request.power_loss.iter().map(|time| EventSpec::power_off("power_loss", time));
    let events = request.events.iter().enumerate();
    let events = events.map(|(index, text)| EventSpec::parse(&format!("events[{index}]"), text));
    failures.chain(power).chain(events).collect()
}

impl Asked {
    /// Events of the request, the workload and the machine; those of the machine only if the run follows no other. A
    /// loss of power that the request names replaces that of the workload or the machine.
    ///
    /// # Errors
    /// Text that is not an event, or a second loss of power.
    pub fn of(request: &Request, workload: &Workload, machine: &[EventSpec]) -> Result<Self, SpecError> {
        let mut events = of_request(request)?;
        let is_cut = events.iter().any(|event| event.what == What::PowerOff);
        let is_left = |event: &&EventSpec| !(is_cut && event.what == What::PowerOff);
        let mut of_workload = vec![false; events.len()];
        events.extend(workload.events.iter().filter(is_left).cloned());
        of_workload.resize(events.len(), true);
        let machine = if request.follows { &[] } else { machine };
        events.extend(machine.iter().filter(is_left).cloned());
        of_workload.resize(events.len(), false);
        if let Some(again) = events.iter().filter(|event| event.what == What::PowerOff).nth(1) {
            return Err(again.error("power goes off once in a run: leave one out"));
        }
        Ok(Self { events, of_workload })
    }

    /// Tells pools which of their daemons go out: those that are marked so, and those on drives that fail.
    ///
    /// # Errors
    /// A daemon that is not there, a second one of a pool, or one that the pool cannot do without.
    pub fn tell_pools(&self, machine: &mut Machine) -> Result<(), SpecError> {
        for event in &self.events {
            let outs = match (&event.what, part_of(event, machine)?) {
                (What::Out, Part::Daemon { layout, daemon }) => vec![(layout, vec![daemon])],
                (What::Fail, Part::Drive(drive)) => machine.layouts().daemons_on(drive),
                _ => continue,
            };
            for (layout, daemons) in outs {
                let outs = vec![Outs { layout, daemons, failed: event.what == What::Fail }];
                let result = machine.expect(Expected { outs, ..Expected::default() });
                result.map_err(|refused| event.error(refused.to_string()))?;
            }
        }
        Ok(())
    }

    /// Splits the events `left` when a run on `machine` ended into those that the following run keeps and those that
    /// are dropped: the workload's own, and all of them if no run follows.
    pub fn split(
        &self,
        left: Vec<Happening>,
        machine: &Machine,
        is_followed: bool,
    ) -> (Vec<Happening>, Vec<Happening>) {
        let of_workload = self.events.iter().zip(&self.of_workload).filter_map(|(event, is)| is.then_some(event));
        let changes: Vec<(Part, &What)> =
            of_workload.filter_map(|event| Some((part_of(event, machine).ok()?, &event.what))).collect();
        left.into_iter().partition(|(_, part, what)| is_followed && !changes.contains(&(*part, what)))
    }

    /// Drives that are to fail.
    pub fn failures(&self) -> impl Iterator<Item = &EventSpec> {
        self.events.iter().filter(|event| event.what == What::Fail)
    }

    /// The loss of power to come.
    pub fn power_off(&self) -> Option<&EventSpec> {
        self.events.iter().find(|event| event.what == What::PowerOff)
    }

    /// Checks every event against the table, with what the machine is made of and how many spares it has.
    ///
    /// # Errors
    /// The first cell that is not supported.
    pub fn check(&self, machine: &Machine, spares: u32) -> Result<(), SpecError> {
        let refuse = |event: &EventSpec, why: Why| Err(event.error(why.to_string()));
        let layouts = machine.layouts();
        let mut on: Vec<On> = layouts.iter().map(|layout| On::Layout(layout.kind)).collect();
        if on.is_empty() {
            on.push(On::Layout("single"));
        }
        if machine.drives().iter().any(|drive| On::Drive(drive.drive.kind()) == support::SMR) {
            on.push(support::SMR);
        }
        for event in self.events.iter().filter(|event| event.what != What::Out) {
            // A setting is that of one drive, and checked with it.
            let of_drive = |on: &&On| !(matches!(on, On::Drive(_)) && matches!(event.what, What::Set { .. }));
            for on in on.iter().filter(of_drive) {
                supported(event.what.name(), *on).or_else(|why| refuse(event, why))?;
            }
        }
        let (Some(failure), Some(power)) = (self.failures().next(), self.power_off()) else { return Ok(()) };
        for on in on.into_iter().chain((spares > 0).then_some(support::SPARES)) {
            supported(support::BOTH, on).or_else(|why| {
                let later = if failure.at > power.at { failure } else { power };
                refuse(later, why)
            })?;
        }
        Ok(())
    }

    /// Checks the events of a run that follows another, or that another follows.
    ///
    /// # Errors
    /// The first that is not supported there.
    pub fn check_sequence(&self) -> Result<(), SpecError> {
        self.events.iter().try_for_each(|event| {
            supported(event.what.name(), support::SEQUENCE).map_err(|why| event.error(why.to_string()))
        })
    }

    /// Whether none comes after its time: those of the workload in the measured time of the run, all others within
    /// `last`, where these are known.
    ///
    /// # Errors
    /// The first that does.
    pub fn check_times(&self, workload: &Workload, last: Option<Span>) -> Result<(), SpecError> {
        let measured = measured_time(workload);
        let (alone, line) = ("the measured", "the measured time of all runs together,");
        for (event, of_workload) in self.events.iter().zip(&self.of_workload) {
            let (most, what) = if *of_workload || last == measured { (measured, alone) } else { (last, line) };
            if let Some(most) = most.filter(|most| event.at > *most && event.what != What::PowerOff) {
                return Err(event.error(format!("expected a time of at most {what} {most}")));
            }
        }
        Ok(())
    }

    /// Events to schedule on `machine`, on which these drives fail before; the loss of power is the driver's.
    ///
    /// # Errors
    /// A drive that is not there or fails twice, a value that it does not take.
    pub fn happenings(&self, machine: &Machine, failed: &[Part]) -> Result<Vec<Happening>, SpecError> {
        let mut happenings: Vec<Happening> = Vec::new();
        let mut failed: HashSet<Part> = failed.iter().copied().collect();
        let parts = self.events.iter().map(|event| (event, part_of(event, machine)));
        let parts: Vec<(&EventSpec, Result<Part, SpecError>)> = parts.collect();
        let changes = Changes::of(&parts);
        let cut = self.power_off();
        for (event, part) in parts.into_iter().filter(|(event, _)| event.what != What::PowerOff) {
            let part = part?;
            if event.what == What::Fail && !failed.insert(part) {
                let name = event.part.as_deref().unwrap_or_default();
                return Err(event.error(format!("{name} fails twice: expected each drive once")));
            }
            if let Some(cut) = cut.filter(|cut| event.at > cut.at) {
                return Err(event.error(format!("comes after power goes off, at {}: leave one out", cut.at)));
            }
            changes.check(event, part)?;
            if let (What::Set { key, value }, Part::Drive(drive)) = (&event.what, part) {
                let drive = machine.drives().get(drive).drive;
                supported("set", On::Drive(drive.kind())).map_err(|why| event.error(why.to_string()))?;
                drive.check_set(key, value).map_err(|error| event.error(error.accepted))?;
            }
            happenings.push((event.at, part, event.what.clone()));
        }
        Ok(happenings)
    }
}

/// Failure times and set values, indexed by part because a list may hold thousands of events.
struct Changes<'a> {
    failures: HashMap<Part, Span>,
    /// Distinct values of a key of a part at one time, at most two.
    values: HashMap<(Part, Span, &'a str), Vec<&'a str>>,
}

impl<'a> Changes<'a> {
    fn of(parts: &[(&'a EventSpec, Result<Part, SpecError>)]) -> Self {
        let mut changes = Self { failures: HashMap::new(), values: HashMap::new() };
        for (event, part) in parts.iter().filter_map(|(event, part)| Some((*event, *part.as_ref().ok()?))) {
            match &event.what {
                What::Fail => {
                    let first = changes.failures.entry(part).or_insert(event.at);
                    *first = event.at.min(*first);
                }
                What::Set { key, value } => {
                    let values = changes.values.entry((part, event.at, key)).or_default();
                    if values.len() < 2 && !values.contains(&value.as_str()) {
                        values.push(value);
                    }
                }
                What::Out | What::PowerOff => {}
            }
        }
        changes
    }

    /// Refuse a change of a drive that failed before, and two values of a key at one time.
    fn check(&self, event: &EventSpec, part: Part) -> Result<(), SpecError> {
        let What::Set { key, value } = &event.what else { return Ok(()) };
        if let Some(failure) = self.failures.get(&part).filter(|failure| **failure <= event.at) {
            return Err(event.error(format!("comes after the drive failed, at {failure}: leave one out")));
        }
        let values = self.values.get(&(part, event.at, key.as_str()));
        match values.and_then(|values| values.iter().find(|differs| *differs != value)) {
            Some(differs) => Err(event.error(format!("another event sets {key} to {differs} at the same time"))),
            None => Ok(()),
        }
    }
}

/// Drives that fail.
pub(crate) fn failing(happenings: &[Happening]) -> impl Iterator<Item = Part> {
    happenings.iter().filter(|(_, _, what)| *what == What::Fail).map(|(_, part, _)| *part)
}

/// Removes and returns the remaining events of a machine after `now`, at the end of its measured time.
pub(crate) fn take_back(machine: &mut Machine, now: Instant) -> Vec<Happening> {
    let left = machine.events().take_back().into_iter();
    left.map(|event| (event.at.since(now), event.part, event.what)).collect()
}

/// Most events that a note names.
const NAMED: usize = 3;

/// Says that `missed` did not happen; none if it is empty.
pub(crate) fn missed_note(missed: &[Happening], machine: &Machine) -> Option<String> {
    let drives: Vec<&str> = machine.drives().names().collect();
    let name = |part: &Part| match *part {
        Part::Machine => String::new(),
        Part::Drive(drive) => drives[drive as usize].to_owned(),
        Part::Daemon { layout, daemon } => format!("{}.{daemon}", machine.layouts().get(layout).name),
    };
    let text = |(_, part, what): &Happening| match what {
        What::Set { key, value } => format!("set {}.{key}={value}", name(part)),
        What::Fail | What::Out | What::PowerOff => format!("{} {}", what.name(), name(part)),
    };
    let mut texts: Vec<String> = missed.iter().take(NAMED).map(text).collect();
    texts.extend((missed.len() > NAMED).then(|| "...".to_owned()));
    (!missed.is_empty()).then(|| format!("the run ended before {} of its events: {}", missed.len(), texts.join(", ")))
}

/// Return the part that `event` affects.
fn part_of(event: &EventSpec, machine: &Machine) -> Result<Part, SpecError> {
    match event.what {
        What::PowerOff => Ok(Part::Machine),
        What::Out => daemon_of(event, machine),
        _ => Ok(Part::Drive(drive_of(event, &machine.drives().names().collect::<Vec<_>>())? as u32)),
    }
}

/// The daemon that `event` names, as POOL.NUMBER.
fn daemon_of(event: &EventSpec, machine: &Machine) -> Result<Part, SpecError> {
    let text = event.part.as_deref().unwrap_or_default();
    let (name, daemon) = text.rsplit_once('.').ok_or_else(|| event.error("expected POOL.NUMBER, such as pool.3"))?;
    let layouts = machine.layouts();
    let has_daemons = |layout: &LayoutView| is_pool(layout.kind);
    let pools: Vec<&str> = layouts.iter().filter(has_daemons).map(|layout| layout.name).collect();
    if pools.is_empty() {
        let on = On::Layout(layouts.iter().next().map_or("single", |layout| layout.kind));
        let why = supported(event.what.name(), on).err().map(|why| why.to_string());
        return Err(event.error(why.unwrap_or_default()));
    }
    let layout = layouts.iter().position(|layout| has_daemons(&layout) && layout.name == name).ok_or_else(|| {
        let SpecError { accepted, .. } = SpecError::unknown("", "pool", name, &pools);
        event.error(accepted)
    })? as u32;
    let last = layouts.get(layout).members as u32 - 1;
    let daemon = daemon.parse().ok().filter(|daemon| *daemon <= last);
    let daemon = daemon.ok_or_else(|| event.error(format!("expected {name}.0 to {name}.{last}")))?;
    Ok(Part::Daemon { layout, daemon })
}

/// The measured time, if it is known before the run.
pub(crate) fn measured_time(workload: &Workload) -> Option<Span> {
    workload.phases.iter().filter(|phase| phase.measure).map(Phase::longest).sum()
}

/// Whether pools mark the daemon of their `out` out before a run on its own ends, if that is known.
///
/// # Errors
/// The first that would do so later.
pub(crate) fn check_outs(spec: &MachineSpec, workload: &Workload) -> Result<(), SpecError> {
    let Some(whole) = workload.timed_phases().map(Phase::longest).sum::<Option<Span>>() else { return Ok(()) };
    for layout in spec.layouts.iter().filter(|layout| is_pool(&layout.kind)) {
        if let Some(out) = PoolSpec::read(&spec.file, layout)?.out.filter(|out| out.at > whole) {
            let accepted = format!("expected a time of at most the run's {whole}");
            return Err(SpecError::new(&spec.file, &format!("{}.out.at", layout.key), out.at.to_string(), accepted));
        }
    }
    Ok(())
}

/// Checks texts such as `at 60 s: fail d3`, before anything is known of the machine.
///
/// # Errors
/// The first that is not an event.
pub fn check_texts(texts: &[String]) -> Result<(), SpecError> {
    let request = Request { events: texts.to_vec(), ..Request::default() };
    let events = of_request(&request)?;
    let mut cuts = events.iter().filter(|event| event.what == What::PowerOff);
    cuts.nth(1).map_or(Ok(()), |again| Err(again.error("power goes off once in a run: leave one out")))
}

/// The request as records keep it: failures and the loss of power in their short forms, whichever form they had.
pub(crate) fn in_short_forms(mut request: Request) -> Result<Request, SpecError> {
    let mut remaining = Vec::new();
    for (index, text) in std::mem::take(&mut request.events).into_iter().enumerate() {
        let event = EventSpec::parse(&format!("events[{index}]"), &text)?;
        match (&event.what, &event.part) {
            (What::Fail, Some(drive)) => request.repair.fail.push(format!("{drive}@{}", event.time)),
            (What::PowerOff, _) => request.power_loss = Some(event.time),
            _ => remaining.push(text),
        }
    }
    request.events = remaining;
    Ok(request)
}
