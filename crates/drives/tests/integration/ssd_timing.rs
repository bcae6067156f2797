//! When exactly is a command of a solid-state drive done? Not a nanosecond before, and not a nanosecond after.

use crate::common::ssd;
use crate::common::ssd::{
    BUFFER_PAGES, Bench, INTERVAL, MS, PAGE, PAGES, PASS_PAGES, PROGRAM, READ, READ_OVERHEAD, SplitMix, US, WIRE,
    WRITE_OVERHEAD,
};
use hotband_machine::{Drive, Entropy, Fault, Op};
use hotband_units::Rate;

/// A read of one page from flash, alone.
const FROM_FLASH: u64 = READ_OVERHEAD + READ + 2 * WIRE;
/// What needs no flash.
const FROM_MEMORY: u64 = READ_OVERHEAD + WIRE;
/// A write of one page that meets no wait.
const WRITTEN: u64 = WRITE_OVERHEAD + WIRE;

#[test]
fn a_read_from_flash_takes_overhead_flash_channel_and_link() {
    let mut bench = Bench::filled("");
    let read = bench.read(0, 0);
    bench.done_exactly_at(read, FROM_FLASH);
    let times = bench.done_of(read).times;
    assert_eq!((times.queue.0, times.overhead.0, times.flash.0), (0, READ_OVERHEAD, READ));
    assert_eq!((times.transfer.0, times.link.0), (WIRE, WIRE));
    assert_eq!(bench.count("flash_page_reads"), 1);
}

#[test]
fn what_is_in_the_buffer_or_was_never_written_needs_no_flash() {
    let mut bench = Bench::new("");
    let unmapped = bench.read(0, 7);
    bench.done_exactly_at(unmapped, FROM_MEMORY);
    bench.write(100 * US, 7, 1);
    let buffered = bench.read(200 * US, 7);
    bench.done_exactly_at(buffered, 200 * US + FROM_MEMORY);
    assert_eq!((bench.count("unmapped_reads"), bench.count("buffer_hits"), bench.count("flash_page_reads")), (1, 1, 0));
}

#[test]
fn data_on_a_pass_that_is_not_full_is_still_in_memory() {
    // 65 pages: the oldest is placed, its pass is not full.
    let mut bench = Bench::new("");
    bench.fill(0..=BUFFER_PAGES);
    let read = bench.read(0, 0);
    bench.done_exactly_at(read, FROM_MEMORY);
    // The fourth fills it.
    bench.fill(BUFFER_PAGES + 1..BUFFER_PAGES + PASS_PAGES);
    let read = bench.read(MS, 0);
    bench.done_exactly_at(read, MS + FROM_FLASH);
}

#[test]
fn reads_of_one_die_follow_one_another_and_those_of_two_do_not() {
    let mut bench = Bench::filled("");
    bench.read(0, 0);
    let same = bench.read(0, 1);
    bench.done_exactly_at(same, READ_OVERHEAD + 2 * READ + 2 * WIRE);
    assert_eq!(bench.done_of(same).times.queue.0, READ, "it waited for the first, less nothing of its own");
    // Page 4 is on die 1, on the other channel: only the link is shared, and the controller's interval is hidden by it.
    let mut bench = Bench::filled("");
    bench.read(0, 0);
    let other = bench.read(0, PASS_PAGES);
    bench.done_exactly_at(other, FROM_FLASH + WIRE);
    // Page 8 is on die 2, on the channel of die 0.
    let mut bench = Bench::filled("link_rate = \"100 GB/s\"");
    bench.read(0, 0);
    let same_channel = bench.read(0, 2 * PASS_PAGES);
    bench.done_exactly_at(same_channel, READ_OVERHEAD + READ + 2 * WIRE + 41);
}

