//! Does every seed of the fuzz corpus, and everything near it, still pass?

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use hotband_results::fuzzing;
use proptest::prelude::*;

fn seeds() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/logs");
    let entries = fs::read_dir(folder).expect("the corpus is in fuzz/corpus/logs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect()
}

#[test]
fn the_corpus_passes() {
    let seeds = seeds();
    assert!(seeds.len() >= 8);
    for seed in seeds {
        fuzzing::logs(&seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_near_the_corpus_passes(
        which in 0_usize..1000,
        cut in 0.0_f64..1.0,
        changes in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 0..5),
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
        fuzzing::logs(&data);
    }

    #[test]
    fn sums_are_those_of_the_lines(lines in prop::collection::vec((0_u64..5_000, any::<u32>(), 0_u64..2, 1_u32..9), 1..200)) {
        let mut text = String::new();
        for (time, value, direction, size) in &lines {
            writeln!(text, "{time}, {value}, {direction}, {size}, 0").expect("text grows");
        }
        let log = hotband_results::read_fio_log(text.as_bytes(), None).expect("they are samples");
        for direction in 0..2 {
            let own = || lines.iter().filter(|line| line.2 == direction);
            let samples = &log.directions[direction as usize];
            prop_assert_eq!(samples.count, own().count() as u64);
            prop_assert_eq!(samples.sum, own().map(|line| u128::from(line.1)).sum::<u128>());
            prop_assert_eq!(samples.bytes, own().map(|line| u64::from(line.3)).sum::<u64>());
            for row in &samples.rows {
                prop_assert_eq!(row.count, own().filter(|line| line.0 / 1000 == row.second).count() as u64);
            }
        }
    }
}
