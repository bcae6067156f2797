//! Flash operations of the translation layer, handed to the dies in order.

use std::collections::VecDeque;

use hotband_units::Instant;

use crate::parts::divisor::Divisor;
use crate::parts::ftl::{FRONTIERS, FlashWork, Placement};
use crate::parts::nand::{Job, Nand};
use crate::ssd::mapping::Mapping;
use crate::ssd::params::SsdParams;
use crate::ssd::power::SsdAccount;

/// An erase that waits.
#[derive(Clone, Copy, Debug)]
struct Erase {
    block: u32,
    /// The erase waits for all passes below this number,
    until: u64,
    /// and for the passes that were open then, which have no number yet.
    open: [bool; FRONTIERS],
}

/// Passes that were issued, erases that wait for them, and the layout of blocks over dies.
#[derive(Clone, Debug)]
pub(super) struct WorkQueue {
    dies: u32,
    /// Passes with data in a stripe over all dies.
    stripe: u32,
    by_stripe: Divisor,
    by_dies: Divisor,
    by_pass: Divisor,
    /// Whether placements of pages are reported: to the mapping table, or to an account of versions.
    pub(super) tells_placements: bool,
    /// The mapping table, if memory holds only a part of it.
    pub(super) mapping: Option<Box<Mapping>>,
    mapping_overhead: f64,
    /// Mapping tables that are still to be programmed, in passes.
    mapping_due: f64,
    mapping_die: u32,
    /// Number of the first pass that is not programmed yet, and which ones after it are.
    first: u64,
    after: VecDeque<bool>,
    /// Frontiers with data in a pass that is not full.
    open: [bool; FRONTIERS],
    /// Erases that wait until the copies of their data are programmed.
    erases: VecDeque<Erase>,
    /// Pages read for relocation that are not yet handed over: block, pass, pages.
    reads: Option<(u32, u32, u32)>,
}

impl WorkQueue {
    pub fn new(params: &SsdParams) -> Self {
        let pass_pages = params.ftl.program_units / params.ftl.flash_page_units;
        let mapping = params.mapping.map(|mapping| Box::new(Mapping::new(mapping, params.ftl.pages, &params.nand)));
        let tells_placements = mapping.is_some();
        Self {
            tells_placements,
            mapping,
            ..Self::over(params.nand.dies, params.parity, pass_pages, params.mapping_overhead)
        }
    }

    /// Nothing is issued.
    fn over(dies: u32, parity: bool, pass_pages: u32, mapping_overhead: f64) -> Self {
        let stripe = dies - u32::from(parity);
        Self {
            dies,
            stripe,
            by_stripe: Divisor::new(u64::from(stripe)),
            by_dies: Divisor::new(u64::from(dies)),
            by_pass: Divisor::new(u64::from(pass_pages)),
            mapping: None,
            tells_placements: false,
            mapping_overhead,
            mapping_due: 0.0,
            mapping_die: 0,
            first: 0,
            after: VecDeque::new(),
            open: [false; FRONTIERS],
            erases: VecDeque::new(),
            reads: None,
        }
    }

    /// Passes of a block follow one another over the dies; parity turns with the stripes.
    #[inline]
    pub fn die_of(&self, block: u32, pass: u32) -> u32 {
        let row = self.by_stripe.divide(u64::from(pass));
        let column = u64::from(pass) - row * self.by_stripe.value();
        let number = u64::from(block) + row + column;
        (number - self.by_dies.divide(number) * self.by_dies.value()) as u32
    }

    /// The pass that a flash page belongs to.
    #[inline]
    pub fn pass_of(&self, flash_page: u32) -> u32 {
        self.by_pass.divide(u64::from(flash_page)) as u32
    }

    /// Position of a flash page in its pass.
    #[inline]
    pub fn place_of(&self, flash_page: u32, pass: u32) -> u32 {
        flash_page - pass * self.by_pass.value() as u32
    }

    /// Number of the next pass.
    pub fn issued(&self) -> u64 {
        self.first + self.after.len() as u64
    }

    /// Whether every pass below `number` is programmed.
    pub fn is_done(&self, number: u64) -> bool {
        self.first >= number
    }

    pub(super) fn issue(&mut self) -> u64 {
        self.after.push_back(false);
        self.issued() - 1
    }

    /// Pass `number` is programmed.
    pub fn done(&mut self, number: u64) {
        self.after[(number - self.first) as usize] = true;
        while self.after.front() == Some(&true) {
            self.after.pop_front();
            self.first += 1;
        }
    }

    /// Erases whose passes are programmed are handed to the dies.
    pub fn release_erases(&mut self, now: Instant, nand: &mut Nand) {
        let is_due = |erase: &Erase| self.first >= erase.until && erase.open == [false; FRONTIERS];
        while self.erases.front().is_some_and(is_due) {
            self.erases.pop_front();
            (0..self.dies).for_each(|die| nand.queue(now, die, Job::Erase));
        }
    }

    /// The open pass of a frontier has become number `number`.
    fn close(&mut self, frontier: usize, number: u64) {
        self.open[frontier] = false;
        for erase in self.erases.iter_mut().filter(|erase| erase.open[frontier]) {
            erase.open[frontier] = false;
            erase.until = number + 1;
        }
    }
}

