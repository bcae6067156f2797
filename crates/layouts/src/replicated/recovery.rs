//! A degraded pool: a daemon is marked out, its copies are made anew elsewhere, beside the clients' I/O.
//!
//! When the daemon is out, CRUSH names other daemons for its placement groups (and moves a few more copies, as it does).
//! At once clients turn to the new daemons only for what these have: until a copy has moved, its group is served by
//! the daemons that had it before. A daemon that gets copies asks for them object by object, `recovery_active` at a time,
//! and pauses after each (`recovery_sleep`): the primary reads the object, sends it, the new daemon writes it to its disk.
//!
//! Leaves out: a daemon that dies with operations in it (one that is out still answers for what has not moved), priorities
//! of recovery in the queue of operations, and writes to an object while it is copied, which do not wait here.

use std::collections::VecDeque;

use hotband_machine::{Entropy, Op, PartReport, Slab};
use hotband_units::Instant;

use super::place::GONE;
use super::{Due, For, Pool};

/// A copy of a group that has another daemon: its objects that have not moved yet.
struct Moving {
    group: u32,
    copy: u8,
    to: u16,
    objects: VecDeque<u32>,
    /// Objects that the new daemon has received, and their places there.
    received: Vec<(u32, u32)>,
    /// Objects on the way.
    busy: u32,
}

/// An object on the way to its new daemon.
#[derive(Clone, Copy)]
struct Transfer {
    moving: u32,
    object: u32,
    /// Whether it has been read and sent.
    written: bool,
    /// Daemons that have not read their part.
    reading: u8,
}

/// Recovery of a pool.
pub(super) struct Recovery {
    /// Daemons that go out.
    outs: Vec<u16>,
    /// Daemons of every group once all has moved.
    after: Vec<u16>,
    moving: Vec<Moving>,
    /// Copies that each daemon is to get, the one it asks for first in front.
    wanted: Vec<VecDeque<u32>>,
    transfers: Slab<Transfer>,
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
            wanted: (0..osds).map(|_| VecDeque::new()).collect(),
            transfers: Slab::default(),
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

    /// What moved, and how long it took: zero while it goes on.
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
        let mut objects: Vec<Vec<u32>> = vec![Vec::new(); self.places.groups() as usize];
        (0..self.places.objects()).for_each(|object| objects[self.places.group_of(object) as usize].push(object));
        for group in 0..self.places.groups() {
            let after = &recovery.after[group as usize * replicas..][..replicas];
            let here = self.places.acting(group).to_vec();
            if self.places.primary(group).is_none() {
                continue; // There is nothing to copy from.
            }
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
                recovery.wanted[usize::from(*to)].push_back(recovery.moving.len() as u32);
                recovery.moving.push(Moving {
                    group,
                    copy: copy as u8,
                    to: *to,
                    objects,
                    received: Vec::new(),
                    busy: 0,
                });
            }
        }
        recovery.began = Some(now);
        recovery.ended = (recovery.misplaced == 0).then_some(now);
        self.recovery = Some(recovery);
        for osd in 0..self.osds.len() {
            for _ in 0..self.params.recovery_active {
                self.recover_more(osd);
            }
        }
    }

    /// Where an object of a group is copied from, or computed: the primary, or as many shards as are needed.
    fn sources(&self, group: u32) -> Vec<(usize, u16)> {
        if self.places.primary(group).is_none() {
            return Vec::new();
        }
        let there = self.places.acting(group).iter().copied().enumerate().filter(|(_, osd)| *osd != GONE);
        there.take(self.spec.erasure.map_or(1, |erasure| erasure.data)).collect()
    }

    /// A daemon asks for the next object that it is to get: the primary reads it.
    pub(super) fn recover_more(&mut self, osd: usize) {
        let Some(recovery) = &mut self.recovery else { return };
        let (number, object) = loop {
            let Some(&number) = recovery.wanted[osd].front() else { return };
            if let Some(object) = recovery.moving[number as usize].objects.pop_front() {
                break (number, object);
            }
            recovery.wanted[osd].pop_front();
        };
        let moving = &mut recovery.moving[number as usize];
        moving.busy += 1;
        let group = moving.group;
        let sources = self.sources(group);
        assert!(!sources.is_empty(), "a drive fails only where the pool was told");
        let reading = sources.len() as u8;
        let Some(recovery) = &mut self.recovery else { return };
        let transfer = recovery.transfers.add(Transfer { moving: number, object, written: false, reading });
        for (copy, osd) in sources {
            let at = self.osds[usize::from(osd)].slice.object_at(self.places.slot(object, copy));
            let extent = (at, self.spec.shard() as u32);
            self.command(usize::from(osd), Op::Read, extent, For::Recovery(transfer), Entropy::INCOMPRESSIBLE);
        }
    }

    /// An object was read and goes to its new daemon, or is written there.
    pub(super) fn recovery_goes_on(&mut self, now: Instant, id: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let transfer = *recovery.transfers.get(id);
        let moving = &recovery.moving[transfer.moving as usize];
        let (group, to) = (moving.group, usize::from(moving.to));
        if transfer.written {
            recovery.transfers.take(id);
            return self.object_moved(now, transfer.moving);
        }
        let of = recovery.transfers.get(id);
        of.reading -= 1;
        if of.reading > 0 {
            return;
        }
        of.written = true;
        // Shards leave when all of them are read, each from its host.
        let arrivals = self.sources(group).into_iter().map(|(_, from)| usize::from(from)).collect::<Vec<_>>();
        let arrivals = if arrivals.is_empty() { vec![to] } else { arrivals };
        let shard = self.spec.shard();
        let at = arrivals.into_iter().map(|from| self.between(now, from, to, shard)).max().unwrap_or(now);
        self.push(at, Due::Received(id));
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

    /// One more object is where it belongs. When the last of a group is, clients turn to the new daemon.
    fn object_moved(&mut self, now: Instant, number: u32) {
        let Some(recovery) = &mut self.recovery else { return };
        let moving = &mut recovery.moving[number as usize];
        moving.busy -= 1;
        recovery.moved += 1;
        let (group, copy, to) = (moving.group, usize::from(moving.copy), moving.to);
        let ended = moving.objects.is_empty() && moving.busy == 0;
        if recovery.moved == recovery.misplaced {
            recovery.ended = Some(now);
        }
        self.osds[usize::from(to)].counters.recovered += 1;
        if ended {
            let after = &recovery.after[group as usize * self.spec.replicas..][..self.spec.replicas];
            self.places.move_copy((group, copy), to, &moving.received, after);
        }
        self.push(now + self.params.recovery_sleep, Due::Recover(u32::from(to)));
    }
}