#[test]
fn a_large_read_is_read_by_all_dies_at_once() {
    // A pass of each die: both channels carry two passes of 16,384 ns, then 64 KiB cross the link.
    let mut bench = Bench::filled("");
    let read = bench.submit(0, Op::Read, 0, 16 * PAGE, false);
    bench.done_exactly_at(read, READ_OVERHEAD + READ + 2 * 16_384 + 65_536);
    assert_eq!(bench.count("flash_page_reads"), 4);
}

/// A filled drive whose next program is of a pass on a known die, sent by a write of four pages at 0: programmed from
/// 17,384 ns (interval and link) for [`PROGRAM`].
fn programming(set: &str) -> (Bench, u64) {
    let mut bench = Bench::new(set);
    bench.fill(0..BUFFER_PAGES + 8 * PASS_PAGES);
    let write = bench.write(0, 1000, PASS_PAGES);
    let taken_in = INTERVAL + PASS_PAGES * WIRE;
    bench.done_exactly_at(write, taken_in + WRITE_OVERHEAD - INTERVAL);
    // Passes 0 to 7 are there; pass 8 is on die (8 / 4 + 8) % 4 = 2, like pass 1 + 4 = 5 and pass 2.
    (bench, taken_in)
}

/// Page 8 is on pass 2.
const ON_THE_DIE: u64 = 8;

#[test]
fn a_read_waits_for_a_program_that_cannot_be_suspended() {
    let (mut bench, begun) = programming("suspend = \"off\"");
    let read = bench.read(100 * US, ON_THE_DIE);
    bench.done_exactly_at(read, begun + PROGRAM + READ + 2 * WIRE);
    assert_eq!(bench.count("suspends"), 0);
}

#[test]
fn a_read_suspends_a_program() {
    let (mut bench, _) = programming("");
    let read = bench.read(100 * US, ON_THE_DIE);
    bench.done_exactly_at(read, 100 * US + 20 * US + FROM_FLASH);
    assert_eq!(bench.count("suspends"), 1);
    // Another die is not concerned.
    let elsewhere = bench.read(300 * US, 0);
    bench.done_exactly_at(elsewhere, 300 * US + FROM_FLASH);
    assert_eq!(bench.count("suspends"), 1);
}

#[test]
fn a_command_beyond_the_tags_waits_for_one_to_come_back() {
    for (tags, expected) in [(2, 2 * FROM_MEMORY), (3, READ_OVERHEAD + 3 * WIRE)] {
        let mut bench = Bench::new(&format!("queue_tags = {tags}"));
        bench.read(0, 0);
        bench.read(0, 1);
        let third = bench.read(0, 2);
        bench.done_exactly_at(third, expected);
        let waited = expected - READ_OVERHEAD - WIRE;
        assert_eq!(bench.done_of(third).times.queue.0, if tags == 2 { FROM_MEMORY } else { INTERVAL * 2 }, "{waited}");
    }
}

#[test]
fn of_33_commands_the_last_waits_with_32_tags() {
    // All on one die: each takes 50 us. The 33rd is let in when the first is done, and is not slower for it.
    let mut bench = Bench::filled("");
    let reads: Vec<u64> = (0..33).map(|_| bench.read(0, 0)).collect();
    bench.run_to(FROM_FLASH - 1);
    assert_eq!(bench.count("reads"), 32, "the drive knows of 32");
    bench.run_to(FROM_FLASH);
    assert_eq!(bench.count("reads"), 33);
    bench.done_exactly_at(reads[32], READ_OVERHEAD + 33 * READ + 2 * WIRE);
}

#[test]
fn a_write_is_acknowledged_from_the_buffer() {
    let mut bench = Bench::filled("");
    let write = bench.write(0, 0, 1);
    bench.done_exactly_at(write, WRITTEN);
    let times = bench.done_of(write).times;
    assert_eq!((times.queue.0, times.overhead.0, times.link.0), (0, WRITE_OVERHEAD, WIRE));
}

