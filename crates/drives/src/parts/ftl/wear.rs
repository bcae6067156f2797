//! When blocks wear out.

/// How often blocks can be erased.
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
