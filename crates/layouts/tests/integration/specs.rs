//! What a machine file may say of a layout: the last value of every option that is taken, and the first that is not.

use hotband_layouts::controller::ControllerSpec;
use hotband_layouts::md::{JournalMode, MdSpec};
use hotband_layouts::replicated::{self, OsdParams, PoolSpec};
use hotband_layouts::{build, raidz};
use hotband_machine::{MemberRange, NodeRef, SpecError};
use hotband_units::{Rate, Span};

use crate::layout_spec::spec;
use crate::pool::product;

/// Bytes of a member.
const SIZE: u64 = 1 << 40;

fn read(kind: &str, members: usize, options: &str) -> Result<(), SpecError> {
    let spec = spec(kind, members, options);
    match kind {
        "controller" => ControllerSpec::read("m.toml", &spec).map(drop),
        "md" => MdSpec::read("m.toml", &spec).map(drop),
        "replicated" | "erasure" => PoolSpec::read("m.toml", &spec).map(drop),
        kind if raidz::RAIDZ.contains(&kind) => {
            let range = MemberRange { node: NodeRef::Drive(0), from: 0, size: 1 << 30 };
            raidz::build("m.toml", &spec, &vec![range; members]).map(drop)
        }
        _ => build("m.toml", &spec, &vec![SIZE; members]).map(drop),
    }
}

fn assert_taken(kind: &str, members: usize, options: &[&str]) {
    for text in options {
        assert_eq!(read(kind, members, text), Ok(()), "{kind} of {members}: {text}");
    }
}

/// Every text is refused for its last key, which the error names.
fn assert_refused(kind: &str, members: usize, options: &[&str]) {
    for text in options {
        let last = text.lines().last().unwrap_or_default();
        let key = last.split('=').next().unwrap_or_default().trim();
        let error = read(kind, members, text).expect_err(&format!("{kind} of {members} takes {text}"));
        assert_eq!((error.file.as_str(), error.key.rsplit('.').next()), ("m.toml", Some(key)), "{text}: {error}");
    }
}

#[test]
fn options_of_a_controller() {
    let taken = [
        "",
        "cache = '16 MiB'\nread_ahead = 'off'",
        "cache = '1 TiB'",
        "read_ahead = 'off'",
        "read_ahead = '4 KiB'",
        "read_ahead = '64 MiB'",
        "cache = '64 MiB'\nread_ahead = '16 MiB'",
        "dirty_high = '95 %'",
        "dirty_low = '0 %'",
        "dirty_low = '89 %'",
        "flush_every = '1 ms'",
        "flush_every = '1 h'",
        "destages = 1",
        "destages = 4096",
        "overhead = '0 s'",
        "overhead = '1 s'",
        "rate = '1 B/s'",
        "battery = 'off'",
    ];
    assert_taken("controller", 1, &taken);
    let refused = [
        "cache = '16773120 B'",
        "cache = '1025 GiB'",
        "read_ahead = '0 B'",
        "read_ahead = '4 kB'",
        "read_ahead = '65540 KiB'",
        "cache = '64 MiB'\nread_ahead = '16388 KiB'",
        "dirty_high = '96 %'",
        "dirty_high = '10 %'\ndirty_low = '10 %'",
        "flush_every = '999 us'",
        "flush_every = '3601 s'",
        "destages = 0",
        "destages = 4097",
        "overhead = '1001 ms'",
        "rate = '0 B/s'",
        "other = 1",
    ];
    assert_refused("controller", 1, &refused);
    assert_eq!(read("controller", 2, "").map_err(|error| error.key), Err("layouts.data.members".into()));
}

#[test]
fn values_of_a_controller() {
    let text = "cache = '1 GiB'\ndirty_low = '25 %'\ndirty_high = '75 %'\nrate = '2 GB/s'\nread_ahead = '256 KiB'";
    let read = |text: &str| ControllerSpec::read("m.toml", &spec("controller", 1, text)).expect("it is right");
    let given = read(text);
    assert_eq!((given.cache, given.low, given.high, given.read_ahead), (1 << 30, 1 << 28, 3 << 28, Some(256 << 10)));
    assert_eq!((given.rate, given.flush_every, given.is_protected), (Rate(2_000_000_000), Span(4_000_000_000), true));
    assert_eq!(given.memory(), 32 << 20, "128 B for each 4 KiB");
    let off = read("read_ahead = 'off'\nbattery = 'off'");
    assert_eq!((off.read_ahead, off.is_protected, off.cache), (None, false, 2 << 30));
}

