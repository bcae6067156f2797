//! Contract of every layout, and the shapes of parity writes.

use std::collections::{BTreeMap, BTreeSet};

use hotband_machine::{Extent, Layout, MemberState, Members, Op, Plan};
use hotband_units::Bytes;
use proptest::prelude::*;

use super::{PLANNERS, ReadPolicy, build};

#[path = "../tests/integration/layout_spec.rs"]
mod layout_spec;
use layout_spec::spec;

const CHUNK: u64 = 16 * 1024;
const SIZE: u64 = 64 * CHUNK;

fn layout(kind: &str, members: usize) -> Box<dyn Layout> {
    let chunk = if ["single", "concat", "raid1"].contains(&kind) { "" } else { "chunk = \"16 KiB\"" };
    build("test", &spec(kind, members, chunk), &vec![SIZE; members]).unwrap()
}

fn members_of(kind: &str) -> usize {
    match kind {
        "single" => 1,
        "raid60" => 8,
        _ => 6,
    }
}

fn plan(layout: &dyn Layout, members: usize, op: Op, offset: u64, len: u32) -> Plan {
    let mut plan = Plan::default();
    layout.plan(Extent { op, offset, len }, Members::whole(&vec![MemberState::default(); members]), 0, &mut plan);
    plan
}

/// (member, byte) of every 512 bytes that the legs of `op` touch.
fn sectors(plan: &Plan, op: Op) -> Vec<(u16, u64)> {
    let legs = plan.legs.iter().filter(|leg| leg.op == op);
    let each = legs.flat_map(|leg| (0..u64::from(leg.len) / 512).map(|n| (leg.member, leg.offset + n * 512)));
    each.collect()
}

#[test]
fn capacity_is_that_of_the_data() {
    let expected = [
        ("single", 1),
        ("concat", 6),
        ("raid0", 6),
        ("raid1", 1),
        ("raid5", 5),
        ("raid6", 4),
        ("raid10", 3),
        ("raid50", 4),
        ("raid60", 4),
    ];
    assert_eq!(expected.map(|(kind, _)| kind), PLANNERS, "every one");
    for (kind, shares) in expected {
        assert_eq!(layout(kind, members_of(kind)).capacity(), Bytes(shares * SIZE), "{kind}");
    }
}

#[test]
fn no_two_addresses_share_a_place() {
    for kind in PLANNERS {
        let (layout, members) = (layout(kind, members_of(kind)), members_of(kind));
        let mut seen = BTreeSet::new();
        for offset in (0..layout.capacity().0).step_by(4096) {
            let plan = plan(&*layout, members, Op::Read, offset, 4096);
            let [leg] = plan.legs[..] else { panic!("{kind}: 4 KiB lie in one chunk") };
            assert!(leg.offset + 4096 <= SIZE && usize::from(leg.member) < members, "{kind}");
            assert!(seen.insert((leg.member, leg.offset)), "{kind}: {offset} shares a place");
        }
    }
}

#[test]
fn small_parity_writes_read_old_data_and_parity_first() {
    for (kind, legs) in [("raid5", 2), ("raid6", 3)] {
        let plan = plan(&*layout(kind, 6), 6, Op::Write, 5 * 4096, 4096);
        let count = |phase, op| plan.legs.iter().filter(|leg| leg.phase == phase && leg.op == op).count();
        assert_eq!((count(0, Op::Read), count(1, Op::Write), plan.legs.len()), (legs, legs, 2 * legs), "{kind}");
        assert_eq!(sectors(&plan, Op::Read), sectors(&plan, Op::Write), "{kind}");
    }
}

#[test]
fn a_full_stripe_is_written_without_reading() {
    for (kind, data) in [("raid5", 5), ("raid6", 4)] {
        let stripe = data * CHUNK;
        let plan = plan(&*layout(kind, 6), 6, Op::Write, 3 * stripe, stripe as u32);
        assert!(plan.legs.iter().all(|leg| leg.op == Op::Write && leg.phase == 0), "{kind}");
        assert_eq!(plan.legs.len(), 6, "{kind}");
    }
}

