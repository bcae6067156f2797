//! The disk, or one actuator of a disk with several: one arm over spinning platters, with a queue, a segmented read
//! cache and a write cache.
//!
//! A command passes the firmware (`command_overhead`), waits in the queue, and is served by seek, rotational wait
//! and transfer; its data crosses the port. Reads that the cache holds skip the arm. A sequential reader makes the
//! arm read ahead while nothing else is waiting. With write-back, writes are acknowledged from memory and drained
//! in positioning order: when the arm has no command to serve, and together with the queue while the cache is full
//! or a flush waits. Memory that survives power loss (Advanced Write Cache) also satisfies flushes and forced unit
//! access; large writes go past it. A flash read cache answers what it holds of random reads.
//!
//! Leaves out: defects, thermal recalibration, spin-up, the overlap of firmware and seek within one
//! command, and reads that are partly in a cache (they go to the media whole).

pub mod actuators;
mod caches;
mod commands;
mod counters;
mod media;
pub mod params;
mod pipeline;
pub mod power;
mod scan;
mod seeks;
mod set;
mod shared;
pub mod smr;

use std::collections::VecDeque;

use hotband_machine::{
    CacheState, Command, Counter, Done, Draw, Drive, Fault, Op, SectorErrors, SetError, Times, Versions,
    WriteCacheSetting,
};
use hotband_units::{Bytes, Instant, Span};

use crate::disk::caches::WriteCaches;
use crate::disk::commands::WRITERS;
use crate::disk::counters::DiskCounters;
use crate::disk::params::{DiskParams, WriteCache};
use crate::disk::shared::Shared;
use crate::parts::account::Account;
use crate::parts::dirty::Dirty;
use crate::parts::flash::Flash;
use crate::parts::geometry::{Geometry, SECTOR};
use crate::parts::media_scan::Scan;
use crate::parts::pending::Pending;
use crate::parts::recovery::Recovery;
use crate::parts::seek::{SeekCurve, SeekCurves};

/// A command, when it arrived, and when it got its tag: until then it waits outside of the drive,
/// which does not know it.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    pub command: Command,
    pub at: Instant,
    pub tagged: Instant,
}

impl Arrived {
    pub fn first(&self) -> u64 {
        self.command.offset / SECTOR
    }

    pub fn count(&self) -> u64 {
        u64::from(self.command.len) / SECTOR
    }

    pub fn end(&self) -> u64 {
        self.first() + self.count()
    }
}

/// A flush that waits for every write acknowledged before it.
#[derive(Clone, Copy, Debug)]
struct Flush {
    pub arrived: Arrived,
    /// Writes with a lower sequence must reach the media.
    pub barrier: u64,
}

/// Activity of the arm.
#[derive(Clone, Copy, Debug)]
enum Arm {
    Idle,
    /// Serving a command until a known time.
    Busy {
        until: Instant,
        work: Work,
    },
    /// Reading ahead of a sequential reader.
    Ahead(Ahead),
    /// Holding its writes back, since then, for another arm's that ends then.
    Held {
        since: Instant,
        until: Instant,
    },
}

/// Work of the arm.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// A read of `first..end`; `sequential` names the segment it continues.
    Read { first: u64, end: u64, sequential: Option<usize> },
    /// A write of `first..end` past the cache.
    Write { first: u64, end: u64 },
    /// An extent of the write cache, or a request of the translation layer of a shingled disk.
    Destage,
    /// Letting go of the background scan.
    Scan,
}

/// A stream into a segment.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    pub segment: usize,
    /// First sector of the stream, and when it begins to pass the head.
    pub from: u64,
    pub begins: Instant,
    /// Flow at `from`.
    pub flow: u64,
    /// End of the stream.
    pub limit: u64,
    /// Reads that wait for the stream need it up to here.
    pub committed: u64,
    /// Up to when the drive's counters have its time.
    pub counted: Instant,
}

