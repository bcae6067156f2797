//! Reading ahead: of reads that follow one another, what comes next is in memory before it is asked for.
//!
//! Two reads that follow one another make a stream. From the third on the drive reads ahead of it, as far as it has come
//! since the second, a sense of all planes at a time and no more than a limit; the read that asks for such data goes without the flash, and without most
//! of the controller's work, or waits for what is on its way. A read that is longer than the limit belongs to no stream.
//!
//! Leaves out: what is written or trimmed while it is held stays where it is; streams that go backwards or leave gaps; and the
//! mapping table, where it does not fit into memory, is not asked for what is read ahead.

mod params;
mod streams;

use std::ops::Range;

use hotband_units::Instant;

pub use params::ReadAheadParams;
pub(super) use params::read_read_ahead;
pub(super) use streams::Streams;

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::params::SsdParams;
use crate::ssd::reads::For;
use crate::ssd::slot::Event;

/// The streams of a drive that reads ahead.
pub(super) fn streams_of(params: &SsdParams) -> Option<Box<Streams>> {
    let chunk = params.nand.page_bytes * u64::from(params.nand.planes) / PAGE;
    params.read_ahead.map(|read_ahead| Box::new(Streams::new(read_ahead, chunk, params.ftl.pages)))
}

impl Ssd {
    /// A read that goes on with a stream, at `at` with the flash: it is served from memory where all of it was read ahead.
    // Out of line: reads in no order do not pay for it.
    #[inline(never)]
    pub(super) fn read_in_stream(&mut self, index: u32, stream: usize, at: Instant, pages: Range<u64>) {
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
    pub(super) fn go_on_with_stream(&mut self, at: Instant, number: u32, die: u32, bytes: u32) {
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
