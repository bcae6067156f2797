//! Service between clients and the machine: requests go in, completions come back, delayed by the host but never early.
//!
//! The machine lies behind one lock. The thread with a request takes it, lets the machine continue to the time of the
//! request, and hands out what is done by now; when the machine next has something to do, the timekeeper does so
//! (`timekeeper.rs`). A drive that completes at once is completed by the requesting thread alone.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hotband_engine::{Asked, Outcome, RunError};
use hotband_machine::{Entropy, Fault, Op};
use hotband_units::{Instant, Span};
use thiserror::Error;

use crate::clock::WallClock;
use crate::model::{Answer, Model, VolumeTold};
use crate::priority::{self, Priority};
use crate::store::{Extent, Left, Place, Store};
use crate::tally::Tally;
use crate::timekeeper::Timekeeper;

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the volume.
    pub volume: u16,
    /// Requested operation.
    pub op: Op,
    /// First byte, relative to the volume.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// When it was requested, by [`Service::now`] or [`Service::asked_by_now`].
    pub arrived: Instant,
}

/// The data of a request.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// No payload: reads, flushes, trims.
    None,
    /// Data of a write, with the length of the request.
    Data(&'a [u8]),
    /// A write of zeros.
    Zeros,
}

/// Why a request was not served.
#[derive(Debug, Error)]
pub enum Failure {
    /// The range is not that of whole blocks of the volume.
    #[error("not whole blocks of the volume")]
    OutOfRange,
    /// The drive reports a fault.
    #[error("the drive failed the command: {0:?}")]
    Drive(Fault),
    /// The store cannot keep it.
    #[error("the store failed: {0}")]
    Store(#[from] io::Error),
    /// Power went off, or the server ends: no answer is given.
    #[error("nobody answers any more")]
    Gone,
}

/// Receiver of a completion. It is called once, by any thread, and does not wait: data it cannot send at once is left
/// to a separate thread.
pub trait Reply: Send {
    /// The request is done.
    fn done(self: Box<Self>, outcome: Result<(), Failure>);
}

impl<F: FnOnce(Result<(), Failure>) + Send> Reply for F {
    fn done(self: Box<Self>, outcome: Result<(), Failure>) {
        self(outcome);
    }
}

/// Timing of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The clock polls the time for this long before a completion is due instead of sleeping: otherwise the host's
    /// wake-up time is added to every completion.
    pub spin: Span,
    /// Threads of the server go before others, as far as the host lets them: in the real-time class while the machine
    /// is slow, else with short turns.
    pub priority: bool,
    /// Cores do not go to sleep, if the host permits it: to wake one of a virtual machine takes 20 to 50 us (measured:
    /// a client gets 100 us as 124 to 140 us without and as 120 us with it; an answer at once as 23 and 13 us).
    pub awake: bool,
    /// Shortest round trip between client and server: a request was made this long before it is seen.
    pub way: Span,
}

impl Default for Options {
    /// 200 us: more than the delay of a sleep on an otherwise idle host (60 us; measured: 500 us requested are 572 us
    /// without and 522 us with it), and than a solid-state drive takes for a read, for which nobody goes to sleep (111
    /// us are served as 118 to 121 us, with 60 us as 121 to 126 us).
    fn default() -> Self {
        Self { spin: Span(200_000), priority: true, awake: true, way: Span::ZERO }
    }
}

/// A request that is under way.
struct Pending {
    reply: Box<dyn Reply>,
    len: u32,
    arrived: Instant,
}

pub(crate) struct Core {
    model: Option<Box<dyn Model>>,
    pending: Vec<Option<Pending>>,
    free: Vec<u32>,
    answers: Vec<Answer>,
}

/// Requests that are done, with who waits for them.
type Due = Vec<(Answer, Pending)>;

/// A machine that is served.
pub struct Service {
    pub(crate) core: Mutex<Core>,
    pub(crate) timekeeper: Timekeeper,
    stopped: AtomicBool,
    /// Requests that are under way.
    under_way: AtomicU64,
    /// Callbacks to run when it stops.
    watchers: Mutex<Vec<Box<dyn Fn() + Send>>>,
    pub(crate) clock: WallClock,
    pub(crate) options: Options,
    store: Box<dyn Store>,
    volumes: Vec<VolumeTold>,
    tally: Mutex<Tally>,
    /// Notes for the record.
    remarks: Mutex<Vec<String>>,
    /// While this is open, cores do not sleep. Closed when the service stops.
    awake: Mutex<Option<File>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Service {
    /// Serves `model`, whose bytes are in `store`. The clock of the machine begins to go.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(model: Box<dyn Model>, store: Box<dyn Store>, options: Options) -> io::Result<Arc<Self>> {
        let volumes = model.volumes();
        let awake = if options.awake { priority::keep_awake() } else { None };
        let service = Arc::new(Self {
            clock: WallClock::start(model.now()),
            core: Mutex::new(Core { model: Some(model), pending: Vec::new(), free: Vec::new(), answers: Vec::new() }),
            timekeeper: Timekeeper::new()?,
            stopped: AtomicBool::new(false),
            under_way: AtomicU64::new(0),
            watchers: Mutex::default(),
            options,
            store,
            volumes,
            tally: Mutex::new(Tally::new(options.way, awake.is_some())),
            remarks: Mutex::default(),
            awake: Mutex::new(awake),
            thread: Mutex::default(),
        });
        let clock = Arc::clone(&service);
        let thread = std::thread::Builder::new().name("clock".to_owned()).spawn(move || clock.run_clock())?;
        *service.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(service)
    }

