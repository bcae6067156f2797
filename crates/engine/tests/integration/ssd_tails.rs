//! Are the slow commands of the catalog's solid-state drives as slow as their data sheets say, and the mean where it was?
//!
//! `reference.qos_read_qd1_999` is what 99.9 % of reads at queue depth 1 stay within, and so on. Drives are asked without a
//! machine around them, exact latencies kept. `--nocapture` prints the table of docs/models/ssd.md.

use crate::common::{largest_scale, one_in, product, solid_state};
use hotband_drives::{Product, Ssd, SsdParams};
use hotband_machine::{Command, Drive, Entropy, Op, Random, UntimedWrite};
use hotband_units::{Instant, Span};
use toml::{Table, Value};

const PAGE: u64 = 4096;
/// Of the percentile that a data sheet states.
const TOLERANCE: f64 = 0.25;
/// Of the mean at queue depth 1.
const MEAN_MOVES: f64 = 0.03;

/// What takes the tails away.
const WITHOUT: [(&str, &str); 5] = [
    ("page_time_spread", "0 %"),
    ("retry_share", "0 %"),
    ("scan_share", "0 %"),
    ("stall_time", "0 s"),
    ("journal_time", "0 s"),
];

/// A drive of the catalog, as small as its blocks allow, written once from end to end.
fn filled(of: &Product, set: &[(&str, &str)]) -> Ssd {
    let scale = largest_scale(of).parse::<i64>().expect("a count");
    let mut values = Table::from_iter([("scale".to_owned(), Value::from(scale))]);
    values.extend(set.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))));
    let params = SsdParams::read(of, &values, "test", "").expect("drives of the catalog are valid");
    let mut ssd = Ssd::new(params).with_seed(1, "d0");
    let (len, entropy) = (1 << 20, Entropy::INCOMPRESSIBLE);
    let pages = ssd.params().capacity / PAGE * PAGE;
    let parts = (0..pages).step_by(1 << 20).map(|offset| UntimedWrite {
        offset,
        len: (pages - offset).min(len) as u32,
        entropy,
        trim: false,
    });
    ssd.write_untimed(&parts.collect::<Vec<_>>());
    ssd
}

/// Latencies of so many commands of 4 KiB at random places, one at a time, on a drive that did nothing yet.
fn latencies(ssd: &mut Ssd, op: Op, count: u64) -> Vec<Span> {
    let mut now = Instant::ZERO;
    latencies_from(&mut now, ssd, op, count)
}

/// The same from a time on, which becomes that of the last answer.
fn latencies_from(now: &mut Instant, ssd: &mut Ssd, op: Op, count: u64) -> Vec<Span> {
    let pages = ssd.params().capacity / PAGE;
    let (mut random, mut done) = (Random::new(1, "places"), Vec::new());
    let one = |token| {
        let offset = random.below(pages) * PAGE;
        let command = Command {
            token,
            op,
            offset,
            len: PAGE as u32,
            fua: false,
            version: token,
            entropy: Entropy::INCOMPRESSIBLE,
        };
        ssd.submit(*now, command);
        while done.is_empty() {
            ssd.advance(ssd.wake().expect("a command is at work"), &mut done);
        }
        let found = done.drain(..).next().expect("one was at work");
        *now = found.at;
        found.times.total()
    };
    (1..=count).map(one).collect()
}

fn mean(of: &[Span]) -> f64 {
    of.iter().map(|time| time.0 as f64).sum::<f64>() / of.len() as f64
}

/// "99999" is what all but one in a hundred thousand stay within.
fn percentile(of: &[Span], nines: &str) -> Span {
    let mut sorted = of.to_vec();
    sorted.sort_unstable();
    let beyond = 10_f64.powi(-(nines.len() as i32));
    sorted[(sorted.len() as f64 * (1.0 - beyond)) as usize]
}

#[test]
fn slow_commands_are_as_slow_as_data_sheets_say() {
    let mut stated = 0;
    for name in solid_state() {
        let of = product(&name);
        for value in &of.assumptions {
            let Some(key) = value.key.strip_prefix("reference.qos_") else { continue };
            let one_at_a_time = [("read_qd1_", Op::Read), ("write_qd1_", Op::Write)];
            let found = one_at_a_time.iter().find_map(|(from, op)| Some((key.strip_prefix(from)?, *op)));
            let Some((nines, op)) = found else { continue };
            // Thirty commands beyond what is asked for, and 200,000 for three nines.
            let count = 200_000.max(4 * 10_u64.pow(nines.len() as u32));
            let found = percentile(&latencies(&mut filled(&of, &[]), op, count), nines).0 as f64;
            let wanted = value.value.parse::<Span>().expect("a time").0 as f64;
            let error = found / wanted - 1.0;
            println!("{name:<18} {key:<18} {:>8.1} us {:>8.1} us {:+6.1} %", found / 1e3, wanted / 1e3, error * 100.0);
            assert!(error.abs() <= TOLERANCE, "{name}, {key}: {found} ns where {wanted} are stated");
            stated += 1;
        }
    }
    assert!(stated >= 6, "{stated} figures");
}

#[test]
fn the_mean_stays_where_it_was() {
    for name in one_in(3, solid_state()) {
        let of = product(&name);
        let mut drives = [&[][..], &WITHOUT].map(|set| (Instant::ZERO, filled(&of, set)));
        for op in [Op::Read, Op::Write] {
            let [with, without] = drives.each_mut().map(|(now, drive)| mean(&latencies_from(now, drive, op, 60_000)));
            let moved = with / without - 1.0;
            println!("{name:<18} {op:?} {:>8.2} us {:>8.2} us {:+6.2} %", with / 1e3, without / 1e3, moved * 100.0);
            assert!(moved.abs() < MEAN_MOVES, "{name}, {op:?}: {with} ns and {without} ns without");
        }
    }
}

#[test]
fn one_read_at_a_time_has_many_times() {
    for name in one_in(3, solid_state()).iter().filter(|name| *name != "p4800x-750") {
        let found = latencies(&mut filled(&product(name), &[]), Op::Read, 200_000);
        let fastest = found.iter().min().expect("there are many");
        let [p99, p999] = ["99", "999"].map(|nines| percentile(&found, nines));
        assert!(*fastest < p99 && p99 < p999, "{name}: {fastest}, {p99}, {p999}");
    }
}
