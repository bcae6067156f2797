//! Does every store hold what a plain array would, across reopening, over a base image and after a power cut?

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use hotband_serve::{File, Left, Memory, Nothing, Place, Store, VolumeTold, WithHistory};
use proptest::prelude::*;

const SECTOR: u64 = 512;
/// Of an address space: some blocks of 64 KiB, and a part of one.
const SIZE: u64 = 5 * 65536 + 4096;
const SPACES: u32 = 2;

#[derive(Clone, Debug)]
enum Step {
    Write { space: u32, from: u64, sectors: u64, seed: u8 },
    Zero { space: u32, from: u64, sectors: u64 },
    Reopen,
}

fn range() -> impl Strategy<Value = (u32, u64, u64)> {
    let most = SIZE / SECTOR;
    (0..SPACES, 0..most, prop_oneof![1..40_u64, 100..400_u64])
        .prop_map(move |(space, from, sectors)| (space, from, sectors.min(most - from)))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let write = (range(), 1..=255_u8);
    let write = write.prop_map(|((space, from, sectors), seed)| Step::Write { space, from, sectors, seed });
    let zero = range().prop_map(|(space, from, sectors)| Step::Zero { space, from, sectors });
    proptest::collection::vec(prop_oneof![6 => write, 3 => zero, 1 => Just(Step::Reopen)], 1..30)
}

/// Sectors that differ from one another and from those of other writes.
fn data(sectors: u64, seed: u8) -> Vec<u8> {
    (0..sectors * SECTOR).map(|at| (at / SECTOR) as u8 ^ seed).collect()
}

fn volumes(spaces: u32) -> Vec<VolumeTold> {
    let told = |space: u32| VolumeTold {
        name: format!("v{space}"),
        size: SIZE,
        block: 512,
        physical_block: 512,
        trims: true,
        rotates: false,
        volatile: true,
        space,
        from: 0,
        node: None,
    };
    (0..spaces).map(told).collect()
}

/// Does the same with a store and with arrays, and compares them.
fn compare(steps: &[Step], mut arrays: Vec<Vec<u8>>, mut open: impl FnMut() -> Box<dyn Store>) {
    let spaces = arrays.len() as u32;
    let mut store = open();
    for step in steps {
        match *step {
            Step::Write { space, from, sectors, seed } => {
                let (space, at, data) = (space % spaces, from * SECTOR, data(sectors, seed));
                store.write(Place { space, offset: at }, &data).expect("written");
                arrays[space as usize][at as usize..at as usize + data.len()].copy_from_slice(&data);
            }
            Step::Zero { space, from, sectors } => {
                let (space, at, len) = (space % spaces, from * SECTOR, sectors * SECTOR);
                store.zero(Place { space, offset: at }, len).expect("zeroed");
                arrays[space as usize][at as usize..(at + len) as usize].fill(0);
            }
            Step::Reopen => {
                drop(store);
                store = open();
            }
        }
    }
    for (space, array) in arrays.iter().enumerate() {
        assert_same(&*store, space as u32, array);
    }
}

fn assert_same(store: &dyn Store, space: u32, array: &[u8]) {
    let mut found = vec![1; array.len()];
    store.read(Place { space, offset: 0 }, &mut found).expect("read");
    let differs = found.iter().zip(array).position(|(found, expected)| found != expected);
    assert_eq!(differs, None, "first byte of space {space} that differs");
    let mut at = 0;
    for extent in store.extents(Place { space, offset: 0 }, array.len() as u64).expect("told") {
        let end = at + extent.len as usize;
        assert!(extent.len > 0 && !(extent.is_hole && array[at..end].iter().any(|byte| *byte != 0)));
        at = end;
    }
    assert_eq!(at, array.len());
}

fn empty() -> Vec<Vec<u8>> {
    vec![vec![0; SIZE as usize]; SPACES as usize]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn memory_holds_what_an_array_would(steps in steps()) {
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, Step::Reopen)).collect();
        compare(&steps, empty(), || Box::new(Memory::default()));
    }

    #[test]
    fn files_hold_what_an_array_would_also_when_opened_again(steps in steps()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.img");
        compare(&steps, empty(), || Box::new(File::open(&path, "m", &volumes(SPACES), None).expect("opens")));
    }

    #[test]
    fn a_file_over_a_base_holds_what_an_array_would_and_leaves_the_base(steps in steps(), base in 0..SIZE / SECTOR) {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, under) = (folder.path().join("store.img"), folder.path().join("base.img"));
        let content: Vec<u8> = data(base, 0x5a);
        fs::write(&under, &content).expect("written");
        let mut array = vec![0; SIZE as usize];
        array[..content.len()].copy_from_slice(&content);
        let open = || File::open(&path, "m", &volumes(1), Some(&under)).expect("opens");
        compare(&steps, vec![array], || Box::new(open()));
        prop_assert!(fs::read(&under).expect("read") == content);
    }

    /// Every sector is to hold any write that it ever got, or what was there before.
    #[test]
    fn a_store_with_history_goes_back_to_what_the_drives_hold(
        steps in steps(),
        picks in proptest::collection::vec((range(), 0..30_usize), 0..12),
        in_file in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let inner: Box<dyn Store> = if in_file {
            Box::new(File::open(&folder.path().join("s"), "m", &volumes(SPACES), None).expect("opens"))
        } else {
            Box::new(Memory::default())
        };
        power_cut(inner, folder.path(), &steps, &picks);
    }
}

