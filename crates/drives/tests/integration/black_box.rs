//! A volume without a mechanism: places, limits and service, to the nanosecond where nothing is drawn.

use std::fmt::Write as _;

use hotband_drives::{BlackBox, BlackBoxParams, Product};
use hotband_machine::{Command, Done, Drive, Entropy, Fault, Op};
use hotband_units::Instant;

const VALUES: [(&str, &str); 12] = [
    ("capacity", "\"1 GiB\""),
    ("read_time", "\"100 us\""),
    ("write_time", "\"200 us\""),
    ("read_rate", "\"1000 MB/s\""),
    ("write_rate", "\"1000 MB/s\""),
    ("read_spread", "\"0 %\""),
    ("write_spread", "\"0 %\""),
    ("slots", "2"),
    ("ios_limit", "1000000"),
    ("ios_burst", "1000"),
    ("rate_limit", "\"100 GB/s\""),
    ("rate_burst", "\"1 GB\""),
];

fn volume(changes: &[(&str, &str)]) -> Result<BlackBox, String> {
    let mut text = String::from("kind = \"black-box\"\ntitle = \"t\"\nmodel = \"m\"\n");
    let own = changes.iter().filter(|(name, _)| !VALUES.iter().any(|(key, _)| key == name));
    for (key, value) in VALUES.iter().chain(own) {
        let value = changes.iter().find(|(name, _)| name == key).map_or(value, |(_, value)| value);
        writeln!(text, "[values.{key}]\nvalue = {value}\nsource = \"test\"\nconfidence = \"low\"").unwrap();
    }
    let product = Product::read("t", "t.toml", &text).unwrap();
    let params = BlackBoxParams::read(&product, &toml::Table::new(), "", "").map_err(|error| error.to_string())?;
    Ok(BlackBox::new(params, 1, "d0"))
}

fn command(token: u64, op: Op, len: u32) -> Command {
    Command { token, op, offset: 0, len, fua: false, version: token, entropy: Entropy::INCOMPRESSIBLE }
}

/// Drives it from one `wake` to the next until nothing is left.
fn drained(drive: &mut BlackBox) -> Vec<Done> {
    let mut done = Vec::new();
    while let Some(at) = drive.wake() {
        drive.advance(at, &mut done);
    }
    done
}

#[test]
fn commands_that_are_served_together_take_longer() {
    let mut drive = volume(&[("slots", "3"), ("contention", "\"25 %\"")]).unwrap();
    (1..=4).for_each(|token| drive.submit(Instant(0), command(token, Op::Read, 4096)));
    let times: Vec<(u64, u64)> = drained(&mut drive).iter().map(|done| (done.token, done.times.total().0)).collect();
    // 104.096 us alone; the second and third find one and two before them, the fourth, begun with the first done, two.
    assert_eq!(times[..3], [(1, 104_096), (2, 130_120), (3, 156_144)]);
    assert_eq!(times[3], (4, 104_096 + 156_144));
}

#[test]
fn service_is_the_time_of_a_direction_and_its_data() {
    let mut drive = volume(&[]).unwrap();
    drive.submit(Instant(5), command(1, Op::Read, 4096));
    let mut done = Vec::new();
    drive.advance(Instant(104_100), &mut done);
    assert!(done.is_empty());
    drive.advance(Instant(104_101), &mut done);
    assert_eq!((done[0].at, done[0].times.total().0), (Instant(104_101), 104_096));
    drive.submit(Instant(200_000), command(2, Op::Write, 4096));
    assert_eq!(drained(&mut drive)[0].times.total().0, 204_096);
}

#[test]
fn a_third_command_waits_for_a_place() {
    let mut drive = volume(&[]).unwrap();
    for token in 1..=3 {
        drive.submit(Instant(0), command(token, Op::Read, 512));
    }
    let done = drained(&mut drive);
    let at: Vec<u64> = done.iter().map(|one| one.at.0).collect();
    assert_eq!(at, [100_512, 100_512, 201_024]);
    assert_eq!(done[2].times.queue.0, 100_512);
    assert!(done.iter().all(|one| one.times.total().0 == one.at.0));
}

#[test]
fn the_limit_of_ios_counts_after_the_burst() {
    let mut drive = volume(&[("ios_limit", "1000"), ("ios_burst", "2"), ("slots", "64")]).unwrap();
    for token in 1..=5 {
        drive.submit(Instant(0), command(token, Op::Read, 512));
    }
    let begun: Vec<u64> = drained(&mut drive).iter().map(|one| one.times.queue.0).collect();
    assert_eq!(begun, [0, 0, 1_000_000, 2_000_000, 3_000_000]);
}

#[test]
fn the_limit_of_bytes_counts_what_is_moved() {
    let mut drive = volume(&[("rate_limit", "\"100 MB/s\""), ("rate_burst", "\"1 MB\""), ("slots", "64")]).unwrap();
    for token in 1..=60 {
        drive.submit(Instant(0), command(token, Op::Write, 1_000_448));
    }
    let last = drained(&mut drive).last().unwrap().times.queue.0 as f64 / 1e9;
    // 59 before it, of which the burst is not waited for.
    assert!((last - (59.0 * 1_000_448.0 - 1e6) / 100e6).abs() < 1e-6, "{last} s");
}

#[test]
fn draws_have_the_median_and_the_spread() {
    let mut drive = volume(&[("read_spread", "\"30 %\""), ("read_rate", "\"1000 GB/s\"")]).unwrap();
    let mut times = Vec::new();
    for token in 0..20_000_u64 {
        let now = Instant(token * 10_000_000);
        drive.submit(now, command(token, Op::Read, 512));
        times.push(drained(&mut drive)[0].times.total().0 as f64);
    }
    times.sort_by(f64::total_cmp);
    let (median, high) = (times[10_000], times[19_800]);
    assert!((median / 100_000.0 - 1.0).abs() < 0.01, "{median} ns");
    // The 99th percentile of a normal distribution lies 2.326 deviations from its mean.
    assert!(((high / median).ln() / 2.326 / 0.3 - 1.0).abs() < 0.03, "{high} ns");
}

#[test]
fn what_lies_beyond_the_end_is_refused() {
    let mut drive = volume(&[]).unwrap();
    drive.submit(Instant(0), Command { offset: 1 << 30, ..command(1, Op::Read, 512) });
    assert_eq!(drained(&mut drive)[0].fault, Some(Fault::OutOfRange));
}

#[test]
fn what_was_acknowledged_is_kept_and_nothing_else() {
    let mut drive = volume(&[]).unwrap();
    drive.keep_account();
    drive.submit(Instant(0), command(1, Op::Write, 512));
    drive.submit(Instant(0), Command { offset: 4096, ..command(2, Op::Write, 1 << 20) });
    let held = drive.cut_power(Instant(300_000));
    assert_eq!(held.iter().map(|(range, version)| (range.start, version)).collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn mistakes_name_the_value() {
    for (key, value, said) in [
        ("slots", "0", "slots"),
        ("read_time", "\"fast\"", "read_time"),
        ("read_spread", "\"900 %\"", "from 0 % to 100 %"),
        ("rate_limit", "\"1 B/s\"", "rate_limit"),
        ("contention", "\"2000 %\"", "contention"),
    ] {
        let error = volume(&[(key, value)]).err().unwrap();
        assert!(error.contains(said), "{error}");
    }
}
