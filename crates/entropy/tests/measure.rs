//! Is what is measured what is there?

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use hotband_entropy::{Ask, Compressor, Control, EXTENT, Measured, Press, Report, Sample, measure};
use hotband_units::Bytes;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;

fn tree() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

/// Bytes of which about `share` are noise, in runs of 64.
fn mixed(len: usize, share: f64, seed: u64) -> Vec<u8> {
    let (mut bytes, mut generator) = (noise(len, seed), Xoshiro256PlusPlus::seed_from_u64(seed + 1));
    for run in bytes.chunks_mut(64) {
        if generator.next_u64() as f64 / u64::MAX as f64 > share {
            run.fill(b'-');
        }
    }
    bytes
}

fn run(ask: &Ask) -> (Measured, Value) {
    let measured = measure(ask, &Control::default()).expect("the paths exist").expect("nobody stops it");
    let report = serde_json::from_str(&Report::new(ask, &measured).to_json()).unwrap();
    (measured, report)
}

fn all_of(path: &Path) -> Ask {
    Ask { sample: Sample::All, ..Ask::of(vec![path.to_owned()]) }
}

fn report_of(path: &Path) -> Value {
    run(&all_of(path)).1
}

#[test]
fn zeros_and_noise_are_the_ends() {
    for (data, low, high) in [(vec![0; 3_000_000], 0.0005, 0.002), (noise(3_000_000, 1), 1.0, 1.0)] {
        let tree = tree();
        fs::write(tree.path().join("data"), &data).unwrap();
        let report = report_of(tree.path());
        let entropy = report["archive"]["deflate"]["entropy"].as_f64().unwrap();
        assert!((low..=high).contains(&entropy), "{entropy}");
        let bin = if low == 1.0 { 99 } else { 0 };
        for chunks in report["chunks"].as_array().unwrap().iter().filter(|of| of["size"] == 65_536) {
            assert_eq!(chunks["histogram"][bin], 3_000_000_u64.div_ceil(65_536), "{chunks}");
        }
    }
}

#[test]
fn the_archive_is_one_stream_over_all_files() {
    let tree = tree();
    let text = mixed(40_000, 0.3, 1);
    // The same 40 kB many times: only a window that reaches back over the ends of files finds them.
    let short = &text[..20_000];
    for file in 0..200 {
        fs::write(tree.path().join(format!("{file:03}")), short).unwrap();
    }
    let report = report_of(tree.path());
    let whole = Press::default().archive(&[], &short.repeat(200)) as f64 / 4e6;
    let entropy = report["archive"]["deflate"]["entropy"].as_f64().unwrap();
    assert!(whole < 0.1, "the repetition is found: {whole}");
    assert!((entropy - whole).abs() < 0.002, "{entropy} {whole}");
}

#[test]
fn chunks_are_those_of_the_files() {
    let tree = tree();
    let files = [mixed(300_000, 0.2, 1), mixed(70_001, 0.6, 2), mixed(5, 1.0, 3), Vec::new()];
    for (index, data) in files.iter().enumerate() {
        fs::write(tree.path().join(index.to_string()), data).unwrap();
    }
    let report = report_of(tree.path());
    let mut press = Press::default();
    for of in report["chunks"].as_array().unwrap() {
        let compressor = Compressor::ALL.into_iter().find(|one| of["compressor"] == one.name()).unwrap();
        let (mut after, mut histogram, mut bytes) = (0, [0_u64; 100], [0_u64; 100]);
        for chunk in files.iter().flat_map(|file| file.chunks(of["size"].as_u64().unwrap() as usize)) {
            let (size, len) = (press.chunk(compressor, chunk), chunk.len() as u64);
            let bin = (size * 100 / len).min(99) as usize;
            after += size;
            histogram[bin] += 1;
            bytes[bin] += len;
        }
        assert_eq!(of["mean"].as_f64().unwrap(), after as f64 / 370_006.0);
        assert_eq!(of["histogram"], Value::from(histogram.to_vec()));
        assert_eq!(of["histogram_bytes"], Value::from(bytes.to_vec()));
    }
    assert_eq!(report["chunks"].as_array().unwrap().len(), 15);
}