/// What was there is written first, then `steps`; then each of `picks` says which of the writes to a range its sectors
/// hold.
fn power_cut(inner: Box<dyn Store>, folder: &Path, steps: &[Step], picks: &[((u32, u64, u64), usize)]) {
    let mut arrays = empty();
    for (space, array) in arrays.iter_mut().enumerate() {
        let old = data(300, 0xc3 + space as u8);
        inner.write(Place { space: space as u32, offset: 8 * SECTOR }, &old).expect("written");
        array[8 * SECTOR as usize..][..old.len()].copy_from_slice(&old);
    }
    let store = WithHistory::new(inner, folder).expect("a temporary file");
    let mut writes = vec![];
    for step in steps {
        let (space, from, data, ticket) = match *step {
            Step::Write { space, from, sectors, seed } => {
                let data = data(sectors, seed);
                let ticket = store.write(Place { space, offset: from * SECTOR }, &data).expect("written");
                (space, from, data, ticket)
            }
            Step::Zero { space, from, sectors } => {
                let ticket = store.zero(Place { space, offset: from * SECTOR }, sectors * SECTOR).expect("zeroed");
                (space, from, vec![0; (sectors * SECTOR) as usize], ticket)
            }
            Step::Reopen => continue,
        };
        writes.push((space, from, data));
        store.number(ticket, writes.len() as u64);
    }
    let mut held = vec![vec![0_usize; (SIZE / SECTOR) as usize]; SPACES as usize];
    for ((space, from, sectors), pick) in picks {
        for sector in *from..from + sectors {
            let here = writes.iter().enumerate().filter(|(_, (of, from, data))| {
                of == space && (*from..from + data.len() as u64 / SECTOR).contains(&sector)
            });
            let here: Vec<usize> = here.map(|(index, _)| index + 1).collect();
            let version = here.get(pick % (here.len() + 1)).copied().unwrap_or(0);
            held[*space as usize][sector as usize] = version;
        }
    }
    let mut left = vec![];
    for (space, versions) in held.iter().enumerate() {
        for (sector, version) in versions.iter().enumerate() {
            let at = sector * SECTOR as usize;
            let place = Place { space: space as u32, offset: at as u64 };
            left.push(Left { place, len: SECTOR, version: *version as u64 });
            if let Some((_, from, data)) = version.checked_sub(1).map(|index| &writes[index]) {
                let within = at - (from * SECTOR) as usize;
                arrays[space][at..at + SECTOR as usize].copy_from_slice(&data[within..within + SECTOR as usize]);
            }
        }
    }
    store.power_off(&left).expect("goes back");
    for (space, array) in arrays.iter().enumerate() {
        assert_same(&store, space as u32, array);
    }
    assert!(store.write(Place { space: 0, offset: 0 }, &[1; 512]).is_err(), "nothing is written without power");
}

/// What cannot be opened, and why.
fn refused(path: &Path, machine: &str, volumes: &[VolumeTold], base: Option<&Path>) -> String {
    File::open(path, machine, volumes, base).map(|_| ()).expect_err("refused").to_string()
}

#[test]
fn a_file_is_one_servers_and_one_machines() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.img");
    let first = File::open(&path, "m", &volumes(2), None).expect("new");
    assert!(path.with_file_name("store.img.v0").exists() && path.with_file_name("store.img.v1").exists());
    let told = refused(&path, "m", &volumes(2), None);
    assert!(told.contains("store.img.v0 is in use: ") && told.contains(&std::process::id().to_string()), "{told}");
    drop(first);
    let told = refused(&path, "n", &volumes(2), None);
    let expected = "store.img.hotband.json: machine is \"m\", expected \"n\"; the store belongs to another machine";
    assert!(told.ends_with(expected), "{told}");
    let mut larger = volumes(2);
    larger[1].size += 4096;
    let told = refused(&path, "m", &larger, None);
    assert!(told.contains("volumes is [(\"v0\", 331776), (\"v1\", 331776)], expected"), "{told}");
    fs::remove_file(path.with_file_name("store.img.v1")).expect("removed");
    let told = refused(&path, "m", &volumes(2), None);
    assert!(told.contains("store.img.v1 is missing"), "{told}");
}

