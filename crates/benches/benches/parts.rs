//! What the parts on the way of every I/O cost, one by one.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hotband_drives::parts::geometry::{Geometry, GeometryParams};
use hotband_drives::parts::pending::{Head, Order, Pending, Waiting};
use hotband_drives::parts::rotation::Rotation;
use hotband_drives::parts::seek::{KNEE, SeekCurve, SeekPoints};
use hotband_drives::parts::segments::Segments;
use hotband_units::{Bytes, Instant, Rate, Rpm, Span};

/// About the Exos 15E900 of the catalog; what a part costs hardly depends on it.
fn geometry() -> GeometryParams {
    GeometryParams {
        capacity: Bytes(900_000_000_000),
        heads: 6,
        zones: 24,
        outer: Rate(300_000_000),
        inner: Rate(210_000_000),
        head_skew: Span(400_000),
        track_skew: Span(500_000),
        rotation: Rotation::new(Rpm(15_000)),
    }
}

fn seek_points() -> SeekPoints {
    SeekPoints { track: Span(200_000), average: Span(2_800_000), full: Span(5_000_000), knee: KNEE }
}

/// Numbers below `bound` that look random and are the same in every run (multiples of the golden ratio, Knuth,
/// The Art of Computer Programming 3, section 6.4).
fn scattered(bound: u64) -> impl Iterator<Item = u64> {
    let step = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (1..).map(move |n| ((u128::from(step(n)) * u128::from(bound)) >> 64) as u64)
}

fn waiting(geometry: &Geometry, sector: u64, sequence: u64) -> Waiting {
    let place = geometry.place(sector);
    Waiting {
        sector,
        count: 8,
        write: false,
        place,
        angle: place.angle(),
        ready: Instant(0),
        since: Instant(0),
        sequence,
        slot: 0,
    }
}

/// Takes the next command of a queue in positioning order and puts a new one in its place.
fn positioning_order(criterion: &mut Criterion) {
    let params = geometry();
    let geometry = Geometry::new(&params);
    let curve = SeekCurve::new(seek_points(), geometry.cylinders());
    let mut group = criterion.benchmark_group("positioning order, waiting");
    for depth in [8_u64, 32, 128] {
        let mut sectors = scattered(geometry.end() - 8);
        let mut queue = Pending::default();
        for sequence in 0..depth {
            queue.insert(waiting(&geometry, sectors.next().expect("endless"), sequence));
        }
        let (mut now, mut sequence, mut here, mut reached) = (0, depth, geometry.place(0), 0);
        group.bench_function(BenchmarkId::from_parameter(depth), |bencher| {
            bencher.iter(|| {
                let head = Head {
                    now: Instant(now),
                    cylinder: here.cylinder,
                    track: here.track,
                    reached,
                    rotation: params.rotation,
                    read_curve: &curve,
                    write_curve: &curve,
                    head_switch: 400_000,
                    slack: 0,
                };
                let (index, _) = queue.choose(Order::Positioning, &head).expect("never empty");
                let taken = queue.remove(index);
                (here, reached) = (taken.place, taken.end());
                queue.insert(waiting(&geometry, sectors.next().expect("endless"), sequence));
                (now, sequence) = (now + 1_900_000, sequence + 1);
            });
        });
    }
    group.finish();
}

fn lookups(criterion: &mut Criterion) {
    let geometry = Geometry::new(&geometry());
    let mut sectors = scattered(geometry.end());
    criterion.bench_function("geometry, place of a sector", |bencher| {
        bencher.iter(|| black_box(geometry.place(sectors.next().expect("endless"))));
    });
    let curve = SeekCurve::new(seek_points(), geometry.cylinders());
    let mut distances = scattered(u64::from(geometry.cylinders()));
    criterion.bench_function("seek curve, time of a distance", |bencher| {
        bencher.iter(|| black_box(curve.nanos(distances.next().expect("endless") as u32)));
    });
    let mut segments = Segments::new(32, 16_384);
    let mut sectors = scattered(geometry.end() - 8);
    criterion.bench_function("segments, a miss and its replacement", |bencher| {
        bencher.iter(|| {
            let sector = sectors.next().expect("endless");
            black_box(segments.find(sector, sector + 8));
            segments.replace(sector, sector + 8);
        });
    });
}

criterion_group!(benches, positioning_order, lookups);
criterion_main!(benches);
