//! A client that has chosen an export: requests in, answers out.
//!
//! One thread receives requests and hands them to the service. The thread that completes one sends the reply, if that
//! can be done at once; the connection's second thread sends long replies and those that the client does not take yet,
//! so that no other client waits for a slow one.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hotband_machine::Op;

use super::answer::{Answer, Kind, Piece, Read};
use super::budget::Budget;
use super::exports::{Export, LONGEST_PAYLOAD};
use super::incoming::Incoming;
use super::listener::Limits;
use super::options::Chosen;
use super::proto::{command, error};
use super::replies;
use super::requests::{HEADER, Header, Wanted, wanted};
use super::wire::{Wire, send_all};
use crate::service::{Payload, Request, Service};
use crate::timekeeper::Timekeeping;
use crate::watch::Watch;

/// Replies up to this size are sent by the completing thread: a socket takes them at once (its buffer is 208 KiB by
/// default), and copying them takes about 10 us.
pub const SHORT: usize = 64 << 10;
/// Bytes of answers that wait for a client to take them before it is listened to again; a socket keeps about as much.
const MOST_UNSENT: usize = 256 << 10;
/// Longest range of one status reply: the reply is quick, and a client asks for the next range.
const LONGEST_STATUS: u64 = 1 << 30;

/// Task of the second thread.
pub enum Task {
    /// Sends data that could not be sent at once.
    Send(Vec<u8>),
    /// Reads and sends.
    Read(Read),
    /// Asks the machine for the next piece of a long range.
    Next(Piece),
}

/// Replies waiting to be sent, and the amount in flight.
#[derive(Default)]
pub struct Out {
    /// Short answers that are sent together once the requests at hand are handed over.
    gathered: Vec<u8>,
    is_gathering: bool,
    tasks: VecDeque<Task>,
    /// Bytes of answers among them.
    unsent: usize,
    /// Whether the second thread is in the middle of a task: no other thread may send then.
    is_sending: bool,
    is_closed: bool,
    /// Requests without a completion, and their bytes.
    requests: usize,
    bytes: u64,
    /// The first thread waits for answers: it is told only then, for telling costs a system call.
    is_waited_for: bool,
}

/// A client.
pub struct Connection {
    /// Service that clients use.
    pub service: Arc<Service>,
    /// To the client.
    pub wire: Arc<dyn Wire>,
    /// Choices of the client.
    pub chosen: Chosen,
    export: Export,
    limits: Limits,
    budget: Arc<Budget>,
    out: Mutex<Out>,
    /// The second thread waits here for tasks.
    tasks_changed: Condvar,
    /// The first waits here until less is under way.
    answered: Condvar,
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The client announced its end: requests under way are completed first.
    Disconnect,
    /// The client is gone, violates the protocol or is too slow; or the service has stopped.
    Broken,
}

/// Waiting state of the first thread.
#[derive(Default)]
struct Waiting {
    watch: Watch,
    /// Whether the thread also waits for the machine.
    keeps: Option<Timekeeping>,
    /// Whether it waited for others only; it then does not wait again until its own client asks.
    is_for_others: bool,
    /// The client wrote since its last flush.
    has_written: bool,
}

impl Connection {
    /// Return a connection for a client that chose this export.
    pub fn new(
        service: Arc<Service>,
        wire: Arc<dyn Wire>,
        (chosen, export): (Chosen, Export),
        limits: Limits,
        budget: Arc<Budget>,
    ) -> Self {
        Self {
            service,
            wire,
            chosen,
            export,
            limits,
            budget,
            out: Mutex::default(),
            tasks_changed: Condvar::new(),
            answered: Condvar::new(),
        }
    }

