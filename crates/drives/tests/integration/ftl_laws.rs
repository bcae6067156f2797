//! What must hold in a translation layer whatever is written and trimmed, and after a loss of power.

use std::collections::{BTreeSet, HashMap};

use hotband_drives::parts::ftl::{
    Endurance, FlashWork, Ftl, FtlParams, PAGE_UNITS, Placement, Separation, Untimed, VictimPolicy,
};
use proptest::prelude::*;

const PAGES: u64 = 2000;
const BLOCK_PAGES: u32 = 32;

fn params(compressed: bool) -> FtlParams {
    FtlParams {
        pages: PAGES,
        blocks: (PAGES as u32).div_ceil(BLOCK_PAGES) * 5 / 4,
        spare_blocks: 3,
        block_units: BLOCK_PAGES * PAGE_UNITS,
        flash_page_units: 4 * PAGE_UNITS,
        program_units: 8 * PAGE_UNITS,
        compressed,
        in_place: false,
        pslc: None,
        victims: VictimPolicy::Greedy,
        separation: Separation::Relocated,
        free_low: 3,
        free_high: 6,
        buffer_pages: 20,
        wear_gap: Some(4),
        endurance: None,
    }
}

/// Something done to the drive.
#[derive(Clone, Copy, Debug)]
enum Act {
    Write { page: u64, count: u64, units: u32 },
    Trim { page: u64, count: u64 },
    Drain,
    Idle,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let page = prop_oneof![3 => 0..PAGES / 10, 1 => 0..PAGES];
    let act = (page, 1_u64..200, 1_u32..=PAGE_UNITS, 0_u8..20).prop_map(|(page, count, units, kind)| {
        let count = count.min(PAGES - page);
        match kind {
            0..=15 => Act::Write { page, count, units },
            16..=17 => Act::Trim { page, count },
            18 => Act::Drain,
            _ => Act::Idle,
        }
    });
    prop::collection::vec(act, 1..250)
}

fn kinds() -> impl Strategy<Value = FtlParams> {
    let victims = prop_oneof![
        Just(VictimPolicy::Greedy),
        (4_u32..40).prop_map(VictimPolicy::WindowedGreedy),
        Just(VictimPolicy::CostBenefit)
    ];
    let separation = prop_oneof![Just(Separation::None), Just(Separation::Relocated), Just(Separation::HotCold)];
    (victims, separation, any::<bool>()).prop_map(|(victims, separation, compressed)| FtlParams {
        victims,
        separation,
        ..params(compressed)
    })
}

/// Watches the flash: no block is written twice without an erase, and what was placed since is remembered.
#[derive(Default)]
struct Watch {
    /// Passes programmed since the last erase, by block.
    programmed: HashMap<u32, u32>,
    /// Placements whose pass is not programmed to the end.
    open: Vec<Placement>,
    passes: u64,
}

impl FlashWork for Watch {
    fn program(&mut self, block: u32, pass: u32, frontier: usize) {
        let expected = self.programmed.entry(block).or_default();
        assert_eq!(*expected, pass, "passes of a block are programmed in order, each once");
        *expected += 1;
        self.passes += 1;
        self.open.retain(|placement| placement.frontier != frontier);
    }
    fn read(&mut self, _: u32, _: u32) {}
    fn erase(&mut self, block: u32) {
        self.programmed.remove(&block);
        // The drive holds an erase back until everything placed before it is programmed.
        self.open.clear();
    }
    fn placed(&mut self, placement: &Placement) {
        self.open.push(*placement);
    }
}

fn apply(ftl: &mut Ftl, act: Act, flash: &mut impl FlashWork) {
    let compressed = ftl.params().compressed;
    match act {
        Act::Write { page, count, units } => {
            for page in page..page + count {
                ftl.write(page, if compressed { units } else { PAGE_UNITS }, flash);
            }
        }
        Act::Trim { page, count } => (page..page + count).for_each(|page| {
            ftl.trim(page);
        }),
        Act::Drain => ftl.drain(flash),
        Act::Idle => {
            ftl.collect_idle(flash);
        }
    }
}