#[test]
fn a_write_may_keep_the_controller_longer_than_a_read() {
    for (set, begins) in [("", INTERVAL), ("write_interval = \"3 us\"", 3 * US)] {
        let mut bench = Bench::filled(set);
        let write = bench.write(0, 0, 1);
        let read = bench.read(0, 100);
        bench.done_exactly_at(write, WRITTEN);
        bench.done_exactly_at(read, begins + FROM_FLASH);
    }
    // After a read nothing changes: the data of the second follows that of the first on the link.
    let mut bench = Bench::filled("write_interval = \"3 us\"");
    let (first, second) = (bench.read(0, 0), bench.read(0, 100));
    bench.done_exactly_at(first, FROM_FLASH);
    bench.done_exactly_at(second, FROM_FLASH + WIRE);
}

#[test]
fn a_write_of_a_part_of_a_page_reads_the_rest_first() {
    let modified = INTERVAL + READ + WIRE + WRITE_OVERHEAD - INTERVAL;
    let mut bench = Bench::filled("");
    let write = bench.submit(0, Op::Write, 512, 512, false);
    bench.done_exactly_at(write, modified);
    assert_eq!(bench.count("flash_page_reads"), 1, "one page, one read");
    // Both ends within pages, on dies 0 and 1 (pages 3 and 4): at once.
    let mut bench = Bench::filled("");
    let write = bench.submit(0, Op::Write, 3 * PAGE + 512, PAGE, false);
    bench.done_exactly_at(write, modified);
    assert_eq!(bench.count("flash_page_reads"), 2);
    // Nothing was written there: nothing to read.
    let mut bench = Bench::new("");
    let write = bench.submit(0, Op::Write, 512, 512, false);
    bench.done_exactly_at(write, 512 + WRITE_OVERHEAD);
    assert_eq!(bench.count("unmapped_reads"), 1);
}

#[test]
fn a_write_waits_while_the_backlog_of_programs_is_full() {
    // Two passes for each of the four dies.
    let mut bench = Bench::filled("");
    let first = bench.write(0, 0, 8 * PASS_PAGES);
    let taken_in = INTERVAL + 8 * PASS_PAGES * WIRE;
    bench.done_exactly_at(first, taken_in + WRITE_OVERHEAD - INTERVAL);
    let waits = bench.write(200 * US, 100, 1);
    let programmed = taken_in + PROGRAM;
    bench.done_exactly_at(waits, programmed + WRITE_OVERHEAD - INTERVAL);
    assert_eq!(bench.count("write_stalls"), 1);
    // The next finds room: eight passes less one, and one page fills none.
    let goes_in = bench.write(programmed + 20 * US, 101, 1);
    bench.done_exactly_at(goes_in, programmed + 20 * US + WRITTEN);
}

#[test]
fn a_flush_is_answered_at_once_where_the_buffer_is_protected() {
    let mut bench = Bench::new("wce = \"on\"");
    bench.write(0, 0, PASS_PAGES);
    let flush = bench.flush(100 * US);
    bench.done_exactly_at(flush, 100 * US + WRITE_OVERHEAD);
    assert_eq!(bench.smart().flash_bytes, 0, "nothing is programmed for it");
}

#[test]
fn a_flush_waits_for_the_programs_where_it_is_not() {
    let mut bench = Bench::new("plp = \"off\"");
    bench.write(0, 0, 2 * PASS_PAGES);
    let flush = bench.flush(100 * US);
    // Two passes on two dies, 16,384 ns apart (the rate of all dies).
    bench.done_exactly_at(flush, 100 * US + WRITE_OVERHEAD + 16_384 + PROGRAM);
    let nothing = bench.flush(5 * MS);
    bench.done_exactly_at(nothing, 5 * MS + WRITE_OVERHEAD);
}

#[test]
fn a_forced_write_waits_for_its_program_where_the_buffer_is_volatile() {
    let forced = |set: &str| {
        let mut bench = Bench::new(set);
        let write = bench.submit(0, Op::Write, 0, PAGE, true);
        bench.end_of(write)
    };
    assert_eq!(forced(""), WRITTEN);
    assert_eq!(forced("plp = \"off\""), INTERVAL + WIRE + PROGRAM);
}

