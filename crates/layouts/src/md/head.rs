//! A stripe head: a row of pages, what of it is in memory, on its way, and wanted; and what has to be read first.

use std::collections::BTreeMap;

use hotband_machine::{Fault, Times};

use crate::md::rows::{PAGE, bits};

/// Queue of a head that is not in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// The head may be reused for another row.
    Clean,
    /// The journal has some of its data.
    Partial,
    /// The journal has all of its data.
    Full,
}

/// Bytes of a sector: what writes are multiples of.
const SECTOR: u64 = 512;

/// Host writes to a page (`towrite`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Page of data.
    pub page: u64,
    /// Sectors of the page.
    pub sectors: u8,
    /// Newest of the writes.
    pub version: u64,
}

impl Wanted {
    /// Bytes from `from` to `to` of a page.
    pub fn new(page: u64, (from, to): (u64, u64), version: u64) -> Self {
        let upto = |at: u64| ((1_u16 << at) - 1) as u8;
        Self { page, sectors: upto(to.div_ceil(SECTOR)) & !upto(from / SECTOR), version }
    }

    /// Whether all of the page is written (`R5_OVERWRITE`).
    pub fn is_whole(&self) -> bool {
        self.sectors == u8::MAX
    }

    /// First byte written in the page, and how many to the last.
    pub fn bytes(&self) -> (u64, u64) {
        let (first, last) = (u64::from(self.sectors.trailing_zeros()), 8 - u64::from(self.sectors.leading_zeros()));
        (first * SECTOR, (last - first) * SECTOR)
    }
}

/// Writes of a row that are on their way together (`written`).
#[derive(Clone, Debug, Default)]
pub struct Drained {
    /// State of its data.
    pub wanted: Vec<Wanted>,
    /// I/Os that wait for the row.
    pub writers: Vec<u32>,
    /// Some write requests force unit access.
    pub fua: bool,
    /// The data goes to the journal only.
    pub is_caching: bool,
    /// The data is in the journal.
    pub is_journalled: bool,
    /// The row is written by the layout below.
    pub is_below: bool,
    /// Commands to the layout below.
    pub commands: u32,
}

impl Drained {
    /// Return the pages of data.
    pub fn pages(&self) -> u128 {
        bits(self.wanted.iter().map(|wanted| wanted.page))
    }
}

/// Next step of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something is on its way.
    Wait,
    /// These pages are read first.
    Read(u128),
    /// All is there that parity is computed from.
    Write,
}

/// A row in memory. Pages are bits: data, then parities.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Pages in memory (`R5_UPTODATE`).
    pub there: u128,
    /// Pages of those in the journal that are also in memory as in the members (`R5_OrigPageUPTDODATE`).
    pub old: u128,
    /// Pages that are read from members.
    pub reading: u128,
    /// Pages that are on their way to the journal or to members.
    pub writing: u128,
    /// Pages that the journal has and the members have not (`R5_InJournal`), and of which writes they are.
    pub in_journal: u128,
    pub versions: BTreeMap<u64, u64>,
    /// Start of the row in the journal.
    pub log_start: Option<u64>,
    pub wanted: Vec<Wanted>,
    pub writers: Vec<u32>,
    pub fua: bool,
    pub drained: Option<Drained>,
    /// Whether the row may read before it writes (`STRIPE_PREREAD_ACTIVE`).
    pub may_read: bool,
    /// Whether the row waits for its turn to read (`STRIPE_DELAYED`).
    pub is_delayed: bool,
    /// Whether the row is queued to be examined.
    pub is_listed: bool,
    /// Its data in the journal is written to the members.
    pub is_flushing: bool,
    /// A member that it needs is gone: the layout below writes it.
    pub is_gone: bool,
    pub fault: Option<Fault>,
    pub times: Times,
    /// Its place among those not in use.
    pub idle: Option<(Idle, u64)>,
}

impl Head {
    /// Takes a write to a page, but not where some of it waits already (`R5_Overlap`).
    pub fn want(&mut self, wanted: Wanted, writer: u32, fua: bool) -> bool {
        match self.wanted.iter_mut().find(|have| have.page == wanted.page) {
            Some(have) if have.sectors & wanted.sectors != 0 => return false,
            Some(have) => {
                have.sectors |= wanted.sectors;
                have.version = have.version.max(wanted.version);
            }
            None => self.wanted.push(wanted),
        }
        if self.writers.last() != Some(&writer) {
            self.writers.push(writer);
        }
        self.fua |= fua;
        true
    }

    /// Pages of data that are written.
    fn written(&self) -> u128 {
        bits(self.wanted.iter().map(|wanted| wanted.page))
    }

    /// Pages of data that are written in whole.
    fn overwritten(&self) -> u128 {
        bits(self.wanted.iter().filter(|wanted| wanted.is_whole()).map(|wanted| wanted.page))
    }

    /// Whether only whole pages are written, or parts of pages in the journal.
    pub fn may_cache(&self) -> bool {
        !self.is_flushing && self.written() & !self.overwritten() & !self.in_journal == 0
    }

    /// Whether all of its data is written, or in the journal.
    pub fn is_full(&self, data: u128) -> bool {
        data & !self.overwritten() & !self.in_journal == 0
    }

