//! Does a flash read cache ever answer with old data, or hold what is no whole block? Blocks have two pages here.

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

/// What a disk with this flash would hand out, by page: media, and flash as it was filled.
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

    /// What the media has of the pages in `first..end` for which `which` says so is in flash now.
    fn copy(&mut self, flash: &Flash, (first, end): (u64, u64), which: impl Fn(&Slot) -> u64) {
        for page in first.div_ceil(8)..end / 8 {
            let slot = flash.index.get(&((page / 2) as u32)).map(|place| &flash.slots[*place as usize]);
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
