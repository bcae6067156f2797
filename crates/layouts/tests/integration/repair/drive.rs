//! A drive that answers in any order, after times drawn at random.

use std::collections::BTreeMap;

use hotband_machine::{Command, Counter, Done, Drive, Op, Random, Times, Versions};
use hotband_units::{Bytes, Instant, Span};

use super::store::Shared;

pub struct Erratic {
    pub store: Shared,
    pub index: usize,
    pub size: u64,
    pub random: Random,
    under_way: BTreeMap<(Instant, u64), (Instant, Command)>,
    sequence: u64,
}

impl Erratic {
    pub fn new(store: Shared, index: usize, size: u64, seed: u64) -> Self {
        let random = Random::new(seed, &format!("drive {index}"));
        Self { store, index, size, random, under_way: BTreeMap::new(), sequence: 0 }
    }
}

impl Drive for Erratic {
    fn kind(&self) -> &'static str {
        "erratic"
    }
    fn capacity(&self) -> Bytes {
        Bytes(self.size)
    }
    fn block(&self) -> Bytes {
        Bytes(512)
    }
    fn submit(&mut self, now: Instant, command: Command) {
        // 1 us to 1 ms, and up to 1 ms for 256 KiB.
        let takes = 1000 + self.random.below(1_000_000) + self.random.below(u64::from(command.len) * 4 + 1);
        self.under_way.insert((now + Span(takes), self.sequence), (now, command));
        self.sequence += 1;
    }
    fn wake(&self) -> Option<Instant> {
        self.under_way.first_key_value().map(|((at, _), _)| *at)
    }
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(at) = self.wake().filter(|at| *at <= now) {
            let (_, (came, command)) = self.under_way.pop_first().expect("it has a wake-up");
            if command.op == Op::Read {
                let mut store = self.store.lock().unwrap();
                store.drive_read(self.index, command.token, command.offset, command.len);
            }
            let times = Times { transfer: at.since(came), ..Times::default() };
            done.push(Done { token: command.token, at, times, bytes_back: 0, fault: None });
        }
    }
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
    fn keep_account(&mut self) {}
    fn cut_power(&mut self, _: Instant) -> Versions {
        Versions::default()
    }
}
