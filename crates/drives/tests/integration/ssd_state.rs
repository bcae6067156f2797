//! What does a solid-state drive hold, and what does it say about itself, however it was written: timed or fast,
//! small or large, to the end of its life?

use crate::common::ssd;
use crate::common::ssd::{BLOCK_PAGES, Bench, MS, PAGE, PAGES, PASS_PAGES, SplitMix, untimed, untimed_trim};
use hotband_drives::parts::ftl::PAGE_UNITS;
use hotband_machine::{Carrier, Drive, Entropy, Fault, Op, Smart, UntimedWrite};

/// Sequential twice in 128 KiB, then random, with a trim now and then; data of changing entropy.
fn sequence(trims: bool, random: u64) -> Vec<UntimedWrite> {
    let mut draw = SplitMix(3);
    let mut entropy = move || Entropy::of(0.2 + 0.8 * (draw.below(1000) as f64 / 1000.0));
    let mut place = SplitMix(4);
    let mut all = Vec::new();
    for page in (0..2 * PAGES).step_by(32) {
        all.push(untimed(page % PAGES, 32, entropy()));
    }
    for n in 0..random {
        let page = place.below(PAGES);
        if trims && n % 16 == 0 {
            let count = (1 + place.below(64)).min(PAGES - page);
            all.push(untimed_trim(page, count));
        } else {
            let count = if n % 7 == 0 { (1 + place.below(8)).min(PAGES - page) } else { 1 };
            all.push(untimed(page, count, entropy()));
        }
    }
    all
}

/// The same as commands, one after the other.
fn timed(bench: &mut Bench, writes: &[UntimedWrite]) {
    for write in writes {
        let op = if write.trim { Op::Trim } else { Op::Write };
        let now = bench.now;
        let token = bench.submit_data(now, op, write.offset, u64::from(write.len), false, write.entropy);
        bench.end_of(token);
        bench.done.clear();
    }
}

/// Places of pages; whether they are in the buffer, and their sizes; attributes; levels.
type State = (Vec<Option<(u32, u32)>>, Vec<(bool, u32)>, Smart, [u64; 3]);

/// Everything that can be asked of a drive's mapping.
fn state(bench: &Bench) -> State {
    let ftl = bench.ssd.ftl();
    ftl.check().expect("it adds up");
    let places = (0..PAGES).map(|page| ftl.place_of(page)).collect();
    let sizes = (0..PAGES).map(|page| (ftl.is_buffered(page), ftl.size_of(page))).collect();
    let levels = ["free_blocks", "used_bytes", "write_buffer_bytes"].map(|name| bench.level(name));
    (places, sizes, bench.smart(), levels)
}

#[test]
fn writing_fast_leaves_the_same_state_as_writing_in_time() {
    let sets = [
        "",
        "compression = \"on\"",
        "plp = \"off\"\nparity = \"on\"\nmapping_overhead = \"1 %\"",
        "gc_separation = \"hot-cold\"\ngc_victims = \"cost-benefit\"",
    ];
    for set in sets {
        for trims in [false, true] {
            let writes = sequence(trims, PAGES);
            let (mut fast, mut slow) = (Bench::new(set), Bench::new(set));
            for batch in writes.chunks(1000) {
                fast.ssd.write_untimed(batch);
            }
            timed(&mut slow, &writes);
            assert!(slow.now > 0 && fast.now == 0, "one took time, the other none");
            assert!(fast.count("erases") > 100, "collection was at work");
            let (fast, slow) = (state(&fast), state(&slow));
            assert_eq!(fast.0, slow.0, "{set}: places of pages");
            assert_eq!(fast.1, slow.1, "{set}: sizes of pages, and the write buffer");
            assert_eq!((fast.2, fast.3), (slow.2, slow.3), "{set}: SMART and levels");
        }
    }
}

#[test]
fn batches_of_any_length_leave_the_same_state() {
    let writes = sequence(true, 5000);
    let with = |batch: usize| {
        let mut bench = Bench::new("compression = \"on\"");
        writes.chunks(batch).for_each(|batch| bench.ssd.write_untimed(batch));
        state(&bench)
    };
    let one = with(1);
    assert!(one == with(64) && one == with(1000));
}

