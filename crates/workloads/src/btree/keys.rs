//! Choice of the next operation and its record: YCSB's CoreWorkload.

use crate::Random;
use crate::btree::shape::Shape;
use crate::btree::spec::{BTreeSpec, Operation, Requests};
use crate::zipf::Zipf;

/// Ranks of YCSB's scrambled Zipfian, whatever the number of records (`ScrambledZipfianGenerator.ITEM_COUNT`).
const SCRAMBLED_RANKS: u64 = 10_000_000_000;

/// FNV-1a, 64 bit, of a number's bytes (`Utils.fnvhash64`): offset basis and prime.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// YCSB's hash of a number: it scatters popular records and orders keys.
pub fn hash(number: u64) -> u64 {
    number.to_le_bytes().into_iter().fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Draws operations and records.
#[derive(Clone, Debug)]
pub struct Keys {
    random: Random,
    /// Shares of the operations, added up.
    upto: [f64; 5],
    requests: Requests,
    zipf: Zipf,
    /// Records at the beginning, and now.
    first_records: u64,
    pub records: u64,
    scan_most: u64,
    hashed: bool,
    per_page: u64,
    per_index_page: u64,
    index_pages: u64,
}

impl Keys {
    pub fn new(spec: &BTreeSpec, shape: &Shape, random: Random) -> Self {
        let mut upto = spec.shares;
        (1..upto.len()).for_each(|n| upto[n] += upto[n - 1]);
        let zipf = match spec.requests {
            Requests::Zipfian(exponent) => Zipf::new(SCRAMBLED_RANKS, exponent),
            Requests::Latest(exponent) => Zipf::new(spec.records, exponent),
            Requests::Uniform => Zipf::new(1, 1.0),
        };
        Self {
            random,
            upto,
            requests: spec.requests,
            zipf,
            first_records: spec.records,
            records: spec.records,
            scan_most: spec.scan_most,
            hashed: spec.hashed,
            per_page: shape.per_page,
            per_index_page: shape.per_index_page,
            index_pages: shape.index_pages,
        }
    }

    /// Like the above, with another generator.
    pub fn clone_with(&self, random: Random) -> Self {
        Self { random, ..self.clone() }
    }

    /// The next operation.
    pub fn operation(&mut self) -> Operation {
        let at = self.random.unit() * self.upto[4];
        let level = self.upto.iter().position(|upto| at < *upto);
        Operation::ALL[level.unwrap_or(4)]
    }

    /// The requested record.
    pub fn record(&mut self) -> u64 {
        match self.requests {
            Requests::Uniform => self.random.below(self.records),
            // YCSB draws among the records there were at the beginning and those it expects to add, and again if the
            // record is not there yet; here among those of the beginning.
            Requests::Zipfian(_) => hash(self.zipf.rank(&mut self.random)) % self.first_records,
            Requests::Latest(_) => self.records - 1 - self.zipf.rank(&mut self.random),
        }
    }

    /// Records of a scan.
    pub fn scan_length(&mut self) -> u32 {
        1 + self.random.below(self.scan_most) as u32
    }

    /// Page of a record: records lie in the order in which they were added.
    pub fn data_page(&self, record: u64) -> u32 {
        (self.index_pages + record / self.per_page) as u32
    }

    /// Place of a record in the order of keys.
    fn position(&self, record: u64) -> u64 {
        if self.hashed { hash(record ^ FNV_BASIS) % self.first_records } else { record }
    }

    /// Page of the index that leads to the record `further` places after `record` in the order of keys.
    pub fn index_page(&self, record: u64, further: u32) -> u32 {
        let position = self.position(record) + u64::from(further);
        (position / self.per_index_page % self.index_pages) as u32
    }

    /// The record `further` places after `record` in the order of keys: where keys are hashed, any.
    pub fn following(&self, record: u64, further: u32) -> u64 {
        match (further, self.hashed) {
            (0, _) => record,
            (_, false) => (record + u64::from(further)) % self.records,
            (_, true) => hash(hash(record).wrapping_add(u64::from(further))) % self.records,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Published test vector of FNV-1a 64 for eight zero bytes.
        assert_eq!(hash(0), (0..8).fold(FNV_BASIS, |hash: u64, _| hash.wrapping_mul(FNV_PRIME)));
        let buckets = (0..80_000_u64).fold([0_u32; 8], |mut counts, n| {
            counts[(hash(n) % 8) as usize] += 1;
            counts
        });
        assert!(buckets.iter().all(|count| count.abs_diff(10_000) < 500), "{buckets:?}");
    }
}
