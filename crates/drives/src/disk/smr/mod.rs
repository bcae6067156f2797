//! A disk with shingled tracks (SMR), drive-managed or host-aware.
//!
//! Tracks of a band overlap: a band is written from some position to its end, or rewritten as a whole. Writes that are
//! not part of a stream go to the media cache, a circular log; when the drive has been at rest, or the media cache is
//! full, a band is *cleaned*: read, merged with its data in the media cache, and written. Below this layer lies an
//! ordinary [`Disk`], whose arm also serves appends and cleanings, one step at a time.
//!
//! Leaves out: what the drive reads and writes of its map but for the time after an append; bands of a size that
//! differs from zone to zone; tracks that a stream writes over and the drive keeps in memory until it is over; what is
//! left after a loss of power (refused); commands of zoned devices (a trim of whole zones counts as a reset).

mod counters;
mod layer;
mod log;
pub mod params;
mod work;

use std::collections::VecDeque;
use std::mem;

use hotband_machine::{CacheState, Command, Counter, Done, Draw, Drive, Fault, Op, SectorErrors, Versions};
use hotband_units::{Bytes, Instant, Span};

use crate::disk::params::DiskParams;
use crate::disk::smr::counters::SmrCounters;
use crate::disk::smr::layer::{Cleaning, Layer, Piece, Source};
use crate::disk::smr::params::SmrParams;
use crate::disk::smr::work::{Append, Doing, Pending};
use crate::disk::{Arrived, Disk, fault_of};
use crate::parts::geometry::SECTOR;
use crate::parts::seek::SeekCurves;

/// A command of the host that is not yet completed.
#[derive(Clone, Copy, Debug)]
struct Open {
    id: u64,
    arrived: Arrived,
    /// Parts that are not done.
    left: usize,
    fault: Option<Fault>,
}

/// A part of a write that waits for room in the media cache.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    id: u64,
    first: u64,
    count: u64,
}

/// A disk of the catalog with shingled tracks.
pub struct SmrDisk {
    /// The surfaces, with the media cache, and the arm.
    disk: Disk,
    params: SmrParams,
    capacity: Bytes,
    tags: usize,
    layer: Layer,
    open: Vec<Open>,
    next_id: u64,
    /// Commands beyond the tag limit.
    door: VecDeque<Arrived>,
    blocked: VecDeque<Blocked>,
    /// Parts of commands that wait for a step.
    held: VecDeque<Command>,
    /// Flushes that wait until so much of the log is on the media.
    flushes: Vec<(u64, Command)>,
    /// Writes that are to be appended, in order of the log.
    pending: VecDeque<Pending>,
    /// The acknowledged part of them: writes and sectors.
    acknowledged: (usize, u64),
    /// Positions of the log before this one are on the media.
    appended: u64,
    doing: Option<Doing>,
    append: Append,
    cleaning: Option<Cleaning>,
    /// Time when a command last came or was completed.
    active: Instant,
    counters: SmrCounters,
    finished: Vec<Done>,
}

impl SmrDisk {
    /// A drive at rest with an empty media cache; none for a disk without shingled tracks.
    pub fn new(params: DiskParams) -> Option<Self> {
        Self::sharing(params, &mut SeekCurves::default())
    }

    /// Like `new`, but share the seek curves of equal drives.
    pub fn sharing(mut params: DiskParams, curves: &mut SeekCurves) -> Option<Self> {
        let smr = *params.smr.take()?;
        let (capacity, tags) = (params.geometry.capacity, params.tags);
        params.geometry.capacity.0 += smr.reserved() * SECTOR;
        params.tags = usize::MAX;
        Some(Self {
            disk: Disk::sharing(params, curves),
            layer: Layer::new(smr, capacity.0 / SECTOR),
            params: smr,
            capacity,
            tags,
            open: Vec::new(),
            next_id: 0,
            door: VecDeque::new(),
            blocked: VecDeque::new(),
            held: VecDeque::new(),
            flushes: Vec::new(),
            pending: VecDeque::new(),
            acknowledged: (0, 0),
            appended: 0,
            doing: None,
            append: Append::default(),
            cleaning: None,
            active: Instant::ZERO,
            counters: SmrCounters::default(),
            finished: Vec::new(),
        })
    }

