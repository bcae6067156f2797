//! Drives that fail, spares that take their places, and the state of the machine. docs/models/repair.md.
//!
//! A machine in which no failure is to come has none of this.

pub(crate) mod agenda;
pub(crate) mod attempts;
pub(crate) mod failing;
mod failure;
mod locks;
pub(crate) mod rebuild;

use hotband_units::{Instant, Rate, Span};

use crate::plan::{Extent, Leg};
use crate::random::Random;
use crate::repair::locks::Locks;
use crate::repair::rebuild::{Job, JobReport};

/// Failures and repairs of the drives of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairSpec {
    /// Drives that wait to take the place of one that failed, in the order in which they are taken.
    pub spares: Vec<u32>,
    /// Most that one rebuild writes in a second; as fast as the drives can by default.
    pub rate_limit: Option<Rate>,
    /// Time between a failure and the use of a spare.
    pub spare_after: Span,
    /// Root of all randomness.
    pub seed: u64,
}

/// Sectors of a drive that cannot be read any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectorErrors {
    /// Mean bits read between two errors.
    pub bits: f64,
    /// Bytes that are lost at once.
    pub sector: u64,
}

/// Service level of hosts at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceLevel {
    /// No drive has failed.
    Before,
    /// A member is missing and nothing is done about it.
    Degraded,
    /// A spare is being written.
    Rebuilding,
    /// Every member that failed has been rebuilt.
    After,
}

/// Why no spare took the place of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSpare {
    /// No layout on the drive can be rebuilt.
    NothingToRebuild,
    /// The remaining spares are too small.
    TooSmall,
    /// No spare is left.
    NoneLeft,
}

/// Events so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairReport {
    /// Drives that failed, and when.
    pub failures: Vec<(u32, Instant)>,
    /// Spares taken: drive that failed, spare.
    pub taken: Vec<(u32, u32)>,
    /// Drives that something lay on and whose place no spare took, and why.
    pub without_spare: Vec<(u32, NoSpare)>,
    /// Rebuilds, in the order in which they were requested; those that services do by themselves after the others.
    pub rebuilds: Vec<JobReport>,
    /// Sectors that could not be read in rebuilds.
    pub sector_errors: u64,
    /// Bytes of data that are nowhere any more.
    pub bytes_lost: u64,
}

/// A phase of a plan that is over: input for a store of data outside the machine to do the same with bytes.
#[derive(Clone, Copy, Debug)]
pub struct PhaseEnd<'a> {
    /// Number of the request; used again when it is done.
    pub request: u32,
    /// The host's tag, if the host issued the request.
    pub tag: Option<u64>,
    /// The layout, by index.
    pub layout: u32,
    /// Requested range; for a rebuild, the range of the member.
    pub extent: Extent,
    /// The member that is rebuilt.
    pub rebuilds: Option<u16>,
    /// Legs of all phases, of which those of `phase` are over.
    pub legs: &'a [Leg],
    /// Phase.
    pub phase: u8,
    /// Members whose legs of this phase came to nothing.
    pub failed: &'a [u16],
}

/// Keeps data for a machine whose drives fail. Data bytes are not part of timing, so tests of what survives bring
/// their own store; nothing else does.
pub trait Watch: Send {
    /// A phase is over.
    fn phase_over(&mut self, phase: &PhaseEnd);
    /// `drive`, which holds nothing of it, is now this member of a layout.
    fn replaced(&mut self, layout: u32, member: u16, drive: u32);
    /// `member` was rebuilt to its end.
    fn rebuilt(&mut self, layout: u32, member: u16);
}

/// Time that a host waits for the error of a request for lost data. Our estimate: error paths take microseconds to
/// seconds; above zero, so that a host that asks again at once does not stop the time.
pub(crate) const GONE_AFTER: Span = Span(1_000_000);

/// State of a guarded request, in addition to the request itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempt {
    /// The columns it holds or waits for; zero if it needs none.
    pub lock: u64,
    /// Time since which it waits for its columns.
    pub waits: Instant,
    /// Members whose legs came to nothing in this phase.
    pub failed: Vec<u16>,
    /// State of the layout when it was planned.
    pub epoch: u32,
    /// Number of times it was planned.
    pub plans: u32,
}

