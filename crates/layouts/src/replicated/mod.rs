//! A replicated pool as Ceph keeps one: an image cut into objects, objects in placement groups, groups on daemons by
//! CRUSH, every daemon with queues, memory, a log and a slice of a disk (docs/models/pool.md).
//!
//! Reads go to the primary daemon. Writes go to all daemons of the group and are completed when all have committed.
//!
//! Leaves out: monitors and maps, snapshots, scrubbing, partial blocks,
//! the limit that a host's cores set to all its daemons together, and reads of what is deferred and not yet in place.

mod build;
mod commit;
mod erasure;
mod gone;
mod laid;
mod memory;
mod object_io;
mod ops;
mod osd;
mod params;
mod place;
mod recent;
mod recovery;

mod spec;
mod tables;
mod wire;

use std::collections::VecDeque;
use std::sync::Arc;

use hotband_machine::{
    EventError, EventQueue, Fault, MemberCommand, Op, PartReport, Random, Served, Service, ServiceIo, ServiceOut, Slab,
    Times,
};
use hotband_units::{Bytes, Instant, Span};

pub(crate) use memory::{Memory, Policy};
use object_io::{HeldBack, Io, ObjectIo, Sub, Task};
use osd::{Osd, Turns};
use place::{Cluster, Places};
use recovery::Recovery;
use wire::{Cpu, Nic};

use crate::{ERASURE, REPLICATED};

pub use build::{build, memory};
pub use params::OsdParams;
pub use spec::{Erasure, FailureDomain, NetworkSpec, OutSpec, PoolSpec};

/// Due event: its kind in the top bits, a number below.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// An operation reaches a daemon.
    Arrive(u32),
    /// The thread of a shard is done with the processor: daemon and shard.
    Cpu(u32),
    /// The committing thread of a daemon is ready to write.
    Commit(u32),
    /// A replica's answer reaches the primary.
    Ack(u32),
    /// A completion reaches the client.
    Reply(u32),
    /// The pause after an object that was recovered is over.
    Recover(u32),
    /// An object that is recovered reaches its new daemon.
    Received(u32),
    /// A daemon is marked out.
    Out,
    /// The database of a daemon has processed its reads, or is about to write.
    Tables(u32),
}

const KIND_SHIFT: u32 = 21;

impl Due {
    fn payload(self) -> u32 {
        let (kind, number) = match self {
            Self::Arrive(sub) => (0, sub),
            Self::Cpu(shard) => (1, shard),
            Self::Commit(osd) => (2, osd),
            Self::Ack(sub) => (3, sub),
            Self::Reply(piece) => (4, piece),
            Self::Recover(transfer) => (5, transfer),
            Self::Received(transfer) => (6, transfer),
            Self::Tables(osd) => (7, osd),
            // The number that no daemon has: events have room for eight kinds.
            Self::Out => (7, (1 << KIND_SHIFT) - 1),
        };
        debug_assert!(number >> KIND_SHIFT == 0, "what is under way, daemons and shards are bounded below 2^21");
        kind << KIND_SHIFT | number
    }

    fn of(payload: u32) -> Self {
        let number = payload & ((1 << KIND_SHIFT) - 1);
        match payload >> KIND_SHIFT {
            0 => Self::Arrive(number),
            1 => Self::Cpu(number),
            2 => Self::Commit(number),
            3 => Self::Ack(number),
            4 => Self::Reply(number),
            5 => Self::Recover(number),
            6 => Self::Received(number),
            _ if number == (1 << KIND_SHIFT) - 1 => Self::Out,
            _ => Self::Tables(number),
        }
    }
}

/// Purpose of a command to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Metadata of an operation.
    Metadata(u32),
    /// Data that an operation reads.
    Read(u32),
    /// Data that an operation writes before its metadata.
    Data(u32),
    /// The commit of a daemon.
    Commit(u32),
    /// A deferred write of a daemon.
    Place(u32),
    /// The write of an object that is recovered.
    Recovery(u32),
    /// The read of an object, or of a shard of it, that is recovered.
    RecoveryRead(u32),
    /// The database of a daemon.
    Tables(u32),
}

