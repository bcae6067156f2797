//! Are lists of blocks what counting afresh says, whatever is written, invalidated, collected and erased?

use super::*;
use crate::parts::ftl::{Endurance, Separation};
use proptest::prelude::*;

const BLOCKS: u32 = 12;
const BLOCK_PAGES: u32 = 64;
const BLOCK_UNITS: u32 = BLOCK_PAGES * PAGE_UNITS;

fn params(endurance: Option<Endurance>) -> FtlParams {
    FtlParams {
        pages: 256,
        blocks: BLOCKS,
        spare_blocks: 2,
        block_units: BLOCK_UNITS,
        flash_page_units: PAGE_UNITS,
        program_units: PAGE_UNITS,
        compressed: true,
        in_place: false,
        pslc: None,
        victims: VictimPolicy::Greedy,
        separation: Separation::None,
        free_low: 2,
        free_high: 4,
        buffer_pages: 1,
        wear_gap: None,
        endurance,
    }
}

/// A closed block, as it is counted here.
#[derive(Clone, Debug)]
struct Closed {
    block: u32,
    /// The clock when it was closed.
    at: u64,
    /// Units of its valid pages.
    pages: Vec<u32>,
}

impl Closed {
    fn live(&self) -> u32 {
        self.pages.iter().sum()
    }

    /// Benefit over cost (Rosenblum and Ousterhout, 1992): what comes free, times its age, over reading and writing.
    fn worth(&self, clock: u64) -> f64 {
        let used = f64::from(self.live()) / f64::from(BLOCK_UNITS);
        (1.0 - used) * (clock - self.at + 1) as f64 / (2.0 * used).max(1e-9)
    }
}

/// Blocks, and what they should be.
struct Bench {
    blocks: Blocks,
    /// In order of closing.
    closed: Vec<Closed>,
    erases: Vec<u32>,
    free: Vec<u32>,
    clock: u64,
}

impl Bench {
    fn new() -> Self {
        let count = (BLOCKS + 2) as usize;
        let blocks = Blocks::new(&params(None));
        Self { blocks, closed: Vec::new(), erases: vec![0; count], free: (0..BLOCKS).collect(), clock: 0 }
    }

    /// Fills the free block that was erased least with pages of `units`.
    fn fill(&mut self, pages: u32, units: u32) {
        let expected = self.free.iter().copied().min_by_key(|block| (self.erases[*block as usize], *block));
        assert_eq!(self.blocks.take_free(), expected);
        let Some(block) = expected else { return };
        self.free.retain(|free| *free != block);
        for page in 0..pages {
            self.blocks.add(block, page, units);
        }
        self.clock += u64::from(pages);
        self.blocks.close(block, self.clock, 0);
        self.closed.push(Closed { block, at: self.clock, pages: vec![units; pages as usize] });
    }

    /// Pages of a closed block are written elsewhere.
    fn invalidate(&mut self, which: usize, pages: u32) {
        let Some(count) = self.closed.len().checked_sub(1) else { return };
        let closed = &mut self.closed[which % (count + 1)];
        for units in closed.pages.drain(..closed.pages.len().min(pages as usize)) {
            self.blocks.remove(closed.block, units);
        }
        self.clock += 1;
    }

