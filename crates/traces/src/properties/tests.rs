//! Are the figures those of their definitions?

use std::collections::BTreeSet;

use hotband_units::{Instant, Span};
use proptest::prelude::*;

use super::*;

/// Size of memory pages.
const BLOCK: u64 = 4096;
const MS: u64 = 1_000_000;
/// Blocks that `hotband trace show` follows at most by default.
const AS_ASKED: usize = 1 << 18;
/// More blocks than any trace here has.
const ALL: usize = 1 << 20;

fn io(issue: u64, op: Op, offset: u64, len: u64) -> TraceIo {
    let issue = Instant(issue);
    TraceIo { issue, latency: None, op, fua: false, failed: false, stream: 0, offset, len, row: 1 }
}

/// A read of one block.
fn read(issue: u64, block: u64) -> TraceIo {
    io(issue, Op::Read, block * BLOCK, BLOCK)
}

fn found(ios: impl IntoIterator<Item = TraceIo>, sample: usize) -> Properties {
    let mut analysis = Analysis::new(Asked { block: BLOCK, sample });
    ios.into_iter().for_each(|io| analysis.io(&io, 0));
    analysis.finish(vec![String::new()], Vec::new())
}

/// Numbers from 0 to below 1, as if at random.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state += 1;
        (sample::hash(state) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The miss ratio between two points of a curve.
fn at(curve: &Curve, blocks: u64) -> f64 {
    let bytes = blocks * BLOCK;
    let next = curve.cache_bytes.partition_point(|size| *size < bytes);
    if next == curve.cache_bytes.len() {
        return *curve.miss_ratio.last().expect("a curve has points");
    }
    if curve.cache_bytes[next] == bytes {
        return curve.miss_ratio[next];
    }
    let (low, high) = (curve.cache_bytes[next - 1], curve.cache_bytes[next]);
    let part = (bytes - low) as f64 / (high - low) as f64;
    curve.miss_ratio[next - 1] * (1.0 - part) + curve.miss_ratio[next] * part
}

/// Misses of an LRU cache, by a stack that is looked through.
fn misses_of(blocks: &[u64], cache: usize) -> usize {
    let mut stack: Vec<u64> = Vec::new();
    let mut misses = 0;
    for block in blocks {
        match stack.iter().position(|seen| seen == block) {
            Some(place) => {
                stack.remove(place);
            }
            None => misses += 1,
        }
        stack.insert(0, *block);
        stack.truncate(cache);
    }
    misses
}

proptest! {
    #[test]
    fn misses_are_those_of_a_stack(
        ios in prop::collection::vec((0_u64..60, 1_u64..4, any::<bool>()), 1..200),
        cache in 1_usize..70,
    ) {
        let op = |is_write| if is_write { Op::Write } else { Op::Read };
        let trace = ios.iter().zip(0..).map(|((block, len, is_write), at)| io(at, op(*is_write), block * BLOCK, len * BLOCK));
        let properties = found(trace, ALL);
        let blocks: Vec<u64> = ios.iter().flat_map(|(block, len, _)| *block..block + len).collect();
        let expected = misses_of(&blocks, cache) as f64 / blocks.len() as f64;
        prop_assert!((at(&properties.reuse.curve, cache as u64) - expected).abs() < 1e-9);
        let touched: BTreeSet<u64> = blocks.iter().copied().collect();
        prop_assert_eq!(properties.footprint.bytes, touched.len() as u64 * BLOCK);
        prop_assert!(properties.is_exact);
    }

    #[test]
    fn working_sets_are_those_of_sets(times in prop::collection::vec((0_u64..9, 0_u64..3_000), 1..60)) {
        let mut now = 0;
        let trace: Vec<(u64, u64)> = times.iter().map(|(block, gap)| { now += gap * MS; (now, *block) }).collect();
        let begin = trace[0].0;
        let sets = found(trace.iter().map(|(at, block)| read(*at, *block)), ALL).working_set;
        for (index, bytes) in sets.bytes.iter().enumerate() {
            let inside = trace.iter().filter(|(at, _)| ((at - begin) / sets.interval_ns) as usize == index);
            let blocks: BTreeSet<u64> = inside.map(|(_, block)| *block).collect();
            prop_assert_eq!(*bytes, blocks.len() as u64 * BLOCK);
        }
        for window in &sets.windows {
            // At moments a tenth sets the window apart: what was touched within the window before.
            let span = now - begin;
            let step = (window.window_ns / 10).max(span / 2_000).max(1);
            let moments: Vec<u64> = (0..span / step).map(|count| begin + count * step).collect();
            let size = |moment: u64| {
                let inside = trace.iter().filter(|(at, _)| *at <= moment && moment < at + window.window_ns);
                inside.map(|(_, block)| *block).collect::<BTreeSet<_>>().len() as f64
            };
            let mean = moments.iter().map(|moment| size(*moment)).sum::<f64>() / moments.len().max(1) as f64;
            let difference = (mean * BLOCK as f64 - window.bytes).abs() / BLOCK as f64;
            // A step's part of each use, and classes of less than one percent.
            let allowed = trace.len() as f64 * step as f64 / span.max(1) as f64 + 0.01 * mean;
            prop_assert!(difference <= allowed + 1e-9, "{} ns: {} and {}", window.window_ns, mean, window.bytes / BLOCK as f64);
        }
    }
}

/// The mean absolute difference of two curves at a hundred sizes of the cache up to all blocks.
fn difference(left: &Properties, right: &Properties) -> f64 {
    let most = right.footprint.bytes / BLOCK;
    let sizes: Vec<u64> = (1..=100).map(|part| (most * part / 100).max(1)).collect();
    let apart = |size: &u64| (at(&left.reuse.curve, *size) - at(&right.reuse.curve, *size)).abs();
    sizes.iter().map(apart).sum::<f64>() / sizes.len() as f64
}

/// Blocks by Zipf's law of this exponent, spread over the address space.
fn zipf(blocks: u64, theta: f64, count: usize) -> Vec<u64> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=blocks)
        .map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        })
        .collect();
    let mut next = uniform(7);
    (0..count).map(|_| sums.partition_point(|bound| *bound < next() * sum) as u64 * 7919 % blocks).collect()
}

