//! Memory whose cells can be written again: a page always lies in the same place, and nothing is collected or erased.

use super::Ftl;
use super::frontier::HOST;
use super::map::DIRTY;
use super::params::PAGE_UNITS;
use super::work::{FlashWork, Placement};

impl Ftl {
    /// A page is a pass of its own, and its number is its place.
    // Out of line: drives that do otherwise do not pay for it.
    #[cold]
    pub(super) fn place_in_place(&mut self, page: u32, flash: &mut impl FlashWork) {
        let old = self.map.get(page) & !DIRTY;
        self.map.set(page, page);
        self.counters.host += u64::from(PAGE_UNITS);
        self.counters.passes += 1;
        let (block, pass) = self.map.split(page);
        flash.placed(&Placement { page, old, old_units: PAGE_UNITS, place: page, frontier: HOST, relocated: false });
        flash.program(block, pass, HOST);
    }

    /// Drive fills written by the host; they count as erases for media without erases.
    pub(super) fn times_written(&self) -> f64 {
        self.counters.host as f64 / (self.params.pages * u64::from(PAGE_UNITS)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FtlParams, Separation, Untimed, VictimPolicy};
    use super::*;

    fn ftl() -> Ftl {
        Ftl::new(FtlParams {
            pages: 4096,
            blocks: 80,
            spare_blocks: 0,
            block_units: 64 * PAGE_UNITS,
            flash_page_units: PAGE_UNITS,
            program_units: PAGE_UNITS,
            compressed: false,
            in_place: true,
            pslc: None,
            victims: VictimPolicy::Greedy,
            separation: Separation::Relocated,
            free_low: 3,
            free_high: 8,
            buffer_pages: 64,
            wear_gap: None,
            endurance: None,
        })
    }

    #[test]
    fn a_page_keeps_its_place_and_every_write_is_one_program() {
        let mut ftl = ftl();
        for round in 0..3 {
            for page in (0..4096).rev() {
                ftl.write(page, PAGE_UNITS, &mut Untimed);
            }
            assert_eq!(ftl.place_of(4095), Some((63, 63)), "round {round}");
        }
        ftl.drain(&mut Untimed);
        assert_eq!(ftl.counters().passes, 3 * 4096, "write amplification is 1");
        assert_eq!((ftl.counters().relocated, ftl.counters().erases), (0, 0));
        assert_eq!(ftl.wear(), (3.0, 3, 0));
        assert!(ftl.trim(7) && !ftl.trim(7) && ftl.place_of(7).is_none());
        assert_eq!((ftl.used_pages(), ftl.check()), (4095, Ok(())));
    }
}