impl For {
    fn token(self) -> u64 {
        let (kind, number) = match self {
            Self::Metadata(sub) => (0, sub),
            Self::Read(sub) => (1, sub),
            Self::Data(sub) => (2, sub),
            Self::Commit(osd) => (3, osd),
            Self::Place(osd) => (4, osd),
            Self::Recovery(slot) => (5, slot),
            Self::Tables(osd) => (6, osd),
            Self::RecoveryRead(reading) => (7, reading),
        };
        kind << 32 | u64::from(number)
    }

    fn of(token: u64) -> Self {
        let number = token as u32;
        match token >> 32 {
            0 => Self::Metadata(number),
            1 => Self::Read(number),
            2 => Self::Data(number),
            3 => Self::Commit(number),
            4 => Self::Place(number),
            5 => Self::Recovery(number),
            6 => Self::Tables(number),
            _ => Self::RecoveryRead(number),
        }
    }
}

/// A pool in a running machine.
pub struct Pool {
    spec: PoolSpec,
    params: OsdParams,
    capacity: u64,
    places: Places,
    osds: Vec<Osd>,
    /// Disks of the daemons on each member.
    turns: Vec<Turns>,
    ios: Slab<Io>,
    pieces: Slab<ObjectIo>,
    subs: Slab<Sub>,
    /// Pieces under way, and those that the client holds back.
    under_way: u32,
    held_back: VecDeque<HeldBack>,
    events: EventQueue,
    commands: Vec<MemberCommand>,
    served: Vec<Served>,
    cpu: Cpu,
    /// The client's library is one thread.
    client_free: Instant,
    client_out: Nic,
    client_in: Nic,
    /// Time when the client's thread that takes data from the wire is free.
    taking_free: Instant,
    /// Cards of the hosts to each other.
    host_out: Vec<Nic>,
    recovery: Option<Recovery>,
    /// Where copies would go if daemons went out.
    cluster: Cluster,
    /// Objects that each daemon has room for.
    room: Vec<u64>,
    /// Whether the drive under each daemon has failed; empty while none has.
    dead: Vec<bool>,
}

impl Pool {
    /// A pool whose image was filled from front to back. `sizes` are the bytes of every daemon's slice, in the order of
    /// members and slices; `weights` and `hosts` belong to them.
    fn new(spec: PoolSpec, params: OsdParams, built: Built, random: Random) -> Self {
        let Built { capacity, places, slices, room, cluster, hosts } = built;
        let speed = spec.clock_mhz.unwrap_or(params.reference_mhz) as f64 / params.reference_mhz as f64;
        let seen = objects_seen(&places, slices.len(), params.shards, false);
        let at = |osd: usize| (hosts[osd], (osd / spec.osds_per_member) as u16);
        let osds: Vec<Osd> = (0..slices.len())
            .map(|osd| Osd::new(osd, (slices[osd], spec.shard()), at(osd), &seen[osd], &params))
            .collect();
        let mut pool = Self {
            capacity,
            turns: vec![Turns::default(); slices.len() / spec.osds_per_member],
            osds,
            ios: Slab::default(),
            pieces: Slab::default(),
            subs: Slab::default(),
            under_way: 0,
            held_back: VecDeque::new(),
            events: EventQueue::default(),
            commands: Vec::new(),
            served: Vec::new(),
            cpu: Cpu::new(random, params.cpu_spread, speed),
            client_free: Instant::ZERO,
            client_out: Nic::new(spec.client_network),
            client_in: Nic::new(spec.client_network),
            taking_free: Instant::ZERO,
            host_out: vec![Nic::new(spec.cluster_network); spec.hosts],
            places,
            spec,
            params,
            recovery: None,
            cluster,
            room,
            dead: Vec::new(),
        };
        pool.warm_metadata();
        pool
    }

