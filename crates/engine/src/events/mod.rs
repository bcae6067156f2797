//! What is to happen to the machine of a run: events of the request, the workload and the machine as one list, checked
//! against the table of what is supported.

pub mod support;

use hotband_layouts::replicated::PoolSpec;
use hotband_machine::{EventSpec, Machine, MachineSpec, Part, SpecError, What};
use hotband_units::Span;
use hotband_workloads::{Phase, Workload};

use crate::repair::drive_of;
use crate::request::Request;
use support::{On, Why, supported};

/// A daemon that will be marked out, and who asked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    /// Which layout.
    pub layout: usize,
    /// Which of its daemons.
    pub osd: usize,
    /// Which of the events.
    event: usize,
}

/// Events of a run, as they were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub events: Vec<EventSpec>,
    /// Daemons that will be marked out.
    pub outs: Vec<Out>,
}

/// Something that will happen so long after the measured time begins.
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
    /// Those of the request, the workload and the machine. A loss of power that the request names replaces that of the
    /// workload or the machine.
    ///
    /// # Errors
    /// Text that is no event, or a second loss of power.
    pub fn of(request: &Request, workload: &Workload, machine: &[EventSpec]) -> Result<Self, SpecError> {
        let mut events = of_request(request)?;
        let is_cut = events.iter().any(|event| event.what == What::PowerOff);
        let others = workload.events.iter().chain(machine);
        events.extend(others.filter(|event| !(is_cut && event.what == What::PowerOff)).cloned());
        if let Some(again) = events.iter().filter(|event| event.what == What::PowerOff).nth(1) {
            return Err(again.error("power goes off once in a run: leave one out"));
        }
        Ok(Self { events, outs: Vec::new() })
    }

    /// With the daemons that they mark out found in the pools of `spec`.
    ///
    /// # Errors
    /// A daemon that is not there, or a second one of a pool.
    pub fn with_daemons(mut self, spec: &MachineSpec) -> Result<Self, SpecError> {
        for (index, event) in self.events.iter().enumerate().filter(|(_, event)| event.what == What::Out) {
            let out = daemon_of(index, event, spec)?;
            if self.outs.iter().any(|have| have.layout == out.layout) {
                return Err(event.error("one daemon of a pool is marked out in a run: leave one out"));
            }
            self.outs.push(out);
        }
        Ok(self)
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
        for event in self.events.iter().filter(|event| event.what != What::Out) {
            for on in &on {
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

    /// No event of a run that follows another, or that another goes on with.
    ///
    /// # Errors
    /// The first that is not supported there.
    pub fn check_sequence(&self) -> Result<(), SpecError> {
        self.events.iter().try_for_each(|event| {
            supported(event.what.name(), support::SEQUENCE).map_err(|why| event.error(why.to_string()))
        })
    }

    /// What is to be scheduled on `machine`; the loss of power is the driver's.
    ///
    /// # Errors
    /// A drive that is not there or fails twice, a value that it does not take, a time after the measured one.
    pub fn happenings(&self, machine: &Machine, workload: &Workload) -> Result<Vec<Happening>, SpecError> {
        let names: Vec<&str> = machine.drives().names().collect();
        let measured = measured_time(workload);
        let mut happenings: Vec<Happening> = Vec::new();
        for (index, event) in self.events.iter().enumerate().filter(|(_, event)| event.what != What::PowerOff) {
            let part = self.part_of(index, &names)?;
            if event.what == What::Fail && happenings.iter().any(|(_, have, what)| (*have, what) == (part, &What::Fail))
            {
                let name = event.part.as_deref().unwrap_or_default();
                return Err(event.error(format!("{name} fails twice: expected each drive once")));
            }
            if let (What::Set { key, value }, Part::Drive(drive)) = (&event.what, part) {
                let drive = machine.drives().get(drive).drive;
                supported("set", On::Drive(drive.kind())).map_err(|why| event.error(why.to_string()))?;
                drive.check_set(key, value).map_err(|error| event.error(error.accepted))?;
            }
            if let Some(measured) = measured.filter(|measured| event.at > *measured) {
                return Err(event.error(format!("expected a time of at most the measured {measured}")));
            }
            happenings.push((event.at, part, event.what.clone()));
        }
        Ok(happenings)
    }

    fn part_of(&self, index: usize, names: &[&str]) -> Result<Part, SpecError> {
        let event = &self.events[index];
        if event.what == What::Out {
            let out = self.outs.iter().find(|out| out.event == index);
            let out = out.ok_or_else(|| event.error("the machine has no such daemon"))?;
            return Ok(Part::Daemon { layout: out.layout as u32, daemon: out.osd as u32 });
        }
        Ok(Part::Drive(drive_of(event, names)? as u32))
    }
}

/// The daemon that `event` names, as POOL.NUMBER.
fn daemon_of(index: usize, event: &EventSpec, spec: &MachineSpec) -> Result<Out, SpecError> {
    let text = event.part.as_deref().unwrap_or_default();
    let (pool, osd) = text.rsplit_once('.').ok_or_else(|| event.error("expected POOL.NUMBER, such as pool.3"))?;
    let pools: Vec<&str> =
        spec.layouts.iter().filter(|layout| layout.kind == "replicated").map(|layout| layout.name.as_str()).collect();
    if pools.is_empty() {
        let kind = spec.layouts.first().and_then(|layout| {
            support::ROWS.into_iter().find(|on| matches!(on, On::Layout(kind) if *kind == layout.kind))
        });
        let why = supported("osd-out", kind.unwrap_or(On::Layout("single")));
        return Err(event.error(why.err().map(|why| why.to_string()).unwrap_or_default()));
    }
    let layout = spec.layouts.iter().position(|layout| layout.name == pool && pools.contains(&pool));
    let layout = layout.ok_or_else(|| {
        let SpecError { accepted, .. } = SpecError::unknown("", "pool", pool, &pools);
        event.error(accepted)
    })?;
    let read = PoolSpec::read(&spec.file, &spec.layouts[layout])?;
    let daemons = spec.layouts[layout].members.len() * read.osds_per_member;
    let osd = osd.parse().ok().filter(|osd| *osd < daemons);
    let osd = osd.ok_or_else(|| event.error(format!("expected {pool}.0 to {pool}.{}", daemons - 1)))?;
    if read.out.is_some() {
        return Err(event.error("the pool's option out marks a daemon out already: leave one out"));
    }
    Ok(Out { layout, osd, event: index })
}

/// The measured time, where it is known before the run.
pub(crate) fn measured_time(workload: &Workload) -> Option<Span> {
    workload.phases.iter().filter(|phase| phase.measure).map(Phase::longest).sum()
}

/// Checks texts such as `at 60 s: fail d3`, before anything is known of the machine.
///
/// # Errors
/// The first that is no event.
pub fn check_texts(texts: &[String]) -> Result<(), SpecError> {
    let request = Request { events: texts.to_vec(), ..Request::default() };
    let events = of_request(&request)?;
    let mut cuts = events.iter().filter(|event| event.what == What::PowerOff);
    cuts.nth(1).map_or(Ok(()), |again| Err(again.error("power goes off once in a run: leave one out")))
}

/// The request as records keep it: failures and the loss of power in their short forms, whichever form they had.
pub(crate) fn in_short_forms(mut request: Request) -> Result<Request, SpecError> {
    let mut kept = Vec::new();
    for (index, text) in std::mem::take(&mut request.events).into_iter().enumerate() {
        let event = EventSpec::parse(&format!("events[{index}]"), &text)?;
        match (&event.what, &event.part) {
            (What::Fail, Some(drive)) => request.repair.fail.push(format!("{drive}@{}", event.time)),
            (What::PowerOff, _) => request.power_loss = Some(event.time),
            _ => kept.push(text),
        }
    }
    request.events = kept;
    Ok(request)
}