    /// Takes a command that has a tag.
    fn accept(&mut self, now: Instant, arrived: Arrived) {
        let command = arrived.command;
        let id = self.next_id;
        self.next_id += 1;
        self.open.push(Open { id, arrived, left: 1, fault: None });
        if let Some(fault) = fault_of(&command, self.disk.block().0, self.capacity.0) {
            self.disk.counters.faults += 1;
            self.disk.in_drive += 1;
            return self.disk.refuse(now, &self.own(id), fault);
        }
        self.counters.count(&command);
        match command.op {
            Op::Read => self.accept_read(now, id),
            Op::Write => self.accept_write(now, id),
            Op::Flush => {
                // What is not acknowledged before it is on the media is no concern of a flush.
                let barrier = if self.volatile() { self.layer.log.head() } else { 0 };
                self.flushes.push((barrier, Command { token: id, ..command }));
            }
            Op::Trim => {
                // Linux resets zones one at a time (`blkdev_zone_mgmt`), each with a command.
                let zones = self.layer.reset(arrived.first(), arrived.end());
                self.disk.in_drive += 1;
                let ready = now + Span(self.disk.params.overheads.cache_read.0 * zones);
                self.disk.answer(now, &self.own(id), ready);
            }
        }
    }

    /// A command under its number here.
    fn own(&self, id: u64) -> Arrived {
        let open = self.open.iter().find(|open| open.id == id).expect("parts of a command go before it");
        Arrived { command: Command { token: id, ..open.arrived.command }, ..open.arrived }
    }

    /// Memory answers a command, or its last part.
    fn answer(&mut self, now: Instant, id: u64) {
        self.disk.in_drive += 1;
        let arrived = self.own(id);
        self.disk.answer(now, &arrived, now);
    }

    fn open_mut(&mut self, id: u64) -> &mut Open {
        self.open.iter_mut().find(|open| open.id == id).expect("parts of a command go before it")
    }

    fn accept_read(&mut self, now: Instant, id: u64) {
        let arrived = self.own(id);
        let sources = self.layer.find(arrived.first(), arrived.end());
        let media: Vec<(u64, u64)> = sources.into_iter().filter_map(|source| self.on_media(source)).collect();
        if media.is_empty() {
            self.disk.counters.cache_hits += 1;
            return self.answer(now, id);
        }
        self.open_mut(id).left = media.len();
        for (first, count) in media {
            self.pass(now, Command { offset: first * SECTOR, len: (count * SECTOR) as u32, ..arrived.command });
        }
    }

    /// Sectors of the media that a part of a read needs; none if it is still in memory.
    fn on_media(&mut self, source: Source) -> Option<(u64, u64)> {
        match source {
            Source::Media(first, count) => Some((first, count)),
            Source::Log(at, count) => {
                self.counters.cache_reads += 1;
                (at < self.appended).then(|| (self.layer.in_log(at), count))
            }
        }
    }