/// Failures and repair of one machine.
pub(crate) struct Repair {
    pub spec: RepairSpec,
    /// Unrecoverable errors of every drive; none if their rate is not known.
    pub errors: Vec<Option<SectorErrors>>,
    /// Attempts by request.
    attempts: Vec<Attempt>,
    /// Locks of every layout.
    pub locks: Vec<Locks>,
    last_lock: u64,
    /// Number of changes of members, of every layout.
    pub epochs: Vec<u32>,
    pub jobs: Vec<Job>,
    /// Spares that services write by themselves, in the order in which they were given.
    pub given: Vec<JobReport>,
    /// Bits until the next unrecoverable error of every drive, and their generator.
    until_error: Vec<f64>,
    random: Vec<Random>,
    pub report: RepairReport,
    /// Bytes lost in single sectors.
    pub sector_bytes_lost: u64,
    /// Whether a drive that a volume or a cache lies on has failed.
    pub bare_loss: bool,
    pub watch: Option<Box<dyn Watch>>,
}

impl Repair {
    /// For a machine of `layouts` layouts and these drives: their names, and how their errors come.
    pub fn new(spec: RepairSpec, drives: &[(&str, Option<SectorErrors>)], layouts: usize) -> Self {
        let mut random: Vec<Random> =
            drives.iter().map(|(name, _)| Random::new(spec.seed, &format!("drives.{name}.errors"))).collect();
        let bits = |errors: Option<SectorErrors>| errors.map_or(f64::INFINITY, |errors| errors.bits);
        let until_error = drives.iter().zip(&mut random);
        let until_error = until_error.map(|((_, errors), random)| bits(*errors) * random.exponential());
        Self {
            until_error: until_error.collect(),
            errors: drives.iter().map(|(_, errors)| *errors).collect(),
            random,
            attempts: Vec::new(),
            locks: (0..layouts).map(|_| Locks::default()).collect(),
            last_lock: 0,
            epochs: vec![0; layouts],
            jobs: Vec::new(),
            given: Vec::new(),
            report: RepairReport::default(),
            sector_bytes_lost: 0,
            bare_loss: false,
            watch: None,
            spec,
        }
    }

    /// Return an unused lock number.
    pub fn new_lock(&mut self) -> u64 {
        self.last_lock += 1;
        self.last_lock
    }

    /// The number that `new_lock` gives next.
    pub fn next_lock(&self) -> u64 {
        self.last_lock + 1
    }

    pub fn attempt(&mut self, request: u32) -> &mut Attempt {
        let index = request as usize;
        if self.attempts.len() <= index {
            self.attempts.resize(index + 1, Attempt::default());
        }
        &mut self.attempts[index]
    }

    /// Offsets within `bytes` read from `drive` at which a sector cannot be read.
    pub fn errors_in(&mut self, drive: u32, bytes: u64) -> Vec<u64> {
        let drive = drive as usize;
        let Some(errors) = self.errors[drive] else { return Vec::new() };
        let (mut found, mut read) = (Vec::new(), 0.0);
        let bits = bytes as f64 * 8.0;
        while read + self.until_error[drive] < bits {
            read += self.until_error[drive];
            found.push((read / 8.0) as u64 / errors.sector * errors.sector);
            self.until_error[drive] = errors.bits * self.random[drive].exponential();
        }
        self.until_error[drive] -= bits - read;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repair(bits: f64) -> Repair {
        let errors = Some(SectorErrors { bits, sector: 4096 });
        Repair::new(RepairSpec { seed: 1, ..RepairSpec::default() }, &[("d0", errors)], 0)
    }

    #[test]
    fn errors_come_at_the_stated_rate_and_at_sectors() {
        let mut repair = repair(8e8);
        let errors: Vec<u64> = (0..100_000).flat_map(|_| repair.errors_in(0, 1 << 20)).collect();
        let mean = 100_000.0 * f64::from(1 << 20) * 8.0 / 8e8;
        assert!((errors.len() as f64 - mean).abs() < 4.0 * mean.sqrt(), "{} of {mean}", errors.len());
        assert!(errors.iter().all(|offset| offset.is_multiple_of(4096) && *offset < 1 << 20));
    }
}
