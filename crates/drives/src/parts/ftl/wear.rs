//! Wear-out of blocks.

/// Erases that blocks bear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// Erases that a block bears, on average.
    pub cycles: f64,
    /// Standard deviation from block to block, as a share of the mean.
    pub spread: f64,
}

/// The limit of every block, drawn from its number: the same on every run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    endurance: Option<Endurance>,
}

impl Limits {
    pub fn new(endurance: Option<Endurance>) -> Self {
        Self { endurance }
    }

    /// Whether a block that was erased `erases` times is worn out.
    pub fn is_worn(&self, block: u32, erases: u32) -> bool {
        let Some(Endurance { cycles, spread }) = self.endurance else { return false };
        f64::from(erases) >= (cycles * (1.0 + spread * normal(block))).max(1.0)
    }
}

/// A standard normal number from the number of a block: the sum of twelve uniform ones, less six.
fn normal(block: u32) -> f64 {
    let mut state = u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut sum = 0.0;
    for _ in 0..12 {
        // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum += ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    }
    sum - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_bears_its_cycles_and_one_erase_at_least() {
        let worn = |endurance: Option<Endurance>, erases| Limits::new(endurance).is_worn(3, erases);
        let cycles = |cycles| Some(Endurance { cycles, spread: 0.0 });
        assert!(!worn(cycles(10.0), 9) && worn(cycles(10.0), 10));
        assert!(!worn(cycles(0.2), 0) && worn(cycles(0.2), 1));
        assert!(!worn(None, u32::MAX));
    }

    #[test]
    fn limits_are_spread_normally_about_the_cycles() {
        let limits = Limits::new(Some(Endurance { cycles: 1_000.0, spread: 0.1 }));
        // Of 100,000 blocks, by the normal distribution; four standard deviations are at most 0.63 %.
        for (erases, share) in [(800, 0.0228), (900, 0.1587), (1_000, 0.5), (1_100, 0.8413), (1_200, 0.9772)] {
            let worn = (0..100_000).filter(|block| limits.is_worn(*block, erases)).count() as f64 / 1e5;
            assert!((worn - share).abs() < 0.0063, "{erases} erases: {worn}, expected {share}");
        }
    }
}
