//! Trait that every drive mechanism implements.

use hotband_units::{Bytes, Instant, Power, Span};

use crate::contents::Carrier;
use crate::event::SetError;
use crate::io::{Entropy, Fault, Op, Times};
use crate::repair::SectorErrors;
use crate::repair::failing::Failing;
use crate::spec::unit::Unit;
use crate::versions::Versions;

/// A command to one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Returned in [`Done`]; no two commands in a drive have the same.
    pub token: u64,
    /// Requested operation.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// Number of the host's write that this is part of, in order of submission; zero without an account.
    pub version: u64,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// Marks, in a token, a command that a rebuild requests.
pub(crate) const OF_REBUILD: u64 = 1 << 63;
/// Marks, in a token, a forced write that a flush follows, and that flush.
pub(crate) const FLUSH_FOLLOWS: u64 = 1 << 62;
pub(crate) const ENDS_FORCED_WRITE: u64 = 1 << 61;

/// A write or trim in no simulated time, by which drives are preconditioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntimedWrite {
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// Compressibility of the data.
    pub entropy: Entropy,
    /// The range is trimmed, not written.
    pub trim: bool,
}

/// SMART attributes of a drive; every count is since the drive was new, preconditioning included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smart {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes after compression, before packing and overheads.
    pub stored_bytes: u64,
    /// Bytes programmed into flash.
    pub flash_bytes: u64,
    /// Part of them: valid data moved by garbage collection and wear levelling.
    pub relocated_bytes: u64,
    /// Part of them: mapping tables, headers, padding and parity.
    pub metadata_bytes: u64,
    /// Bytes that the host trimmed.
    pub trimmed_bytes: u64,
    /// Mean erase count of the blocks.
    pub erases_mean: f64,
    /// Highest erase count of a block.
    pub erases_max: u64,
    /// Mean erase count as a share of the rated cycles, in percent.
    pub percentage_used: f64,
    /// Blocks that were retired.
    pub bad_blocks: u64,
    /// Size of the drive relative to its simulated part: 1 if all of it is simulated. All other values are those of the
    /// simulated part.
    pub scale: u64,
}

/// Powers of a drive: at rest, and in each of the two states in which it is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Ready, spinning, nothing busy.
    pub idle: Power,
    /// Busy in the first state, and in the second, all the time and with all actuators.
    pub busy: [Power; 2],
}

/// Power draw of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Names of the states: "seek" and "track" of a disk, "read" and "write" of flash.
    pub states: [&'static str; 2],
    /// Rated power under load.
    pub active: Power,
    /// Power draw.
    pub levels: Levels,
    /// Ends of its range: the least energy is that of one of these, the most that of one of those.
    pub low: [Levels; 2],
    /// See `low`.
    pub high: [Levels; 2],
    /// Number of independent actuators; times are their sums.
    pub actuators: u32,
    /// Whether it can be in both states at once.
    pub is_parallel: bool,
}

impl Levels {
    /// Energy in joules over `duration`, of which actuators were busy in each state for `busy`, summed over them.
    pub fn joules(&self, duration: Span, busy: [Span; 2], actuators: u32) -> f64 {
        let above = (0..2).map(|state| self.above_idle(state, busy[state], actuators));
        self.idle.0 as f64 / 1e3 * duration.as_secs_f64() + above.sum::<f64>()
    }

    /// The part of it that `state` adds to the energy at rest.
    pub fn above_idle(&self, state: usize, busy: Span, actuators: u32) -> f64 {
        (self.busy[state].0 as f64 - self.idle.0 as f64) / 1e3 * busy.as_secs_f64() / f64::from(actuators)
    }
}

/// A command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The token of the command.
    pub token: u64,
    /// When it was done; never later than the time `advance` was called with.
    pub at: Instant,
    /// Times of each part; they add up to `at` minus the time of submission.
    pub times: Times,
    /// Data that now travels to the host: the length of a read, zero for anything else.
    pub bytes_back: u32,
    /// The fault, or none.
    pub fault: Option<Fault>,
}

