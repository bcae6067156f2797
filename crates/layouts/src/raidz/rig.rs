//! A RAID-Z on drives that answer in any order, fail and are replaced, for its tests.

use std::collections::BTreeMap;
use std::ops::Range;

use hotband_machine::{Entropy, Fault, MemberCommand, Op, Random, Service, ServiceIo, ServiceOut, Times};
use hotband_units::{Instant, Rate, Span};

use super::{For, Presence, RaidZ};

/// A command under way: when it was sent, and whether its drive failed under it.
struct UnderWay {
    command: MemberCommand,
    sent: Instant,
    failed: bool,
}

/// Writes of a record: times when the commands of a write went out and when the last was completed.
#[derive(Default)]
struct Written {
    left: u32,
    sent: Instant,
    done: Vec<(Instant, Instant)>,
}

/// A RAID-Z on drives that take a random time, with which record every sector belongs to.
pub(super) struct Rig {
    pub raidz: RaidZ,
    pub now: Instant,
    random: Random,
    /// By member and sector.
    sectors: Vec<BTreeMap<u64, u64>>,
    under_way: BTreeMap<(Instant, u64), UnderWay>,
    pub sent: Vec<MemberCommand>,
    pub asked: BTreeMap<u32, Instant>,
    pub answered: BTreeMap<u32, Option<Fault>>,
    out: ServiceOut,
    /// Records of every forced write.
    forced: BTreeMap<u32, Range<u64>>,
    written: BTreeMap<u64, Written>,
    /// For every member, when its last completed flush was sent, and since when it is present.
    flushed: Vec<Instant>,
    since: Vec<Instant>,
}

impl Rig {
    pub fn new(raidz: RaidZ, seed: u64) -> Self {
        let mut rig = Self {
            sectors: vec![BTreeMap::new(); raidz.present.len()],
            flushed: vec![Instant::ZERO; raidz.present.len()],
            since: vec![Instant::ZERO; raidz.present.len()],
            forced: BTreeMap::new(),
            written: BTreeMap::new(),
            raidz,
            now: Instant::ZERO,
            random: Random::new(seed, "drives"),
            under_way: BTreeMap::new(),
            sent: Vec::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            out: ServiceOut::default(),
        };
        for record in 0..rig.raidz.records {
            for column in rig.raidz.columns_of(record) {
                rig.hold(column.member, column.offset, u64::from(column.len), record);
            }
        }
        rig
    }

    fn hold(&mut self, member: u16, offset: u64, len: u64, record: u64) {
        let sectors = offset / 4096..(offset + len) / 4096;
        self.sectors[usize::from(member)].extend(sectors.map(|sector| (sector, record)));
    }

