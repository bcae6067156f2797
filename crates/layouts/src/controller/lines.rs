//! Contents of a controller's memory: lines of 64 KiB, each with its cached and dirty parts and those being written
//! back; and the dirty amount of every stripe.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of a line: as many sectors as a mask has bits.
const LINE: u64 = SECTOR * u128::BITS as u64;
/// Smallest addressable unit of drives.
pub const SECTOR: u64 = 512;
/// Sectors of room that a line takes at least.
const LEAST: u64 = 8;

/// A line: bits are sectors.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    held: u128,
    dirty: u128,
    leaving: u128,
    /// When it was last used, among those that may be forgotten.
    used: u64,
}

impl Line {
    /// Data that the members lack.
    fn unclean(&self) -> u128 {
        self.dirty | self.leaving
    }

    fn has_clean(&self) -> bool {
        self.held & !self.unclean() != 0
    }
}

/// Sectors of room that these of one line take.
fn room_of(sectors: u128) -> u64 {
    if sectors == 0 { 0 } else { u64::from(sectors.count_ones()).max(LEAST) }
}

/// The memory.
#[derive(Debug)]
pub struct Lines {
    by_number: BTreeMap<u64, Line>,
    /// Lines of which something is clean, the one used longest ago first.
    by_use: BTreeMap<u64, u64>,
    turn: u64,
    /// Sectors of room, and those taken.
    room: u64,
    taken: u64,
    /// Bytes of a stripe, and how far into one the address space begins.
    stripe: u64,
    shift: u64,
    /// Dirty sectors of every stripe that has any, and the fully dirty stripes.
    dirty: BTreeMap<u64, u64>,
    full: BTreeSet<u64>,
    /// Stripes that are being written back.
    leaving: BTreeSet<u64>,
    /// Sectors dirty or being written back, the room that they take, and that of those of which nothing is on its way.
    unclean: u64,
    unclean_room: u64,
    still_room: u64,
}

impl Lines {
    /// Empty memory of `cache` bytes before stripes of `stripe` bytes, the first of which begins `shift` bytes before.
    pub fn new(cache: u64, stripe: u64, shift: u64) -> Self {
        Self {
            by_number: BTreeMap::new(),
            by_use: BTreeMap::new(),
            turn: 0,
            room: cache / SECTOR,
            taken: 0,
            stripe,
            shift,
            dirty: BTreeMap::new(),
            full: BTreeSet::new(),
            leaving: BTreeSet::new(),
            unclean: 0,
            unclean_room: 0,
            still_room: 0,
        }
    }

    /// Bytes dirty or being written back.
    pub fn unclean(&self) -> u64 {
        self.unclean * SECTOR
    }

    /// Bytes of memory with data that is dirty or being written back.
    pub fn unclean_room(&self) -> u64 {
        self.unclean_room * SECTOR
    }

    /// Bytes of memory with dirty data that is not being written back.
    pub fn still_room(&self) -> u64 {
        self.still_room * SECTOR
    }

    /// Bytes of memory that `range` takes at least.
    pub fn room_for(range: &Range<u64>) -> u64 {
        (range.end - range.start).max(LEAST * SECTOR)
    }

    /// Bytes held.
    pub fn held(&self) -> u64 {
        self.by_number.values().map(|line| u64::from(line.held.count_ones())).sum::<u64>() * SECTOR
    }