#[test]
fn most_of_a_stripe_is_written_by_reading_the_rest() {
    let plan = plan(&*layout("raid5", 6), 6, Op::Write, 0, 4 * CHUNK as u32);
    let reads: Vec<_> = plan.legs.iter().filter(|leg| leg.op == Op::Read).collect();
    assert_eq!(reads.len(), 1, "only the chunk that is not written");
    assert_eq!(plan.legs.iter().filter(|leg| leg.op == Op::Write).count(), 5);
}

/// Legs of a plan as (phase, member, operation, offset, length), sorted.
fn shape_of(plan: &Plan) -> BTreeSet<(u8, u16, String, u64, u32)> {
    plan.legs.iter().map(|leg| (leg.phase, leg.member, format!("{:?}", leg.op), leg.offset, leg.len)).collect()
}

/// RAID 50 and 60 by hand: RAID 0 in chunks of a whole stripe over RAID 5 or 6.
fn by_hand(
    (kind, parities): (&str, u64),
    extent: Extent,
    states: &[MemberState],
) -> BTreeSet<(u8, u16, String, u64, u32)> {
    let of_group = states.len() / 2;
    let group = layout(kind, of_group);
    let width = (of_group as u64 - parities) * CHUNK;
    let stripe = build("test", &spec("raid0", 2, &format!("chunk = \"{width} B\"")), &[group.capacity().0; 2]).unwrap();
    let mut above = Plan::default();
    stripe.plan(extent, Members::whole(&[MemberState::default(); 2]), 0, &mut above);
    let mut legs = BTreeSet::new();
    for leg in above.legs {
        let first = usize::from(leg.member) * of_group;
        let mut below = Plan::default();
        let part = Extent { op: leg.op, offset: leg.offset, len: leg.len };
        group.plan(part, Members::of(&states[first..first + of_group]), 0, &mut below);
        below.legs.iter_mut().for_each(|leg| leg.member += first as u16);
        legs.extend(shape_of(&below));
    }
    legs
}

proptest! {
    #[test]
    fn groups_are_a_stripe_of_parity_layouts(
        of in 0..2_usize, op in 0..2_usize, block in 0_u64..10_000, blocks in 1_u32..700, gone in proptest::option::of(0..6_usize),
    ) {
        let ((kind, below), op) = ([("raid50", ("raid5", 1)), ("raid60", ("raid6", 2))][of], [Op::Read, Op::Write][op]);
        let (layout, members) = (layout(kind, members_of(kind)), members_of(kind));
        let len = blocks * 512;
        let offset = block * 512 % (layout.capacity().0 - u64::from(len));
        let mut states = vec![MemberState::default(); members];
        if let Some(gone) = gone {
            states[gone].present_to = 0;
        }
        let (extent, mut plan) = (Extent { op, offset, len }, Plan::default());
        layout.plan(extent, Members::of(&states), 0, &mut plan);
        prop_assert_eq!(shape_of(&plan), by_hand(below, extent, &states));
        prop_assert!(plan.legs.is_sorted_by_key(|leg| leg.phase) && !plan.lost);
    }
}

#[test]
fn a_full_stripe_of_a_group_is_written_without_reading_and_the_next_goes_to_the_next_group() {
    for (kind, data, of_group) in [("raid50", 2, 3), ("raid60", 2, 4)] {
        let layout = layout(kind, members_of(kind));
        for number in 0..4_u16 {
            let offset = u64::from(number) * data * CHUNK;
            let plan = plan(&*layout, members_of(kind), Op::Write, offset, (data * CHUNK) as u32);
            let members: BTreeSet<u16> = plan.legs.iter().map(|leg| leg.member).collect();
            let first = number % 2 * of_group;
            assert!(plan.legs.iter().all(|leg| leg.op == Op::Write && leg.phase == 0), "{kind}");
            assert!(members.into_iter().eq(first..first + of_group), "{kind} {number}");
        }
    }
}

#[test]
fn a_group_lives_with_its_own_failures_only() {
    let lost = |kind: &str, gone: &[usize]| {
        let mut states = vec![MemberState::default(); members_of(kind)];
        for member in gone {
            states[*member].present_to = 0;
        }
        layout(kind, members_of(kind)).lost(&states)
    };
    assert_eq!([lost("raid50", &[0]), lost("raid50", &[0, 5])], [0, 0], "one of each group");
    assert!(lost("raid50", &[0, 2]) > 0 && lost("raid60", &[0, 1, 2]) > 0);
    assert_eq!([lost("raid60", &[0, 1]), lost("raid60", &[0, 1, 6, 7])], [0, 0], "two of each group");
}