/// A disk of the catalog with one actuator, or one actuator of several: its surfaces, queue, arm and dirty data.
pub struct Disk {
    params: DiskParams,
    geometry: Geometry,
    read_curve: SeekCurve,
    write_curve: SeekCurve,
    /// Link and memory, which other actuators may use too.
    shared: Box<Shared>,
    /// Finished commands still on the wire, the next one last.
    ready: Vec<Done>,
    queue: Pending,
    /// Commands of the queue by slot.
    slots: Vec<Arrived>,
    free_slots: Vec<u32>,
    /// Writes that wait for room in the cache.
    blocked: VecDeque<Arrived>,
    /// Commands beyond the tag limit.
    beyond_tags: VecDeque<Arrived>,
    /// Commands accepted and not yet handed over.
    in_drive: usize,
    dirty: Dirty,
    flushes: Vec<Flush>,
    flash: Option<Flash>,
    cylinder: u32,
    track: u32,
    /// First sector beyond the last one served.
    reached: u64,
    /// The segment of the stream that the arm read last, where it read one.
    streamed: Option<usize>,
    /// First sector that the first scan of the media has not passed.
    scanned_to: u64,
    arm: Arm,
    /// When the arm last ended something, and the last command was completed.
    worked: Instant,
    answered: Instant,
    /// Background scan, of a drive that has one.
    scan: Option<Scan>,
    /// Reads that are tried again, of a drive of which that is known.
    recovery: Option<Box<Recovery>>,
    /// Whether the arm moved for its last write.
    moved_to_write: bool,
    sequence: u64,
    /// Ends of the last writes, the latest first.
    write_ends: [u64; WRITERS],
    counters: DiskCounters,
    /// Switches of the write caches that take effect when their contents are written.
    switching: Option<WriteCaches>,
    /// Kept only for runs that end in a loss of power.
    account: Option<Box<Account>>,
}

impl Disk {
    /// A drive at rest, its head at the outer edge. On a disk with several actuators, only the first.
    pub fn new(params: DiskParams) -> Self {
        Self::sharing(params, &mut SeekCurves::default())
    }

    /// Like `new`, but share the seek curves of equal drives.
    pub fn sharing(params: DiskParams, curves: &mut SeekCurves) -> Self {
        let (geometry, shared) = (Geometry::new(&params.geometry), Shared::of_one(&params));
        Self::over(geometry, shared, params, curves)
    }

