//! Events of a machine: those that it supports, those scheduled, and their execution.

use hotband_units::Instant;

use crate::event::{Event, EventError, Part, What};
use crate::graph::queue::Class;
use crate::graph::{AGENDA, DriveSlot, KIND_SHIFT, LayoutSlot, Machine, Role};
use crate::io::{Completion, Fault};
use crate::repair::agenda::Due;
use crate::repair::failing::Failing;
use crate::repair::{Repair, RepairSpec, SectorErrors, Watch};
use crate::spec::NodeRef;
use crate::versions::Versions;

/// Events that may happen to a machine. They are set before the first I/O, so that other machines do not pay for them.
#[derive(Default)]
pub struct Expected {
    /// Drives may fail: which spares there are, and how they are used.
    pub repair: Option<RepairSpec>,
    /// Sees the data move where drives fail.
    pub watch: Option<Box<dyn Watch>>,
    /// Power may go off: drives remember which version of every byte is where.
    pub accounts: bool,
    /// Daemons of pools go out.
    pub outs: Vec<Outs>,
}

/// Daemons of a pool that go out together, marked so or because their drive has failed.
#[derive(Clone, Debug)]
pub struct Outs {
    /// Index of the pool among the layouts.
    pub layout: u32,
    /// Index of the daemon.
    pub daemons: Vec<u32>,
    /// Their drive has failed.
    pub failed: bool,
}

/// Scheduled events of a machine's parts.
pub struct Events<'a>(&'a mut Machine);

impl Events<'_> {
    /// Lets something happen to a part, at a time that is not past.
    ///
    /// # Errors
    /// There is no such part, or it cannot happen to it.
    pub fn schedule(self, event: Event) -> Result<(), EventError> {
        let Event { at, part, what } = event;
        let machine = self.0;
        let not_expected = EventError::NotExpected { what: what.name() };
        match (part, what) {
            (Part::Drive(drive), _) if drive as usize >= machine.drives.len() => Err(EventError::UnknownPart),
            (Part::Drive(_), What::Fail) if machine.repair.is_none() => Err(not_expected),
            (Part::Drive(drive), What::Fail) => {
                machine.post(Class::Last, at, Due::Failure(drive));
                Ok(())
            }
            (Part::Drive(drive), What::Set { key, value }) => {
                machine.drives[drive as usize].drive.check_set(&key, &value)?;
                let number = machine.settings.len() as u32;
                machine.settings.push((drive, key, value));
                machine.post(Class::Last, at, Due::Set(number));
                Ok(())
            }
            (Part::Machine, What::PowerOff) if !machine.keeps_account => Err(not_expected),
            (Part::Machine, What::PowerOff) => {
                machine.post(Class::First, at, Due::PowerOff);
                Ok(())
            }
            (Part::Daemon { layout, daemon }, What::Out) => {
                let Some(slot) = machine.layouts.get_mut(layout as usize) else { return Err(EventError::UnknownPart) };
                let Role::Service(service) = &mut slot.role else {
                    return Err(EventError::Unsupported { what: "osd-out", part: "layout that only plans" });
                };
                service.check_out(daemon)?;
                machine.post(Class::Last, at, Due::Out { layout, daemon });
                Ok(())
            }
            (part, what) => Err(EventError::Unsupported { what: what.name(), part: part.kind() }),
        }
    }

    /// Removes and returns the events that have not happened, in the order of their times.
    pub fn take_back(self) -> Vec<Event> {
        let Machine { events, agenda, settings, .. } = self.0;
        let number = |payload: u32| payload & ((1 << KIND_SHIFT) - 1);
        let happens = |due: Due| match due {
            Due::Failure(drive) => Some((Part::Drive(drive), What::Fail)),
            Due::Set(setting) => {
                let (drive, key, value) = settings[setting as usize].clone();
                Some((Part::Drive(drive), What::Set { key, value }))
            }
            Due::Out { layout, daemon } => Some((Part::Daemon { layout, daemon }, What::Out)),
            Due::PowerOff => Some((Part::Machine, What::PowerOff)),
            Due::Core(_) | Due::Spare(_) | Due::Pace(_) | Due::Lost(_) => None,
        };
        let is_scheduled =
            |payload: u32| payload >> KIND_SHIFT == AGENDA && happens(agenda.at(number(payload))).is_some();
        let taken = events.remove(is_scheduled);
        let event = |(at, payload)| happens(agenda.take(number(payload))).map(|(part, what)| Event { at, part, what });
        taken.into_iter().filter_map(event).collect()
    }
}