#[test]
fn parity_moves_from_stripe_to_stripe() {
    let layout = layout("raid5", 6);
    let data = |row: u64| -> BTreeSet<u16> {
        let read = plan(&*layout, 6, Op::Read, row * 5 * CHUNK, 5 * CHUNK as u32);
        read.legs.iter().map(|leg| leg.member).collect()
    };
    let parity: Vec<u16> = (0..6).map(|row| (0..6).find(|m| !data(row).contains(m)).unwrap()).collect();
    assert_eq!(parity, [5, 4, 3, 2, 1, 0]);
}

#[test]
fn a_sequential_reader_stays_on_one_mirror() {
    let layout = layout("raid1", 2);
    let mut states = vec![MemberState::default(); 2];
    let mut used = BTreeSet::new();
    for n in 0..16_u64 {
        let mut plan = Plan::default();
        layout.plan(Extent { op: Op::Read, offset: n * 4096, len: 4096 }, Members::whole(&states), n, &mut plan);
        let leg = plan.legs[0];
        let state = &mut states[usize::from(leg.member)];
        (state.pending, state.read_end, state.last_end) = (state.pending + 1, leg.offset + 4096, leg.offset + 4096);
        used.insert(leg.member);
    }
    assert_eq!(used.len(), 1);
}

#[test]
fn a_read_goes_on_where_it_was_when_copies_end_on_its_way() {
    let layout = build("test", &spec("raid1", 3, "read_policy = \"round-robin\""), &[SIZE; 3]).unwrap();
    let mut states = [MemberState::default(); 3];
    states[0].present_to = CHUNK;
    let mut plan = Plan::default();
    layout.plan(Extent { op: Op::Read, offset: 0, len: 2 * CHUNK as u32 }, Members::of(&states), 1, &mut plan);
    // Of the second half two copies are left, and it would be the turn of the other one.
    assert!(plan.legs.iter().all(|leg| leg.member == 1), "{:?}", plan.legs);
}

#[test]
fn one_large_read_uses_one_member_of_each_pair() {
    let plan = plan(&*layout("raid10", 6), 6, Op::Read, 0, 12 * CHUNK as u32);
    assert_eq!(plan.legs.len(), 3, "four chunks a pair, joined: {:?}", plan.legs);
}

#[test]
fn read_policies_choose_as_named() {
    let states = [
        MemberState { pending: 3, read_end: 0, last_end: 900 * 4096, ..MemberState::default() },
        MemberState { pending: 1, read_end: 0, last_end: 10 * 4096, ..MemberState::default() },
    ];
    let chosen = |policy: &str, turn| {
        let layout = build("test", &spec("raid1", 2, &format!("read_policy = \"{policy}\"")), &[SIZE; 2]).unwrap();
        let mut plan = Plan::default();
        layout.plan(Extent { op: Op::Read, offset: 200 * 4096, len: 4096 }, Members::whole(&states), turn, &mut plan);
        plan.legs[0].member
    };
    assert_eq!([chosen("round-robin", 0), chosen("round-robin", 1)], [0, 1]);
    assert_eq!(chosen("least-pending", 0), 1);
    assert_eq!(chosen("nearest-head", 0), 1);
    assert_eq!(chosen("idle-or-nearest", 0), 1, "none is idle: the nearest");
}

#[test]
fn mirrors_with_as_many_commands_take_turns() {
    let chosen = |pending: [u32; 3]| {
        let states = pending.map(|pending| MemberState { pending, ..MemberState::default() });
        [0, 1, 2, 3, 4].map(|turn| ReadPolicy::LeastPending.choose(&states, SIZE, 4096, turn))
    };
    assert_eq!(chosen([2, 2, 2]), [0, 2, 1, 0, 2]);
    assert_eq!(chosen([2, 3, 2]), [0, 2, 2, 0, 2], "the one with more has none");
}

