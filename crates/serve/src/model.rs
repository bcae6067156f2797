//! Models that decide when an I/O completes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_engine::{Asked, Findings, Held, Live, Outcome, RunError};
use hotband_machine::{Completion, Fault, NodeRef, Op};
use hotband_units::{Bytes, Instant, Span};

/// Kinds of drives that rotate: conventional disks, and those whose tracks overlap.
const DISK: &str = "disk";
const SHINGLED: &str = "smr";

/// A volume that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeTold {
    /// Its name, under which clients request it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Smallest unit of an I/O in bytes: its offset and length are multiples of it.
    pub block: u32,
    /// Largest physical block of the machine's drives in bytes, the unit of their writes.
    pub physical_block: u32,
    /// Whether trims reach its drives.
    pub trims: bool,
    /// Whether every drive of the machine is a disk, so that programs know that they have to wait for arms.
    pub rotates: bool,
    /// Whether it is flushed: a drive of the machine, or a layout, may lose acknowledged writes with power.
    pub volatile: bool,
    /// The address space that it lies on: volumes on the same one share its bytes.
    pub space: u32,
    /// Its first byte there.
    pub from: u64,
    /// That address space in the machine.
    pub node: Option<NodeRef>,
}

/// A completion of a model.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Token of the I/O, as it was submitted.
    pub token: u64,
    /// Operation.
    pub op: Op,
    /// When it was requested, in the machine's time.
    pub submitted: Instant,
    /// Time when it is done.
    pub at: Instant,
    /// Why not.
    pub fault: Option<Fault>,
    /// Whether it waited for the media of a drive: it read or wrote them, or is a flush of data that a cache still had
    /// to write.
    pub is_media: bool,
}

/// Decides when an I/O is done. Its time never goes backwards.
pub trait Model: Send {
    /// Return its current time.
    fn now(&self) -> Instant;
    /// Return the volumes that are served.
    fn volumes(&self) -> Vec<VolumeTold>;
    /// Takes an I/O that was requested at `at`; returns the number of a write if power may go off, else zero.
    fn submit(&mut self, at: Instant, request: &Asked, token: u64) -> u64;
    /// Time when it next has something to do.
    fn wake(&self) -> Option<Instant>;
    /// Performs the work due by `now`; appends the completions.
    fn advance(&mut self, now: Instant, answers: &mut Vec<Answer>);
    /// Whether its power went off: nothing completes any more.
    fn is_cut(&self) -> bool {
        false
    }
    /// Ends the model: returns its record with the results of serving, and the contents of its drives if power went
    /// off; nothing for a model without a record.
    ///
    /// # Errors
    /// What went wrong with what watches it.
    fn finish(self: Box<Self>, served: Findings) -> Result<Option<(Outcome, Vec<Held>)>, RunError> {
        let _ = served;
        Ok(None)
    }
}

/// A machine, with a buffer for its completions.
pub struct OfMachine {
    live: Live,
    done: Vec<(u64, Op, Completion)>,
}

impl OfMachine {
    /// Create the model of a machine that is ready for I/Os.
    pub fn new(live: Live) -> Self {
        Self { live, done: Vec::new() }
    }

    /// Whether power may be cut, so that the store must retain older data.
    pub fn may_be_cut(&self) -> bool {
        self.live.may_be_cut()
    }

    /// Return the name of the machine.
    pub fn machine(&self) -> &str {
        self.live.name()
    }
}

impl Model for OfMachine {
    fn now(&self) -> Instant {
        self.live.now()
    }

    fn volumes(&self) -> Vec<VolumeTold> {
        let machine = self.live.machine();
        let Bytes(block) = machine.drives().block();
        let drives = || machine.drives().iter().map(|drive| drive.drive.kind());
        let trims = |volume: usize| !self.live.may_be_cut() && machine.takes_trims(volume as u16);
        let rotates = drives().all(|kind| [DISK, SHINGLED].contains(&kind));
        let mut spaces: Vec<NodeRef> = Vec::new();
        let mut space = |node: NodeRef| {
            let known = spaces.iter().position(|have| *have == node);
            known.unwrap_or_else(|| {
                spaces.push(node);
                spaces.len() - 1
            })
        };
        let described = |(index, volume): (usize, &hotband_machine::Volume)| VolumeTold {
            name: volume.name.clone(),
            size: volume.size - volume.size % block,
            block: block as u32,
            trims: trims(index),
            physical_block: machine.drives().physical_block().0 as u32,
            rotates,
            volatile: machine.layouts().iter().len() > 0 || machine.drives().are_volatile(),
            space: space(volume.node) as u32,
            from: volume.from,
            node: Some(volume.node),
        };
        machine.volumes().iter().enumerate().map(described).collect()
    }

    fn submit(&mut self, at: Instant, request: &Asked, token: u64) -> u64 {
        self.live.submit(at, request, token)
    }

    fn wake(&self) -> Option<Instant> {
        self.live.wake()
    }

    fn advance(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        self.live.advance(now, &mut self.done);
        answers.extend(self.done.drain(..).map(|(token, op, done)| {
            let Completion { submitted, at, times, fault, .. } = done;
            let is_media = times.seek + times.rotation + times.transfer + times.flash > Span::ZERO;
            Answer { token, op, submitted, at, fault, is_media }
        }));
    }

    fn is_cut(&self) -> bool {
        self.live.is_cut()
    }

    fn finish(self: Box<Self>, served: Findings) -> Result<Option<(Outcome, Vec<Held>)>, RunError> {
        self.live.finish(served).map(Some)
    }
}

/// A model with the same time for every I/O, to measure the cost of a server, and for tests.
#[derive(Debug)]
pub struct Fixed {
    volume: VolumeTold,
    latency: Span,
    under_way: BinaryHeap<Reverse<(Instant, u64, Instant, Op)>>,
}

impl Fixed {
    /// One volume "drive" of `size` bytes in blocks of 512 bytes.
    pub fn new(size: u64, latency: Span) -> Self {
        let name = "drive".to_owned();
        let volume = VolumeTold {
            name,
            size,
            block: 512,
            physical_block: 512,
            trims: true,
            rotates: false,
            volatile: true,
            space: 0,
            from: 0,
            node: None,
        };
        Self { volume, latency, under_way: BinaryHeap::new() }
    }
}

impl Model for Fixed {
    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn volumes(&self) -> Vec<VolumeTold> {
        vec![self.volume.clone()]
    }

    fn submit(&mut self, at: Instant, request: &Asked, token: u64) -> u64 {
        self.under_way.push(Reverse((at + self.latency, token, at, request.op)));
        0
    }

    fn wake(&self) -> Option<Instant> {
        self.under_way.peek().map(|Reverse((at, ..))| *at)
    }

    fn advance(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while self.wake().is_some_and(|at| at <= now)
            && let Some(Reverse((at, token, submitted, op))) = self.under_way.pop()
        {
            answers.push(Answer { token, op, submitted, at, fault: None, is_media: true });
        }
    }
}
