//! Any bytes as a table whose columns its first line says: I/Os or a one-line error, never a panic.
#![no_main]

use hotband_traces::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzzing::columns(data));
