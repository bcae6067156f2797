//! Heat of disk regions, reads minus writes: a count for each, which fades.
//!
//! A count lies somewhere in a megabyte, seldom in the processor's cache, and is needed much later than it changes.
//! Therefore changes are noted and applied in batches, or when a count is requested.

use super::divisor::Divisor;

/// Changes that are noted at most.
const NOTED: usize = 64;
/// One count for each value a region can have.
type Ranks = [u32; 256];

/// Counts of reads by region.
#[derive(Clone, Debug)]
pub struct Heat {
    /// Sectors of a region.
    region: Divisor,
    reads: Vec<u8>,
    /// Regions that were hot when they were last ranked, one bit each.
    hot: Vec<u64>,
    /// Regions that were read or (lowest bit) written since, in order.
    noted: Vec<u32>,
}

impl Heat {
    /// Regions of `region` sectors, fewer than 2^31 of them, none read yet.
    pub fn new(sectors: u64, region: u64) -> Self {
        let regions = sectors.div_ceil(region) as usize;
        Self {
            region: Divisor::new(region),
            reads: vec![0; regions],
            hot: vec![0; regions.div_ceil(64)],
            noted: Vec::with_capacity(NOTED),
        }
    }

    /// Sectors `first..end` are read.
    #[inline]
    pub fn read(&mut self, first: u64, end: u64) {
        self.note(first, end, 0);
    }

    /// Sectors `first..end` are written: their regions are less hot by one.
    #[inline]
    pub fn write(&mut self, first: u64, end: u64) {
        self.note(first, end, 1);
    }

    #[inline]
    fn note(&mut self, first: u64, end: u64, write: u32) {
        for region in self.region.divide(first)..=self.region.divide(end - 1) {
            if self.noted.len() == NOTED {
                self.carry_out();
            }
            self.noted.push(((region as u32) << 1) | write);
        }
    }

    fn carry_out(&mut self) {
        for noted in &self.noted {
            let reads = &mut self.reads[(noted >> 1) as usize];
            *reads = if noted & 1 == 0 { reads.saturating_add(1) } else { reads.saturating_sub(1) };
        }
        self.noted.clear();
    }

    /// Reads of the region that holds `sector`.
    #[inline]
    pub fn at(&mut self, sector: u64) -> u8 {
        if !self.noted.is_empty() {
            self.carry_out();
        }
        self.reads[self.region.divide(sector) as usize]
    }

    /// Every count is halved.
    pub fn fade(&mut self) {
        self.carry_out();
        self.reads.iter_mut().for_each(|reads| *reads >>= 1);
    }

    /// Whether the region that holds `sector` was among the hot ones when they were last ranked.
    #[inline]
    pub fn is_hot(&self, sector: u64) -> bool {
        let region = self.region.divide(sector) as usize;
        self.hot[region / 64] >> (region % 64) & 1 == 1
    }

    /// Ranks the regions: as many as `most` are hot, the ones read most, if they were read `least` times; and with them
    /// all that were read once less. There is room for some of these, and none of them is better than another.
    pub fn rank(&mut self, most: usize, least: u8) {
        let least = self.fewest(most).saturating_sub(1).max(least);
        for (bits, reads) in self.hot.iter_mut().zip(self.reads.chunks(64)) {
            let hot = |bits: u64, (at, reads): (usize, &u8)| bits | u64::from(*reads >= least) << at;
            *bits = reads.iter().enumerate().fold(0, hot);
        }
    }

    /// Smallest number of reads, at least 1, that at most `most` regions reach; 255 if more regions have 255.
    fn fewest(&mut self, most: usize) -> u8 {
        self.carry_out();
        let mut ranks: [Ranks; 4] = [[0; 256]; 4];
        // In turn over four tables: counts are often equal, and an addition has to wait for the one before it.
        for four in self.reads.chunks(4) {
            four.iter().zip(&mut ranks).for_each(|(reads, ranks)| ranks[usize::from(*reads)] += 1);
        }
        let mut hot = 0;
        let over = (1..256).rev().find(|reads| {
            hot += ranks.iter().map(|ranks| ranks[*reads] as usize).sum::<usize>();
            hot > most
        });
        over.map_or(0, |reads| (reads + 1).min(255) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_as_if_every_change_were_carried_out_at_once(
            steps in proptest::collection::vec((0_u8..8, 0_u64..900, 1_u64..60), 1..600), most in 1_usize..20,
        ) {
            let (mut heat, mut model) = (Heat::new(1000, 24), [0_u8; 42]);
            for (what, first, count) in steps {
                let regions = (first / 24) as usize..=((first + count - 1) / 24) as usize;
                match what {
                    0 => {
                        heat.write(first, first + count);
                        model[regions].iter_mut().for_each(|reads| *reads = reads.saturating_sub(1));
                    }
                    1 => prop_assert_eq!(heat.at(first), model[*regions.start()]),
                    2 if count < 5 => {
                        heat.fade();
                        for reads in &mut model {
                            *reads /= 2;
                        }
                    }
                    _ => {
                        heat.read(first, first + count);
                        model[regions].iter_mut().for_each(|reads| *reads = reads.saturating_add(1));
                    }
                }
            }
            let with = |least: u8| model.iter().filter(|reads| **reads >= least).count();
            let expected = (1..=255).find(|least| with(*least) <= most).unwrap_or(255);
            prop_assert_eq!(heat.fewest(most).max(1), expected);
            heat.rank(most, 2);
            let ranked: Vec<bool> = model.iter().map(|reads| *reads >= (expected - 1).max(2)).collect();
            let hot = |heat: &Heat| (0..42).map(|region| heat.is_hot(region * 24)).collect::<Vec<bool>>();
            prop_assert_eq!(hot(&heat), ranked.clone());
            // Until the next ranking neither reads nor fading change that.
            heat.fade();
            heat.read(0, 1000);
            prop_assert_eq!(hot(&heat), ranked);
        }
    }
}
