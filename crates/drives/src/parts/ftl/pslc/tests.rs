//! What goes through the cache, in what order it is folded, and what happens when it is full?

use super::*;
use crate::parts::ftl::{FtlParams, Separation, Untimed, VictimPolicy};

const PAGES: u64 = 1000;
const UNITS: u64 = PAGE_UNITS as u64;

/// A thousand pages behind a cache; nothing is buffered before it.
pub(in crate::parts::ftl) fn with_cache(pslc: PslcParams) -> Ftl {
    Ftl::new(FtlParams {
        pages: PAGES,
        blocks: 40,
        spare_blocks: 0,
        block_units: 32 * PAGE_UNITS,
        flash_page_units: PAGE_UNITS,
        program_units: PAGE_UNITS,
        compressed: false,
        in_place: false,
        pslc: Some(pslc),
        victims: VictimPolicy::Greedy,
        separation: Separation::Relocated,
        free_low: 3,
        free_high: 6,
        buffer_pages: 0,
        wear_gap: None,
        endurance: None,
    })
}

/// A cache of 10 pages and up to 50 more, programmed four at a time.
fn ftl(when_full: WhenFull) -> Ftl {
    let pass_units = 4 * PAGE_UNITS;
    with_cache(PslcParams { pass_units, fixed_pages: 10, dynamic_pages: 50, bits: 3, when_full })
}

fn write(ftl: &mut Ftl, pages: std::ops::Range<u64>) {
    pages.for_each(|page| {
        ftl.write(page, PAGE_UNITS, &mut Untimed);
    });
}

fn fold_all(ftl: &mut Ftl) {
    while ftl.fold_oldest(&mut Untimed) {}
}

#[test]
fn it_is_programmed_in_passes_and_the_last_is_filled_up() {
    let mut ftl = ftl(WhenFull::Direct);
    write(&mut ftl, 0..5);
    let counted =
        |ftl: &Ftl| (ftl.counters().host / UNITS, ftl.counters().cached / UNITS, ftl.counters().padding / UNITS);
    assert_eq!((counted(&ftl), ftl.open_units()), ((5, 4, 0), UNITS));
    ftl.drain(&mut Untimed);
    assert_eq!((counted(&ftl), ftl.open_units()), ((5, 8, 3), 0));
    ftl.drain(&mut Untimed);
    assert_eq!(counted(&ftl), (5, 8, 3), "nothing is left to be filled up");
    assert!((0..5).all(|page| ftl.is_cached(page)) && !ftl.is_cached(5));
}

#[test]
fn its_room_is_the_fixed_part_and_a_third_of_what_is_not_used() {
    let mut ftl = ftl(WhenFull::Fold);
    assert_eq!(ftl.cache_pages(), 60, "at most 50 more");
    write(&mut ftl, 0..850);
    fold_all(&mut ftl);
    assert_eq!((ftl.cache_pages(), ftl.cached()), (60, 0));
    write(&mut ftl, 850..900);
    assert_eq!(ftl.cache_pages(), 60, "what is in the cache uses nothing of the rest");
    fold_all(&mut ftl);
    assert_eq!(ftl.cache_pages(), 10 + 33);
    write(&mut ftl, 900..1000);
    fold_all(&mut ftl);
    assert_eq!((ftl.cache_pages(), ftl.used_pages(), ftl.check()), (10, 1000, Ok(())));
}

#[test]
fn what_is_folded_is_the_oldest_and_is_programmed_again() {
    let mut ftl = ftl(WhenFull::Direct);
    write(&mut ftl, 0..8);
    assert!(ftl.fold_oldest(&mut Untimed));
    let cached: Vec<u64> = (0..10).filter(|page| ftl.is_cached(*page)).collect();
    assert_eq!((cached, ftl.cached()), ((1..8).collect(), 7));
    assert!(ftl.place_of(0).is_some() && ftl.place_of(1).is_none());
    let counters = ftl.counters();
    assert_eq!([counters.host, counters.relocated, counters.folded].map(|units| units / UNITS), [8, 1, 1]);
}

#[test]
fn what_was_written_twice_is_folded_once_and_what_was_trimmed_not_at_all() {
    let mut ftl = ftl(WhenFull::Direct);
    write(&mut ftl, 0..3);
    write(&mut ftl, 0..1);
    assert!(ftl.trim(1));
    assert_eq!((ftl.cached(), ftl.used_pages()), (4, 2), "both entries of page 0, and that of page 1");
    fold_all(&mut ftl);
    assert_eq!((ftl.cached(), ftl.counters().folded / UNITS), (0, 2), "pages 0 and 2, once each");
    assert!([0, 2].iter().all(|page| ftl.place_of(*page).is_some()) && ftl.place_of(1).is_none());
    assert_eq!((ftl.check(), ftl.fold_oldest(&mut Untimed)), (Ok(()), false));
}

