//! A drive that may fail: it counts its commands, and completes none any more when it has failed.
//!
//! It is between the machine and the drive only if a failure may come: other machines pay nothing for it.

use std::collections::{BTreeMap, VecDeque};

use hotband_units::{Bytes, Instant, Span};

use crate::contents::Carrier;
use crate::drive::{
    CacheState, Command, Counter, Done, Draw, Drive, OF_REBUILD, Smart, UntimedWrite, WriteCacheSetting,
};
use crate::event::SetError;
use crate::io::{Fault, Times};
use crate::repair::{GONE_AFTER, SectorErrors};
use crate::spec::unit::Unit;
use crate::versions::Versions;

/// A drive and its commands.
pub struct Failing {
    drive: Box<dyn Drive>,
    /// Tokens of its commands under way and how many have each: two legs of a plan may have the same. In the order in
    /// which they end with the drive: by token, the mark of a rebuild in the lowest bit.
    under_way: BTreeMap<u64, u32>,
    /// Commands that are not of a rebuild: so far, and under way.
    host_commands: (u64, u64),
    has_failed: bool,
    /// Commands that no drive completes, and the times at which the host receives the error.
    refused: VecDeque<(Instant, u64)>,
}

impl Failing {
    pub(crate) fn new(drive: Box<dyn Drive>) -> Self {
        Self { drive, under_way: BTreeMap::new(), host_commands: (0, 0), has_failed: false, refused: VecDeque::new() }
    }

    /// Fails the drive at `now`: its commands end, and it accepts no others.
    pub(crate) fn fail(&mut self, now: Instant) {
        self.has_failed = true;
        self.host_commands.1 = 0;
        let tokens = std::mem::take(&mut self.under_way).into_iter();
        let tokens = tokens.flat_map(|(token, count)| std::iter::repeat_n(token.rotate_right(1), count as usize));
        self.refused.extend(tokens.map(|token| (now, token)));
    }

    /// Commands of hosts so far, and whether any is under way.
    pub(crate) fn host_commands(&self) -> (u64, bool) {
        (self.host_commands.0, self.host_commands.1 > 0)
    }

    fn answered(&mut self, token: u64) {
        let count = self.under_way.get_mut(&token.rotate_left(1)).expect("only what was sent is answered");
        *count -= 1;
        if *count == 0 {
            self.under_way.remove(&token.rotate_left(1));
        }
        self.host_commands.1 -= u64::from(token & OF_REBUILD == 0);
    }
}

impl Drive for Failing {
    fn submit(&mut self, now: Instant, command: Command) {
        if self.has_failed {
            return self.refused.push_back((now + GONE_AFTER, command.token));
        }
        *self.under_way.entry(command.token.rotate_left(1)).or_default() += 1;
        if command.token & OF_REBUILD == 0 {
            self.host_commands = (self.host_commands.0 + 1, self.host_commands.1 + 1);
        }
        self.drive.submit(now, command);
    }

    fn wake(&self) -> Option<Instant> {
        if self.has_failed { self.refused.front().map(|(at, _)| *at) } else { self.drive.wake() }
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        if !self.has_failed {
            let before = done.len();
            self.drive.advance(now, done);
            return done[before..].iter().for_each(|done| self.answered(done.token));
        }
        while let Some(&(at, token)) = self.refused.front().filter(|(at, _)| *at <= now) {
            self.refused.pop_front();
            // Nobody knows where its time went: the machine counts it as the link's.
            done.push(Done { token, at, times: Times::default(), bytes_back: 0, fault: Some(Fault::Gone) });
        }
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        if self.has_failed { Versions::default() } else { self.drive.cut_power(now) }
    }

    fn set(&mut self, now: Instant, key: &str, value: &str) -> Result<(), SetError> {
        if self.has_failed { Ok(()) } else { self.drive.set(now, key, value) }
    }

    fn check_set(&self, key: &str, value: &str) -> Result<(), SetError> {
        self.drive.check_set(key, value)
    }

