//! Members of an array that are preconditioned together: one gets its writes, and the others copy its contents.
//!
//! They share only if the writes reach all members evenly: in a sample every member has as many as the others. Members
//! copy the contents at different moments, spread over the last part of the random writes, so that they do not collect
//! garbage in step. Members that get the very same writes, as those of a mirror do, copy at the same moment.
//!
//! Leaves out: members differ in when they copied the contents, not in which of their blocks were written by chance.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use hotband_machine::{Machine, UntimedWrite};

/// Writes of a sample: enough to notice one of eight members that gets 5 % more than the others.
pub const SAMPLE: u64 = 1 << 15;
/// Standard deviations by which a member's number of writes may be off: by chance one in 150,000 exceeds them.
const SIGMAS: f64 = 4.5;
/// Members copy the contents in the last part of the writes, when these are split into this many equal parts.
const PARTS: f64 = 16.0;

/// Receiver of the untimed writes to the volumes of a machine.
pub trait Receiver {
    /// Takes writes to a volume.
    fn write(&mut self, machine: &mut Machine, volume: u16, writes: &[UntimedWrite]);

    /// Takes note that this share of the last writes is done.
    fn settle(&mut self, _: &mut Machine, _: f64) {}
}

/// Drives that get the untimed writes that reach them, and the times when others copy their contents.
#[derive(Default)]
pub struct Sharing {
    /// Drives that get no writes.
    followers: Vec<u32>,
    /// Share of the last writes, the drive that gets them, and those that copy its contents then; the first last.
    due: Vec<(f64, u32, Vec<u32>)>,
}

/// A sample of writes, which counts those that would reach each drive and writes nothing.
#[derive(Default)]
pub struct Sample {
    drives: BTreeMap<u32, Reached>,
}

/// Part of a sample that reached a drive.
#[derive(Default)]
struct Reached {
    writes: u64,
    /// Hash of their offsets.
    hash: DefaultHasher,
}

impl Sharing {
    /// Decides from a sample how the drives of these groups share contents.
    pub fn of_sample(sample: &Sample, groups: &[Vec<u32>]) -> Self {
        let mut sharing = Self::default();
        for group in groups {
            let reached: Vec<(u64, u64)> = group.iter().map(|drive| sample.of_drive(*drive)).collect();
            if are_even(&reached) {
                sharing.add(group, &reached);
            }
        }
        sharing.due.sort_by(|(share, ..), (other, ..)| other.total_cmp(share));
        sharing
    }

    fn add(&mut self, group: &[u32], reached: &[(u64, u64)]) {
        let mut twins: Vec<(u64, Vec<u32>)> = Vec::new();
        for (drive, (_, hash)) in group.iter().zip(reached) {
            match twins.iter_mut().find(|(have, _)| have == hash) {
                Some((_, drives)) => drives.push(*drive),
                None => twins.push((*hash, vec![*drive])),
            }
        }
        let leader = group[0];
        let moments = PARTS * twins.len() as f64;
        for (number, (_, mut drives)) in twins.into_iter().enumerate() {
            drives.retain(|drive| *drive != leader);
            self.followers.extend_from_slice(&drives);
            self.due.push((1.0 - number as f64 / moments, leader, drives));
        }
    }
}

impl Receiver for Sharing {
    /// Hands writes on to the drives that get them.
    fn write(&mut self, machine: &mut Machine, volume: u16, writes: &[UntimedWrite]) {
        machine.write_untimed_where(volume, writes, &mut |drive, _| !self.followers.contains(&(drive as u32)));
    }

    /// Copies the contents that are due.
    fn settle(&mut self, machine: &mut Machine, share: f64) {
        while let Some((_, leader, drives)) = self.due.pop_if(|(at, ..)| *at <= share) {
            machine.copy_contents(leader, &drives);
        }
    }
}

impl Sample {
    /// Number of writes that reached a drive, and a hash of them.
    fn of_drive(&self, drive: u32) -> (u64, u64) {
        self.drives.get(&drive).map_or((0, 0), |reached| (reached.writes, reached.hash.finish()))
    }
}

impl Receiver for Sample {
    fn write(&mut self, machine: &mut Machine, volume: u16, writes: &[UntimedWrite]) {
        machine.plan_untimed(volume, writes, &mut |drive, writes| {
            let reached = self.drives.entry(drive as u32).or_default();
            reached.writes += writes.len() as u64;
            for write in writes {
                reached.hash.write_u64(write.offset);
            }
        });
    }
}

/// Whether the drives got equally many writes, apart from chance; true if there were none at all.
fn are_even(reached: &[(u64, u64)]) -> bool {
    let mean = reached.iter().map(|(writes, _)| *writes as f64).sum::<f64>() / reached.len() as f64;
    reached.iter().all(|(writes, _)| (*writes as f64 - mean).abs() <= SIGMAS * mean.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharing(reached: &[(u64, u64)]) -> Sharing {
        let group: Vec<u32> = (0..reached.len() as u32).collect();
        let mut sharing = Sharing::default();
        if are_even(reached) {
            sharing.add(&group, reached);
        }
        sharing
    }

    #[test]
    fn members_take_contents_at_moments_of_their_own_and_twins_at_the_same() {
        let mirrors = sharing(&[(1000, 7), (1000, 7), (1020, 8), (1020, 8)]);
        assert_eq!(mirrors.followers, [1, 2, 3]);
        assert_eq!(mirrors.due, [(1.0, 0, vec![1]), (1.0 - 1.0 / 32.0, 0, vec![2, 3])]);
        let unwritten = sharing(&[(0, 0); 3]);
        assert_eq!(unwritten.due, [(1.0, 0, vec![1, 2])]);
    }

    #[test]
    fn a_member_that_gets_more_than_chance_gives_it_is_written_itself() {
        assert!(sharing(&[(10_000, 1), (10_400, 2), (9_600, 3)]).due.len() == 3);
        assert!(sharing(&[(10_000, 1), (11_000, 2), (9_000, 3)]).due.is_empty());
    }
}