#[test]
fn a_store_that_was_renamed_is_the_same_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = |name: &str| folder.path().join(name);
    let store = File::open(&named("a.img"), "m", &volumes(1), None).expect("new");
    store.write(Place { space: 0, offset: 0 }, &[9; 512]).expect("written");
    drop(store);
    for suffix in ["", ".hotband.json"] {
        fs::rename(named(&format!("a.img{suffix}")), named(&format!("b.img{suffix}"))).expect("renamed");
    }
    let store = File::open(&named("b.img"), "m", &volumes(1), None).expect("the same");
    let mut have = [0; 512];
    store.read(Place { space: 0, offset: 0 }, &mut have).expect("read");
    assert_eq!(have, [9; 512]);
    drop(store);
    fs::write(named("base.img"), vec![7; SIZE as usize]).expect("written");
    let told = refused(&named("b.img"), "m", &volumes(1), Some(&named("base.img")));
    assert!(told.ends_with("the store was begun without a base image: expected none"), "{told}");
}

#[test]
fn raw_images_from_elsewhere_are_taken_where_they_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("raw.img");
    fs::write(&path, vec![7; 1000]).expect("written");
    let told = refused(&path, "m", &volumes(1), None);
    assert!(told.ends_with("raw.img has 1000 bytes, and the volume 331776"), "{told}");
    fs::write(&path, vec![7; SIZE as usize]).expect("written");
    let store = File::open(&path, "m", &volumes(1), None).expect("fits");
    assert_same(&store, 0, &vec![7; SIZE as usize]);
}

#[test]
fn a_base_that_changed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, base) = (folder.path().join("store.img"), folder.path().join("base.img"));
    fs::write(&base, vec![7; SIZE as usize]).expect("written");
    drop(File::open(&path, "m", &volumes(1), Some(&base)).expect("new"));
    let told = refused(&path, "m", &volumes(1), None);
    assert!(told.contains("the store was begun on the base /") && told.ends_with("base.img: expected it"), "{told}");
    let writer = fs::OpenOptions::new().write(true).open(&base).expect("opens");
    writer.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("set");
    let told = refused(&path, "m", &volumes(1), Some(&base));
    assert!(told.ends_with("base.img was written to since the store was begun"), "{told}");
    let told = refused(&path, "m", &volumes(2), Some(&base));
    assert!(told.ends_with("a base image is one volume, and the machine has several"), "{told}");
}

/// A server that was killed before it set the bit of a block left data in it.
#[test]
fn what_a_killed_server_left_in_a_block_of_the_base_is_not_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, base) = (folder.path().join("store.img"), folder.path().join("base.img"));
    let array = data(SIZE / SECTOR, 0x5a);
    fs::write(&base, &array).expect("written");
    let store = File::open(&path, "m", &volumes(1), Some(&base)).expect("new");
    let left = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    left.write_all_at(&vec![7; 131_072], 0).expect("written");
    assert_same(&store, 0, &array);
    store.zero(Place { space: 0, offset: 0 }, 65536).expect("zeroed");
    store.zero(Place { space: 0, offset: 65536 }, 512).expect("zeroed");
    assert_same(&store, 0, &[vec![0; 65536 + 512], array[65536 + 512..].to_vec()].concat());
}

#[test]
fn files_take_no_more_of_the_disk_than_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.img");
    let mut large = volumes(1);
    large[0].size = 1 << 40;
    let store = File::open(&path, "m", &large, None).expect("new");
    let place = Place { space: 0, offset: 1 << 39 };
    store.write(place, &vec![7; 1 << 20]).expect("written");
    let taken = || fs::metadata(&path).expect("is there").blocks() * 512;
    assert!((1 << 20..2 << 20).contains(&taken()));
    store.zero(place, 1 << 20).expect("zeroed");
    assert!(taken() < 1 << 20);
}

#[test]
fn nothing_tells_that_what_was_written_is_not_read() {
    let store = Nothing::default();
    let place = |offset| Place { space: 0, offset };
    store.write(place(4096), &[7; 4096]).expect("counted");
    let whole = store.checksum(place(4096)).expect("it has one");
    assert_eq!(whole, crc32fast::hash(&[7; 4096]));
    store.read(place(0), &mut [1; 4096]).expect("zeros");
    assert_eq!(store.wrong_reads(), 0);
    let mut found = [1; 8192];
    store.read(place(0), &mut found).expect("zeros");
    assert_eq!((store.wrong_reads(), found), (1, [0; 8192]));
    store.write(place(4608), &[8; 512]).expect("counted");
    assert_ne!(store.checksum(place(4096)), Some(whole));
    store.zero(place(0), 8192).expect("counted");
    assert_eq!(store.checksum(place(4096)), None);
}
