//! A degraded pool: a daemon is marked out, its copies are made again elsewhere, during the clients' I/O.
//!
//! When the daemon is out, CRUSH names other daemons for its placement groups (and moves a few more copies, as it
//! does). The daemon continues serving what it has until that has moved, but no longer leads: the first daemon that
//! CRUSH names is the primary at once where it has a copy (Ceph: `calc_replicated_acting` prefers the first of the up
//! set that is complete). Shards of coded objects keep their order, and so their primary.
//!
//! Copies move group by group. A group first needs one of the `recovery_active` places that its primary has for what it
//! sends, then one of those that its new daemon has for what it receives (Ceph: `local_reserver` and `remote_reserver`,
//! `osd_max_backfills` each). It keeps both to its end. One object of it is on the way at a time: the primary reads it
//! and sends it, the new daemon writes it to its disk, and a pause follows (`recovery_sleep`). Groups that miss a copy
//! come before those that only move one. A shard of coded objects that is still somewhere is read there alone, one that
//! is nowhere is computed from as many others as are needed (Ceph: `minimum_to_decode`).
//!
//! Reads take their turn in the daemon's shard, behind the operations that wait there, and hold its thread.
//!
//! Leaves out: turns of what is written for a recovery, processor times, more than one object of a group on the way
//! (`osd_recovery_max_active`), and writes to an object while it is copied, which do not wait here.

use std::collections::VecDeque;

use hotband_machine::{Entropy, Op, PartReport, Slab};
use hotband_units::Instant;

use super::place::GONE;
use super::{Due, For, Pool, Sub, Task};

/// A copy of a group that gets another daemon: its objects that have not moved yet.
struct Moving {
    group: u32,
    copy: u8,
    /// The primary, whose place for sending it takes.
    from: u16,
    to: u16,
    /// Whether the copy is nowhere until it has moved.
    is_missing: bool,
    objects: VecDeque<u32>,
    /// Objects that the new daemon has received, and their places there.
    received: Vec<(u32, u32)>,
}

/// An object on the way to its new daemon.
#[derive(Clone, Copy)]
struct Transfer {
    moving: u32,
    object: u32,
    /// Daemons that have not read their part.
    reading: u8,
}

/// Data that a daemon reads of an object in motion.
#[derive(Clone, Copy)]
struct Reading {
    transfer: u32,
    osd: u16,
    shard: usize,
    extent: (u64, u32),
}

/// Slots that a daemon has reserved for sending, or for receiving.
#[derive(Clone, Default)]
struct Reserved {
    taken: usize,
    /// Copies that wait for a place, in their order.
    waiting: VecDeque<u32>,
}

impl Reserved {
    /// The next that waits, where one of `places` is free: it has that place now.
    fn grant(&mut self, places: usize) -> Option<u32> {
        let next = if self.taken < places { self.waiting.pop_front() } else { None };
        self.taken += usize::from(next.is_some());
        next
    }
}

/// Recovery of a pool.
pub(super) struct Recovery {
    /// Daemons that go out.
    outs: Vec<u16>,
    /// Daemons of every group once all has moved.
    after: Vec<u16>,
    moving: Vec<Moving>,
    /// Slots of every daemon for sending as a primary, and for receiving.
    sending: Vec<Reserved>,
    receiving: Vec<Reserved>,
    transfers: Slab<Transfer>,
    readings: Slab<Reading>,
    began: Option<Instant>,
    ended: Option<Instant>,
    /// Copies of objects that had to move.
    misplaced: u64,
    moved: u64,
}

impl Recovery {
    pub fn new(outs: Vec<u16>, after: Vec<u16>, osds: usize) -> Self {
        Self {
            outs,
            after,
            moving: Vec::new(),
            sending: vec![Reserved::default(); osds],
            receiving: vec![Reserved::default(); osds],
            transfers: Slab::default(),
            readings: Slab::default(),
            began: None,
            ended: None,
            misplaced: 0,
            moved: 0,
        }
    }

    /// The daemons that go out.
    pub fn outs(&self) -> &[u16] {
        &self.outs
    }

    /// Whether the daemon is out.
    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Whether copies are on their way.
    pub fn is_under_way(&self) -> bool {
        self.began.is_some() && self.ended.is_none()
    }

    /// Amount moved, and its time: zero while it continues.
    pub fn report(&self) -> PartReport {
        let took = self.began.zip(self.ended).map_or(0, |(began, ended)| ended.since(began).0);
        let at_end = vec![("objects_misplaced", self.misplaced - self.moved), ("time_to_recover_ns", took)];
        let counters = vec![("objects_moved", self.moved)];
        PartReport { id: "recovery".into(), kind: "recovery", counters, at_end }
    }
}

