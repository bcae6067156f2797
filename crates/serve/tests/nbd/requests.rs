//! Requests and their answers.

use hotband_serve::nbd::Limits;
use hotband_serve::nbd::proto::{command, error, flag};
use hotband_units::Span;

use crate::client::{Client, MIB, Served, request, served, served_with};

/// Answers of one kind of I/O that the machine gave, of `all` that it gave: it counts one after sending it.
fn answered(served: &Served, kind: &str, all: u64) -> u64 {
    while served.service.tally().answers() < all {
        std::thread::yield_now();
    }
    served.service.tally().told().kinds.iter().find(|told| told.kind == kind).map_or(0, |told| told.count)
}

#[test]
fn what_is_written_is_read_by_every_connection() {
    let served = served(8 * MIB);
    let (mut one, mut other) = (Client::ready(&served.socket, false), Client::ready(&served.socket, true));
    let data: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    assert_eq!(one.ask(command::WRITE, flag::FUA, 512, 299_008, &data[..299_008]), 0);
    assert_eq!(one.ask(command::FLUSH, 0, 0, 0, &[]), 0);
    for client in [&mut one, &mut other] {
        let found = client.read(0, 1 << 20);
        assert!(found[..512].iter().all(|byte| *byte == 0) && found[512..299_520] == data[..299_008]);
        assert!(found[299_520..].iter().all(|byte| *byte == 0));
        assert_eq!(client.read(512, 512), data[..512]);
    }
}

#[test]
fn holes_of_a_long_read_are_told_unless_the_client_wants_one_chunk() {
    let served = served(8 * MIB);
    let mut client = Client::ready(&served.socket, true);
    client.ask(command::WRITE, 0, MIB, 4096, &[9; 4096]);
    client.say(&request(command::READ, 0, 1, 0, 4 << 20, &[]));
    let answer = client.answer(0);
    let whole: Vec<u8> = answer.data.iter().flat_map(|(_, data)| data.clone()).collect();
    assert_eq!((answer.holes, whole.len(), whole[MIB as usize], whole[MIB as usize + 4096]), (2, 4 << 20, 9, 0));
    client.say(&request(command::READ, flag::DF, 2, 0, 4 << 20, &[]));
    let answer = client.answer(0);
    assert_eq!((answer.holes, answer.data.len()), (0, 1));
    assert_eq!(answer.data[0].1, whole);
}

#[test]
fn what_the_protocol_forbids_gets_its_number_and_the_connection_lives() {
    let served = served(8 * MIB);
    let (end, most) = (8 * MIB, 32 << 20);
    for is_structured in [false, true] {
        let mut client = Client::ready(&served.socket, is_structured);
        for (command, flags, offset, len, want) in [
            (command::READ, 0, end, 512, error::EINVAL),
            (command::READ, 0, u64::MAX - 511, 512, error::EINVAL),
            (command::READ, 0, 0, most + 512, error::EINVAL),
            (command::READ, 0, 1, 512, error::EINVAL),
            (command::READ, 0, 0, 100, error::EINVAL),
            (command::READ, 0, 0, 0, error::EINVAL),
            (command::READ, flag::REQ_ONE, 0, 512, error::EINVAL),
            (command::WRITE, 0, end - 512, 1024, error::ENOSPC),
            (command::WRITE, 0, 100, 512, error::EINVAL),
            (command::WRITE, flag::NO_HOLE, 0, 512, error::EINVAL),
            (command::WRITE_ZEROES, 0, end, 4096, error::ENOSPC),
            (command::WRITE_ZEROES, 1 << 4, 0, 4096, error::EINVAL),
            (command::TRIM, 0, end, 4096, error::EINVAL),
            (command::TRIM, 0, 0, 100, error::EINVAL),
            (command::FLUSH, 0, 512, 0, error::EINVAL),
            (command::BLOCK_STATUS, 0, end, 512, error::EINVAL),
            // CACHE, RESIZE, and what there is not.
            (5, 0, 0, 512, error::EINVAL),
            (8, 0, 0, 512, error::EINVAL),
            (99, 0, 0, 512, error::EINVAL),
        ] {
            let data = vec![1; if command == command::WRITE { len as usize } else { 0 }];
            assert_eq!(client.ask(command, flags, offset, len, &data), want, "{command} {flags} {offset} {len}");
        }
        assert_eq!(client.ask(command::READ, 0, 0, 512, &[]), 0);
    }
    assert_eq!(answered(&served, "write", 2), 0, "nothing of it reached the machine");
}

#[test]
fn zeroes_are_a_trim_where_a_hole_is_welcome_and_a_write_where_not() {
    let served = served(8 * MIB);
    let mut client = Client::ready(&served.socket, true);
    client.ask(command::WRITE, 0, 0, 8192, &[5; 8192]);
    assert_eq!(client.ask(command::WRITE_ZEROES, 0, 0, 4096, &[]), 0);
    assert_eq!((answered(&served, "write", 2), answered(&served, "trim", 2)), (1, 1));
    assert_eq!(client.ask(command::WRITE_ZEROES, flag::NO_HOLE | flag::FUA, 4096, 4096, &[]), 0);
    assert_eq!((answered(&served, "write", 3), answered(&served, "trim", 3)), (2, 1));
    assert!(client.read(0, 8192).iter().all(|byte| *byte == 0));
}

