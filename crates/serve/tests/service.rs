//! Are answers on time, never early, and does the store hold what was written?

use std::sync::mpsc::channel;

use hotband_machine::Op;
use hotband_serve::{Failure, Fixed, Memory, Options, Payload, Request, Service};
use hotband_units::{Instant, Span};

const MIB: u64 = 1 << 20;

fn request(service: &Service, op: Op, offset: u64, len: u32) -> Request {
    Request { volume: 0, op, offset, len, fua: false, arrived: service.now() }
}

fn started(latency: Span) -> std::sync::Arc<Service> {
    let model = Box::new(Fixed::new(MIB, latency));
    Service::start(model, Box::new(Memory::default()), Options::default()).expect("a thread can be started")
}

/// Asks and waits; when it was answered.
fn ask(service: &Service, request: Request, payload: Payload) -> (Instant, Result<(), Failure>) {
    let (sender, receiver) = channel();
    service.submit(request, payload, Box::new(move |outcome| sender.send(outcome).expect("somebody waits")));
    let outcome = receiver.recv().expect("every request is answered");
    (service.now(), outcome)
}

#[test]
fn no_answer_is_early_and_what_was_written_is_read() {
    let service = started(Span(3_000_000));
    let data = [7; 4096];
    for offset in (0..MIB).step_by(65536) {
        let write = request(&service, Op::Write, offset, 4096);
        let (at, outcome) = ask(&service, write, Payload::Data(&data));
        outcome.expect("served");
        assert!(at >= write.arrived + Span(3_000_000));
    }
    let mut found = [0; 8192];
    service.read(0, 65536, &mut found).expect("memory");
    assert_eq!((found[0], found[4095], found[4096]), (7, 7, 0));
    // An answer is counted after it was told: the last one perhaps a moment later.
    while service.tally().answers() < 16 {
        std::thread::yield_now();
    }
    let lateness = service.tally().told().lateness.expect("there were answers");
    assert!(lateness.p50_ns < 3_000_000, "half of the answers were later than the latency itself: {lateness:?}");
}

#[test]
fn what_does_not_fit_the_volume_is_refused_and_what_comes_after_the_end_gets_no_answer() {
    let service = started(Span::ZERO);
    for (op, offset, len) in [(Op::Read, MIB, 512), (Op::Read, 100, 512), (Op::Write, 0, 100), (Op::Read, 0, 0)] {
        let (_, outcome) = ask(&service, request(&service, op, offset, len), Payload::None);
        assert!(matches!(outcome, Err(Failure::OutOfRange)), "{op:?} {offset} {len}");
    }
    service.stop();
    let (_, outcome) = ask(&service, request(&service, Op::Read, 0, 512), Payload::None);
    assert!(matches!(outcome, Err(Failure::Gone)));
    assert!(service.finish().expect("nothing watches it").is_none());
}