impl Pool {
    /// A daemon is marked out: every copy that CRUSH now puts elsewhere has to move.
    pub(super) fn recover(&mut self, now: Instant) {
        if self.recovery.as_ref().is_none_or(Recovery::has_begun) {
            return;
        }
        let Some(mut recovery) = self.recovery.take() else { return };
        let replicas = self.spec.replicas;
        self.places.lead(&recovery.after);
        let mut objects: Vec<Vec<u32>> = vec![Vec::new(); self.places.groups() as usize];
        (0..self.places.objects()).for_each(|object| objects[self.places.group_of(object) as usize].push(object));
        for group in 0..self.places.groups() {
            let after = &recovery.after[group as usize * replicas..][..replicas];
            let here = self.places.acting(group).to_vec();
            let Some(from) = self.places.primary(group) else {
                continue; // There is nothing to copy from.
            };
            let is_gone = |copy: &usize| here[*copy] == GONE;
            let mut gone: Vec<usize> = (0..replicas).filter(|c| is_gone(c) || !after.contains(&here[*c])).collect();
            gone.sort_by_key(|copy| !is_gone(copy));
            let new = after.iter().filter(|osd| **osd != GONE && !here.contains(osd));
            for (copy, to) in gone.into_iter().zip(new) {
                let objects: VecDeque<u32> = objects[group as usize].iter().copied().collect();
                if objects.is_empty() {
                    self.places.move_copy((group, copy), *to, &[], after);
                    continue;
                }
                recovery.misplaced += objects.len() as u64;
                recovery.moving.push(Moving {
                    group,
                    copy: copy as u8,
                    from,
                    to: *to,
                    is_missing: is_gone(&copy),
                    objects,
                    received: Vec::new(),
                });
            }
        }
        recovery.began = Some(now);
        recovery.ended = (recovery.misplaced == 0).then_some(now);
        self.recovery = Some(recovery);
        self.reserve_all(now);
    }

    /// Every copy that has to move asks its primary for a place, those that are nowhere first.
    fn reserve_all(&mut self, now: Instant) {
        let Some(recovery) = &mut self.recovery else { return };
        for is_missing in [true, false] {
            for (number, moving) in (0..).zip(&recovery.moving).filter(|(_, moving)| moving.is_missing == is_missing) {
                recovery.sending[usize::from(moving.from)].waiting.push_back(number);
            }
        }
        for osd in 0..self.osds.len() {
            self.grant(now, osd);
        }
    }

    /// A daemon hands out the places that it has free: of those that now may send, each asks its new daemon.
    fn grant(&mut self, now: Instant, osd: usize) {
        let places = self.params.recovery_active;
        let Some(recovery) = &mut self.recovery else { return };
        let mut osds = vec![osd];
        while let Some(number) = recovery.sending[osd].grant(places) {
            let to = usize::from(recovery.moving[number as usize].to);
            recovery.receiving[to].waiting.push_back(number);
            osds.push(to);
        }
        let mut granted = Vec::new();
        for to in osds {
            granted.extend(std::iter::from_fn(|| recovery.receiving[to].grant(places)));
        }
        for number in granted {
            self.read_next(now, number);
        }
    }

    /// Whether a daemon does not lead the group of a client's operation any more: the client asks the one that does.
    pub(super) fn has_handed_over(&self, sub: &Sub) -> bool {
        if sub.task != Task::Client || !self.recovery.as_ref().is_some_and(Recovery::has_begun) {
            return false;
        }
        let object = self.pieces.at(sub.piece).object;
        self.places.primary(self.places.group_of(object)).is_some_and(|primary| primary != sub.osd)
    }

    /// The copies, with their daemons, that a copy is made from: the primary's, or shards.
    fn sources(&self, moving: &Moving) -> Vec<(usize, u16)> {
        let acting = self.places.acting(moving.group);
        let present = || acting.iter().copied().enumerate().filter(|(_, osd)| *osd != GONE);
        match self.spec.erasure {
            None => present().take(1).collect(),
            Some(_) if !moving.is_missing => vec![(usize::from(moving.copy), acting[usize::from(moving.copy)])],
            Some(erasure) => present().take(erasure.data).collect(),
        }
    }

