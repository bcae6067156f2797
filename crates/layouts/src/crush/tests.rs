//! What a map refuses, and the ids and edges that the reference files do not show.

use super::*;

const LEVELS: [&str; 3] = ["osd", "host", "root"];

/// OSDs 0 to 3 of class hdd, nothing above them.
fn bare() -> Builder {
    let mut builder = Builder::new(&LEVELS);
    for osd in 0..4 {
        builder.osd(osd, Some("hdd")).expect("OSDs differ");
    }
    builder
}

/// One host of each OSD, under the root.
fn four_hosts() -> CrushMap {
    let mut builder = bare();
    for (osd, name) in ["a", "b", "c", "d"].iter().enumerate() {
        builder.bucket("host", name, -10 - osd as i32, &[Item::Osd(osd as u32, Weight::ONE)]).expect("a new host");
    }
    builder.bucket("root", "default", -1, &["a", "b", "c", "d"].map(Item::Bucket)).expect("the hosts are there");
    builder.build()
}

fn refused(result: Result<&mut Builder, CrushError>) -> String {
    result.expect_err("it is a mistake").to_string()
}

#[test]
fn osds_are_refused_twice_and_beyond_bounds() {
    let mut builder = bare();
    assert_eq!(refused(builder.osd(3, None)), "OSD 3 is used twice");
    assert_eq!(refused(builder.osd(65_536, None)), "OSD 65536, expected 0 to 65535");
    assert!(builder.osd(65_535, None).is_ok());
}

#[test]
fn buckets_are_refused_with_bad_ids_and_names() {
    let mut builder = bare();
    builder.bucket("host", "a", -2, &[]).expect("a new host");
    assert_eq!(refused(builder.bucket("host", "b", 0, &[])), "0 as id of \"b\", expected -1 to -65536");
    assert_eq!(refused(builder.bucket("host", "b", i32::MIN, &[])).split_once(' ').map(|it| it.0), Some("-2147483648"));
    assert_eq!(refused(builder.bucket("host", "b", -2, &[])), "the id -2 of \"b\" is used twice");
    assert_eq!(refused(builder.bucket("host", "a", -3, &[])), "\"a\" is used twice");
    assert_eq!(
        refused(builder.bucket("rack\n", "b", -3, &[])),
        "unknown level \"rack\\n\", expected one of osd, host, root"
    );
}

#[test]
fn items_are_refused_where_they_cannot_lie() {
    let mut builder = bare();
    builder.bucket("host", "a", -2, &[Item::Osd(0, Weight::ONE)]).expect("a new host");
    assert_eq!(
        refused(builder.bucket("host", "b", -3, &[Item::Bucket("a")])),
        "\"b\" holds \"a\", which is not of a lower level"
    );
    assert_eq!(
        refused(builder.bucket("osd", "c", -3, &[])),
        "\"c\" is of the level \"osd\", which is that of the OSDs"
    );
    assert!(refused(builder.bucket("root", "r", -3, &[Item::Bucket("x")])).starts_with("unknown bucket \"x\""));
    assert!(refused(builder.bucket("root", "r", -3, &[Item::Osd(9, Weight::ONE)])).starts_with("unknown OSD 9"));
    assert_eq!(
        refused(builder.bucket("root", "r", -3, &[Item::Osd(0, Weight::ONE)])),
        "OSD 0 (in \"r\") is used twice"
    );
    let heavy = [Item::Osd(1, Weight(u32::MAX)), Item::Osd(2, Weight(1))];
    assert!(refused(builder.bucket("root", "r", -3, &heavy)).starts_with("the items of \"r\" weigh"));
}

#[test]
fn shadows_are_refused_for_unknown_classes_and_used_ids() {
    let mut builder = bare();
    builder.bucket("host", "a", -2, &[Item::Osd(0, Weight::ONE)]).expect("a new host");
    assert_eq!(refused(builder.shadow_id("a", "ssd", -3)), "no OSD has the device class \"ssd\"");
    assert_eq!(refused(builder.shadow_id("a", "hdd", -2)), "the id -2 of \"a\" is used twice");
    builder.shadow_id("a", "hdd", -3).expect("a free id");
    assert_eq!(refused(builder.bucket("host", "b", -3, &[])), "the id -3 of \"b\" is used twice");
    assert!(refused(builder.shadow_id("a", "hdd", -4)).contains("is used twice"));
    assert_eq!(builder.build().bucket_id("a", Some("hdd")), Some(-3));
}

#[test]
fn rules_are_refused_for_what_the_map_lacks() {
    let map = four_hosts();
    assert!(matches!(map.rule("other", None, "host"), Err(CrushError::UnknownBucket(_))));
    assert!(matches!(map.rule("default", Some("nvme"), "host"), Err(CrushError::UnknownClass(_))));
    assert!(matches!(map.rule("default", None, "row"), Err(CrushError::UnknownLevel { .. })));
}

fn osd(number: u32, weight: f64, class: Option<&'static str>) -> Osd<'static> {
    Osd { number, weight: Weight::of(weight), class }
}

fn of_hosts(hosts: &[(&'static str, &[Osd<'static>])]) -> CrushMap {
    let hosts: Vec<Host> = hosts.iter().map(|&(name, osds)| Host { name, osds: osds.to_vec() }).collect();
    CrushMap::of_hosts(&hosts).expect("hosts and OSDs differ")
}