    fn settings(&self) -> &'static [&'static str] {
        self.drive.settings()
    }

    fn write_cache(&self) -> Option<WriteCacheSetting> {
        self.drive.write_cache()
    }

    fn failing(&mut self) -> Option<&mut Failing> {
        Some(self)
    }

    fn kind(&self) -> &'static str {
        self.drive.kind()
    }

    fn capacity(&self) -> Bytes {
        self.drive.capacity()
    }

    fn block(&self) -> Bytes {
        self.drive.block()
    }

    fn physical_block(&self) -> Bytes {
        self.drive.physical_block()
    }

    fn units(&self) -> Vec<Unit> {
        self.drive.units()
    }

    fn draw(&self) -> Option<Draw> {
        self.drive.draw()
    }

    fn activity(&self) -> [Span; 3] {
        self.drive.activity()
    }

    fn volatile(&self) -> bool {
        self.drive.volatile()
    }

    fn takes_trims(&self) -> bool {
        self.drive.takes_trims()
    }

    fn forces_by_flush(&self) -> bool {
        self.drive.forces_by_flush()
    }

    fn counters(&self) -> Vec<Counter> {
        self.drive.counters()
    }

    fn levels(&self) -> Vec<Counter> {
        self.drive.levels()
    }

    fn caches(&self, now: Instant) -> Option<CacheState> {
        self.drive.caches(now)
    }

    fn write_untimed(&mut self, writes: &[UntimedWrite]) {
        self.drive.write_untimed(writes);
    }

    fn contents_key(&self) -> Option<String> {
        self.drive.contents_key()
    }

    fn carry_contents(&mut self, carrier: &mut Carrier) {
        self.drive.carry_contents(carrier);
    }

    fn has_valid_contents(&self) -> bool {
        self.drive.has_valid_contents()
    }

    fn model(&self, most: u64) -> Option<Box<dyn Drive>> {
        self.drive.model(most)
    }

    fn enlarge_contents(&mut self, model: &mut dyn Drive) {
        self.drive.enlarge_contents(model);
    }

    fn sector_errors(&self) -> Option<SectorErrors> {
        self.drive.sector_errors()
    }

    fn smart(&self) -> Option<Smart> {
        self.drive.smart()
    }

    fn waiting(&self) -> Option<u64> {
        self.drive.waiting()
    }

    fn keep_account(&mut self) {
        self.drive.keep_account();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Entropy, Op};

    /// Answers every command after a second.
    #[derive(Default)]
    struct Slow(VecDeque<(Instant, u64)>);

    impl Drive for Slow {
        fn kind(&self) -> &'static str {
            "slow"
        }

        fn capacity(&self) -> Bytes {
            Bytes(1 << 20)
        }

        fn block(&self) -> Bytes {
            Bytes(512)
        }

        fn submit(&mut self, now: Instant, command: Command) {
            self.0.push_back((now + Span(1_000_000_000), command.token));
        }

        fn wake(&self) -> Option<Instant> {
            self.0.front().map(|(at, _)| *at)
        }

        fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
            while let Some(&(at, token)) = self.0.front().filter(|(at, _)| *at <= now) {
                self.0.pop_front();
                done.push(Done { token, at, times: Times::default(), bytes_back: 0, fault: None });
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

    fn submit(drive: &mut Failing, at: u64, token: u64) {
        let (op, entropy) = (Op::Read, Entropy::INCOMPRESSIBLE);
        drive.submit(Instant(at), Command { token, op, offset: 0, len: 512, fua: false, version: 0, entropy });
    }

    fn tokens(drive: &mut Failing, at: u64) -> Vec<(u64, bool)> {
        let mut done = Vec::new();
        drive.advance(Instant(at), &mut done);
        done.into_iter().map(|done| (done.token, done.fault == Some(Fault::Gone))).collect()
    }

    #[test]
    fn a_drive_that_has_failed_answers_what_it_had_at_once_and_what_comes_after_a_while() {
        let mut drive = Failing::new(Box::new(Slow::default()));
        for (at, token) in [(0, 7), (0, 7), (1, 6 | OF_REBUILD), (2, 8)] {
            submit(&mut drive, at, token);
        }
        assert_eq!(tokens(&mut drive, 1_000_000_000), [(7, false), (7, false)]);
        assert_eq!(drive.host_commands(), (3, true), "a rebuild is not of a host");
        drive.fail(Instant(1_000_000_000));
        assert_eq!((drive.wake(), drive.host_commands()), (Some(Instant(1_000_000_000)), (3, false)));
        assert_eq!(tokens(&mut drive, 1_000_000_000), [(6 | OF_REBUILD, true), (8, true)]);
        submit(&mut drive, 1_000_000_005, 9);
        let noticed = 1_000_000_005 + GONE_AFTER.0;
        assert_eq!(drive.wake(), Some(Instant(noticed)));
        assert_eq!(tokens(&mut drive, noticed - 1), []);
        assert_eq!(tokens(&mut drive, noticed), [(9, true)]);
    }
}
