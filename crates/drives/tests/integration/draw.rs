//! What a disk draws while its arm moves, and while it does not: split so that the rated mix is the rated power.

use crate::common::{Bench, MS, at_cylinder, read_params};
use hotband_drives::{DiskParams, Product};
use hotband_machine::{Drive, Levels};
use hotband_units::{Power, Span};

/// The bench's mean seek takes 4.5 ms, half a turn 3 ms: the arm moves in 0.6 of the time of a random read.
const MOVING: f64 = 0.6;

fn levels(set: &str) -> Levels {
    read_params(set).expect(set).draw.expect("it has power values").levels
}

#[test]
fn the_rated_mix_of_seeks_and_waits_draws_the_rated_power() {
    for seek in ["8 W", "9 W", "9.9 W", "10 W"] {
        let set = format!("power_idle = \"5 W\"\npower_active = \"8 W\"\npower_seek = \"{seek}\"");
        let Levels { idle, busy: [seek, track] } = levels(&set);
        let mix = MOVING * seek.0 as f64 + (1.0 - MOVING) * track.0 as f64;
        assert!((mix - 8_000.0).abs() < 1.0, "{mix} mW");
        assert!(track >= idle && track <= Power(8_000) && seek >= Power(8_000));
    }
    assert_eq!(levels("power_idle = \"5 W\"\npower_active = \"8 W\"\npower_seek = \"10 W\"").busy[1], Power(5_000));
}

#[test]
fn without_a_seek_power_all_that_is_busy_draws_the_rated_one() {
    let expected = Levels { idle: Power(5_000), busy: [Power(8_000); 2] };
    assert_eq!(levels("power_idle = \"5 W\"\npower_active = \"8 W\""), expected);
    assert!(read_params("").expect("the bench").draw.is_none(), "it has no power values");
}

#[test]
fn impossible_powers_are_refused() {
    for (set, key) in [
        ("power_idle = \"7 W\"", "power_active"),
        ("power_idle = \"5 W\"\npower_active = \"4 W\"", "power_active"),
        ("power_idle = \"5 W\"\npower_active = \"2 kW\"", "power_active"),
        ("power_idle = \"5 W\"\npower_active = \"8 W\"\npower_seek = \"7 W\"", "power_seek"),
        ("power_idle = \"5 W\"\npower_active = \"8 W\"\npower_seek = \"10.1 W\"", "power_seek"),
        ("power_active = \"8 W\"", "power_active"),
        ("power_seek = \"8 W\"", "power_seek"),
    ] {
        let error = read_params(set).expect_err(set);
        assert!(error.key.ends_with(key), "{set}: {error}");
    }
}

#[test]
fn ranges_of_the_file_are_ends_of_the_draw_and_what_is_set_has_none() {
    let text = include_str!("../../../../python/hotband/data/catalog/drives/savvio-10k1.toml");
    let product = Product::read("savvio-10k1", "savvio-10k1.toml", text).expect("it is in the catalog");
    let read = |set: &str| {
        let set: toml::Table = set.parse().expect("TOML");
        let params = DiskParams::read(&product, &set, "set", "").expect("values of a drive");
        params.draw.expect("it has power values")
    };
    let stated = read("");
    assert_eq!((stated.low[0].idle, stated.high[0].idle), (Power(4_500), Power(5_500)));
    assert!(stated.low[0].busy[0] < stated.low[1].busy[0], "the arm draws least and most at either end");
    assert!(stated.low[0].busy[1] > stated.low[1].busy[1], "and the track the other way round");
    let set = read("power_idle = \"4 W\"\npower_active = \"9 W\"\npower_seek = \"10 W\"");
    assert_eq!((set.low, set.high), ([set.levels; 2], [set.levels; 2]));
}

#[test]
fn what_is_set_is_blamed_for_what_does_not_fit() {
    let text = include_str!("../../../../python/hotband/data/catalog/drives/savvio-10k1.toml");
    let product = Product::read("savvio-10k1", "savvio-10k1.toml", text).expect("it is in the catalog");
    for (set, key) in [
        ("power_idle = \"30 W\"", "power_idle"),
        ("power_active = \"4 W\"", "power_active"),
        ("power_seek = \"30 W\"", "power_seek"),
    ] {
        let table: toml::Table = set.parse().expect("TOML");
        let error = DiskParams::read(&product, &table, "set", "").expect_err(set);
        assert_eq!((error.file.as_str(), error.key.as_str()), ("set", key), "{error}");
    }
}

#[test]
fn the_arm_keeps_its_share_where_the_rated_powers_are_set() {
    let text = include_str!("../../../../python/hotband/data/catalog/drives/savvio-10k1.toml");
    let product = Product::read("savvio-10k1", "savvio-10k1.toml", text).expect("it is in the catalog");
    let share = |set: &str| {
        let table: toml::Table = set.parse().expect("TOML");
        let draw = DiskParams::read(&product, &table, "set", "").expect(set).draw.expect("it has power values");
        let above = |power: Power| (power.0 - draw.levels.idle.0) as f64;
        (above(draw.levels.busy[0]) / above(draw.active), draw.active)
    };
    let (stated, _) = share("");
    let (set, active) = share("power_idle = \"6 W\"\npower_active = \"12 W\"");
    assert!((set - stated).abs() < 1e-3 && stated > 1.3 && active == Power(12_000), "{set} {stated}");
}

#[test]
fn activity_is_the_time_of_the_arm_and_that_of_the_track() {
    let mut bench = Bench::new("");
    for (cylinder, at) in [(400, 0), (10, 100 * MS), (10, 200 * MS)] {
        bench.read(at, at_cylinder(cylinder, 500));
    }
    bench.run_to(300 * MS);
    let (busy, seek) = (Span(bench.count("busy_ns")), Span(bench.count("seek_ns")));
    assert!(seek > Span::ZERO && busy > seek, "{seek} of {busy}");
    assert_eq!(bench.disk.activity(), [seek, Span::ZERO, busy - seek]);
}
