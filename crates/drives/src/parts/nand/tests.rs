//! When is a read, a program or an erase done, and who waits for whom? Channels carry a byte in a nanosecond.

use super::*;

const US: u64 = 1000;
const READ: Span = Span(50 * US);

const fn us(time: u64) -> Instant {
    Instant(time * US)
}

fn params(planes_alone: bool) -> NandParams {
    NandParams {
        dies: 2,
        channels: 2,
        planes: 2,
        quick: None,
        planes_alone,
        page_bytes: 16_000,
        program_bytes: 32_000,
        read: READ,
        program: Span(600 * US),
        erase: Span(1000 * US),
        channel_rate: Rate(1_000_000_000),
        program_rate: Rate(100_000_000),
        suspend: Some(Span(5 * US)),
        patience: Span(100 * US),
    }
}

fn erasing(planes_alone: bool) -> Nand {
    let mut nand = Nand::new(params(planes_alone));
    nand.queue(Instant(0), 0, Job::Erase);
    nand
}

/// Passes that are programmed by `now`.
fn programmed(nand: &mut Nand, now: Instant) -> Vec<u64> {
    let mut passes = Vec::new();
    nand.advance(now, &mut passes);
    passes
}

#[test]
fn an_erase_is_suspended_for_a_read_until_it_waited_for_longer_than_the_patience() {
    for (arrives, ready, suspends) in [(10, 65, 1), (100, 155, 1), (101, 1050, 0), (500, 1050, 0)] {
        for planes_alone in [false, true] {
            let mut nand = erasing(planes_alone);
            assert_eq!(nand.read_one(us(arrives), 0, 0, READ), us(ready), "at {arrives} us");
            assert_eq!(nand.counters.suspends, suspends, "at {arrives} us");
            // It takes as much longer as it stood still.
            let ends = if suspends > 0 { 1055 } else { 1000 };
            programmed(&mut nand, Instant(ends * US - 1));
            assert!(!nand.is_idle(), "at {arrives} us");
            programmed(&mut nand, us(ends));
            assert!(nand.is_idle(), "at {arrives} us");
        }
    }
}

#[test]
fn reads_of_a_die_follow_one_another_and_those_of_planes_that_read_alone_only_on_the_same_plane() {
    let mut together = Nand::new(params(false));
    let ready = [(0, 0), (10, 3), (10, 2)].map(|(at, page)| together.read_one(us(at), 1, page, READ));
    assert_eq!(ready, [50, 100, 150].map(us));
    assert_eq!((together.read(us(160), 1, 4, READ), together.read_one(us(30), 0, 1, READ)), (us(210), us(80)));
    assert_eq!((together.counters.host_page_reads, together.counters.die_busy), (8, Span(250 * US)));

    let mut alone = Nand::new(params(true));
    let ready = [(0, 0), (10, 3), (10, 2)].map(|(at, page)| alone.read_one(us(at), 1, page, READ));
    assert_eq!(ready, [50, 60, 100].map(us));
    assert_eq!(alone.read_on_planes(us(20), 1, (4, 0), READ), us(150), "several pages wait for all planes");
    assert_eq!((alone.read_one(us(30), 1, 1, READ), alone.read_one(us(30), 0, 1, READ)), (us(200), us(80)));
    // A plane is half of a die.
    assert_eq!((alone.counters.host_page_reads, alone.counters.die_busy), (9, Span(175 * US)));
}

#[test]
fn what_is_suspended_for_one_plane_stays_so_until_the_last_has_read() {
    let mut nand = erasing(true);
    assert_eq!(nand.read_one(us(10), 0, 0, READ), us(65));
    // No pause for the second plane: one that is done before the first, and one that is done later.
    assert_eq!(nand.read_one(us(20), 0, 1, Span(20 * US)), us(40));
    assert_eq!(nand.read_one(us(50), 0, 1, READ), us(100));
    assert_eq!(nand.counters.suspends, 1);
    programmed(&mut nand, Instant(1090 * US - 1));
    assert!(!nand.is_idle());
    programmed(&mut nand, us(1090));
    assert!(nand.is_idle());
}

#[test]
fn a_read_goes_before_a_program_that_has_not_begun() {
    for planes_alone in [false, true] {
        let mut nand = Nand::new(NandParams { patience: Span(1000 * US), ..params(planes_alone) });
        nand.queue(us(0), 0, Job::Program(1));
        // The rate of programs holds it back until 320 us.
        nand.queue(us(0), 1, Job::Program(2));
        assert_eq!(nand.programs(), 2);
        for (arrives, ready) in [(10, 60), (300, 350), (350, 400)] {
            assert_eq!(nand.read_one(us(arrives), 1, 0, READ), us(ready), "at {arrives} us");
        }
        assert_eq!(programmed(&mut nand, Instant(632 * US - 1)), [0; 0]);
        assert_eq!(programmed(&mut nand, us(632)), [1]);
        assert_eq!((nand.programs(), nand.counters.suspends), (1, 0));
        assert_eq!(programmed(&mut nand, Instant(1032 * US - 1)), [0; 0]);
        assert_eq!(programmed(&mut nand, us(1032)), [2]);
        assert_eq!((nand.programs(), nand.is_idle()), (0, true));
    }
}