    /// Data to read before its writes, or its journal data, can go to the members: the old data and parity, or the
    /// other blocks of the row if those are no more (`handle_stripe_dirtying`).
    pub fn step(&self, data: u128, parities: u128) -> Step {
        let locked = self.reading | self.writing;
        let changed = self.written() | if self.is_flushing { self.in_journal } else { 0 };
        let known = self.there & (!self.in_journal | self.old);
        let of_old = (changed | parities) & !locked & !known;
        let of_rest = data & !self.overwritten() & !locked & !self.there;
        let (old, rest) = (of_old.count_ones(), of_rest.count_ones());
        if old > 0 && rest > 0 {
            return Step::Read(if old < rest { of_old } else { of_rest });
        }
        if locked == 0 { Step::Write } else { Step::Wait }
    }

    /// Its writes are on their way from now on; without a parity of its own only those to the journal.
    pub fn drain(&mut self, with_wanted: bool) -> &mut Drained {
        let mut drained = Drained { fua: self.fua, ..Drained::default() };
        if with_wanted {
            drained.wanted = std::mem::take(&mut self.wanted);
            drained.writers = std::mem::take(&mut self.writers);
            self.fua = false;
        }
        // A page written in part was read before, unless the layout below writes it.
        self.there |= bits(drained.wanted.iter().filter(|wanted| wanted.is_whole()).map(|wanted| wanted.page));
        self.drained.insert(drained)
    }

    fn drained_of(&self, page: u64) -> Option<&Wanted> {
        self.drained.as_ref().and_then(|drained| drained.wanted.iter().find(|wanted| wanted.page == page))
    }

    /// Newest of the writes that a page on its way has; zero for a parity.
    pub fn version_of(&self, page: u64) -> u64 {
        let cached = self.versions.get(&page).copied().unwrap_or(0);
        self.drained_of(page).map_or(cached, |wanted| wanted.version)
    }

    /// First byte in a page on its way that is new, and how many to the last: all, where the journal has it.
    pub fn bytes_of(&self, page: u64) -> (u64, u64) {
        let is_cached = self.in_journal & 1 << page != 0;
        self.drained_of(page).filter(|_| !is_cached).map_or((0, PAGE), Wanted::bytes)
    }

    /// Whether nothing waits and nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.wanted.is_empty() && self.drained.is_none() && self.reading | self.writing == 0 && !self.is_flushing
    }
}

/// Bytes of these pages.
pub fn bytes(mask: u128) -> u64 {
    u64::from(mask.count_ones()) * PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: u128 = 0b1111;
    const PARITY: u128 = 0b1_0000;

    fn head(written: &[u64]) -> Head {
        let mut head = Head::default();
        let is_taken = |page: &u64| head.want(Wanted::new(*page, (0, PAGE), 0), 0, false);
        assert!(written.iter().all(is_taken));
        head
    }

    #[test]
    fn the_fewer_pages_are_read_and_none_that_are_there() {
        assert_eq!(head(&[0]).step(DATA, PARITY), Step::Read(0b1_0001), "old data and parity");
        assert_eq!(head(&[0, 1, 2]).step(DATA, PARITY), Step::Read(0b1000), "the rest");
        assert_eq!(head(&[0, 1, 2, 3]).step(DATA, PARITY), Step::Write);
        let mut second = Head { there: 0b1_0001, ..head(&[1]) };
        assert_eq!(second.step(DATA, PARITY), Step::Read(0b10), "parity is there since the first was written");
        second.there = 0b1_0011;
        assert_eq!(Head { wanted: head(&[2]).wanted, ..second.clone() }.step(DATA, PARITY), Step::Read(0b1000));
        second.reading = 0b10;
        assert_eq!(second.step(DATA, PARITY), Step::Wait);
        // A row that has become full meanwhile waits for what is on its way, and for nothing else.
        let full = Head { reading: 0b1_0001, ..head(&[0, 1, 2, 3]) };
        assert_eq!(full.step(DATA, PARITY), Step::Wait);
    }

    #[test]
    fn parts_of_a_page_join_and_overlaps_wait() {
        let mut head = Head::default();
        assert!(head.want(Wanted::new(0, (0, 512), 1), 7, false));
        assert!(!head.want(Wanted::new(0, (0, 1024), 2), 8, false), "the first sector waits already");
        assert_eq!(head.step(DATA, PARITY), Step::Read(0b1_0001));
        assert!(head.want(Wanted::new(0, (512, PAGE), 3), 9, true));
        assert_eq!(
            (head.wanted.len(), head.wanted[0].is_whole(), head.wanted[0].version, head.fua),
            (1, true, 3, true)
        );
        assert_eq!(Wanted::new(0, (1024, 2048), 0).bytes(), (1024, 1024));
        assert_eq!(head.writers, [7, 9]);
    }

    #[test]
    fn what_the_journal_has_is_known_only_once_the_members_copy_was_read() {
        let cached = Head { there: 0b1, in_journal: 0b1, is_flushing: true, ..Head::default() };
        assert_eq!(cached.step(DATA, PARITY), Step::Read(0b1_0001));
        let full = Head { there: DATA, in_journal: DATA, is_flushing: true, ..Head::default() };
        assert_eq!(full.step(DATA, PARITY), Step::Write);
    }
}