/// Somebody times it.
pub(super) struct Timed<'a> {
    pub nand: &'a mut Nand,
    pub queue: &'a mut WorkQueue,
    pub account: Option<&'a mut SsdAccount>,
    pub now: Instant,
}

impl Timed<'_> {
    /// Hands over the reads that were gathered.
    pub fn flush_reads(&mut self) {
        if let Some((block, pass, pages)) = self.queue.reads.take() {
            self.nand.queue(self.now, self.queue.die_of(block, pass), Job::Read(pages));
        }
    }

    // Out of line: most drives hold their table, and keep no account.
    #[cold]
    fn tell(&mut self, placement: &Placement) {
        self.change_entry(placement);
        if let Some(account) = self.account.as_deref_mut() {
            account.placed(placement);
        }
    }

    fn program_extra(&mut self, die: u32) {
        let number = self.queue.issue();
        self.nand.queue(self.now, die % self.queue.dies, Job::Program(number));
    }
}

impl FlashWork for Timed<'_> {
    fn program(&mut self, block: u32, pass: u32, frontier: usize) {
        // A block that is used again is erased first, even if that had to wait so far.
        if let Some(at) = self.queue.erases.iter().position(|erase| erase.block == block) {
            self.queue.erases.remove(at);
            (0..self.queue.dies).for_each(|die| self.nand.queue(self.now, die, Job::Erase));
        }
        let number = self.queue.issue();
        self.queue.close(frontier, number);
        let die = self.queue.die_of(block, pass);
        if let Some(account) = self.account.as_deref_mut() {
            account.sent(number, frontier);
        }
        self.nand.queue(self.now, die, Job::Program(number));
        let stripe = self.queue.stripe;
        if stripe < self.queue.dies && pass % stripe == stripe - 1 {
            self.program_extra(die + 1);
        }
        let parity = f64::from(self.queue.dies) / f64::from(stripe);
        self.queue.mapping_due += self.queue.mapping_overhead * parity;
        if self.queue.mapping_due >= 1.0 {
            self.queue.mapping_due -= 1.0;
            self.queue.mapping_die += 1;
            self.program_extra(self.queue.mapping_die);
        }
    }

    fn program_cache(&mut self, pass: u64, frontier: usize) {
        let number = self.queue.issue();
        self.queue.close(frontier, number);
        if let Some(account) = self.account.as_deref_mut() {
            account.sent(number, frontier);
        }
        let die = (pass % u64::from(self.queue.dies)) as u32;
        self.nand.queue(self.now, die, Job::Quick(number));
    }

    fn read(&mut self, block: u32, flash_page: u32) {
        let pass = self.queue.pass_of(flash_page);
        match &mut self.queue.reads {
            Some((b, p, pages)) if (*b, *p) == (block, pass) => *pages += 1,
            _ => {
                self.flush_reads();
                self.queue.reads = Some((block, pass, 1));
            }
        }
    }

    fn erase(&mut self, block: u32) {
        self.flush_reads();
        let (until, open) = (self.queue.issued(), self.queue.open);
        self.queue.erases.push_back(Erase { block, until, open });
        self.queue.release_erases(self.now, self.nand);
    }

    fn placed(&mut self, placement: &Placement) {
        self.queue.open[placement.frontier] = true;
        if self.queue.tells_placements {
            self.tell(placement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::nand::NandParams;
    use hotband_units::{Rate, Span};

    fn bench() -> (Nand, WorkQueue) {
        let nand = NandParams {
            dies: 2,
            channels: 1,
            planes: 1,
            planes_alone: false,
            quick: None,
            page_bytes: 16 << 10,
            program_bytes: 16 << 10,
            read: Span(50_000),
            program: Span(1_000_000),
            erase: Span(5_000_000),
            channel_rate: Rate(1_000_000_000),
            program_rate: Rate(1_000_000_000),
            suspend: None,
            patience: Span(10_000_000),
        };
        (Nand::new(nand), WorkQueue::over(2, false, 1, 0.0))
    }

    #[test]
    fn a_block_is_erased_only_after_what_replaces_its_data_is_programmed() {
        let (mut nand, mut queue) = bench();
        let work = |nand: &mut Nand, queue: &mut WorkQueue, act: &dyn Fn(&mut Timed)| {
            act(&mut Timed { nand, queue, account: None, now: Instant::ZERO });
        };
        let done = |nand: &mut Nand, queue: &mut WorkQueue, number| {
            queue.done(number);
            queue.release_erases(Instant::ZERO, nand);
            queue.erases.len()
        };
        // Pass 0 is issued; frontier 1 has relocated data in an open pass when block 7 is empty.
        work(&mut nand, &mut queue, &|timed| timed.program(1, 0, 0));
        queue.open[1] = true;
        work(&mut nand, &mut queue, &|timed| timed.erase(7));
        assert_eq!(done(&mut nand, &mut queue, 0), 1, "relocated data is in memory only");
        work(&mut nand, &mut queue, &|timed| timed.program(2, 0, 1));
        queue.release_erases(Instant::ZERO, &mut nand);
        assert_eq!(queue.erases.len(), 1, "it is on its way");
        assert_eq!(done(&mut nand, &mut queue, 1), 0, "it is programmed");
    }
}
