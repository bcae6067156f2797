//! What planning one I/O costs.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hotband_layouts::{Mirror, Parity, ReadPolicy};
use hotband_machine::{Extent, Layout, MemberState, Members, Op, Plan};

const CHUNK: u64 = 64 * 1024;
const SIZE: u64 = 900_000_000_000;

fn plans(criterion: &mut Criterion) {
    let raid5 = Parity::new("raid5", 6, 1, SIZE, CHUNK);
    let raid10 = Mirror::new("raid10", 24, 2, SIZE, CHUNK, ReadPolicy::LeastPending);
    let layouts: [(&dyn Layout, usize); 2] = [(&raid5, 6), (&raid10, 24)];
    for (layout, members) in layouts {
        let states = vec![MemberState::default(); members];
        for (op, name) in [(Op::Read, "read"), (Op::Write, "write")] {
            let (mut plan, mut turn) = (Plan::default(), 0_u64);
            criterion.bench_function(&format!("{}, plan of a 4 KiB {name}", layout.kind()), |bencher| {
                bencher.iter(|| {
                    // A prime stride in 4 KiB blocks: members and rows change from I/O to I/O.
                    let offset = turn * 7919 % (SIZE / 4096) * 4096;
                    turn += 1;
                    plan.legs.clear();
                    layout.plan(Extent { op, offset, len: 4096 }, Members::whole(&states), turn, &mut plan);
                    black_box(plan.legs.len())
                });
            });
        }
    }
}

criterion_group!(benches, plans);
criterion_main!(benches);
