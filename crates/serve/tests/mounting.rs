//! Does a volume that is mounted behave as a file and a block device, and does it go cleanly, also with its server?
//!
//! Skips, and says so, where nothing can be mounted: only an administrator may, of a kernel with FUSE and loop devices.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hotband_engine::Asked;
use hotband_serve::fuse::{Mounted, mount};
use hotband_serve::{Answer, Fixed, Memory, Model, Options, Service, Store, VolumeTold, loopdev};
use hotband_units::{Instant, Span};
use rustix::fs::{FallocateFlags, SeekFrom};

const MIB: u64 = 1 << 20;

/// One test at a time mounts.
static ALONE: Mutex<()> = Mutex::new(());

/// Why nothing can be mounted here.
fn missing() -> Option<&'static str> {
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok();
    [
        (rustix::process::geteuid().is_root(), "not an administrator"),
        (OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok(), "no FUSE"),
        (Path::new("/dev/loop-control").exists() && runs("losetup"), "no loop devices"),
    ]
    .into_iter()
    .find_map(|(is_there, what)| (!is_there).then_some(what))
}

macro_rules! skip_unless_mountable {
    () => {
        if let Some(what) = missing() {
            eprintln!("skipped: {what}");
            return;
        }
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    };
}

/// A drive with blocks of 4 KiB, which counts the I/Os under way.
struct Counted {
    drive: Fixed,
    trims: bool,
    under_way: usize,
    most: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Model for Counted {
    fn now(&self) -> Instant {
        self.drive.now()
    }
    fn volumes(&self) -> Vec<VolumeTold> {
        let told = |volume| VolumeTold { block: 4096, trims: self.trims, ..volume };
        self.drive.volumes().into_iter().map(told).collect()
    }
    fn submit(&mut self, at: Instant, asked: &Asked, token: u64) -> u64 {
        self.under_way += 1;
        self.most.fetch_max(self.under_way, Ordering::Relaxed);
        self.asked.lock().expect("no test panics with it").push(*asked);
        self.drive.submit(at, asked, token)
    }
    fn wake(&self) -> Option<Instant> {
        self.drive.wake()
    }
    fn advance(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        let before = answers.len();
        self.drive.advance(now, answers);
        self.under_way -= answers.len() - before;
    }
}

struct Served {
    service: Arc<Service>,
    mounted: Mounted,
    most: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<Asked>>>,
    _folder: tempfile::TempDir,
}

fn served(latency: Span, trims: bool) -> Served {
    served_from(latency, trims, |_| Box::new(Memory::default()))
}

/// The same with a store for the volumes.
fn served_from(latency: Span, trims: bool, store: impl FnOnce(&[VolumeTold]) -> Box<dyn Store>) -> Served {
    let (most, asked) = (Arc::default(), Arc::default());
    let drive = Fixed::new(64 * MIB, latency);
    let model = Counted { drive, trims, under_way: 0, most: Arc::clone(&most), asked: Arc::clone(&asked) };
    let store = store(&model.volumes());
    let service = Service::start(Box::new(model), store, Options::default()).expect("starts");
    let folder = tempfile::tempdir().expect("a folder");
    let mounted = mount(Arc::clone(&service), folder.path()).expect("mounted");
    Served { service, mounted, most, asked, _folder: folder }
}

impl Served {
    fn file(&self) -> PathBuf {
        self.mounted.files()[0].clone()
    }
    fn open(&self) -> File {
        OpenOptions::new().read(true).write(true).open(self.file()).expect("opens")
    }
    /// What the drive was asked since the last call: kind, first byte, length, force unit access.
    fn asked(&self) -> Vec<(String, u64, u32, bool)> {
        let asked = std::mem::take(&mut *self.asked.lock().expect("no test panics with it"));
        asked.iter().map(|asked| (format!("{:?}", asked.op), asked.offset, asked.len, asked.fua)).collect()
    }
}

fn told(op: &str, offset: u64, len: u32, fua: bool) -> (String, u64, u32, bool) {
    (op.to_owned(), offset, len, fua)
}

#[test]
fn any_bytes_can_be_read_and_written_and_the_drive_is_asked_for_whole_blocks() {
    skip_unless_mountable!();
    let mut served = served(Span(10_000), true);
    let file = served.open();
    assert_eq!(file.metadata().expect("has some").len(), 64 * MIB);
    let text: Vec<u8> = (0..10_000_u32).map(|at| at as u8 | 1).collect();
    file.write_all_at(&text, 4096 - 7).expect("written");
    assert_eq!(served.asked(), [told("Read", 0, 16384, false), told("Write", 0, 16384, false)]);
    let mut found = vec![0; 10_020];
    file.read_exact_at(&mut found, 4096 - 17).expect("read");
    assert_eq!(found, [&[0; 10][..], &text, &[0; 10]].concat());
    assert_eq!(served.asked(), [told("Read", 0, 16384, false)]);
    // The end of the file is the end of the drive.
    assert_eq!(file.read_at(&mut found, 64 * MIB - 100).expect("read"), 100);
    assert_eq!(file.read_at(&mut found, 64 * MIB).expect("read"), 0);
    let full = file.write_at(&found, 64 * MIB).expect_err("nothing is there");
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    served.asked();
    file.sync_all().expect("flushed");
    assert_eq!(served.asked(), [told("Flush", 0, 0, false)]);
    drop(file);
    served.mounted.unmount().expect("nobody uses it");
    assert!(!served.file().exists());
}

#[test]
fn synchronous_writes_force_unit_access() {
    skip_unless_mountable!();
    let served = served(Span::ZERO, true);
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::DSYNC;
    let file = File::from(rustix::fs::open(served.file(), flags, rustix::fs::Mode::empty()).expect("opens"));
    file.write_all_at(&[1; 4096], 8192).expect("written");
    assert_eq!(served.asked()[0], told("Write", 8192, 4096, true));
}

#[test]
fn holes_are_trims_where_the_volume_passes_them_on_and_zeros_are_written() {
    skip_unless_mountable!();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let zero = FallocateFlags::ZERO_RANGE;
    for trims in [true, false] {
        let served = served(Span::ZERO, trims);
        let file = served.open();
        file.write_all_at(&vec![7; 256 << 10], 0).expect("written");
        served.asked();
        let outcome = rustix::fs::fallocate(&file, punch, 65536, 65536);
        assert_eq!(outcome.is_ok(), trims);
        let expected = if trims { vec![told("Trim", 65536, 65536, false)] } else { vec![] };
        assert_eq!(served.asked(), expected);
        rustix::fs::fallocate(&file, zero, 1000, 10_000).expect("zeros are always written");
        let mut found = vec![1; 256 << 10];
        file.read_exact_at(&mut found, 0).expect("read");
        let is_zero = |at: usize| (1000..11_000).contains(&at) || trims && (65536..131_072).contains(&at);
        assert!(found.iter().enumerate().all(|(at, byte)| *byte == if is_zero(at) { 0 } else { 7 }));
        let hole = rustix::fs::seek(&file, SeekFrom::Hole(0)).expect("there is one");
        assert_eq!(hole, if trims { 65536 } else { 256 << 10 });
    }
}

#[test]
fn files_cannot_be_made_resized_or_taken_away_and_a_folder_is_served_once() {
    skip_unless_mountable!();
    let served = served(Span::ZERO, true);
    let file = served.file();
    let folder = file.parent().expect("has one");
    assert!(served.open().set_len(1).is_err());
    assert!(File::create(folder.join("other")).is_err());
    assert!(fs::remove_file(&file).is_err());
    assert_eq!(fs::read_dir(folder).expect("lists").count(), 1);
    let again = mount(Arc::clone(&served.service), folder).expect_err("served already");
    assert!(again.to_string().contains("another server serves this folder"), "{again}");
}

#[test]
fn a_server_that_stops_leaves_errors_and_a_folder_that_can_be_unmounted() {
    skip_unless_mountable!();
    let mut served = served(Span::ZERO, true);
    let file = served.open();
    file.write_all_at(&[7; 4096], 0).expect("written");
    served.service.stop();
    let error = file.read_at(&mut [0; 4096], 0).expect_err("nobody answers");
    assert_eq!(error.raw_os_error(), Some(5));
    assert!(file.write_at(&[0; 4096], 0).is_err() && file.sync_all().is_err());
    let busy = served.mounted.unmount().expect_err("this test has a file open");
    assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
    drop(file);
    // A program that another test starts has this test's files between fork and exec.
    let begun = std::time::Instant::now();
    while let Err(error) = served.mounted.unmount() {
        assert!(error.kind() == io::ErrorKind::ResourceBusy && begun.elapsed().as_secs() < 60, "{error}");
    }
}

#[test]
fn a_store_that_is_full_is_no_space_left() {
    skip_unless_mountable!();
    let small = tempfile::tempdir().expect("a folder");
    let [kind, tmpfs, with, size, source] = ["-t", "tmpfs", "-o", "size=1m", "small"].map(Path::new);
    run("mount", &[kind, tmpfs, with, size, source, small.path()]);
    let full = {
        let path = small.path().join("store.img");
        let open = |volumes: &[VolumeTold]| -> Box<dyn Store> {
            Box::new(hotband_serve::File::open(&path, "m", volumes, None).expect("opens"))
        };
        let served = served_from(Span::ZERO, true, open);
        let file = served.open();
        file.write_all_at(&vec![7; 512 << 10], 0).expect("there is space");
        file.write_all_at(&vec![7; 1 << 20], 1 << 20)
    };
    run("umount", &[Path::new("--lazy"), small.path()]);
    assert_eq!(full.expect_err("there is no more").kind(), io::ErrorKind::StorageFull);
}

#[test]
fn threads_that_write_to_a_file_do_not_wait_for_one_another() {
    skip_unless_mountable!();
    let served = served(Span(500_000_000), true);
    let file = served.open();
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for block in 0..8 {
            let (file, start) = (&file, &start);
            scope.spawn(move || {
                start.wait();
                file.write_all_at(&[7; 4096], block * 4096).expect("written");
            });
        }
    });
    assert_eq!(served.most.load(Ordering::Relaxed), 8);
}

