//! Does every seed of the fuzz corpus, and everything near it, still pass?

use crate::common;
use std::path::PathBuf;

use hotband_engine::fuzzing;

#[test]
fn the_corpus_passes() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/spec");
    let mut seeds = 0;
    for entry in std::fs::read_dir(dir).expect("the corpus is in fuzz/corpus/spec") {
        let path = entry.expect("the folder can be read").path();
        let data = std::fs::read(&path).expect("a seed can be read");
        println!("{}", path.display());
        fuzzing::spec(&data, &common::catalog());
        // Cut short, or with a byte missing, it is another seed.
        for cut in common::one_in(4, (0..data.len()).step_by(97).collect()) {
            fuzzing::spec(&data[..cut], &common::catalog());
            fuzzing::spec(&[&data[..cut], &data[cut + 1..]].concat(), &common::catalog());
        }
        seeds += 1;
    }
    assert!(seeds >= 20, "{seeds} seeds");
}
