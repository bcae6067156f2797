//! Is the command that is taken the one that its order says, weighed by itself?

use super::*;
use crate::parts::seek::{KNEE, SeekPoints};
use hotband_units::{Rpm, Span};
use proptest::prelude::*;

const TRACKS: u32 = 10_000;

fn curve() -> SeekCurve {
    let ms = Span::from_millis_f64;
    SeekCurve::new(SeekPoints { track: ms(0.2), average: ms(3.0), full: ms(6.0), knee: KNEE }, TRACKS)
}

fn head(curve: &SeekCurve, cylinder: u32, now: u64) -> Head<'_> {
    Head {
        now: Instant(now),
        cylinder,
        track: 0,
        reached: u64::from(cylinder) * 1000 + 8,
        rotation: Rotation::new(Rpm(15_000)),
        read_curve: curve,
        write_curve: curve,
        head_switch: 200_000,
        slack: 0,
    }
}

fn waiting(cylinder: u32, angle: u64, sequence: u64) -> Waiting {
    let position = Place { cylinder, track: 0, flow: angle, ..Place::default() };
    Waiting {
        sector: u64::from(cylinder) * 1000,
        count: 8,
        write: false,
        place: position,
        angle,
        ready: Instant(sequence),
        since: Instant(sequence),
        sequence,
        slot: 0,
    }
}

fn set(commands: &[(u32, u64)]) -> Pending {
    let mut pending = Pending::default();
    for (sequence, (cylinder, angle)) in commands.iter().enumerate() {
        pending.insert(waiting(*cylinder, *angle, sequence as u64));
    }
    pending
}

fn chosen(pending: &Pending, order: Order, head: &Head) -> u64 {
    pending.get(pending.choose(order, head).unwrap().0).sequence
}

#[test]
fn a_stream_goes_on_over_what_it_leaves_out_and_is_not_left_for_what_comes_sooner() {
    let curve = curve();
    let head = head(&curve, 5_000, 0);
    let chosen_of = |gap: u64, angle: u64, age: u64, write: bool| {
        let mut pending = Pending::default();
        pending.insert(Waiting { sector: head.reached + gap, write, ..waiting(5_000, angle, age) });
        pending.insert(waiting(5_020, REVOLUTION / 5, 1));
        let (index, cost) = pending.choose_among(32, Order::Positioning, &head).expect("two wait");
        (pending.get(index).sequence == age, cost)
    };
    // The other, 20 tracks on, costs a fifth of a revolution, what is sought included.
    let quarter = REVOLUTION / 4;
    assert_eq!(chosen_of(0, 0, 2, false), (true, 0), "goes on where the head is");
    assert_eq!(chosen_of(16, quarter, 0, false), (true, quarter), "leaves out twice its length");
    assert!(!chosen_of(17, quarter, 0, false).0, "leaves out more");
    assert!(!chosen_of(16, REVOLUTION / 2, 0, false).0, "the head has passed it, or nearly so");
    assert!(!chosen_of(16, quarter, 2, false).0, "the other waits longer");
    assert!(!chosen_of(16, quarter, 0, true).0, "a write may wait");
}

#[test]
fn each_order_takes_its_own() {
    let curve = curve();
    let head = head(&curve, 5_000, 0);
    // 0: far; 1: next track, but just missed; 2: near and soon under the head; 3: a little below.
    let half = REVOLUTION / 2;
    let pending = set(&[(9_000, half), (5_001, 0), (5_100, half), (4_999, 1)]);
    assert_eq!(chosen(&pending, Order::Fcfs, &head), 0);
    assert_eq!(chosen(&pending, Order::Sstf, &head), 1);
    assert_eq!(chosen(&pending, Order::Clook, &head), 1);
    assert_eq!(chosen(&pending, Order::Positioning, &head), 2);
}

#[test]
fn clook_turns_back_to_the_lowest_address() {
    let curve = curve();
    assert_eq!(chosen(&set(&[(3_000, 0), (40, 0)]), Order::Clook, &head(&curve, 5_000, 0)), 1);
}

#[test]
fn what_has_waited_too_long_goes_first() {
    let curve = curve();
    let pending = set(&[(9_000, 0), (5_000, 1)]);
    let head = head(&curve, 5_000, 1_000_000);
    let (index, _) = pending.choose_aged(&head, Instant(0)).unwrap();
    assert_eq!(pending.get(index).sequence, 0, "only the first was ready at time 0");
}

proptest! {
    #[test]
    fn looking_outwards_finds_what_looking_everywhere_finds(
        commands in proptest::collection::vec((0..TRACKS, 0..REVOLUTION), 1..80),
        cylinder in 0..TRACKS,
        now in 0_u64..10_000_000_000,
    ) {
        let curve = curve();
        let head = head(&curve, cylinder, now);
        let pending = set(&commands);
        let from = head.rotation.angle(head.now);
        let everywhere = (0..pending.len()).map(|i| (head.cost(from, &pending.near[i]), pending.get(i).sequence)).min().unwrap();
        let (index, cost) = pending.choose(Order::Positioning, &head).unwrap();
        prop_assert_eq!((cost, pending.get(index).sequence), everywhere);
    }

    #[test]
    fn the_oldest_is_known_after_any_removal(removals in proptest::collection::vec(0_usize..20, 1..19)) {
        let mut pending = set(&(0..20).map(|i| (i * 37 % 500, 0)).collect::<Vec<_>>());
        for at in removals {
            pending.remove(at % pending.len());
            let oldest = pending.by_address().map(|w| w.ready).min();
            prop_assert_eq!(pending.oldest_since(), oldest);
        }
    }
}

