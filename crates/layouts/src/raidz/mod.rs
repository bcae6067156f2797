//! RAID-Z as OpenZFS lays it out: records of one size, each a full stripe of variable width with parity of its own, and
//! every write to a new place (docs/models/layouts.md).
//!
//! A read touches every member that has data of its record; a write of less than a record reads the record, unless that
//! is in memory, and writes all of it elsewhere. There is no read-modify-write of parity, and no write hole.
//!
//! A write with force unit access goes through the intent log (`log.rs`).
//!
//! Leaves out: transaction groups, which gather writes in memory and acknowledge those that are not synchronous at
//! once; ARC and L2ARC, metaslabs, block pointers and other metadata, I/O for checksums, compression,
//! joining of I/Os on a member (but for resilvering), processor times.

mod columns;
mod log;
mod places;
mod records;
mod resilver;
mod spec;

use std::collections::VecDeque;

use hotband_machine::{
    Entropy, EventError, EventQueue, Fault, LayoutSpec, MemberCommand, MemberRange, MemberRebuild, Op, PartReport,
    Served, Service, ServiceIo, ServiceOut, Slab, SpecError, Times,
};
use hotband_units::{Bytes, Instant, Rate, Span};
use rustc_hash::FxHashMap;

pub use columns::{Column, Geometry};
pub use spec::RAIDZ;

use crate::replicated::{Memory, Policy};
use log::Log;
use places::Places;
use records::{Io, Work};
use resilver::Resilver;
use spec::RaidZSpec;

/// Time of I/Os without members: a read from memory, or the error that data is lost [our estimate for the first: 2 to
/// 20 us, a system call and a copy]. Above zero, so that a host that asks again at once does not stop the time.
const FROM_MEMORY: Span = Span(10_000);

/// Available part of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Whole,
    Gone,
    /// A spare that holds some of it: all records before the place that resilvering has come to.
    Resilvering,
}

/// Due event: its kind in the top bits, a number below.
#[derive(Clone, Copy)]
enum Due {
    /// An I/O is completed without a member.
    Answer(u32),
    /// The first record of those refused cannot be read or written.
    GiveUp,
    /// Resilvering continues after a pause.
    Resilver,
    /// Commands that an I/O has led to go out.
    Send,
}

/// Numbers of I/Os under way stay below 2^22; an event carries 24 bits.
const KIND_SHIFT: u32 = 22;

impl Due {
    fn payload(self) -> u32 {
        match self {
            Self::Answer(io) => io,
            Self::GiveUp => 1 << KIND_SHIFT,
            Self::Resilver => 2 << KIND_SHIFT,
            Self::Send => 3 << KIND_SHIFT,
        }
    }

    fn of(payload: u32) -> Self {
        let number = payload & ((1 << KIND_SHIFT) - 1);
        match payload >> KIND_SHIFT {
            0 => Self::Answer(number),
            1 => Self::GiveUp,
            2 => Self::Resilver,
            _ => Self::Send,
        }
    }
}

/// Purpose of a command to a member.
#[derive(Clone, Copy)]
enum For {
    Record(u64),
    Flush(u32),
    Resilver(u32),
    Log,
}

/// Records have less than 62 bits.
const PURPOSE_SHIFT: u32 = 62;

impl For {
    fn token(self) -> u64 {
        let (kind, number) = match self {
            Self::Record(record) => (0, record),
            Self::Flush(io) => (1, u64::from(io)),
            Self::Resilver(step) => (2, u64::from(step)),
            Self::Log => (3, 0),
        };
        kind << PURPOSE_SHIFT | number
    }

    fn of(token: u64) -> Self {
        match token >> PURPOSE_SHIFT {
            0 => Self::Record(token),
            1 => Self::Flush(token as u32),
            2 => Self::Resilver(token as u32),
            _ => Self::Log,
        }
    }
}

/// Its counters.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    records_read: u64,
    records_written: u64,
    records_in_memory: u64,
    data_bytes: u64,
    parity_bytes: u64,
    log_bytes: u64,
    resilvered_bytes: u64,
}

