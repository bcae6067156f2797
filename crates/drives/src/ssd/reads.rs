//! Reads: data that the buffer lacks is read from the dies, decompressed and sent over the link.

use hotband_machine::{Command, Done, Times};
use hotband_units::{Instant, Span};

use crate::parts::ftl::PAGE;
use crate::ssd::Ssd;
use crate::ssd::slot::Event;

/// Place where the newest data of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// The data is in the pseudo-SLC cache.
    Cached,
    /// In the write buffer, or in a pass that is not sent to the flash yet.
    Buffered,
    /// Nowhere: it was never written.
    Nowhere,
    /// The data is in a block, pass and flash page.
    Flash(u32, u32, u32),
}

/// Requester of data from the flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum For {
    /// A command.
    Command(u32),
    /// Chunks read ahead of a stream, by number.
    Stream(u32),
}

impl Ssd {
    /// The stream that a read continues, if the drive reads ahead of streams. Reads have to be given in order of
    /// arrival.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    pub(super) fn follow(&mut self, command: &Command) -> Option<usize> {
        self.streams.as_deref_mut()?.follow(command.offset, u64::from(command.len))
    }

    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    pub(super) fn accept_read(&mut self, index: u32, stream: Option<usize>) {
        let slot = self.slots[index as usize];
        let (command, at) = (slot.command, slot.begun + self.params.read_overhead);
        self.counters.reads += 1;
        self.counters.read_bytes += u64::from(command.len);
        self.slots[index as usize].asked = at;
        let pages = command.offset / PAGE..(command.offset + u64::from(command.len)).div_ceil(PAGE);
        if let Some(stream) = stream {
            return self.read_in_stream(index, stream, at, pages);
        }
        if self.work.mapping.is_none()
            && pages.end - pages.start == 1
            && self.nand.is_idle()
            && self.params.ftl.pslc.is_none()
        {
            return self.put_off(index, pages.start);
        }
        self.find_data(index, at, pages);
    }

    /// Requests the data of a read: first its location, if the map does not fit into memory.
    #[inline]
    pub(super) fn find_data(&mut self, index: u32, at: Instant, pages: std::ops::Range<u64>) {
        if self.work.mapping.is_some() {
            return self.look_up(index, at, pages);
        }
        self.ask_put_off();
        self.read_data(index, at, pages);
    }

    /// The location of a read's data is known at `at`.
    #[inline]
    pub(super) fn read_data(&mut self, index: u32, at: Instant, pages: std::ops::Range<u64>) {
        let parts = self.ask_flash(For::Command(index), at, pages);
        if parts == 0 {
            self.slots[index as usize].ready = at;
            self.push(at, Event::Ready(index));
        }
        self.slots[index as usize].parts = parts;
    }

    #[inline]
    pub(super) fn lies(&self, page: u64) -> Lies {
        if self.ftl.is_buffered(page) {
            return if self.ftl.is_cached(page) { Lies::Cached } else { Lies::Buffered };
        }
        let Some((block, flash_page)) = self.ftl.place_of(page) else { return Lies::Nowhere };
        let pass = self.work.pass_of(flash_page);
        if self.ftl.is_programmed(block, pass) { Lies::Flash(block, pass, flash_page) } else { Lies::Buffered }
    }

    /// Asks the dies for what lies on flash of these pages; returns how many parts will come.
    pub(super) fn ask_flash(&mut self, whom: For, at: Instant, pages: std::ops::Range<u64>) -> u32 {
        let (mut parts, mut current) = (0, None);
        let (mut asked_until, end) = (0, pages.end);
        for page in pages {
            let (block, pass, flash_page) = match self.lies(page) {
                Lies::Flash(block, pass, flash_page) => (block, pass, flash_page),
                Lies::Cached => {
                    if page >= asked_until {
                        let pass = page / self.cache_pass_pages();
                        asked_until = ((pass + 1) * self.cache_pass_pages()).min(end);
                        parts += self.ask_cache(whom, at, pass, asked_until - page);
                    }
                    continue;
                }
                Lies::Buffered => {
                    self.counters.buffer_hits += u64::from(matches!(whom, For::Command(_)));
                    continue;
                }
                Lies::Nowhere => {
                    self.counters.unmapped_reads += u64::from(matches!(whom, For::Command(_)));
                    continue;
                }
            };
            let bytes = self.ftl.size_of(page) * 16;
            match &mut current {
                Some((b, p, last, count, sum)) if (*b, *p) == (block, pass) => {
                    *count += u32::from(*last != flash_page);
                    *last = flash_page;
                    *sum += bytes;
                }
                _ => {
                    parts += self.ask_die(whom, at, current);
                    current = Some((block, pass, flash_page, 1, bytes));
                }
            }
        }
        parts + self.ask_die(whom, at, current)
    }

    fn cache_pass_pages(&self) -> u64 {
        self.params.nand.quick.map_or(1, |quick| quick.bytes / PAGE)
    }

    /// Requests pages of the pseudo-SLC cache from a die. Its place in the cache is not stored: neighbours are assumed
    /// to be on the same die.
    fn ask_cache(&mut self, whom: For, at: Instant, pass: u64, pages: u64) -> u32 {
        let die = (pass % u64::from(self.params.nand.dies)) as u32;
        let time = self.params.nand.quick.map_or(Span::ZERO, |quick| quick.read);
        let read = self.nand.read(at, die, 1, time);
        let part = self.part_for(whom, time, (die, (pages * PAGE) as u32));
        self.push(read, part);
        1
    }

    #[inline]
    fn ask_die(&mut self, whom: For, at: Instant, part: Option<(u32, u32, u32, u32, u32)>) -> u32 {
        let Some((block, pass, last, pages, bytes)) = part else { return 0 };
        let die = self.work.die_of(block, pass);
        let physical = self.work.place_of(last, pass);
        let (ftl, rated) = (&self.ftl, self.params.rated_cycles);
        let time = self.senses.time(pages, physical, || ftl.wear().0 / rated);
        let read = if self.params.nand.planes_alone {
            self.nand.read_on_planes(at, die, (pages, last), time)
        } else {
            self.nand.read(at, die, pages, time)
        };
        let part = self.part_for(whom, time, (die, bytes));
        self.push(read, part);
        1
    }

    /// Next step when a die has read bytes, and the time of the read.
    #[inline]
    fn part_for(&mut self, whom: For, time: Span, (die, bytes): (u32, u32)) -> Event {
        match whom {
            For::Command(index) => {
                self.slots[index as usize].flash = time;
                Event::Part(index, die, bytes)
            }
            For::Stream(number) => Event::Ahead(number, die, bytes),
        }
    }

    /// All data of a read is in the controller: it is decompressed and crosses the link.
    #[inline]
    pub(super) fn send_to_host(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let compressed = self.compression.is_on() && slot.flash > Span::ZERO;
        let ready = slot.ready + if compressed { self.params.decompression } else { Span::ZERO };
        let at = self.to_host.send(ready, u64::from(slot.command.len));
        let mut times = Times {
            overhead: slot.asked.since(slot.begun) + ready.since(slot.ready),
            flash: slot.flash,
            transfer: slot.channel,
            link: at.since(ready),
            ..Times::default()
        };
        times.queue = at.since(slot.submitted) - times.total();
        // With several parts at work at once the sum of the last one's may be longer than the time that passed.
        let over = times.total() - at.since(slot.submitted);
        times.flash = times.flash - over;
        self.reading -= u64::from(slot.command.len);
        self.give_back(index);
        self.finish(Done { token: slot.command.token, at, times, bytes_back: slot.command.len, fault: None });
    }
}
