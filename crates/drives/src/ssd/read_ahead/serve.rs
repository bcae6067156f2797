//! Reads that continue a stream, and flash requests ahead of them.

use std::ops::Range;

use hotband_units::Instant;

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::read_ahead::streams::Streams;
use crate::ssd::reads::{For, Lies};
use crate::ssd::slot::Event;

impl Ssd {
    /// Serves a read that continues a stream: data that was read ahead comes from memory, the remainder from flash at
    /// `at`.
    // Out of line: reads in no order do not pay for it.
    #[inline(never)]
    pub(in crate::ssd) fn read_in_stream(&mut self, index: u32, stream: usize, at: Instant, pages: Range<u64>) {
        self.ask_put_off();
        let Some(streams) = self.streams.as_deref_mut() else { return };
        // Where the table does not fit into memory, a read that needs the flash looks up all of its pages.
        match streams.find(stream, &pages, index, self.work.mapping.is_some()) {
            Some((until, parts, ready)) => {
                let issued = self.slots[index as usize].begun + streams.params.overhead;
                self.count_hits(pages.start..until);
                let rest = until..pages.end;
                let more = if rest.is_empty() { 0 } else { self.ask_flash(For::Command(index), at, rest) };
                let slot = &mut self.slots[index as usize];
                slot.asked = if until < pages.end { at } else { issued };
                slot.ready = ready.max(slot.asked);
                slot.parts = parts + more;
                if slot.parts == 0 {
                    slot.flash = slot.ready.since(slot.asked);
                    let ready = slot.ready;
                    self.push(ready, Event::Ready(index));
                }
            }
            None => self.find_data(index, at, pages),
        }
        self.read_ahead(stream, at, u64::from(self.slots[index as usize].command.len));
    }

    /// Counts pages that were found in memory as if each had been looked for.
    fn count_hits(&mut self, pages: Range<u64>) {
        for page in pages {
            self.counters.read_ahead_hits += 1;
            match self.lies(page) {
                Lies::Nowhere => self.counters.unmapped_reads += 1,
                Lies::Buffered => self.counters.buffer_hits += 1,
                Lies::Cached | Lies::Flash(..) => {}
            }
        }
    }

    /// Requests the next pages of a stream from the dies.
    #[inline(never)]
    fn read_ahead(&mut self, stream: usize, at: Instant, len: u64) {
        let under_way = self.reading - len;
        let next = |streams: &mut Streams| streams.next(stream, under_way, len);
        while let Some((number, pages)) = self.streams.as_deref_mut().and_then(next) {
            self.counters.read_ahead_bytes += (pages.end - pages.start) * PAGE;
            let parts = self.ask_flash(For::Stream(number), at, pages);
            if let Some(streams) = self.streams.as_deref_mut() {
                streams.asked(stream, parts, at);
            }
        }
    }

    /// At `at`, `die` has read a part of the read-ahead data: the part crosses the channel, and commands that
    /// wait for the last part continue.
    #[inline(never)]
    pub(in crate::ssd) fn go_on_with_stream(&mut self, at: Instant, number: u32, die: u32, bytes: u32) {
        let crossed = self.nand.cross(at, die, u64::from(bytes));
        let Some(streams) = self.streams.as_deref_mut() else { return };
        let (ready, waiting) = streams.arrived(number, crossed);
        for index in waiting {
            let slot = &mut self.slots[index as usize];
            slot.parts -= 1;
            slot.ready = slot.ready.max(ready);
            slot.flash = slot.ready.since(slot.asked);
            if slot.parts == 0 {
                let ready = slot.ready;
                self.push(ready, Event::Ready(index));
            }
        }
    }
}
