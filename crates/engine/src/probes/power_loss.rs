//! Acknowledged writes that a power cut loses. docs/models/repair.md has the definitions.
//!
//! The ledger knows what the host was promised: for every byte the newest write that was acknowledged. The drives know
//! what they still hold. Writes to the same bytes that were under way together have no order: any of them may be the
//! last. A byte is therefore good if a drive holds its newest acknowledged write, a later one, or one that was under
//! way when that write was submitted.
//!
//! Leaves out: parity. A stripe whose parity does not fit its data (the write hole) has lost nothing until a member
//! fails.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use hotband_machine::{Completion, Event, Expected, Io, Machine, NodeRef, OnDrive, Op, Part, Versions, What};
use hotband_units::{Instant, Span};
use serde::Serialize;

use crate::control::RunError;
use crate::power_cut::PowerCut;
use crate::probes::probe::{Answered, Findings, Probe, RunEnd};

/// Power loss in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PowerLoss {
    /// When, since the measured time began.
    pub at_ns: u64,
    /// Writes acknowledged since the run began.
    pub acknowledged_writes: u64,
    /// Bytes whose newest acknowledged write is on no drive.
    pub lost_bytes: u64,
    /// Writes that have such bytes.
    pub lost_writes: u64,
    /// Sectors that hold a part of a write: drives end the sector they have begun, so there are none.
    pub torn_sectors: u64,
    /// Losses by stream.
    pub streams: Vec<StreamLoss>,
    /// Bytes that are good on one copy and old on another.
    pub stale_copy_bytes: u64,
}

/// Losses of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamLoss {
    /// Its name.
    pub name: String,
    /// Bytes whose newest acknowledged write was its own and is lost.
    pub lost_bytes: u64,
    /// Its writes with such bytes.
    pub lost_writes: u64,
}

/// Contents of a range of an address space after power loss: the number of the write, zero for older data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Node of the range.
    pub node: NodeRef,
    /// First byte, and first byte beyond, in the address space of the node.
    pub range: Range<u64>,
    /// Writer of its data.
    pub version: u64,
}

/// Sink that receives the data left after the loss of power.
pub type HeldSink = Arc<Mutex<Vec<Held>>>;

/// A write that is not acknowledged yet.
#[derive(Clone, Debug, Default)]
struct Submitted {
    version: u64,
    node: usize,
    range: Range<u64>,
    /// Writes to some of the same bytes that were under way when this one was submitted.
    beside: Vec<u64>,
}

/// Writes submitted and acknowledged, from the first on.
#[derive(Debug)]
pub struct Ledger {
    /// Streams of the writes, by version; version 1 is the first.
    streams: Vec<u16>,
    /// Address spaces and, in each, the newest acknowledged write of every byte. Volumes on one node share its space.
    nodes: Vec<(NodeRef, Versions)>,
    /// Submitted writes, by tag.
    submitted: Vec<Submitted>,
    /// Ends of the writes under way, by (address space, first byte, version).
    under_way: BTreeMap<(usize, u64, u64), u64>,
    /// Length of the longest write so far, which bounds the start of writes that overlap a range.
    longest: u64,
    /// Acknowledged writes that may lawfully have been the last instead; none for most.
    beside: BTreeMap<u64, Vec<u64>>,
    acknowledged: u64,
}

impl Ledger {
    /// An empty ledger for `machine`, whose drives keep account from now on.
    pub fn open(machine: &mut Machine) -> Self {
        machine.expect(Expected { accounts: true, ..Expected::default() }).expect("no daemon goes out");
        let mut nodes: Vec<(NodeRef, Versions)> = Vec::new();
        for target in machine.volumes() {
            if nodes.iter().all(|(node, _)| *node != target.node) {
                nodes.push((target.node, Versions::default()));
            }
        }
        Self {
            streams: Vec::new(),
            nodes,
            submitted: Vec::new(),
            under_way: BTreeMap::new(),
            longest: 0,
            beside: BTreeMap::new(),
            acknowledged: 0,
        }
    }