    pub fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        self.ask_for(op, offset, len, false)
    }

    pub fn ask_for(&mut self, op: Op, offset: u64, len: u64, fua: bool) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.insert(token, self.now);
        if fua && op == Op::Write {
            let record = self.raidz.record;
            self.forced.insert(token, offset / record..(offset + len).div_ceil(record));
        }
        let (len, entropy) = (len as u32, Entropy::INCOMPRESSIBLE);
        self.raidz.submit(self.now, ServiceIo { token, op, offset, len, fua, version: 0, entropy });
        self.advance();
        token
    }

    fn advance(&mut self) {
        self.raidz.advance(self.now, &mut self.out);
        for command in std::mem::take(&mut self.out.commands) {
            let at = self.now + Span(1000 + self.random.below(100_000));
            let failed = self.raidz.present[usize::from(command.member)] == Presence::Gone;
            assert!(!failed, "nothing is asked of a member that is gone");
            if let (Op::Read, For::Record(record)) = (command.op, For::of(command.token)) {
                self.is_of(&command, record);
            }
            if let (Op::Write, For::Record(record)) = (command.op, For::of(command.token)) {
                let written = self.written.entry(record).or_default();
                (written.left, written.sent) = (written.left + 1, self.now);
            }
            self.under_way.insert((at, self.sent.len() as u64), UnderWay { command, sent: self.now, failed });
            self.sent.push(command);
        }
        for served in std::mem::take(&mut self.out.served) {
            let since = self.asked[&served.token];
            assert_eq!(served.times.total(), self.now.since(since), "the times add up");
            assert_eq!(self.answered.insert(served.token, served.fault), None, "an I/O is answered once");
            if served.fault.is_none() {
                self.is_on_media(served.token);
            }
        }
    }

    /// Of a forced write: every record of it was written since it was asked, and all members that were there have since
    /// been flushed.
    fn is_on_media(&self, token: u32) {
        let Some(records) = self.forced.get(&token) else { return };
        for record in records.clone() {
            let mut all = self.written[&record].done.iter();
            let (_, at) = all.find(|(sent, _)| *sent >= self.asked[&token]).expect("it was written after it was asked");
            for member in self.raidz.members_there() {
                let member = usize::from(member);
                assert!(self.flushed[member] >= *at || self.since[member] > *at, "member {member} was not flushed");
            }
        }
    }

    /// All that a command reads is of the record, and on the member.
    fn is_of(&self, command: &MemberCommand, record: u64) {
        let sectors = command.offset / 4096..(command.offset + u64::from(command.len)) / 4096;
        let held = &self.sectors[usize::from(command.member)];
        for sector in sectors {
            assert_eq!(held.get(&sector), Some(&record), "member {} sector {sector}", command.member);
        }
    }

    /// Advances to the next event; returns whether there was one.
    pub fn step(&mut self) -> bool {
        let next = self.under_way.keys().next().map(|(at, _)| *at).into_iter().chain(self.raidz.wake()).min();
        let Some(next) = next else { return false };
        self.now = next;
        if let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == next) {
            let UnderWay { command, sent, failed } = entry.remove();
            if command.op == Op::Write && !failed {
                self.written(&command);
            }
            self.answers(&command, sent);
            let times = Times { transfer: Span(1000), ..Times::default() };
            self.raidz.answered(next, command.token, &times, failed.then_some(Fault::Gone));
        }
        self.advance();
        true
    }

    /// Notes what is on media with it.
    fn answers(&mut self, command: &MemberCommand, sent: Instant) {
        let flushed = &mut self.flushed[usize::from(command.member)];
        match (command.op, For::of(command.token)) {
            (Op::Flush, _) => *flushed = (*flushed).max(sent),
            (Op::Write, For::Record(record)) => {
                let written = self.written.get_mut(&record).expect("it was sent");
                written.left -= 1;
                if written.left == 0 {
                    written.done.push((written.sent, self.now));
                }
            }
            _ => {}
        }
    }

    pub fn replace(&mut self, member: u16, limit: Option<Rate>) {
        self.since[usize::from(member)] = self.now;
        self.raidz.member_replaced(self.now, member, limit);
        self.advance();
    }

    fn written(&mut self, command: &MemberCommand) {
        let (member, offset, len) = (command.member, command.offset, u64::from(command.len));
        match For::of(command.token) {
            For::Record(record) => self.hold(member, offset, len, record),
            For::Flush(_) => panic!("a flush writes nothing"),
            For::Log => {
                let held = &self.sectors[usize::from(member)];
                assert!(!held.contains_key(&(offset / 4096)), "the log has a place of its own");
            }
            For::Resilver(_) => {
                // What the records that lie there have on the member.
                for record in 0..self.raidz.records {
                    for column in self.raidz.columns_of(self.raidz.places.of(record)) {
                        let (from, to) = (column.offset, column.offset + u64::from(column.len));
                        if column.member == member && from >= offset && to <= offset + len {
                            self.hold(member, from, to - from, record);
                        }
                    }
                }
            }
        }
    }

    pub fn drain(&mut self) {
        while self.step() {}
    }

    pub fn fail(&mut self, member: u16) {
        self.raidz.member_failed(self.now, member);
        self.sectors[usize::from(member)].clear();
        let ends: Vec<(Instant, u64)> =
            self.under_way.iter().filter(|(_, leg)| leg.command.member == member).map(|(key, _)| *key).collect();
        for key in ends {
            let mut leg = self.under_way.remove(&key).expect("it was found just now");
            leg.failed = true;
            self.under_way.insert((self.now, key.1), leg);
        }
        self.advance();
    }

    pub fn count(&self, name: &str) -> u64 {
        let report = self.raidz.report();
        let mut all = report[0].counters.iter().chain(&report[0].at_end);
        all.find(|(have, _)| *have == name).expect("it is counted").1
    }

    pub fn sent_bytes(&self, op: Op) -> u64 {
        self.sent.iter().filter(|sent| sent.op == op).map(|sent| u64::from(sent.len)).sum()
    }
}
