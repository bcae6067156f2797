//! Offsets of random I/Os.

use crate::Random;
use crate::hotband::HotBandSpec;
use crate::zipf::Zipf;

/// A distribution of offsets, as its text states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OffsetSpec {
    /// Every place alike.
    Uniform,
    /// Rank k with weight k^-exponent; ranks scattered over the range unless `scramble` is off.
    Zipf {
        /// Skew; fio and YCSB use about 1.
        exponent: f64,
        /// Whether neighbours in rank are scattered.
        scramble: bool,
    },
    /// A share of the range, at its beginning, gets a share of the I/Os.
    Hotspot {
        /// Share of the range that is hot.
        data: f64,
        /// Share of the I/Os that go there.
        ios: f64,
    },
    /// A fixed distance on from the last one, or back.
    Strided {
        /// Distance in bytes, below zero for back.
        stride: i64,
    },
    /// A share of them near the last one, as likely within 1 to 2 places as within 2 to 4 and so on.
    Near {
        /// Share of the I/Os.
        ios: f64,
        /// Largest distance in bytes.
        within: u64,
        /// Zipf's law of the others (exponent, scramble); every place alike if there is none.
        zipf: Option<(f64, bool)>,
    },
    /// vdbench's hot band; the range is the band.
    HotBand(HotBandSpec),
}

/// A distribution over a number of equal slots.
#[derive(Clone, Copy, Debug)]
pub enum Offsets {
    /// See [`OffsetSpec::Uniform`].
    Uniform,
    /// See [`OffsetSpec::Zipf`].
    Zipf(Zipf, bool),
    /// See [`OffsetSpec::Hotspot`].
    Hotspot {
        /// Share of the slots.
        data: f64,
        /// Share of the I/Os.
        ios: f64,
    },
}

/// A prime above every number of slots (2^61 - 1): multiplying by it permutes the ranks of any slot count.
const SCATTER: u128 = (1 << 61) - 1;

impl Offsets {
    /// The distribution over `slots` slots; strided streams and hot bands do not draw here.
    pub fn new(spec: OffsetSpec, slots: u64) -> Self {
        match spec {
            OffsetSpec::Zipf { exponent, scramble } | OffsetSpec::Near { zipf: Some((exponent, scramble)), .. } => {
                Self::Zipf(Zipf::new(slots.max(1), exponent), scramble)
            }
            OffsetSpec::Hotspot { data, ios } => Self::Hotspot { data, ios },
            OffsetSpec::Uniform | OffsetSpec::Near { .. } | OffsetSpec::Strided { .. } | OffsetSpec::HotBand(_) => {
                Self::Uniform
            }
        }
    }

    /// A slot in `0..slots`.
    #[inline]
    pub fn draw(&self, random: &mut Random, slots: u64) -> u64 {
        match self {
            Self::Uniform => random.below(slots),
            Self::Zipf(zipf, scramble) => {
                let rank = zipf.rank(random).min(slots - 1);
                if *scramble { (u128::from(rank) * SCATTER % u128::from(slots)) as u64 } else { rank }
            }
            Self::Hotspot { data, ios } => {
                let hot = ((slots as f64 * data).round() as u64).clamp(1, slots);
                if random.unit() < *ios || hot == slots { random.below(hot) } else { hot + random.below(slots - hot) }
            }
        }
    }
}