#[test]
fn trimmed_pages_are_read_without_flash() {
    let mut bench = Bench::filled("");
    let trim = bench.submit(0, Op::Trim, 0, 2 * PAGE, false);
    bench.done_exactly_at(trim, WRITE_OVERHEAD);
    let gone = bench.read(100 * US, 1);
    bench.done_exactly_at(gone, 100 * US + FROM_MEMORY);
    let there = bench.read(200 * US, 2);
    bench.done_exactly_at(there, 200 * US + FROM_FLASH);
    // Only whole pages are forgotten.
    let trim = bench.submit(300 * US, Op::Trim, 2 * PAGE + 512, PAGE, false);
    bench.end_of(trim);
    let there = bench.read(400 * US, 2);
    bench.done_exactly_at(there, 400 * US + FROM_FLASH);
    assert_eq!((bench.smart().trimmed_bytes, bench.level("used_bytes")), (3 * PAGE, (PAGES - 2) * PAGE));
}

#[test]
fn a_link_of_one_direction_at_a_time_carries_reads_after_writes() {
    let both = |set: &str| {
        let mut bench = Bench::new(set);
        let read = bench.submit(0, Op::Read, 0, 16 * PAGE, false);
        let write = bench.submit(0, Op::Write, 1 << 20, 16 * PAGE, false);
        (bench.end_of(read), bench.end_of(write))
    };
    let write = 2 * INTERVAL + 16 * WIRE + WRITE_OVERHEAD - INTERVAL;
    assert_eq!(both(""), (2 * INTERVAL + 32 * WIRE, write));
    assert_eq!(both("link_duplex = \"on\""), (READ_OVERHEAD + 16 * WIRE, write));
}

/// Reads of 4 KiB a second with `depth` of them at work.
fn reads_a_second(set: &str, depth: u64) -> f64 {
    let mut bench = Bench::filled(&format!("dies = 64\nchannels = 8\nblock = \"16 KiB\"\n{set}"));
    let mut random = SplitMix(1);
    (0..depth).for_each(|_| {
        bench.read(0, random.below(PAGES));
    });
    let mut again = 0;
    while bench.done.len() < 20_000 {
        let at = bench.ssd.wake().expect("reads are at work").0;
        bench.run_to(at);
        while again < bench.done.len() {
            bench.read(at, random.below(PAGES));
            again += 1;
        }
    }
    bench.done.len() as f64 / (bench.now as f64 / 1e9)
}

#[test]
fn deep_queues_on_a_fast_link_reach_what_sata_cannot() {
    let sata = "link_rate = \"550 MB/s\"\nqueue_tags = 32";
    let nvme = "link_rate = \"3.2 GB/s\"\nlink_duplex = \"on\"\nqueue_tags = 1024";
    let (shallow, deep) = (reads_a_second(sata, 256), reads_a_second(nvme, 256));
    // 550 MB/s carry 134,277 pages a second; 64 dies read 1.28 million, 3.2 GB/s carry 781,250.
    assert!((shallow / 134_277.0 - 1.0).abs() < 0.02, "{shallow}");
    assert!(deep > 5.0 * shallow && deep < 781_250.0, "{deep}");
    let few_tags = reads_a_second(&nvme.replace("1024", "32"), 256);
    assert!(few_tags < 0.7 * deep, "32 tags leave dies idle: {few_tags}");
}

#[test]
fn compressed_data_crosses_the_channel_sooner_and_is_decompressed() {
    for (entropy, bytes) in [(0.5, PAGE / 2), (1.0, PAGE)] {
        let mut bench = Bench::new("compression = \"on\"");
        let writes: Vec<_> = (0..PAGES).map(|page| ssd::untimed(page, 1, Entropy::of(entropy))).collect();
        bench.ssd.write_untimed(&writes);
        let read = bench.read(0, 0);
        bench.done_exactly_at(read, READ_OVERHEAD + READ + bytes + 4 * US + WIRE);
        let buffered = bench.read(MS, PAGES - 1);
        bench.done_exactly_at(buffered, MS + FROM_MEMORY);
    }
}