    /// Serves the client until it disconnects; `incoming` has the data received with the handshake.
    pub fn serve(self: &Arc<Self>, mut incoming: Incoming) {
        self.service.prepare_thread();
        let second = Arc::clone(self);
        let second = std::thread::Builder::new().name("nbd answers".to_owned()).spawn(move || second.run_tasks());
        if let Ok(second) = second {
            if self.receive_all(&mut incoming) == End::Disconnect {
                self.drain();
            }
            self.close();
            second.join().expect("the second thread does not panic");
        }
        self.close();
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it at once: requests under way are not completed.
    pub fn close(&self) {
        self.close_with(&mut self.lock());
    }

    fn close_with(&self, out: &mut Out) {
        out.is_closed = true;
        out.tasks.clear();
        out.gathered.clear();
        self.wire.close();
        self.tasks_changed.notify_all();
        self.answered.notify_all();
    }

    /// Waits until all requests under way are completed; a client that receives nothing ends it.
    fn drain(&self) {
        let mut out = self.lock();
        self.flush(&mut out);
        while !out.is_closed && (out.requests > 0 || !out.tasks.is_empty() || out.is_sending) {
            out = self.wait_for_answers(out);
        }
    }

    fn wait_for_answers<'a>(&self, mut out: MutexGuard<'a, Out>) -> MutexGuard<'a, Out> {
        out.is_waited_for = true;
        let mut out = self.answered.wait(out).unwrap_or_else(PoisonError::into_inner);
        out.is_waited_for = false;
        out
    }

    fn receive_all(self: &Arc<Self>, incoming: &mut Incoming) -> End {
        let mut gathers = false;
        let mut waiting = Waiting::default();
        loop {
            let have = incoming.have();
            let mut want = HEADER;
            if have.len() >= HEADER {
                let Some((header, payload)) = Header::of(have).and_then(|header| Some((header, header.payload()?)))
                else {
                    return End::Broken;
                };
                want += payload;
                if have.len() >= want {
                    // More is at hand: answers that are there at once are sent together.
                    gathers |= have.len() > want;
                    if let Err(end) = self.take(&header, &have[HEADER..want], gathers, &mut waiting) {
                        return end;
                    }
                    incoming.consume(want);
                    if want > HEADER && self.budget.is_wanted() {
                        incoming.give_back();
                    }
                    continue;
                }
            }
            if gathers {
                self.flush(&mut self.lock());
                gathers = false;
            }
            if self.receive(incoming, want, &mut waiting).is_err() {
                return End::Broken;
            }
        }
    }

    /// Waits for the memory of the longest write; false if the connection was closed meanwhile.
    fn reserve(&self, incoming: &mut Incoming, waiting: &mut Waiting) -> bool {
        // Somebody else has to wait for the machine then, which completes what the holders of memory wait for.
        drop(waiting.keeps.take());
        let reserved = self.budget.reserve(u64::from(LONGEST_PAYLOAD), || self.lock().is_closed);
        reserved.map(|reserved| incoming.reserve(reserved)).is_some()
    }

    /// Waits until something of `want` bytes is complete.
    fn receive(&self, incoming: &mut Incoming, want: usize, waiting: &mut Waiting) -> io::Result<()> {
        let time = self.limits.request + Duration::from_secs((want >> 20) as u64);
        let mut begun = None;
        while incoming.have().len() < want {
            if incoming.needs_memory(want) {
                if !self.reserve(incoming, waiting) {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                // The time of waiting for memory is not the client's.
                begun = None;
            }
            match incoming.fetch(want, |buffer| waiting.receive(&self.service, &*self.wire, buffer)) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => incoming.rest(),
                Err(error) => return Err(error),
            }
            let have = incoming.have().len();
            // The header is looked at as soon as it is there: it says how much follows.
            if want == HEADER && have >= HEADER {
                break;
            }
            if have > 0 && begun.get_or_insert_with(Instant::now).elapsed() > time {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    /// Takes a request; `gathers` where more are at hand.
    fn take(
        self: &Arc<Self>,
        header: &Header,
        payload: &[u8],
        gathers: bool,
        waiting: &mut Waiting,
    ) -> Result<(), End> {
        let arrived = self.service.asked_by_now();
        let Header { cookie, offset, len, .. } = *header;
        let (volume, counted) = (self.chosen.export, u64::from(len));
        let wanted_io = wanted(header, &self.export, self.chosen.has_allocation);
        if wanted_io == Ok(Wanted::Disconnect) {
            return Err(End::Disconnect);
        }
        // Only bytes that are kept in memory, or are to be sent, count.
        let counted = if matches!(header.command, command::READ | command::WRITE) { counted } else { 0 };
        self.admit(counted, gathers, waiting)?;
        let request = |op, len, fua| Request { volume, op, offset, len, fua, arrived };
        let answer = |kind| Box::new(Answer { connection: Arc::clone(self), cookie, counted, kind });
        let is_repeated = self.limits.skips_repeated_flushes && !waiting.has_written;
        if let Ok(Wanted::Act { op, .. }) = wanted_io {
            waiting.has_written = op != Op::Flush;
        }
        match wanted_io {
            Ok(Wanted::Act { op: Op::Flush, .. }) if is_repeated => {
                self.service.note_repeated_flush();
                self.answer_short(counted, |out| self.put_done(out, cookie, 0));
            }
            Err(error) => self.answer_short(counted, |out| self.put_done(out, cookie, error)),
            Ok(Wanted::Read { is_whole }) => {
                let read = Read { cookie, offset, len, is_whole };
                let answer = answer(Kind::Read(read));
                self.service.submit(request(Op::Read, len, false), Payload::None, answer);
            }
            Ok(Wanted::Act { op, fua }) if header.command == command::WRITE || op == Op::Flush => {
                let data = if payload.is_empty() { Payload::None } else { Payload::Data(payload) };
                self.service.submit(request(op, len, fua), data, answer(Kind::Done));
            }
            Ok(Wanted::Act { op, fua }) => self.submit_piece(Piece { cookie, op, fua, offset, left: len }, arrived),
            Ok(Wanted::Status { is_one }) => self.answer_status(header, is_one),
            Ok(Wanted::Disconnect) => {}
        }
        Ok(())
    }

    /// Asks the machine for the next piece of a range that may be longer than it takes at once.
    pub fn submit_piece(self: &Arc<Self>, piece: Piece, arrived: hotband_units::Instant) {
        let Piece { cookie, op, fua, offset, .. } = piece;
        let (len, rest) = piece.split();
        let request = Request { volume: self.chosen.export, op, offset, len, fua, arrived };
        let kind = rest.map_or(Kind::Done, Kind::Piece);
        let answer = Box::new(Answer { connection: Arc::clone(self), cookie, counted: 0, kind });
        self.service.submit(request, Payload::Zeros, answer);
    }

    fn answer_status(&self, header: &Header, is_one: bool) {
        let Header { cookie, offset, len, .. } = *header;
        let len = u64::from(len).min(LONGEST_STATUS);
        match self.service.extents(self.chosen.export, offset, len) {
            Ok(extents) => {
                let extents = replies::whole_blocks(&extents, self.export.block, len, is_one);
                self.answer_short(0, |out| replies::status(out, cookie, &extents));
            }
            Err(_) => self.answer_short(0, |out| self.put_done(out, cookie, error::EIO)),
        }
    }

    /// That a request is done, as bytes.
    pub fn put_done(&self, out: &mut Vec<u8>, cookie: u64, error: u32) {
        replies::done(out, cookie, self.chosen.is_structured, error);
    }

    /// Waits until one more request of this many bytes may be under way.
    fn admit(&self, bytes: u64, gathers: bool, waiting: &mut Waiting) -> Result<(), End> {
        let mut out = self.lock();
        while !out.is_closed && !out.has_room(bytes, &self.limits) {
            self.flush(&mut out);
            if let Some(keeps) = waiting.keeps.take() {
                // Somebody else has to wait for the machine then, whose answers this waits for.
                drop(out);
                drop(keeps);
                out = self.lock();
                continue;
            }
            out = self.wait_for_answers(out);
        }
        out.requests += 1;
        out.bytes += bytes;
        out.is_gathering |= gathers;
        if out.is_closed { Err(End::Broken) } else { Ok(()) }
    }

    /// Answers a request of `counted` bytes with what `put` writes.
    pub fn answer_short(&self, counted: u64, put: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::with_capacity(replies::LONGEST_HEADER);
        put(&mut bytes);
        self.send_answer(&mut self.lock(), counted, &bytes);
    }

    /// Answers a read: at once if it is short and the client takes it.
    pub fn answer_read(&self, read: Read, scratch: &mut Vec<u8>) {
        let counted = u64::from(read.len);
        let is_short = read.len as usize <= SHORT && self.wire.sends_at_once();
        if !is_short || self.lock().must_queue() {
            return self.queue(Task::Read(read));
        }
        scratch.clear();
        self.put_read(scratch, &read);
        let mut out = self.lock();
        if out.must_queue() {
            drop(out);
            return self.queue(Task::Read(read));
        }
        self.send_answer(&mut out, counted, scratch);
    }

    /// A read in one piece as bytes, or that it failed.
    fn put_read(&self, bytes: &mut Vec<u8>, read: &Read) {
        let Read { cookie, offset, len, .. } = *read;
        if self.chosen.is_structured {
            replies::data(bytes, cookie, offset, len, true);
        } else {
            replies::simple(bytes, cookie, 0);
        }
        let header = bytes.len();
        bytes.resize(header + len as usize, 0);
        if self.service.read(self.chosen.export, offset, &mut bytes[header..]).is_err() {
            bytes.clear();
            self.put_done(bytes, cookie, error::EIO);
        }
    }

    fn send_answer(&self, out: &mut Out, counted: u64, bytes: &[u8]) {
        if out.is_gathering {
            out.gathered.extend_from_slice(bytes);
            if out.gathered.len() > SHORT {
                self.flush(out);
                out.is_gathering = true;
            }
        } else {
            self.send_now(out, bytes);
        }
        self.release(out, counted);
    }

    /// Sends the gathered replies.
    fn flush(&self, out: &mut Out) {
        out.is_gathering = false;
        if !out.gathered.is_empty() {
            let mut gathered = std::mem::take(&mut out.gathered);
            self.send_now(out, &gathered);
            gathered.clear();
            out.gathered = gathered;
        }
    }

    /// Sends as much as the client takes now, and leaves the remainder to the second thread.
    fn send_now(&self, out: &mut Out, bytes: &[u8]) {
        if out.is_closed {
            return;
        }
        let mut sent = 0;
        if !out.must_queue() && self.wire.sends_at_once() {
            match self.wire.send(bytes, false) {
                Ok(count) => sent = count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return self.close_with(out),
            }
        }
        if sent < bytes.len() {
            out.tasks.push_back(Task::Send(bytes[sent..].to_vec()));
            out.unsent += bytes.len() - sent;
            self.tasks_changed.notify_one();
        }
    }

    /// Leaves something to the second thread.
    pub fn queue(&self, task: Task) {
        let mut out = self.lock();
        if !out.is_closed {
            out.tasks.push_back(task);
            self.tasks_changed.notify_one();
        }
    }

    fn release(&self, out: &mut Out, counted: u64) {
        out.requests -= 1;
        out.bytes -= counted;
        if out.is_waited_for {
            self.answered.notify_one();
        }
    }

    fn run_tasks(self: &Arc<Self>) {
        self.service.prepare_thread();
        let mut buffer = Vec::new();
        while let Some(task) = self.next_task() {
            let (unsent, read) = match &task {
                Task::Send(bytes) => (bytes.len(), None),
                Task::Read(read) => (0, Some(u64::from(read.len))),
                Task::Next(_) => (0, None),
            };
            let outcome = match task {
                Task::Send(bytes) => send_all(&*self.wire, &bytes),
                Task::Read(read) => super::long_read::send(self, &read, &mut buffer),
                Task::Next(piece) => {
                    self.submit_piece(piece, self.service.now());
                    Ok(())
                }
            };
            if outcome.is_err() {
                return self.close();
            }
            let mut out = self.lock();
            out.unsent -= unsent;
            if let Some(counted) = read {
                self.release(&mut out, counted);
            }
        }
    }

    fn next_task(&self) -> Option<Task> {
        let mut out = self.lock();
        loop {
            if out.is_closed {
                return None;
            }
            let task = out.tasks.pop_front();
            out.is_sending = matches!(task, Some(Task::Send(_) | Task::Read(_)));
            if out.is_waited_for {
                self.answered.notify_one();
            }
            if task.is_some() {
                return task;
            }
            out = self.tasks_changed.wait(out).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Waiting {
    /// Waits for bytes of the client, and for the machine if no other thread does.
    fn receive(&mut self, service: &Arc<Service>, wire: &dyn Wire, buffer: &mut [u8]) -> io::Result<usize> {
        let mut look = || wire.receive(buffer, false);
        if self.keeps.is_none() && !self.is_for_others {
            self.keeps = wire.ready().and_then(|_| Timekeeping::take(service));
        }
        if let (Some(keeps), Some(ready)) = (&mut self.keeps, wire.ready()) {
            let outcome = keeps.wait(ready, &mut self.watch, &mut look);
            self.is_for_others = keeps.is_for_others();
            if self.is_for_others {
                self.keeps = None;
            }
            return outcome;
        }
        // Where something is under way the clock looks at the time meanwhile, and the client needs the other core.
        let seen = if service.is_idle() { self.watch.look(&mut look) } else { None };
        let outcome = seen.unwrap_or_else(|| wire.receive(buffer, true));
        self.is_for_others &= outcome.is_err();
        outcome
    }
}

impl Out {
    /// Whether a request is accepted: always one, however long, but none if the client receives no replies.
    fn has_room(&self, bytes: u64, limits: &Limits) -> bool {
        let fits = self.requests < limits.requests && self.bytes + bytes <= limits.bytes;
        self.unsent <= MOST_UNSENT && (self.requests == 0 || fits)
    }

    /// A reply that is due now has to wait for its turn.
    fn must_queue(&self) -> bool {
        self.is_sending || !self.tasks.is_empty()
    }
}