/// A named count kept by a part; the name ends in its unit where it has one (`busy_ns`).
pub type Counter = (&'static str, u64);

/// Counters of one part at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartReport {
    /// Name in the spec.
    pub id: String,
    /// Kind of part ("disk", "link").
    pub kind: &'static str,
    /// Its counters since the beginning.
    pub counters: Vec<Counter>,
    /// Current contents.
    pub at_end: Vec<Counter>,
}

impl PartReport {
    /// The counter of this name; none for a part without it.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.counters.iter().find(|(have, _)| *have == name).map(|(_, count)| *count)
    }
}

/// Write cache setting of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCacheSetting {
    /// "volatile", "protected", or "off" where a write is acknowledged when it is on the media.
    pub kind: &'static str,
    /// Bytes that the cache holds; zero if it is off.
    pub bytes: u64,
}

/// Progress of a cache that learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warmth {
    /// The cache is empty.
    #[default]
    Cold,
    /// The contents still change.
    Warming,
    /// The contents stay the same under the same load.
    Warm,
}

/// The caches of one drive, or of all drives of a machine added up, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheState {
    /// Progress of the flash read cache; none if there is no such cache.
    pub warmth: Option<Warmth>,
    /// Whether flash was read yet: nothing waits for a drive without reads.
    pub asked: bool,
    /// Reads that the flash answered, since the beginning.
    pub flash_hits: u64,
    /// Reads that the flash could have served and did not, since the beginning.
    pub flash_misses: u64,
    /// Bytes copied into the flash, since the beginning.
    pub flash_promoted_bytes: u64,
    /// Bytes that the flash holds.
    pub flash_used_bytes: u64,
    /// Extents written from the write cache to the media, since the beginning.
    pub destages: u64,
    /// Extents in the write cache.
    pub write_cache_extents: u64,
    /// Bytes in the write cache.
    pub write_cache_bytes: u64,
    /// Commands and extents served by the media, since the beginning.
    pub media_ios: u64,
}

impl CacheState {
    /// Combine both: warming unless both are cold or both warm. A drive without I/O does not count.
    pub fn and(&self, other: &Self) -> Self {
        let warmth = match (self.warmth, other.warmth) {
            (Some(one), Some(_)) if self.asked && !other.asked => Some(one),
            (Some(_), Some(two)) if other.asked && !self.asked => Some(two),
            (Some(one), Some(two)) if one == two => Some(one),
            (Some(_), Some(_)) => Some(Warmth::Warming),
            (one, two) => one.or(two),
        };
        Self {
            warmth,
            asked: self.asked || other.asked,
            flash_hits: self.flash_hits + other.flash_hits,
            flash_misses: self.flash_misses + other.flash_misses,
            flash_promoted_bytes: self.flash_promoted_bytes + other.flash_promoted_bytes,
            flash_used_bytes: self.flash_used_bytes + other.flash_used_bytes,
            destages: self.destages + other.destages,
            write_cache_extents: self.write_cache_extents + other.write_cache_extents,
            write_cache_bytes: self.write_cache_bytes + other.write_cache_bytes,
            media_ios: self.media_ios + other.media_ios,
        }
    }
}