/// A drive whose pages were all overwritten at random: collection keeps no more blocks free than it must.
fn worn_in(set: &str) -> Bench {
    let mut bench = Bench::filled(set);
    let mut random = SplitMix(2);
    bench.fill((0..2 * PAGES).map(|_| random.below(PAGES)));
    bench
}

#[test]
fn blocks_are_collected_once_nobody_asks_for_anything() {
    let mut bench = worn_in("");
    let before = bench.level("free_blocks");
    assert!(before < 8, "{before} free blocks");
    let write = bench.write(0, 0, 1);
    let idle_from = bench.end_of(write);
    let buffered = bench.level("write_buffer_bytes");
    bench.run_to(idle_from + 100 * MS - 1);
    assert_eq!((bench.level("free_blocks"), bench.level("write_buffer_bytes")), (before, buffered));
    bench.run_to(idle_from + 100 * MS);
    assert!(bench.level("write_buffer_bytes") < buffered, "the buffer is emptied first");
    bench.run_to(10_000 * MS);
    assert_eq!((bench.level("free_blocks"), bench.level("write_buffer_bytes")), (8, 0));
    assert_eq!(bench.ssd.wake(), None, "then the drive is at rest");
}

#[test]
fn a_drive_with_nothing_worth_collecting_comes_to_rest() {
    // Blocks are written in order once: all are full of valid data, and fewer are free than collection would like.
    let mut bench = Bench::filled("gc_free_high = 60");
    assert!(bench.level("free_blocks") < 60);
    let write = bench.write(0, PAGES - 1, 1);
    let idle_from = bench.end_of(write);
    bench.run_to(10_000 * MS);
    assert_eq!((bench.level("write_buffer_bytes"), bench.count("erases"), bench.ssd.wake()), (0, 0, None));
    // A command that changes something makes it look again.
    let trim = bench.submit(20_000 * MS, Op::Trim, 0, 1 << 20, false);
    bench.end_of(trim);
    bench.run_to(30_000 * MS);
    assert_eq!((bench.count("erases"), bench.ssd.wake()), (2, None), "two blocks were trimmed; idle from {idle_from}");
}

/// How long a forced write takes on a die where four reads are always at work, from `late` after its submission on.
fn among_reads(late: u64) -> u64 {
    // Passes 0 to 15 are on flash, four on each die; the next is on die 0 again.
    let mut bench = Bench::new("plp = \"off\"");
    bench.write(0, 0, 16 * PASS_PAGES);
    let flush = bench.flush(MS);
    let begin = bench.end_of(flush);
    let write = bench.submit(begin, Op::Write, 1000 * PAGE, PAGE, true);
    bench.run_to(begin + late);
    let mut reads: Vec<u64> = Vec::new();
    while !bench.is_done(write) {
        reads.retain(|read| !bench.is_done(*read));
        while reads.len() < 4 {
            let now = bench.now;
            reads.push(bench.read(now, 0));
        }
        let at = bench.ssd.wake().expect("reads are at work").0;
        bench.run_to(at);
        assert!(bench.now < begin + 1_000 * MS, "the program was never done");
    }
    bench.done_of(write).at.0 - begin
}

#[test]
fn reads_do_not_starve_a_program_for_ever() {
    // It waits, or is suspended, for as long as the drive is patient, 10 ms, and no longer.
    for late in [0, 500 * US] {
        let took = among_reads(late);
        assert!(took > 10 * MS && took < 10 * MS + PROGRAM + MS, "{took} ns");
    }
}

