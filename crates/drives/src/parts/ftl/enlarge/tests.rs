use super::super::{Endurance, PslcParams, Separation, VictimPolicy, WhenFull};
use super::*;
use hotband_machine::Random;

/// Parts of the drive in its model, whose blocks are still large: collection finds emptier ones among small blocks.
const TIMES: u32 = 4;

fn params(pslc: Option<PslcParams>) -> FtlParams {
    FtlParams {
        pages: 1_150_005,
        blocks: 48,
        spare_blocks: 2,
        block_units: 32_768 * PAGE_UNITS,
        flash_page_units: 4 * PAGE_UNITS,
        program_units: 16 * PAGE_UNITS,
        compressed: false,
        in_place: false,
        pslc,
        victims: VictimPolicy::Greedy,
        separation: Separation::Relocated,
        free_low: 3,
        free_high: 8,
        buffer_pages: 700,
        wear_gap: Some(40),
        endurance: Some(Endurance { cycles: 1e6, spread: 0.1 }),
    }
}

fn write_over(ftl: &mut Ftl, random: &mut Random, writes: u64) {
    for _ in 0..writes {
        let page = random.below(ftl.params.pages);
        ftl.write(page, PAGE_UNITS, &mut Untimed);
    }
}

fn written(params: FtlParams) -> Ftl {
    let mut ftl = Ftl::new(params);
    let pages = ftl.params.pages;
    ftl.write_run(0..pages);
    ftl.write_run(0..pages);
    write_over(&mut ftl, &mut Random::new(7, "writes"), pages);
    ftl
}

/// A drive that was written whole, and one that took over the contents of its model.
fn both(params: &FtlParams) -> [Ftl; 2] {
    let mut enlarged = Ftl::new(params.clone());
    enlarged.enlarge(&written(params.model(TIMES, 1).expect("plain pages")));
    [written(params.clone()), enlarged]
}

fn amplification(ftl: &mut Ftl) -> f64 {
    let before = *ftl.counters();
    let pages = ftl.params.pages;
    write_over(ftl, &mut Random::new(8, "writes"), pages);
    let after = ftl.counters();
    (after.relocated - before.relocated) as f64 / (after.host - before.host) as f64
}

#[test]
fn enlarged_contents_add_up_and_cost_later_writes_what_those_of_the_drive_cost() {
    let cache = PslcParams {
        pass_units: 4 * PAGE_UNITS,
        fixed_pages: 9000,
        dynamic_pages: 90_000,
        bits: 3,
        when_full: WhenFull::Direct,
    };
    // `make test-long` sets HOTBAND_LONG.
    let alone = std::env::var_os("HOTBAND_LONG").map(|_| None);
    for pslc in alone.into_iter().chain([Some(cache)]) {
        let [mut written, mut enlarged] = both(&params(pslc));
        assert_eq!(enlarged.check(), Ok(()), "{pslc:?}");
        assert_eq!(enlarged.used_pages(), written.used_pages(), "{pslc:?}: all pages hold data");
        assert_eq!(enlarged.buffered(), written.buffered(), "{pslc:?}: the write buffer is full");
        let share = |ftl: &Ftl| ftl.counters().relocated as f64 / ftl.counters().host as f64;
        let near = |what: &str, got: f64, expected: f64| {
            assert!((got / expected - 1.0).abs() < 0.01, "{what} {pslc:?}: {got}, written {expected}");
        };
        near("relocated so far", share(&enlarged), share(&written));
        let [of_written, of_enlarged] = [&mut written, &mut enlarged].map(amplification);
        near("relocated later", of_enlarged, of_written);
        assert_eq!(enlarged.check(), Ok(()), "after more writes");
    }
}

#[test]
fn sections_lie_on_all_blocks_as_pages_written_at_random_do() {
    let plain = params(None);
    let [_, enlarged] = both(&plain);
    let section = plain.pages / u64::from(TIMES);
    let blocks_of = |from: u64| -> std::collections::BTreeSet<u32> {
        (from..from + section).filter_map(|page| Some(enlarged.place_of(page)?.0)).collect()
    };
    let first = blocks_of(0);
    assert!(first.len() > 40 && (1..u64::from(TIMES)).all(|number| blocks_of(number * section) == first));
}

#[test]
fn drives_whose_pages_a_copy_would_misplace_have_no_model() {
    let plain = params(None);
    assert!(plain.model(2048, 1).is_some());
    assert!(plain.model(4096, 1).is_none(), "half a pass");
    assert!(FtlParams { compressed: true, ..plain.clone() }.model(8, 1).is_none());
    assert!(FtlParams { in_place: true, ..plain.clone() }.model(8, 1).is_none());
    assert!(FtlParams { separation: Separation::HotCold, ..plain.clone() }.model(8, 1).is_none());
    assert!(FtlParams { victims: VictimPolicy::CostBenefit, ..plain.clone() }.model(8, 1).is_none());
    assert_eq!(plain.model(8, 4).expect("plain pages").pages % 4, 0);
}
