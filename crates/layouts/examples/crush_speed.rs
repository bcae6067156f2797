//! Prints how long CRUSH takes for 100,000 placement groups of three replicas, and their balance:
//! `cargo run --release -p hotband-layouts --example crush_speed`.

use std::time::Instant;

use hotband_layouts::crush::{CrushError, CrushMap, Host, Osd, Placement, Pool, Weight};

/// PGs of the pool.
const PGS: u32 = 100_000;

fn main() -> Result<(), CrushError> {
    for (hosts, each) in [(4, 6), (20, 12), (100, 20)] {
        measure(hosts, each)?;
    }
    Ok(())
}

/// Hosts of `each` disks of 12.7 TiB.
fn measure(hosts: u32, each: u32) -> Result<(), CrushError> {
    let names: Vec<String> = (0..hosts).map(|host| format!("host{host}")).collect();
    let osd = |number| Osd { number, weight: Weight::of(12.7), class: Some("hdd") };
    let host = |(name, at): (_, u32)| Host { name, osds: (at * each..(at + 1) * each).map(osd).collect() };
    let described: Vec<Host> = names.iter().map(String::as_str).zip(0..).map(host).collect();
    let map = CrushMap::of_hosts(&described)?;
    let rule = map.rule("default", Some("hdd"), "host")?;
    let reweight = map.all_in();

    let began = Instant::now();
    let mut placement = Placement::of_pool(&map, &rule, &Pool { id: 1, pg_num: PGS, size: 3 }, &reweight);
    let placed = began.elapsed();
    let scatter = range(&placement.counts(reweight.len()));
    let began = Instant::now();
    let moves = placement.balance(&map, &rule, &reweight).len();
    let balanced = began.elapsed();
    println!(
        "{hosts} hosts of {each} OSDs, {PGS} PGs: placed in {placed:.1?} (PGs an OSD {scatter}), balanced in {balanced:.1?} \
         ({moves} moves, PGs an OSD {})",
        range(&placement.counts(reweight.len()))
    );
    Ok(())
}

fn range(counts: &[u32]) -> String {
    format!("{} to {}", counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0))
}
