//! Reads that succeed only after the drive has tried again: errors that it recovers from, and that a host sees as time.
//!
//! Errors are independent of one another and of the place. Data sheets rate the mean number of bits per error
//! ("recovered data"); each error takes the drive the same time.
//!
//! Leaves out: weak sectors that fail again, writes and seeks that are tried again, reading ahead.

use hotband_machine::Random;
use hotband_units::Span;

/// Frequency and duration of the recovery of reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryParams {
    /// Mean bits read between two.
    pub bits: f64,
    /// Time of one.
    pub time: Span,
}

/// Time when the next comes.
#[derive(Clone, Debug)]
pub struct Recovery {
    params: RecoveryParams,
    /// Sectors that are read without error before the next one.
    left: u64,
    random: Random,
    /// Count so far.
    pub count: u64,
}

impl Recovery {
    /// The first comes as any other does. `sector` is in bytes.
    pub fn new(params: RecoveryParams, random: Random, sector: u64) -> Self {
        let mut recovery = Self { params, left: 0, random, count: 0 };
        recovery.left = recovery.draw(sector);
        recovery
    }

    /// Time that recovery adds to a read of `sectors`.
    #[inline]
    pub fn of_read(&mut self, sectors: u64, sector: u64) -> Span {
        if sectors <= self.left {
            self.left -= sectors;
            return Span::ZERO;
        }
        self.recover(sectors, sector)
    }

    #[cold]
    fn recover(&mut self, mut sectors: u64, sector: u64) -> Span {
        let mut time = Span::ZERO;
        while sectors > self.left {
            sectors -= self.left;
            time += self.params.time;
            self.count += 1;
            self.left = self.draw(sector);
        }
        self.left -= sectors;
        time
    }

    /// At least one sector, so that one read is not recovered for ever.
    fn draw(&mut self, sector: u64) -> u64 {
        ((self.params.bits / (8 * sector) as f64 * self.random.exponential()) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_as_often_as_the_bits_say() {
        let params = RecoveryParams { bits: 8.0 * 512.0 * 1000.0, time: Span(1_000_000) };
        for sectors in [8, 256, 5000] {
            let mut recovery = Recovery::new(params, Random::new(1, "test"), 512);
            let reads = 40_000_000 / sectors;
            let time: u64 = (0..reads).map(|_| recovery.of_read(sectors, 512).0).sum();
            assert_eq!(time, recovery.count * 1_000_000, "each takes its time");
            // 40,000 of them; four standard deviations are 800.
            let error = recovery.count.abs_diff(40_000);
            assert!(error < 800, "{sectors} sectors a read: {} recoveries", recovery.count);
        }
    }
}