    /// Filling the image left the metadata of the objects written last in memory: each shard keeps that of as many
    /// objects of its groups as fit. They are found when the shard is first used.
    fn warm_metadata(&mut self) {
        let shards = self.params.shards;
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); self.osds.len() * shards];
        for group in 0..self.places.groups() {
            for osd in self.places.acting(group) {
                groups[usize::from(*osd) * shards + group as usize % shards].push(group);
            }
        }
        let of_groups = self.places.objects_of_groups();
        for (shard, groups) in self.osds.iter_mut().flat_map(|osd| &mut osd.shards).zip(groups) {
            let Some(onodes) = &mut shard.onodes else { continue };
            let objects = groups.iter().map(|group| of_groups[*group as usize] as usize).sum();
            let (laid, room) = (Arc::clone(self.places.laid()), onodes.capacity());
            onodes.keep_first(objects, move || laid.last_written(&groups, room));
        }
    }

    fn push(&mut self, at: Instant, due: Due) {
        self.events.push(at, due.payload());
    }

    /// A command to the disk under a daemon.
    fn command(
        &mut self,
        osd: usize,
        op: Op,
        (offset, len): (u64, u32),
        purpose: For,
        entropy: hotband_machine::Entropy,
    ) {
        let (token, member, fua, version) = (purpose.token(), osd as u16, false, 0);
        self.commands.push(MemberCommand { token, member, op, offset, len, fua, version, entropy });
    }

    /// Time of a message from one host to another, or from a daemon to another on the same one.
    fn between(&mut self, now: Instant, from: usize, to: usize, bytes: u64) -> Instant {
        let (from, to) = (self.osds[from].host, self.osds[to].host);
        let latency = self.spec.cluster_network.latency;
        if from == to { now + latency } else { self.host_out[usize::from(from)].send(now, bytes) + latency }
    }

    /// A piece of an I/O is done: the last one answers the I/O.
    fn reply(&mut self, now: Instant, id: u32) {
        let piece = self.pieces.take(id);
        self.send_held_back(now);
        let io = self.ios.get(piece.io);
        io.fault = io.fault.or(piece.fault);
        io.pieces -= 1;
        if io.pieces > 0 {
            return;
        }
        let io = self.ios.take(piece.io);
        let mut times = Times { overhead: piece.cpu, link: piece.wire, ..Times::default() }.then(&piece.disk);
        // What is not accounted for is waiting: for a thread, a card, or the commit before.
        times.queue += Span(now.since(io.submitted).0.saturating_sub(times.total().0));
        self.served.push(Served { token: io.token, times, fault: io.fault });
    }

    fn act(&mut self, now: Instant, due: Due) {
        match due {
            Due::Arrive(sub) => self.arrive(now, sub),
            Due::Cpu(shard) => self.cpu_done(now, shard),
            Due::Commit(osd) => self.take_transactions(now, osd as usize),
            Due::Ack(sub) if self.subs.get(sub).task == Task::Read => self.shard_arrived(now, sub),
            Due::Ack(sub) => self.copy_committed(now, sub),
            Due::Reply(piece) => self.reply(now, piece),
            Due::Recover(transfer) => self.recover_more(now, transfer),
            Due::Received(transfer) => self.received(transfer),
            Due::Out => self.recover(now),
            Due::Tables(osd) => self.go_on_with_tables(osd as usize),
        }
    }
}

/// Objects of the groups of every daemon's shards. If a daemon will be out, groups move: any shard may see any object.
fn objects_seen(places: &Places, osds: usize, shards: usize, moving: bool) -> Vec<Vec<usize>> {
    let all = places.objects() as usize;
    let mut seen = vec![vec![if moving { all } else { 0 }; shards]; osds];
    for (group, objects) in (0..).zip(places.objects_of_groups()).filter(|_| !moving) {
        places
            .acting(group)
            .iter()
            .for_each(|osd| seen[usize::from(*osd)][group as usize % shards] += *objects as usize);
    }
    seen
}