#[test]
fn options_of_md() {
    assert_taken("md", 1, &["", "stripe_cache = 17", "stripe_cache = 32768", "writes = 'buffered'"]);
    assert_refused("md", 1, &["stripe_cache = 16", "stripe_cache = 32769", "writes = 'both'", "journal = 'yes'"]);
    for (text, members) in [("journal = 'none'", 1), ("journal = 'write-back'", 2), ("journal = 'write-through'", 2)] {
        assert_taken("md", members, &[text]);
        for other in [members - 1, members + 1] {
            assert_eq!(
                read("md", other, text).map_err(|error| error.key),
                Err("layouts.data.members".into()),
                "{text}"
            );
        }
    }
    let journal = |text: &str, members| MdSpec::read("m.toml", &spec("md", members, text)).expect("it is right");
    assert_eq!(journal("journal = 'write-back'", 2).journal, JournalMode::WriteBack);
    assert!(journal("journal = 'write-through'", 2).has_journal() && !journal("", 1).has_journal());
}

#[test]
fn options_of_raidz() {
    let taken = [
        "",
        "sector = '512 B'",
        "sector = '64 KiB'",
        "sector = '4 KiB'\nrecord = '4 KiB'",
        "record = '16 MiB'",
        "filled = '1 %'",
        "filled = '99 %'",
        "memory = '0 B'",
    ];
    assert_taken("raidz1", 3, &taken);
    let refused = [
        "sector = '256 B'",
        "sector = '128 KiB'",
        "sector = '12 KiB'",
        "sector = '4 KiB'\nrecord = '2 KiB'",
        "record = '32 MiB'",
        "filled = '0.9 %'",
        "filled = '99.5 %'",
    ];
    assert_refused("raidz1", 3, &refused);
    for (kind, least) in [("raidz1", 2), ("raidz2", 3), ("raidz3", 4)] {
        assert_taken(kind, least, &[""]);
        assert_eq!(read(kind, least - 1, "").map_err(|error| error.key), Err("layouts.data.members".into()), "{kind}");
    }
}

#[test]
fn options_of_planners() {
    for (kind, least) in [("raid0", 2), ("raid1", 2), ("raid5", 3), ("raid6", 4), ("raid10", 4)] {
        assert_taken(kind, least, &[""]);
        assert_eq!(read(kind, least - 1, "").map_err(|error| error.key), Err("layouts.data.members".into()), "{kind}");
    }
    assert_eq!(read("raid10", 5, "").map_err(|error| error.key), Err("layouts.data.members".into()));
    assert_taken("raid0", 2, &["chunk = '4 KiB'", "chunk = '1 GiB'"]);
    assert_refused("raid0", 2, &["chunk = '0 B'", "chunk = '5 kB'", "chunk = '1048580 KiB'"]);
    assert_taken("raid1", 2, &["read_policy = 'by-region'"]);
    assert_refused("raid1", 2, &["read_policy = 'any'", "chunk = '64 KiB'"]);
    assert_taken("raid50", 9, &["groups = 3"]);
    assert_refused("raid50", 9, &["groups = 1", "groups = 2", "groups = 9", "groups = 10"]);
    assert_taken("raid60", 8, &["", "groups = 2"]);
    assert_refused("raid60", 12, &["groups = 4"]);
    assert_eq!(read("raid50", 5, "").map_err(|error| error.key), Err("layouts.data.members".into()));
    assert_eq!(read("raid7", 5, "").map_err(|error| error.value), Err("raid7".into()));
}

#[test]
fn options_of_a_pool() {
    let taken = [
        "",
        "osds_per_drive = 16",
        "hosts = 4\nfailure_domain = 'host'",
        "replicas = 1",
        "replicas = 4",
        "replicas = 8\nosds_per_drive = 2",
        "placement_groups = 1",
        "placement_groups = 65536",
        "pool_id = 0",
        "pool_id = 1048576",
        "object = '4 KiB'",
        "object = '32 MiB'",
        "core_clock_mhz = 100",
        "core_clock_mhz = 10000",
        "weights = [0.0001, 10000, 1, 1]",
        "classes = ['hdd', 'hdd', 'hdd', 'ssd']\nclass = 'hdd'",
        "image_id = 'x'",
        "client_network = { rate = '1 MB/s', latency = '1 s' }",
        "out = { osd = 3, at = '1 s' }",
        "osds_per_drive = 2\nout = { osd = 7, at = '1 s' }",
    ];
    assert_taken("replicated", 4, &taken);
    let refused = [
        "osds_per_drive = 0",
        "osds_per_drive = 17",
        "hosts = 3",
        "hosts = 5",
        "replicas = 0",
        "replicas = 9",
        "replicas = 5",
        "hosts = 2\nfailure_domain = 'host'\nreplicas = 3",
        "placement_groups = 0",
        "placement_groups = 65537",
        "pool_id = 1048577",
        "object = '2 KiB'",
        "object = '64 MiB'",
        "object = '12 KiB'",
        "core_clock_mhz = 99",
        "core_clock_mhz = 10001",
        "weights = [0.00009, 1, 1, 1]",
        "weights = [10001, 1, 1, 1]",
        "weights = [1, 1, 1]",
        "weights = ['a', 1, 1, 1]",
        "classes = ['hdd']",
        "class = 'hdd'",
        "classes = ['hdd', 'hdd', 'hdd', 'ssd']\nclass = 'nvme'",
        "image_id = ''",
        "k = 2",
    ];
    assert_refused("replicated", 4, &refused);
    for (text, key) in [
        ("client_network = { rate = '999999 B/s' }", "client_network.rate"),
        ("cluster_network = { latency = '1001 ms' }", "cluster_network.latency"),
        ("cluster_network = { jitter = '1 ms' }", "cluster_network.jitter"),
        ("out = { osd = 4, at = '1 s' }", "out.osd"),
        ("out = { at = '1 s' }", "out.osd"),
        ("out = { osd = 3 }", "out.at"),
    ] {
        assert_eq!(
            read("replicated", 4, text).map_err(|error| error.key),
            Err(format!("layouts.data.{key}")),
            "{text}"
        );
    }
}

