//! Shingled tracks: what a write to the media cache, a stream and the cleaning of a band take, worked out by hand.
//!
//! The bench's disk with bands of 2,000 sectors: two tracks, one cylinder. The media cache is the first eight
//! cylinders, so band `b` lies on cylinder `8 + b`, after the place of copies where there is one.

#![allow(missing_docs, reason = "tests")]

use crate::common::{Bench, CACHE_OVERHEAD, CYLINDER, MS, PORT, REVOLUTION, SECTOR_TIME, read_params};
use hotband_drives::SmrDisk;
use hotband_machine::{Drive, Op};
use proptest::prelude::*;

const SMR: &str = "capacity = \"1015808000 B\"\nsmr = \"drive-managed\"\nsmr_cache_size = \"8192000 B\"\n\
    smr_cache_at = \"outer\"\nsmr_cache_extents = 16\nsmr_band = \"1024000 B\"\nsmr_band_copy = \"off\"\n\
    smr_buffer = \"2048000 B\"\nsmr_step = \"1024000 B\"\nsmr_append_revolutions = 1\nsmr_idle_delay = \"1 s\"\n\
    smr_clean_from = \"0 %\"\nsmr_clean_full = \"100 %\"\nsmr_stream_from = \"1 MB\"\nsmr_filled = \"100 %\"\n\
    look_ahead = \"0 B\"\n";

/// The bench with values of `set` in place of those above.
fn bench(set: &str) -> Bench<SmrDisk> {
    let mut values: toml::Table = SMR.parse().expect("TOML");
    values.extend(set.parse::<toml::Table>().expect("TOML"));
    let params = read_params(&values.to_string()).expect("accepted values");
    Bench::of(SmrDisk::new(params).expect("shingled"))
}

fn count(bench: &Bench<SmrDisk>, name: &str) -> u64 {
    let both = bench.disk.counters().into_iter().chain(bench.disk.levels());
    both.into_iter().find(|(have, _)| *have == name).map(|(_, count)| count).expect(name)
}

fn done_at(bench: &mut Bench<SmrDisk>, token: u64) -> u64 {
    while !bench.done.iter().any(|done| done.token == token) {
        let at = bench.disk.wake().expect("it is under way");
        bench.run_to(at.0);
    }
    bench.done.iter().find(|done| done.token == token).expect("it is done").at.0
}

#[test]
fn a_random_write_is_appended_to_the_media_cache() {
    let mut bench = bench("");
    // Band 500 is at the other end of the disk; the head stands at the media cache and does not move.
    let write = bench.write(0, 500 * CYLINDER);
    // Ready after overhead and port, sector 0 has passed and comes round at 6 ms; then the entry, a revolution.
    let appended = REVOLUTION + 8 * SECTOR_TIME + REVOLUTION;
    assert_eq!(done_at(&mut bench, write), appended);
    assert_eq!((count(&bench, "seeks"), count(&bench, "appended_bytes")), (0, 4096));
    assert_eq!(count(&bench, "media_cache_live_bytes"), 4096);
}

#[test]
fn writes_that_wait_together_are_one_append() {
    let mut bench = bench("");
    let first = bench.write(0, 500 * CYLINDER);
    let rest: Vec<u64> = (1..5).map(|n| bench.write(0, 100 * n * CYLINDER)).collect();
    let one = done_at(&mut bench, first);
    // The four behind: after the entry of the first, a revolution, the platter stands where they begin.
    let together = one + 32 * SECTOR_TIME + REVOLUTION;
    for write in rest {
        assert_eq!(done_at(&mut bench, write), together);
    }
    assert_eq!(count(&bench, "appends"), 2);
}

#[test]
fn what_was_appended_is_read_from_the_media_cache_and_the_rest_from_its_band() {
    let mut bench = bench("");
    let write = bench.write(0, 500 * CYLINDER + 8);
    done_at(&mut bench, write);
    let seeks = count(&bench, "seeks");
    let begin = bench.now;
    let inside = bench.read(begin, 500 * CYLINDER + 8);
    done_at(&mut bench, inside);
    assert_eq!(count(&bench, "seeks"), seeks, "it is where the head stands");
    // Eight before, the eight, eight behind: three pieces, one answer.
    let around = bench.submit(bench.now, Op::Read, 500 * CYLINDER, 24, false);
    let at = done_at(&mut bench, around);
    let done = bench.done.iter().find(|done| done.token == around).expect("done");
    assert_eq!((done.bytes_back, done.times.total().0), (24 * 512, at - begin_of(&bench, around)));
    assert_eq!(count(&bench, "reads"), 2);
    assert!(count(&bench, "media_reads") >= 3);
}