    /// Return the volumes that are served.
    pub fn volumes(&self) -> &[VolumeTold] {
        &self.volumes
    }

    /// The machine's time, for [`Request::arrived`].
    #[inline]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Latest time when a client issued the request just received: earlier by the shortest round trip.
    #[inline]
    pub fn asked_by_now(&self) -> Instant {
        Instant(self.now().0.saturating_sub(self.options.way.0))
    }

    /// Whether the service has ended, by a power cut or a stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Calls `told` once the service stops, in the thread that stops it; at once if it has already stopped.
    pub fn when_stopped(&self, told: impl Fn() + Send + 'static) {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() {
            return told();
        }
        watchers.push(Box::new(told));
    }

    /// Whether every request was completed: only clients can cause further events.
    pub fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Raises the priority of the calling thread, if requested and if the host permits it; returns the result.
    pub fn prepare_thread(&self) -> Priority {
        priority::prepare(self.options.priority)
    }

    /// Notes something for the reader of the record.
    pub fn remark(&self, remark: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
    }

    /// Notes a flush that was completed without the machine.
    pub fn note_repeated_flush(&self) {
        self.change_tally(Tally::add_repeated_flush);
    }

    pub(crate) fn change_tally(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Return the place of a byte of a volume in the store.
    fn place(&self, volume: u16, offset: u64) -> Place {
        let described = &self.volumes[usize::from(volume)];
        Place { space: described.space, offset: described.from + offset }
    }

    /// The bytes of a range that was read: called when the read is done.
    ///
    /// # Errors
    /// What the store says.
    pub fn read(&self, volume: u16, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.store.read(self.place(volume, offset), buffer)
    }

    /// Return the stored extents of a range of a volume.
    ///
    /// # Errors
    /// What the store says.
    pub fn extents(&self, volume: u16, offset: u64, len: u64) -> io::Result<Vec<Extent>> {
        self.store.extents(self.place(volume, offset), len)
    }

    /// Return the counts so far.
    pub fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a request addresses whole blocks of its volume.
    fn fits(&self, request: &Request) -> bool {
        let Some(volume) = self.volumes.get(usize::from(request.volume)) else { return false };
        let (block, len) = (u64::from(volume.block), u64::from(request.len));
        let is_within = request.offset.checked_add(len).is_some_and(|end| end <= volume.size);
        let is_whole = request.offset.is_multiple_of(block) && len.is_multiple_of(block);
        is_within && is_whole && ((len > 0) != (request.op == Op::Flush))
    }

    /// Takes a request. Its data is in the store when this returns; `reply` is called when the machine has done it, by
    /// this thread or another, perhaps before this returns.
    pub fn submit(&self, request: Request, payload: Payload, reply: Box<dyn Reply>) {
        if !self.fits(&request) {
            return reply.done(Err(Failure::OutOfRange));
        }
        let stored = match (request.op, payload) {
            (Op::Write, Payload::Data(data)) => self.store.write(self.place(request.volume, request.offset), data),
            (Op::Write | Op::Trim, _) => {
                self.store.zero(self.place(request.volume, request.offset), u64::from(request.len))
            }
            (Op::Read | Op::Flush, _) => Ok(0),
        };
        let ticket = match stored {
            Ok(ticket) => ticket,
            Err(error) => return reply.done(Err(Failure::Store(error))),
        };
        let pending = Pending { reply, len: request.len, arrived: request.arrived };
        let mut core = self.lock();
        if self.is_stopped() {
            drop(core);
            return pending.reply.done(Err(Failure::Gone));
        }
        let due = match core.take(&request, pending, self.clock.now()) {
            Ok((version, due)) => {
                if version > 0 {
                    self.store.number(ticket, version);
                }
                due
            }
            Err((pending, due)) => {
                drop(core);
                self.hand_out(due);
                return pending.reply.done(Err(Failure::Gone));
            }
        };
        let next = core.wake();
        self.note_under_way(&core);
        drop(core);
        self.hand_out(due);
        if let Some(next) = next {
            self.timekeeper.tell(next);
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells who watches clients how many requests are under way, without the lock.
    fn note_under_way(&self, core: &Core) {
        self.under_way.store((core.pending.len() - core.free.len()) as u64, Ordering::Relaxed);
    }

    /// Answers clients, and notes how late.
    fn hand_out(&self, due: Due) {
        for (answer, pending) in due {
            let Pending { reply, len, arrived } = pending;
            reply.done(answer.fault.map_or(Ok(()), |fault| Err(Failure::Drive(fault))));
            let now = self.clock.now();
            self.change_tally(|tally| tally.add(&answer, len, arrived, now));
        }
    }

    /// Advances the machine to now and delivers completions; returns the next wake-up, and whether anything completed.
    pub(crate) fn go_on(&self, mut core: MutexGuard<'_, Core>) -> (Option<Instant>, bool) {
        let due = core.advance(self.clock.now());
        let is_cut = core.model.as_ref().is_none_or(|model| model.is_cut());
        let next = core.wake();
        self.timekeeper.plan(next);
        self.note_under_way(&core);
        drop(core);
        let any = !due.is_empty();
        self.hand_out(due);
        if is_cut {
            self.stop();
        }
        (next, any)
    }

    /// Stops the service; waiting clients receive no reply.
    pub fn stop(&self) {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stopped.swap(true, Ordering::AcqRel) {
            return;
        }
        let notified = std::mem::take(&mut *watchers);
        drop(watchers);
        let mut core = self.lock();
        // Its time ends here, and not where it last had something to do.
        let due = core.go_to(self.clock.now());
        let gone: Vec<Pending> = core.pending.iter_mut().filter_map(Option::take).collect();
        drop(core);
        self.hand_out(due);
        for pending in gone {
            pending.reply.done(Err(Failure::Gone));
        }
        drop(self.awake.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.timekeeper.wake_all();
        for tell in notified {
            tell();
        }
    }

    /// Its results, once it has stopped. If power went off, the store holds what the drives hold.
    ///
    /// # Errors
    /// What went wrong with what watches the machine, or with the store.
    pub fn finish(&self) -> Result<Option<Outcome>, RunError> {
        self.stop();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            thread.join().expect("the clock does not panic");
        }
        let Some(model) = self.lock().model.take() else { return Ok(None) };
        let is_cut = model.is_cut();
        let remarks = std::mem::take(&mut *self.remarks.lock().unwrap_or_else(PoisonError::into_inner));
        let findings = self.tally().findings().with_notes(self.store.remarks()).with_notes(remarks);
        let spaces: Vec<_> = self.volumes.iter().map(|volume| (volume.node, volume.space)).collect();
        let Some((outcome, held)) = model.finish(findings)? else { return Ok(None) };
        if is_cut {
            let left = held.into_iter().filter_map(|held| {
                let (_, space) = spaces.iter().find(|(node, _)| *node == Some(held.node))?;
                let address = Place { space: *space, offset: held.range.start };
                Some(Left { place: address, len: held.range.end - held.range.start, version: held.version })
            });
            self.store.power_off(&left.collect::<Vec<_>>()).map_err(RunError::Log)?;
        }
        Ok(Some(outcome))
    }
}

impl Core {
    fn wake(&self) -> Option<Instant> {
        self.model.as_ref().and_then(|model| model.wake())
    }

    /// Lets the machine continue to `now`, if it has something to do until then; returns the completions. Otherwise its
    /// time does not advance: a request that was issued a moment ago and is received only now is
    /// taken at its time of issue.
    fn advance(&mut self, now: Instant) -> Due {
        if self.wake().is_some_and(|wake| wake <= now) { self.go_to(now) } else { Vec::new() }
    }

    /// Lets the machine continue to `now` in any case.
    fn go_to(&mut self, now: Instant) -> Due {
        let Some(model) = &mut self.model else { return Vec::new() };
        model.advance(now, &mut self.answers);
        let mut due = Due::with_capacity(self.answers.len());
        for answer in self.answers.drain(..) {
            debug_assert!(answer.at <= now, "an answer is never early");
            self.free.push(answer.token as u32);
            due.extend(self.pending[answer.token as usize].take().map(|pending| (answer, pending)));
        }
        due
    }

    /// Submits a request to the machine at its time of arrival; returns its number if it is a write that may be lost,
    /// and the completions by `now`. After a power cut only earlier completions are returned.
    fn take(&mut self, request: &Request, pending: Pending, now: Instant) -> Result<(u64, Due), (Pending, Due)> {
        let mut due = self.advance(request.arrived.min(now));
        let Some(model) = self.model.as_mut().filter(|model| !model.is_cut()) else {
            return Err((pending, due));
        };
        let Request { volume, op, offset, len, fua, arrived } = *request;
        let token = if let Some(token) = self.free.pop() {
            self.pending[token as usize] = Some(pending);
            token
        } else {
            self.pending.push(Some(pending));
            self.pending.len() as u32 - 1
        };
        let discard = Asked { volume, op, offset, len, fua, entropy: Entropy::INCOMPRESSIBLE };
        let version = model.submit(arrived.min(now), &discard, u64::from(token));
        due.append(&mut self.advance(now));
        Ok((version, due))
    }
}
