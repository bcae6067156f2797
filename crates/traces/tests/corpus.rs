//! Does every seed of the fuzz corpus, and everything near it, still pass?
#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::PathBuf;

use hotband_traces::fuzzing;
use proptest::prelude::*;

fn seeds() -> Vec<Vec<u8>> {
    seeds_of("traces")
}

fn seeds_of(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).expect("the corpus is in fuzz/corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect()
}

#[test]
fn the_corpus_passes() {
    let seeds = seeds();
    assert!(seeds.len() >= 18);
    for seed in &seeds {
        fuzzing::traces(seed);
    }
}

#[test]
fn tables_by_their_columns_pass() {
    let seeds = seeds_of("trace-columns");
    assert!(seeds.len() >= 4);
    for seed in &seeds {
        fuzzing::columns(seed);
        (0..seed.len()).for_each(|end| fuzzing::columns(&seed[..end]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_near_the_corpus_passes(
        which in 0_usize..1000,
        cut in 0.0_f64..1.0,
        changes in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 0..5),
        other in 0_usize..1000,
    ) {
        let seeds = seeds();
        let mut data = seeds[which % seeds.len()].clone();
        for (place, byte) in changes {
            let at = (place * data.len() as f64) as usize;
            if let Some(found) = data.get_mut(at) {
                *found = byte;
            }
        }
        if cut < 0.5 {
            data.truncate((cut * 2.0 * data.len() as f64) as usize);
        }
        data.extend(&seeds[other % seeds.len()]);
        fuzzing::traces(&data);
    }

    #[test]
    fn any_bytes_pass(data in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzzing::traces(&data);
    }
}