/// When a command was submitted: the clock of the test stood there.
fn begin_of(bench: &Bench<SmrDisk>, token: u64) -> u64 {
    let done = bench.done.iter().find(|done| done.token == token).expect("done");
    done.at.0 - done.times.total().0
}

#[test]
fn a_band_is_cleaned_after_a_rest_in_the_time_of_its_steps() {
    let mut bench = bench("");
    let write = bench.write(0, 500 * CYLINDER + 16);
    let rest = done_at(&mut bench, write) + 1_000 * MS;
    assert_eq!(bench.disk.wake().map(|at| at.0), Some(rest), "it waits for its rest and no longer");
    bench.run_to(rest + 400 * MS);
    // The band is read (two tracks and a head switch, 12.5 ms), then the eight sectors of the media cache, then the
    // band is written; between them seeks and waits of less than 8.2 ms and a revolution each.
    let stream = 12 * MS + MS / 2;
    let busy = count(&bench, "cleaning_ns");
    assert_eq!(count(&bench, "bands_cleaned"), 1);
    assert_eq!(count(&bench, "cleaning_read_bytes"), 2_000 * 512 + 4096);
    assert_eq!(count(&bench, "cleaning_written_bytes"), 2_000 * 512);
    let least = 2 * stream + 8 * SECTOR_TIME;
    assert!((least..=least + 3 * (8_200_000 + REVOLUTION)).contains(&busy), "{busy}");
    assert_eq!(count(&bench, "media_cache_extents"), 0);
    assert_eq!(bench.disk.wake(), None, "nothing is left to do");
}

#[test]
fn the_cleaning_of_a_band_takes_to_the_nanosecond_what_its_steps_take() {
    let mut bench = bench("smr_append_revolutions = 0\n");
    // Band 0 on cylinder 8, sector 0 at an angle of 112 ms modulo 6 ms = 4 ms; the media cache on cylinder 0.
    let write = bench.write(0, 0);
    let rest = done_at(&mut bench, write) + 1_000 * MS;
    assert_eq!(rest, REVOLUTION + 8 * SECTOR_TIME + 1_000 * MS);
    bench.run_to(rest + 100 * MS);
    let (seek_there, seek_back) = (bench_seek(8, false), bench_seek(8, true));
    // Next time at or after `from` at which the platter stands at `angle`.
    let turn = |from: u64, angle: u64| from + (angle + REVOLUTION - from % REVOLUTION) % REVOLUTION;
    let stream = 12 * MS + MS / 2;
    let read = turn(rest + seek_there, 4 * MS) + stream;
    let merged = turn(read + seek_there, 0) + 8 * SECTOR_TIME;
    let written = turn(merged + seek_back, 4 * MS) + stream;
    assert_eq!(count(&bench, "cleaning_ns"), written - rest);
}

/// Seek over so many cylinders, as a bench without shingles does it from rest.
fn bench_seek(cylinders: u64, write: bool) -> u64 {
    let mut bench = Bench::new("look_ahead = \"0 B\"");
    let op = if write { Op::Write } else { Op::Read };
    let token = bench.submit(0, op, cylinders * CYLINDER, 8, false);
    bench.run_to(100 * MS);
    bench.done.iter().find(|done| done.token == token).expect("done").times.seek.0
}

