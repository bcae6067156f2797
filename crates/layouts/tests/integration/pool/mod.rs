//! A pool on disks that take a fixed time for every command, however many they have: what is left is the pool's own.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of this")]

use std::collections::BTreeMap;

use hotband_layouts::replicated::{OsdParams, PoolSpec, build};
use hotband_machine::{
    Entropy, Fault, MachineSpec, MemberCommand, MemberRange, NodeRef, Op, Product, Random, Served, Service, ServiceIo,
    ServiceOut, Times,
};
use hotband_units::{Instant, Rate, Span};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const OBJECT: u64 = 4 * MIB;
/// Bytes of every member. The middle 4 % hold log and database.
pub const MEMBER: u64 = 10 << 30;

/// Processor times of the tests, with nothing that varies.
pub const CLIENT: u64 = 100_000;
pub const READ: u64 = 300_000;
pub const WRITE: u64 = 500_000;
pub const REPLICA: u64 = 200_000;
pub const ANSWER: u64 = 50_000;
pub const COMMIT: u64 = 70_000;
pub const BLOCK: u64 = 10_000;
/// From one end of a wire to the other, besides the bytes.
pub const LATENCY: u64 = 30_000;

/// Values of the daemon that all tests share; what a test gives comes after them.
const SET: [(&str, &str); 9] = [
    ("cpu_client", "\"0.1 ms\""),
    ("cpu_read", "\"0.3 ms\""),
    ("cpu_write", "\"0.5 ms\""),
    ("cpu_replica", "\"0.2 ms\""),
    ("cpu_answer", "\"0.05 ms\""),
    ("cpu_commit", "\"0.07 ms\""),
    ("cpu_block", "\"0.01 ms\""),
    ("cpu_spread", "\"0 %\""),
    ("log_recycling", "\"on\""),
];

/// Time of a message with so many bytes of data beside its header of 300 on a card of 10 GbE.
pub fn wire(bytes: u64) -> u64 {
    Rate(1_250_000_000).time_for(bytes + 300).0 + LATENCY
}

pub fn product() -> Product {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog/osds/bluestore-14.toml");
    let text = std::fs::read_to_string(file).expect("the catalog is part of the repository");
    Product::read("bluestore-14", "osds/bluestore-14.toml", &text).expect("values of the catalog are valid")
}

/// A pool of `members` members with these options of the layout and these values of its daemons.
pub fn pool(kind: &str, members: usize, options: &str, set: &[(&str, &str)]) -> Box<dyn Service> {
    let mut values: BTreeMap<&str, &str> = SET.into_iter().collect();
    values.extend(set.iter().copied());
    let set: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let text = format!(
        "[drives.d]\nproduct = \"fake\"\ncount = {members}\n[layouts.pool]\n\
         {kind} = {{ members = \"d*\", osd_set = {{ {} }}{options} }}\n",
        set.join(", ")
    );
    let spec = MachineSpec::read("machine.toml", &text).expect("machines of the tests are valid");
    let layout = &spec.layouts[0];
    let pool = PoolSpec::read("machine.toml", layout).expect("pools of the tests are valid");
    let params = OsdParams::read(&product(), &pool.set, "machine.toml", "set").expect("values of the tests are valid");
    let range = |drive: usize| MemberRange { node: NodeRef::Drive(drive as u32), from: 0, size: MEMBER };
    let ranges: Vec<MemberRange> = (0..members).map(range).collect();
    build("machine.toml", layout, pool, params, &ranges, (Random::new(1, "pool"), &hotband_machine::unwatched))
        .expect("the pool fits")
        .0
}

/// What every disk needs for each kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    pub read: u64,
    pub write: u64,
    pub flush: u64,
}

pub const DISK: Disk = Disk { read: 5_000_000, write: 2_000_000, flush: 7_000_000 };

/// A pool, its disks, and what has come of it.
pub struct Rig {
    pub pool: Box<dyn Service>,
    pub disks: Vec<Disk>,
    pub now: Instant,
    /// Every command and when it was sent.
    pub commands: Vec<(u64, MemberCommand)>,
    /// Every answer, when it came and how long it took.
    pub served: Vec<(u64, Served)>,
    asked: BTreeMap<u32, u64>,
    under_way: BTreeMap<(u64, usize), (u64, Times)>,
    out: ServiceOut,
}

impl Rig {
    pub fn new(members: usize, options: &str, set: &[(&str, &str)]) -> Self {
        Self::of("replicated", members, options, set)
    }

    pub fn coded(members: usize, options: &str, set: &[(&str, &str)]) -> Self {
        Self::of("erasure", members, options, set)
    }

