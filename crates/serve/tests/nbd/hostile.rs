//! Clients that mean no good, or have died: they harm nobody else, and are not kept for ever.

use std::io::Write;
use std::time::Duration;

use hotband_serve::nbd::Limits;
use hotband_serve::nbd::proto::command;
use hotband_units::Span;

use crate::client::{Client, MIB, Served, request, served, served_with};

fn is_served(served: &Served) -> bool {
    Client::ready(&served.socket, false).ask(command::READ, 0, 0, 512, &[]) == 0
}

/// Times that are over at once.
const SHORT: Limits = Limits {
    connections: 64,
    requests: 256,
    bytes: 64 << 20,
    arriving: 256 << 20,
    skips_repeated_flushes: false,
    handshake: Duration::from_millis(1),
    request: Duration::from_millis(1),
    answers: Duration::from_millis(1),
};

#[test]
fn who_does_not_choose_in_time_is_hung_up_on() {
    let served = served_with(MIB, Span::ZERO, SHORT);
    let mut silent = Client::connect(&served.socket);
    silent.take(18);
    assert!(silent.is_hung_up());
}

#[test]
fn who_does_not_finish_a_request_in_time_is_hung_up_on_and_who_asks_nothing_is_not() {
    let limits = Limits { handshake: Duration::from_secs(60), ..SHORT };
    let served = served_with(MIB, Span::ZERO, limits);
    let mut idle = Client::ready(&served.socket, false);
    let mut half = Client::ready(&served.socket, false);
    half.say(&request(command::READ, 0, 1, 0, 512, &[])[..20]);
    assert!(half.is_hung_up());
    let mut half = Client::ready(&served.socket, false);
    half.say(&request(command::WRITE, 0, 1, 0, 4096, &[1; 100]));
    assert!(half.is_hung_up());
    assert_eq!(idle.ask(command::READ, 0, 0, 4096, &[]), 0);
}

#[test]
fn who_is_alone_and_does_not_finish_a_request_in_time_is_hung_up_on() {
    // Its own thread waits for the machine.
    let served = served_with(MIB, Span::ZERO, Limits { handshake: Duration::from_secs(60), ..SHORT });
    let mut half = Client::ready(&served.socket, false);
    half.say(&request(command::READ, 0, 1, 0, 512, &[])[..20]);
    assert!(half.is_hung_up());
}

#[test]
fn what_comes_byte_by_byte_is_understood() {
    let served = served(MIB);
    let mut client = Client::ready(&served.socket, true);
    for byte in request(command::WRITE, 0, 5, 512, 512, &[3; 512]) {
        client.say(&[byte]);
    }
    assert_eq!(client.answer(0).cookie, 5);
    assert_eq!(client.read(512, 512), [3; 512]);
}

#[test]
fn what_is_not_the_protocol_ends_the_connection() {
    let served = served(MIB);
    let option = |magic: u64, number: u32, len: u32| {
        [&magic.to_be_bytes()[..], &number.to_be_bytes(), &len.to_be_bytes()].concat()
    };
    let right = 0x4948_4156_454f_5054;
    for said in [option(right + 1, 3, 0), option(right, 3, u32::MAX), b"GET / HTTP/1.1\r\n\r\n".to_vec()] {
        let mut client = Client::greeted(&served.socket, 3);
        client.say(&said);
        assert!(client.is_hung_up(), "{said:?}");
    }
    let mut client = Client::greeted(&served.socket, 1 << 5 | 3);
    assert!(client.is_hung_up(), "flags of a protocol that we do not speak");
    let mut wrong_magic = request(command::READ, 0, 1, 0, 512, &[]);
    wrong_magic[3] ^= 1;
    // A write whose data cannot be skipped: longer than was told.
    for said in [wrong_magic, request(command::WRITE, 0, 1, 0, u32::MAX, &[])] {
        let mut client = Client::ready(&served.socket, false);
        client.say(&said);
        assert!(client.is_hung_up());
    }
    assert!(is_served(&served));
}

#[test]
fn a_write_that_is_cut_off_is_not_done() {
    let served = served(MIB);
    let mut client = Client::ready(&served.socket, false);
    client.say(&request(command::WRITE, 0, 1, 0, 65536, &vec![7; 40000]));
    drop(client);
    let mut other = Client::ready(&served.socket, false);
    assert_eq!(other.read(0, 65536), vec![0; 65536]);
}