#[test]
fn a_layout_says_what_it_was_asked_for_as() {
    for kind in PLANNERS {
        assert_eq!(layout(kind, members_of(kind)).kind(), kind);
    }
}

#[test]
fn what_is_lost_unit_by_unit_adds_up_to_all_that_is_lost() {
    // The members that are gone, and the one of them that was to be made anew.
    for (kind, gone, is_beyond) in [
        ("raid5", &[0_u16, 2][..], true),
        ("raid5", &[2], false),
        ("raid6", &[1, 4, 5], true),
        ("raid6", &[1, 4], false),
    ] {
        let layout = layout(kind, 6);
        let redundancy = layout.redundancy().expect("parity is redundancy");
        let mut states = [MemberState::default(); 6];
        for member in gone {
            states[usize::from(*member)].present_to = 0;
        }
        let all = layout.lost(&states);
        for member in gone {
            let mut others = states;
            others[usize::from(*member)] = MemberState::default();
            let units = (0..SIZE / CHUNK).map(|unit| unit * CHUNK..(unit + 1) * CHUNK);
            let lost: u64 = units.map(|range| redundancy.lost_in(*member, &range, &others)).sum();
            assert_eq!((lost, lost > 0), (all, is_beyond), "{kind} without {gone:?}");
        }
    }
}

#[test]
fn a_pair_loses_what_none_of_its_own_copies_holds() {
    let layout = layout("raid10", 4);
    let redundancy = layout.redundancy().expect("copies are redundancy");
    let range = CHUNK..3 * CHUNK;
    for (gone, lost) in [(&[2_usize, 3][..], 2 * CHUNK), (&[2], 0), (&[0, 1], 0), (&[1, 2], 0)] {
        let mut states = [MemberState::default(); 4];
        for member in gone {
            states[*member].present_to = 0;
        }
        assert_eq!(redundancy.lost_in(2, &range, &states), lost, "without {gone:?}");
    }
}

#[test]
fn an_idle_mirror_goes_before_the_nearest() {
    let choose = |policy: ReadPolicy, pending: [u32; 2], offset: u64| {
        let states = [(pending[0], 900), (pending[1], 10)].map(|(pending, last)| MemberState {
            pending,
            read_end: 0,
            last_end: last * 4096,
            ..MemberState::default()
        });
        policy.choose(&states, SIZE, offset, 0)
    };
    assert_eq!(choose(ReadPolicy::IdleOrNearest, [0, 1], 20 * 4096), 0);
    assert_eq!(choose(ReadPolicy::IdleOrNearest, [1, 0], 890 * 4096), 1);
    assert_eq!(choose(ReadPolicy::IdleOrNearest, [0, 0], 20 * 4096), 0, "the first of several idle ones");
    assert_eq!(choose(ReadPolicy::IdleOrNearest, [2, 1], 890 * 4096), 0);
    for (offset, member) in [(4096, 0), (SIZE / 2 - 1, 0), (SIZE / 2, 1), (SIZE - 1, 1)] {
        assert_eq!(choose(ReadPolicy::ByRegion, [0, 5], offset), member);
    }
}

#[test]
fn mistakes_are_named() {
    let error = |kind: &str, members: usize, options: &str| {
        let spec = spec(kind, members, options);
        build("m.toml", &spec, &vec![SIZE; members]).expect_err("this is a mistake").to_string()
    };
    assert!(error("raid5", 2, "").contains("at least 3 drives"));
    assert!(error("raid6", 3, "").contains("at least 4 drives"));
    assert!(error("raid10", 5, "").contains("even number"));
    assert!(error("raid50", 5, "").contains("equal groups of at least 3 drives"));
    assert!(error("raid60", 6, "").contains("equal groups of at least 4 drives"));
    let groups = error("raid50", 12, "groups = 5");
    assert!(groups.contains("raid50.groups") || groups.contains("groups") && groups.contains('5'), "{groups}");
    assert!(error("raid50", 12, "groups = 1").contains("groups"));
    assert!(error("raid5", 12, "groups = 2").contains("unknown key"));
    assert!(error("raid1", 1, "").contains("at least 2 drives"));
    assert!(error("rad5", 6, "").contains("did you mean \"raid5\""));
    for chunk in ["1000 B", "0 B", "2 GiB", "1048580 KiB"] {
        assert!(error("raid0", 2, &format!("chunk = \"{chunk}\"")).contains("multiple of 4 KiB"), "{chunk}");
    }
    assert!(error("raid0", 2, "chunck = \"64 KiB\"").contains("did you mean \"chunk\""));
    assert!(error("raid1", 2, "read_policy = \"nearest\"").contains("nearest-head"));
}