#[test]
fn contents_that_are_carried_into_a_new_drive_go_on_as_those_that_stayed() {
    for set in ["", "compression = \"on\"", "gc_separation = \"hot-cold\"\ngc_victims = \"cost-benefit\""] {
        let writes = sequence(true, 2 * PAGES);
        let (before, after) = writes.split_at(writes.len() / 2);
        let (mut stayed, mut new) = (Bench::new(set), Bench::new(set));
        stayed.ssd.write_untimed(before);
        let mut contents = Vec::new();
        stayed.ssd.carry_contents(&mut Carrier::Out(&mut contents));
        new.ssd.carry_contents(&mut Carrier::In(&contents));
        assert_eq!(state(&new), state(&stayed), "{set}");
        for bench in [&mut stayed, &mut new] {
            timed(bench, after);
        }
        assert_eq!(state(&new), state(&stayed), "{set}: after more writes");
        assert_eq!(new.now, stayed.now, "{set}: they took as long");
    }
}

#[test]
fn contents_that_are_cut_or_name_what_a_drive_does_not_have_are_noticed() {
    let mut bench = Bench::filled("");
    let mut contents = Vec::new();
    bench.ssd.carry_contents(&mut Carrier::Out(&mut contents));
    let is_taken = |contents: &[u8]| {
        let (mut new, mut carrier) = (Bench::new(""), Carrier::In(contents));
        new.ssd.carry_contents(&mut carrier);
        carrier.is_taken() && new.ssd.has_valid_contents()
    };
    assert!(is_taken(&contents));
    for length in (0..contents.len()).step_by(997) {
        assert!(!is_taken(&contents[..length]), "cut at {length}");
    }
    assert!(!is_taken(&[&contents[..], &[0]].concat()), "a byte too many");
    let map = PAGES as usize * 4;
    // A place in the map, and of the first block its valid units, its neighbours and its state.
    for (at, what) in [(0, "place"), (map, "units"), (map + 12, "neighbour"), (map + 28, "state")] {
        let mut damaged = contents.clone();
        damaged[at..at + 4].copy_from_slice(&[0x11, 0x11, 0x11, 0x31]);
        assert!(!is_taken(&damaged), "{what}");
    }
}

#[test]
fn a_drive_with_the_enlarged_contents_of_its_model_takes_as_long_as_one_that_was_written() {
    let set = "capacity = \"2 GiB\"\nblock = \"4 MiB\"\nwrite_buffer = \"4 MiB\"";
    let fill = |drive: &mut dyn Drive| {
        let pages = drive.capacity().0 / PAGE;
        (0..2 * pages / 64).for_each(|n| drive.write_untimed(&[untimed(64 * n % pages, 64, Entropy::INCOMPRESSIBLE)]));
        let mut draw = SplitMix(5);
        let writes: Vec<UntimedWrite> =
            (0..pages).map(|_| untimed(draw.below(pages), 1, Entropy::INCOMPRESSIBLE)).collect();
        drive.write_untimed(&writes);
        pages
    };
    let (mut written, mut enlarged) = (Bench::new(set), Bench::new(set));
    let pages = fill(&mut written.ssd);
    let mut model = enlarged.ssd.model(512 << 20).expect("a drive of plain pages");
    assert_eq!(fill(&mut *model), pages / 4);
    enlarged.ssd.enlarge_contents(&mut *model);
    assert_eq!(enlarged.smart().host_bytes, written.smart().host_bytes);
    let took = [&mut written, &mut enlarged].map(|bench| {
        let (mut draw, mut latencies) = (SplitMix(6), Vec::new());
        for number in 0..pages / 2 {
            let now = bench.now;
            let (op, pages_of) = if number % 4 == 0 { (Op::Read, 4) } else { (Op::Write, 1) };
            let token = bench.submit(now, op, draw.below(pages - 4) * PAGE, pages_of * PAGE, false);
            latencies.push(bench.end_of(token) - now);
            bench.done.clear();
        }
        latencies.sort_unstable();
        let mean = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
        (mean, latencies[latencies.len() * 99 / 100] as f64)
    });
    let [written, enlarged] = took;
    assert!((enlarged.0 / written.0 - 1.0).abs() < 0.01, "mean {} ns, written {} ns", enlarged.0, written.0);
    assert!((enlarged.1 / written.1 - 1.0).abs() < 0.03, "p99 {} ns, written {} ns", enlarged.1, written.1);
}

#[test]
fn drives_no_larger_than_a_model_have_none() {
    let bench = Bench::new("");
    assert!(bench.ssd.model(64 << 20).is_none() && bench.ssd.model(32 << 20).is_some());
}