    /// Notes an I/O of `stream` that is about to be submitted, and returns its version: zero unless it is a write.
    pub fn submit(&mut self, machine: &Machine, stream: u16, io: &Io) -> u64 {
        if io.op != Op::Write {
            return 0;
        }
        let target = &machine.volumes()[usize::from(io.volume)];
        let node = self.nodes.iter().position(|(node, _)| *node == target.node).expect("every target has its node");
        let range = target.from + io.offset..target.from + io.offset + u64::from(io.len);
        self.streams.push(stream);
        let version = self.streams.len() as u64;
        let beside = self.overlapping(node, &range);
        self.longest = self.longest.max(u64::from(io.len));
        self.under_way.insert((node, range.start, version), range.end);
        let tag = io.tag as usize;
        if self.submitted.len() <= tag {
            self.submitted.resize(tag + 1, Submitted::default());
        }
        self.submitted[tag] = Submitted { version, node, range, beside };
        version
    }

    /// Writes under way to some of `range`.
    fn overlapping(&self, node: usize, range: &Range<u64>) -> Vec<u64> {
        let from = range.start.saturating_sub(self.longest);
        let near = self.under_way.range((node, from, 0)..(node, range.end, 0));
        near.filter(|(_, end)| **end > range.start).map(|((_, _, version), _)| *version).collect()
    }

    /// Notes that a write was completed: its data counts as acknowledged unless it failed.
    pub fn complete(&mut self, done: &Completion) {
        let Submitted { version, node, range, beside } = std::mem::take(&mut self.submitted[done.tag as usize]);
        self.under_way.remove(&(node, range.start, version));
        if done.fault.is_some() {
            return;
        }
        self.acknowledged += 1;
        if !beside.is_empty() {
            self.beside.insert(version, beside);
        }
        let newest = &mut self.nodes[node].1;
        let newer: Vec<_> = newest.held(range.clone()).filter(|(_, have)| *have > version).collect();
        newest.set(range, version);
        for (part, have) in newer {
            newest.set(part, have);
        }
    }

    /// Whether a byte whose newest acknowledged write is `version` is good where a drive holds `held`.
    fn is_good(&self, version: u64, held: u64) -> bool {
        held >= version || self.beside.get(&version).is_some_and(|beside| beside.contains(&held))
    }

    /// Contents, by address, of all written data on the drives of `machine`, whose power is off. If copies differ,
    /// the first is read.
    pub fn held(&self, machine: &Machine) -> Vec<Held> {
        let left: Vec<Versions> = machine.drives().iter().filter_map(|drive| drive.left.cloned()).collect();
        let mut places = Vec::new();
        let mut all = Vec::new();
        for (node, newest) in &self.nodes {
            // Also of writes that nobody was told of: a drive may have kept them.
            let mut written = newest.clone();
            let of_node = self.under_way.iter().filter(|((of, ..), _)| self.nodes[*of].0 == *node);
            of_node.for_each(|((_, start, version), end)| written.set(*start..*end, *version));
            for (range, _) in written.iter() {
                places.clear();
                machine.layouts().place(*node, range.start, (range.end - range.start) as u32, &mut places);
                let mut held = Versions::default();
                for placed in places.iter().rev() {
                    let on_drive = placed.offset..placed.offset + u64::from(placed.len);
                    for (piece, version) in left[placed.drive as usize].all(on_drive) {
                        let host = |at: u64| placed.host_offset + (at - placed.offset);
                        held.set(host(piece.start)..host(piece.end), version);
                    }
                }
                all.extend(held.all(range).into_iter().map(|(range, version)| Held { node: *node, range, version }));
            }
        }
        all
    }

