//! Does a flash read cache ever return old data, or hold part of a block? Blocks have two pages here.

use super::*;
use hotband_units::Rate;
use proptest::prelude::*;

fn params() -> FlashParams {
    FlashParams {
        size: 8 * 8192,
        block_sectors: 16,
        region_sectors: 16,
        read_latency: Span(100_000),
        read_rate: Rate(100_000_000),
        lanes: 2,
        write_rate: Rate(10_000_000),
        promotion_rate: Rate(100_000_000),
        hot_reads: 2,
        ranking: Span(1_000_000),
        ageing: Span(1_000_000_000),
        largest_sectors: 64,
    }
}

/// Data that a disk with this flash would return, by page: media, and flash as it was filled.
struct Versions {
    media: [u64; 40],
    flash: [u64; 40],
    /// Reads that wait for the arm, oldest first.
    waiting: Vec<(u64, u64)>,
    /// Acknowledged writes on their way to the media.
    dirty: Vec<(u64, u64)>,
}

impl Versions {
    fn read(&mut self, flash: &mut Flash, now: Instant, first: u64, end: u64) -> Result<(), TestCaseError> {
        let (from, to) = flash.whole_pages(first, end);
        if self.dirty.iter().any(|(a, b)| *a < to && from < *b) {
            return Ok(());
        }
        match flash.read(now, first, end) {
            FlashRead::Hit(begins, ready) => {
                prop_assert!(begins >= now && ready > begins);
                for page in (from / 8) as usize..(to / 8) as usize {
                    prop_assert_eq!(self.flash[page], self.media[page], "page {} is old", page);
                }
            }
            FlashRead::Promote(from, to) => self.waiting.push((from, to)),
            FlashRead::Miss => {}
        }
        Ok(())
    }

    /// Copies the pages in `first..end` that `which` selects from the media to flash.
    fn copy(&mut self, flash: &Flash, (first, end): (u64, u64), which: impl Fn(&Slot) -> u64) {
        for page in first.div_ceil(8)..end / 8 {
            let slot = flash.index.get(&((page / 2) as u32)).map(|number| &flash.slots[*number as usize]);
            if slot.is_some_and(|slot| which(slot) >> (page % 2) & 1 == 1) {
                self.flash[page as usize] = self.media[page as usize];
            }
        }
    }

    /// The arm passes what the oldest read covers.
    fn pass(&mut self, flash: &mut Flash, now: Instant) {
        if self.waiting.is_empty() {
            return;
        }
        let (first, end) = self.waiting.remove(0);
        self.copy(flash, (first, end), |slot| slot.filling);
        flash.fill(now, first, end);
    }

    /// The oldest write is on the media.
    fn land(&mut self, flash: &mut Flash, now: Instant) {
        if self.dirty.is_empty() {
            return;
        }
        let (first, end) = self.dirty.remove(0);
        (first / 8..end.div_ceil(8)).for_each(|page| self.media[page as usize] += 1);
        flash.landed(now, first, end);
        self.copy(flash, (first, end), |slot| slot.pages);
    }
}

proptest! {
    #[test]
    fn what_was_overwritten_never_comes_from_flash(
        steps in proptest::collection::vec((0_u8..8, 0_u64..300, 1_u64..20, 0_u64..3_000_000), 1..300),
    ) {
        let mut flash = Flash::new(params(), 320);
        let mut versions = Versions { media: [0; 40], flash: [0; 40], waiting: Vec::new(), dirty: Vec::new() };
        let mut now = Instant(0);
        for (what, first, count, pause) in steps {
            now += Span(pause);
            let end = (first + count).min(320);
            match what {
                0..=3 => versions.read(&mut flash, now, first % 64, first % 64 + count)?,
                4 | 5 => versions.pass(&mut flash, now),
                6 => {
                    flash.write(first, end);
                    versions.dirty.push((first, end));
                }
                _ => versions.land(&mut flash, now),
            }
            prop_assert!(flash.index.len() <= 8 && flash.used_bytes() <= 8 * 8192);
            let pages = |which: fn(&Slot) -> u64| -> u64 {
                let held = flash.slots.iter().filter(|slot| slot.held);
                held.map(|slot| u64::from(which(slot).count_ones())).sum()
            };
            prop_assert_eq!(pages(|slot| slot.filling), flash.filling);
            prop_assert_eq!(pages(|slot| slot.pages), flash.valid);
            prop_assert_eq!(pages(|slot| slot.pages & slot.filling), 0);
            let held = flash.slots.iter().filter(|slot| slot.held).count();
            prop_assert_eq!(held, flash.index.len());
        }
    }
}

