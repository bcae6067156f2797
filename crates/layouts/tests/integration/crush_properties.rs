//! What CRUSH promises, and the balance of placement groups, over drawn maps.

use std::collections::BTreeMap;

use hotband_layouts::crush::{Builder, CrushMap, Host, Item, Move, Osd, Placement, Pool, Rule, Weight};
use proptest::prelude::*;

const LEVELS: [&str; 3] = ["osd", "host", "root"];

/// Standard deviations that a count may be off: a count is so in two of a thousand million cases.
const SIGMAS: f64 = 6.0;

fn flat(weights: &[u32]) -> CrushMap {
    let mut builder = Builder::new(&LEVELS);
    for osd in 0..weights.len() as u32 {
        builder.osd(osd, None).expect("OSDs differ");
    }
    let items: Vec<Item> = (0..).zip(weights).map(|(osd, &weight)| Item::Osd(osd, Weight(weight))).collect();
    builder.bucket("root", "default", -1, &items).expect("the OSDs are there");
    builder.build()
}

/// Hosts of OSDs: weight and whether of class ssd.
fn cluster(hosts: &[Vec<(u32, bool)>]) -> CrushMap {
    let names: Vec<String> = (0..hosts.len()).map(|host| format!("h{host}")).collect();
    let mut number = 0..;
    let mut osd = |&(weight, ssd): &(u32, bool)| {
        let number = number.next().expect("numbers do not end");
        Osd { number, weight: Weight(weight), class: Some(if ssd { "ssd" } else { "hdd" }) }
    };
    let host = |(name, osds): (_, &Vec<(u32, bool)>)| Host { name, osds: osds.iter().map(&mut osd).collect() };
    let hosts: Vec<Host> = names.iter().map(String::as_str).zip(hosts).map(host).collect();
    CrushMap::of_hosts(&hosts).expect("hosts and OSDs differ")
}

/// Weights from half a TiB to 20 TiB.
fn weight() -> impl Strategy<Value = u32> {
    0x8000_u32..20 * 0x1_0000
}

