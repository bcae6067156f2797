//! Write amplification against theory: Xiang and Kurkoski's formula and the brute-force table of `physics.md`.

use hotband_drives::parts::ftl::{Ftl, FtlParams, PAGE_UNITS, Separation, Untimed, VictimPolicy};

const PAGES_A_BLOCK: u32 = 256;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn params(pages: u64, rho: f64) -> FtlParams {
    FtlParams {
        pages,
        blocks: ((pages as f64 * (1.0 + rho)) / f64::from(PAGES_A_BLOCK)).round() as u32,
        spare_blocks: 0,
        block_units: PAGES_A_BLOCK * PAGE_UNITS,
        flash_page_units: PAGE_UNITS,
        program_units: PAGE_UNITS,
        compressed: false,
        victims: VictimPolicy::Greedy,
        separation: Separation::Relocated,
        free_low: 4,
        free_high: 8,
        buffer_pages: 16,
        wear_gap: None,
        endurance: None,
    }
}

/// Fills the drive, writes `settle` times its capacity, and measures over as much again; `draw` gives pages.
fn amplification(params: FtlParams, settle: f64, units: u32, mut draw: impl FnMut(u64, f64) -> u64) -> f64 {
    let pages = params.pages;
    let mut ftl = Ftl::new(params);
    let mut random = SplitMix(7);
    let mut unit = || random.unit();
    (0..pages).for_each(|page| {
        ftl.write(page, units, &mut Untimed);
    });
    let writes = (pages as f64 * settle) as u64;
    let mut before = *ftl.counters();
    for round in 0..2 {
        if round == 1 {
            before = *ftl.counters();
        }
        for _ in 0..writes {
            let page = draw(pages, unit());
            ftl.write(page, units, &mut Untimed);
        }
    }
    ftl.check().unwrap();
    let after = ftl.counters();
    let host = after.host - before.host;
    (host + after.relocated - before.relocated) as f64 / host as f64
}

fn uniform(pages: u64, unit: f64) -> u64 {
    (unit * pages as f64) as u64
}

#[test]
fn greedy_collection_of_uniform_writes_agrees_with_the_table() {
    // physics.md, section 2: brute-force simulation with blocks of 256 pages.
    let table =
        [(0.07, 7.71), (0.10, 5.62), (0.15, 3.99), (0.20, 3.17), (0.28, 2.47), (0.40, 1.95), (0.60, 1.55), (1.0, 1.25)];
    for (rho, expected) in table {
        let found = amplification(params(1 << 20, rho), 3.0, PAGE_UNITS, uniform);
        let error = found / expected - 1.0;
        println!("{rho} {found:.3} {expected} {:+.2} %", error * 100.0);
        assert!(error.abs() < 0.03, "over-provisioning {rho}: {found:.3}, expected {expected}");
    }
}

#[test]
fn hot_and_cold() {
    for (hot, expected_one, expected_two) in [(0.2, 2.72, 2.47), (0.05, 3.07, 2.45)] {
        for separation in [Separation::HotCold] {
            let mut p = params(1 << 19, 0.28);
            p.separation = separation;
            let mut coins = SplitMix(1);
            let found = amplification(p, 20.0, PAGE_UNITS, |pages, unit| {
                let coin = coins.unit();
                let size = (pages as f64 * hot) as u64;
                if coin < 1.0 - hot {
                    (unit * size as f64) as u64
                } else {
                    size + (unit * (pages - size) as f64) as u64
                }
            });
            println!("{hot} {separation:?} {found:.3} one {expected_one} two {expected_two}");
        }
    }
}
