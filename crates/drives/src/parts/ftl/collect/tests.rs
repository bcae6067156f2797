//! When is a block collected while the drive is idle?

use super::*;
use crate::parts::ftl::{FtlParams, Separation, Untimed};

const BLOCK_PAGES: u32 = 32;

/// Ten blocks full of valid data, and five free ones.
fn full() -> Ftl {
    let mut ftl = Ftl::new(FtlParams {
        pages: 320,
        blocks: 15,
        spare_blocks: 0,
        block_units: BLOCK_PAGES * PAGE_UNITS,
        flash_page_units: PAGE_UNITS,
        program_units: PAGE_UNITS,
        compressed: false,
        in_place: false,
        pslc: None,
        victims: VictimPolicy::Greedy,
        separation: Separation::Relocated,
        free_low: 3,
        free_high: 7,
        buffer_pages: 1,
        wear_gap: None,
        endurance: None,
    });
    (0..320).for_each(|page| {
        ftl.write(page, PAGE_UNITS, &mut Untimed);
    });
    ftl.drain(&mut Untimed);
    assert_eq!(ftl.free_blocks(), 5);
    ftl
}

/// Trims the first pages of a block of the host.
fn trim(ftl: &mut Ftl, block: u64, pages: u64) {
    let first = block * u64::from(BLOCK_PAGES);
    (first..first + pages).for_each(|page| assert!(ftl.trim(page)));
}

#[test]
fn a_block_that_is_nearly_full_of_valid_data_is_left_alone() {
    // 29 of 32 pages are 91 %, 28 are 88 %.
    for (trimmed, collects) in [(0, false), (3, false), (4, true)] {
        let mut ftl = full();
        trim(&mut ftl, 4, trimmed);
        assert_eq!(ftl.collect_idle(&mut Untimed), collects, "{trimmed} pages trimmed");
        let moved = if collects { 28 * u64::from(PAGE_UNITS) } else { 0 };
        assert_eq!((ftl.counters().relocated, ftl.counters().erases), (moved, u64::from(collects)));
    }
}

#[test]
fn it_collects_until_enough_blocks_are_free() {
    let mut ftl = full();
    (0..8).for_each(|block| trim(&mut ftl, block, 16));
    let mut free = vec![ftl.free_blocks()];
    while ftl.collect_idle(&mut Untimed) {
        free.push(ftl.free_blocks());
    }
    // The first takes a block for what it moves and gives its own back; two fill it, and each gives one more.
    assert_eq!(free, [5, 5, 6, 6, 7]);
    assert_eq!(ftl.check(), Ok(()));
}

#[test]
fn the_host_pays_for_a_victim_just_as_fast_as_it_uses_what_that_gives() {
    let mut ftl = full();
    // Three quarters of a block come free for one quarter that is moved: three pages of the host for one moved.
    (0..10).for_each(|block| trim(&mut ftl, block, 24));
    for page in 0..240_u32 {
        ftl.write(u64::from(page / 24 * 32 + page % 24), PAGE_UNITS, &mut Untimed);
        // One waits in the buffer; the first block is taken from more than are kept free.
        let host = f64::from(page.saturating_sub(BLOCK_PAGES));
        let moved = ftl.counters().relocated as f64 / f64::from(PAGE_UNITS);
        assert!((host / 3.0 - 8.0..=host / 3.0 + 8.0).contains(&moved), "{moved} pages moved for {host} of the host");
    }
    assert_eq!(ftl.check(), Ok(()));
}