    /// The parts of `range` that are not held, by address.
    pub fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        for (number, mask) in pieces(range) {
            let held = self.by_number.get(&number).map_or(0, |line| line.held);
            runs(number, mask & !held, &mut missing);
        }
        missing
    }

    /// Marks `range` as read, so that it is evicted last.
    pub fn touch(&mut self, range: &Range<u64>) {
        for (number, _) in pieces(range) {
            self.change(number, |_| {});
        }
    }

    /// Data of a host: dirty until it was written back.
    pub fn write(&mut self, range: &Range<u64>) {
        for part in self.parts(range) {
            let stripe = self.stripe_of(part.start);
            let mut fresh = 0;
            for (number, mask) in pieces(&part) {
                let mut more = 0;
                self.change(number, |line| {
                    fresh += u64::from((mask & !line.dirty).count_ones());
                    more = u64::from((mask & !line.dirty & !line.leaving).count_ones());
                    line.held |= mask;
                    line.dirty |= mask;
                });
                self.unclean += more;
            }
            if fresh > 0 {
                let sectors = self.dirty.entry(stripe).or_default();
                *sectors += fresh;
                if *sectors == self.stripe / SECTOR {
                    self.full.insert(stripe);
                }
            }
        }
        self.evict();
    }

    /// Stores data of the members; dirty data stays unchanged.
    pub fn keep(&mut self, range: &Range<u64>) {
        pieces(range).for_each(|(number, mask)| self.change(number, |line| line.held |= mask));
        self.evict();
    }

    /// Drops the held, clean parts of `range`.
    pub fn forget(&mut self, range: &Range<u64>) {
        for (number, mask) in pieces(range) {
            if self.by_number.contains_key(&number) {
                self.change(number, |line| line.held &= !mask | line.unclean());
            }
        }
    }

    /// The next stripe from `from` on that may be written back; of the full ones only, where these are requested.
    pub fn next_stripe(&self, from: u64, full: bool) -> Option<u64> {
        let is_free = |stripe: &u64| !self.leaving.contains(stripe);
        if full {
            return self.full.range(from..).copied().find(is_free);
        }
        self.dirty.range(from..).map(|(stripe, _)| *stripe).find(is_free)
    }

    /// Begins to write back the dirty parts of `stripe`: its parts, by address, those that touch joined.
    pub fn take(&mut self, stripe: u64) -> Vec<Range<u64>> {
        let mut taken: Vec<Range<u64>> = Vec::new();
        let from = (stripe * self.stripe).saturating_sub(self.shift);
        let range = from..(stripe + 1) * self.stripe - self.shift;
        for (number, mask) in pieces(&range) {
            let Some(line) = self.by_number.get_mut(&number) else { continue };
            let dirty = line.dirty & mask;
            self.still_room -= room_of(line.dirty);
            line.dirty &= !dirty;
            line.leaving |= dirty;
            self.still_room += room_of(line.dirty);
            runs(number, dirty, &mut taken);
        }
        self.dirty.remove(&stripe);
        self.full.remove(&stripe);
        self.leaving.insert(stripe);
        taken
    }

    /// These parts of `stripe` are with the members.
    pub fn gone(&mut self, stripe: u64, parts: &[Range<u64>]) {
        self.leaving.remove(&stripe);
        for part in parts {
            for (number, mask) in pieces(part) {
                let mut less = 0;
                self.change(number, |line| {
                    less = u64::from((mask & line.leaving & !line.dirty).count_ones());
                    line.leaving &= !mask;
                });
                self.unclean -= less;
            }
        }
        self.evict();
    }

    /// Everything dirty or being written back, by address.
    pub fn protected(&self) -> Vec<Range<u64>> {
        let mut lines = Vec::new();
        self.by_number.iter().for_each(|(number, line)| runs(*number, line.unclean(), &mut lines));
        lines
    }

    /// Whether all of `range` is clean.
    pub fn is_clean(&self, range: &Range<u64>) -> bool {
        pieces(range).all(|(number, mask)| self.by_number.get(&number).is_none_or(|line| line.unclean() & mask == 0))
    }

    /// Whether these parts of `stripe` are all of it.
    pub fn is_whole(&self, stripe: u64, parts: &[Range<u64>]) -> bool {
        matches!(parts, [one] if one.end - one.start == self.stripe && self.stripe_of(one.start) == stripe)
    }

    fn stripe_of(&self, at: u64) -> u64 {
        (at + self.shift) / self.stripe
    }

    /// `range`, cut where stripes end.
    fn parts(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let (mut parts, mut at) = (Vec::new(), range.start);
        while at < range.end {
            let end = range.end.min((self.stripe_of(at) + 1) * self.stripe - self.shift);
            parts.push(at..end);
            at = end;
        }
        parts
    }

    /// Changes a line, which has been used.
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Line)) {
        let line = self.by_number.entry(number).or_default();
        self.taken -= room_of(line.held);
        self.unclean_room -= room_of(line.unclean());
        self.still_room -= room_of(line.dirty);
        self.by_use.remove(&line.used);
        change(line);
        if line.held == 0 {
            self.by_number.remove(&number);
            return;
        }
        self.taken += room_of(line.held);
        self.unclean_room += room_of(line.unclean());
        self.still_room += room_of(line.dirty);
        self.turn += 1;
        line.used = self.turn;
        if line.has_clean() {
            self.by_use.insert(self.turn, number);
        }
    }

    /// Evicts the clean data used longest ago until there is room.
    fn evict(&mut self) {
        while self.taken > self.room
            && let Some((_, number)) = self.by_use.pop_first()
        {
            let line = self.by_number.get_mut(&number).expect("what may be forgotten is there");
            self.taken -= room_of(line.held);
            line.held = line.unclean();
            self.taken += room_of(line.held);
            if line.held == 0 {
                self.by_number.remove(&number);
            }
        }
    }
}

