//! CRUSH against Ceph's own tools: every line of the reference files in `tests/crush` (maps as `crushtool -d` prints
//! them, `.map`, and what `crushtool` and `osdmaptool` placed, `.txt`, the command in the first line of each).

use std::fs;
use std::path::Path;

use hotband_layouts::crush::{Builder, CrushMap, Host, Item, Osd, Placement, Pool, Rule, Weight, object_pg};

const LEVELS: [&str; 4] = ["osd", "host", "rack", "root"];

fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crush").join(name);
    let text = fs::read_to_string(path).expect("the reference file is part of the repository");
    text.lines().filter(|line| !line.starts_with("# ")).map(str::to_owned).collect()
}

/// Places every x of a file and compares its line.
fn assert_as_crushtool(file: &str, map: &CrushMap, rule: &Rule, size: u32, reweight: &[Weight]) {
    let lines = lines(file);
    assert!(lines.len() >= 1000, "{file} has {} lines", lines.len());
    for line in lines {
        let x: u32 = line.split(' ').next().and_then(|x| x.parse().ok()).expect("a line starts with x");
        let placed = map.place(rule, x, size, reweight);
        let ours = std::iter::once(x).chain(placed).map(|word| word.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(ours, line, "{file}");
    }
}

/// `flat.map`: ten OSDs of four weights under the root.
fn flat() -> CrushMap {
    let mut builder = Builder::new(&LEVELS);
    let weights = [1.746, 2.846, 3.946, 5.046].map(Weight::of);
    let items: Vec<Item> = (0..10).map(|osd| Item::Osd(osd, weights[osd as usize % 4])).collect();
    for osd in 0..10 {
        builder.osd(osd, None).expect("OSDs differ");
    }
    builder.bucket("root", "default", -1, &items).expect("the items are there");
    builder.build()
}

/// `hosts.map`: five hosts of four disks.
fn hosts() -> CrushMap {
    let names: Vec<String> = (0..5).map(|host| format!("host{host}")).collect();
    let osd = |number| Osd { number, weight: Weight::of(9.125), class: Some("hdd") };
    let host = |(name, first): (_, u32)| Host { name, osds: (first..first + 4).map(osd).collect() };
    let hosts: Vec<Host> = names.iter().map(String::as_str).zip((0..).step_by(4)).map(host).collect();
    CrushMap::of_hosts(&hosts).expect("hosts and OSDs differ")
}

/// Hosts of a rack, with the weights of their OSDs.
type Hosts = &'static [(&'static str, &'static [f64])];

/// Hosts of `racks.map`, in the order of their ids: weights of their OSDs; the first OSD of each but c1 is an SSD.
const RACKS: [(&str, Hosts); 4] = [
    ("rack-a", &[("a0", &[1.75, 9.125, 14.625]), ("a1", &[1.75, 12.75, 9.125])]),
    ("rack-b", &[("b0", &[1.75, 16.375, 12.75]), ("b1", &[1.75, 7.25, 16.375]), ("b2", &[1.75, 1.75, 7.25])]),
    ("rack-c", &[("c0", &[1.75, 3.5, 1.75]), ("c1", &[9.125, 14.625, 3.5]), ("c2", &[1.75, 9.125, 14.625])]),
    ("rack-d", &[("d0", &[1.75, 12.75, 9.125]), ("d1", &[1.75, 16.375, 12.75])]),
];

/// `racks.map`; the ids of the shadows are left to be found.
fn racks() -> CrushMap {
    let mut builder = Builder::new(&LEVELS);
    let (mut osd, mut id) = (0, -1);
    for (rack, hosts) in RACKS {
        for (host, weights) in hosts {
            let mut items = Vec::new();
            for (slot, &weight) in weights.iter().enumerate() {
                let class = if slot == 0 && *host != "c1" { "ssd" } else { "hdd" };
                builder.osd(osd, Some(class)).expect("OSDs differ");
                items.push(Item::Osd(osd, Weight::of(weight)));
                osd += 1;
            }
            id -= 1;
            builder.bucket("host", host, id, &items).expect("the OSDs are there");
        }
        id -= 1;
        let items: Vec<Item> = hosts.iter().map(|(host, _)| Item::Bucket(host)).collect();
        builder.bucket("rack", rack, id, &items).expect("the hosts are there");
    }
    builder.bucket("root", "default", -1, &RACKS.map(|(rack, _)| Item::Bucket(rack))).expect("the racks are there");
    builder.build()
}

fn rule(map: &CrushMap, class: Option<&str>, domain: &str) -> Rule {
    map.rule("default", class, domain).expect("the map has the root, the class and the level")
}

#[test]
fn osds_under_one_root_are_chosen_as_by_crushtool() {
    let map = flat();
    assert_as_crushtool("flat.txt", &map, &rule(&map, None, "osd"), 3, &map.all_in());
}

#[test]
fn hosts_are_chosen_as_by_crushtool_with_a_class_and_without() {
    let map = hosts();
    assert_as_crushtool("hosts-hdd.txt", &map, &rule(&map, Some("hdd"), "host"), 3, &map.all_in());
    assert_as_crushtool("hosts-any.txt", &map, &rule(&map, None, "host"), 3, &map.all_in());
}

#[test]
fn racks_of_unequal_weights_and_two_classes_are_chosen_as_by_crushtool() {
    let map = racks();
    assert_as_crushtool("racks-hdd.txt", &map, &rule(&map, Some("hdd"), "rack"), 3, &map.all_in());
    assert_as_crushtool("racks-ssd.txt", &map, &rule(&map, Some("ssd"), "host"), 3, &map.all_in());
    assert_as_crushtool("racks-any.txt", &map, &rule(&map, None, "host"), 3, &map.all_in());
    assert_as_crushtool("racks-osd.txt", &map, &rule(&map, Some("hdd"), "osd"), 3, &map.all_in());
}

#[test]
fn shadows_get_the_ids_that_ceph_gives_them() {
    let map = racks();
    let mut compared = 0;
    let mut bucket: Option<String> = None;
    for line in lines("racks.map") {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            // A bucket's ids follow its name: "host a0 {", "id -2 # ...", "id -16 class ssd # ...".
            ["host" | "rack" | "root", name, "{"] => bucket = Some((*name).to_owned()),
            ["id", id, rest @ ..] => {
                let Some(name) = &bucket else { continue };
                let class = (rest[0] == "class").then(|| rest[1]);
                assert_eq!(map.bucket_id(name, class), id.parse().ok(), "{name} {class:?}");
                compared += 1;
            }
            ["}"] => bucket = None,
            _ => {}
        }
    }
    assert_eq!(compared, 15 * 3, "ten hosts, four racks and a root, each with two shadows");
}