proptest! {
    #[test]
    fn a_write_lands_where_reads_look(kind in 0..PLANNERS.len(), block in 0_u64..200, blocks in 1_u32..60) {
        let kind = PLANNERS[kind];
        let (layout, members) = (layout(kind, members_of(kind)), members_of(kind));
        let offset = block * 512 % (layout.capacity().0 - 60 * 512);
        let written = plan(&*layout, members, Op::Write, offset, blocks * 512);
        let read = plan(&*layout, members, Op::Read, offset, blocks * 512);
        let places: BTreeSet<_> = sectors(&written, Op::Write).into_iter().collect();
        prop_assert_eq!(places.len(), sectors(&written, Op::Write).len(), "no sector is written twice");
        prop_assert!(sectors(&read, Op::Read).iter().all(|sector| places.contains(sector)));
        prop_assert_eq!(read.legs.iter().map(|leg| u64::from(leg.len)).sum::<u64>(), u64::from(blocks) * 512);
        prop_assert!(written.legs.windows(2).all(|pair| pair[0].phase <= pair[1].phase));
    }
}

/// For every copy and host block of 512 bytes: (member, block of the member).
fn placed(layout: &dyn Layout, offset: u64, len: u32) -> BTreeMap<(u16, u64), (u16, u64)> {
    let (mut pieces, mut blocks) = (Vec::new(), BTreeMap::new());
    layout.place(Extent { op: Op::Read, offset, len }, &mut pieces);
    for piece in pieces {
        for n in 0..u64::from(piece.len) / 512 {
            let sector = (piece.member, piece.offset + n * 512);
            let before = blocks.insert((piece.copy, piece.host_offset + n * 512), sector);
            assert_eq!(before, None, "a copy of a block is in one place: {piece:?}");
        }
    }
    blocks
}

proptest! {
    #[test]
    fn data_is_placed_where_writes_put_it_and_reads_look(
        kind in 0..PLANNERS.len(), block in 0_u64..20_000, blocks in 1_u32..300,
    ) {
        let kind = PLANNERS[kind];
        let (layout, members) = (layout(kind, members_of(kind)), members_of(kind));
        let offset = block * 512 % (layout.capacity().0 - 300 * 512);
        let placed = placed(&*layout, offset, blocks * 512);
        let copies = match kind { "raid1" => 6, "raid10" => 2, _ => 1 };
        let wanted = (0..copies).flat_map(|copy| (0..u64::from(blocks)).map(move |n| (copy, offset + n * 512)));
        prop_assert!(placed.keys().copied().eq(wanted), "every copy of every block has a place");
        let places: BTreeSet<_> = placed.values().copied().collect();
        prop_assert_eq!(places.len(), placed.len(), "no two share one");
        let written: BTreeSet<_> = sectors(&plan(&*layout, members, Op::Write, offset, blocks * 512), Op::Write).into_iter().collect();
        prop_assert!(places.is_subset(&written));
        if !["raid5", "raid6", "raid50", "raid60"].contains(&kind) {
            prop_assert_eq!(&places, &written, "without parity writes go nowhere else");
        }
        // Block by block: a read of one block goes to one of its places, a write to all of them.
        for n in 0..u64::from(blocks) {
            let host = offset + n * 512;
            let here: BTreeSet<_> = (0..copies).map(|copy| placed[&(copy, host)]).collect();
            let read = sectors(&plan(&*layout, members, Op::Read, host, 512), Op::Read);
            prop_assert!(read.len() == 1 && here.contains(&read[0]));
            let written = sectors(&plan(&*layout, members, Op::Write, host, 512), Op::Write);
            prop_assert!(here.iter().all(|sector| written.contains(sector)));
        }
    }
}