#[test]
fn a_copy_and_little_memory_make_more_steps() {
    let cleaned = |set: &str| {
        let mut bench = bench(set);
        bench.write(0, 100 * CYLINDER);
        bench.run_to(3_000 * MS);
        assert_eq!(count(&bench, "bands_cleaned"), 1, "{set}");
        (count(&bench, "cleaning_read_bytes"), count(&bench, "cleaning_written_bytes"))
    };
    let band = 2_000 * 512;
    assert_eq!(cleaned("smr_band_copy = \"on\"\ncapacity = \"1014784000 B\"\n"), (band + 4096, 2 * band));
    // A quarter of the band at a time: the copies are read again.
    let little = "smr_buffer = \"253952 B\"\nsmr_step = \"253952 B\"\n";
    let both = format!("smr_band_copy = \"on\"\ncapacity = \"1014784000 B\"\n{little}");
    assert_eq!(cleaned(&both), (2 * band + 4096, 2 * band));
    assert_eq!(cleaned(little), (band + 4096, band));
}

#[test]
fn a_stream_goes_to_its_bands_and_leaves_the_last_to_be_repaired() {
    let mut bench = bench("smr_cache_extents = 64\n");
    // 100 writes of 64 sectors: the first 30 are shorter than 1 MB together.
    for n in 0..100 {
        let write = bench.submit(bench.now, Op::Write, 10 * CYLINDER + 64 * n, 64, false);
        done_at(&mut bench, write);
    }
    assert_eq!(count(&bench, "media_cache_writes") + count(&bench, "streamed_bytes") / 32_768, 100);
    assert_eq!(count(&bench, "streamed_bytes"), 70 * 32_768);
    bench.run_to(bench.now + 10_000 * MS);
    // The bands of the beginning, and the one that the stream stopped in.
    assert_eq!((count(&bench, "media_cache_extents"), count(&bench, "bands_cleaned")), (0, 2));
}

#[test]
fn a_write_at_the_pointer_of_a_zone_streams_and_any_other_does_not() {
    let mut bench = bench("smr = \"host-aware\"\nsmr_filled = \"0 %\"\n");
    for (sector, streamed) in [(0, 4096), (8, 8192), (24, 8192), (16, 12_288), (3 * CYLINDER, 16_384)] {
        let write = bench.write(bench.now, sector);
        done_at(&mut bench, write);
        assert_eq!(count(&bench, "streamed_bytes"), streamed, "{sector}");
    }
    assert_eq!(count(&bench, "media_cache_live_bytes"), 4096, "what came before its turn");
    bench.run_to(bench.now + 10_000 * MS);
    // The pointer stands behind what was cleaned: 32 sectors, read but for the last eight, and written.
    assert_eq!(count(&bench, "cleaning_written_bytes"), 32 * 512);
    let write = bench.write(bench.now, 32);
    done_at(&mut bench, write);
    assert_eq!(count(&bench, "streamed_bytes"), 20_480);
    // A trim of the whole zone begins it again.
    let trim = bench.submit(bench.now, Op::Trim, 0, CYLINDER as u32, false);
    done_at(&mut bench, trim);
    let write = bench.write(bench.now, 0);
    done_at(&mut bench, write);
    assert_eq!(count(&bench, "streamed_bytes"), 24_576);
}

#[test]
fn a_host_resets_the_zones_of_a_trim_one_after_the_other() {
    let mut bench = bench("smr = \"host-aware\"\n");
    for (first, count, zones) in [(0, 1, 1), (0, 3, 3), (1, 3, 2)] {
        let begun = bench.now;
        let trim = bench.submit(begun, Op::Trim, first, count * CYLINDER as u32, false);
        assert_eq!(done_at(&mut bench, trim) - begun, zones * CACHE_OVERHEAD, "{count} zones from {first}");
    }
    assert_eq!(
        ["host-aware", "drive-managed"].map(|smr| self::bench(&format!("smr = \"{smr}\"\n")).disk.takes_trims()),
        [true, false]
    );
}

#[test]
fn a_full_media_cache_makes_writes_wait_for_a_band() {
    let mut bench = bench("");
    let writes: Vec<u64> = (0..40).map(|n| bench.write(0, 10 * n * CYLINDER)).collect();
    let times: Vec<u64> = writes.iter().map(|write| done_at(&mut bench, *write)).collect();
    assert!(times[14] < 50 * MS, "the first wait for an append: {times:?}");
    assert!(times[39] > times[14] + 20 * 35 * MS, "the others for a band each: {times:?}");
    assert!(count(&bench, "blocked_writes") > 20 && count(&bench, "bands_cleaned") > 20);
}

