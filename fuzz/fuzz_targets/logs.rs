//! Any bytes as a log of another tool: sums or a one-line error, never a panic.
#![no_main]

use hotband_results::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzzing::logs(data));
