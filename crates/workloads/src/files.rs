//! Files of a stream: sizes from a bounded power law, laid out one after the other, some of them hot.
//!
//! Leaves out: the file system (directories, metadata, fragmentation). A file occupies whole blocks of 4 KiB.

use hotband_machine::SpecError;
use hotband_units::Bytes;

use crate::Random;
use crate::bounds::StreamBounds;

/// Files as their text states them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilesSpec {
    /// Number of files.
    pub count: u32,
    /// Smallest size.
    pub smallest: Bytes,
    /// Largest size.
    pub largest: Bytes,
    /// Mean size.
    pub mean: Bytes,
    /// Share of the bytes that is hot, and share of the requests that goes there.
    pub hot: Option<(f64, f64)>,
    /// Place where the hot files lie.
    pub layout: FileLayout,
}

/// Place where hot files lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLayout {
    /// All before the cold ones.
    HotFirst,
    /// Evenly among the cold ones.
    Mixed,
}

/// Space is given to files in blocks of this size (NTFS and ext4 by default).
pub const FILE_BLOCK: u64 = 4096;

/// Files on a target.
#[derive(Clone, Debug)]
pub struct Files {
    /// First byte of every file, and the first byte beyond the last.
    starts: Vec<u64>,
    /// Hot files, then cold ones; empty if they lie in this order anyway.
    order: Vec<u32>,
    hot: u64,
    hot_requests: f64,
}

impl FilesSpec {
    /// Lays the files out in `bounds`.
    ///
    /// # Errors
    /// Files that do not fit, named at `key` of `file`.
    pub fn lay_out(&self, at: (&str, &str), bounds: StreamBounds, random: &mut Random) -> Result<Files, SpecError> {
        let (file, key) = at;
        let law = PowerLaw::with_mean(self.smallest.0 as f64, self.largest.0 as f64, self.mean.0 as f64);
        let law = law.ok_or_else(|| {
            let accepted = format!("expected a mean between {} and {}", self.smallest, self.largest);
            SpecError::new(file, &format!("{key}.mean"), self.mean.to_string(), accepted)
        })?;
        let mut starts = Vec::with_capacity(self.count as usize + 1);
        let mut end = bounds.from;
        starts.push(end);
        for _ in 0..self.count {
            end = end.saturating_add((law.draw(random) as u64).max(1).div_ceil(FILE_BLOCK) * FILE_BLOCK);
            starts.push(end);
        }
        if end > bounds.to {
            let (need, have) = (end - bounds.from, bounds.to - bounds.from);
            let accepted =
                format!("{} files need {need} B, which do not fit into the {have} B of the range", self.count);
            return Err(SpecError::new(file, key, format!("{need} B"), accepted));
        }
        Ok(Files::new(starts, self.hot, self.layout))
    }
}

impl Files {
    fn new(starts: Vec<u64>, hot: Option<(f64, f64)>, layout: FileLayout) -> Self {
        let (count, total) = (starts.len() - 1, (starts[starts.len() - 1] - starts[0]) as f64);
        let Some((share, hot_requests)) = hot else {
            return Self { starts, order: Vec::new(), hot: count as u64, hot_requests: 1.0 };
        };
        if layout == FileLayout::HotFirst {
            let end = starts[0] as f64 + total * share;
            let hot = starts.partition_point(|start| (*start as f64) < end).min(count) as u64;
            return Self { starts, order: Vec::new(), hot, hot_requests };
        }
        // A file is hot when the hot bytes so far fall short of their share. Its own size plays no part, so that hot
        // and cold files have the same sizes.
        let (mut order, mut cold, mut bytes) = (Vec::new(), Vec::new(), 0.0);
        for file in 0..count {
            if bytes <= share * (starts[file] - starts[0]) as f64 {
                bytes += (starts[file + 1] - starts[file]) as f64;
                order.push(file as u32);
            } else {
                cold.push(file as u32);
            }
        }
        let hot = order.len() as u64;
        order.append(&mut cold);
        Self { starts, order, hot, hot_requests }
    }