    /// Cuts the power of `machine` at `now`, `at` after the measured time began; returns the losses by stream name.
    pub fn cut(&self, machine: &mut Machine, now: Instant, at: Span, names: &[String]) -> PowerLoss {
        let event = Event { at: now, part: Part::Machine, what: What::PowerOff };
        machine.events().schedule(event).expect("told when the ledger was opened");
        // Power goes off before anything else that is due now.
        machine.advance(now, &mut Vec::new());
        let left: Vec<Versions> = machine.drives().iter().filter_map(|drive| drive.left.cloned()).collect();
        let stream = |name: &String| StreamLoss { name: name.clone(), lost_bytes: 0, lost_writes: 0 };
        let mut loss = PowerLoss {
            at_ns: at.0,
            acknowledged_writes: self.acknowledged,
            lost_bytes: 0,
            lost_writes: 0,
            torn_sectors: 0,
            streams: names.iter().map(stream).collect(),
            stale_copy_bytes: 0,
        };
        let mut lost_writes: Vec<u64> = Vec::new();
        let mut places = Vec::new();
        for (node, newest) in &self.nodes {
            for (range, version) in newest.iter() {
                let (lost, stale) = self.lost_of(machine, *node, range, version, &left, &mut places);
                loss.stale_copy_bytes += stale;
                if lost > 0 {
                    loss.streams[self.stream_of(version)].lost_bytes += lost;
                    lost_writes.push(version);
                }
            }
        }
        lost_writes.sort_unstable();
        lost_writes.dedup();
        for version in &lost_writes {
            loss.streams[self.stream_of(*version)].lost_writes += 1;
        }
        loss.lost_bytes = loss.streams.iter().map(|stream| stream.lost_bytes).sum();
        loss.lost_writes = lost_writes.len() as u64;
        loss
    }

    fn stream_of(&self, version: u64) -> usize {
        usize::from(self.streams[version as usize - 1])
    }

    /// Bytes of `range` that no copy has, and bytes that some copy has and another has not.
    fn lost_of(
        &self,
        machine: &Machine,
        node: NodeRef,
        range: Range<u64>,
        version: u64,
        left: &[Versions],
        places: &mut Vec<OnDrive>,
    ) -> (u64, u64) {
        places.clear();
        machine.layouts().place(node, range.start, (range.end - range.start) as u32, places);
        // Where the number of good and of old copies changes, and by how much.
        let mut changes: Vec<(u64, i64, i64)> = Vec::new();
        for placed in places.iter() {
            for (piece, held) in left[placed.drive as usize].all(placed.offset..placed.offset + u64::from(placed.len)) {
                let (good, old) = if self.is_good(version, held) { (1, 0) } else { (0, 1) };
                let host = |on_drive: u64| placed.host_offset + (on_drive - placed.offset);
                changes.push((host(piece.start), good, old));
                changes.push((host(piece.end), -good, -old));
            }
        }
        changes.sort_unstable();
        let (mut lost, mut stale, mut from, mut good, mut old) = (0, 0, range.start, 0, 0);
        for (at, more_good, more_old) in changes {
            lost += if good == 0 { at - from } else { 0 };
            stale += if good > 0 && old > 0 { at - from } else { 0 };
            (from, good, old) = (at, good + more_good, old + more_old);
        }
        (lost, stale)
    }
}

/// Cuts power at the end of a run and reports the losses.
pub struct PowerLossProbe {
    ledger: Ledger,
    cut: PowerCut,
    /// Time when the measured time began.
    begin: Option<Instant>,
    held: Option<HeldSink>,
}

impl PowerLossProbe {
    /// For `machine`, whose drives keep account from now on; `held` receives their contents at the end.
    pub fn new(machine: &mut Machine, cut: PowerCut, held: Option<HeldSink>) -> Self {
        Self { ledger: Ledger::open(machine), cut, begin: None, held }
    }
}

impl Probe for PowerLossProbe {
    fn wants_ios(&self) -> bool {
        true
    }

    fn begin(&mut self, now: Instant, _: &Machine) {
        self.begin.get_or_insert(now);
    }

    fn submitted(&mut self, machine: &Machine, stream: u16, io: &mut Io) {
        io.version = self.ledger.submit(machine, stream, io);
    }

    fn io(&mut self, io: &Answered) {
        if io.op == Op::Write {
            self.ledger.complete(io.done);
        }
    }

    fn end(self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError> {
        let after = self.cut.after;
        if self.begin.is_none_or(|begin| run.now < begin + after) {
            if self.held.is_some() {
                let note = format!("power was not cut: all clients disconnected before {after}");
                return Ok(Findings::default().with_notes([note]));
            }
            return Err(self.cut.too_late(run.duration).into());
        }
        let loss = self.ledger.cut(run.machine, run.now, after, run.streams);
        if let Some(held) = &self.held {
            *held.lock().expect("nobody panics with it") = self.ledger.held(run.machine);
        }
        Ok(Findings::default().with("power_loss", loss))
    }
}
