//! What does a look-up cost a drive whose mapping table does not fit into memory, and who pays for changes of it?
//!
//! A page of the bench's table has 512 B: the entries of 128 pages. The drive has 128 of them, and page t of the table lies
//! on die t % 4.

use crate::common::ssd;
use crate::common::ssd::{Bench, MS, PAGE, PAGES, PASS_PAGES, PROGRAM, READ, READ_OVERHEAD, SplitMix, US, WIRE};
use hotband_drives::{Product, SsdParams};
use hotband_machine::Op;

/// A read of one page from flash whose entry is with the controller.
const MAPPED: u64 = READ_OVERHEAD + READ + 2 * WIRE;
/// A page of the table is read and crosses the channel.
const TABLE: u64 = READ + 512;
const COVERED: u64 = 128;
const TABLE_PAGES: u64 = PAGES / COVERED;
const HOST: u64 = 2 * US;

fn memory(controller: u64, host: u64) -> String {
    let (controller, host) = (controller * 512, host * 512);
    format!(
        "map_page = \"512 B\"\nmap_memory = \"{controller} B\"\nhmb_size = \"{host} B\"\nhmb_latency = \"2 us\"\n\
         pcie_generation = 5\npcie_lanes = 4\npcie_payload = \"512 B\"\n"
    )
}

fn filled(controller: u64, host: u64) -> Bench {
    Bench::filled(&memory(controller, host))
}

/// Look-ups of entries with the controller, with the host, and on flash.
fn look_ups(bench: &Bench) -> [u64; 3] {
    ["map_controller_hits", "map_host_hits", "map_misses"].map(|name| bench.count(name))
}

#[test]
fn an_entry_on_flash_costs_one_read_more_and_one_in_memory_nothing() {
    let mut bench = filled(4, 0);
    let missed = bench.read(0, 0);
    bench.done_exactly_at(missed, MAPPED + TABLE);
    assert_eq!(bench.done_of(missed).times.overhead.0, READ_OVERHEAD + TABLE, "the look-up is the controller's time");
    let found = bench.read(MS, 1);
    bench.done_exactly_at(found, MS + MAPPED);
    assert_eq!((look_ups(&bench), bench.count("flash_page_reads")), ([1, 0, 1], 3));
    assert_eq!(bench.level("map_held_bytes"), 512);
}

#[test]
fn an_entry_with_the_host_costs_a_round_trip() {
    let mut bench = filled(1, 1);
    for (at, page) in [(0, 0), (MS, COVERED)] {
        bench.read(at, page);
    }
    let with_host = bench.read(2 * MS, 0);
    bench.done_exactly_at(with_host, 2 * MS + MAPPED + HOST);
    let again = bench.read(3 * MS, 1);
    bench.done_exactly_at(again, 3 * MS + MAPPED);
    assert_eq!(look_ups(&bench), [1, 1, 2]);
}

#[test]
fn reads_that_miss_the_same_page_of_the_table_wait_for_one_read_of_it() {
    let mut bench = filled(4, 0);
    // Their data lies on dies 0 and 1, on channels of their own; the link carries one after the other.
    let (first, second) = (bench.read(0, 0), bench.read(0, PASS_PAGES));
    bench.done_exactly_at(first, MAPPED + TABLE);
    bench.done_exactly_at(second, MAPPED + TABLE + WIRE);
    assert_eq!((bench.count("map_misses"), bench.count("flash_page_reads")), (2, 3));
}

#[test]
fn a_read_over_two_pages_of_the_table_waits_for_both() {
    let mut bench = filled(4, 0);
    // Die 1 reads for a host until 60 us; the second page of the table is on it.
    bench.read(0, COVERED * 40);
    bench.read(MS, PASS_PAGES);
    let both = bench.submit(MS, Op::Read, (COVERED - 1) * PAGE, 2 * PAGE, false);
    bench.end_of(both);
    assert_eq!(bench.count("map_misses"), 4);
    assert!(bench.done_of(both).times.overhead.0 >= READ_OVERHEAD + TABLE);
}

#[test]
fn reading_the_table_keeps_its_die_busy() {
    let mut bench = filled(4, 0);
    // Page 2 of the table is in memory; data of page 256 is on die 2. Page 6 of the table is on die 2, too.
    bench.read(0, 2 * COVERED);
    bench.read(MS, 6 * COVERED);
    let behind = bench.read(MS, 2 * COVERED);
    bench.end_of(behind);
    // It is asked for a controller's interval after the table's page, and waits for the rest of its reading.
    assert_eq!(bench.done_of(behind).times.queue.0, READ, "its turn with the controller, and the die");
}

#[test]
fn of_uniform_reads_as_many_find_their_entry_as_memory_has_room_for() {
    // `make test-long` sets HOTBAND_LONG.
    let step = if std::env::var_os("HOTBAND_LONG").is_some() { 1 } else { 3 };
    for (controller, host) in [(16, 16), (16, 0), (64, 64), (1, 63)].into_iter().step_by(step) {
        let mut bench = filled(controller, host);
        let mut random = SplitMix(7);
        let mut read = |bench: &mut Bench, count: u64| {
            for _ in 0..count {
                let read = bench.read(bench.now, random.below(PAGES));
                bench.end_of(read);
            }
        };
        read(&mut bench, 2_000);
        let before = look_ups(&bench);
        read(&mut bench, 20_000);
        let counted: Vec<f64> =
            look_ups(&bench).iter().zip(before).map(|(now, before)| (now - before) as f64 / 20_000.0).collect();
        // Three standard deviations of a share of 20,000 are 1.1 %.
        for (what, share, room) in [("controller", counted[0], controller), ("host", counted[1], host)] {
            let room = room as f64 / TABLE_PAGES as f64;
            assert!((share - room).abs() < 0.011, "{what} of {controller} + {host} pages: {share}, room for {room}");
        }
    }
}

