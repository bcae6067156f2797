//! What clients are told before they choose.

use hotband_serve::nbd::Export;
use hotband_serve::nbd::proto::{command, info, option, option_reply};

use crate::client::{Client, MIB, name, served};

fn asked(export: &str, kinds: &[u16]) -> Vec<u8> {
    let kinds_said: Vec<u8> = kinds.iter().flat_map(|kind| kind.to_be_bytes()).collect();
    [name(export), (kinds.len() as u16).to_be_bytes().to_vec(), kinds_said].concat()
}

#[test]
fn volumes_are_listed_and_described() {
    let served = served(8 * MIB);
    let mut client = Client::greeted(&served.socket, 3);
    let listed = client.option(option::LIST, &[]);
    assert_eq!(listed, [(option_reply::SERVER, name("drive")), (option_reply::ACK, vec![])]);
    let told = client.option(option::INFO, &asked("", &[info::NAME, info::BLOCK_SIZE]));
    // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, DF, MULTI_CONN.
    let flags = 1_u16 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8;
    let export = [&info::EXPORT.to_be_bytes()[..], &(8 * MIB).to_be_bytes(), &flags.to_be_bytes()].concat();
    let sizes = [512_u32, 4096, 32 << 20].map(u32::to_be_bytes).concat();
    let sizes = [&info::BLOCK_SIZE.to_be_bytes()[..], &sizes].concat();
    let drive = [&info::NAME.to_be_bytes()[..], b"drive"].concat();
    let answers: Vec<_> = told.into_iter().map(|(_, data)| data).collect();
    assert_eq!(answers, [export, sizes, drive, vec![]]);
}

#[test]
fn what_is_not_there_or_not_right_is_refused_and_the_client_may_go_on() {
    let served = served(MIB);
    let mut client = Client::greeted(&served.socket, 3);
    let last = |answers: Vec<(u32, Vec<u8>)>| answers.last().expect("one").0;
    let one_context = |export: &str| [name(export), 1_u32.to_be_bytes().to_vec(), name("base:allocation")].concat();
    for (number, data, want) in [
        (option::GO, asked("nobody", &[]), option_reply::ERR_UNKNOWN),
        (option::GO, vec![0, 0, 0, 9, 0], option_reply::ERR_INVALID),
        (option::INFO, asked("", &[])[..5].to_vec(), option_reply::ERR_INVALID),
        (option::LIST, vec![1], option_reply::ERR_INVALID),
        (option::STARTTLS, vec![], option_reply::ERR_UNSUP),
        (11, vec![], option_reply::ERR_UNSUP),
        (4711, vec![7; 100], option_reply::ERR_UNSUP),
        // Contexts need structured answers.
        (option::SET_META_CONTEXT, one_context(""), option_reply::ERR_INVALID),
        (option::STRUCTURED_REPLY, vec![0], option_reply::ERR_INVALID),
        (option::STRUCTURED_REPLY, vec![], option_reply::ACK),
        (option::SET_META_CONTEXT, one_context("nobody"), option_reply::ERR_UNKNOWN),
        (option::GO, asked("drive", &[]), option_reply::ACK),
    ] {
        assert_eq!(last(client.option(number, &data)), want, "{number} {data:?}");
    }
}

#[test]
fn meta_contexts_are_listed_by_prefix_and_set_by_name() {
    let served = served(MIB);
    let mut client = Client::greeted(&served.socket, 3);
    client.option(option::STRUCTURED_REPLY, &[]);
    let mut found = |number, queries: &[&str]| {
        let said: Vec<u8> = queries.iter().flat_map(|query| name(query)).collect();
        let data = [name(""), (queries.len() as u32).to_be_bytes().to_vec(), said].concat();
        client.option(number, &data).len() - 1
    };
    assert_eq!(found(option::LIST_META_CONTEXT, &[]), 1);
    assert_eq!(found(option::LIST_META_CONTEXT, &["base:"]), 1);
    assert_eq!(found(option::LIST_META_CONTEXT, &["qemu:"]), 0);
    assert_eq!(found(option::SET_META_CONTEXT, &["base:"]), 0);
    assert_eq!(found(option::SET_META_CONTEXT, &["qemu:dirty-bitmap:x", "base:allocation"]), 1);
    // Set again, for nothing: the right to ask is gone.
    assert_eq!(found(option::SET_META_CONTEXT, &[]), 0);
    client.option(option::GO, &asked("", &[]));
    client.say(&crate::client::request(command::BLOCK_STATUS, 0, 1, 0, 4096, &[]));
    assert_eq!(client.take(20)[6..8], (1_u16 << 15 | 1).to_be_bytes());
}

#[test]
fn the_old_way_to_choose_has_zeroes_unless_they_are_declined() {
    let served = served(MIB);
    for (flags, zeroes) in [(1, 124), (3, 0)] {
        let mut client = Client::greeted(&served.socket, flags);
        let header = [&0x4948_4156_454f_5054_u64.to_be_bytes()[..], &1_u32.to_be_bytes(), &5_u32.to_be_bytes()];
        client.say(&[&header.concat()[..], b"drive"].concat());
        assert_eq!(client.u64(), MIB);
        client.u16();
        client.take(zeroes);
        assert_eq!(client.ask(command::READ, 0, 0, 512, &[]), 0);
    }
    let mut client = Client::greeted(&served.socket, 3);
    client.say(&[&0x4948_4156_454f_5054_u64.to_be_bytes()[..], &[0, 0, 0, 1, 0, 0, 0, 1, b'x']].concat());
    assert!(client.is_hung_up(), "an export that is not there");
}

#[test]
fn a_client_that_leaves_is_let_go() {
    let served = served(MIB);
    let mut client = Client::greeted(&served.socket, 3);
    assert_eq!(client.option(option::ABORT, &[]), [(option_reply::ACK, vec![])]);
    assert!(client.is_hung_up());
}

#[test]
fn only_what_a_volume_can_is_told() {
    let export = |trims, rotates| Export { name: String::new(), size: MIB, block: 8192, trims, rotates };
    assert_eq!(export(false, false).flags() & (1 << 4 | 1 << 5), 0);
    assert_eq!(export(false, true).flags() & (1 << 4 | 1 << 5), 1 << 4);
    assert_eq!(export(true, false).flags() & (1 << 4 | 1 << 5), 1 << 5);
    assert_eq!(export(true, true).block_sizes(), [8192, 8192, 32 << 20]);
}