/// Time of a revolution at 15,000 rpm, and the angle that a nanosecond turns.
const PERIOD: u64 = 4_000_000;
const SPEED: u64 = REVOLUTION / PERIOD;

#[test]
fn a_seek_is_nothing_on_the_track_a_switch_within_the_cylinder_and_else_the_curve_of_its_direction() {
    let (reads, writes) = (curve(), slower());
    let head = Head { track: 1, write_curve: &writes, ..head(&reads, 5_000, 0) };
    let to = |cylinder, track| Place { cylinder, track, ..Place::default() };
    assert_eq!([false, true].map(|write| head.seek(&to(5_000, 1), write)), [0, 0]);
    assert_eq!([false, true].map(|write| head.seek(&to(5_000, 0), write)), [200_000, 200_000]);
    for cylinder in [4_300, 5_700] {
        let expected = [reads.nanos(700), writes.nanos(700)];
        assert_eq!([false, true].map(|write| head.seek(&to(cylinder, 1), write)), expected);
    }
}

#[test]
fn a_sector_that_is_just_missed_costs_a_revolution_and_within_the_slack_nothing() {
    let curve = curve();
    // A quarter of a revolution passes during the seek.
    let (quarter, seek) = (REVOLUTION / 4, PERIOD as u32 / 4);
    let head = Head { slack: 100, ..head(&curve, 5_000, 0) };
    let wait = |from: u64, angle: u64| head.wait_or_late(from, seek, angle);
    assert_eq!(wait(0, quarter), (0, 0));
    assert_eq!(wait(0, quarter + 7), (7, 0));
    assert_eq!(wait(0, quarter - 99), (0, 99));
    assert_eq!(wait(0, quarter - 101), (REVOLUTION - 101, 0));
    assert_eq!(wait(quarter * 3, 0), (0, 0), "the seek ends as a revolution does");
    assert_eq!(wait(quarter * 3 + 1, 0), (0, 1));
    assert_eq!(head.wait(0, seek, quarter + 7), 7);
}

/// Cost of a command, from the seek and the rotational wait that the head computes.
fn reckoned(head: &Head, to: &Waiting) -> u64 {
    let seek = head.seek(&to.place, to.write);
    u64::from(seek) * SPEED + head.wait(head.rotation.angle(head.now), seek, to.angle)
}

#[test]
fn weighing_and_serving_agree_on_what_is_just_met() {
    let curve = curve();
    for (cylinder, track) in [(5_000, 0), (5_000, 1), (5_003, 0), (4_000, 0), (9_999, 0)] {
        let head = Head { slack: 10, ..head(&curve, 5_000, 123_456) };
        let position = Place { cylinder, track, ..Place::default() };
        let arrival = head.rotation.angle(head.now) + u64::from(head.seek(&position, false)) * SPEED;
        for off in 0..30 {
            let angle = (arrival + REVOLUTION + 15 - off) % REVOLUTION;
            let command = Waiting { place: position, ..waiting(cylinder, angle, 0) };
            let mut pending = Pending::default();
            pending.insert(command);
            let expected = Some((0, reckoned(&head, &command)));
            assert_eq!(pending.choose(Order::Positioning, &head), expected, "{cylinder} {track}: {off}");
        }
    }
}

/// A curve for writes, which settle for longer.
fn slower() -> SeekCurve {
    let ms = Span::from_millis_f64;
    SeekCurve::new(SeekPoints { track: ms(0.5), average: ms(3.6), full: ms(6.8), knee: KNEE }, TRACKS)
}

/// Sequence and cost of the command that `order` chooses from `commands`, which are sorted by address.
fn taken<'a>(commands: &(impl Iterator<Item = &'a Waiting> + Clone), order: Order, head: &Head) -> Option<(u64, u64)> {
    let reckoned_order = |command: &Waiting| (command.sequence, reckoned(head, command));
    let here = (head.cylinder, head.track);
    let is_ahead = |command: &&Waiting| (command.place.cylinder, command.place.track) >= here;
    let first =
        |key: &dyn Fn(&Waiting) -> u64| commands.clone().min_by_key(|w| (key(w), w.sequence)).map(reckoned_order);
    match order {
        Order::Fcfs => first(&|_| 0),
        Order::Sstf => first(&|command| u64::from(command.place.cylinder.abs_diff(head.cylinder))),
        Order::Clook => commands.clone().find(is_ahead).or_else(|| commands.clone().next()).map(reckoned_order),
        Order::Positioning => first(&|command| reckoned(head, command)),
    }
}