#[test]
fn sequential_reads_look_a_page_of_the_table_up_once() {
    let ends = ["", &memory(1, 0)].map(|set| {
        let mut bench = Bench::filled(set);
        for page in (0..PAGES - 64).step_by(16) {
            let read = bench.submit(bench.now, Op::Read, page * PAGE, 16 * PAGE, false);
            bench.end_of(read);
        }
        if !set.is_empty() {
            assert_eq!(bench.count("map_misses"), TABLE_PAGES);
        }
        bench.now
    });
    let cost = ends[1] - ends[0];
    assert_eq!(cost, TABLE_PAGES * TABLE, "one at a time: a read of the table for every 512 KiB");
}

#[test]
fn a_change_on_flash_is_brought_in_the_background_and_written_when_it_leaves() {
    let mut bench = filled(4, 0);
    let before = bench.smart();
    // One write to each page of the table. The buffer held 64 of the last page's, which go first, and keeps 64 of these.
    for page in 0..TABLE_PAGES {
        let write = bench.write(bench.now, page * COVERED, 1);
        bench.end_of(write);
        assert_eq!(bench.done_of(write).times.flash.0, 0, "the host does not wait for it");
    }
    let placed = TABLE_PAGES - 64 + 1;
    let left = placed - 4;
    assert_eq!((bench.count("map_misses"), bench.count("map_written_bytes")), (placed, left * 512));
    assert_eq!(bench.count("relocation_page_reads"), 0, "pages of the table are not relocated data");
    // A pass has 16 KiB.
    let programmed = left * 512 / (16 << 10) * (16 << 10);
    let after = bench.smart();
    assert_eq!(after.metadata_bytes - before.metadata_bytes, programmed);
    let flash = after.flash_bytes + bench.ssd.ftl().open_units() * 16;
    assert_eq!(flash, after.stored_bytes + after.relocated_bytes + after.metadata_bytes);
    bench.run_to(bench.now + 100 * PROGRAM);
    bench.ssd.ftl().check().expect("the map is whole");
}

#[test]
fn a_new_drive_has_no_table_to_read() {
    let mut bench = Bench::new(&memory(1, 0));
    let unwritten = bench.read(0, 7);
    bench.done_exactly_at(unwritten, READ_OVERHEAD + WIRE);
    // The first entries of pages of the table: nothing to bring, and all but one is written.
    for page in 0..80 {
        bench.write(bench.now, page * COVERED, 1);
        bench.run_to(bench.now + MS);
    }
    let placed = 80 - 64;
    assert_eq!((look_ups(&bench), bench.count("flash_page_reads")), ([0, 0, placed], 0));
    assert_eq!((bench.count("busy_ns") / PROGRAM, bench.count("map_written_bytes")), (1, (placed - 1) * 512));
    let beside = bench.read(bench.now, COVERED + 1);
    bench.end_of(beside);
    assert_eq!(bench.count("flash_page_reads"), 1, "its neighbour was written, so its entry is looked for");
}

#[test]
fn a_drive_with_room_for_its_table_misses_every_page_of_it_once() {
    let mut bench = filled(TABLE_PAGES, 0);
    let mut random = SplitMix(3);
    for _ in 0..4_000 {
        let read = bench.read(bench.now, random.below(PAGES));
        bench.end_of(read);
    }
    assert_eq!(look_ups(&bench), [4_000 - TABLE_PAGES, 0, TABLE_PAGES]);
}

#[test]
fn what_no_drive_can_be_is_refused() {
    let refused = |set: &str| {
        let text = include_str!("../../../../python/hotband/data/catalog/drives/980-1tb.toml");
        let product = Product::read("980-1tb", "980-1tb.toml", text).expect("a drive of the catalog");
        let set: toml::Table = set.parse().expect("tests set TOML");
        SsdParams::read(&product, &set, "set", "").expect_err("no drive can be so").to_string()
    };
    for (set, part) in [
        ("map_page = \"3 KiB\"", "power of two from 512 B to 64 KiB"),
        ("map_memory = \"1 KiB\"", "(map_page)"),
        ("map_memory = \"0 B\"", "(map_page)"),
        ("hmb_size = \"1 KiB\"", "(map_page)"),
        ("hmb_size = \"64 TB\"", "(map_page)"),
        ("hmb_latency = \"2 ms\"", "at most 1 ms"),
        ("hmb_latency = 2", "a time with its unit"),
    ] {
        let error = refused(set);
        let key = set.split(' ').next().expect("a key");
        assert!(error.contains(key) && error.contains(part) && !error.contains('\n'), "{set}: {error}");
    }
    let refused = |set: &str| std::panic::catch_unwind(|| ssd::params(set)).err().map(drop);
    assert_eq!(refused("map_memory = \"4 KiB\""), Some(()), "one value of four");
    let lent = "map_page = \"512 B\"\nmap_memory = \"4 KiB\"\nhmb_size = \"4 KiB\"\nhmb_latency = \"1 us\"";
    assert_eq!(refused(lent), Some(()), "SATA has no host memory buffer");
    assert_eq!(refused(&lent.replace("hmb_size = \"4 KiB\"", "hmb_size = \"0 B\"")), None);
}