/// Write amplification of the flash as SMART shows it, over a drive write of random pages after one to settle.
fn amplification(scale: u64) -> f64 {
    let product = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog/drives/s4500-960.toml");
    let text = std::fs::read_to_string(product).expect("the catalog is where the tests look for it");
    let product = hotband_drives::Product::read("s4500-960", "s4500-960.toml", &text).unwrap();
    let set: toml::Table = format!("scale = {scale}").parse().unwrap();
    let params = hotband_drives::SsdParams::read(&product, &set, "test", "set").unwrap();
    let mut ssd = hotband_drives::Ssd::new(params);
    let pages = ssd.capacity().0 / PAGE;
    (0..pages / 32).for_each(|n| ssd.write_untimed(&[untimed(32 * n, 32, Entropy::INCOMPRESSIBLE)]));
    let mut random = SplitMix(scale);
    let mut write = |ssd: &mut hotband_drives::Ssd, count: u64| {
        let mut batch = Vec::with_capacity(4096);
        for _ in 0..count.div_ceil(4096) {
            batch.clear();
            batch.extend((0..4096).map(|_| untimed(random.below(pages), 1, Entropy::INCOMPRESSIBLE)));
            ssd.write_untimed(&batch);
        }
    };
    write(&mut ssd, pages);
    let before = ssd.smart().unwrap();
    write(&mut ssd, pages);
    let after = ssd.smart().unwrap();
    (after.flash_bytes - before.flash_bytes) as f64 / (after.host_bytes - before.host_bytes) as f64
}

#[test]
fn a_smaller_drive_has_the_same_write_amplification() {
    // The whole drive takes minutes: HOTBAND_FULL_SCALE=1 in the environment adds it. `make test-long` sets HOTBAND_LONG.
    let is_set = |name| std::env::var_os(name).is_some();
    let scales: &[u64] = match (is_set("HOTBAND_FULL_SCALE"), is_set("HOTBAND_LONG")) {
        (true, _) => &[1, 16, 64, 256],
        (false, true) => &[16, 64, 256],
        (false, false) => &[64, 256],
    };
    let found: Vec<f64> = scales.iter().map(|scale| amplification(*scale)).collect();
    println!("scale {scales:?}: write amplification {found:.3?}");
    for (scale, one) in scales.iter().zip(&found) {
        let error = one / found[0] - 1.0;
        assert!(error.abs() < 0.02, "scale {scale}: {one:.3}, expected {:.3}", found[0]);
    }
}

/// Flash bytes that SMART explains: what the host wrote after compression, relocated data and metadata.
fn explained(smart: &Smart) -> u64 {
    smart.stored_bytes + smart.relocated_bytes + smart.metadata_bytes
}

#[test]
fn smart_accounts_for_every_byte_of_flash() {
    let parity = "parity = \"on\"\nmapping_overhead = \"2 %\"";
    for set in ["", "compression = \"on\"\nplp = \"off\"", parity] {
        let mut bench = Bench::new(set);
        let open = |bench: &Bench| bench.ssd.ftl().open_units() * 16;
        for batch in sequence(true, PAGES).chunks(997) {
            bench.ssd.write_untimed(batch);
            let smart = bench.smart();
            assert_eq!(smart.flash_bytes + open(&bench), explained(&smart), "{set}: flash bytes and open passes");
            assert!(open(&bench) < 3 * PASS_PAGES * PAGE);
        }
        let smart = bench.smart();
        let written: u64 = sequence(true, PAGES).iter().filter(|w| !w.trim).map(|w| u64::from(w.len)).sum();
        let trimmed: u64 = sequence(true, PAGES).iter().filter(|w| w.trim).map(|w| u64::from(w.len)).sum();
        assert_eq!((smart.host_bytes, smart.trimmed_bytes), (written, trimmed));
        let coalesced = bench.count("coalesced_bytes");
        if set.is_empty() {
            // Not compressed: everything is stored but what is in the buffer, was overwritten or trimmed there.
            let held = bench.level("write_buffer_bytes");
            let least = written - coalesced - held - trimmed;
            assert!((least..=written - coalesced).contains(&smart.stored_bytes), "{} of {written}", smart.stored_bytes);
        }
        if set == parity {
            // A pass in four, and 2 % of all.
            let share = smart.flash_bytes as f64 / (smart.stored_bytes + smart.relocated_bytes) as f64;
            assert!((share / (4.0 / 3.0 * 1.02) - 1.0).abs() < 0.001, "{share}");
        }
    }
}