    /// The next object of a copy that moves is read.
    fn read_next(&mut self, now: Instant, number: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let moving = &mut recovery.moving[number as usize];
        let object = moving.objects.pop_front().expect("a copy keeps its places until its last object has moved");
        let Some(recovery) = &self.recovery else { return };
        let sources = self.sources(&recovery.moving[number as usize]);
        assert!(!sources.is_empty(), "a drive fails only where the pool was told");
        let (reading, shard) = (sources.len() as u8, self.shard_of(object));
        let Some(recovery) = &mut self.recovery else { return };
        let transfer = recovery.transfers.add(Transfer { moving: number, object, reading });
        for (copy, osd) in sources {
            let at = self.osds[usize::from(osd)].slice.object_at(self.places.slot(object, copy));
            let reading = Reading { transfer, osd, shard, extent: (at, self.spec.shard() as u32) };
            let Some(recovery) = &mut self.recovery else { return };
            let id = recovery.readings.add(reading);
            let queue = &mut self.osds[usize::from(osd)].shards[shard];
            queue.recovery.waiting.push_back(id);
            if queue.is_free() {
                self.next_op(now, usize::from(osd), shard);
            }
        }
    }

    /// The thread of a shard starts a read of the recovery.
    pub(super) fn read_for_recovery(&mut self, id: u32) {
        let Some(recovery) = &self.recovery else { return };
        let Reading { osd, extent, .. } = recovery.readings.at(id);
        self.command(usize::from(osd), Op::Read, extent, For::RecoveryRead(id), Entropy::INCOMPRESSIBLE);
    }

    /// A daemon has finished its reads. The object goes to its new daemon when all have; shards leave
    /// then, each from its host.
    pub(super) fn read_of_recovery_done(&mut self, now: Instant, id: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let Reading { transfer, osd, shard, .. } = recovery.readings.take(id);
        let state = recovery.transfers.get(transfer);
        state.reading -= 1;
        let (is_read, number) = (state.reading == 0, state.moving as usize);
        if is_read {
            let moving = &recovery.moving[number];
            let (to, bytes) = (usize::from(moving.to), self.spec.shard());
            let sources = self.recovery.as_ref().map(|recovery| self.sources(&recovery.moving[number]));
            let arrivals =
                sources.into_iter().flatten().map(|(_, from)| self.between(now, usize::from(from), to, bytes));
            let at = arrivals.max().unwrap_or(now);
            self.push(at, Due::Received(transfer));
        }
        self.osds[usize::from(osd)].shards[shard].recovery.is_under_way = false;
        self.next_op(now, usize::from(osd), shard);
    }

    /// The new daemon has the bytes of an object and writes them to its disk.
    pub(super) fn received(&mut self, id: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let Transfer { moving, object, .. } = *recovery.transfers.get(id);
        let moving = &mut recovery.moving[moving as usize];
        let to = moving.to;
        let slot = self.places.take_slot(to);
        moving.received.push((object, slot));
        let at = self.osds[usize::from(to)].slice.object_at(slot);
        let extent = (at, self.spec.shard() as u32);
        self.command(usize::from(to), Op::Write, extent, For::Recovery(id), Entropy::INCOMPRESSIBLE);
    }

    /// Counts a moved object. After the last one of a group, clients use the new daemon. A pause follows.
    pub(super) fn object_moved(&mut self, now: Instant, id: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let number = recovery.transfers.at(id).moving;
        let moving = &recovery.moving[number as usize];
        recovery.moved += 1;
        let (group, copy, to) = (moving.group, usize::from(moving.copy), moving.to);
        if recovery.moved == recovery.misplaced {
            recovery.ended = Some(now);
        }
        self.osds[usize::from(to)].counters.recovered += 1;
        if moving.objects.is_empty() {
            let after = &recovery.after[group as usize * self.spec.replicas..][..self.spec.replicas];
            self.places.move_copy((group, copy), to, &moving.received, after);
        }
        self.push(now + self.params.recovery_sleep, Due::Recover(id));
    }

    /// The pause after an object is over: the next of its group follows, or the group gives its places back.
    pub(super) fn recover_more(&mut self, now: Instant, id: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let number = recovery.transfers.take(id).moving;
        let moving = &recovery.moving[number as usize];
        if !moving.objects.is_empty() {
            return self.read_next(now, number);
        }
        let (from, to) = (usize::from(moving.from), usize::from(moving.to));
        recovery.sending[from].taken -= 1;
        recovery.receiving[to].taken -= 1;
        self.grant(now, from);
        self.grant(now, to);
    }
}