#[test]
fn a_usual_cluster_has_the_usual_ids() {
    let disks = [osd(0, 1.0, Some("hdd")), osd(1, 1.0, Some("hdd"))];
    let more = [osd(2, 1.0, Some("ssd")), osd(3, 1.0, None)];
    let ids = |map: &CrushMap, name, class| map.bucket_id(name, class);
    let single = of_hosts(&[("a", &disks)]);
    assert_eq!([ids(&single, "default", None), ids(&single, "default", Some("hdd"))], [Some(-1), Some(-2)]);
    assert_eq!([ids(&single, "a", None), ids(&single, "a", Some("hdd"))], [Some(-3), Some(-4)]);
    let two = of_hosts(&[("a", &disks), ("b", &more)]);
    assert_eq!([None, Some("hdd"), Some("ssd")].map(|class| ids(&two, "b", class)), [-7, -8, -9].map(Some));
    assert_eq!((two.class_of(2), two.class_of(3)), (Some("ssd"), None));
    assert_eq!(ids(&of_hosts(&[("a", &more[1..])]), "a", None), Some(-2));
}

#[test]
fn hosts_are_refused_twice() {
    let host = |number| Host { name: "a", osds: vec![osd(number, 1.0, None)] };
    assert_eq!(CrushMap::of_hosts(&[host(0), host(1)]).err(), Some(CrushError::Twice("\"a\"".to_owned())));
    let default = Host { name: "default", osds: Vec::new() };
    assert_eq!(CrushMap::of_hosts(&[default]).err(), Some(CrushError::Twice("\"default\"".to_owned())));
}

#[test]
fn a_rule_reaches_the_osds_of_its_class_with_their_domains() {
    let map = of_hosts(&[("a", &[osd(0, 1.0, Some("hdd")), osd(1, 2.5, Some("ssd"))])]);
    let reach = |class, domain| map.reach(&map.rule("default", class, domain).expect("the map has it"));
    assert_eq!(reach(Some("ssd"), "host"), [(1, -6, Weight(163_840))]);
    assert_eq!(reach(None, "osd"), [(0, 0, Weight::ONE), (1, 1, Weight(163_840))]);
    // No bucket of the level lies below the root: nothing can be placed, and crushtool places nothing.
    assert_eq!(reach(None, "root"), []);
    let rule = map.rule("default", None, "root").expect("the level exists");
    assert_eq!(map.place(&rule, 7, 3, &map.all_in()), []);
}

#[test]
fn empty_and_weightless_maps_place_nothing_beyond_them() {
    let mut builder = Builder::new(&LEVELS);
    builder.bucket("root", "default", -1, &[]).expect("an empty root");
    let map = builder.build();
    let rule = map.rule("default", None, "host").expect("the root is there");
    assert_eq!(map.place(&rule, 1, 3, &map.all_in()), []);
    let mut placement = Placement::of_pool(&map, &rule, &Pool { id: 1, pg_num: 8, size: 3 }, &[]);
    assert_eq!(placement.balance(&map, &rule, &[]), []);
}

#[test]
fn osds_beyond_the_reweights_are_out() {
    let map = four_hosts();
    let rule = map.rule("default", None, "host").expect("the map has it");
    for x in 0..100 {
        let mut osds = map.place(&rule, x, 3, &map.all_in()[..2]);
        osds.sort_unstable();
        assert_eq!(osds, [0, 1]);
    }
}

#[test]
fn weights_are_cut_as_ceph_cuts_them() {
    assert_eq!(Weight::of(1.0), Weight::ONE);
    // 9.095 x 65,536 = 596,049.92.
    assert_eq!(Weight::of(9.095), Weight(596_049));
    assert_eq!(
        [Weight::of(-1.0), Weight::of(f64::NAN), Weight::of(1e9)],
        [Weight::ZERO, Weight::ZERO, Weight(u32::MAX)]
    );
    assert_eq!(Weight(98_304).value(), 1.5);
}

#[test]
fn one_more_pg_takes_from_one_alone() {
    // 12 = 0b1100: the thirteenth PG splits number 12 - 8 = 4.
    for object in 0..2_000 {
        let name = format!("object{object}");
        let (before, after) = (object_pg(&name, 12), object_pg(&name, 13));
        assert!(before < 12 && (after == before || (before == 4 && after == 12)), "{name}: {before} -> {after}");
    }
}

#[test]
fn among_equals_the_straws_of_their_logarithms_decide() {
    // With the heaviest, quotients are small numbers, and many straws are equally long.
    for (count, weight) in [(16, 1), (70, 0x1_0000), (130, 596_049), (16, u32::MAX / 16), (200, u32::MAX / 200)] {
        let mut builder = Builder::new(&LEVELS);
        let items: Vec<Item> = (0..count).map(|osd| Item::Osd(osd, Weight(weight))).collect();
        for osd in 0..count {
            builder.osd(osd, None).expect("OSDs differ");
        }
        builder.bucket("root", "default", -1, &items).expect("the OSDs are there");
        let map = builder.build();
        let rule = map.rule("default", None, "osd").expect("the map has it");
        for x in 0..4000 {
            let straw = |osd: &u32| (crush_ln(hash32_3(x, *osd, 0) as u16) as i64 - (1 << 48)) / i64::from(weight);
            // Of equally long ones `max_by_key` takes the last.
            let longest = (0..count).rev().max_by_key(straw).into_iter().collect::<Vec<_>>();
            assert_eq!(map.place(&rule, x, 1, &map.all_in()), longest, "{count} of {weight}, x {x}");
        }
    }
}