const ORDERS: [Order; 4] = [Order::Fcfs, Order::Sstf, Order::Clook, Order::Positioning];

/// Cylinder (often near the others'), track, angle, and whether it is a write.
fn commands() -> impl Strategy<Value = Vec<(u32, u32, u64, bool)>> {
    let cylinder = prop_oneof![0..TRACKS, 4_990_u32..5_010];
    proptest::collection::vec((cylinder, 0_u32..4, 0..REVOLUTION, any::<bool>()), 1..60)
}

/// The commands in an order of arrival that is not that of the list; they came ten nanoseconds apart.
fn mixed(commands: &[(u32, u32, u64, bool)]) -> Pending {
    let mut pending = Pending::default();
    for (number, (cylinder, track, angle, write)) in (0..).zip(commands) {
        let sequence = number * 37 % 61;
        let plain = waiting(*cylinder, *angle, sequence);
        let (sector, since) = (plain.sector + u64::from(*track) * 100, Instant(sequence * 10));
        let position = Place { track: *track, ..plain.place };
        pending.insert(Waiting { sector, place: position, since, write: *write, ..plain });
    }
    pending
}

proptest! {
    #[test]
    fn reads_and_writes_together_are_taken_as_if_each_were_weighed(
        commands in commands(), cylinder in 4_980_u32..5_020, track in 0_u32..4, now in 0_u64..10_000_000_000,
        window in 1_usize..70,
    ) {
        let (reads, writes) = (curve(), slower());
        let head = Head { track, slack: 1_000, write_curve: &writes, ..head(&reads, cylinder, now) };
        // Past the track under the head, so that nothing waits just there.
        let head = Head { reached: u64::from(cylinder) * 1000 + u64::from(track) * 100 + 8, ..head };
        let mut pending = mixed(&commands);
        while !pending.is_empty() {
            let sequence = |index: usize| pending.get(index).sequence;
            let all: Vec<Waiting> = pending.by_address().copied().collect();
            prop_assert!(all.is_sorted_by_key(|command| (command.sector, command.sequence)));
            let mut ages: Vec<u64> = all.iter().map(|command| command.sequence).collect();
            ages.sort_unstable();
            let last = ages[window.min(ages.len()) - 1];
            let oldest = all.iter().filter(|command| command.sequence <= last);
            for order in ORDERS {
                let chosen = pending.choose(order, &head).map(|(index, cost)| (sequence(index), cost));
                prop_assert_eq!(chosen, taken(&all.iter(), order, &head), "{:?}", order);
                let among = pending.choose_among(window, order, &head).map(|(index, cost)| (sequence(index), cost));
                prop_assert_eq!(among, taken(&oldest, order, &head), "{:?} of {}", order, window);
            }
            let read = pending.choose_read(&head).map(sequence);
            let expected = taken(&all.iter().filter(|command| !command.write), Order::Positioning, &head);
            prop_assert_eq!(read, expected.map(|(sequence, _)| sequence));
            let aged = pending.choose_aged(&head, Instant(last * 10)).map(|(index, cost)| (sequence(index), cost));
            prop_assert_eq!(aged, taken(&oldest, Order::Positioning, &head));
            prop_assert_eq!(pending.oldest().map(sequence), Some(ages[0]));
            prop_assert_eq!(pending.oldest_since(), Some(Instant(ages[0] * 10)));
            // Every other, from the middle: slots are used again.
            let gone = pending.remove(pending.len() / 2);
            prop_assert_eq!(gone, all[all.len() / 2]);
            if gone.sequence.is_multiple_of(2) {
                let sequence = gone.sequence + 61;
                pending.insert(Waiting { sequence, since: Instant(sequence * 10), ..gone });
            }
        }
    }
}

#[test]
fn what_goes_on_where_the_head_is_goes_first_in_positioning_order() {
    let curve = curve();
    // The older one is a sector that the head meets at once, the younger begins where the last command ended.
    let head = Head { reached: 5_000_100, ..head(&curve, 5_000, 0) };
    let mut pending = set(&[(5_000, 0)]);
    pending.insert(Waiting { sector: 5_000_100, ..waiting(5_000, REVOLUTION / 2, 1) });
    for window in [1, 2] {
        assert_eq!(pending.choose_among(window, Order::Positioning, &head), Some((1, 0)));
    }
    let a_sector_on = Head { reached: 5_000_099, ..head };
    assert_eq!(pending.choose_among(2, Order::Positioning, &a_sector_on), Some((0, 0)));
    assert_eq!(Pending::default().choose_among(2, Order::Positioning, &head), None);
}

#[test]
fn commands_are_found_by_their_sectors() {
    let pending = set(&[(7, 0), (3, 0), (5, 0)]);
    assert_eq!([2_999, 3_000, 3_001, 5_001, 7_001].map(|sector| pending.before(sector)), [0, 0, 1, 2, 3]);
    assert_eq!((pending.end(0), pending.end(2), pending.get(1).end()), (3_008, 7_008, 5_008));
    assert_eq!((pending.len(), pending.is_empty()), (3, false));
}