#[test]
fn a_loop_device_keeps_a_queue_of_32_and_names_who_holds_it() {
    skip_unless_mountable!();
    if Command::new("fio").arg("--version").output().is_err() {
        return eprintln!("skipped: no fio");
    }
    let mut served = served(Span(20_000_000), true);
    let mut device = loopdev::attach(&served.file(), &served.service.volumes()[0]).expect("attached");
    let open = File::open(device.device()).expect("opens");
    for load in ["--rw=randread", "--rw=randwrite"] {
        served.most.store(0, Ordering::Relaxed);
        let run = Command::new("fio")
            .args(["--name=queue", "--direct=1", "--ioengine=libaio", load, "--bs=4k", "--iodepth=32"])
            .args(["--number_ios=400", "--output=/dev/null"])
            .arg(format!("--filename={}", device.device().display()))
            .status();
        assert!(run.expect("runs").success());
        assert_eq!(served.most.load(Ordering::Relaxed), 32, "{load}");
    }
    let busy = served.mounted.unmount().expect_err("the loop device uses the file");
    assert!(busy.to_string().contains(&device.device().display().to_string()), "{busy}");
    drop(open);
    device.detach().expect("nobody uses it");
    served.mounted.unmount().expect("nobody uses it");
}

#[test]
fn flushes_reach_a_drive_on_a_loop_device_that_somebody_kept_them_from() {
    skip_unless_mountable!();
    let mut served = served(Span(1_000), false);
    let mut device = loopdev::attach(&served.file(), &served.service.volumes()[0]).expect("attached");
    let told =
        |device: &Path| Path::new("/sys/block").join(device.file_name().expect("a name")).join("queue/write_cache");
    let before = told(device.device());
    fs::write(&before, "write through").expect("as root");
    device.detach().expect("nobody uses it");
    // The first that is free: the same one, unless another program takes it at this very moment.
    let mut again = loopdev::attach(&served.file(), &served.service.volumes()[0]).expect("attached");
    let after = fs::read_to_string(told(again.device())).expect("is there");
    again.detach().expect("nobody uses it");
    fs::write(&before, "write back").expect("as root");
    assert_eq!(after.trim_end(), "write back");
    served.mounted.unmount().expect("nobody uses it");
}