/// Every page written, so that collection begins soon.
fn filled(params: FtlParams, flash: &mut impl FlashWork) -> Ftl {
    let mut ftl = Ftl::new(params);
    apply(&mut ftl, Act::Write { page: 0, count: PAGES, units: PAGE_UNITS }, flash);
    ftl
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn everything_adds_up_at_any_time(params in kinds(), acts in acts()) {
        let mut watch = Watch::default();
        let pass_units = u64::from(params.program_units);
        let mut ftl = filled(params, &mut watch);
        let mut held: Vec<bool> = vec![true; PAGES as usize];
        for act in acts {
            apply(&mut ftl, act, &mut watch);
            match act {
                Act::Write { page, count, .. } => held[page as usize..(page + count) as usize].fill(true),
                Act::Trim { page, count } => held[page as usize..(page + count) as usize].fill(false),
                Act::Drain | Act::Idle => {}
            }
            ftl.check().map_err(|broken| TestCaseError::fail(broken.0))?;
            prop_assert!(ftl.free_blocks() >= 2, "collection keeps its reserve");
            for page in 0..PAGES {
                let there = ftl.place_of(page).is_some() || ftl.is_buffered(page);
                prop_assert_eq!(there, held[page as usize], "page {}", page);
            }
            let c = *ftl.counters();
            prop_assert_eq!(c.passes, watch.passes);
            prop_assert_eq!(
                c.passes * pass_units + ftl.open_units(),
                c.host + c.relocated + c.padding,
                "flash = host after compression + relocated + padding"
            );
        }
    }

    #[test]
    fn power_loss_loses_the_buffer_and_open_passes_and_nothing_else(
        params in kinds(), before in acts(), after in acts(),
    ) {
        let mut watch = Watch::default();
        let mut ftl = filled(params, &mut watch);
        ftl.drain(&mut watch);
        for act in before {
            apply(&mut ftl, act, &mut watch);
        }
        // What is durable: everything but the pages in the buffer and on passes that are not programmed.
        let lost: Vec<Placement> = watch.open.clone();
        let volatile: Vec<u64> = lost.iter().map(|placement| u64::from(placement.page)).collect();
        let place = |ftl: &Ftl| -> Vec<Option<(u32, u32)>> { (0..PAGES).map(|page| ftl.place_of(page)).collect() };
        let then = place(&ftl);
        ftl.recover(&lost);
        ftl.check().map_err(|broken| TestCaseError::fail(format!("after recovery: {}", broken.0)))?;
        let now = place(&ftl);
        for page in 0..PAGES {
            prop_assert!(!ftl.is_buffered(page));
            if !volatile.contains(&page) {
                prop_assert_eq!(then[page as usize], now[page as usize], "page {} was durable", page);
            }
        }
        // The drive goes on.
        for act in after {
            apply(&mut ftl, act, &mut Untimed);
            ftl.check().map_err(|broken| TestCaseError::fail(format!("later: {}", broken.0)))?;
            prop_assert!(ftl.free_blocks() >= 2, "collection keeps its reserve");
        }
    }

    #[test]
    fn a_write_in_the_buffer_is_taken_once(pages in prop::collection::vec(0..10_u64, 1..20)) {
        let mut ftl = Ftl::new(params(false));
        let mut distinct = pages.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let again = pages.iter().filter(|page| ftl.write(**page, PAGE_UNITS, &mut Untimed)).count();
        prop_assert_eq!(again, pages.len() - distinct.len());
        prop_assert_eq!(ftl.buffered(), distinct.len());
        prop_assert_eq!(ftl.counters().coalesced_pages, again as u64);
    }
}

/// Random pages, from a linear congruential generator (Knuth's MMIX).
fn random_pages(count: u64, upto: u64) -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    (0..count).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % upto
    })
}

#[test]
fn cold_data_is_moved_so_that_its_blocks_wear_too() {
    let spread = |wear_gap| {
        let mut ftl = filled(FtlParams { wear_gap, ..params(false) }, &mut Untimed);
        // Nine tenths are never written again.
        random_pages(200_000, PAGES / 10).for_each(|page| {
            ftl.write(page, PAGE_UNITS, &mut Untimed);
        });
        let (mean, most, _) = ftl.wear();
        (most as f64 - mean, ftl.counters().levelled)
    };
    let (without, none) = spread(None);
    let (with, levelled) = spread(Some(4));
    assert_eq!(none, 0);
    assert!(levelled > 0 && with < without / 2.0, "{with} erases above the mean, {without} without levelling");
}