/// The lines of `range`, each with the sectors of it.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = (u64, u128)> + use<> {
    let Range { mut start, end } = *range;
    std::iter::from_fn(move || {
        if start >= end {
            return None;
        }
        let number = start / LINE;
        let stop = end.min((number + 1) * LINE);
        let (first, last) = (start % LINE / SECTOR, (stop - number * LINE).div_ceil(SECTOR));
        start = stop;
        let upto = if last == u64::from(u128::BITS) { u128::MAX } else { (1 << last) - 1 };
        Some((number, upto & (u128::MAX << first)))
    })
}

/// Appends the runs of bits of a line as bytes; one that continues where the last ends is joined to it.
fn runs(number: u64, mut mask: u128, out: &mut Vec<Range<u64>>) {
    while mask != 0 {
        let first = mask.trailing_zeros();
        let count = (!(mask >> first)).trailing_zeros().min(u128::BITS - first);
        let begin = number * LINE + u64::from(first) * SECTOR;
        let end = begin + u64::from(count) * SECTOR;
        match out.last_mut().filter(|last| last.end == begin) {
            Some(last) => last.end = end,
            None => out.push(begin..end),
        }
        mask &= if first + count == u128::BITS { (1 << first) - 1 } else { u128::MAX << (first + count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STRIPE: u64 = 192 << 10;

    /// List of the states of all sectors.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Sector {
        held: bool,
        dirty: bool,
        leaving: bool,
    }

    fn sectors(range: &Range<u64>) -> Range<usize> {
        (range.start / SECTOR) as usize..(range.end / SECTOR) as usize
    }

    proptest! {
        #[test]
        fn lines_are_as_a_list_of_sectors(
            steps in prop::collection::vec((0_u8..5, 0_u64..1200, 1_u64..400), 1..60), shift in 0_u64..3,
        ) {
            let shift = shift * 4096;
            let mut lines = Lines::new(1 << 40, STRIPE, shift);
            let mut model = vec![Sector::default(); 4096];
            let mut under_way: Vec<(u64, Vec<Range<u64>>)> = Vec::new();
            for (step, from, count) in steps {
                let range = from * SECTOR..(from + count) * SECTOR;
                match step {
                    0 => {
                        lines.keep(&range);
                        model[sectors(&range)].iter_mut().for_each(|sector| sector.held = true);
                    }
                    1 => {
                        lines.write(&range);
                        model[sectors(&range)].iter_mut().for_each(|s| (s.held, s.dirty) = (true, true));
                    }
                    2 => {
                        lines.forget(&range);
                        let model = model[sectors(&range)].iter_mut();
                        model.for_each(|sector| sector.held &= sector.dirty || sector.leaving);
                    }
                    3 => if let Some(stripe) = lines.next_stripe(from * SECTOR / STRIPE, count % 2 == 0) {
                        let parts = lines.take(stripe);
                        for part in &parts {
                            prop_assert_eq!((part.start + shift) / STRIPE, stripe);
                            prop_assert_eq!((part.end - 1 + shift) / STRIPE, stripe);
                            for sector in &mut model[sectors(part)] {
                                prop_assert!(sector.dirty, "taken once");
                                (sector.dirty, sector.leaving) = (false, true);
                            }
                        }
                        under_way.push((stripe, parts));
                    }
                    _ => if let Some((stripe, parts)) = under_way.pop() {
                        lines.gone(stripe, &parts);
                        for part in &parts {
                            model[sectors(part)].iter_mut().for_each(|sector| sector.leaving = false);
                        }
                    }
                }
                let unclean = model.iter().filter(|sector| sector.dirty || sector.leaving).count() as u64;
                prop_assert_eq!(lines.unclean(), unclean * SECTOR);
                let room = |is: fn(&Sector) -> bool| -> u64 {
                    let of_line = |line: &[Sector]| match line.iter().filter(|sector| is(sector)).count() as u64 {
                        0 => 0,
                        count => count.max(8) * SECTOR,
                    };
                    model.chunks(128).map(of_line).sum()
                };
                prop_assert_eq!(lines.unclean_room(), room(|sector| sector.dirty || sector.leaving));
                prop_assert_eq!(lines.still_room(), room(|sector| sector.dirty));
                prop_assert_eq!(lines.held(), model.iter().filter(|sector| sector.held).count() as u64 * SECTOR);
                let missing: u64 = lines.missing(&range).iter().map(|part| part.end - part.start).sum();
                let absent = model[sectors(&range)].iter().filter(|sector| !sector.held).count() as u64;
                prop_assert_eq!(missing, absent * SECTOR);
            }
        }
    }

    #[test]
    fn a_stripe_is_full_when_every_sector_of_it_is_dirty() {
        let mut lines = Lines::new(1 << 30, STRIPE, 0);
        lines.write(&(0..STRIPE - SECTOR));
        assert_eq!((lines.next_stripe(0, true), lines.next_stripe(0, false)), (None, Some(0)));
        lines.write(&(STRIPE - SECTOR..STRIPE + SECTOR));
        assert_eq!((lines.next_stripe(0, true), lines.next_stripe(1, false)), (Some(0), Some(1)));
        let parts = lines.take(0);
        assert_eq!(parts, std::iter::once(0..STRIPE).collect::<Vec<_>>(), "joined over lines");
        lines.write(&(0..SECTOR));
        assert_eq!(lines.next_stripe(0, false), Some(1), "one that is on its way is left alone");
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_dirty_data_never() {
        let mut lines = Lines::new(3 * LINE, STRIPE, 0);
        lines.write(&(0..LINE));
        lines.keep(&(LINE..3 * LINE));
        lines.touch(&(LINE..LINE + SECTOR));
        lines.keep(&(3 * LINE..4 * LINE));
        assert_eq!(lines.missing(&(0..4 * LINE)), std::iter::once(2 * LINE..3 * LINE).collect::<Vec<_>>());
        lines.keep(&(4 * LINE..20 * LINE));
        assert!(lines.missing(&(0..LINE)).is_empty());
    }

    #[test]
    fn what_is_clean_beside_dirty_data_goes_too() {
        let mut lines = Lines::new(2 * LINE, STRIPE, 0);
        lines.keep(&(0..LINE));
        lines.write(&(0..LINE / 4));
        lines.keep(&(LINE..2 * LINE));
        assert_eq!(lines.held(), 2 * LINE);
        lines.keep(&(2 * LINE..2 * LINE + LINE / 2));
        assert_eq!(lines.held(), LINE / 4 + LINE + LINE / 2, "within the memory");
        assert_eq!(lines.missing(&(0..LINE)), std::iter::once(LINE / 4..LINE).collect::<Vec<_>>());
        let parts = lines.take(0);
        lines.gone(0, &parts);
        lines.keep(&(2 * LINE..3 * LINE));
        assert!(lines.held() <= 2 * LINE, "what was dirty may be forgotten once it was written back");
    }
}
