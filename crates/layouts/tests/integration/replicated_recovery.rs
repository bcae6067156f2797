//! Does a pool that loses a daemon make every copy anew, elsewhere and apart from the others, in the time that the disks
//! and the pauses between objects give?

use std::collections::{BTreeMap, BTreeSet};

use crate::pool::{CLIENT, DISK, LATENCY, OBJECT, Rig, in_place};
use hotband_machine::{EventError, MemberCommand, Op};

const OBJECTS: u64 = 64;
const POOL: &str = ", replicas = 2, placement_groups = 32, image = \"256 MiB\"";
const SINGLE: &str = ", replicas = 1, placement_groups = 32, image = \"256 MiB\"";
const OUT: &str = ", out = { osd = 0, at = \"1 ms\" }";
const SLEEP: u64 = 100_000_000;

/// The member that reads of every object go to. Nothing is left to do when it returns.
fn readers(rig: &mut Rig) -> Vec<u16> {
    let read = |object: u64| {
        let before = rig.commands.len();
        rig.latency(Op::Read, object * OBJECT, 4096);
        rig.commands[before..].iter().find(|(_, sent)| sent.len == 4096).expect("the disk was asked").1.member
    };
    (0..OBJECTS).map(read).collect()
}

fn objects(rig: &Rig, osds: usize) -> Vec<u64> {
    (0..osds).map(|osd| rig.count(&format!("osd{osd}"), "objects")).collect()
}

#[test]
fn every_object_of_the_daemon_ends_elsewhere() {
    let before = objects(&Rig::new(4, POOL, &[]), 4);
    let mut rig = Rig::new(4, &format!("{POOL}{OUT}"), &[]);
    assert_eq!(objects(&rig, 4), before);
    rig.drain();
    let after = objects(&rig, 4);
    assert_eq!((after[0], after.iter().sum::<u64>()), (0, 2 * OBJECTS));
    assert!((1..4).all(|osd| after[osd] >= before[osd]), "{before:?} {after:?}");
    assert_eq!(rig.count("recovery", "objects_misplaced"), 0);
    let moved = rig.count("recovery", "objects_moved");
    assert!(moved >= before[0], "{moved}");
    assert_eq!((0..4).map(|osd| rig.count(&format!("osd{osd}"), "recovered_objects")).sum::<u64>(), moved);
    assert!(readers(&mut rig).iter().all(|member| *member != 0));
}

/// Members that reads of 4 KiB went to, of the commands from number `from` on.
fn read_at(rig: &Rig, from: usize) -> Vec<u16> {
    let read = |sent: &MemberCommand| (sent.op, sent.len) == (Op::Read, 4096);
    rig.commands[from..].iter().filter(|(_, sent)| read(sent)).map(|(_, sent)| sent.member).collect()
}

/// An object of which a daemon is the primary.
fn led_by(osd: u16, options: &str) -> u64 {
    let whole = readers(&mut Rig::new(4, options, &[]));
    whole.iter().position(|member| *member == osd).expect("the daemon is the primary of something") as u64
}

#[test]
fn until_the_only_copy_has_moved_reads_go_to_where_it_is() {
    let object = led_by(0, SINGLE);
    let mut rig = Rig::new(4, &format!("{SINGLE}{OUT}"), &[]);
    rig.run_to(1_000_000);
    assert!(rig.count("recovery", "objects_misplaced") > 0, "the daemon is out");
    rig.ask(Op::Read, object * OBJECT, 4096);
    rig.run_to(8_000_000);
    assert_eq!((read_at(&rig, 0), rig.served.len()), (vec![0], 1));
}

#[test]
fn a_daemon_that_goes_out_leads_no_group_that_another_has() {
    let mut rig = Rig::new(4, &format!("{POOL}{OUT}"), &[]);
    rig.run_to(1_000_000);
    assert!(rig.count("recovery", "objects_misplaced") > 0, "the daemon is out");
    for object in 0..OBJECTS {
        rig.ask(Op::Read, object * OBJECT, 4096);
    }
    rig.run_to(80_000_000);
    assert_eq!((rig.served.len() as u64, read_at(&rig, 0).len() as u64), (OBJECTS, OBJECTS));
    assert!(!read_at(&rig, 0).contains(&0), "{:?}", read_at(&rig, 0));
    let reads = |(_, sent): &&(u64, MemberCommand)| sent.member == 0 && sent.op == Op::Read;
    assert_eq!(rig.commands.iter().filter(reads).count(), 0, "nor is anything recovered from it");
    // It has a copy until that has moved, so writes still go to it.
    rig.ask(Op::Write, led_by(0, POOL) * OBJECT, 4096);
    let before = rig.commands.len();
    rig.run_to(160_000_000);
    assert!(rig.commands[before..].iter().any(|(_, sent)| (sent.member, sent.op) == (0, Op::Flush)));
}