    /// A closed block is collected and erased.
    fn collect(&mut self, which: usize) {
        let Some(count) = self.closed.len().checked_sub(1) else { return };
        let closed = self.closed.remove(which % (count + 1));
        self.blocks.begin_collection(closed.block);
        self.blocks.remove_from_victim(closed.block, closed.live(), closed.pages.len() as u32);
        self.blocks.erase(closed.block);
        self.erases[closed.block as usize] += 1;
        self.free.push(closed.block);
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let by_age: Vec<u32> = self.closed.iter().map(|closed| closed.block).collect();
        prop_assert_eq!(self.blocks.by_age().collect::<Vec<_>>(), by_age);
        prop_assert_eq!(self.blocks.free_count() as usize, self.free.len());
        let entries: usize = self.blocks.logs.iter().map(Vec::len).sum();
        prop_assert_eq!(self.blocks.entries, entries as u64);
        let erased: u32 = self.erases.iter().sum();
        let most = u64::from(*self.erases.iter().max().unwrap());
        prop_assert_eq!(self.blocks.wear(), (f64::from(erased) / f64::from(BLOCKS + 2), most, 0));
        let least_worn = self.closed.iter().min_by_key(|closed| self.erases[closed.block as usize]);
        prop_assert_eq!(self.blocks.least_worn(), least_worn.map(|closed| closed.block));
        let restored = Blocks::restored(&self.blocks, &params(None), &self.live(), &self.valid());
        for mut blocks in [self.blocks.clone(), restored] {
            self.check_victims(&mut blocks)?;
        }
        Ok(())
    }

    fn check_victims(&self, blocks: &mut Blocks) -> Result<(), TestCaseError> {
        let live = |block: u32| self.closed.iter().find(|closed| closed.block == block).map(Closed::live);
        let least = self.closed.iter().map(Closed::live).min();
        let greedy = blocks.victim(VictimPolicy::Greedy, self.clock);
        // Blocks are sorted by valid data in steps of four units.
        prop_assert_eq!(greedy.and_then(live).map(|live| live / 4), least.map(|live| live / 4));
        for window in [1, 3, 20] {
            let expected = self.closed.iter().take(window).min_by_key(|closed| closed.live());
            let victim = blocks.victim(VictimPolicy::WindowedGreedy(window as u32), self.clock);
            prop_assert_eq!(victim, expected.map(|closed| closed.block), "window of {}", window);
        }
        let best = self.closed.iter().map(|closed| closed.worth(self.clock)).fold(0.0, f64::max);
        let chosen = blocks.victim(VictimPolicy::CostBenefit, self.clock);
        let worth = self
            .closed
            .iter()
            .find(|closed| Some(closed.block) == chosen)
            .map(|chosen_block| chosen_block.worth(self.clock));
        prop_assert_eq!(chosen.is_some(), !self.closed.is_empty());
        prop_assert!(worth.is_none_or(|worth| worth >= best * (1.0 - 1e-12)));
        Ok(())
    }

    fn live(&self) -> Vec<u32> {
        self.blocks.all.iter().map(|block| block.live).collect()
    }

    fn valid(&self) -> Vec<u32> {
        self.blocks.all.iter().map(|block| block.valid).collect()
    }
}

proptest! {
    #[test]
    fn victims_and_ages_are_what_counting_afresh_says(
        steps in proptest::collection::vec((0_u8..8, 0_usize..12, 1..=BLOCK_PAGES, 1..=PAGE_UNITS), 1..150),
    ) {
        let mut bench = Bench::new();
        for (what, which, pages, units) in steps {
            match what {
                0..=3 => bench.fill(pages, units),
                4..=6 => bench.invalidate(which, pages),
                _ => bench.collect(which),
            }
            bench.check()?;
        }
    }
}

#[test]
fn a_worn_block_is_replaced_by_a_spare_one_while_there_is_one() {
    let mut blocks = Blocks::new(&params(Some(Endurance { cycles: 1.0, spread: 0.0 })));
    let mut used = Vec::new();
    while let Some(block) = blocks.take_free() {
        used.push(block);
        blocks.erase(block);
        assert_eq!(blocks.all[block as usize].state, State::Bad);
        let spares = 2_u32.saturating_sub(used.len() as u32);
        assert_eq!(blocks.free_count(), BLOCKS + 2 - spares - used.len() as u32);
    }
    assert_eq!(used, (0..BLOCKS + 2).collect::<Vec<_>>());
    assert_eq!(blocks.wear(), (1.0, 1, u64::from(BLOCKS + 2)));
}