#[test]
fn worn_blocks_are_replaced_and_in_the_end_the_drive_takes_no_more_writes() {
    let endurance = Some(Endurance { cycles: 20.0, spread: 0.1 });
    let mut ftl = filled(FtlParams { endurance, ..params(false) }, &mut Untimed);
    let mut first_bad = None;
    let mut written = 0_u64;
    for page in random_pages(400_000, PAGES) {
        if ftl.is_write_protected() {
            break;
        }
        ftl.write(page, PAGE_UNITS, &mut Untimed);
        written += 1;
        if ftl.wear().2 > 0 {
            first_bad.get_or_insert(written);
        }
    }
    let (mean, _, bad) = ftl.wear();
    assert!(ftl.is_write_protected(), "after {written} writes");
    // 78 blocks and 3 in reserve; 63 hold the pages, and collection needs 6: the first too few is the 13th bad one.
    assert_eq!(bad, 13, "bad blocks");
    assert!(first_bad.unwrap() < written, "it went on with the reserve for a while");
    assert!((12.0..20.0).contains(&mean), "near the rated 20 cycles: {mean}");
    ftl.check().unwrap();
    let before: Vec<_> = (0..PAGES).map(|page| ftl.place_of(page)).collect();
    ftl.write(0, PAGE_UNITS, &mut Untimed);
    ftl.drain(&mut Untimed);
    ftl.check().unwrap();
    let readable = (0..PAGES).filter(|page| ftl.place_of(*page).is_some()).count();
    assert!(readable >= before.iter().flatten().count() - 1, "what was written stays readable");
}

#[test]
fn trimmed_space_is_over_provisioning() {
    let amplification = |trimmed: bool| {
        let mut ftl = filled(params(false), &mut Untimed);
        if trimmed {
            (PAGES / 2..PAGES).for_each(|page| {
                ftl.trim(page);
            });
        }
        random_pages(100_000, PAGES / 2).for_each(|page| {
            ftl.write(page, PAGE_UNITS, &mut Untimed);
        });
        let c = ftl.counters();
        (c.host + c.relocated) as f64 / c.host as f64
    };
    assert!(amplification(true) < 1.2, "{}", amplification(true));
    assert!(amplification(false) > 1.5, "{}", amplification(false));
}

/// Which frontiers data went to, of the host (`false`) and relocated.
#[derive(Default)]
struct Went(BTreeSet<(usize, bool)>);

impl FlashWork for Went {
    fn program(&mut self, _: u32, _: u32, _: usize) {}
    fn read(&mut self, _: u32, _: u32) {}
    fn erase(&mut self, _: u32) {}
    fn placed(&mut self, placement: &Placement) {
        self.0.insert((placement.frontier, placement.relocated));
    }
}

#[test]
fn relocated_and_hot_data_go_to_frontiers_of_their_own_where_they_are_kept_apart() {
    let (host, relocated, hot) = (0, 1, 2);
    for (separation, expected) in [
        (Separation::None, vec![(host, false), (host, true)]),
        (Separation::Relocated, vec![(host, false), (relocated, true)]),
        (Separation::HotCold, vec![(host, false), (relocated, true), (hot, false), (hot, true)]),
    ] {
        let mut went = Went::default();
        let mut ftl = filled(FtlParams { separation, ..params(false) }, &mut went);
        // A tenth of the pages gets four of five writes.
        for (number, page) in random_pages(20_000, PAGES).enumerate() {
            ftl.write(if number % 5 == 0 { page } else { page / 10 }, PAGE_UNITS, &mut went);
        }
        assert_eq!(went.0.into_iter().collect::<Vec<_>>(), expected, "{separation:?}");
    }
}

#[test]
fn a_map_takes_four_bytes_a_page_and_a_fifth_where_sizes_differ() {
    let memory = |compressed, pages, filled| Ftl::memory(&FtlParams { pages, ..params(compressed) }, filled);
    assert_eq!(memory(false, PAGES, false) - memory(false, 0, false), 4 * PAGES);
    assert_eq!(memory(true, PAGES, false) - memory(true, 0, false), 5 * PAGES);
    // A log knows the page of every place in its block.
    let logs = u64::from(params(false).blocks * BLOCK_PAGES) * 4;
    assert_eq!(memory(false, PAGES, true) - memory(false, PAGES, false), logs);
}
