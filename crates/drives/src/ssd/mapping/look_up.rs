//! Look-ups of reads, and changes of entries by placed data: their flash work and completion times.

use std::ops::Range;

use hotband_machine::Command;
use hotband_units::Instant;

use crate::parts::ftl::{PAGE, Placement};
use crate::parts::map_cache::Found;
use crate::parts::nand::Job;
use crate::ssd::Ssd;
use crate::ssd::mapping::table::Mapping;
use crate::ssd::slot::Event;
use crate::ssd::work::Timed;

impl Ssd {
    /// Looks up the entries of a read at `at`, then asks the flash for its data.
    // Out of line: drives that hold their table do not pay for it.
    #[cold]
    pub(in crate::ssd) fn look_up(&mut self, index: u32, at: Instant, pages: Range<u64>) {
        let Some(mapping) = self.work.mapping.as_deref_mut() else { return };
        let (mut ready, mut parts, mut begun) = (at, 0, Vec::new());
        let covers = mapping.params.covers;
        for page in (pages.start / covers) as u32..pages.end.div_ceil(covers) as u32 {
            match mapping.find(page, &self.ftl) {
                None | Some(Found::Controller) => {}
                Some(Found::Host) => ready = at + mapping.params.host_latency,
                Some(Found::Flash) => {
                    parts += 1;
                    begun.extend(mapping.await_page(page, index).map(|load| (load, page)));
                }
            }
        }
        let reading = mapping.reading;
        for (load, page) in begun {
            let die = page % self.params.nand.dies;
            let read = self.nand.read_one(at, die, page / self.params.nand.dies, reading);
            self.push(read, Event::Table(load, Some(die)));
        }
        self.slots[index as usize].parts = parts;
        if parts == 0 {
            self.slots[index as usize].asked = ready;
            self.read_data(index, ready, pages);
        }
    }

    /// A page of the table that `die` has read crosses the channel; without die, it is in the controller, and the reads
    /// that waited for it continue.
    #[cold]
    pub(in crate::ssd) fn go_on_with_table(&mut self, at: Instant, load: u32, die: Option<u32>) {
        let Some(mapping) = self.work.mapping.as_deref_mut() else { return };
        if let Some(die) = die {
            let here = self.nand.cross(at, die, mapping.params.page_bytes);
            return self.push(here, Event::Table(load, None));
        }
        let (waiting, has_left) = mapping.take(load);
        if has_left {
            let account = self.account.as_deref_mut();
            Timed { nand: &mut self.nand, queue: &mut self.work, account, now: at }.write_table_page();
        }
        for index in waiting {
            let slot = &mut self.slots[index as usize];
            slot.parts -= 1;
            if slot.parts == 0 {
                slot.asked = at;
                let Command { offset, len, .. } = slot.command;
                self.read_data(index, at, offset / PAGE..(offset + u64::from(len)).div_ceil(PAGE));
            }
        }
    }
}

impl Timed<'_> {
    /// The entry of a page changes: it was placed.
    pub(in crate::ssd) fn change_entry(&mut self, placement: &Placement) {
        let Some(mapping) = self.queue.mapping.as_deref_mut() else { return };
        let (read, has_left) = mapping.change(placement);
        if let Some(page) = read {
            self.nand.queue(self.now, page % self.nand.params().dies, Job::Read(1));
        }
        if has_left {
            self.write_table_page();
        }
    }

    /// A page of the table with changes leaves memory: a pass is programmed for as many as fill it.
    fn write_table_page(&mut self) {
        let Some(pass) = self.queue.mapping.as_deref_mut().and_then(Mapping::write_back) else { return };
        let die = (pass % u64::from(self.nand.params().dies)) as u32;
        let number = self.queue.issue();
        let job = if self.nand.params().quick.is_some() { Job::Quick(number) } else { Job::Program(number) };
        self.nand.queue(self.now, die, job);
    }
}