/// Input of a pool besides its specs.
struct Built {
    /// Size of the image in bytes.
    capacity: u64,
    places: Places,
    /// Bytes of every daemon's slice.
    slices: Vec<u64>,
    /// Objects that each daemon has room for.
    room: Vec<u64>,
    cluster: Cluster,
    /// Host of every daemon.
    hosts: Vec<u16>,
}

impl Service for Pool {
    fn kind(&self) -> &'static str {
        if self.spec.erasure.is_some() { ERASURE } else { REPLICATED }
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.capacity)
    }

    fn note_volatile(&mut self, members: &[bool]) {
        self.osds.iter_mut().zip(members).for_each(|(osd, volatile)| osd.flushed = *volatile);
    }

    fn submit(&mut self, now: Instant, io: ServiceIo) {
        self.take(now, io);
    }

    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>) {
        match For::of(token) {
            For::Metadata(sub) => self.metadata_read(now, sub, times, fault),
            For::Read(sub) => self.data_read(now, sub, times, fault),
            For::Data(sub) => self.data_written(now, sub, times, fault),
            For::Commit(osd) => self.commit_goes_on(now, osd as usize, times, fault),
            For::Place(osd) => self.placed(osd as usize),
            For::Recovery(transfer) => self.object_moved(now, transfer),
            For::RecoveryRead(reading) => self.read_of_recovery_done(now, reading),
            For::Tables(osd) => self.work_on_table(now, osd as usize),
        }
    }

    fn wake(&self) -> Option<Instant> {
        self.events.peek().map(|(at, _)| at)
    }

    fn advance(&mut self, now: Instant, out: &mut ServiceOut) {
        while let Some((at, payload)) = self.events.peek() {
            if at > now {
                break;
            }
            self.events.pop();
            self.act(at, Due::of(payload));
        }
        out.commands.append(&mut self.commands);
        out.served.append(&mut self.served);
    }

    fn member_failed(&mut self, now: Instant, member: u16) {
        self.lose(now, member);
    }

    fn lost(&self) -> u64 {
        self.places.lost() * self.spec.object
    }

    fn is_whole(&self) -> bool {
        self.places.is_whole()
    }

    fn is_recovering(&self) -> bool {
        !self.dead.is_empty() && self.recovery.as_ref().is_some_and(Recovery::is_under_way)
    }

    fn expect_out(&mut self, daemons: &[u32], failed: bool) -> Result<(), EventError> {
        let prepared = self.prepare_out(daemons.iter().map(|osd| *osd as u16).collect(), failed);
        prepared.map_err(|why| EventError::Out { why })
    }

    fn check_out(&self, daemon: u32) -> Result<(), EventError> {
        match &self.recovery {
            _ if daemon as usize >= self.osds.len() => Err(EventError::UnknownPart),
            Some(recovery) if recovery.outs() == [daemon as u16] && !recovery.has_begun() => Ok(()),
            _ => Err(EventError::NotExpected { what: "osd-out" }),
        }
    }

    fn mark_out(&mut self, now: Instant, _: u32) {
        self.recover(now);
    }

    fn report(&self) -> Vec<PartReport> {
        let osds = self.osds.iter().enumerate().map(|(number, osd)| PartReport {
            id: format!("osd{number}"),
            kind: "osd",
            counters: osd.counters.list(),
            at_end: vec![
                ("data_cache_bytes", osd.shards.iter().map(|shard| shard.data.len() as u64 * params::BLOCK).sum()),
                ("objects", u64::from(self.places.held()[number])),
                ("deferred", osd.deferred.len() as u64),
            ],
        });
        let cards = [("client_out", &self.client_out), ("client_in", &self.client_in)].into_iter().map(|(id, card)| {
            let counters = vec![("busy_ns", card.busy.0), ("bytes", card.bytes)];
            PartReport { id: id.to_owned(), kind: "network", counters, at_end: Vec::new() }
        });
        osds.chain(cards).chain(self.recovery.as_ref().map(Recovery::report)).collect()
    }
}
