//! A disk with several actuators on one spindle.
//!
//! Each actuator is a [`Disk`] of its own over an equal share of the surfaces: queue, head position, dirty data. They
//! turn together, and share the link to the host, the segments of the read cache and the room of the write cache. The
//! address space is one actuator's sectors after the other's; the host sees them as one logical unit each, or as one.
//!
//! An arm that moves disturbs the other's track following. Where the catalog says so (`arms_write`), arms that must
//! move for a write do so one after the other, the one that was held back longer first; reads continue meanwhile.
//!
//! Leaves out: what one arm's acceleration does to the other's reads, and a limit on the current of both.

use std::mem;

use hotband_machine::{
    CacheState, Command, Counter, Done, Draw, Drive, Fault, Op, SectorErrors, SetError, Unit, UnitName, Versions,
    WriteCacheSetting,
};
use hotband_units::{Bytes, Instant, Span};

use crate::disk::Disk;
use crate::disk::params::{DiskParams, Exposes};
use crate::disk::shared::{Others, Shared};
use crate::parts::geometry::{Geometry, SECTOR};
use crate::parts::seek::SeekCurves;

/// Names of the counters of each actuator, in addition to the sums.
const BUSY: [&str; 4] = ["actuator_0_busy_ns", "actuator_1_busy_ns", "actuator_2_busy_ns", "actuator_3_busy_ns"];

/// A disk of the catalog with several actuators.
pub struct MultiActuatorDisk {
    actuators: Vec<Disk>,
    /// Time when each next has something to do; `NEVER` while it has nothing.
    wakes: Vec<Instant>,
    shared: Box<Shared>,
    exposes: Exposes,
    /// Bytes of one actuator.
    share: u64,
    /// Commands that several actuators serve.
    parted: Vec<Parted>,
    done: Vec<Done>,
}

/// A command that several actuators serve.
#[derive(Clone, Copy, Debug)]
struct Parted {
    token: u64,
    /// Parts that are not done.
    left: usize,
    len: u32,
    fault: Option<Fault>,
}

impl MultiActuatorDisk {
    /// A drive at rest, all heads at the outer edge.
    pub fn new(params: &DiskParams) -> Self {
        Self::sharing(params, &mut SeekCurves::default())
    }

    /// Like `new`, but share the seek curves of equal drives.
    pub fn sharing(params: &DiskParams, curves: &mut SeekCurves) -> Self {
        let share = params.geometry.capacity.0;
        let actuator = |index: u64| {
            let geometry = Geometry::from_sector(&params.geometry, index * share / SECTOR);
            Disk::over(geometry, Shared::absent(params), params.clone(), curves)
        };
        Self {
            actuators: (0..u64::from(params.actuators)).map(actuator).collect(),
            wakes: vec![Instant::NEVER; params.actuators as usize],
            shared: Box::new(Shared::of_several(params)),
            exposes: params.exposes,
            share,
            parted: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Lends the shared parts to one actuator.
    fn with(&mut self, index: usize, now: Instant, act: impl FnOnce(&mut Disk)) {
        self.shared.port.forget_before(now);
        self.shared.others = Others::default();
        for (_, disk) in self.actuators.iter().enumerate().filter(|(other, _)| *other != index) {
            self.shared.others.add(disk);
            // A segment that another actuator is reading into is not to be taken from it.
            if let Some(segment) = disk.segment_in_use() {
                self.shared.segments.touch(segment);
            }
        }
        let disk = &mut self.actuators[index];
        mem::swap(&mut disk.shared, &mut self.shared);
        act(disk);
        mem::swap(&mut disk.shared, &mut self.shared);
        self.wakes[index] = disk.wake().unwrap_or(Instant::NEVER);
    }

    /// Admits writes that waited for room in the write cache, in order of arrival, whichever actuator
    /// serves them.
    fn admit_blocked(&mut self, now: Instant) {
        loop {
            let waits = |(index, disk): (usize, &Disk)| disk.waits_since().map(|since| (since, index));
            let Some((_, index)) = self.actuators.iter().enumerate().filter_map(waits).min() else { return };
            let before = self.actuators[index].blocked.len();
            self.with(index, now, |disk| {
                disk.admit_blocked(now);
                disk.dispatch(now);
            });
            if self.actuators[index].blocked.len() == before {
                return;
            }
        }
    }

    /// First and last actuator that a command concerns.
    fn concerns(&self, command: &Command) -> (usize, usize) {
        let last = self.actuators.len() - 1;
        if command.op == Op::Flush && self.exposes == Exposes::One {
            return (0, last);
        }
        let actuator_of = |offset: u64| ((offset / self.share) as usize).min(last);
        let end = command.offset + u64::from(command.len);
        // What ends beyond the last sector is refused whole, by the last actuator.
        if end > self.capacity().0 {
            (last, last)
        } else {
            (actuator_of(command.offset), actuator_of(end.max(command.offset + 1) - 1))
        }
    }

    /// The part of a command that lies on one actuator.
    fn part(&self, command: Command, index: usize) -> Command {
        if command.op == Op::Flush {
            return command;
        }
        let (from, to) = (index as u64 * self.share, (index as u64 + 1) * self.share);
        let (offset, end) = (command.offset.max(from), (command.offset + u64::from(command.len)).min(to));
        Command { offset, len: (end - offset) as u32, ..command }
    }

    /// Moves the completed commands of the actuators to `done`; a command of several actuators completes with the last.
    fn hand_over(&mut self, done: &mut Vec<Done>) {
        if self.parted.is_empty() {
            return done.append(&mut self.done);
        }
        for mut finished in self.done.drain(..) {
            if let Some(at) = self.parted.iter().position(|parted| parted.token == finished.token) {
                let parted = &mut self.parted[at];
                parted.left -= 1;
                parted.fault = parted.fault.or(finished.fault);
                if parted.left > 0 {
                    continue;
                }
                finished.fault = parted.fault;
                finished.bytes_back = if finished.bytes_back > 0 { parted.len } else { 0 };
                self.parted.swap_remove(at);
            }
            done.push(finished);
        }
    }
}

impl Drive for MultiActuatorDisk {
    fn kind(&self) -> &'static str {
        "disk"
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.share * self.actuators.len() as u64)
    }

