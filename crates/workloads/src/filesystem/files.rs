//! The files: eight bytes each where a file is one extent, which nearly all are.

use super::geometry::{Geometry, RESERVED_INODES};
use super::space::{Extent, LONGEST_EXTENT};
use super::spec::{BLOCK, PopulationSpec};
use crate::Random;

/// The name of no block.
pub const NONE: u32 = u32::MAX;
/// Marks an index into the files of several extents.
const MANY: u32 = 1 << 31;
/// Extents that fit into an inode (ext4: 60 bytes of i_block, 12 of them the header, 12 an extent).
const INLINE_EXTENTS: usize = 4;
/// Bytes of a directory entry: 8 and a name of up to 24 (assumed; netmist's names have 3 to 13
/// characters and a number).
const ENTRY: u32 = 32;
/// Directories that each process makes by mkdir, turn by turn: 50, as SWBUILD has directories (see `dirs`).
pub const MADE: u32 = 50;

/// A file of several extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fragments {
    extents: Vec<Extent>,
    /// The block with the extents that do not fit into the inode.
    tree: Option<u32>,
}

/// All files and directories of all processes.
#[derive(Clone, Debug)]
pub struct Files {
    population: PopulationSpec,
    processes: u32,
    start: Vec<u32>,
    size: Vec<u32>,
    many: Vec<Fragments>,
    unused: Vec<u32>,
    /// First block of each directory.
    dirs: Vec<u32>,
    /// Blocks of each directory.
    dir_blocks: u32,
    /// Blocks of the directories made by mkdir.
    made: Vec<u32>,
    groups: u32,
    inodes: u32,
}

/// Why the files do not fit into the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewInodes;

impl Files {
    /// No file exists yet.
    ///
    /// # Errors
    /// The inodes of a group do not suffice for its directories.
    pub fn new(population: PopulationSpec, processes: u32, geometry: &Geometry) -> Result<Self, TooFewInodes> {
        let dirs = processes * population.sets * population.dirs;
        let files = Self {
            population,
            processes,
            start: vec![NONE; (dirs * population.files_per_dir) as usize],
            size: vec![0; (dirs * population.files_per_dir) as usize],
            many: Vec::new(),
            unused: Vec::new(),
            dirs: vec![NONE; dirs as usize],
            dir_blocks: (population.files_per_dir * ENTRY).div_ceil(BLOCK),
            made: vec![NONE; (processes * MADE) as usize],
            groups: geometry.groups,
            inodes: geometry.inodes,
        };
        let in_a_group = u64::from(dirs.div_ceil(geometry.groups));
        let needed = in_a_group * u64::from(population.files_per_dir + 1) + u64::from(RESERVED_INODES);
        if needed > u64::from(geometry.inodes) { Err(TooFewInodes) } else { Ok(files) }
    }

    /// Directories.
    pub fn dirs(&self) -> u32 {
        self.dirs.len() as u32
    }

    /// Files of a directory.
    pub fn of_dir(&self, dir: u32) -> std::ops::Range<u32> {
        dir * self.population.files_per_dir..(dir + 1) * self.population.files_per_dir
    }

    /// The set that the files of a directory belong to.
    pub fn set_of(&self, dir: u32) -> u32 {
        dir / self.population.dirs % self.population.sets
    }

    /// A file of a set of a process.
    pub fn pick(&self, process: u32, set: u32, random: &mut Random) -> u32 {
        let of_set = self.population.dirs * self.population.files_per_dir;
        (process * self.population.sets + set) * of_set + random.below(u64::from(of_set)) as u32
    }

    /// The directory of a file.
    pub fn dir_of(&self, file: u32) -> u32 {
        file / self.population.files_per_dir
    }

    /// The group of a directory: they are spread evenly, as ext4 spreads directories over groups with free inodes.
    pub fn group_of(&self, dir: u32) -> u32 {
        (u64::from(dir) * u64::from(self.groups) / u64::from(self.dirs())) as u32
    }

    /// The inode of a directory; its files follow.
    pub fn dir_inode(&self, dir: u32) -> u32 {
        let group = self.group_of(dir);
        let first = (u64::from(group) * u64::from(self.dirs())).div_ceil(u64::from(self.groups)) as u32;
        group * self.inodes + RESERVED_INODES + (dir - first) * (self.population.files_per_dir + 1)
    }

    /// The inode of a file: its place in the directory decides, since a freed one is the first to be taken again.
    pub fn inode(&self, file: u32) -> u32 {
        let dir = self.dir_of(file);
        self.dir_inode(dir) + 1 + file % self.population.files_per_dir
    }

    /// Blocks that a directory has.
    pub fn dir_blocks(&self) -> u32 {
        self.dir_blocks
    }