#[test]
fn a_volatile_cache_acknowledges_and_a_flush_waits_for_the_media_cache() {
    let mut bench = bench("wce = \"on\"\n");
    let write = bench.write(0, 500 * CYLINDER);
    let flush = bench.flush(MS);
    assert_eq!(done_at(&mut bench, write), CACHE_OVERHEAD + PORT);
    // The head stands at sector 0 when the write comes; then the entry.
    let appended = 8 * SECTOR_TIME + REVOLUTION;
    assert_eq!(done_at(&mut bench, flush), appended + CACHE_OVERHEAD);
    let times = bench.done.iter().find(|done| done.token == flush).expect("it is done").times;
    assert_eq!((times.transfer.0, times.queue.0), (appended - MS, 0), "it waited for the media");
    let forced = bench.submit(bench.now, Op::Write, 0, 8, true);
    assert!(done_at(&mut bench, forced) > appended + REVOLUTION);
}

#[test]
fn impossible_values_are_refused() {
    let refused = |set: &str| {
        let mut values: toml::Table = SMR.parse().expect("TOML");
        values.extend(set.parse::<toml::Table>().expect("TOML"));
        read_params(&values.to_string()).expect_err(set).key
    };
    for (set, key) in [
        ("smr_cache_size = \"1024000 B\"", "smr_cache_size"),
        ("smr_band = \"1000 B\"", "smr_band"),
        ("smr_buffer = \"512000 B\"", "smr_buffer"),
        ("smr_clean_from = \"90 %\"\nsmr_clean_full = \"80 %\"", "smr_clean_from"),
        ("smr_filled = \"2\"", "smr_filled"),
        ("capacity = \"1015808512 B\"", "capacity"),
        ("actuators = 2\nexposes = \"one\"", "actuators"),
    ] {
        assert!(refused(set).ends_with(key), "{set}: {}", refused(set));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Reads and writes of any kind are answered once; what the media cache holds is what was written and not cleaned;
    /// left alone, the drive empties it and comes to rest.
    #[test]
    fn everything_is_answered_and_the_media_cache_empties(
        host_aware in any::<bool>(), back in any::<bool>(), copy in any::<bool>(),
        ios in prop::collection::vec((0_u8..8, 0_u64..40, 0_u64..250, 1_u32..300, 0_u64..40 * MS), 1..60),
    ) {
        let on = |on: bool| if on { "on" } else { "off" };
        let managed = if host_aware { "smr = \"host-aware\"\nsmr_filled = \"0 %\"\n" } else { "" };
        let mut bench = bench(&format!(
            "{managed}wce = \"{}\"\nsmr_band_copy = \"{}\"\ncapacity = \"1014784000 B\"\nsmr_stream_from = \"64 KiB\"\n\
             smr_idle_delay = \"20 ms\"\nqueue_tags = 8\n", on(back), on(copy),
        ));
        let (mut written, mut last) = (0, 0);
        for (kind, band, at, count_of, gap) in &ios {
            let sector = if *kind == 7 { last } else { band * CYLINDER + 8 * at };
            let count_of = count_of.next_multiple_of(8);
            last = sector + u64::from(count_of);
            let op = match kind { 0 | 1 => Op::Read, 2 => Op::Flush, _ => Op::Write };
            written += if op == Op::Write { u64::from(count_of) * 512 } else { 0 };
            bench.submit(bench.now + gap, op, sector, if op == Op::Flush { 0 } else { count_of }, *kind == 3);
            prop_assert!(count(&bench, "media_cache_live_bytes") <= count(&bench, "media_cache_used_bytes"));
            prop_assert!(count(&bench, "media_cache_used_bytes") <= 8_192_000);
        }
        while let Some(at) = bench.disk.wake() {
            bench.run_to(at.0);
        }
        prop_assert_eq!(bench.done.len(), ios.len());
        prop_assert!(bench.done.iter().all(|done| done.fault.is_none()));
        prop_assert_eq!(count(&bench, "media_cache_written_bytes") + count(&bench, "streamed_bytes"), written);
        prop_assert_eq!(count(&bench, "appended_bytes"), count(&bench, "media_cache_written_bytes"));
        prop_assert_eq!((count(&bench, "media_cache_live_bytes"), count(&bench, "media_cache_extents")), (0, 0));
    }
}