/// A RAID-Z in a running machine.
pub struct RaidZ {
    kind: &'static str,
    geometry: Geometry,
    record: u64,
    allocated: u64,
    records: u64,
    places: Places,
    memory: Memory,
    ios: Slab<Io>,
    /// Records that are read or written now.
    busy: FxHashMap<u64, Work>,
    /// I/Os that cannot be served, the next to report in front.
    refused: VecDeque<u64>,
    /// Records that wait for a free place.
    without_place: VecDeque<u64>,
    present: Vec<Presence>,
    resilver: Resilver,
    log: Log,
    events: EventQueue,
    commands: Vec<MemberCommand>,
    served: Vec<Served>,
    counters: Counters,
}

impl RaidZ {
    /// For `records` in this many places, the last of which is the log's.
    fn new(spec: &RaidZSpec, records: u64, places: u64) -> Self {
        Self {
            kind: spec.kind,
            geometry: spec.geometry,
            record: spec.record,
            allocated: spec.geometry.allocated(spec.record),
            records,
            places: Places::new(records, places - 1),
            memory: Memory::new(spec.kept, Policy::Lru),
            ios: Slab::default(),
            busy: FxHashMap::default(),
            refused: VecDeque::new(),
            without_place: VecDeque::new(),
            present: vec![Presence::Whole; spec.geometry.columns as usize],
            resilver: Resilver::default(),
            log: Log::new(spec.geometry, spec.record, places - 1),
            events: EventQueue::default(),
            commands: Vec::new(),
            served: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// The parts of a record in `place`.
    fn columns_of(&self, place: u64) -> Vec<Column> {
        self.geometry.columns(place * self.allocated, self.record)
    }

    /// Whether a member has the contents of `place`.
    fn holds(&self, member: u16, place: u64) -> bool {
        match self.present[usize::from(member)] {
            Presence::Whole => true,
            Presence::Gone => false,
            Presence::Resilvering => self.resilver.has(member, place),
        }
    }

    /// More members are missing than there are parities: OpenZFS suspends such a pool.
    fn is_suspended(&self) -> bool {
        self.present.iter().filter(|present| **present != Presence::Whole).count() as u64 > self.geometry.parities
    }

    /// Reads that give the data of `place`, or allow missing parts to be computed; none if too little is left. Data
    /// on `without` is not read.
    fn sources(&self, place: u64, without: Option<u16>) -> Option<Vec<Column>> {
        let columns = self.columns_of(place);
        let is_held = |column: &&Column| Some(column.member) != without && self.holds(column.member, place);
        let wanted = columns.iter().filter(|column| !column.is_parity).count();
        let parities = columns.iter().filter(|column| column.is_parity);
        let data = columns.iter().filter(|column| !column.is_parity);
        let held_columns: Vec<Column> = data.chain(parities).filter(is_held).take(wanted).copied().collect();
        (held_columns.len() == wanted).then_some(held_columns)
    }

    fn command(&mut self, op: Op, (member, offset, len): (u16, u64, u32), purpose: For, entropy: Entropy) {
        let (token, fua, version) = (purpose.token(), false, 0);
        self.commands.push(MemberCommand { token, member, op, offset, len, fua, version, entropy });
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.events.push(at, due.payload());
    }
}

impl Service for RaidZ {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.records * self.record)
    }