impl Machine {
    /// Tells, before the first I/O, what may happen.
    ///
    /// # Errors
    /// Daemons that are not there, or that their pool cannot do without.
    pub fn expect(&mut self, expected: Expected) -> Result<(), EventError> {
        for Outs { layout, daemons, failed } in &expected.outs {
            let service = self.layouts.get_mut(*layout as usize).and_then(LayoutSlot::service);
            service.ok_or(EventError::UnknownPart)?.expect_out(daemons, *failed)?;
        }
        if expected.accounts {
            self.keeps_account = true;
            self.drives.iter_mut().for_each(|slot| slot.drive.keep_account());
        }
        let Some(spec) = expected.repair else { return Ok(()) };
        let drives: Vec<(&str, Option<SectorErrors>)> =
            self.drives.iter().map(|slot| (slot.name.as_str(), slot.drive.sector_errors())).collect();
        let mut repair = Repair::new(spec, &drives, self.layouts.len());
        repair.watch = expected.watch;
        self.repair = Some(Box::new(repair));
        let drives = std::mem::take(&mut self.drives).into_iter();
        let drives = drives.map(|slot| DriveSlot { drive: Box::new(Failing::new(slot.drive)), ..slot });
        self.drives = drives.collect();
        Ok(())
    }

    /// Its scheduled event.
    pub fn events(&mut self) -> Events<'_> {
        Events(self)
    }

    /// Power goes off: drives keep what survives, and nothing is due any more.
    pub(crate) fn power_off(&mut self, at: Instant) {
        for slot in &mut self.drives {
            slot.left = Some(slot.drive.cut_power(at));
        }
        for layout in 0..self.layouts.len() {
            let Some(service) = self.layouts[layout].service() else { continue };
            let versions = service.cut_power(at);
            self.put_back(layout as u32, &versions);
        }
        self.events.clear();
    }

    /// Protected memory of a layout is written back when power returns, to the remaining contents of the drives.
    fn put_back(&mut self, layout: u32, versions: &Versions) {
        let mut places = Vec::new();
        for (range, version) in versions.iter() {
            places.clear();
            let len = (range.end - range.start) as u32;
            self.layouts().place(NodeRef::Layout(layout), range.start, len, &mut places);
            for placed in &places {
                let Some(left) = &mut self.drives[placed.drive as usize].left else { continue };
                let old = left.all(placed.offset..placed.offset + u64::from(placed.len));
                old.into_iter().filter(|(_, have)| *have < version).for_each(|(part, _)| left.set(part, version));
            }
        }
    }

    pub(crate) fn run_agenda(&mut self, at: Instant, number: u32, completions: &mut Vec<Completion>) {
        match self.agenda.take(number) {
            Due::Core(core) => self.run_core(at, core, completions),
            Due::Failure(drive) => self.fail_drive(at, drive, completions),
            Due::Set(number) => {
                let (drive, key, value) = self.settings[number as usize].clone();
                let set = self.drives[drive as usize].drive.set(at, &key, &value);
                set.expect("checked when it was scheduled");
                self.arm(drive);
            }
            Due::Out { layout, daemon } => {
                let service = self.layouts[layout as usize].service().expect("checked when it was scheduled");
                service.mark_out(at, daemon);
                self.run_service(at, layout, completions);
            }
            Due::PowerOff => self.power_off(at),
            Due::Spare(drive) => self.take_spare(at, drive),
            Due::Pace(job) => {
                self.repair_mut().jobs[job as usize].paused = false;
                self.go_on(at, job);
            }
            Due::Lost(id) => {
                let request = self.requests.get(id);
                let waited = at.since(request.submitted) - request.past.total();
                request.past.queue += waited;
                let end = (request.past, Some(Fault::Gone));
                self.climb(at, id, end, completions);
            }
        }
    }
}
