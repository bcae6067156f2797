//! Append points of data: passes and flash pages that fill up.

use super::blocks::NONE;
use super::params::FtlParams;

/// Index of a frontier.
pub(super) const HOST: usize = 0;
pub(super) const RELOCATED: usize = 1;
pub(super) const HOT: usize = 2;
/// The pseudo-SLC cache, whose passes are not those of blocks.
pub(super) const PSLC: usize = 3;
/// Number of frontiers.
pub const FRONTIERS: usize = 4;

/// Place where data is appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frontier {
    pub block: u32,
    /// Units filled.
    pub filled: u32,
    /// Next flash page, and its end.
    pub flash_page: u32,
    pub page_end: u32,
    /// Next pass, and its end.
    pub pass: u32,
    pub pass_end: u32,
    /// Sum over the units of the times at which the host wrote them; kept where hot and cold data are distinguished.
    pub born: f64,
}

impl Frontier {
    /// Return a frontier at the beginning of `block`.
    pub fn begin(block: u32, params: &FtlParams) -> Self {
        let (page_end, pass_end) = (params.flash_page_units, params.program_units);
        Self { block, filled: 0, flash_page: 0, page_end, pass: 0, pass_end, born: 0.0 }
    }

    /// Return a frontier without a block; the first appended page reserves one.
    pub fn nowhere(params: &FtlParams) -> Self {
        Self { filled: params.block_units, ..Self::begin(NONE, params) }
    }

    /// `units` are appended; returns whether they end the pass.
    #[inline]
    pub fn fill(&mut self, units: u32, params: &FtlParams) -> bool {
        self.filled += units;
        if self.filled >= self.page_end {
            self.flash_page += 1;
            self.page_end += params.flash_page_units;
        }
        let ended = self.filled >= self.pass_end;
        if ended {
            self.pass += 1;
            self.pass_end += params.program_units;
        }
        ended
    }

    /// Pads the pass; returns the number of unused units.
    pub fn pad(&mut self, params: &FtlParams) -> u32 {
        let open = self.filled + params.program_units - self.pass_end;
        if self.block == NONE || open == 0 {
            return 0;
        }
        let rest = params.program_units - open;
        self.filled = self.pass_end;
        self.flash_page = self.filled / params.flash_page_units;
        self.page_end = (self.flash_page + 1) * params.flash_page_units;
        self.pass += 1;
        self.pass_end += params.program_units;
        rest
    }
}
