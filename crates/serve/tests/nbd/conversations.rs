//! Conversations that nobody thought up.

use std::path::Path;
use std::sync::LazyLock;

use hotband_serve::nbd::fuzzing::{Came, Partner};
use hotband_serve::nbd::proto::{command, flag};
use hotband_units::Span;
use proptest::prelude::*;

use crate::client::{Client, MIB, Served, request, served};

static PARTNER: LazyLock<Partner> = LazyLock::new(|| Partner::new(Span::ZERO));

/// A client that chooses the first export.
fn chosen(is_structured: bool) -> Vec<u8> {
    let option = |number: u32, data: &[u8]| {
        [&b"IHAVEOPT"[..], &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
    };
    let structured = if is_structured { option(8, &[]) } else { Vec::new() };
    [&[0, 0, 0, 3][..], &structured, &option(7, &[0; 6])].concat()
}

/// Of a command with arguments that are near to something.
fn any_request() -> impl Strategy<Value = Vec<u8>> {
    let offset = prop_oneof![0_u64..200_000, (0_u64..200).prop_map(|block| block * 512), any::<u64>()];
    let len = prop_oneof![(0_u32..64).prop_map(|blocks| blocks * 512), 0_u32..70_000, any::<u32>()];
    (0_u16..9, 0_u16..16, any::<u64>(), offset, len).prop_map(|(command, flags, cookie, offset, len)| {
        let payload = if command == command::WRITE { len.min(70_000) as usize } else { 0 };
        request(command, flags, cookie, offset, len, &vec![1; payload])
    })
}

/// A change of a small volume, in blocks, or a look at it.
#[derive(Clone, Debug)]
enum Act {
    Write(u64, usize, u8),
    Zero(u64, usize, bool),
    Trim(u64, usize),
    Read(u64, usize),
}

fn any_act() -> impl Strategy<Value = Act> {
    let range = || (0_u64..480, 1_usize..32);
    prop_oneof![
        (range(), any::<u8>()).prop_map(|((at, count), byte)| Act::Write(at, count, byte)),
        (range(), any::<bool>()).prop_map(|((at, count), no_hole)| Act::Zero(at, count, no_hole)),
        range().prop_map(|(at, count)| Act::Trim(at, count)),
        range().prop_map(|(at, count)| Act::Read(at, count)),
    ]
}

/// Acts through a connection and on plain memory, and compares what is read.
fn follow(client: &mut Client, shadow: &mut [u8], act: &Act) {
    let bytes = |at: u64, count: usize| at as usize * 512..(at as usize + count) * 512;
    let (command, flags, (at, count), byte) = match *act {
        Act::Write(at, count, byte) => (command::WRITE, 0, (at, count), byte),
        Act::Zero(at, count, no_hole) => {
            (command::WRITE_ZEROES, if no_hole { flag::NO_HOLE } else { 0 }, (at, count), 0)
        }
        Act::Trim(at, count) => (command::TRIM, 0, (at, count), 0),
        Act::Read(at, count) => {
            assert_eq!(client.read(at * 512, count as u32 * 512), shadow[bytes(at, count)]);
            return;
        }
    };
    shadow[bytes(at, count)].fill(byte);
    let data = vec![byte; if command == command::WRITE { count * 512 } else { 0 }];
    assert_eq!(client.ask(command, flags, at * 512, count as u32 * 512, &data), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(data in prop::collection::vec(any::<u8>(), 0..600)) {
        PARTNER.converse(&data);
    }

    #[test]
    fn any_requests_are_answered_at_most_once_and_in_the_protocol(
        chance in any::<[u8; 8]>(),
        is_structured in any::<bool>(),
        requests in prop::collection::vec(any_request(), 0..40),
    ) {
        let said = [&chance[..], &chosen(is_structured), &requests.concat()].concat();
        prop_assert_ne!(PARTNER.converse(&said), Came::Unchosen);
    }

    #[test]
    fn requests_that_are_right_are_all_answered_before_the_client_leaves(
        chance in any::<[u8; 8]>(),
        is_structured in any::<bool>(),
        ranges in prop::collection::vec((0_u64..1000, 0_u32..300, 0_u16..3), 1..100),
    ) {
        let asked = ranges.iter().enumerate().map(|(cookie, (block, count, command))| {
            let command = [command::READ, command::TRIM, command::WRITE_ZEROES][usize::from(*command)];
            request(command, 0, cookie as u64, block * 512, count * 512, &[])
        });
        let asked: Vec<u8> = asked.flatten().chain(request(command::DISC, 0, u64::MAX, 0, 0, &[])).collect();
        let said = [&chance[..], &chosen(is_structured), &asked].concat();
        prop_assert_eq!(PARTNER.converse(&said), Came::Answers(ranges.len()));
    }

    #[test]
    fn what_is_read_is_what_was_written_last(
        is_structured in any::<bool>(),
        acts in prop::collection::vec(any_act(), 1..40),
    ) {
        static SERVED: LazyLock<Served> = LazyLock::new(|| served(MIB));
        let mut client = Client::ready(&SERVED.socket, is_structured);
        let mut shadow = client.read(0, 512 * 512);
        for act in &acts {
            follow(&mut client, &mut shadow, act);
        }
        prop_assert_eq!(client.read(0, 512 * 512), shadow);
    }
}

#[test]
fn conversations_that_fuzzing_began_with_are_survived() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/nbd");
    let mut chosen = 0;
    for entry in std::fs::read_dir(corpus).expect("it is there") {
        let data = std::fs::read(entry.expect("a file").path()).expect("readable");
        chosen += usize::from(PARTNER.converse(&data) != Came::Unchosen);
    }
    assert!(chosen >= 8, "most of them reach requests");
}
