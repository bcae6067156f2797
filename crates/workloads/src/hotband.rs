//! The hot band of vdbench, which SNIA Emerald's cache workload is made of: most I/Os go near the beginning of a band,
//! and the rest wraps around in it.
//!
//! Left out: vdbench rounds a place down to whole units of the table before it counts records, and computes the last of
//! its segments with a slope that ends it at 1.3e9 MB. Both are lost in the modulo for bands below 100 TB. One thing is
//! not: vdbench divides kB by the record's bytes, so the places it visits are those of the table in kB; `table_unit`
//! tells which is meant.

use crate::Random;

/// Place from the band's beginning (in units of the table) and the share of I/Os below it.
/// Source: vdbench 5.04.06, Vdb/HotBand.java, CacheSizeMB and PBCurve (itfanr/vdbench); MB = 10^6 bytes.
const CURVE: [(u64, f64); 29] = [
    (0, 0.0),
    (16, 0.087_217),
    (32, 0.101_01),
    (64, 0.132_206),
    (128, 0.159_946),
    (256, 0.201_713),
    (512, 0.262_602),
    (1024, 0.326_45),
    (2048, 0.366_902),
    (4096, 0.386_175),
    (8192, 0.436_941),
    (16_384, 0.482_631),
    (32_768, 0.523_752),
    (65_536, 0.560_76),
    (131_072, 0.594_068),
    (262_144, 0.624_045),
    (524_288, 0.651_024),
    (1_048_576, 0.675_305),
    (2_097_152, 0.697_159),
    (4_194_304, 0.716_827),
    (8_388_608, 0.734_528),
    (16_777_216, 0.750_459),
    (33_554_432, 0.764_797),
    (67_108_864, 0.777_701),
    (134_217_728, 0.789_314),
    (268_435_456, 0.799_767),
    (536_870_912, 0.809_174),
    (1_073_741_824, 0.817_64),
    (10_737_418_240, 1.0),
];

/// Generators that take turns. Source: as above, `Random r[] = new Random[5]`.
const GENERATORS: usize = 5;

/// Options of a hot band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotBandSpec {
    /// Distance of writes behind the position of a read, as a share of the band's records.
    pub writes_shifted: f64,
    /// Bytes that one unit of the table represents.
    pub table_unit: u64,
}

impl HotBandSpec {
    /// Shift of writes in vdbench (`num_recs_in_band / 100`).
    pub const WRITES_SHIFTED: f64 = 0.01;
    /// Unit of the table as its names say.
    pub const TABLE_UNIT: u64 = 1_000_000;
}

/// A hot band at work.
#[derive(Clone, Debug)]
pub struct HotBand {
    spec: HotBandSpec,
    generators: [Random; GENERATORS],
    turn: usize,
}

impl HotBand {
    /// A band whose generators are seeded from that of its stream.
    pub fn new(spec: HotBandSpec, stream: &Random) -> Self {
        let seed = stream.clone().bits();
        let generators = std::array::from_fn(|n| Random::new(seed, &format!("hotband.{n}")));
        Self { spec, generators, turn: 0 }
    }

    /// A record in `0..records`, each of `align` bytes.
    pub fn draw(&mut self, read: bool, records: u64, align: u64) -> u64 {
        self.turn = (self.turn + 1) % GENERATORS;
        let place = place(self.generators[self.turn].unit()) * self.spec.table_unit as f64;
        let shift = if read { 0 } else { (records as f64 * self.spec.writes_shifted) as u64 };
        (place as u64 / align + shift) % records
    }
}