#[test]
fn an_operation_on_its_way_to_a_daemon_that_goes_out_is_asked_of_the_one_that_leads_now() {
    for op in [Op::Read, Op::Write] {
        let object = led_by(0, POOL);
        let mut rig = Rig::new(4, &format!("{POOL}, out = {{ osd = 0, at = \"110 us\" }}"), &[]);
        let asked = rig.ask(op, object * OBJECT, 4096);
        rig.run_to(50_000_000);
        assert!(rig.latency_of(asked) > CLIENT + 2 * LATENCY);
        let of_host = |sent: &MemberCommand| sent.op == Op::Flush || sent.len == 4096;
        let members: BTreeSet<u16> =
            rig.commands.iter().filter(|(_, sent)| of_host(sent)).map(|(_, sent)| sent.member).collect();
        assert_eq!((members.contains(&0), members.len()), if op == Op::Read { (false, 1) } else { (true, 2) });
    }
}

#[test]
fn recovery_takes_what_disks_and_pauses_give() {
    // Of three daemons two are left: each sends to the other what that does not have.
    for sleep in [SLEEP, 0] {
        let mut rig =
            Rig::new(3, &format!("{POOL}{OUT}"), &[("recovery_sleep", &format!("\"{} ms\"", sleep / 1_000_000))]);
        rig.drain();
        let most = (1..3).map(|osd| rig.count(&format!("osd{osd}"), "recovered_objects")).max().expect("two daemons");
        let each = DISK.read + LATENCY + DISK.write;
        assert!(most > 3);
        assert_eq!(rig.count("recovery", "time_to_recover_ns"), most * each + (most - 1) * sleep);
    }
}

#[test]
fn one_daemon_sends_what_it_alone_has_one_object_after_the_other() {
    // Ceph's osd_max_backfills holds for what a daemon sends, too (`local_reserver`).
    for sleep in [SLEEP, 0] {
        let values = [("recovery_sleep", &*format!("\"{} ms\"", sleep / 1_000_000))];
        let mut rig = Rig::new(4, &format!("{SINGLE}{OUT}"), &values);
        let had = objects(&rig, 4)[0];
        rig.drain();
        let each = DISK.read + LATENCY + DISK.write;
        assert_eq!(rig.count("recovery", "objects_moved"), had);
        assert_eq!(rig.count("recovery", "time_to_recover_ns"), had * each + (had - 1) * sleep);
    }
}

#[test]
fn of_no_daemon_more_objects_are_on_the_way_than_it_may_send_or_receive() {
    for active in [1, 2, 3] {
        let options = ", replicas = 2, placement_groups = 64, image = \"512 MiB\"";
        let values = [("recovery_active", &*active.to_string()), ("recovery_sleep", "\"0 s\"")];
        let mut rig = Rig::new(6, &format!("{options}{OUT}"), &values);
        rig.drain();
        let of_object = |sent: &MemberCommand| u64::from(sent.len) == OBJECT;
        for osd in 0..6 {
            for (op, took) in [(Op::Read, DISK.read), (Op::Write, DISK.write)] {
                let begun =
                    rig.commands.iter().filter(|(_, sent)| of_object(sent) && (sent.member, sent.op) == (osd, op));
                let begun: Vec<u64> = begun.map(|(at, _)| *at).collect();
                let most = begun.iter().map(|at| begun.iter().filter(|b| (*at..at + took).contains(b)).count()).max();
                assert!(most.unwrap_or(0) <= active, "{op:?} of {osd}: {most:?} at once of {active}");
            }
        }
        assert_eq!(rig.count("recovery", "objects_misplaced"), 0);
    }
}