    /// The arm over the surfaces of `geometry`.
    fn over(geometry: Geometry, shared: Shared, params: DiskParams, curves: &mut SeekCurves) -> Self {
        let cylinders = geometry.cylinders();
        // Joined writes stay below two tracks: longer runs gain nothing and would hold up reads.
        let longest = 2 * geometry.track_bytes(geometry.first()) / SECTOR;
        Self {
            read_curve: curves.curve(&params.seeks[0], cylinders),
            write_curve: curves.curve(&params.seeks[1], cylinders),
            shared: Box::new(shared),
            ready: Vec::new(),
            queue: Pending::default(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            blocked: VecDeque::new(),
            beyond_tags: VecDeque::new(),
            in_drive: 0,
            dirty: Dirty::new(params.room, longest),
            flushes: Vec::new(),
            flash: params.flash.map(|flash| Flash::new(flash, geometry.end())),
            cylinder: 0,
            track: 0,
            reached: geometry.first(),
            streamed: None,
            scanned_to: scanned_to(&geometry, params.scanned),
            arm: Arm::Idle,
            worked: Instant::ZERO,
            answered: Instant::ZERO,
            scan: params.scan.map(Scan::new),
            recovery: params.recovery(&geometry),
            moved_to_write: false,
            sequence: 0,
            write_ends: [u64::MAX; WRITERS],
            counters: DiskCounters::default(),
            switching: None,
            account: None,
            geometry,
            params,
        }
    }

    /// The values this disk was built from.
    pub fn params(&self) -> &DiskParams {
        &self.params
    }

    /// The layout of its surfaces.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn write_back(&self) -> bool {
        self.params.write_cache != WriteCache::Off
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Time when the first write came that waits for room in the cache.
    fn waits_since(&self) -> Option<Instant> {
        self.blocked.front().map(|arrived| arrived.at)
    }

    /// The segment that the arm is reading into, if it continues one.
    fn segment_in_use(&self) -> Option<usize> {
        match self.arm {
            Arm::Ahead(ahead) => Some(ahead.segment),
            Arm::Busy { work: Work::Read { sequential, .. }, .. } => sequential,
            _ => None,
        }
    }

    /// Takes a command that has a tag.
    fn accept(&mut self, now: Instant, arrived: &Arrived) {
        self.in_drive += 1;
        let command = &arrived.command;
        let block = self.params.format.logical();
        if let Some(fault) = fault_of(command, block, self.geometry.end() * SECTOR) {
            self.counters.faults += 1;
            return self.refuse(now, arrived, fault);
        }
        match command.op {
            Op::Read => {
                self.counters.reads += 1;
                self.counters.read_bytes += u64::from(command.len);
                self.accept_read(now, arrived);
            }
            Op::Write => {
                self.counters.writes += 1;
                self.counters.written_bytes += u64::from(command.len);
                self.accept_write(now, arrived);
            }
            Op::Flush => {
                self.counters.flushes += 1;
                self.accept_flush(now, arrived);
            }
            // Only as a member next to drives that take trims: the host completes it, and nothing happens.
            Op::Trim => self.answer(now, arrived, now),
        }
    }

    fn refuse(&mut self, now: Instant, arrived: &Arrived, fault: Fault) {
        let overhead = self.params.overheads.cache_read;
        let at = now + overhead;
        let times = Times { queue: now.since(arrived.at), overhead, ..Times::default() };
        self.finish(Done { token: arrived.command.token, at, times, bytes_back: 0, fault: Some(fault) });
    }

    /// A command that the cache answers: its data is ready at `ready` and crosses the port.
    fn answer(&mut self, now: Instant, arrived: &Arrived, ready: Instant) {
        let overhead = self.params.overheads.cache(arrived.command.op == Op::Write);
        let ready = ready.max(now + overhead);
        let bytes_back = if arrived.command.op == Op::Read { arrived.command.len } else { 0 };
        let link = if matches!(arrived.command.op, Op::Flush | Op::Trim) { 0 } else { arrived.command.len };
        let at = self.shared.port.send(ready, u64::from(link));
        // A flush that has a tag waits for nothing but the media.
        let transfer = if arrived.command.op == Op::Flush { now.since(arrived.tagged) } else { Span::ZERO };
        let queue = ready.since(arrived.at) - overhead - transfer;
        let times = Times { queue, overhead, transfer, link: at.since(ready), ..Times::default() };
        self.finish(Done { token: arrived.command.token, at, times, bytes_back, fault: None });
    }

    /// Puts a completion on the wire.
    fn finish(&mut self, done: Done) {
        self.counters.command += done.times.total();
        self.answered = self.answered.max(done.at);
        let at = self.ready.partition_point(|have| have.at > done.at);
        self.ready.insert(at, done);
    }

    /// Moves the completed commands to `done`, and admits commands that waited for a tag.
    #[inline]
    fn hand_over(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(answer) = self.ready.pop_if(|next| next.at <= now) {
            done.push(answer);
            self.in_drive -= 1;
            if let Some(waiting) = self.beyond_tags.pop_front() {
                self.accept(now, &Arrived { tagged: now, ..waiting });
            }
        }
    }
}

/// First sector that a scan of a share of the surfaces has not passed.
fn scanned_to(geometry: &Geometry, share: f64) -> u64 {
    geometry.first() + ((geometry.end() - geometry.first()) as f64 * share) as u64
}

fn fault_of(command: &Command, block: u64, end: u64) -> Option<Fault> {
    if command.op == Op::Flush {
        return None;
    }
    let len = u64::from(command.len);
    debug_assert!(block.is_power_of_two(), "logical blocks are 512 B or 4 KiB");
    if len == 0 || (command.offset | len) & (block - 1) != 0 {
        return Some(Fault::Misaligned);
    }
    (command.offset + len > end).then_some(Fault::OutOfRange)
}

impl Drive for Disk {
    fn kind(&self) -> &'static str {
        "disk"
    }

    fn capacity(&self) -> Bytes {
        self.params.geometry.capacity
    }

    fn sector_errors(&self) -> Option<SectorErrors> {
        self.params.sector_errors()
    }

    fn draw(&self) -> Option<Draw> {
        self.params.draw
    }

