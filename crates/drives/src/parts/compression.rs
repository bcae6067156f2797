//! Size of compressed pages on flash.
//!
//! A drive compresses in chunks of one logical page and reaches only a part of what an archive of the whole data does:
//! a chunk has less context, and the drive's method is simpler. With efficiency n, data whose archive takes a share e
//! of its size takes 1 - n (1 - e) on flash, plus a header, rounded up to the granule of packing. Data that would not
//! shrink is stored uncompressed.
//!
//! Seagate's rule that entropy 75 % without over-provisioning behaves like 28 % over-provisioning (physics.md) gives
//! 1 - n / 4 = 1 / 1.28, n = 0.875.

use hotband_machine::{Carrier, Entropy};

use super::ftl::{PAGE, PAGE_UNITS, UNIT};

/// Compression of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressionParams {
    /// Share of an archive's saving that a chunk reaches.
    pub efficiency: f64,
    /// Chunks are packed in multiples of this many bytes.
    pub granule: u64,
    /// Bytes of header a chunk.
    pub header: u64,
}

/// Sizes of chunks on flash.
#[derive(Clone, Debug)]
pub struct Compression {
    params: Option<CompressionParams>,
    /// The last entropy, and its size in units of 1/65536.
    last: (Entropy, u32),
    /// Remainder of sizes that are not whole units, in 1/65536 of a unit.
    owed: u32,
}

/// One unit, in 1/65536 of a unit.
const ONE: u32 = 1 << 16;

impl Compression {
    /// Return a compressor; without parameters pages are not compressed.
    pub fn new(params: Option<CompressionParams>) -> Self {
        let mut compression = Self { params, last: (Entropy::INCOMPRESSIBLE, 0), owed: 0 };
        compression.last.1 = compression.size(Entropy::INCOMPRESSIBLE);
        compression
    }

    /// Whether pages may take less than their size.
    pub fn is_on(&self) -> bool {
        self.params.is_some()
    }

    /// Units of 16 bytes that a page of this entropy takes. Sizes between two units are made up for over several
    /// pages, so that their mean is exact.
    #[inline]
    pub fn units(&mut self, entropy: Entropy) -> u32 {
        if self.params.is_none() {
            return PAGE_UNITS;
        }
        if self.last.0 != entropy {
            self.last = (entropy, self.size(entropy));
        }
        let size = self.last.1 + self.owed;
        self.owed = size % ONE;
        if size < ONE {
            // Every chunk takes a unit at least.
            self.owed = 0;
        }
        (size / ONE).clamp(1, PAGE_UNITS)
    }

    /// Carries the remainder; the size of the last entropy follows from the parameters.
    pub fn carry(&mut self, carrier: &mut Carrier) {
        carrier.word(&mut self.owed);
    }

    /// Size of a page, in 1/65536 of a unit.
    fn size(&self, entropy: Entropy) -> u32 {
        let Some(params) = self.params else { return PAGE_UNITS * ONE };
        let share = 1.0 - params.efficiency * (1.0 - entropy.share());
        let bytes = share * PAGE as f64 + params.header as f64;
        let packed =
            if params.granule > 1 { (bytes / params.granule as f64).ceil() * params.granule as f64 } else { bytes };
        if packed >= PAGE as f64 { PAGE_UNITS * ONE } else { (packed / UNIT as f64 * f64::from(ONE)) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(params: CompressionParams, entropy: f64) -> f64 {
        let mut compression = Compression::new(Some(params));
        let total: u64 = (0..10_000).map(|_| u64::from(compression.units(Entropy::of(entropy)))).sum();
        (total * UNIT) as f64 / 10_000.0
    }

    #[test]
    fn without_granule_and_header_the_mean_size_is_the_entropy() {
        let ideal = CompressionParams { efficiency: 1.0, granule: 1, header: 0 };
        for entropy in [0.0126, 0.17, 0.37, 0.5, 0.79, 1.0] {
            let average = mean(ideal, entropy);
            assert!((average / (entropy * 4096.0) - 1.0).abs() < 0.001, "{entropy}: {average} bytes");
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_the_granule_and_never_exceed_the_page() {
        let real = CompressionParams { efficiency: 0.875, granule: 512, header: 8 };
        assert_eq!(mean(real, 0.37), 2048.0, "0.449 x 4096 + 8 = 1846 bytes");
        assert_eq!(mean(real, 0.0), 1024.0, "0.125 x 4096 + 8 = 520 bytes");
        assert_eq!(mean(real, 1.0), 4096.0);
        assert_eq!(mean(real, 0.99), 4096.0);
    }

    #[test]
    fn seagates_rule_gives_the_efficiency() {
        let average = mean(CompressionParams { efficiency: 0.875, granule: 1, header: 0 }, 0.75);
        assert!((4096.0 / average - 1.28).abs() < 0.001, "as much room as over-provisioning of 28 %");
    }

    #[test]
    fn without_compression_every_page_takes_its_size() {
        assert_eq!(Compression::new(None).units(Entropy::of(0.1)), PAGE_UNITS);
    }
}
