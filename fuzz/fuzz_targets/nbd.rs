//! Any bytes as an NBD client: every request is answered at most once and in the protocol, or the client is hung up on.
#![no_main]

use std::sync::LazyLock;

use hotband_serve::nbd::fuzzing::Partner;
use hotband_units::Span;
use libfuzzer_sys::fuzz_target;

static PARTNER: LazyLock<Partner> = LazyLock::new(|| Partner::new(Span::ZERO));

fuzz_target!(|data: &[u8]| {
    PARTNER.converse(data);
});
