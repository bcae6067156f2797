//! Any bytes as a spec: an answer or a one-line error, never a panic.
#![no_main]

use std::sync::LazyLock;

use hotband_engine::{Catalog, fuzzing};
use libfuzzer_sys::fuzz_target;

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../python/hotband/data/catalog")));

fuzz_target!(|data: &[u8]| fuzzing::spec(data, &CATALOG));