#[test]
fn options_of_an_erasure_coded_pool() {
    let taken = [
        "",
        "k = 7\nm = 1",
        "k = 2\nm = 6",
        "stripe_unit = '4 KiB'",
        "stripe_unit = '1 MiB'",
        "reads = 'touched'",
        "hosts = 4\nfailure_domain = 'host'",
    ];
    assert_taken("erasure", 8, &taken);
    assert_taken("erasure", 40, &["k = 32\nm = 8"]);
    let refused = ["stripe_unit = '0 B'", "stripe_unit = '6 KiB'", "stripe_unit = '1028 KiB'", "reads = 'all'"];
    assert_refused("erasure", 8, &refused);
    assert_refused("erasure", 40, &["k = 1", "k = 33", "m = 0", "m = 9", "replicas = 3"]);
    for text in ["k = 7\nm = 2", "k = 3\nm = 2\nhosts = 4\nfailure_domain = 'host'"] {
        assert_eq!(read("erasure", 8, text).map_err(|error| error.key), Err("layouts.data.k".into()), "{text}");
    }
}

#[test]
fn a_shard_is_a_part_of_the_object_in_whole_units() {
    let shard = |text: &str| PoolSpec::read("m.toml", &spec("erasure", 8, text)).expect("it is right").shard();
    assert_eq!(shard("k = 4\nm = 2\nobject = '4 MiB'"), 1 << 20);
    assert_eq!(shard("k = 3\nm = 2\nobject = '32 KiB'"), 12 << 10, "eight units on three: three each");
    assert_eq!(shard("k = 2\nm = 1\nobject = '4 KiB'\nstripe_unit = '64 KiB'"), 64 << 10);
}

#[test]
fn memory_of_a_pool_is_that_of_its_objects_places_and_of_what_daemons_remember() {
    let memory = |options: &str, set: &[(&str, &str)]| {
        let layout = spec("replicated", 4, options);
        let pool = PoolSpec::read("m.toml", &layout).expect("it is right");
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), toml::Value::from(*value))).collect();
        let params = OsdParams::read(&product(), &set, "m.toml", "set").expect("values of the test are valid");
        let range = |drive| MemberRange { node: NodeRef::Drive(drive), from: 0, size: 10 << 30 };
        replicated::memory(&pool, &params, &(0..4).map(range).collect::<Vec<_>>())
    };
    let forgetful = [("data_cache", "0 B"), ("metadata_cache", "1 GiB")];
    let of_image = |gib: u64| memory(&format!("replicas = 2\nimage = '{gib} GiB'"), &forgetful);
    // 256 objects a GiB and two copies: groups and places of 4 B, and the metadata that is kept of each copy.
    let key = (of_image(1) - (256 + 512) * 4) / 512;
    assert_eq!((of_image(1), of_image(3)), ((256 + 512) * 4 + 512 * key, 3 * of_image(1)));
    assert!((16..=128).contains(&key), "{key} B a key");
    // Without an image, 70 % of 40 GiB in two copies.
    assert_eq!(memory("replicas = 2", &forgetful), of_image(14));
    assert_eq!(memory("replicas = 2\nclasses = ['a', 'a', 'b', 'b']\nclass = 'a'", &forgetful), of_image(7));
    // Memory for data, and for metadata where that is less than there are copies, of each daemon.
    let data = [("data_cache", "4 MiB"), ("metadata_cache", "1 GiB")];
    assert_eq!(memory("replicas = 2\nimage = '1 GiB'\nosds_per_drive = 3", &data), of_image(1) + 12 * 1024 * key);
    let few = [("data_cache", "0 B"), ("metadata_cache", "40 KiB"), ("onode_size", "4 KiB")];
    assert_eq!(memory("replicas = 2\nimage = '1 GiB'", &few), (256 + 512) * 4 + 4 * 10 * key);
}