#[test]
fn who_never_reads_answers_delays_nobody_and_is_given_up() {
    let limits = Limits { handshake: Duration::from_secs(60), request: Duration::from_secs(60), ..SHORT };
    let served = served_with(64 * MIB, Span(1_000_000), limits);
    let stuck = Client::ready(&served.socket, false);
    stuck.stream.set_nonblocking(true).expect("it can be");
    let mut said = 0;
    // Short answers are sent by whoever has them, long ones by the second thread: both kinds.
    let all: Vec<u8> = (0..4000_u64)
        .flat_map(|cookie| request(command::READ, 0, cookie, 0, if cookie % 2 == 0 { 65536 } else { 1 << 20 }, &[]))
        .collect();
    while let Ok(count) = (&stuck.stream).write(&all[said..]) {
        said += count;
        if said == all.len() {
            break;
        }
    }
    for _ in 0..100 {
        assert!(is_served(&served));
    }
    stuck.stream.set_nonblocking(false).expect("it can be");
    // It is hung up on, with what was sent before: less than it asked for.
    let got = std::io::copy(&mut &stuck.stream, &mut std::io::sink()).unwrap_or(0);
    assert!(got < 100 * MIB, "{got}");
}

#[test]
fn who_does_not_take_short_answers_either_is_not_listened_to_until_it_does() {
    let served = served(MIB);
    let mut client = Client::ready(&served.socket, false);
    // 5.6 MB of requests that are refused at once: far more than sockets and the server keep.
    let count = 200_000;
    let all: Vec<u8> = (0..count).flat_map(|cookie| request(99, 0, cookie, 0, 0, &[])).collect();
    client.stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a socket has times");
    let mut said = 0;
    while said < all.len() {
        let Ok(here) = client.stream.write(&all[said..]) else { break };
        said += here;
    }
    assert!(said < all.len() / 2, "{said} bytes were taken of a client that takes no answer");
    let mut sender = client.stream.try_clone().expect("a socket has two ends");
    sender.set_write_timeout(None).expect("a socket has times");
    let sending = std::thread::spawn(move || sender.write_all(&all[said..]));
    for _ in 0..count {
        assert_eq!(client.answer(0).error, 22);
    }
    sending.join().expect("no panic").expect("sent");
}

#[test]
fn more_connections_than_allowed_are_closed_and_make_room_when_they_leave() {
    let served = served_with(MIB, Span::ZERO, Limits { connections: 3, ..Limits::default() });
    let mut kept: Vec<Client> = (0..3).map(|_| Client::ready(&served.socket, false)).collect();
    for _ in 0..2000 {
        assert!(Client::connect(&served.socket).is_hung_up());
    }
    for client in &mut kept {
        assert_eq!(client.ask(command::READ, 0, 0, 512, &[]), 0);
    }
    kept.pop();
    while served.server.connections() > 2 {
        std::thread::yield_now();
    }
    assert!(is_served(&served));
}

#[test]
fn two_thousand_clients_that_say_nothing_leave_room_for_those_that_do() {
    let served = served(MIB);
    let first = Client::ready(&served.socket, false);
    let silent: Vec<Client> = (0..2000).map(|_| Client::connect(&served.socket)).collect();
    let mut first = first;
    assert_eq!(first.ask(command::READ, 0, 0, 512, &[]), 0);
    assert!(served.server.connections() <= 64);
    drop(silent);
    while served.server.connections() > 1 {
        std::thread::yield_now();
    }
    assert!(is_served(&served));
}

#[test]
fn halves_of_long_writes_hold_no_more_memory_than_there_is_and_others_go_on() {
    // Room for one long write: of eight clients that send half of one, seven are not listened to.
    let limits = Limits { handshake: Duration::from_secs(60), request: Duration::from_secs(60), ..SHORT };
    let served = served_with(64 * MIB, Span::ZERO, Limits { arriving: 32 << 20, ..limits });
    let half = request(command::WRITE, 0, 1, 0, 32 << 20, &vec![1; 16 << 20]);
    let mut clients: Vec<Client> = (0..8).map(|_| Client::ready(&served.socket, false)).collect();
    let taken = |client: &mut Client| {
        client.stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a socket has times");
        let mut said = 0;
        while let Ok(count) = client.stream.write(&half[said..]) {
            said += count;
            if said == half.len() {
                break;
            }
        }
        said
    };
    let taken: Vec<usize> = clients.iter_mut().map(taken).collect();
    let whole = taken.iter().filter(|taken| **taken == half.len()).count();
    assert_eq!(whole, 1, "{taken:?}");
    assert!(taken.iter().sum::<usize>() < half.len() + 8 * (2 << 20), "{taken:?}");
    assert!(is_served(&served));
    // The memory goes to the next as soon as its holder has gone.
    let holder = taken.iter().position(|taken| *taken == half.len()).expect("one was taken");
    drop(clients.remove(holder));
    let mut after = Client::ready(&served.socket, false);
    drop(clients);
    assert_eq!(after.ask(command::WRITE, 0, 0, 1 << 20, &vec![2; 1 << 20]), 0);
    assert_eq!(after.read(0, 512), vec![2; 512]);
}