#[test]
fn an_osd_out_and_reweighted_ones_are_passed_over_as_by_crushtool() {
    let map = hosts();
    let mut reweight = map.all_in();
    for (osd, keeps) in [(5, 0.0), (0, 0.5), (1, 0.85), (18, 0.1), (19, 0.99)] {
        reweight[osd] = Weight::of(keeps);
    }
    assert_as_crushtool("hosts-reweight.txt", &map, &rule(&map, Some("hdd"), "host"), 3, &reweight);
}

/// Only the eight smallest OSDs are in, a try in twenty finds one: the last of 51 tries does for some of the x, so that
/// one try fewer or more would show.
#[test]
fn a_search_is_given_up_when_crushtool_gives_it_up() {
    let map = racks();
    let mut reweight = vec![Weight::ZERO; map.osd_count()];
    for osd in [0, 3, 6, 9, 12, 13, 15, 17] {
        reweight[osd] = Weight::ONE;
    }
    assert_as_crushtool("racks-tries.txt", &map, &rule(&map, None, "host"), 3, &reweight);
}

#[test]
fn with_a_whole_rack_out_the_fourth_replica_is_missing_as_with_crushtool() {
    let map = racks();
    let mut reweight = map.all_in();
    for (osd, keeps) in [(25, 0.0), (26, 0.0), (28, 0.0), (29, 0.0), (1, 0.3)] {
        reweight[osd] = Weight::of(keeps);
    }
    let rule = rule(&map, Some("hdd"), "rack");
    assert_as_crushtool("racks-out.txt", &map, &rule, 4, &reweight);
    assert_eq!(map.place(&rule, 0, 4, &reweight).len(), 3);
}

#[test]
fn a_pool_is_placed_as_by_osdmaptool() {
    let map = hosts();
    let pool = Pool { id: 1, pg_num: 1280, size: 3 };
    let placement = Placement::of_pool(&map, &rule(&map, Some("hdd"), "host"), &pool, &map.all_in());
    let lines = lines("pool.txt");
    assert_eq!(lines.len(), placement.pgs.len());
    for (pg, (osds, line)) in placement.pgs.iter().zip(lines).enumerate() {
        assert_eq!(format!("{pg} {} {} {}", osds[0], osds[1], osds[2]), line);
    }
}

#[test]
fn objects_belong_to_the_pgs_that_osdmaptool_gives() {
    let lines = lines("objects.txt");
    assert!(lines.len() > 50);
    for line in lines {
        let mut words = line.splitn(3, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).expect("two numbers come first");
        let (few, many) = (number(), number());
        let name = words.next().expect("the name comes last");
        assert_eq!((object_pg(name, 1280), object_pg(name, 20_971_520)), (few, many), "{name:?}");
    }
}