#[test]
fn a_page_that_is_written_again_and_again_is_folded_when_its_newest_data_is_the_oldest() {
    let mut ftl = ftl(WhenFull::Fold);
    // 60 entries fill the cache: page 0 after every ninth other page.
    for page in 1..=54 {
        write(&mut ftl, page..page + 1);
        if page % 9 == 0 {
            write(&mut ftl, 0..1);
        }
    }
    assert_eq!((ftl.cached(), ftl.counters().folded), (60, 0));
    // The oldest 59 entries, of which five are old data of page 0.
    (0..59).for_each(|_| assert!(ftl.fold_oldest(&mut Untimed)));
    assert_eq!((ftl.cached(), ftl.counters().folded / UNITS, ftl.is_cached(0)), (1, 54, true));
    assert!(ftl.fold_oldest(&mut Untimed));
    assert_eq!((ftl.cached(), ftl.counters().folded / UNITS, ftl.is_cached(0)), (0, 55, false));
    assert_eq!(ftl.check(), Ok(()));
}

#[test]
fn what_was_trimmed_and_comes_again_keeps_its_new_place_in_the_order() {
    let mut ftl = ftl(WhenFull::Direct);
    write(&mut ftl, 0..2);
    assert!(ftl.trim(0));
    write(&mut ftl, 2..3);
    write(&mut ftl, 0..1);
    for (left, is_cached) in [(3, true), (2, true), (1, true), (0, false)] {
        assert!(ftl.fold_oldest(&mut Untimed));
        assert_eq!((ftl.cached(), ftl.is_cached(0)), (left, is_cached));
    }
    assert_eq!(ftl.counters().folded / UNITS, 3);
}

#[test]
fn when_it_is_full_writes_go_past_it_or_wait_for_the_oldest() {
    for (when_full, past, folded) in [(WhenFull::Direct, 5, 0), (WhenFull::Fold, 0, 5)] {
        let mut ftl = ftl(when_full);
        write(&mut ftl, 0..60);
        assert_eq!((ftl.cached(), ftl.counters().folded), (60, 0));
        write(&mut ftl, 60..65);
        assert_eq!((ftl.cached(), ftl.counters().folded / UNITS), (60, folded), "{when_full:?}");
        let beside = (60..65).filter(|page| !ftl.is_cached(*page) && ftl.place_of(*page).is_some()).count();
        assert_eq!((beside, ftl.counters().host / UNITS), (past, 65), "{when_full:?}");
    }
}

#[test]
fn what_is_folded_beside_writes_does_not_part_them() {
    let cache = PslcParams {
        pass_units: 4 * PAGE_UNITS,
        fixed_pages: 10,
        dynamic_pages: 200,
        bits: 3,
        when_full: WhenFull::Direct,
    };
    let mut params = with_cache(cache).params().clone();
    (params.flash_page_units, params.program_units) = (4 * PAGE_UNITS, 8 * PAGE_UNITS);
    let mut ftl = Ftl::new(params);
    write(&mut ftl, 0..PAGES);
    assert!(ftl.counters().folded / UNITS > 150, "the cache had to give way");
    let written: Vec<_> = (0..PAGES).filter_map(|page| ftl.place_of(page)).collect();
    let parted = written.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(parted * 2 < written.len(), "{parted} flash pages begin in {} pages; four fill one", written.len());
}

#[test]
fn entries_that_nobody_counts_are_noticed() {
    let (pass_units, when_full) = (4, WhenFull::Fold);
    let mut ftl = with_cache(PslcParams { pass_units, fixed_pages: 10, dynamic_pages: 0, bits: 3, when_full });
    write(&mut ftl, 0..1000);
    write(&mut ftl, 0..100);
    assert_eq!(ftl.check(), Ok(()));
    let pslc = ftl.pslc.as_mut().expect("it has a cache");
    assert!(pslc.forget(99));
    pslc.stale.clear();
    let cache = ftl.check().expect_err("it is damaged").0;
    assert_eq!(cache, "the pseudo-SLC cache has 10 entries, of which 9 are needed and 0 are not");
}
