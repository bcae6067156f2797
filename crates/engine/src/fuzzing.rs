//! The way in for fuzzing: whatever the bytes are, reading them gives a value or a one-line error, and what was read
//! can be built and used for a moment without a panic.

use std::collections::VecDeque;

use hotband_drives::{Disk, DiskParams, MultiActuatorDisk, Product};
use hotband_layouts::replicated::PoolSpec;
use hotband_layouts::{KINDS, is_pool};
use hotband_machine::{BuildError, Command, Drive, Entropy, Io, LayoutSpec, MachineSpec, Op, SpecError, short_form};
use hotband_units::{Bytes, Instant, Power, Rate, Ratio, Rpm, Span};
use hotband_workloads::{AppVolume, Data, Load, Random, Stream, StreamBounds, Workload};
use toml::Table;

use crate::build::assemble::assemble;
use crate::build::catalog::Catalog;

/// Machines above this many drives are read and not built: building is linear in drives and slow to fuzz.
const MOST_BUILT: usize = 32;
/// Files and objects above this number are described and not laid out.
const MOST_LAID_OUT: u64 = 10_000;
/// Pools of more placement groups than this are read and not built.
const MOST_GROUPS: u32 = 1024;
/// Number of I/Os tried on the built machine.
const TRIED: u64 = 8;
/// Wake-ups after which a trial ends.
const WAKES: usize = 1000;

/// Reads `data` as everything a user can write: a machine, a short form, a workload, a product, a quantity.
///
/// # Panics
/// If an error has more than one line; any other panic is a bug of the code under test.
pub fn spec(data: &[u8], catalog: &Catalog) {
    let text = String::from_utf8_lossy(data);
    quantities(&text);
    if let Some(Some(form)) = read(short_form(&text, &KINDS)) {
        machine(&form, catalog);
    }
    machine(&text, catalog);
    workload(&text);
    product(&text);
}

fn read<T>(result: Result<T, SpecError>) -> Option<T> {
    result.inspect_err(|error| assert!(!error.to_string().contains('\n'), "more than one line: {error}")).ok()
}

fn quantities(text: &str) {
    let shown = [
        text.parse::<Span>().map(|value| value.to_string()),
        text.parse::<Bytes>().map(|value| value.to_string()),
        text.parse::<Rate>().map(|value| value.to_string()),
        text.parse::<Rpm>().map(|value| value.to_string()),
        text.parse::<Ratio>().map(|value| value.to_string()),
        text.parse::<Power>().map(|value| value.to_string()),
    ];
    assert!(shown.into_iter().flatten().all(|text| !text.is_empty()));
}

fn machine(text: &str, catalog: &Catalog) {
    let Some(spec) = read(MachineSpec::read("machine.toml", text)) else { return };
    if spec.drives.len() > MOST_BUILT || !pools_are_small(&spec) {
        return;
    }
    let built = assemble(&spec, catalog, &[], 1).map_err(|error| match error {
        BuildError::Spec(error) => error,
        other => panic!("nobody stops it, and it is small: {other}"),
    });
    let Some(mut machine) = read(built).map(|assembled| assembled.machine) else { return };
    let mut done = Vec::new();
    for target in 0..machine.volumes().len().min(4) as u16 {
        let (block, capacity) = (machine.drives().block().0, machine.volumes()[usize::from(target)].size);
        for tag in 0..TRIED {
            let (op, len) = (if tag % 2 == 0 { Op::Read } else { Op::Write }, block.max(65_536 * tag));
            let slots = capacity.saturating_sub(len) / block;
            if len > capacity {
                continue;
            }
            let offset = slots * tag / (TRIED - 1) * block;
            machine.submit(
                Instant(tag),
                Io {
                    tag,
                    op,
                    volume: target,
                    offset,
                    len: len as u32,
                    fua: tag % 3 == 0,
                    version: 0,
                    entropy: Entropy::INCOMPRESSIBLE,
                },
            );
        }
    }
    for _ in 0..WAKES {
        let Some(at) = machine.wake() else { break };
        machine.advance(at, &mut done);
    }
}

/// Whether no replicated pool is too large to be laid out in a moment; every one is read.
fn pools_are_small(spec: &MachineSpec) -> bool {
    let small = |layout: &LayoutSpec| {
        let pool = read(PoolSpec::read(&spec.file, layout));
        pool.is_none_or(|pool| {
            let objects = pool.image.map_or(u64::MAX, |image| image / pool.object);
            objects <= MOST_LAID_OUT && pool.placement_groups <= MOST_GROUPS
        })
    };
    spec.layouts.iter().filter(|layout| is_pool(&layout.kind)).all(small)
}