    fn activity(&self) -> [Span; 3] {
        [self.counters.seek, Span::ZERO, self.counters.busy - self.counters.seek]
    }

    fn waiting(&self) -> Option<u64> {
        Some((self.in_drive + self.beyond_tags.len()) as u64)
    }

    /// A conventional disk has nothing to give back (ACS-4: DATA SET MANAGEMENT is optional), so that Linux has a
    /// `discard_max_bytes` of 0 for it and completes a discard with EOPNOTSUPP.
    fn takes_trims(&self) -> bool {
        false
    }

    fn volatile(&self) -> bool {
        self.params.write_cache == WriteCache::Volatile
    }

    fn forces_by_flush(&self) -> bool {
        self.params.forces_by_flush
    }

    fn block(&self) -> Bytes {
        Bytes(self.params.format.logical())
    }

    fn physical_block(&self) -> Bytes {
        Bytes(self.params.format.physical())
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) {
        self.catch_up(now);
        if self.scan.is_some() {
            self.interrupt_scan(now);
        }
        let arrived = Arrived { command, at: now, tagged: now };
        if self.in_drive >= self.params.tags {
            self.beyond_tags.push_back(arrived);
            return self.dispatch(now);
        }
        self.accept(now, &arrived);
        self.dispatch(now);
    }

    #[inline]
    fn wake(&self) -> Option<Instant> {
        let answer = self.ready.last().map(|done| done.at);
        match (answer, self.arm_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    #[inline]
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        self.catch_up(now);
        self.hand_over(now, done);
        self.dispatch(now);
    }

    fn counters(&self) -> Vec<Counter> {
        let mut counters = DiskCounters { joined_writes: self.dirty.joined, ..self.counters }.list();
        if self.params.scanned < 1.0 {
            counters.push(("verified_writes", self.counters.verified_writes));
        }
        counters.extend(self.scan.map(|scan| ("interrupted_scans", scan.interrupted)));
        counters.extend(self.recovery.as_ref().map(|recovery| ("recovered_reads", recovery.count)));
        if let Some(flash) = &self.flash {
            counters.extend(flash.counters.list());
        }
        counters
    }

    fn levels(&self) -> Vec<Counter> {
        let mut levels = Vec::new();
        if self.write_back() {
            levels.push(("write_cache_extents", self.dirty.extents().len() as u64));
            levels.push(("write_cache_bytes", self.dirty.sectors() * SECTOR));
        }
        levels.extend(self.flash.as_ref().map(|flash| ("flash_used_bytes", flash.used_bytes())));
        levels
    }

    fn caches(&self, now: Instant) -> Option<CacheState> {
        if self.flash.is_none() && !self.write_back() {
            return None;
        }
        let flash = self.flash.as_ref();
        let count = flash.map(|flash| flash.counters).unwrap_or_default();
        Some(CacheState {
            warmth: flash.map(|flash| flash.warmth(now)),
            asked: flash.is_some_and(Flash::was_asked),
            flash_hits: count.hits,
            flash_misses: count.misses,
            flash_promoted_bytes: count.promoted_bytes,
            flash_used_bytes: flash.map_or(0, Flash::used_bytes),
            destages: self.counters.destages,
            write_cache_extents: self.dirty.extents().len() as u64,
            write_cache_bytes: self.dirty.sectors() * SECTOR,
            media_ios: self.counters.media_reads + self.counters.media_writes,
        })
    }

    fn keep_account(&mut self) {
        self.open_account();
    }

    fn settings(&self) -> &'static [&'static str] {
        self.params.write_caches.switches()
    }

    fn write_cache(&self) -> Option<WriteCacheSetting> {
        Some(self.switches().setting())
    }

    fn check_set(&self, key: &str, value: &str) -> Result<(), SetError> {
        self.switched(key, value).map(drop)
    }

    fn set(&mut self, now: Instant, key: &str, value: &str) -> Result<(), SetError> {
        let caches = self.switched(key, value)?;
        self.switch(now, caches);
        Ok(())
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        self.left_at(now)
    }
}

/// Rounding allowance when a stream continues: a sector that passed this little ago is still met.
const STREAM_SLACK: Span = Span(400);