/// The place in the table below which a share of `share` (below 1) of the I/Os go.
fn place(share: f64) -> f64 {
    let upper = CURVE.partition_point(|(_, upto)| *upto <= share).clamp(1, CURVE.len() - 1);
    let ((from, low), (to, high)) = (CURVE[upper - 1], CURVE[upper]);
    from as f64 + (share - low) / (high - low) * (to - from) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Workload;
    use crate::stream::Stream;

    const DRAWS: usize = 20_000;
    /// Kolmogorov-Smirnov: a sample this far from its distribution has a probability of one in a million
    /// (sqrt(ln(2 / 1e-6) / 2) / sqrt(draws)).
    const BOUND: f64 = 2.694 / 141.42;
    /// Records are 8 KiB.
    const RECORD: u64 = 8192;

    fn band(keys: &str, range: &str, capacity: u64) -> Stream {
        named(keys, range, capacity, "streams.hot")
    }

    fn named(keys: &str, range: &str, capacity: u64, name: &str) -> Stream {
        let text = format!(
            "[load]\nclosed = {{ threads = 1 }}\n[[phases]]\nios = 1\nmeasure = true\n[[streams]]\nrandom_pct = 100\n\
             size = \"8 KiB\"\nrange = {range}\n{keys}"
        );
        let spec = Workload::read("test", &text).unwrap().streams.remove(0);
        let bounds = spec.bounds("test", &capacity.into(), 512).unwrap();
        Stream::new(spec, bounds, 1, Random::new(1, name))
    }

    const READS: &str = "read_pct = 100\noffsets = { hotband = {} }";
    const WRITES: &str = "read_pct = 0\noffsets = { hotband = {} }";

    fn offsets(stream: &mut Stream, count: usize) -> Vec<u64> {
        (0..count).map(|_| stream.next(0).offset).collect()
    }

    /// Share of I/Os below `bytes` of a table in MB, by linear interpolation.
    fn table(bytes: f64) -> f64 {
        let mb = bytes / 1e6;
        let Some(upper) = CURVE.iter().position(|(upto, _)| *upto as f64 > mb) else { return 1.0 };
        let ((from, low), (to, high)) = (CURVE[upper - 1], CURVE[upper]);
        low + (high - low) * (mb - from as f64) / (to - from) as f64
    }

    /// Like the above, for a band of `length` bytes in which the table wraps around.
    fn wrapped(bytes: f64, length: f64) -> f64 {
        let rounds = (CURVE[28].0 as f64 * 1e6 / length).ceil() as u64;
        let round = |n: u64| table(n as f64 * length + bytes) - table(n as f64 * length);
        (0..rounds).map(round).sum()
    }

    /// Largest distance between the sample and `expected` at `points`.
    fn distance(sample: &mut [u64], points: &[f64], expected: impl Fn(f64) -> f64) -> f64 {
        sample.sort_unstable();
        let below = |point: f64| sample.partition_point(|offset| (*offset as f64) < point) as f64 / sample.len() as f64;
        points.iter().map(|point| (below(*point) - expected(*point)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_band_larger_than_the_table_has_its_distribution() {
        let mut sample = offsets(&mut band(READS, "[\"0 %\", \"100 %\"]", 20_000_000_000_000_000), DRAWS);
        let ends = CURVE.iter().map(|(mb, _)| *mb as f64 * 1e6);
        let middles = CURVE.windows(2).map(|pair| (pair[0].0 + pair[1].0) as f64 / 2.0 * 1e6);
        let points: Vec<f64> = ends.chain(middles).collect();
        let distance = distance(&mut sample, &points, table);
        assert!(distance < BOUND, "{distance}");
    }

    #[test]
    fn a_smaller_band_wraps_the_table_around() {
        // 8 % of 1.25 TB: 56 % of the table lie within the first pass.
        let length = 100_000_000_000_u64 / RECORD * RECORD;
        let mut sample = offsets(&mut band(READS, "[\"10 %\", \"18 %\"]", 1_250_000_000_000), DRAWS);
        let from = 125_000_000_000_u64 / 4096 * 4096;
        for offset in &mut sample {
            *offset -= from;
        }
        let grid = (0..100).map(|n| f64::from(n) * 1e9);
        let points: Vec<f64> = grid.chain(CURVE[..13].iter().map(|(mb, _)| *mb as f64 * 1e6)).collect();
        let distance = distance(&mut sample, &points, |bytes| wrapped(bytes, length as f64));
        assert!(distance < BOUND, "{distance}");
        assert!(sample.iter().filter(|offset| **offset > length / 2).count() > DRAWS / 10, "the far half is used");
    }

    #[test]
    fn a_table_in_kb_is_a_thousand_times_hotter() {
        let keys = READS.replace("{}", "{ table_unit = \"1 kB\" }");
        let mut sample = offsets(&mut band(&keys, "[\"0 %\", \"100 %\"]", 20_000_000_000_000_000), DRAWS);
        let points: Vec<f64> = CURVE[10..].iter().map(|(kb, _)| *kb as f64 * 1e3).collect();
        let distance = distance(&mut sample, &points, |bytes| table(bytes * 1e3));
        assert!(distance < BOUND, "{distance}");
    }

    #[test]
    fn writes_lie_a_hundredth_of_the_band_behind_reads() {
        // 1,000,000 records; the shift wraps around like everything else.
        let capacity = 1_000_000 * RECORD;
        let reads = offsets(&mut band(READS, "[\"0 %\", \"100 %\"]", capacity), 1000);
        for (share, records) in [("1 %", 10_000), ("0 %", 0), ("25 %", 250_000)] {
            let keys = WRITES.replace("{}", &format!("{{ writes_shifted = \"{share}\" }}"));
            let writes = offsets(&mut band(&keys, "[\"0 %\", \"100 %\"]", capacity), 1000);
            let shifted = reads.iter().map(|offset| (offset + records * RECORD) % capacity);
            assert_eq!(writes, shifted.collect::<Vec<_>>(), "{share}");
        }
        assert_eq!(
            offsets(&mut band(WRITES, "[\"0 %\", \"100 %\"]", capacity), 1000),
            reads.iter().map(|offset| (offset + 10_000 * RECORD) % capacity).collect::<Vec<_>>(),
            "1 % where not said"
        );
    }

    #[test]
    fn a_band_repeats_itself_and_two_streams_differ() {
        let offsets_of = |name| offsets(&mut named(READS, "[\"0 %\", \"8 %\"]", 900_000_000_000, name), 500);
        assert_eq!(offsets_of("streams.hot1"), offsets_of("streams.hot1"));
        assert_ne!(offsets_of("streams.hot1"), offsets_of("streams.hot2"));
    }

    #[test]
    fn five_generators_take_turns() {
        let stream = Random::new(1, "hot");
        let spec = HotBandSpec { writes_shifted: 0.01, table_unit: HotBandSpec::TABLE_UNIT };
        let mut band = HotBand::new(spec, &stream);
        let records = u64::MAX / 512;
        let mut alone: [Random; 5] = band.generators.clone();
        let drawn: Vec<u64> = (0..10).map(|_| band.draw(true, records, 512)).collect();
        let expected = |n: usize| (place(alone[(n + 1) % 5].unit()) * 1e6) as u64 / 512;
        assert_eq!(drawn, (0..10).map(expected).collect::<Vec<_>>());
        let first = drawn.iter().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(first.len(), 10, "no generator repeats another");
    }

    #[test]
    fn places_meet_the_table_at_its_points() {
        for (mb, share) in &CURVE[..28] {
            assert!((place(*share) - *mb as f64).abs() < 1e-6 * *mb as f64 + 1e-9, "{mb} MB");
        }
        assert!(place(1.0_f64.next_down()) < 10_737_418_240.0);
    }
}