#[test]
fn what_cannot_be_served_is_refused() {
    let cases = [
        (Op::Read, 100, PAGE, Fault::Misaligned),
        (Op::Write, 0, 0, Fault::Misaligned),
        (Op::Trim, PAGES * PAGE, PAGE, Fault::OutOfRange),
    ];
    for (op, offset, len, fault) in cases {
        let mut bench = Bench::new("");
        let token = bench.submit(0, op, offset, len, false);
        assert_eq!(bench.end_of(token), WRITE_OVERHEAD);
        assert_eq!((bench.done[0].fault, bench.count("faults")), (Some(fault), 1), "{op:?} {offset} {len}");
    }
}

/// One lane of the third generation: 984.6 MB/s, and 92 bytes beside 16 packets of 280.
const ONE_LANE: &str = "pcie_generation = 3\npcie_lanes = 1\npcie_payload = \"256 B\"\nlink_duplex = \"on\"\n";

#[test]
fn a_read_over_pci_express_takes_what_its_packets_take() {
    let mut bench = Bench::filled(&format!("{ONE_LANE}link_rate = \"10 GB/s\""));
    let read = bench.read(0, 0);
    let wire = Rate(984_615_384).time_for(16 * 280 + 92).0;
    assert_eq!(wire, 4_643);
    bench.done_exactly_at(read, READ_OVERHEAD + READ + WIRE + wire);
    assert_eq!(bench.done_of(read).times.link.0, wire);
    // The drive's own path is slower.
    let mut bench = Bench::filled(&format!("{ONE_LANE}link_rate = \"500 MB/s\""));
    let read = bench.read(0, 0);
    bench.done_exactly_at(read, READ_OVERHEAD + READ + WIRE + 8_192);
}

#[test]
fn received_data_crosses_the_link_at_its_own_rate() {
    let write_at = |set: &str| {
        let mut bench = Bench::new(&format!("link_duplex = \"on\"\n{set}"));
        let token = bench.submit(0, Op::Write, 0, 1 << 20, false);
        bench.end_of(token) - WRITE_OVERHEAD
    };
    assert_eq!(write_at("link_rate = \"1 GB/s\""), 1 << 20);
    assert_eq!(write_at("link_rate = \"1 GB/s\"\nlink_write_rate = \"2 GB/s\""), 1 << 19);
}

#[test]
fn planes_that_read_alone_read_two_pages_of_a_die_at_once() {
    // Pages 0 and 4 are in the two planes of one pass, pages 0 and 1 in the same plane.
    for (set, page, expected) in [
        ("plane_reads = \"independent\"", 4, FROM_FLASH + WIRE),
        ("plane_reads = \"independent\"", 1, READ_OVERHEAD + 2 * READ + 2 * WIRE),
        ("", 4, READ_OVERHEAD + 2 * READ + 2 * WIRE),
    ] {
        let mut bench = Bench::filled(&format!("planes = 2\nprogram_pass = \"32 KiB\"\n{set}"));
        bench.read(0, 0);
        let other = bench.read(0, page);
        bench.done_exactly_at(other, expected);
    }
}

#[test]
fn less_than_a_mapping_unit_is_written_as_one_and_the_rest_is_read_meanwhile() {
    let mut bench = Bench::filled("mapping_unit = \"16 KiB\"");
    let before = bench.smart();
    let write = bench.write(0, 400, 1);
    bench.done_exactly_at(write, WRITTEN);
    assert_eq!(bench.count("relocation_page_reads"), 1);
    let whole = bench.write(MS, 404, 4);
    bench.done_exactly_at(whole, MS + WRITE_OVERHEAD + 4 * WIRE);
    assert_eq!(bench.count("relocation_page_reads"), 1);
    bench.fill((0..PAGES).step_by(4));
    let after = bench.smart();
    let (host, stored) = (after.host_bytes - before.host_bytes, after.stored_bytes - before.stored_bytes);
    assert_eq!(host, (PAGES / 4 + 5) * PAGE);
    assert_eq!(stored, (PAGES + 8) * PAGE, "four pages for one, the buffer as full as before");
}
