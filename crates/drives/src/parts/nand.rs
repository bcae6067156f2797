//! Flash dies behind channels: when a read, a program or an erase is done.
//!
//! Every die does one thing at a time. Reads of the host go before programs, erases and reads for relocation that have
//! not begun; they wait for what has begun, or suspend it where the drive can. Work that waits longer than the
//! patience of the drive is no longer overtaken. Programs of all dies together are held to a rate: power, and the
//! controller's path to the flash.
//!
//! The caller gives the time of a host read ([`crate::parts::senses`]).
//!
//! Leaves out: planes that program or erase alone, and the dependence of programs and erases on place and wear.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_units::{Instant, Rate, Span};

/// Times and numbers of the flash of one drive.
#[derive(Clone, Debug)]
pub struct NandParams {
    /// Dies.
    pub dies: u32,
    /// Channels; die number n is on channel n modulo their number.
    pub channels: u32,
    /// Planes of a die that read at once within one pass.
    pub planes: u32,
    /// Passes of a pseudo-SLC cache, if there is one.
    pub quick: Option<QuickParams>,
    /// Whether the planes of a die read different pages at the same time.
    pub planes_alone: bool,
    /// Bytes of a flash page.
    pub page_bytes: u64,
    /// Bytes programmed in one pass.
    pub program_bytes: u64,
    /// Time to read a page (tR).
    pub read: Span,
    /// Time of a pass (tPROG).
    pub program: Span,
    /// Time to erase a block (tBERS).
    pub erase: Span,
    /// Rate of a channel.
    pub channel_rate: Rate,
    /// Rate at which all dies together are programmed.
    pub program_rate: Rate,
    /// Time to suspend a program or erase for a read and to resume it; none if the drive cannot.
    pub suspend: Option<Span>,
    /// Work that waits longer is no longer overtaken by reads.
    pub patience: Span,
}

/// Passes of a pseudo-SLC cache.
#[derive(Clone, Copy, Debug)]
pub struct QuickParams {
    /// Bytes of a pass.
    pub bytes: u64,
    /// Time to read a page.
    pub read: Span,
    /// Time of a pass.
    pub program: Span,
    /// Rate at which all dies together are programmed.
    pub rate: Rate,
}

/// Work in the background of host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Program a pass of the pseudo-SLC cache; the number comes back when it is done.
    Quick(u64),
    /// Program a pass; the number comes back when it is done.
    Program(u64),
    /// Read this many pages of one pass for relocation.
    Read(u32),
    /// Erase.
    Erase,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    job: Job,
    begins: Instant,
    ends: Instant,
    /// Since when it waited: the patience of the drive counts from here.
    since: Instant,
}

#[derive(Clone, Debug, Default)]
struct Die {
    waiting: VecDeque<(Job, Instant)>,
    running: Option<Running>,
    /// Time when the reads of the host that were accepted are done.
    reads_until: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    /// Time when the reads are across.
    free_at: Instant,
    /// Data of programs on the wire; reads pass between its pages.
    programs_until: Instant,
}

/// Counters since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct NandCounters {
    /// Flash pages read for the host.
    pub host_page_reads: u64,
    /// Flash pages read for relocation.
    pub relocation_page_reads: u64,
    /// Times that a program or an erase was suspended.
    pub suspends: u64,
    /// Time that dies were busy, of all dies together.
    pub die_busy: Span,
}

/// The flash of one drive.
#[derive(Clone, Debug)]
pub struct Nand {
    params: NandParams,
    dies: Vec<Die>,
    /// When the reads of every plane are done, where planes read alone.
    planes: Vec<Instant>,
    channels: Vec<Channel>,
    wakes: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Time when the next pass may begin.
    next_program: Instant,
    between_programs: Span,
    page_on_channel: Span,
    sector_on_channel: Span,
    program_on_channel: Span,
    /// Passes that wait or run.
    programs: u32,
    jobs: u32,
    /// Counters.
    pub counters: NandCounters,
}

