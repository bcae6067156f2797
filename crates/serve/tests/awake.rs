//! May the cores of the host sleep again once a machine is no longer served? A separate program, so that no other test
//! opens files in its process.

use std::fs;
use std::path::Path;

use hotband_serve::{Fixed, Memory, Options, Service};
use hotband_units::Span;

/// Number of this process's files that keep cores awake.
fn keeping_awake() -> usize {
    let files = fs::read_dir("/proc/self/fd").expect("Linux has it").flatten();
    files.filter(|file| fs::read_link(file.path()).is_ok_and(|path| path == Path::new("/dev/cpu_dma_latency"))).count()
}

#[test]
fn cores_may_sleep_once_it_has_stopped_though_it_is_still_held() {
    let service =
        Service::start(Box::new(Fixed::new(1 << 20, Span(1_000))), Box::new(Memory::default()), Options::default());
    let service = service.expect("a thread can be started");
    let is_kept = service.tally().told().cores_awake;
    assert_eq!(keeping_awake(), usize::from(is_kept));
    service.stop();
    assert_eq!(keeping_awake(), 0);
}