    fn accept_write(&mut self, now: Instant, id: u64) {
        let arrived = self.own(id);
        let pieces = self.layer.write(arrived.first(), arrived.end());
        // Pieces that lie one behind the other on the media are one command.
        let mut to_bands: Vec<(u64, u64)> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.streams) {
            let home = self.layer.home(piece.first);
            match to_bands.last_mut().filter(|(first, count)| first + count == home) {
                Some((_, count)) => *count += piece.count,
                None => to_bands.push((home, piece.count)),
            }
        }
        let to_cache: Vec<&Piece> = pieces.iter().filter(|piece| !piece.streams).collect();
        self.open_mut(id).left = to_bands.len() + to_cache.len();
        for (first, count) in to_bands {
            self.counters.streamed_bytes += count * SECTOR;
            self.pass(now, Command { offset: first * SECTOR, len: (count * SECTOR) as u32, ..arrived.command });
        }
        for piece in to_cache {
            if self.blocked.is_empty() && self.layer.log.has_room(piece.count) {
                self.take_in(now, id, (piece.first, piece.count));
            } else {
                self.counters.blocked_writes += 1;
                self.blocked.push_back(Blocked { id, first: piece.first, count: piece.count });
            }
        }
    }

    /// A command for the arm continues, or waits for a step that is due.
    fn pass(&mut self, now: Instant, command: Command) {
        if self.doing.is_none() && self.is_due() {
            self.held.push_back(command);
        } else {
            self.disk.submit(now, command);
        }
    }

    /// Completes what the disk below has finished; a command completes with its last part.
    fn hand_over(&mut self, done: &mut Vec<Done>) {
        for mut finished in self.finished.drain(..) {
            let index = self.open.iter().position(|open| open.id == finished.token).expect("it was accepted");
            let open = &mut self.open[index];
            open.left -= 1;
            open.fault = open.fault.or(finished.fault);
            if open.left > 0 {
                continue;
            }
            let open = self.open.remove(index);
            let command = open.arrived.command;
            finished.token = command.token;
            finished.fault = open.fault;
            finished.bytes_back = if command.op == Op::Read && open.fault.is_none() { command.len } else { 0 };
            // What it waited for here: a step, room, an earlier part.
            let total = finished.at.since(open.arrived.at);
            let waited = total - finished.times.total();
            if command.op == Op::Flush {
                // With a tag, a flush waits for the media alone.
                let queue = open.arrived.tagged.since(open.arrived.at);
                finished.times.queue += queue;
                finished.times.transfer += waited - queue;
            } else {
                finished.times.queue += waited;
            }
            self.counters.command += total;
            self.active = self.active.max(finished.at);
            done.push(finished);
        }
    }

    /// All that can be done at `now`.
    fn go_on(&mut self, now: Instant, done: &mut Vec<Done>) {
        loop {
            let mut finished = mem::take(&mut self.finished);
            self.disk.advance(now, &mut finished);
            self.finished = finished;
            self.hand_over(done);
            self.end_step(now);
            while self.open.len() < self.tags
                && let Some(next) = self.door.pop_front()
            {
                self.accept(now, Arrived { tagged: now, ..next });
            }
            self.admit(now);
            self.begin_step(now);
            if self.disk.wake().is_none_or(|at| at > now) && self.doing_until().is_none_or(|until| until > now) {
                return;
            }
        }
    }
}

impl Drive for SmrDisk {
    fn kind(&self) -> &'static str {
        "smr"
    }

    fn capacity(&self) -> Bytes {
        self.capacity
    }

    fn block(&self) -> Bytes {
        self.disk.block()
    }

    fn sector_errors(&self) -> Option<SectorErrors> {
        self.disk.sector_errors()
    }

    fn physical_block(&self) -> Bytes {
        self.disk.physical_block()
    }

    fn draw(&self) -> Option<Draw> {
        self.disk.draw()
    }

    fn activity(&self) -> [Span; 3] {
        self.disk.activity()
    }

    fn waiting(&self) -> Option<u64> {
        Some((self.open.len() + self.door.len()) as u64)
    }

    /// A host resets zones. Some drives that manage their shingles themselves report TRIM: what it does is not modelled.
    fn takes_trims(&self) -> bool {
        self.layer.has_zones()
    }

    fn volatile(&self) -> bool {
        self.disk.volatile()
    }

    fn forces_by_flush(&self) -> bool {
        self.disk.forces_by_flush()
    }

    fn submit(&mut self, now: Instant, command: Command) {
        let mut done = mem::take(&mut self.finished);
        self.disk.advance(now, &mut done);
        self.finished = done;
        self.active = now;
        self.end_step(now);
        let arrived = Arrived { command, at: now, tagged: now };
        if self.open.len() >= self.tags {
            self.door.push_back(arrived);
        } else {
            self.accept(now, arrived);
        }
        self.admit(now);
        self.begin_step(now);
    }

    fn wake(&self) -> Option<Instant> {
        let finished = self.finished.iter().map(|done| done.at);
        finished.chain(self.disk.wake()).chain(self.doing_until()).chain(self.step_from()).min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        self.go_on(now, done);
    }

    fn counters(&self) -> Vec<Counter> {
        self.counters.over(self.disk.counters())
    }

    fn levels(&self) -> Vec<Counter> {
        let mut levels = self.disk.levels();
        levels.push(("media_cache_used_bytes", self.layer.log.used() * SECTOR));
        levels.push(("media_cache_live_bytes", self.layer.log.live() * SECTOR));
        levels.push(("media_cache_extents", self.layer.log.extents() as u64));
        levels
    }

    fn caches(&self, now: Instant) -> Option<CacheState> {
        self.disk.caches(now)
    }

    fn keep_account(&mut self) {}

    /// Not known: a run that loses power is refused (crates/engine/src/events/support.rs).
    fn cut_power(&mut self, _: Instant) -> Versions {
        Versions::default()
    }
}
