//! The journal: records are collected in memory and written together, at intervals or when a client waits for it.

use std::collections::VecDeque;

use hotband_machine::Op;
use hotband_units::Instant;

use crate::btree::{BTree, JOURNAL_STREAM, Timer, What, whole};

/// A circular file. Positions count all bytes since the beginning.
#[derive(Clone, Debug)]
pub struct Journal {
    from: u64,
    size: u64,
    /// End of the records; of what is durable; and begin of what the next recovery would read.
    pub head: u64,
    durable: u64,
    pub tail: u64,
    /// End of what is being written.
    writing: Option<u64>,
    /// Whether the time of the next commit is set.
    due: bool,
    /// Clients that wait, each until the journal is durable up to a position.
    pub waiting: VecDeque<(u64, u32)>,
    pub records: u64,
    pub commits: u64,
}

impl Journal {
    pub fn new((from, size): (u64, u64)) -> Self {
        let waiting = VecDeque::new();
        Self { from, size, head: 0, durable: 0, tail: 0, writing: None, due: false, waiting, records: 0, commits: 0 }
    }

    /// Whether so many bytes more can be written without touching what the next recovery would read.
    pub fn holds(&self, bytes: u64) -> bool {
        let (begin, end) = whole(self.tail, self.head + bytes);
        end - begin <= self.size
    }
}

impl BTree {
    /// Adds a record of so many bytes.
    pub(super) fn append(&mut self, bytes: u64) {
        self.journal.head += bytes;
        self.journal.records += 1;
        if !self.journal.due {
            self.journal.due = true;
            let every = self.spec.commit_every.0;
            self.later(Instant((self.now.0 / every + 1) * every), Timer::Commit);
        }
    }

    pub(super) fn commit_due(&mut self) {
        self.journal.due = false;
        self.commit();
        self.begin_checkpoint_if_wanted();
    }

    /// Writes what is not durable yet, unless that is being done: the records until then go together next time.
    pub(super) fn commit(&mut self) {
        if self.journal.writing.is_some() || self.journal.head == self.journal.durable {
            return;
        }
        self.journal.writing = Some(self.journal.head);
        let (begin, end) = whole(self.journal.durable, self.journal.head);
        let token = self.begin_transfer(What::Journal);
        let at = begin % self.journal.size;
        let first = (end - begin).min(self.journal.size - at);
        self.ask(token, JOURNAL_STREAM, Op::Write, self.journal.from + at, first);
        if first < end - begin {
            self.ask(token, JOURNAL_STREAM, Op::Write, self.journal.from, end - begin - first);
        }
    }

    pub(super) fn journal_written(&mut self) {
        self.transfer(What::JournalFlush, JOURNAL_STREAM, Op::Flush, 0, 0);
    }

    /// What was written is durable: those who waited for it are answered.
    pub(super) fn journal_durable(&mut self) {
        self.journal.durable = self.journal.writing.take().expect("it was being written");
        self.journal.commits += 1;
        while let Some(&(_, client)) = self.journal.waiting.front().filter(|(upto, _)| *upto <= self.journal.durable) {
            self.journal.waiting.pop_front();
            self.run(client);
        }
        if !self.journal.waiting.is_empty() || (self.journal.head > self.journal.durable && !self.journal.due) {
            self.commit();
        }
    }
}
