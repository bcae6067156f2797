//! Counters of a disk with shingled tracks, in addition to those of its arm.

use hotband_machine::{Command, Counter, Op};
use hotband_units::Span;

/// Counters since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmrCounters {
    reads: u64,
    writes: u64,
    flushes: u64,
    read_bytes: u64,
    written_bytes: u64,
    pub command: Span,
    /// Parts of reads that the media cache, or memory before it, answered.
    pub cache_reads: u64,
    pub cache_writes: u64,
    pub cache_written_bytes: u64,
    pub appends: u64,
    pub appended_bytes: u64,
    pub streamed_bytes: u64,
    /// Parts of writes that waited for room in the media cache.
    pub blocked_writes: u64,
    pub bands_cleaned: u64,
    pub cleaning_read_bytes: u64,
    pub cleaning_written_bytes: u64,
    pub cleaning: Span,
}

impl SmrCounters {
    /// Counts a command of the host.
    pub fn count(&mut self, command: &Command) {
        let (count, bytes) = match command.op {
            Op::Read => (&mut self.reads, Some(&mut self.read_bytes)),
            Op::Write => (&mut self.writes, Some(&mut self.written_bytes)),
            Op::Flush => (&mut self.flushes, None),
            Op::Trim => return,
        };
        *count += 1;
        if let Some(bytes) = bytes {
            *bytes += u64::from(command.len);
        }
    }

    /// Merge these counters over those of the disk below, counting the host's commands instead of their parts.
    pub fn over(&self, mut counters: Vec<Counter>) -> Vec<Counter> {
        let of_host = [
            ("reads", self.reads),
            ("writes", self.writes),
            ("flushes", self.flushes),
            ("read_bytes", self.read_bytes),
            ("written_bytes", self.written_bytes),
            ("command_ns", self.command.0),
        ];
        for (name, count) in &mut counters {
            if let Some((_, own)) = of_host.iter().find(|(counter, _)| counter == name) {
                *count = *own;
            }
        }
        counters.extend([
            ("media_cache_reads", self.cache_reads),
            ("media_cache_writes", self.cache_writes),
            ("media_cache_written_bytes", self.cache_written_bytes),
            ("appends", self.appends),
            ("appended_bytes", self.appended_bytes),
            ("streamed_bytes", self.streamed_bytes),
            ("blocked_writes", self.blocked_writes),
            ("bands_cleaned", self.bands_cleaned),
            ("cleaning_read_bytes", self.cleaning_read_bytes),
            ("cleaning_written_bytes", self.cleaning_written_bytes),
            ("cleaning_ns", self.cleaning.0),
            // Over written_bytes it is the write amplification.
            ("media_written_bytes", self.streamed_bytes + self.appended_bytes + self.cleaning_written_bytes),
        ]);
        counters
    }
}