fn workload(text: &str) {
    let Some(mut workload) = read(Workload::read("workload.toml", text)) else { return };
    for (stream, capacity) in workload.streams.iter().flat_map(|stream| [(stream, 1 << 20), (stream, 1 << 43)]) {
        let Some(bounds) = read(stream.bounds("workload.toml", &capacity.into(), 512)) else { continue };
        let threads = match stream.load.as_ref().or(workload.load.as_ref()) {
            Some(Load::Closed { threads, .. }) => *threads as usize,
            _ => 1,
        };
        let data = stream.data.as_ref().map_or(Data::INCOMPRESSIBLE, |data| Data::new(data, Random::new(1, "data")));
        let mut stream = Stream::new(stream.clone(), bounds, threads, Random::new(1, "fuzz")).with_data(data);
        for n in 0..64 {
            let io = stream.next(n % threads);
            let inside = io.offset >= bounds.from && io.offset + u64::from(io.len) <= bounds.to;
            assert!(inside || io.op == Op::Flush, "{io:?} outside {bounds:?}");
        }
        files(stream, bounds);
    }
    app(&workload);
    for key in Workload::SET_KEYS {
        read(workload.set(key, text.lines().last().unwrap_or_default()));
    }
    let _ = workload.concurrency();
}

/// Builds the app of a workload on volumes of two sizes and runs it for a moment.
fn app(workload: &Workload) {
    let Some(spec) = &workload.app else { return };
    for capacity in [1 << 30, 1 << 33] {
        let volumes = vec![AppVolume { target: 0, capacity, block: 512 }; spec.streams().len()];
        let Some(mut app) = read(spec.build(&volumes, workload.data_of_app(), 1)) else { continue };
        let (mut now, mut under_way, mut laid_out) = (Instant::ZERO, VecDeque::new(), Vec::new());
        app.lay_out(TRIED as usize, &mut laid_out);
        assert!(laid_out.iter().all(|(_, write)| write.offset + u64::from(write.len) <= capacity));
        app.start(now);
        for _ in 0..WAKES {
            while let Some(io) = app.next_io() {
                let inside = io.request.offset + u64::from(io.request.len) <= capacity;
                assert!(inside, "{io:?} ends beyond {capacity}");
                under_way.push_back(io.token);
            }
            if let Some(token) = under_way.pop_front() {
                app.completed(now, token);
                continue;
            }
            let Some(next) = app.next_time() else { break };
            now = now.max(next);
            app.advance(now);
        }
        app.take_ended(&mut Vec::new());
    }
}

/// Lays out the files of a stream and reads a few of them.
fn files(stream: Stream, bounds: StreamBounds) {
    let mut random = Random::new(1, "fuzz");
    let spec = stream.files_spec().filter(|files| u64::from(files.count) <= MOST_LAID_OUT);
    let laid_out = spec.and_then(|files| read(files.lay_out(("workload.toml", "files"), bounds, &mut random)));
    let Some(laid_out) = laid_out else { return };
    let mut stream = stream.with_files(laid_out);
    for _ in 0..TRIED {
        let (begin, end) = stream.draw_file(&mut random);
        let piece = stream.piece(begin, end);
        assert!(begin >= bounds.from && piece.len > 0 && begin + u64::from(piece.len) <= end && end <= bounds.to);
    }
}

fn product(text: &str) {
    let Some(product) = read(Product::read("p", "p.toml", text)) else { return };
    let Some(params) = read(DiskParams::read(&product, &Table::new(), "set", "")) else { return };
    let mut done = Vec::new();
    let mut disk: Box<dyn Drive> =
        if params.actuators > 1 { Box::new(MultiActuatorDisk::new(&params)) } else { Box::new(Disk::new(params)) };
    let (block, capacity) = (disk.block().0, disk.capacity().0);
    for token in 0..TRIED {
        let len = (block << (token % 4)).min(capacity);
        let offset = (capacity - len) / block * token / (TRIED - 1) * block;
        let op = [Op::Read, Op::Write, Op::Flush][token as usize % 3];
        disk.submit(
            Instant(token),
            Command {
                token,
                op,
                offset,
                len: len as u32,
                fua: token == 4,
                version: 0,
                entropy: Entropy::INCOMPRESSIBLE,
            },
        );
    }
    for _ in 0..WAKES {
        let Some(at) = disk.wake() else { break };
        disk.advance(at, &mut done);
    }
    assert_eq!(done.len() as u64, TRIED, "every command is done when nothing is left to do");
}