    fn of(kind: &str, members: usize, options: &str, set: &[(&str, &str)]) -> Self {
        Self {
            pool: pool(kind, members, options, set),
            disks: vec![DISK; 64],
            now: Instant::ZERO,
            commands: Vec::new(),
            served: Vec::new(),
            asked: BTreeMap::new(),
            under_way: BTreeMap::new(),
            out: ServiceOut::default(),
        }
    }

    /// Asks now; the token is the number of the I/O.
    pub fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.insert(token, self.now.0);
        let (len, entropy) = (len as u32, Entropy::INCOMPRESSIBLE);
        let asked = ServiceIo { token, op, offset, len, fua: false, version: 0, entropy };
        self.pool.submit(self.now, asked);
        token
    }

    fn advance(&mut self, at: u64) {
        self.now = Instant(at);
        self.pool.advance(self.now, &mut self.out);
        for command in self.out.commands.drain(..) {
            let disk = self.disks[usize::from(command.member)];
            let took = match command.op {
                Op::Read => disk.read,
                Op::Flush => disk.flush,
                Op::Write | Op::Trim => disk.write,
            };
            let times = Times { transfer: Span(took), ..Times::default() };
            self.under_way.insert((at + took, self.commands.len()), (command.token, times));
            self.commands.push((at, command));
        }
        for served in self.out.served.drain(..) {
            let since = self.asked[&served.token];
            assert_eq!(served.times.total(), Span(at - since), "parts of the latency: {served:?}");
            assert_eq!(served.fault, None);
            self.served.push((at, served));
        }
    }

    /// The disk of a member fails: its commands under way end, and nothing is asked of it any more.
    pub fn fail(&mut self, member: u16) {
        self.pool.member_failed(self.now, member);
        let keys: Vec<(u64, usize)> =
            self.under_way.keys().filter(|(_, number)| self.commands[*number].1.member == member).copied().collect();
        for key in keys {
            let (token, _) = self.under_way.remove(&key).expect("it was found just now");
            self.pool.answered(self.now, token, &Times::default(), Some(Fault::Gone));
        }
        self.advance(self.now.0);
    }

    /// Runs everything due up to and at `to`.
    pub fn run_to(&mut self, to: u64) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            self.step(at);
        }
        self.advance(to);
    }

    /// Runs until nothing is left to do.
    pub fn drain(&mut self) {
        while let Some(at) = self.next() {
            self.step(at);
        }
    }

    fn next(&self) -> Option<u64> {
        let answer = self.under_way.first_key_value().map(|((at, _), _)| *at);
        answer.into_iter().chain(self.pool.wake().map(|at| at.0)).min()
    }

    fn step(&mut self, at: u64) {
        if let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == at) {
            let (token, times) = entry.remove();
            self.now = Instant(at);
            self.pool.answered(self.now, token, &times, None);
        }
        self.advance(at);
    }

    /// Asks, runs until nothing is left to do, and returns how long the I/O took.
    pub fn latency(&mut self, op: Op, offset: u64, len: u64) -> u64 {
        let token = self.ask(op, offset, len);
        self.drain();
        self.latency_of(token)
    }

    #[track_caller]
    pub fn latency_of(&self, token: u32) -> u64 {
        let (at, _) = self.served.iter().find(|(_, served)| served.token == token).expect("the I/O was answered");
        at - self.asked[&token]
    }

    /// Commands sent since there were `from`: operation, offset and length.
    pub fn sent(&self, from: usize) -> Vec<(Op, u64, u32)> {
        self.commands[from..].iter().map(|(_, sent)| (sent.op, sent.offset, sent.len)).collect()
    }

    /// Operations sent to a daemon.
    pub fn ops_of(&self, member: u16) -> Vec<Op> {
        self.commands.iter().filter(|(_, sent)| sent.member == member).map(|(_, sent)| sent.op).collect()
    }

    /// A counter or level of a part.
    #[track_caller]
    pub fn count(&self, part: &str, name: &str) -> u64 {
        let report = self.pool.report();
        let part = report.iter().find(|have| have.id == part).expect("the pool has the part");
        let all = part.counters.iter().chain(&part.at_end);
        all.clone().find(|(have, _)| *have == name).expect("the part has the counter").1
    }
}

/// Whether a command goes to where objects are, and not to log or database.
pub fn in_place(offset: u64) -> bool {
    let db = (MEMBER as f64 * 0.04) as u64;
    let begin = (MEMBER - db) / 2;
    !(begin - MIB..begin + db + MIB).contains(&offset)
}