#[test]
fn a_read_waits_for_relocation_and_for_all_that_a_drive_cannot_suspend() {
    for planes_alone in [false, true] {
        let mut nand = Nand::new(params(planes_alone));
        // Three pages on two planes: twice the time of a read.
        nand.queue(us(0), 0, Job::Read(3));
        assert_eq!(nand.read_one(us(10), 0, 0, READ), us(150));
        assert_eq!((nand.counters.suspends, nand.counters.relocation_page_reads), (0, 3));
        let mut nand = Nand::new(NandParams { suspend: None, ..params(planes_alone) });
        nand.queue(us(0), 0, Job::Erase);
        assert_eq!(nand.read_one(us(10), 0, 0, READ), us(1050));
        // What is over at that very moment is waited for by nobody.
        assert_eq!(nand.read_one(us(1050), 0, 0, READ), us(1100));
    }
}

#[test]
fn a_job_begins_after_the_reads_that_were_accepted() {
    let mut nand = Nand::new(params(false));
    nand.read(us(0), 0, 1, READ);
    nand.queue(us(10), 0, Job::Erase);
    assert_eq!(nand.wake(), Some(us(50)));
    programmed(&mut nand, us(50));
    assert_eq!(nand.wake(), Some(us(1050)));
    programmed(&mut nand, us(1050));
    assert_eq!((nand.wake(), nand.is_idle(), nand.counters.die_busy), (None, true, Span(1050 * US)));
}

#[test]
fn a_job_that_waited_for_longer_than_the_patience_takes_its_turn_before_later_reads() {
    for (patience, wake, ready) in [(49, 1100, 1150), (50, 100, 150)] {
        let mut nand = Nand::new(NandParams { patience: Span(patience * US), ..params(false) });
        nand.queue(us(0), 0, Job::Read(1));
        nand.queue(us(0), 0, Job::Erase);
        assert_eq!(nand.read(us(10), 0, 1, READ), us(100));
        programmed(&mut nand, us(50));
        assert_eq!(nand.wake(), Some(us(wake)), "patience of {patience} us");
        assert_eq!(nand.read(us(60), 0, 1, READ), us(ready), "patience of {patience} us");
    }
}

#[test]
fn jobs_of_a_die_are_done_in_order_each_when_the_one_before_it_is() {
    let mut nand = Nand::new(params(false));
    for job in [Job::Program(7), Job::Program(8), Job::Erase] {
        nand.queue(us(0), 0, job);
    }
    assert_eq!(programmed(&mut nand, us(1264)), [7, 8]);
    assert_eq!((nand.wake(), nand.is_idle()), (Some(us(2264)), false));
    assert_eq!(programmed(&mut nand, us(9999)), [0; 0]);
    assert_eq!((nand.wake(), nand.is_idle(), nand.counters.die_busy), (None, true, Span(2264 * US)));
}

#[test]
fn data_of_reads_crosses_one_after_the_other_on_the_channel_of_its_die() {
    let mut nand = Nand::new(NandParams { dies: 4, ..params(false) });
    let crossed =
        [(0, 4096), (2, 4096), (0, 8192), (1, 4096), (3, 100)].map(|(die, bytes)| nand.cross(us(0), die, bytes));
    assert_eq!(crossed, [4096, 8192, 16_384, 4096, 4196].map(Instant));
    assert_eq!(nand.cross(us(20), 0, 4096), Instant(24_096));
}

#[test]
fn data_of_reads_crosses_between_the_pages_of_a_program() {
    let mut nand = Nand::new(params(false));
    nand.queue(us(0), 0, Job::Program(1));
    // The program is on the wire for 32 us and what passes it; on average half a page of 16 us is in the way.
    assert_eq!(nand.cross(us(0), 0, 4096), Instant(12_096));
    assert_eq!(nand.cross(us(0), 0, 4096), Instant(24_192));
    assert_eq!(nand.cross(us(40), 0, 4096), Instant(44_288), "the last 192 ns of it");
    assert_eq!(nand.cross(us(50), 0, 4096), Instant(54_096));
    assert_eq!(nand.cross(us(0), 1, 4096), Instant(4096), "the other channel");
}

#[test]
fn passes_of_the_cache_have_times_and_a_rate_of_their_own() {
    let quick = QuickParams { bytes: 16_000, read: READ, program: Span(100 * US), rate: Rate(100_000_000) };
    let mut nand = Nand::new(NandParams { quick: Some(quick), ..params(false) });
    nand.queue(us(0), 0, Job::Quick(1));
    nand.queue(us(0), 1, Job::Quick(2));
    assert_eq!((nand.programs(), nand.wake()), (2, Some(us(116))));
    // The second begins at 160 us and is on its channel for 16 us.
    assert_eq!(nand.cross(us(160), 1, 4096), Instant(172_096));
    assert_eq!(programmed(&mut nand, us(200)), [1]);
    nand.queue(us(200), 0, Job::Program(3));
    assert_eq!(programmed(&mut nand, us(276)), [2]);
    assert_eq!(nand.wake(), Some(us(952)), "320 us, 32 us on the channel, 600 us");
    assert_eq!(nand.counters.die_busy, Span((116 + 116 + 632) * US));
}