#[test]
fn every_recovered_object_gets_a_place_of_its_own() {
    let before = objects(&Rig::new(4, SINGLE, &[]), 4);
    for active in ["1", "4", "32"] {
        let mut rig = Rig::new(4, &format!("{SINGLE}{OUT}"), &[("recovery_active", active)]);
        rig.drain();
        let written = rig.commands.iter().filter(|(_, sent)| sent.op == Op::Write);
        let places: BTreeSet<(u16, u64)> = written.clone().map(|(_, sent)| (sent.member, sent.offset)).collect();
        assert_eq!(places.len() as u64, before[0], "{active} at once");
        assert!(written.clone().all(|(_, sent)| in_place(sent.offset) && u64::from(sent.len) == OBJECT));
        let is_free = |(member, offset): &(u16, u64)| offset / OBJECT >= before[usize::from(*member)];
        assert!(places.iter().all(is_free), "behind what was there: {places:?}");
        // Each is read where it was written, the others where they were before.
        let from = rig.commands.len();
        readers(&mut rig);
        let read: BTreeSet<(u16, u64)> =
            rig.commands[from..].iter().map(|(_, sent)| (sent.member, sent.offset)).collect();
        assert_eq!(read.len() as u64, OBJECTS, "no two are in one place");
        assert_eq!(read.iter().copied().filter(is_free).collect::<BTreeSet<_>>(), places);
    }
}

#[test]
fn the_primary_is_the_one_that_crush_names() {
    // Straw buckets hand the place of one that is out to the next of the list: who had the second copy answers now.
    let before = readers(&mut Rig::new(4, POOL, &[]));
    let mut rig = Rig::new(4, &format!("{POOL}{OUT}"), &[]);
    rig.drain();
    let (writes, reads) = (rig.commands.len(), readers(&mut rig));
    assert!(before.iter().zip(&reads).all(|(before, now)| before == now || *before == 0), "{before:?} {reads:?}");
    let free = |(_, sent): &&(u64, MemberCommand)| {
        rig.commands[..writes].iter().any(|(_, w)| (w.op, w.member, w.offset) == (Op::Write, sent.member, sent.offset))
    };
    assert_eq!(rig.commands[writes..].iter().filter(free).count(), 0, "no new daemon is a primary");
}

#[test]
fn no_host_has_two_copies_of_an_object_after_recovery() {
    let options = ", replicas = 3, hosts = 4, failure_domain = \"host\", placement_groups = 32, image = \"256 MiB\"";
    let mut rig = Rig::new(8, &format!("{options}, out = {{ osd = 3, at = \"0 s\" }}"), &[]);
    rig.drain();
    let mut used = BTreeMap::new();
    for object in 0..OBJECTS {
        let before = rig.commands.len();
        rig.latency(Op::Write, object * OBJECT, 4096);
        let log = rig.commands[before..].iter().filter(|(_, sent)| sent.op == Op::Flush);
        let members: Vec<u16> = log.map(|(_, sent)| sent.member).collect();
        let hosts: BTreeSet<u16> = members.iter().map(|member| member / 2).collect();
        assert_eq!((members.len(), hosts.len()), (3, 3), "object {object}: {members:?}");
        for member in members {
            *used.entry(member).or_insert(0) += 1;
        }
    }
    assert!(!used.contains_key(&3) && used.len() == 7, "{used:?}");
}

#[test]
fn a_pool_that_loses_nothing_has_nothing_to_recover() {
    let mut rig = Rig::new(4, &format!("{POOL}, out = {{ osd = 2, at = \"1 h\" }}"), &[]);
    rig.latency(Op::Read, 0, 4096);
    rig.run_to(3_599_999_999_999);
    assert_eq!(rig.count("recovery", "objects_misplaced"), 0);
    rig.run_to(3_600_000_000_000);
    assert_eq!(rig.count("recovery", "objects_misplaced"), objects(&rig, 4)[2]);
}