#[test]
fn what_is_kept_of_a_range_is_told() {
    let served = served(8 * MIB);
    let mut client = Client::ready(&served.socket, true);
    client.ask(command::WRITE, 0, MIB, 1 << 16, &vec![1; 1 << 16]);
    let mut status = |flags, offset, len| {
        client.say(&request(command::BLOCK_STATUS, flags, 3, offset, len, &[]));
        let data = client.answer(0).data.remove(0).1;
        let numbers: Vec<u32> = data.chunks(4).map(|four| u32::from_be_bytes(four.try_into().expect("four"))).collect();
        numbers[1..].chunks(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    };
    assert_eq!(status(0, 0, 8 << 20), [(1 << 20, 3), (1 << 16, 0), ((7 << 20) - (1 << 16), 3)]);
    assert_eq!(status(flag::REQ_ONE, 0, 8 << 20), [(1 << 20, 3)]);
    assert_eq!(status(0, MIB + 512, 512), [(512, 0)]);
}

#[test]
fn a_range_of_four_gibibytes_is_handed_to_the_machine_in_pieces() {
    let served = served(5 << 30);
    let mut client = Client::ready(&served.socket, false);
    assert_eq!(client.ask(command::TRIM, 0, 512, u32::MAX - 511, &[]), 0);
    assert_eq!(answered(&served, "trim", 128), 128);
    assert_eq!(client.ask(command::WRITE_ZEROES, flag::NO_HOLE, 0, (64 << 20) + 512, &[]), 0);
    assert_eq!(answered(&served, "write", 131), 3);
}

#[test]
fn requests_that_come_together_are_all_answered() {
    let served = served(8 * MIB);
    for is_structured in [false, true] {
        let mut client = Client::ready(&served.socket, is_structured);
        // As one, two, and more than may be under way; the last one is alone in the end.
        for count in [1, 2, 3, 64, 1000] {
            let all: Vec<u8> =
                (0..count).flat_map(|cookie| request(command::READ, 0, cookie, cookie % 100 * 512, 512, &[])).collect();
            let mut sender = client.stream.try_clone().expect("a socket has two ends");
            let sending = std::thread::spawn(move || std::io::Write::write_all(&mut sender, &all));
            let mut cookies: Vec<u64> = (0..count).map(|_| client.answer(512).cookie).collect();
            sending.join().expect("no panic").expect("sent");
            cookies.sort_unstable();
            assert!(cookies.into_iter().eq(0..count));
        }
    }
}

#[test]
fn numbers_are_the_clients_own() {
    let served = served(MIB);
    let mut client = Client::ready(&served.socket, true);
    for cookie in [u64::MAX, 0, 7, 7, 1 << 63] {
        client.say(&request(command::READ, 0, cookie, 0, 512, &[]));
    }
    let mut cookies: Vec<u64> = (0..5).map(|_| client.answer(512).cookie).collect();
    cookies.sort_unstable();
    assert_eq!(cookies, [0, 7, 7, 1 << 63, u64::MAX]);
}

#[test]
fn a_client_that_leaves_gets_what_it_asked_for_before() {
    let served = served_with(MIB, Span(20_000_000), Limits::default());
    let mut client = Client::ready(&served.socket, false);
    client.say(&request(command::READ, 0, 1, 0, 4096, &[]));
    client.say(&request(command::DISC, 0, 2, 0, 0, &[]));
    assert_eq!(client.answer(4096).cookie, 1);
    assert!(client.is_hung_up());
}

#[test]
fn no_answer_is_early() {
    let served = served_with(MIB, Span(5_000_000), Limits::default());
    let mut client = Client::ready(&served.socket, true);
    for _ in 0..10 {
        let asked = served.service.now();
        client.read(0, 4096);
        assert!(served.service.now() >= asked + Span(5_000_000));
    }
}

#[test]
fn whoever_waits_for_the_machine_may_do_nothing_or_leave() {
    let served = served_with(MIB, Span(20_000_000), Limits::default());
    let mut idle = Client::ready(&served.socket, false);
    let mut busy = Client::ready(&served.socket, false);
    // The first that was ever answered waits for the machine on behalf of all.
    idle.read(0, 512);
    (0..40).for_each(|_| assert_eq!(busy.read(0, 512).len(), 512));
    busy.say(&request(command::READ, 0, 7, 0, 512, &[]));
    drop(idle);
    assert_eq!(busy.answer(512).cookie, 7);
}

#[test]
fn who_waits_for_room_leaves_waiting_for_the_machine_to_others() {
    let limits = Limits { requests: 1, ..Limits::default() };
    let served = served_with(MIB, Span(2_000_000), limits);
    let mut client = Client::ready(&served.socket, false);
    (0..10).for_each(|cookie| client.say(&request(command::READ, 0, cookie, 0, 512, &[])));
    (0..10).for_each(|cookie| assert_eq!(client.answer(512).cookie, cookie));
}

#[test]
fn a_flush_without_a_write_since_the_last_is_answered_at_once_where_the_client_is_fio() {
    let counts = |skips_repeated_flushes: bool| {
        let served = served_with(MIB, Span::ZERO, Limits { skips_repeated_flushes, ..Limits::default() });
        let mut client = Client::ready(&served.socket, false);
        for (kind, len) in [(command::WRITE, 512), (command::FLUSH, 0), (command::FLUSH, 0), (command::READ, 512)] {
            let data = if kind == command::WRITE { vec![1; len as usize] } else { Vec::new() };
            assert_eq!(client.ask(kind, 0, 0, len, &data), 0);
        }
        assert_eq!(client.ask(command::FLUSH, 0, 0, 0, &[]), 0);
        let flushes = answered(&served, "flush", if skips_repeated_flushes { 3 } else { 5 });
        (flushes, served.service.tally().told().repeated_flushes)
    };
    assert_eq!(counts(true), (1, 2));
    assert_eq!(counts(false), (3, 0));
}