#[test]
fn a_block_that_the_end_of_the_disk_cuts_is_never_held() {
    let mut flash = Flash::new(params(), 323);
    for _ in 0..5 {
        assert_eq!(flash.read(Instant(1), 320, 323), FlashRead::Miss);
    }
}

const MS: u64 = 1_000_000;

/// Reads page `page`: eight sectors.
fn read_page(flash: &mut Flash, now: u64, page: u64) -> FlashRead {
    flash.read(Instant(now), page * 8, page * 8 + 8)
}

/// A cache in which both pages of block 3 were programmed at 1 ms, which takes a lane 819,200 ns.
fn with_block_3() -> Flash {
    let mut flash = Flash::new(params(), 320);
    for now in [1, 2, MS] {
        assert_eq!(read_page(&mut flash, now, 6), FlashRead::Miss, "regions were not ranked at {now} ns");
    }
    assert_eq!(read_page(&mut flash, MS + 1, 6), FlashRead::Promote(48, 64));
    assert_eq!((flash.is_filling(), flash.used_bytes()), (true, 0));
    flash.fill(Instant(MS + 1), 48, 64);
    assert_eq!((flash.is_filling(), flash.used_bytes()), (false, 8192));
    flash
}

#[test]
fn a_hot_block_is_answered_from_flash_once_it_is_programmed() {
    let mut flash = with_block_3();
    let ready = MS + 1 + 819_200;
    assert_eq!(read_page(&mut flash, ready - 1, 6), FlashRead::Miss);
    // 100 us to begin and 40,960 ns for 4 KiB; two at once, the third waits for the first.
    let took = 140_960;
    for (begins, nth) in [(ready, "first"), (ready, "second"), (ready + took, "third")] {
        let hit = FlashRead::Hit(Instant(begins), Instant(begins + took));
        assert_eq!(read_page(&mut flash, ready, 7), hit, "{nth}");
    }
    let counted = flash.counters;
    assert_eq!((counted.hits, counted.hit_bytes, counted.misses), (3, 3 * 4096, 5));
    assert_eq!((counted.promoted_bytes, counted.written_bytes), (8192, 8192));
    assert_eq!(flash.read(Instant(ready), 40, 56), FlashRead::Miss, "half of it is not held");
}

#[test]
fn a_block_that_is_being_filled_is_not_promoted_again() {
    let mut flash = Flash::new(params(), 320);
    (1..4).for_each(|now| {
        read_page(&mut flash, now, 6);
    });
    assert_eq!(read_page(&mut flash, 2 * MS, 6), FlashRead::Promote(48, 64));
    assert_eq!(read_page(&mut flash, 2 * MS, 6), FlashRead::Miss);
    // What passes under the head of other blocks, or a part of a page, fills nothing.
    flash.fill(Instant(3 * MS), 0, 48);
    flash.fill(Instant(3 * MS), 50, 60);
    assert_eq!((flash.used_bytes(), flash.counters.promoted_bytes), (0, 8192));
    flash.fill(Instant(3 * MS), 50, 64);
    assert_eq!((flash.used_bytes(), flash.is_filling()), (4096, true));
}

#[test]
fn a_read_of_the_second_page_promotes_the_whole_block() {
    let mut flash = Flash::new(params(), 320);
    (1..4).for_each(|now| {
        read_page(&mut flash, now, 7);
    });
    assert_eq!(read_page(&mut flash, 2 * MS, 7), FlashRead::Promote(48, 64));
}