#[test]
fn a_loop_device_says_what_the_drive_is_and_is_left_as_it_was() {
    skip_unless_mountable!();
    let mut served = served(Span(1_000), false);
    let fixed = served.service.volumes()[0].clone();
    let disk = VolumeTold { rotates: true, volatile: false, physical_block: 8192, ..fixed };
    let mut device = loopdev::attach(&served.file(), &disk).expect("attached");
    let queue = Path::new("/sys/block").join(device.device().file_name().expect("a name")).join("queue");
    let read = |name: &str| fs::read_to_string(queue.join(name)).expect("is there").trim_end().to_owned();
    assert_eq!((&*read("rotational"), &*read("write_cache")), ("1", "write through"));
    let shown = device.device().display().to_string();
    assert_eq!(
        device.differences(&disk),
        [
            format!("{shown} has physical_block_size {}, the drive 8192: it cannot be set", disk.block),
            format!("{shown} has discard_max_bytes {}, the drive 0: it cannot be set", read("discard_max_bytes")),
        ]
    );
    device.detach().expect("nobody uses it");
    assert_eq!((&*read("rotational"), &*read("write_cache")), ("0", "write back"));
    served.mounted.unmount().expect("nobody uses it");
}

/// A server in a process of its own.
struct Apart {
    process: Child,
    file: PathBuf,
    device: PathBuf,
}

