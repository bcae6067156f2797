//! I/Os that go into a machine, and completions that come out.

use hotband_units::{Instant, Span};

/// Operation of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Read a range.
    Read,
    /// Write a range.
    Write,
    /// Make every acknowledged write durable.
    Flush,
    /// Say that a range is not needed any more (TRIM, UNMAP, deallocate).
    Trim,
}

/// Compressibility of the data of a write: the ratio of its archive to its size, in steps of 0.01 %.
///
/// Data bytes are not part of timing; this number is all that a drive knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entropy(u16);

impl Entropy {
    /// Data that does not compress.
    pub const INCOMPRESSIBLE: Self = Self(10_000);

    /// The nearest step to `share`, which is limited to 0..=1.
    pub fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 10_000.0).round() as u16)
    }

    /// Return it as a share of the size.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// Entropy in steps of 0.01 %.
    pub fn basis_points(self) -> u16 {
        self.0
    }
}

impl Default for Entropy {
    fn default() -> Self {
        Self::INCOMPRESSIBLE
    }
}

/// An I/O of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Returned in the completion; the machine does not read it.
    pub tag: u64,
    /// Requested operation.
    pub op: Op,
    /// Index of the volume.
    pub volume: u16,
    /// First byte, relative to the volume.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// Force unit access: a write is complete only when it is on the media.
    pub fua: bool,
    /// Number of the write, in order of submission; zero for reads and flushes, and if writes are not counted.
    pub version: u64,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// Parts of the time of an I/O, which add up to its latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Waiting for the drive to turn to this command (and for a cache slot or a tag).
    pub queue: Span,
    /// Command decoding and firmware.
    pub overhead: Span,
    /// Moving and settling the arm.
    pub seek: Span,
    /// Waiting for the sector to come round.
    pub rotation: Span,
    /// Reading or writing the media; of a flush, its wait until cached data is on them.
    pub transfer: Span,
    /// Reading a flash cache inside the drive.
    pub flash: Span,
    /// Time on the link, including the wait for it.
    pub link: Span,
}

impl Times {
    /// The sum of all parts.
    pub fn total(&self) -> Span {
        self.queue + self.overhead + self.seek + self.rotation + self.transfer + self.flash + self.link
    }

    /// Part by part, this time and `other` one after the other.
    pub fn then(&self, other: &Self) -> Self {
        Self {
            queue: self.queue + other.queue,
            overhead: self.overhead + other.overhead,
            seek: self.seek + other.seek,
            rotation: self.rotation + other.rotation,
            transfer: self.transfer + other.transfer,
            flash: self.flash + other.flash,
            link: self.link + other.link,
        }
    }
}

/// Why a drive refused or failed a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Offset or length is not a multiple of the drive's logical block.
    Misaligned,
    /// The range ends beyond the capacity.
    OutOfRange,
    /// The drive has no spare blocks left and accepts no more writes.
    WriteProtected,
    /// The drive has failed, or the data were on drives that have.
    Gone,
}

/// An I/O is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag of the I/O.
    pub tag: u64,
    /// Time when it was submitted.
    pub submitted: Instant,
    /// Time when it was done.
    pub at: Instant,
    /// Times of each part.
    pub times: Times,
    /// The fault, or none.
    pub fault: Option<Fault>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every part another power of ten, so that none can represent another.
    fn times(unit: u64) -> Times {
        let part = |power: u32| Span(unit * 10_u64.pow(power));
        Times {
            queue: part(0),
            overhead: part(1),
            seek: part(2),
            rotation: part(3),
            transfer: part(4),
            flash: part(5),
            link: part(6),
        }
    }

    #[test]
    fn parts_add_up_to_the_whole_and_part_by_part() {
        assert_eq!(times(3).total(), Span(3_333_333));
        assert_eq!(times(3).then(&times(4)), times(7));
    }

    #[test]
    fn entropy_is_the_nearest_step_between_nothing_and_all() {
        let steps = [-1.0, 0.0, 0.000_04, 0.000_06, 0.37, 1.0, 2.0].map(|share| Entropy::of(share).basis_points());
        assert_eq!(steps, [0, 0, 0, 1, 3_700, 10_000, 10_000]);
        assert!((Entropy::of(0.37).share() - 0.37).abs() < 1e-12);
        assert_eq!(Entropy::default(), Entropy::of(1.0));
    }
}