    fn submit(&mut self, now: Instant, io: ServiceIo) {
        self.take(now, io);
        if !self.commands.is_empty() {
            self.push(now, Due::Send);
        }
    }

    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>) {
        match For::of(token) {
            For::Record(record) => self.column_done(now, record, times, fault),
            For::Flush(io) => self.flushed(now, io, times, fault),
            For::Resilver(step) => self.resilver_goes_on(now, step, fault),
            For::Log => self.log_goes_on(now, times),
        }
    }

    fn wake(&self) -> Option<Instant> {
        self.events.peek().map(|(at, _)| at)
    }

    fn advance(&mut self, now: Instant, out: &mut ServiceOut) {
        while let Some((at, payload)) = self.events.peek().filter(|(at, _)| *at <= now) {
            self.events.pop();
            match Due::of(payload) {
                Due::Answer(io) => self.answer(at, io, &Times { overhead: FROM_MEMORY, ..Times::default() }, None),
                Due::GiveUp => {
                    let record = self.refused.pop_front().expect("one for every event");
                    self.give_up(at, record);
                }
                Due::Resilver => self.resilver_more(at),
                Due::Send => {}
            }
        }
        while !self.without_place.is_empty() && (self.places.has_free() || self.is_suspended()) {
            let record = self.without_place.pop_front().expect("it is not empty");
            self.begin_write(now, record);
        }
        out.commands.append(&mut self.commands);
        out.served.append(&mut self.served);
    }

    fn member_failed(&mut self, now: Instant, member: u16) {
        self.present[usize::from(member)] = Presence::Gone;
        self.stop_resilver(now, member);
    }

    fn can_replace(&self, member: u16) -> bool {
        self.present[usize::from(member)] == Presence::Gone && !self.is_suspended()
    }

    fn member_replaced(&mut self, now: Instant, member: u16, limit: Option<Rate>) {
        self.present[usize::from(member)] = Presence::Resilvering;
        for work in self.busy.values_mut().filter(|work| work.to.is_some()) {
            work.lacks.push(member);
        }
        self.begin_resilver(now, member, limit);
    }

    fn rebuilds(&self) -> Vec<MemberRebuild> {
        self.all_rebuilds()
    }

    fn expect_out(&mut self, _: &[u32], failed: bool) -> Result<(), EventError> {
        if failed { Ok(()) } else { Err(EventError::Out { why: "it has no daemons".to_owned() }) }
    }

    fn lost(&self) -> u64 {
        if self.is_suspended() { self.capacity().0 } else { 0 }
    }

    fn is_whole(&self) -> bool {
        self.present.iter().all(|present| *present == Presence::Whole)
    }

    fn is_recovering(&self) -> bool {
        self.resilver.is_under_way()
    }

    fn report(&self) -> Vec<PartReport> {
        let counts = &self.counters;
        let counters = vec![
            ("records_read", counts.records_read),
            ("records_written", counts.records_written),
            ("records_in_memory", counts.records_in_memory),
            ("data_bytes", counts.data_bytes),
            ("parity_bytes", counts.parity_bytes),
            ("log_bytes", counts.log_bytes),
            ("resilvered_bytes", counts.resilvered_bytes),
        ];
        let at_end = vec![
            ("allocated_bytes", self.records * self.allocated),
            ("resilver_ns", self.resilver.took().map_or(0, |took| took.0)),
        ];
        vec![PartReport { id: "records".to_owned(), kind: self.kind, counters, at_end }]
    }
}

/// A RAID-Z on `members`.
///
/// # Errors
/// An option that is malformed or impossible, too few members or too small ones.
pub fn build(file: &str, layout: &LayoutSpec, members: &[MemberRange]) -> Result<Box<dyn Service>, SpecError> {
    let spec = RaidZSpec::read(file, layout, members.len() as u64)?;
    let smallest = members.iter().map(|member| member.size).min().unwrap_or(0);
    let Geometry { sector, columns, .. } = spec.geometry;
    let places = smallest / sector * sector * columns / spec.geometry.allocated(spec.record);
    // A free place to write to, and one for the log.
    let records = ((places as f64 * spec.filled) as u64).min(places.saturating_sub(2));
    if records == 0 {
        let accepted = format!("the members hold {places} records: expected at least one, a free place and the log's");
        return Err(SpecError::new(file, &layout.key, "", accepted));
    }
    Ok(Box::new(RaidZ::new(&spec, records, places)))
}

#[cfg(test)]
mod rig;
#[cfg(test)]
mod tests;