    /// First block of a directory.
    pub fn dir_start(&self, dir: u32) -> u32 {
        self.dirs[dir as usize]
    }

    /// Returns where a directory lies.
    pub fn place_dir(&mut self, dir: u32, start: u32) {
        self.dirs[dir as usize] = start;
    }

    /// The block with the entry of a file.
    pub fn entry_block(&self, file: u32) -> u32 {
        let at = file % self.population.files_per_dir * ENTRY / BLOCK;
        self.dirs[self.dir_of(file) as usize] + at
    }

    /// Return one of the directories that a process makes, as an index.
    pub fn pick_made(&self, process: u32, random: &mut Random) -> u32 {
        debug_assert!(process < self.processes);
        process * MADE + random.below(u64::from(MADE)) as u32
    }

    /// The process that makes a directory.
    pub fn maker(made: u32) -> u32 {
        made / MADE
    }

    /// The block of a made directory, exchanged for another (or for none).
    pub fn exchange_made(&mut self, made: u32, block: u32) -> u32 {
        std::mem::replace(&mut self.made[made as usize], block)
    }

    /// Whether a file exists.
    pub fn exists(&self, file: u32) -> bool {
        self.start[file as usize] != NONE || self.size[file as usize] == NONE
    }

    /// Bytes of a file; zero if it is empty or does not exist.
    pub fn size(&self, file: u32) -> u32 {
        let size = self.size[file as usize];
        if size == NONE { 0 } else { size }
    }