fn hosts(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<(u32, bool)>>> {
    // The first OSD of each host is an SSD, so that every host has one.
    let host = prop::collection::vec(weight(), 2..6)
        .prop_map(|weights| weights.into_iter().enumerate().map(|(slot, weight)| (weight, slot == 0)).collect());
    prop::collection::vec(host, count)
}

fn rule(map: &CrushMap, class: Option<&str>, domain: &str) -> Rule {
    map.rule("default", class, domain).expect("the map has it")
}

/// Every PG has distinct OSDs in distinct domains, all of them within the rule's reach.
fn assert_apart(map: &CrushMap, rule: &Rule, pgs: &[Vec<u32>]) -> Result<(), TestCaseError> {
    let domains: BTreeMap<u32, i32> = map.reach(rule).into_iter().map(|(osd, domain, _)| (osd, domain)).collect();
    for pg in pgs {
        let mut of_pg: Vec<Option<&i32>> = pg.iter().map(|osd| domains.get(osd)).collect();
        prop_assert!(of_pg.iter().all(Option::is_some), "{pg:?} leaves the rule's reach");
        of_pg.sort_unstable();
        of_pg.dedup();
        prop_assert_eq!(of_pg.len(), pg.len(), "{:?} shares a failure domain", pg);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn straws_fall_in_proportion_to_weight(weights in prop::collection::vec(weight(), 2..16)) {
        const DRAWS: u32 = 20_000;
        let map = flat(&weights);
        let rule = rule(&map, None, "osd");
        let mut counts = vec![0_u32; weights.len()];
        (0..DRAWS).for_each(|x| counts[map.place(&rule, x, 1, &map.all_in())[0] as usize] += 1);
        let all: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        for (count, weight) in counts.into_iter().zip(weights) {
            let share = f64::from(weight) / all;
            let sigma = (f64::from(DRAWS) * share * (1.0 - share)).sqrt();
            let off = f64::from(count) - f64::from(DRAWS) * share;
            prop_assert!(off.abs() < SIGMAS * sigma, "{count} of {DRAWS} for a share of {share}");
        }
    }

    #[test]
    fn a_weight_that_grows_only_draws_to_itself(
        weights in prop::collection::vec(weight(), 2..16), which: prop::sample::Index, more in 1_u32..20 * 0x1_0000,
    ) {
        let grown = which.index(weights.len());
        let before = flat(&weights);
        let mut heavier = weights.clone();
        heavier[grown] += more;
        let after = flat(&heavier);
        let rule = rule(&before, None, "osd");
        let (mut moved, draws) = (0_u32, 4_000_u32);
        for x in 0..draws {
            let (old, new) = (before.place(&rule, x, 1, &before.all_in()), after.place(&rule, x, 1, &after.all_in()));
            prop_assert!(old == new || new == [grown as u32], "x {x} moved from {old:?} to {new:?}");
            moved += u32::from(old != new);
        }
        // What moves is what its share grew by.
        let share = |weights: &[u32]| {
            f64::from(weights[grown]) / weights.iter().map(|&weight| f64::from(weight)).sum::<f64>()
        };
        let grew = share(&heavier) - share(&weights);
        let sigma = (f64::from(draws) * grew * (1.0 - grew)).sqrt();
        prop_assert!((f64::from(moved) - f64::from(draws) * grew).abs() < SIGMAS * sigma + 1.0, "{moved} moved for {grew}");
    }

    #[test]
    fn an_osd_out_moves_its_own_replicas_only(hosts in hosts(4..8), which: prop::sample::Index) {
        let map = cluster(&hosts);
        let rule = rule(&map, None, "host");
        let mut reweight = map.all_in();
        let out = which.index(reweight.len());
        let pool = Pool { id: 3, pg_num: 256, size: 1 };
        let before = Placement::of_pool(&map, &rule, &pool, &reweight);
        reweight[out] = Weight::ZERO;
        let after = Placement::of_pool(&map, &rule, &pool, &reweight);
        for (old, new) in before.pgs.iter().zip(&after.pgs) {
            prop_assert_eq!(old == new, old != &[out as u32]);
            prop_assert!(!new.contains(&(out as u32)));
        }
    }

    #[test]
    fn replicas_are_apart(hosts in hosts(3..8), size in 1_u32..4, by_host: bool, ssd in prop::option::of(any::<bool>())) {
        let map = cluster(&hosts);
        let class = ssd.map(|ssd| if ssd { "ssd" } else { "hdd" });
        let rule = rule(&map, class, if by_host { "host" } else { "osd" });
        let placement = Placement::of_pool(&map, &rule, &Pool { id: 2, pg_num: 128, size }, &map.all_in());
        assert_apart(&map, &rule, &placement.pgs)?;
        prop_assert!(placement.pgs.iter().all(|pg| pg.len() <= size as usize));
        if let Some(class) = class {
            prop_assert!(placement.pgs.iter().flatten().all(|&osd| map.class_of(osd) == Some(class)));
        }
    }

    #[test]
    fn the_balance_reaches_its_goal_and_keeps_replicas_apart(
        hosts in hosts(3..9), size in 1_u32..4, pg_num in 1_u32..600, by_host: bool, class in prop::option::of(Just("hdd")),
        out in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let map = cluster(&hosts);
        let rule = rule(&map, class, if by_host { "host" } else { "osd" });
        let mut reweight = map.all_in();
        if let Some(out) = out {
            let out = out.index(reweight.len());
            reweight[out] = Weight::ZERO;
        }
        let before = Placement::of_pool(&map, &rule, &Pool { id: 5, pg_num, size }, &reweight);
        let mut after = before.clone();
        let moves = after.balance(&map, &rule, &reweight);
        assert_apart(&map, &rule, &after.pgs)?;

        let mut replayed = before.clone();
        for step in &moves {
            let place = replayed.pgs[step.pg as usize].iter().position(|&osd| osd == step.from);
            replayed.pgs[step.pg as usize][place.expect("a move starts where the replica is")] = step.to;
        }
        prop_assert_eq!(&replayed, &after);
        prop_assert!(after.pgs.iter().flatten().all(|&osd| reweight[osd as usize] > Weight::ZERO));

        let by_osd = after.surplus(&map, &rule, &reweight);
        for &(osd, surplus) in &by_osd {
            // A move takes one from an OSD, or gives it one.
            let had = before.surplus(&map, &rule, &reweight).into_iter().find(|(have, _)| *have == osd).unwrap().1;
            let moved = |end: fn(&Move) -> u32| moves.iter().filter(|step| end(step) == osd).count() as f64;
            prop_assert!((had + moved(|step| step.to) - moved(|step| step.from) - surplus).abs() < 1e-6, "OSD {}", osd);
        }
        let surplus: Vec<f64> = by_osd.into_iter().map(|(_, surplus)| surplus).collect();
        if before.pgs.iter().all(|pg| pg.len() == size as usize) {
            let most = surplus.iter().fold(0.0_f64, |most, surplus| most.max(surplus.abs()));
            prop_assert!(most < 1.0 + 1e-6, "an OSD is {most} PGs off its share: {surplus:?}");
        }
        let mut again = after.clone();
        prop_assert_eq!(again.balance(&map, &rule, &reweight), []);
        let mut twice = before;
        prop_assert_eq!(twice.balance(&map, &rule, &reweight), moves);
    }
}

/// Five hosts of four equal disks: 1,024 PGs of three replicas are 153.6 a disk, so none has more than 154 in balance.
#[test]
fn equal_disks_differ_by_one_pg_in_balance_and_by_many_without() {
    let map = cluster(&vec![vec![(9 << 16, false); 4]; 5]);
    let rule = rule(&map, Some("hdd"), "host");
    let mut placement = Placement::of_pool(&map, &rule, &Pool { id: 1, pg_num: 1024, size: 3 }, &map.all_in());
    let spread = |placement: &Placement| {
        let counts = placement.counts(20);
        counts.iter().max().expect("20 disks") - counts.iter().min().expect("20 disks")
    };
    assert!(spread(&placement) > 10);
    let moves = placement.balance(&map, &rule, &map.all_in());
    assert_eq!(spread(&placement), 1);
    // No more replicas move than there were too many.
    assert!(moves.len() < 200, "{} moves", moves.len());
}

/// A host with as much capacity as the three others together can hold one replica of each PG and no more.
#[test]
fn a_host_too_heavy_for_its_domain_holds_one_replica_of_each_pg() {
    let map = cluster(&[
        vec![(30 << 16, false); 2],
        vec![(10 << 16, false); 2],
        vec![(10 << 16, false); 2],
        vec![(10 << 16, false); 2],
    ]);
    let rule = rule(&map, None, "host");
    let mut placement = Placement::of_pool(&map, &rule, &Pool { id: 1, pg_num: 300, size: 3 }, &map.all_in());
    placement.balance(&map, &rule, &map.all_in());
    assert_eq!(placement.counts(8), [150, 150, 100, 100, 100, 100, 100, 100]);
}
