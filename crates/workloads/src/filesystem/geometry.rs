//! Location of a file system's metadata on the volume: ext4's groups, packed by 16 (flex_bg).

use super::spec::BLOCK;

/// Blocks of a group: one bitmap block has a bit for each.
pub const GROUP: u32 = BLOCK * 8;
/// Groups whose bitmaps and inode tables lie together (mke2fs.conf: flex_bg, mke2fs(8) -G: default 16).
const FLEX: u32 = 16;
/// Bytes of an inode (mke2fs.conf: inode_size = 256).
const INODE: u32 = 256;
/// Group descriptors in a block: 32 bytes each (ext4 without the 64bit feature, as e2fsprogs 1.42 makes it).
const DESCRIPTORS: u32 = BLOCK / 32;
/// Reserved inodes of the first group; here every group reserves them (EXT4_GOOD_OLD_FIRST_INO = 11).
pub const RESERVED_INODES: u32 = 16;

/// The layout of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of groups; the volume beyond the last whole group is not used.
    pub groups: u32,
    /// Inodes of a group.
    pub inodes: u32,
    /// Blocks of the inode table of a group.
    table: u32,
    /// First block of the journal.
    pub journal: u32,
    /// Blocks of the journal.
    pub journal_len: u32,
}

impl Geometry {
    /// For a volume of `capacity` bytes; none if it does not hold a group, or has over 2^31 blocks.
    pub fn new(capacity: u64, bytes_per_inode: u32, journal: Option<u64>) -> Option<Self> {
        let groups = u32::try_from(capacity / u64::from(BLOCK)).ok().filter(|blocks| *blocks < 1 << 31)? / GROUP;
        let per_block = BLOCK / INODE;
        let inodes = (u64::from(GROUP) * u64::from(BLOCK) / u64::from(bytes_per_inode)) as u32;
        let inodes = inodes.next_multiple_of(per_block).max(4 * per_block).min(GROUP / 2);
        let table = inodes / per_block;
        let journal_len = journal.map_or_else(|| default_journal(groups * GROUP), |b| (b / u64::from(BLOCK)) as u32);
        let mut geometry = Self { groups, inodes, table, journal: 0, journal_len };
        if groups == 0 {
            return None;
        }
        // mke2fs puts the journal into the middle of the file system.
        let middle = groups / 2 / FLEX * FLEX;
        geometry.journal = geometry.flex_start(middle) + geometry.flex_len(middle);
        let room = geometry.blocks() - geometry.journal;
        (journal_len + GROUP / 8 < room).then_some(geometry)
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u32 {
        self.groups * GROUP
    }

    fn descriptors(&self) -> u32 {
        self.groups.div_ceil(DESCRIPTORS)
    }

    /// First block of the metadata of the flex group that begins with `group`.
    fn flex_start(&self, group: u32) -> u32 {
        group * GROUP + if group == 0 { 1 + self.descriptors() } else { 0 }
    }

    fn flex_groups(&self, first: u32) -> u32 {
        FLEX.min(self.groups - first)
    }

    fn flex_len(&self, first: u32) -> u32 {
        self.flex_groups(first) * (2 + self.table)
    }

    /// The ranges of fixed metadata as first block and length, in order, without the journal.
    pub fn fixed(&self) -> impl Iterator<Item = (u32, u32)> {
        let flex = (0..self.groups).step_by(FLEX as usize).map(|first| (self.flex_start(first), self.flex_len(first)));
        std::iter::once((0, 1 + self.descriptors())).chain(flex)
    }

    /// The block bitmap of a group.
    pub fn block_bitmap(&self, group: u32) -> u32 {
        let first = group / FLEX * FLEX;
        self.flex_start(first) + group - first
    }

    /// The inode bitmap of a group.
    pub fn inode_bitmap(&self, group: u32) -> u32 {
        let first = group / FLEX * FLEX;
        self.block_bitmap(group) + self.flex_groups(first)
    }

    /// The block that holds the descriptor of a group.
    pub fn descriptor(group: u32) -> u32 {
        1 + group / DESCRIPTORS
    }

    /// The block of the inode table that holds an inode.
    pub fn inode_block(&self, inode: u32) -> u32 {
        let group = inode / self.inodes;
        let first = group / FLEX * FLEX;
        let tables = self.flex_start(first) + 2 * self.flex_groups(first);
        tables + (group - first) * self.table + inode % self.inodes / (BLOCK / INODE)
    }
}

/// Blocks of the journal that mke2fs makes (`ext2fs_default_journal_size`, e2fsprogs 1.42).
fn default_journal(blocks: u32) -> u32 {
    match blocks {
        0..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..1_048_576 => 16_384,
        _ => 32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kinds_of_metadata_share_a_block() {
        let geometry = Geometry::new(40 * u64::from(GROUP) * 4096 + 5000, 16_384, None).expect("it fits");
        let mut seen = vec![false; geometry.blocks() as usize];
        let mut take = |block: u32| assert!(!std::mem::replace(&mut seen[block as usize], true), "{block}");
        take(0);
        (0..geometry.descriptors()).for_each(|n| take(1 + n));
        for group in 0..geometry.groups {
            take(geometry.block_bitmap(group));
            take(geometry.inode_bitmap(group));
            (0..geometry.inodes).step_by(16).for_each(|n| take(geometry.inode_block(group * geometry.inodes + n)));
        }
        let fixed: u32 = geometry.fixed().map(|(_, len)| len).sum();
        (0..geometry.journal_len).for_each(|n| take(geometry.journal + n));
        let taken = seen.iter().filter(|seen| **seen).count() as u32;
        assert_eq!(taken, fixed + geometry.journal_len, "all of it, and nothing else");
    }

    fn take_nothing(capacity: u64) -> Option<Geometry> {
        Geometry::new(capacity, 16_384, None)
    }

    #[test]
    fn a_volume_without_room_is_refused() {
        assert_eq!(take_nothing(100 << 20), None, "less than a group");
        assert_eq!(take_nothing(9 << 40), None, "over 2^31 blocks");
        assert!(take_nothing(200 << 20).is_some());
    }
}