impl Nand {
    /// Idle dies.
    pub fn new(params: NandParams) -> Self {
        let channel = Channel { free_at: Instant::ZERO, programs_until: Instant::ZERO };
        Self {
            dies: vec![Die::default(); params.dies as usize],
            planes: vec![Instant::ZERO; if params.planes_alone { params.dies * params.planes } else { 0 } as usize],
            channels: vec![channel; params.channels as usize],
            wakes: BinaryHeap::new(),
            next_program: Instant::ZERO,
            between_programs: params.program_rate.time_for(params.program_bytes),
            page_on_channel: params.channel_rate.time_for(params.page_bytes),
            sector_on_channel: params.channel_rate.time_for(4096),
            program_on_channel: params.channel_rate.time_for(params.program_bytes),
            programs: 0,
            jobs: 0,
            counters: NandCounters::default(),
            params,
        }
    }

    /// Parameters that it was built with.
    pub fn params(&self) -> &NandParams {
        &self.params
    }

    /// Passes that are not programmed yet.
    pub fn programs(&self) -> u32 {
        self.programs
    }

    /// Whether nothing waits or runs but reads of the host.
    pub fn is_idle(&self) -> bool {
        self.jobs == 0
    }

    /// Time when something of the background is next due.
    #[inline]
    pub fn wake(&self) -> Option<Instant> {
        self.wakes.peek().map(|Reverse((at, _))| *at)
    }

    /// The host reads `pages` flash pages of one pass on `die` in the time `reading`: when the flash has read them.
    /// Then the data has to [`Nand::cross`] the channel.
    #[inline]
    pub fn read(&mut self, now: Instant, die: u32, pages: u32, reading: Span) -> Instant {
        self.counters.host_page_reads += u64::from(pages);
        self.counters.die_busy += self.busy_for(pages, reading);
        let state = &mut self.dies[die as usize];
        let mut begin = now.max(state.reads_until);
        if let Some(running) = &mut state.running {
            // What waited too long is neither pushed back nor suspended, or reads could keep it off for ever.
            let firm = begin.since(running.since) > self.params.patience;
            if running.begins >= begin && !firm {
                // It has not begun: the read goes first.
                let pushed = running.begins.max(begin + reading);
                running.ends += pushed.since(running.begins);
                running.begins = pushed;
            } else if running.ends > begin {
                match self.params.suspend {
                    Some(pause) if !firm && !matches!(running.job, Job::Read(_)) => {
                        self.counters.suspends += 1;
                        begin += pause;
                        running.ends += pause + reading;
                    }
                    _ => begin = running.ends,
                }
            }
        }
        state.reads_until = begin + reading;
        state.reads_until
    }

    /// Like the above, for planes that read independently: one page keeps its plane busy, several keep all of them. A
    /// program that is suspended for one plane stays so while others read.
    #[inline]
    pub fn read_on_planes(&mut self, now: Instant, die: u32, (pages, first): (u32, u32), reading: Span) -> Instant {
        self.counters.host_page_reads += u64::from(pages);
        let count = self.params.planes;
        self.counters.die_busy += self.busy_for(pages, reading);
        let (from, used) = if pages == 1 { (first % count, 1) } else { (0, count) };
        let planes = &mut self.planes[(die * count + from) as usize..][..used as usize];
        let state = &mut self.dies[die as usize];
        let mut begin = planes.iter().fold(now, |latest, plane| latest.max(*plane));
        if let Some(running) = &mut state.running {
            let firm = begin.since(running.since) > self.params.patience;
            if running.begins >= begin && !firm {
                let pushed = running.begins.max(begin + reading);
                running.ends += pushed.since(running.begins);
                running.begins = pushed;
            } else if running.ends > begin {
                match self.params.suspend {
                    Some(_) if state.reads_until > begin && !firm && !matches!(running.job, Job::Read(_)) => {
                        running.ends += (begin + reading).since(state.reads_until);
                    }
                    Some(pause) if !firm && !matches!(running.job, Job::Read(_)) => {
                        self.counters.suspends += 1;
                        begin += pause;
                        running.ends += pause + reading;
                    }
                    _ => begin = running.ends,
                }
            }
        }
        planes.fill(begin + reading);
        state.reads_until = state.reads_until.max(begin + reading);
        begin + reading
    }

    /// Time that reading `pages` of one pass in the time `reading` keeps a die busy; if planes read
    /// independently, only a part of it.
    #[inline]
    pub fn busy_for(&self, pages: u32, reading: Span) -> Span {
        let count = self.params.planes;
        if !self.params.planes_alone {
            return reading;
        }
        Span(reading.0 * u64::from(pages.min(count)) / u64::from(count))
    }