#[test]
fn the_parity_and_tables_that_are_programmed_are_those_that_smart_shows() {
    // Timed, from the times that dies are busy: nothing but programs, of 1,016,384 ns each, 16 KiB.
    let mut bench = Bench::new("parity = \"on\"\nmapping_overhead = \"2 %\"");
    let writes: Vec<_> = (0..PAGES / 2).step_by(32).map(|page| untimed(page, 32, Entropy::INCOMPRESSIBLE)).collect();
    timed(&mut bench, &writes);
    bench.run_to(bench.now + 50 * MS);
    let programs = bench.count("busy_ns") * 4 / ssd::PROGRAM;
    let shown = bench.smart().flash_bytes / (PASS_PAGES * PAGE);
    assert!(programs.abs_diff(shown) <= 4, "{programs} programmed, SMART shows {shown}");
}

#[test]
fn percentage_used_is_the_mean_erase_count_of_those_rated() {
    let mut bench = Bench::filled("rated_cycles = 100");
    let mut random = SplitMix(5);
    bench.fill((0..4 * PAGES).map(|_| random.below(PAGES)));
    let smart = bench.smart();
    let blocks = PAGES / BLOCK_PAGES * 6 / 5;
    let erases = bench.count("erases") as f64 / blocks as f64;
    assert!((smart.erases_mean / erases - 1.0).abs() < 0.01, "{} and {erases}", smart.erases_mean);
    assert!((smart.percentage_used - smart.erases_mean).abs() < 1e-9, "of 100 cycles");
    assert!(smart.erases_max as f64 >= smart.erases_mean && smart.bad_blocks == 0);
}

#[test]
fn a_drive_at_the_end_of_its_life_takes_no_more_writes_and_still_reads() {
    let mut bench = Bench::filled("rated_cycles = 10\nbad_block_reserve = \"2 %\"");
    let mut random = SplitMix(6);
    while bench.level("write_protected") == 0 {
        bench.fill((0..64).map(|_| random.below(PAGES)));
        assert!(bench.smart().percentage_used < 200.0, "it never ends");
    }
    let smart = bench.smart();
    assert!(smart.bad_blocks > 3 && smart.percentage_used > 60.0, "{smart:?}");
    bench.fill(0..64);
    assert_eq!(bench.smart().host_bytes, smart.host_bytes, "what is refused fast is not counted as written either");
    let write = bench.write(0, 0, 1);
    bench.end_of(write);
    assert_eq!(bench.done_of(write).fault, Some(Fault::WriteProtected));
    let on_flash =
        (0..PAGES).find(|page| bench.ssd.ftl().place_of(*page).is_some() && !bench.ssd.ftl().is_buffered(*page));
    let read = bench.read(MS, on_flash.expect("data is still there"));
    bench.end_of(read);
    assert_eq!(bench.done_of(read).fault, None);
    let trim = bench.submit(2 * MS, Op::Trim, 0, PAGE, false);
    bench.end_of(trim);
    assert_eq!(bench.done_of(trim).fault, None);
    bench.run_to(100_000 * MS);
    assert_eq!(bench.ssd.wake(), None, "it comes to rest");
    bench.ssd.ftl().check().expect("it adds up");
}

#[test]
fn compressed_pages_take_their_share_and_the_rest_is_over_provisioning() {
    let with = |entropy: f64| {
        let mut bench = Bench::new("compression = \"on\"");
        let mut random = SplitMix(7);
        let entropy = Entropy::of(entropy);
        let writes: Vec<_> = (0..PAGES).map(|page| untimed(page, 1, entropy)).collect();
        bench.ssd.write_untimed(&writes);
        let writes: Vec<_> = (0..4 * PAGES).map(|_| untimed(random.below(PAGES), 1, entropy)).collect();
        bench.ssd.write_untimed(&writes);
        let mean = (0..PAGES).map(|page| u64::from(bench.ssd.ftl().size_of(page))).sum::<u64>() as f64 / PAGES as f64;
        let smart = bench.smart();
        (mean / f64::from(PAGE_UNITS), smart.flash_bytes as f64 / smart.host_bytes as f64)
    };
    let (whole, half) = (with(1.0), with(0.5));
    assert!((whole.0 - 1.0).abs() < 1e-9 && (half.0 - 0.5).abs() < 0.005, "{whole:?} {half:?}");
    // Half the data, and over-provisioning of 140 % for 20 %: less than half of half.
    assert!(half.1 < 0.25 * whole.1 && half.1 > 0.5, "{whole:?} {half:?}");
}