#[test]
fn holes_links_and_special_files_are_counted_and_not_read() {
    let tree = tree();
    let sparse = File::create(tree.path().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    sparse.write_all_at(&noise(8192, 1), 1 << 39).unwrap();
    fs::hard_link(tree.path().join("sparse"), tree.path().join("again")).unwrap();
    symlink("sparse", tree.path().join("link")).unwrap();
    let folder = File::open(tree.path()).unwrap();
    rustix::fs::mkfifoat(&folder, "fifo", rustix::fs::Mode::RUSR).unwrap();
    let report = report_of(tree.path());
    assert_eq!((&report["files"], &report["bytes"], &report["bytes_read"]), (&1.into(), &8192.into(), &8192.into()));
    let skipped = &report["skipped"];
    assert_eq!((&skipped["links"], &skipped["special"]), (&2.into(), &1.into()));
    assert_eq!((&skipped["hard_links"], &skipped["symbolic_links"]), (&1.into(), &1.into()));
    assert_eq!(skipped["holes_bytes"], (1_u64 << 40) - 8192);
    assert_eq!(report["unreadable"], 0);
}

#[test]
fn a_path_is_a_file_a_link_to_one_or_nothing() {
    let tree = tree();
    let file = tree.path().join("file");
    fs::write(&file, noise(5000, 1)).unwrap();
    symlink("file", tree.path().join("link")).unwrap();
    for path in [file.clone(), tree.path().join("link")] {
        let report = report_of(&path);
        assert_eq!((&report["files"], &report["bytes_read"]), (&1.into(), &5000.into()));
    }
    let twice = Ask { sample: Sample::All, ..Ask::of(vec![file, tree.path().to_owned(), tree.path().join("link")]) };
    assert_eq!(run(&twice).1["bytes"], 5000);
    let error = measure(&all_of(&tree.path().join("none")), &Control::default()).unwrap_err();
    assert_eq!(error.field, "PATH");
    assert!(error.value.ends_with("none") && error.accepted.contains("no such file"), "{error}");
}

#[test]
fn an_empty_tree_has_no_entropy() {
    let tree = tree();
    fs::create_dir(tree.path().join("folder")).unwrap();
    fs::write(tree.path().join("empty"), b"").unwrap();
    let report = report_of(tree.path());
    assert_eq!((&report["files"], &report["bytes"]), (&1.into(), &0.into()));
    assert_eq!(report["archive"]["deflate"]["entropy"], Value::Null);
    assert_eq!(report["archive"]["deflate"]["interval"], Value::Null);
    assert_eq!(report["chunks"][0]["mean"], Value::Null);
}

/// Runs `work` in a thread that may do no more than an ordinary user: root may read everything.
fn unprivileged<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::getuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65_534);
                rustix::thread::set_thread_res_uid(None, nobody, None).expect("root may become anybody");
            }
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn what_cannot_be_read_is_counted() {
    let tree = tree();
    let path = |name: &str| -> PathBuf { tree.path().join(name) };
    fs::create_dir(path("folder")).unwrap();
    fs::write(path("folder/inside"), noise(5000, 1)).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(path(name), noise(600_000, 2)).unwrap();
    }
    let open = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(tree.path().to_owned(), 0o755);
    open(path("b"), 0o000);
    open(path("folder"), 0o000);
    let report = unprivileged(|| report_of(tree.path()));
    assert_eq!((&report["unreadable"], &report["files"]), (&2.into(), &3.into()));
    assert_eq!((&report["bytes"], &report["bytes_read"]), (&1_800_000.into(), &1_200_000.into()));
    let examples = report["unreadable_examples"].as_array().unwrap();
    let example = |index: usize| examples[index].as_str().unwrap();
    assert!(example(0).contains("/folder: ") && example(1).contains("/b: "), "{examples:?}");
    open(path("folder"), 0o755);
}

#[test]
fn the_report_is_the_same_whatever_the_number_of_threads() {
    let tree = tree();
    for file in 0..40_u64 {
        fs::write(tree.path().join(file.to_string()), mixed(300_000, file as f64 / 40.0, file)).unwrap();
    }
    let texts = [Sample::All, Sample::Of(Bytes(8_000_000))].map(|sample| {
        let of = |jobs| {
            let ask = Ask { sample, jobs: Some(jobs), ..Ask::of(vec![tree.path().to_owned()]) };
            run(&ask.chunks(&["4k".to_owned(), "64k".to_owned()]).unwrap()).1.to_string()
        };
        let alone = of(1);
        assert!(of(3) == alone, "{alone}");
        // `make test-long` sets HOTBAND_LONG.
        assert!(std::env::var_os("HOTBAND_LONG").is_none() || of(7) == alone, "{alone}");
        alone
    });
    assert!(texts[0] != texts[1], "the sample is no sample");
}