    /// One flash page, number `number`, whether planes read alone or together.
    pub fn read_one(&mut self, now: Instant, die: u32, number: u32, reading: Span) -> Instant {
        if self.params.planes_alone {
            return self.read_on_planes(now, die, (1, number), reading);
        }
        self.read(now, die, 1, reading)
    }

    /// `bytes` that `die` has read at `now` cross the channel, between the pages of a program if one is being sent:
    /// when they have. Time given to it never goes backwards.
    #[inline]
    pub fn cross(&mut self, now: Instant, die: u32, bytes: u64) -> Instant {
        let time = if bytes == 4096 { self.sector_on_channel } else { self.params.channel_rate.time_for(bytes) };
        let count = self.channels.len() as u32;
        let channel = &mut self.channels[(die % count) as usize];
        let mut begin = now.max(channel.free_at);
        if channel.programs_until > begin {
            begin += Span(self.page_on_channel.0 / 2).min(channel.programs_until.since(begin));
            channel.programs_until += time;
        }
        channel.free_at = begin + time;
        channel.free_at
    }

    /// A job for `die`.
    #[inline]
    pub fn queue(&mut self, now: Instant, die: u32, job: Job) {
        match job {
            Job::Program(_) | Job::Quick(_) => self.programs += 1,
            Job::Read(pages) => self.counters.relocation_page_reads += u64::from(pages),
            Job::Erase => {}
        }
        self.jobs += 1;
        let state = &mut self.dies[die as usize];
        if state.running.is_none() && state.waiting.is_empty() {
            state.waiting.push_back((job, now));
            self.begin_next(now, die);
        } else {
            state.waiting.push_back((job, now));
        }
    }

    /// Performs the work due at `now`; appends the numbers of programmed passes.
    #[inline]
    pub fn advance(&mut self, now: Instant, programmed: &mut Vec<u64>) {
        while let Some(Reverse((at, die))) = self.wakes.peek().copied() {
            if at > now {
                break;
            }
            self.wakes.pop();
            let state = &mut self.dies[die as usize];
            if let Some(running) = state.running {
                if running.ends > at {
                    // It was suspended or pushed back.
                    self.wakes.push(Reverse((running.ends, die)));
                    continue;
                }
                state.running = None;
                self.jobs -= 1;
                if let Job::Program(number) | Job::Quick(number) = running.job {
                    self.programs -= 1;
                    programmed.push(number);
                }
            }
            self.begin_next(at, die);
        }
    }

    /// Begins the next job of an idle die, once the reads that were accepted are done.
    #[inline]
    fn begin_next(&mut self, now: Instant, die: u32) {
        let state = &mut self.dies[die as usize];
        let Some((job, since)) = state.waiting.front().copied() else { return };
        let firm = now.since(since) > self.params.patience;
        let mut begins = now;
        if state.reads_until > now {
            if !firm {
                self.wakes.push(Reverse((state.reads_until, die)));
                return;
            }
            begins = state.reads_until;
        }
        state.waiting.pop_front();
        let takes = match job {
            Job::Program(_) => {
                begins = begins.max(self.next_program);
                self.next_program = begins + self.between_programs;
                let count = self.channels.len() as u32;
                let channel = &mut self.channels[(die % count) as usize];
                channel.programs_until = channel.programs_until.max(begins) + self.program_on_channel;
                self.program_on_channel + self.params.program
            }
            Job::Quick(_) => {
                let quick = self.params.quick.expect("only a cache sends such passes");
                begins = begins.max(self.next_program);
                self.next_program = begins + quick.rate.time_for(quick.bytes);
                let crossing = self.params.channel_rate.time_for(quick.bytes);
                let channel = (die as usize) % self.channels.len();
                let channel = &mut self.channels[channel];
                channel.programs_until = channel.programs_until.max(begins) + crossing;
                crossing + quick.program
            }
            Job::Read(pages) => Span(self.params.read.0 * u64::from(pages.div_ceil(self.params.planes))),
            Job::Erase => self.params.erase,
        };
        self.counters.die_busy += takes;
        let ends = begins + takes;
        state.running = Some(Running { job, begins, ends, since });
        self.wakes.push(Reverse((ends, die)));
    }
}

#[cfg(test)]
mod tests;
