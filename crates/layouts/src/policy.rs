//! Choice of the mirror that serves a read.

use hotband_machine::MemberState;

/// Read policy of RAID 1 and RAID 10. With every policy a read that continues where the last read of a member ended
/// stays on that member, so that its read-ahead works (as Linux md's `read_balance` does).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPolicy {
    /// In turn.
    RoundRobin,
    /// The member with the fewest unanswered commands; equals take turns. Published mirrors show no shorter seeks at
    /// queue depth 1 (5 ms on the Exos array, 0 to 0.2 ms gained on two-drive mirrors), so nearness does not decide.
    LeastPending,
    /// The member whose last command ended nearest.
    NearestHead,
    /// The first idle member; if none is idle, the one whose last command ended nearest, as Linux md does for disks
    /// (drivers/md/raid1.c, `read_balance`). Shorter seeks under load, none of it at queue depth 1.
    IdleOrNearest,
    /// The range is divided among the members: each reads its own share of the addresses, so that its arm stays there.
    ByRegion,
}

impl ReadPolicy {
    /// Names in specs.
    pub const NAMES: [(&str, Self); 5] = [
        ("round-robin", Self::RoundRobin),
        ("least-pending", Self::LeastPending),
        ("nearest-head", Self::NearestHead),
        ("idle-or-nearest", Self::IdleOrNearest),
        ("by-region", Self::ByRegion),
    ];

    /// Index of the member (within `members`, each of `size` bytes) that reads at `offset` (as all of them number it).
    pub fn choose(self, members: &[MemberState], size: u64, offset: u64, turn: u64) -> usize {
        if let Some(index) = members.iter().position(|member| member.read_end == offset && offset > 0) {
            return index;
        }
        let all = 0..members.len();
        let distance = |index: &usize| members[*index].last_end.abs_diff(offset);
        match self {
            Self::RoundRobin => (turn % members.len() as u64) as usize,
            Self::LeastPending => {
                let turns = |index: usize| (index + turn as usize) % members.len();
                all.min_by_key(|i| (members[*i].pending, turns(*i))).unwrap_or(0)
            }
            Self::NearestHead => all.min_by_key(distance).unwrap_or(0),
            Self::IdleOrNearest => match members.iter().position(|member| member.pending == 0) {
                Some(idle) => idle,
                None => all.min_by_key(distance).unwrap_or(0),
            },
            Self::ByRegion => (u128::from(offset) * members.len() as u128 / u128::from(size.max(1))) as usize,
        }
    }
}