#[test]
fn what_is_still_being_programmed_waits_for_what_is_programmed_after_it() {
    let mut flash = with_block_3();
    flash.write(48, 56);
    flash.landed(Instant(MS + 2), 48, 56);
    for page in [6, 7] {
        assert_eq!(read_page(&mut flash, MS + 3, page), FlashRead::Miss, "page {page}");
    }
    assert!(matches!(read_page(&mut flash, 3 * MS, 7), FlashRead::Hit(..)));
}

#[test]
fn a_write_drops_the_pages_that_it_overlaps_and_what_it_covers_whole_comes_back_when_it_has_landed() {
    let later = 5 * MS;
    for (first, end, comes_back) in [(48, 56, true), (47, 57, true), (49, 56, false), (48, 55, false)] {
        let mut flash = with_block_3();
        flash.write(first, end);
        let dropped = if end > 56 { 8192 } else { 4096 };
        assert_eq!((flash.used_bytes(), flash.counters.invalidations), (8192 - dropped, 1), "{first}..{end}");
        flash.landed(Instant(later), first, end);
        let back = if comes_back { 4096 } else { 0 };
        assert_eq!(flash.used_bytes(), 8192 - dropped + back, "{first}..{end}");
        assert_eq!(flash.counters.promoted_bytes, 8192 + back);
        let is_hit = matches!(read_page(&mut flash, later + MS, 6), FlashRead::Hit(..));
        assert_eq!(is_hit, comes_back, "{first}..{end}");
    }
    let mut flash = with_block_3();
    flash.write(0, 48);
    flash.write(64, 80);
    assert_eq!((flash.used_bytes(), flash.counters.invalidations), (8192, 0), "its neighbours");
}

#[test]
fn the_next_read_brings_back_only_what_a_write_dropped() {
    let mut flash = with_block_3();
    (0..4).for_each(|_| {
        read_page(&mut flash, 2 * MS, 6);
    });
    flash.write(57, 58);
    flash.landed(Instant(2 * MS), 57, 58);
    assert_eq!(flash.read(Instant(3 * MS), 50, 60), FlashRead::Promote(50, 64));
    assert!(matches!(read_page(&mut flash, 3 * MS, 6), FlashRead::Hit(..)), "the other page is still there");
    flash.fill(Instant(3 * MS), 50, 64);
    assert_eq!((flash.used_bytes(), flash.is_filling(), flash.counters.promoted_bytes), (8192, false, 12_288));
}

#[test]
fn a_block_of_which_nothing_is_left_gives_up_its_slot() {
    let mut flash = with_block_3();
    // Written as often as it was read: it is hot until the next ranking, and not after it.
    (0..4).for_each(|_| flash.write(48, 64));
    assert_eq!(flash.index.len(), 1, "until it has landed");
    read_page(&mut flash, 5 * MS, 0);
    flash.landed(Instant(5 * MS), 48, 64);
    assert_eq!((flash.index.len(), flash.used_bytes()), (0, 0));
}

/// Eight blocks are held, number 5 is read twice before the ranking and the others four times, and once more then.
fn full() -> Flash {
    let mut flash = Flash::new(params(), 320);
    for block in 0..8 {
        (0..if block == 5 { 2 } else { 4 }).for_each(|_| {
            read_page(&mut flash, 1, 2 * block);
        });
    }
    for block in 0..8 {
        let promoted = FlashRead::Promote(16 * block, 16 * block + 16);
        assert_eq!(read_page(&mut flash, 2 * MS, 2 * block), promoted);
        flash.fill(Instant(2 * MS), 16 * block, 16 * block + 16);
    }
    flash
}

#[test]
fn a_full_cache_gives_up_the_block_that_was_read_least_for_one_that_is_read_more() {
    for (reads, evictions) in [(4, 0), (5, 1)] {
        let mut flash = full();
        for _ in 1..reads {
            assert_eq!(read_page(&mut flash, 10 * MS, 18), FlashRead::Miss, "not ranked yet");
        }
        // Block 5 has three reads, and another now.
        read_page(&mut flash, 10 * MS, 10);
        let promotes = read_page(&mut flash, 12 * MS, 18) == FlashRead::Promote(144, 160);
        let held = |block: u32| flash.index.contains_key(&block);
        assert_eq!((promotes, flash.counters.evictions), (evictions == 1, evictions), "after {reads} reads");
        assert_eq!((held(9), held(5)), (promotes, !promotes), "after {reads} reads");
        assert!([0, 1, 2, 3, 4, 6, 7].into_iter().all(held));
        assert_eq!(flash.used_bytes(), (8 - evictions) * 8192);
    }
}