    /// Return the number of files.
    pub fn count(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    /// First byte of a file that was drawn, and the first byte beyond it.
    pub fn draw(&self, random: &mut Random) -> (u64, u64) {
        let cold = self.count() - self.hot;
        let rank = if cold == 0 || (self.hot > 0 && random.unit() < self.hot_requests) {
            random.below(self.hot)
        } else {
            self.hot + random.below(cold)
        };
        let file = self.order.get(rank as usize).map_or(rank as usize, |file| *file as usize);
        (self.starts[file], self.starts[file + 1])
    }
}

/// A density x^-a between two sizes (bounded Pareto).
#[derive(Clone, Copy, Debug, PartialEq)]
struct PowerLaw {
    smallest: f64,
    /// ln(largest / smallest).
    span: f64,
    /// 1 - a.
    power: f64,
}

impl PowerLaw {
    /// The law whose mean is `mean`; none if no exponent gives it.
    fn with_mean(smallest: f64, largest: f64, mean: f64) -> Option<Self> {
        /// Powers of the ratio of the ends stay finite (e^700), and the mean comes as near to an end.
        const MOST_EXPONENT: f64 = 700.0;
        /// Halvings, after which the interval is below the precision of a double.
        const HALVINGS: usize = 100;
        let law = |power: f64| Self { smallest, span: libm::log(largest / smallest), power };
        if smallest == largest {
            return (mean == smallest).then(|| law(0.0));
        }
        let steepest = MOST_EXPONENT / law(0.0).span - 1.0;
        let (mut low, mut high) = (-steepest, steepest);
        if !(law(low).mean()..=law(high).mean()).contains(&mean) {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if law(middle).mean() < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(law(f64::midpoint(low, high)))
    }

    /// The integral of y^(power - 1) from 1 to largest / smallest.
    fn integral(self, power: f64) -> f64 {
        if power.abs() < 1e-9 { self.span } else { libm::expm1(power * self.span) / power }
    }

    fn mean(self) -> f64 {
        self.smallest * self.integral(self.power + 1.0) / self.integral(self.power)
    }

    /// A size (inversion).
    fn draw(self, random: &mut Random) -> f64 {
        let share = random.unit();
        let log = if self.power.abs() < 1e-9 {
            share * self.span
        } else {
            libm::log1p(share * libm::expm1(self.power * self.span)) / self.power
        };
        self.smallest * libm::exp(log.clamp(0.0, self.span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WEB: FilesSpec = FilesSpec {
        count: 100_000,
        smallest: Bytes(15_000),
        largest: Bytes(4_000_000),
        mean: Bytes(1_670_000),
        hot: Some((0.18, 0.8)),
        layout: FileLayout::HotFirst,
    };

    fn lay_out(spec: FilesSpec) -> Files {
        let bounds = StreamBounds { from: 8192, to: 1 << 40 };
        spec.lay_out(("test", "files"), bounds, &mut Random::new(1, "files")).expect("they fit")
    }

    fn sizes(files: &Files) -> Vec<u64> {
        files.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn sizes_keep_their_ends_and_have_their_mean() {
        let files = lay_out(WEB);
        let sizes = sizes(&files);
        assert_eq!((files.starts[0], sizes.len()), (8192, 100_000));
        assert!(sizes.iter().all(|size| (16_384..=4_001_792).contains(size) && size.is_multiple_of(FILE_BLOCK)));
        // Rounding up adds half a block. The standard deviation of a size is 1.2 MB: 3,800 B for the mean of 100,000,
        // of which four are allowed.
        let mean = sizes.iter().sum::<u64>() as f64 / 1e5 - 2048.0;
        assert!((mean - 1_670_000.0).abs() < 4.0 * 3_800.0, "{mean}");
    }

    #[test]
    fn every_mean_between_the_ends_has_an_exponent() {
        for mean in [20_000.0, 100_000.0, 711_000.0, 2_007_500.0, 3_900_000.0] {
            let law = PowerLaw::with_mean(15_000.0, 4_000_000.0, mean).expect("it lies between the ends");
            assert!((law.mean() / mean - 1.0).abs() < 1e-9, "{mean}: {}", law.mean());
        }
        // A flat density has power 1, a density of 1 / x power 0.
        let law = |mean| PowerLaw::with_mean(1.0, 3.0, mean).expect("it lies between the ends").power;
        assert!((law(2.0) - 1.0).abs() < 1e-6 && law(2.0 / 3_f64.ln()).abs() < 1e-6);
        assert_eq!(PowerLaw::with_mean(1.0, 3.0, 3.5), None);
        assert!(PowerLaw::with_mean(1.0, 1e12, 1e6).is_some_and(|law| (law.mean() / 1e6 - 1.0).abs() < 1e-9));
        assert_eq!(PowerLaw::with_mean(5.0, 5.0, 5.0).map(|law| law.draw(&mut Random::new(1, "x"))), Some(5.0));
    }

    #[test]
    fn a_share_of_the_bytes_is_hot_and_gets_its_requests() {
        for layout in [FileLayout::HotFirst, FileLayout::Mixed] {
            let files = lay_out(FilesSpec { layout, ..WEB });
            let sizes = sizes(&files);
            let file_of = |rank: u64| files.order.get(rank as usize).map_or(rank as usize, |file| *file as usize);
            let hot: Vec<usize> = (0..files.hot).map(file_of).collect();
            let bytes: u64 = hot.iter().map(|&file| sizes[file]).sum();
            let total: u64 = sizes.iter().sum();
            // The last hot file is the only one that can exceed the share.
            assert!((bytes as f64 - 0.18 * total as f64).abs() <= 4_001_792.0, "{layout:?}: {bytes} of {total}");
            let mut random = Random::new(1, "draws");
            let is_hot: std::collections::BTreeSet<u64> = hot.iter().map(|&file| files.starts[file]).collect();
            let requests = (0..100_000).filter(|_| is_hot.contains(&files.draw(&mut random).0)).count();
            // Four standard errors of a coin of 0.8 thrown 100,000 times are 506.
            assert!(requests.abs_diff(80_000) <= 506, "{layout:?}: {requests}");
            let middle = files.starts[hot[hot.len() / 2]] as f64 / files.starts[100_000] as f64;
            let wanted = if layout == FileLayout::Mixed { 0.5 } else { 0.09 };
            assert!((middle - wanted).abs() < 0.01, "{layout:?}: the middle of the hot files lies at {middle}");
        }
    }

    #[test]
    fn files_that_do_not_fit_are_told_with_both_sizes() {
        let bounds = StreamBounds { from: 0, to: 1_000_000 };
        let error = WEB.lay_out(("w.toml", "streams[0].files"), bounds, &mut Random::new(1, "files")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("100000 files need 166757036032 B") && text.contains("1000000 B"), "{text}");
    }

    proptest! {
        #[test]
        fn every_file_lies_in_its_range(
            count in 1_u32..200, mean in 15_000_u64..4_000_000, hot in 0.01..0.99_f64, requests in 0.0..1.0_f64,
        ) {
            let layout = if count % 2 == 0 { FileLayout::Mixed } else { FileLayout::HotFirst };
            let spec = FilesSpec { count, mean: Bytes(mean), hot: Some((hot, requests)), layout, ..WEB };
            let bounds = StreamBounds { from: 1 << 20, to: 1 << 31 };
            let Ok(files) = spec.lay_out(("test", "files"), bounds, &mut Random::new(1, "files")) else {
                return Ok(());
            };
            let mut random = Random::new(2, "draws");
            for _ in 0..100 {
                let (from, to) = files.draw(&mut random);
                prop_assert!(bounds.from <= from && from < to && to <= bounds.to);
            }
        }
    }
}