    /// A new size of a file: the mean, spread as a normal distribution would (a sum of twelve), within 1 byte and
    /// twice the mean.
    pub fn draw_size(&self, random: &mut Random) -> u32 {
        let mean = f64::from(self.population.file_size);
        if self.population.spread <= 0.0 {
            return self.population.file_size;
        }
        let lanes = |bits: u64| (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        let sum: u64 = (0..3).map(|_| lanes(random.bits())).sum();
        let normal = sum as f64 / 65_536.0 - 6.0;
        (mean * (1.0 + self.population.spread * normal)).clamp(1.0, 2.0 * mean) as u32
    }

    /// Gives a file that does not exist, or is empty, its size and its blocks; `tree` if they need
    /// a block for themselves.
    pub fn fill(&mut self, file: u32, size: u32, extents: &[Extent], tree: Option<u32>) {
        debug_assert_eq!(extents.iter().map(|extent| extent.1).sum::<u32>(), size.div_ceil(BLOCK));
        let at = file as usize;
        match extents {
            // An empty file exists and has no block.
            [] => (self.start[at], self.size[at]) = (NONE, NONE),
            [(start, _)] => (self.start[at], self.size[at]) = (*start, size),
            _ => {
                let index = self.unused.pop().unwrap_or_else(|| {
                    self.many.push(Fragments::default());
                    self.many.len() as u32 - 1
                });
                self.many[index as usize] = Fragments { extents: extents.to_vec(), tree };
                (self.start[at], self.size[at]) = (MANY | index, size);
            }
        }
    }

    /// Whether this many extents need a separate block.
    pub fn needs_tree(extents: &[Extent]) -> bool {
        extents.len() > INLINE_EXTENTS
    }

    /// The block with the extents of a file, if it has one.
    pub fn tree(&self, file: u32) -> Option<u32> {
        let start = self.start[file as usize];
        if start == NONE || start & MANY == 0 { None } else { self.many[(start ^ MANY) as usize].tree }
    }

    /// Takes the blocks of a file away and appends them, its tree last; the file does not exist any more.
    pub fn empty(&mut self, file: u32, out: &mut Vec<Extent>) {
        self.extents(file, 0, u32::MAX, out);
        out.extend(self.tree(file).map(|block| (block, 1)));
        let start = std::mem::replace(&mut self.start[file as usize], NONE);
        self.size[file as usize] = 0;
        if start != NONE && start & MANY != 0 {
            self.many[(start ^ MANY) as usize] = Fragments::default();
            self.unused.push(start ^ MANY);
        }
    }

    /// Appends the blocks that hold at most `pages` pages of a file from `page` on.
    pub fn extents(&self, file: u32, page: u32, pages: u32, out: &mut Vec<Extent>) {
        let all = self.size(file).div_ceil(BLOCK);
        let (mut skip, mut left) = (page, pages.min(all.saturating_sub(page)));
        let start = self.start[file as usize];
        if start == NONE || left == 0 {
            return;
        }
        if start & MANY == 0 {
            out.push((start + skip, left));
            return;
        }
        for (at, len) in &self.many[(start ^ MANY) as usize].extents {
            if skip >= *len {
                skip -= len;
                continue;
            }
            let count = left.min(len - skip);
            out.push((at + skip, count));
            (skip, left) = (0, left - count);
            if left == 0 {
                break;
            }
        }
    }

    /// The block of a page within the file.
    pub fn block_of(&self, file: u32, page: u32) -> u32 {
        let start = self.start[file as usize];
        if start & MANY == 0 {
            return start + page;
        }
        let mut skip = page;
        for (at, len) in &self.many[(start ^ MANY) as usize].extents {
            if skip < *len {
                return at + skip;
            }
            skip -= len;
        }
        unreachable!("the page lies within the file")
    }

    /// Whether a block belongs to a file; no block belongs to no file.
    pub fn owns(&self, file: u32, block: u32) -> bool {
        let Some(start) = self.start.get(file as usize).copied().filter(|start| *start != NONE) else { return false };
        if start & MANY == 0 {
            return block >= start && block - start < self.size(file).div_ceil(BLOCK);
        }
        self.many[(start ^ MANY) as usize].extents.iter().any(|(at, len)| block >= *at && block - at < *len)
    }

    /// Blocks of a file of the mean size, and of its tree.
    pub fn mean_blocks(population: &PopulationSpec) -> f64 {
        let mean = f64::from(population.file_size);
        let blocks = if population.spread > 0.0 {
            // The last block of a file of a random size is half empty.
            mean / f64::from(BLOCK) + 0.5
        } else {
            (mean / f64::from(BLOCK)).ceil()
        };
        let extents = blocks / f64::from(LONGEST_EXTENT);
        if extents > INLINE_EXTENTS as f64 { blocks + 1.0 } else { blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(population: PopulationSpec, processes: u32) -> Files {
        let geometry = Geometry::new(4 << 30, 16_384, None).expect("it fits");
        Files::new(population, processes, &geometry).expect("inodes suffice")
    }

    const SMALL: PopulationSpec =
        PopulationSpec { sets: 3, dirs: 4, files_per_dir: 30, file_size: 16_384, spread: 0.3 };

    #[test]
    fn no_two_files_share_an_inode() {
        let files = files(SMALL, 7);
        let mut inodes: Vec<u32> = (0..files.dirs()).map(|dir| files.dir_inode(dir)).collect();
        inodes.extend((0..files.dirs()).flat_map(|dir| files.of_dir(dir)).map(|file| files.inode(file)));
        let count = inodes.len();
        inodes.sort_unstable();
        inodes.dedup();
        assert_eq!((count, inodes.len()), (7 * 12 * 31, 7 * 12 * 31));
        assert!((0..files.dirs()).all(|dir| files.dir_inode(dir) / files.inodes == files.group_of(dir)));
    }

    #[test]
    fn too_many_files_for_the_inodes_are_refused() {
        let geometry = Geometry::new(4 << 30, 1 << 20, None).expect("it fits");
        let population = PopulationSpec { files_per_dir: 1000, ..SMALL };
        assert_eq!(Files::new(population, 7, &geometry).err(), Some(TooFewInodes));
    }

    #[test]
    fn sizes_have_the_mean_and_the_spread() {
        let (files, mut random) = (files(SMALL, 1), Random::new(1, "sizes"));
        let sizes: Vec<f64> = (0..40_000).map(|_| f64::from(files.draw_size(&mut random))).collect();
        let mean = sizes.iter().sum::<f64>() / 4e4;
        let deviation = (sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / 4e4).sqrt();
        assert!((mean / 16_384.0 - 1.0).abs() < 0.0075, "{mean}: beyond 5 standard errors");
        assert!((deviation / (0.3 * 16_384.0) - 1.0).abs() < 0.02, "{deviation}");
    }

    #[test]
    fn pages_of_a_file_in_pieces_are_found() {
        let mut files = files(SMALL, 1);
        files.fill(5, 9 * BLOCK - 1, &[(100, 3), (700, 1), (50, 5)], Some(9));
        let mut out = Vec::new();
        files.extents(5, 2, 4, &mut out);
        assert_eq!(out, [(102, 1), (700, 1), (50, 2)]);
        let blocks: Vec<u32> = (0..9).map(|page| files.block_of(5, page)).collect();
        assert_eq!(blocks, [100, 101, 102, 700, 50, 51, 52, 53, 54]);
        assert!(blocks.iter().all(|block| files.owns(5, *block)) && !files.owns(5, 55) && !files.owns(5, 103));
        out.clear();
        files.empty(5, &mut out);
        assert_eq!(out, [(100, 3), (700, 1), (50, 5), (9, 1)], "its tree last");
        assert!(!files.exists(5));
        files.fill(5, 0, &[], None);
        assert!(files.exists(5) && files.size(5) == 0, "empty, and there");
    }
}
