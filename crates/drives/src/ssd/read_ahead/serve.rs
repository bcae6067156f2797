//! Reads that go on with a stream, and what is asked of the flash ahead of them.

use std::ops::Range;

use hotband_units::Instant;

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::reads::For;
use crate::ssd::slot::Event;

impl Ssd {
    /// A read that goes on with a stream, at `at` with the flash: it is served from memory where all of it was read ahead.
    // Out of line: reads in no order do not pay for it.
    #[inline(never)]
    pub(in crate::ssd) fn read_in_stream(&mut self, index: u32, stream: usize, at: Instant, pages: Range<u64>) {
        self.ask_put_off();
        let Some(streams) = self.streams.as_deref_mut() else { return };
        match streams.find(stream, &pages, index) {
            Some((parts, ready)) => {
                let slot = &mut self.slots[index as usize];
                slot.asked = slot.begun + streams.params.overhead;
                slot.ready = ready.max(slot.asked);
                slot.parts = parts;
                self.counters.read_ahead_hits += pages.end - pages.start;
                if parts == 0 {
                    let ready = slot.ready;
                    self.push(ready, Event::Ready(index));
                }
            }
            None => self.find_data(index, at, pages),
        }
        self.read_ahead(stream, at);
    }

    /// Asks the dies for what comes next in a stream.
    #[inline(never)]
    fn read_ahead(&mut self, stream: usize, at: Instant) {
        while let Some((number, pages)) = self.streams.as_deref_mut().and_then(|streams| streams.next(stream)) {
            self.counters.read_ahead_bytes += (pages.end - pages.start) * PAGE;
            let parts = self.ask_flash(For::Stream(number), at, pages);
            if let Some(streams) = self.streams.as_deref_mut() {
                streams.asked(stream, parts, at);
            }
        }
    }

    /// `die` has read a part of what is read ahead at `at`: it crosses the channel, and whoever waits for the last part
    /// goes on.
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