#[test]
fn a_block_that_is_being_programmed_is_not_given_up() {
    let mut flash = full();
    // They are programmed two at a time: block 5 is done with the third two.
    let programmed = 2 * MS + 3 * 819_200;
    (0..5).for_each(|_| {
        read_page(&mut flash, 2 * MS, 18);
    });
    flash.slots.iter_mut().filter(|slot| slot.block != 5).for_each(|slot| slot.ready = Instant::NEVER);
    flash.rank();
    assert_eq!(read_page(&mut flash, programmed - 1, 18), FlashRead::Miss);
    assert_eq!(read_page(&mut flash, programmed, 18), FlashRead::Promote(144, 160));
}

#[test]
fn reads_longer_than_the_longest_are_taken_for_streams() {
    let mut flash = Flash::new(params(), 320);
    flash.read(Instant(1), 0, 65);
    assert_eq!((flash.counters.misses, flash.was_asked()), (0, false));
    flash.read(Instant(1), 0, 64);
    assert_eq!((flash.counters.misses, flash.was_asked()), (1, true));
}

const MINUTES: u64 = 60_000 * MS;

#[test]
fn it_is_warm_when_regions_were_ranked_twice_and_little_is_promoted() {
    let mut flash = with_block_3();
    // In the minute that it came in, and in the one after, all that it holds is new.
    assert_eq!([2 * MS + 1, 2 * MINUTES - 1].map(|now| flash.warmth(Instant(now))), [Warmth::Warming; 2]);
    assert_eq!(flash.warmth(Instant(2 * MINUTES)), Warmth::Warm);
    flash.keep_time(Instant(2 * MINUTES));
    flash.ration.promoted(Instant(2 * MINUTES), flash.used_bytes() / 10);
    assert_eq!(flash.warmth(Instant(2 * MINUTES + 1)), Warmth::Warm);
    flash.ration.promoted(Instant(2 * MINUTES), 1);
    assert_eq!(flash.warmth(Instant(2 * MINUTES + 1)), Warmth::Warming);
    let mut unused = Flash::new(params(), 320);
    assert_eq!(unused.warmth(Instant(9 * MS)), Warmth::Cold);
    read_page(&mut unused, 1, 6);
    assert_eq!([2 * MS, 2 * MS + 1].map(|now| unused.warmth(Instant(now))), [Warmth::Cold, Warmth::Warm]);
}

#[test]
fn regions_fade_with_every_ageing_time() {
    let mut flash = Flash::new(params(), 320);
    (0..8).for_each(|_| {
        read_page(&mut flash, 1, 6);
    });
    for (now, reads) in [(999_999_999, 8), (1_000_000_000, 4), (1_999_999_999, 4), (4_000_000_000, 0)] {
        flash.keep_time(Instant(now));
        assert_eq!(flash.heat_of(3), reads, "at {now} ns");
    }
}

#[test]
fn pages_of_large_blocks_are_a_64th_of_them() {
    let flash = Flash::new(FlashParams { block_sectors: 1024, size: 1 << 20, ..params() }, 4096);
    assert_eq!((flash.whole_pages(17, 33), flash.whole_pages(16, 32)), ((16, 48), (16, 32)));
    assert_eq!((flash.whole(), flash.page_bytes()), (u64::MAX, 8192));
    assert_eq!((flash.touched(1, 1030, 1041), flash.within(1, 1030, 1041)), (0b11, 0));
    assert_eq!((flash.touched(1, 0, 4096), flash.within(1, 1025, 4096), flash.within(1, 0, 1024)), (u64::MAX, !1, 0));
}