/// A drive: commands in, completions out, a time at which it next has something to do.
///
/// Time given to `submit` and `advance` never goes backwards. Between calls the drive does nothing by itself:
/// it must be advanced to each time that `wake` names.
pub trait Drive: Send {
    /// Name of the mechanism.
    fn kind(&self) -> &'static str;
    /// Addressable bytes.
    fn capacity(&self) -> Bytes;
    /// Logical block size: offsets and lengths are multiples of it.
    fn block(&self) -> Bytes;
    /// Physical block size, the unit of writes on the media. Programs read it to align their writes.
    fn physical_block(&self) -> Bytes {
        self.block()
    }
    /// Logical units that a host sees, by address; none where the drive is one address space. A flush is for the unit
    /// that its offset lies in.
    fn units(&self) -> Vec<Unit> {
        Vec::new()
    }
    /// Return the power draw; none if unknown.
    fn draw(&self) -> Option<Draw> {
        None
    }
    /// Time that it was busy in each state of its draw since the beginning, summed over actuators. The first has two
    /// measures, of which the longer counts in any time: two things that go on side by side.
    fn activity(&self) -> [Span; 3] {
        [Span::ZERO; 3]
    }
    /// Commands that it has taken and not completed; none if it does not count them.
    fn waiting(&self) -> Option<u64> {
        None
    }
    /// Whether it says that acknowledged writes may be lost with power: a host sends flushes to no other drive.
    fn volatile(&self) -> bool {
        true
    }
    /// Whether it takes TRIM, or UNMAP or DEALLOCATE: hosts send it to no other drive.
    fn takes_trims(&self) -> bool {
        true
    }
    /// Whether hosts force a write with a FLUSH after it, because they send the drive no FUA.
    fn forces_by_flush(&self) -> bool {
        false
    }
    /// Takes a command at `now`.
    fn submit(&mut self, now: Instant, command: Command);
    /// Time when the drive next has something to do; `None` while it has nothing.
    fn wake(&self) -> Option<Instant>;
    /// Performs the work due by `now`; appends the completed commands.
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>);
    /// Counters since the beginning, always the same names in the same order.
    fn counters(&self) -> Vec<Counter>;
    /// Return the current contents of its caches; a drive with caches returns the same names in the same order.
    fn levels(&self) -> Vec<Counter> {
        Vec::new()
    }
    /// Its caches at `now`; none for a drive without a cache worth watching.
    fn caches(&self, now: Instant) -> Option<CacheState> {
        let _ = now;
        None
    }
    /// Changes what the drive holds as these writes would, in their order and in no time. A drive whose timing does
    /// not depend on what it holds does nothing.
    fn write_untimed(&mut self, writes: &[UntimedWrite]) {
        let _ = writes;
    }
    /// All that untimed writes read of a new drive, as text: drives with the same text hold the same after the same
    /// writes. None for a drive whose contents cannot be copied.
    fn contents_key(&self) -> Option<String> {
        None
    }
    /// Carries all that untimed writes change out of the drive, or into a new one with the same key.
    fn carry_contents(&mut self, carrier: &mut Carrier) {
        let _ = carrier;
    }
    /// Whether the contents that were carried over refer only to existing places.
    fn has_valid_contents(&self) -> bool {
        true
    }
    /// A new drive of at most about `most` bytes whose contents after uniform writes, enlarged, are those of this one;
    /// none if it is not larger, or has no such model.
    fn model(&self, most: u64) -> Option<Box<dyn Drive>> {
        let _ = most;
        None
    }
    /// Copies the enlarged contents of its model into this new drive, after untimed writes to the model.
    fn enlarge_contents(&mut self, model: &mut dyn Drive) {
        let _ = model;
    }
    /// Return the unrecoverable read errors; none if unknown.
    fn sector_errors(&self) -> Option<SectorErrors> {
        None
    }
    /// Its SMART attributes; none for a drive that does not wear.
    fn smart(&self) -> Option<Smart> {
        None
    }
    /// From now on remembers which version of every byte is where. Asked for before the first command, if at all:
    /// a drive that was not asked spends nothing on it.
    fn keep_account(&mut self);
    /// Power is lost at `now`, which is at or after the last call: what the drive holds when it comes back, volatile
    /// memory being empty. The contents of drives that kept no account are unknown. The drive
    /// takes no commands any more.
    fn cut_power(&mut self, now: Instant) -> Versions;
    /// Names of the values that may change while it runs.
    fn settings(&self) -> &'static [&'static str] {
        &[]
    }
    /// Acknowledgement of writes by the current switches; none for a drive without switches that
    /// can change while it runs.
    fn write_cache(&self) -> Option<WriteCacheSetting> {
        None
    }
    /// Whether `set` takes this.
    ///
    /// # Errors
    /// It does not: a value that cannot change while the drive runs, or not to this.
    fn check_set(&self, key: &str, value: &str) -> Result<(), SetError> {
        Err(SetError::unknown(key, value, self.settings()))
    }
    /// A value changes at `now`, which is at or after the last call.
    ///
    /// # Errors
    /// Those of `check_set`.
    fn set(&mut self, now: Instant, key: &str, value: &str) -> Result<(), SetError> {
        let _ = now;
        self.check_set(key, value)
    }
    /// For the machine: the drive as one that may fail; none if no failure is to come.
    #[doc(hidden)]
    fn failing(&mut self) -> Option<&mut Failing> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash(warmth: Warmth, asked: bool) -> CacheState {
        CacheState { warmth: Some(warmth), asked, flash_hits: 1, ..CacheState::default() }
    }

    #[test]
    fn energy_is_that_at_rest_and_what_each_state_adds() {
        let levels = Levels { idle: Power(7_000), busy: [Power(13_000), Power(10_000)] };
        let (second, half) = (Span(1_000_000_000), Span(500_000_000));
        for (busy, joules) in [
            ([Span::ZERO; 2], 7.0),
            ([second, Span::ZERO], 10.0),
            ([Span::ZERO, second], 8.5),
            ([half, half], 9.25),
            ([second, second], 11.5),
        ] {
            let got = levels.joules(second, busy, 2);
            assert!((got - joules).abs() < 1e-9, "{busy:?}: {got} J");
        }
        assert!(levels.joules(Span::ZERO, [Span::ZERO; 2], 2).abs() < 1e-9);
    }

    #[test]
    fn drives_are_warm_together_when_all_that_are_read_from_are() {
        let cases = [
            ((Warmth::Warm, true), (Warmth::Warm, true), Warmth::Warm),
            ((Warmth::Warm, true), (Warmth::Cold, true), Warmth::Warming),
            ((Warmth::Warm, true), (Warmth::Cold, false), Warmth::Warm),
            ((Warmth::Cold, true), (Warmth::Warming, true), Warmth::Warming),
            ((Warmth::Cold, false), (Warmth::Cold, false), Warmth::Cold),
        ];
        for (first, second, both) in cases {
            let (first, second) = (flash(first.0, first.1), flash(second.0, second.1));
            for state in [first.and(&second), second.and(&first)] {
                assert_eq!((state.warmth, state.flash_hits), (Some(both), 2));
            }
        }
        let plain = CacheState::default();
        assert_eq!(plain.and(&flash(Warmth::Cold, true)).warmth, Some(Warmth::Cold), "a drive without flash");
    }

    #[test]
    fn counts_of_caches_are_added_up() {
        let state = |unit: u64| CacheState {
            warmth: None,
            asked: false,
            flash_hits: unit,
            flash_misses: 2 * unit,
            flash_promoted_bytes: 3 * unit,
            flash_used_bytes: 4 * unit,
            destages: 5 * unit,
            write_cache_extents: 6 * unit,
            write_cache_bytes: 7 * unit,
            media_ios: 8 * unit,
        };
        assert_eq!(state(3).and(&state(4)), state(7));
        let asked = CacheState { asked: true, ..state(1) };
        assert!(asked.and(&state(1)).asked && state(1).and(&asked).asked && !state(1).and(&state(1)).asked);
    }

    #[test]
    fn a_counter_is_found_by_its_name() {
        let counters = vec![("reads", 7), ("writes", 0)];
        let report = PartReport { id: "d0".into(), kind: "disk", counters, at_end: vec![("bytes", 3)] };
        assert_eq!(["reads", "writes", "bytes"].map(|name| report.counter(name)), [Some(7), Some(0), None]);
    }
}