#[test]
fn a_sample_has_nearly_the_misses_of_all() {
    let mut next = uniform(3);
    // A scan that comes again and again, and hot blocks beside it.
    let mixed: Vec<u64> = (0..900_000)
        .map(|at| if at % 2 == 0 { at / 2 % 250_000 } else { 300_000 + (next() * 40_000.0) as u64 })
        .collect();
    let scan: Vec<u64> = (0..800_000).map(|at| at % 300_000).collect();
    for (name, blocks) in [("Zipf", zipf(2_000_000, 0.8, 900_000)), ("mixed", mixed), ("scan", scan)] {
        let trace = |sample| found(blocks.iter().zip(0..).map(|(block, at)| read(at, *block)), sample);
        let (all, sampled) = (trace(ALL), trace(AS_ASKED));
        assert!(all.is_exact && !sampled.is_exact);
        let error = difference(&sampled, &all);
        assert!(error <= 0.01, "{name}: {error}");
        let (of_all, of_sampled) = (all.footprint.bytes as f64, sampled.footprint.bytes as f64);
        assert!((of_all - of_sampled).abs() <= 4.0 * sampled.footprint.error_bytes, "{name}: {of_all} {of_sampled}");
        let (count, estimate) = (all.reuse.distance_bytes.count as f64, sampled.reuse.distance_bytes.count as f64);
        assert!((estimate / count - 1.0).abs() < 0.1, "{name}: {count} {estimate}");
    }
}

#[test]
fn the_stated_error_is_that_of_other_samples() {
    let blocks = zipf(100_000, 0.8, 200_000);
    let trace = |shift: u64, sample| {
        // Other addresses are another sample.
        found(blocks.iter().zip(0..).map(|(block, at)| read(at, block + (shift << 20))), sample)
    };
    let all = trace(0, ALL);
    let samples: Vec<Properties> = (1..=12).map(|shift| trace(shift, 4_096)).collect();
    let size = all.footprint.bytes / BLOCK / 5;
    let expected = at(&all.reuse.curve, size);
    let squares = samples.iter().map(|sample| (at(&sample.reuse.curve, size) - expected).powi(2)).sum::<f64>();
    let spread = (squares / samples.len() as f64).sqrt();
    let stated = |sample: &Properties| {
        let index = sample.reuse.curve.cache_bytes.partition_point(|bytes| *bytes < size * BLOCK);
        sample.reuse.curve.error[index.min(sample.reuse.curve.error.len() - 1)]
    };
    let stated = samples.iter().map(stated).sum::<f64>() / samples.len() as f64;
    // Twelve samples give a standard deviation to a fifth.
    assert!(stated > spread / 2.0 && stated < spread * 2.0, "{stated} {spread}");
}