#[test]
fn a_daemon_goes_out_when_an_event_says_so_and_only_once() {
    let mut rig = Rig::new(4, &format!("{POOL}, out = {{ osd = 2, at = \"1 h\" }}"), &[]);
    let misplaced = objects(&rig, 4)[2];
    assert_eq!(rig.pool.check_out(4), Err(EventError::UnknownPart));
    assert_eq!(rig.pool.check_out(1), Err(EventError::NotExpected { what: "osd-out" }), "built for another");
    rig.run_to(1_000_000_000);
    rig.pool.check_out(2).expect("the pool was built for it");
    rig.pool.mark_out(rig.now, 2);
    assert_eq!(rig.count("recovery", "objects_misplaced"), misplaced);
    assert_eq!(rig.pool.check_out(2), Err(EventError::NotExpected { what: "osd-out" }));
    // The machine advances a service that was told something: its commands go out.
    rig.run_to(1_000_000_000);
    rig.run_to(3_600_000_000_001);
    assert_eq!(rig.count("recovery", "objects_misplaced"), 0, "all has moved, and does not move again");
}

#[test]
fn a_drive_that_fails_takes_its_copies_with_it_and_others_are_made_from_what_is_left() {
    let mut rig = Rig::new(4, POOL, &[("recovery_sleep", "\"0 s\"")]);
    let had = objects(&rig, 4)[2];
    rig.pool.expect_out(&[2], true).expect("there is room");
    assert!(rig.pool.expect_out(&[1], true).is_err(), "once");
    rig.pool.member_failed(rig.now, 2);
    assert!(!rig.pool.is_whole() && rig.pool.is_recovering() && rig.pool.lost() == 0);
    rig.run_to(0);
    assert!(readers(&mut rig).iter().all(|member| *member != 2));
    rig.drain();
    assert!(rig.commands.iter().all(|(_, sent)| sent.member != 2), "nothing is asked of it");
    assert!(rig.pool.is_whole() && !rig.pool.is_recovering());
    assert_eq!((objects(&rig, 4)[2], objects(&rig, 4).iter().sum::<u64>()), (0, 2 * OBJECTS));
    assert!(rig.count("recovery", "objects_moved") >= had);
}

#[test]
fn what_would_leave_no_room_on_another_daemon_is_refused() {
    // Four daemons of 10 GiB: what fills most of them has no room on three.
    for (image, has_room) in [("10 GiB", true), ("16 GiB", false)] {
        let options = format!(", replicas = 2, placement_groups = 256, image = \"{image}\"");
        let mut rig = Rig::new(4, &options, &[]);
        match rig.pool.expect_out(&[2], false) {
            Ok(()) => assert!(has_room, "{image}"),
            Err(EventError::Out { why }) => assert!(!has_room && why.contains("would be too full"), "{image}: {why}"),
            Err(other) => panic!("{image}: {other}"),
        }
    }
}

#[test]
fn writes_go_to_the_copies_that_are_left() {
    // Nobody is left to take the third copy.
    let mut rig = Rig::new(3, ", replicas = 3, placement_groups = 32, image = \"256 MiB\"", &[]);
    rig.pool.expect_out(&[0], true).expect("it stays degraded");
    rig.pool.member_failed(rig.now, 0);
    for object in 0..OBJECTS {
        let before = rig.commands.len();
        rig.latency(Op::Write, object * OBJECT, 4096);
        let log = rig.commands[before..].iter().filter(|(_, sent)| sent.op == Op::Flush);
        let members: BTreeSet<u16> = log.map(|(_, sent)| sent.member).collect();
        assert_eq!(members, BTreeSet::from([1, 2]), "object {object}");
    }
    assert!(!rig.pool.is_whole() && !rig.pool.is_recovering());
    assert_eq!((rig.pool.lost(), rig.count("recovery", "objects_moved")), (0, 0));
}

#[test]
fn an_operation_on_its_way_to_a_drive_that_fails_is_asked_of_another() {
    let (whole, mut rig) = (readers(&mut Rig::new(4, POOL, &[])), Rig::new(4, POOL, &[]));
    let object = whole.iter().position(|member| *member == 0).expect("the daemon is the primary of something") as u64;
    rig.pool.expect_out(&[0], true).expect("there is room");
    let (read, write) = (rig.ask(Op::Read, object * OBJECT, 4096), rig.ask(Op::Write, object * OBJECT, 4096));
    rig.run_to(CLIENT + 1);
    rig.pool.member_failed(rig.now, 0);
    rig.drain();
    assert!(rig.commands.iter().all(|(_, sent)| sent.member != 0));
    // Longer than at once: it went to the first daemon before.
    assert!(rig.latency_of(read) > CLIENT + LATENCY && rig.latency_of(write) > CLIENT + LATENCY);
}
