//! The journal: records are collected in memory and written together, at intervals or when a client waits for it.

use hotband_machine::Op;
use hotband_units::Instant;

use crate::btree::state::{BTree, JOURNAL_STREAM, Timer, What, whole};

impl BTree {
    /// Adds a record of this many bytes.
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

    /// Writes the records that are not durable yet, unless a write is running, which later records follow.
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

    /// Written records are durable: operations that waited for them complete.
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