#[test]
fn a_poisson_process_has_a_dispersion_of_one() {
    let (mut next, mut now) = (uniform(11), 0.0);
    let trace = (0..100_000).map(|_| {
        now -= (1.0 - next()).ln() * MS as f64;
        read(now as u64, 0)
    });
    let time = found(trace, ALL).time;
    assert_eq!(time.dispersion.iter().map(|window| window.window_ns).max(), Some(1_000 * MS));
    for window in &time.dispersion {
        assert!((window.index - 1.0).abs() < 4.0 * window.error, "{window:?}");
    }
    assert!((time.gap_scv.expect("there are gaps") - 1.0).abs() < 0.03);
}

#[test]
fn pairs_have_a_dispersion_of_two_and_a_beat_has_none() {
    let mut next = uniform(5);
    let mut now = 0.0;
    let pairs = (0..40_000).map(|count| {
        now -= if count % 2 == 0 { (1.0 - next()).ln() * MS as f64 } else { 0.0 };
        read(now as u64, 0)
    });
    let widest = *found(pairs, ALL).time.dispersion.last().expect("there are windows");
    assert!((widest.index - 2.0).abs() < 4.0 * widest.error, "{widest:?}");
    let time = found((0..40_000).map(|count| read(count * MS, 0)), ALL).time;
    assert!(time.dispersion.iter().filter(|window| window.window_ns >= MS).all(|window| window.index == 0.0));
    assert_eq!(time.gap_scv, Some(0.0));
}

#[test]
fn runs_and_jumps_of_a_trace_that_is_written_down() {
    let places = [(0, 4), (4, 4), (8, 2), (100, 1), (10, 2), (101, 1), (12, 1), (50, 1), (51, 3)];
    let op = |at: u64| if at < 3 { Op::Read } else { Op::Write };
    let trace = places.iter().zip(0..).map(|((block, len), at)| io(at, op(at), block * BLOCK, len * BLOCK));
    let properties = found(trace, ALL);
    // 0+4+8 | 100 | 10 | 101 | 12 | 50+51, and mixed: 0+4+8+10+12 | 100+101 | 50+51.
    assert_eq!((properties.runs.continuing, properties.runs.in_streams), (3.0 / 9.0, 6.0 / 9.0));
    assert_eq!((properties.runs.reads_continuing, properties.runs.writes_continuing), (2.0 / 3.0, 1.0 / 6.0));
    let lengths = |runs: &RunLengths| {
        runs.lengths.iter().map(|length| (length.from, length.runs, length.ios)).collect::<Vec<_>>()
    };
    assert_eq!(lengths(&properties.runs.strict), [(1, 4, 4), (2, 2, 5)]);
    assert_eq!(lengths(&properties.runs.streams), [(1, 0, 0), (2, 2, 4), (4, 1, 5)]);
    assert_eq!((properties.runs.streams.ios.max, properties.runs.streams.bytes.max), (5, 13 * BLOCK));
    // From the end properties one to the beginning properties the next: 0 0 90 -91 89 -90 37 0.
    assert_eq!((properties.jumps.count, properties.jumps.none, properties.jumps.backward), (8, 3.0 / 8.0, 2.0 / 8.0));
    assert_eq!((properties.jumps.near, properties.jumps.distance.max), (5.0 / 8.0, 91 * BLOCK));
}

#[test]
fn a_run_goes_on_between_any_number_of_others() {
    // Two runs, and after each of their I/Os ten that go nowhere: 64 runs are open, the two are never the oldest.
    let block =
        |at: u64| if at.is_multiple_of(11) { (((at / 11) % 2) << 30) + at / 22 } else { (2 << 30) + at * 1_000 };
    let runs = found((0..11_000).map(|at| read(at, block(at))), ALL).runs;
    assert_eq!((runs.streams.ios.max, runs.strict.ios.max), (500, 1));
    assert_eq!(runs.in_streams, 998.0 / 11_000.0);
}

#[test]
fn reads_after_writes_and_writes_over_them() {
    let w = |at: u64, block: u64| io(at * MS, Op::Write, block * BLOCK, BLOCK);
    let r = |at: u64, block: u64| read(at * MS, block);
    let rewrites = found([w(0, 1), r(3, 1), r(5, 1), w(9, 1), w(10, 2), r(11, 3), w(12, 2)], ALL).rewrites;
    assert_eq!((rewrites.read_after_write, rewrites.read_after_write_ns.count), (1.0 / 3.0, 1));
    assert_eq!((rewrites.overwrite, rewrites.overwrite_ns.count), (2.0 / 4.0, 2));
    assert_eq!((rewrites.read_after_write_ns.max, rewrites.overwrite_ns.max), (3 * MS, 9 * MS));
}