fn apart(folder: &Path) -> Apart {
    let mut process = Command::new(env!("CARGO_BIN_EXE_mount_fixed"))
        .args([folder.to_str().expect("UTF-8"), "64", "100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut line = String::new();
    let output = process.stdout.take().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("tells its files");
    let (file, device) = line.trim_end().split_once(' ').expect("two of them");
    Apart { process, file: file.into(), device: device.into() }
}

fn run(command: &str, arguments: &[&Path]) {
    let outcome = Command::new(command).args(arguments).output().expect("runs");
    assert!(outcome.status.success(), "{command}: {}", String::from_utf8_lossy(&outcome.stderr));
}

#[test]
fn a_server_that_is_killed_under_a_file_system_leaves_errors_and_nothing_that_hangs() {
    skip_unless_mountable!();
    if Command::new("mkfs.ext4").arg("-V").output().is_err() {
        return eprintln!("skipped: no mkfs.ext4");
    }
    let folders = tempfile::tempdir().expect("a folder");
    let (folder, above) = (folders.path().join("drives"), folders.path().join("files"));
    fs::create_dir(&folder).expect("made");
    fs::create_dir(&above).expect("made");
    let mut server = apart(&folder);
    run("mkfs.ext4", &[Path::new("-q"), &server.device]);
    run("mount", &[&server.device, &above]);
    fs::write(above.join("some"), vec![7; 1 << 20]).expect("written");
    let open = File::open(above.join("some")).expect("opens");
    open.sync_all().expect("flushed");
    server.process.kill().expect("dies");
    server.process.wait().expect("is dead");
    assert!(fs::write(above.join("more"), [7; 4096]).and_then(|()| open.sync_all()).is_err());
    assert_eq!(File::open(&server.file).and_then(|file| file.read_at(&mut [0; 512], 0)).ok(), None);
    drop(open);
    run("umount", &[&above]);
    run("losetup", &[Path::new("--detach"), &server.device]);
    // The next server finds the folder in the way and clears it.
    let mut next = apart(&folder);
    assert!(next.file.exists());
    drop(next.process.stdin.take());
    assert!(next.process.wait().expect("ends").success());
    assert!(!next.file.exists());
}
