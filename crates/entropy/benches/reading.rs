//! Does the measurement read as fast as its compressors compress?

fn main() {}