#[test]
fn what_is_in_flight_and_how_long_it_took() {
    let with = |at: u64, latency: u64| TraceIo { latency: Some(Span(latency)), ..read(at, at) };
    let properties = found([with(0, 100), with(50, 100), with(100, 100), with(400, 200)], ALL);
    let depth = properties.depth.expect("there are latencies");
    assert_eq!((depth.mean, depth.at_issue.max, depth.at_issue.mean), (500.0 / 600.0, 2, 1.5));
    assert_eq!(
        (properties.latency[0].direction, properties.latency[0].ns.count, properties.latency[0].ns.mean),
        ("read", 4, 125.0)
    );
    assert!(found([read(0, 0)], ALL).depth.is_none());
}

#[test]
fn long_traces_keep_short_series() {
    let day = 86_400_000 * MS;
    let properties = found((0..3_000).map(|count| read(count * day / 100, count % 40)), ALL);
    let (time, set) = (properties.time, properties.working_set);
    assert_eq!((time.reads.len(), time.interval_ns), (set.bytes.len(), set.interval_ns));
    assert!(time.reads.len() > rate::MOST_INTERVALS / 2 && time.reads.len() <= rate::MOST_INTERVALS);
    assert_eq!((time.reads.iter().sum::<u64>(), *set.so_far_bytes.last().expect("a series")), (3_000, 40 * BLOCK));
}

#[test]
fn sizes_are_those_that_were_asked_for() {
    let sizes = [512, 4096, 4096, 4096, 65_536];
    let properties = found(sizes.iter().zip(0..).map(|(len, at)| io(at, Op::Write, 0, *len)), ALL);
    let [writes] = &properties.directions[..] else { panic!("there are writes alone") };
    assert_eq!((writes.direction, writes.ios, writes.bytes, writes.other_ios), ("write", 5, 78_336, 0));
    assert_eq!((writes.size.min, writes.size.p50, writes.size.p90, writes.size.max), (512, 4096, 65_536, 65_536));
    assert_eq!(
        writes.sizes.iter().map(|size| (size.bytes, size.ios)).collect::<Vec<_>>(),
        [(512, 1), (4096, 3), (65_536, 1)]
    );
}

/// A length that ends where bytes can be counted, as every parser checks.
fn any_io() -> impl Strategy<Value = (u64, Option<u64>, u8, u64, u64, u32)> {
    let size = prop_oneof![0_u64..100_000, 0..=1_u64 << 30, 0..=1_u64 << 62];
    let time = prop_oneof![Just(0_u64), 0..=1_u64 << 40, 0..=1_u64 << 57];
    (time.clone(), prop::option::of(time), 0_u8..4, size.clone(), size, 0_u32..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_ios_have_properties(ios in prop::collection::vec(any_io(), 0..40), sample in 1_usize..50) {
        let mut analysis = Analysis::new(Asked { block: 1 << 20, sample });
        let mut now = 0;
        for (gap, latency, op, offset, len, device) in &ios {
            now += gap;
            let op = [Op::Read, Op::Write, Op::Flush, Op::Trim][usize::from(*op)];
            let len = if op == Op::Flush { 0 } else { (*len).max(1) };
            analysis.io(&TraceIo { latency: latency.map(Span), ..io(now, op, *offset, len) }, *device);
        }
        let properties = analysis.finish(vec![String::new(); 3], Vec::new());
        prop_assert_eq!(properties.ios, ios.len() as u64);
        let curve = &properties.reuse.curve;
        prop_assert!(curve.miss_ratio.is_sorted_by(|last, next| last >= next));
        prop_assert!(curve.cache_bytes.is_sorted_by(|last, next| last <= next));
        prop_assert!(curve.miss_ratio.iter().chain(&curve.error).all(|value| value.is_finite()));
    }
}

#[test]
fn transfers_of_nobody_are_no_endless_work() {
    let properties = found([io(0, Op::Read, 0, 1 << 62), io(1, Op::Trim, 0, 1 << 62), io(2, Op::Flush, 0, 0)], 1024);
    assert_eq!((properties.ios, properties.reuse.accesses, properties.notes.len()), (3, LONGEST / BLOCK, 1));
}