    /// A command that several actuators share counts once for each.
    fn waiting(&self) -> Option<u64> {
        self.actuators.iter().map(Disk::waiting).sum()
    }

    fn volatile(&self) -> bool {
        self.actuators[0].volatile()
    }

    fn takes_trims(&self) -> bool {
        self.actuators[0].takes_trims()
    }

    fn forces_by_flush(&self) -> bool {
        self.actuators[0].forces_by_flush()
    }

    fn block(&self) -> Bytes {
        self.actuators[0].block()
    }

    fn physical_block(&self) -> Bytes {
        self.actuators[0].physical_block()
    }

    fn units(&self) -> Vec<Unit> {
        let count = if self.exposes == Exposes::Luns { self.actuators.len() as u32 } else { 0 };
        let unit =
            |number| Unit { name: UnitName::Lun(number), from: u64::from(number) * self.share, size: self.share };
        (0..count).map(unit).collect()
    }

    fn sector_errors(&self) -> Option<SectorErrors> {
        self.actuators[0].params().sector_errors()
    }

    fn draw(&self) -> Option<Draw> {
        self.actuators[0].draw()
    }

    fn activity(&self) -> [Span; 3] {
        let each = self.actuators.iter().map(Disk::activity);
        each.fold([Span::ZERO; 3], |sum, of| [0, 1, 2].map(|n| sum[n] + of[n]))
    }

    fn submit(&mut self, now: Instant, command: Command) {
        let (first, last) = self.concerns(&command);
        if first == last {
            self.with(first, now, |disk| disk.submit(now, command));
        } else {
            self.parted.push(Parted { token: command.token, left: last - first + 1, len: command.len, fault: None });
            for index in first..=last {
                let part = self.part(command, index);
                self.with(index, now, |disk| disk.submit(now, part));
            }
        }
        self.admit_blocked(now);
    }

    fn wake(&self) -> Option<Instant> {
        self.wakes.iter().copied().min().filter(|at| *at < Instant::NEVER)
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while self.wake().is_some_and(|at| at <= now) {
            for index in 0..self.actuators.len() {
                if self.wakes[index] <= now {
                    let mut finished = mem::take(&mut self.done);
                    self.with(index, now, |disk| disk.advance(now, &mut finished));
                    self.done = finished;
                }
            }
            self.admit_blocked(now);
        }
        self.done.sort_by_key(|done| done.at);
        self.hand_over(done);
    }

    fn counters(&self) -> Vec<Counter> {
        let each: Vec<Vec<Counter>> = self.actuators.iter().map(Disk::counters).collect();
        let mut counters = sums(&each);
        let busy = |counters: &Vec<Counter>| {
            counters.iter().find(|(name, _)| *name == "busy_ns").map_or(0, |(_, count)| *count)
        };
        counters.extend(BUSY.into_iter().zip(each.iter().map(busy)));
        counters
    }

    fn levels(&self) -> Vec<Counter> {
        sums(&self.actuators.iter().map(Disk::levels).collect::<Vec<_>>())
    }

    fn caches(&self, now: Instant) -> Option<CacheState> {
        self.actuators.iter().filter_map(|disk| disk.caches(now)).reduce(|first, second| first.and(&second))
    }

    fn settings(&self) -> &'static [&'static str] {
        self.actuators[0].settings()
    }

    fn write_cache(&self) -> Option<WriteCacheSetting> {
        self.actuators[0].write_cache()
    }

    fn check_set(&self, key: &str, value: &str) -> Result<(), SetError> {
        self.actuators[0].check_set(key, value)
    }

    fn set(&mut self, now: Instant, key: &str, value: &str) -> Result<(), SetError> {
        self.check_set(key, value)?;
        for index in 0..self.actuators.len() {
            let caches = self.actuators[index].switched(key, value)?;
            self.with(index, now, |disk| disk.switch(now, caches));
        }
        self.admit_blocked(now);
        Ok(())
    }

    fn keep_account(&mut self) {
        self.actuators.iter_mut().for_each(Disk::keep_account);
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        let mut left = Versions::default();
        self.actuators.iter_mut().for_each(|disk| left.overlay(&disk.cut_power(now)));
        left
    }
}

/// The sums of lists with the same names.
fn sums(each: &[Vec<Counter>]) -> Vec<Counter> {
    let mut sums = each[0].clone();
    for counters in &each[1..] {
        sums.iter_mut().zip(counters).for_each(|(sum, (_, count))| sum.1 += count);
    }
    sums
}