#[test]
fn a_sample_says_what_the_whole_is() {
    let tree = tree();
    for file in 0..60_u64 {
        // Runs of files of one kind, small and large.
        let (len, share) = (if file % 3 == 0 { 2_000_000 } else { 30_000 }, (file / 10) as f64 / 6.0);
        fs::write(tree.path().join(format!("{file:02}")), mixed(len, share, file)).unwrap();
    }
    let of = |compressor: &str, chunk: &str, sample, seed| {
        let ask = Ask { sample, seed, ..Ask::of(vec![tree.path().to_owned()]) };
        let report = run(&ask.compressors(&[compressor.to_owned()]).unwrap().chunks(&[chunk.to_owned()]).unwrap()).1;
        let read = report["bytes_read"].as_u64().unwrap();
        if let Some(chosen) = report["sample"]["extents_chosen"].as_u64() {
            assert_eq!(report["sample"]["extents_read"], chosen);
            assert!(read + EXTENT > chosen * EXTENT && read < chosen * 2 * EXTENT, "{chosen} {read}");
        }
        let of = if chunk == "none" { &report["archive"]["deflate"] } else { &report["chunks"][0] };
        let value = of.get("entropy").or(of.get("mean")).unwrap().as_f64().unwrap();
        (value, of["interval"][0].as_f64().unwrap()..=of["interval"][1].as_f64().unwrap())
    };
    for (compressor, chunk, seeds) in [("lz4", "4k", 40), ("deflate", "none", 10)] {
        let (truth, interval) = of(compressor, chunk, Sample::All, 1);
        assert_eq!((*interval.start(), *interval.end()), (truth, truth));
        let of_seed = |seed| of(compressor, chunk, Sample::Of(Bytes(10_000_000)), seed).1;
        let held = (0..seeds).filter(|&seed| of_seed(seed).contains(&truth)).count() as u64;
        // 95 of 100 are expected to.
        assert!(held * 10 >= seeds * 9, "{compressor}: {held} of {seeds}");
    }
}

#[test]
fn a_sample_knows_what_came_before_it() {
    let tree = tree();
    let noise = noise(30_000, 1);
    for file in 0..700 {
        fs::write(tree.path().join(format!("{file:03}")), &noise).unwrap();
    }
    let ask = Ask { sample: Sample::Of(Bytes(1)), ..Ask::of(vec![tree.path().to_owned()]) };
    let report = run(&ask.compressors(&["deflate".to_owned()]).unwrap().chunks(&["none".to_owned()]).unwrap()).1;
    // Every extent but the first of the tree repeats what the window holds; alone, a tenth of it would be new.
    let entropy = report["archive"]["deflate"]["entropy"].as_f64().unwrap();
    assert!(entropy < 0.02, "{entropy}");
    assert!(report["sample"]["extents_read"].as_u64().unwrap() * 2 < report["sample"]["extents"].as_u64().unwrap());
}

#[test]
fn a_stopped_measurement_is_not_begun() {
    let tree = tree();
    fs::write(tree.path().join("a"), noise(10_000_000, 1)).unwrap();
    let control = Control::default();
    control.stop();
    assert!(measure(&all_of(tree.path()), &control).unwrap().is_none());
}

#[test]
fn a_measurement_that_is_stopped_keeps_what_it_has_and_says_how_little_that_is() {
    let tree = tree();
    let extents = 400;
    fs::write(tree.path().join("a"), mixed((extents * EXTENT) as usize, 0.5, 1)).unwrap();
    let (ask, control) = (Ask { jobs: Some(2), ..all_of(tree.path()) }, Control::default());
    let measured = thread::scope(|scope| {
        let thread = scope.spawn(|| measure(&ask, &control));
        // It takes seconds; stopped as soon as the first extent is done.
        while control.progress()[3] == 0 && !thread.is_finished() {
            thread::yield_now();
        }
        control.stop();
        thread.join().unwrap().unwrap().expect("an extent is done")
    });
    assert!(measured.interrupted);
    assert!(measured.tally.items < extents && measured.tally.bytes == measured.tally.items * EXTENT);
    let report: Value = serde_json::from_str(&Report::new(&ask, &measured).to_json()).unwrap();
    assert_eq!(report["interrupted"], true);
    let of = &report["archive"]["deflate"];
    let share = measured.tally.items as f64 / extents as f64;
    let (low, high) = (of["interval"][0].as_f64().unwrap(), of["interval"][1].as_f64().unwrap());
    let entropy = of["entropy"].as_f64().unwrap();
    assert!((low - entropy * share).abs() < 1e-9 && (high - low - (1.0 - share)).abs() < 1e-9, "{of}");
}
