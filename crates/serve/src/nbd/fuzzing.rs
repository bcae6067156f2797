//! Conversations with made-up clients, for fuzzing and tests: everything but the socket is what serves real ones.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotband_engine::Asked;
use hotband_units::{Instant, Span};

use super::budget::Budget;
use super::connection::Connection;
use super::exports::Export;
use super::handshake::choose;
use super::listener::Limits;
use super::proto::{SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, command, take_u16, take_u32, take_u64};
use super::requests::{HEADER, Header};
use super::wire::Wire;
use crate::model::{Answer, Fixed, Model, VolumeTold};
use crate::service::{Options, Service};
use crate::store::Memory;

/// More than two of the longest writes, so that ranges are split.
const SIZE: u64 = 80 << 20;
/// The made-up client hangs up when it has got so much.
const MOST_SENT: usize = 64 << 20;
/// Bytes of that which are stored, to be examined.
const MOST_KEPT: usize = 16 << 20;

/// A volume that can be trimmed, in blocks of 512 bytes, and one that cannot, in blocks of 4096.
struct Two(Fixed);

impl Model for Two {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn volumes(&self) -> Vec<VolumeTold> {
        let first = self.0.volumes().remove(0);
        let second = VolumeTold {
            name: "second".to_owned(),
            block: 4096,
            trims: false,
            rotates: true,
            space: 1,
            ..first.clone()
        };
        vec![first, second]
    }

    fn submit(&mut self, at: Instant, request: &Asked, token: u64) -> u64 {
        self.0.submit(at, request, token)
    }

    fn wake(&self) -> Option<Instant> {
        self.0.wake()
    }

    fn advance(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        self.0.advance(now, answers);
    }
}

/// A socket in memory. Bytes come and go in pieces whose lengths follow from `chance`.
struct Script {
    input: Vec<u8>,
    state: Mutex<State>,
    is_closed: AtomicBool,
}

struct State {
    at: usize,
    chance: u64,
    kept: Vec<u8>,
    sent: usize,
}

impl State {
    /// Random size of the next piece, at most `most` bytes.
    fn piece(&mut self, most: usize) -> usize {
        // xorshift64 (Marsaglia 2003).
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        match self.chance % 4 {
            0 => most.min((self.chance >> 8) as usize % 64 + 1),
            _ => most,
        }
    }
}

impl Script {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for Script {
    fn receive(&self, buffer: &mut [u8], waits: bool) -> io::Result<usize> {
        let mut state = self.state();
        if !waits && state.chance.is_multiple_of(5) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let left = self.input.len() - state.at;
        let count = state.piece(left.min(buffer.len()));
        buffer[..count].copy_from_slice(&self.input[state.at..state.at + count]);
        state.at += count;
        Ok(count)
    }

    fn send(&self, bytes: &[u8], waits: bool) -> io::Result<usize> {
        let mut state = self.state();
        if self.is_closed.load(Ordering::Acquire) || state.sent > MOST_SENT {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let count = state.piece(bytes.len());
        if !waits && state.chance.is_multiple_of(3) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let room = MOST_KEPT.saturating_sub(state.kept.len()).min(count);
        state.kept.extend_from_slice(&bytes[..room]);
        state.sent += count;
        Ok(count)
    }

    fn sends_at_once(&self) -> bool {
        true
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

/// Outcome of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    /// The client did not choose an export.
    Unchosen,
    /// It did, and this many requests were completed.
    Answers(usize),
}

/// A service that made-up clients talk to.
pub struct Partner {
    service: Arc<Service>,
    exports: Vec<Export>,
}

impl Partner {
    /// Answers take `latency`.
    ///
    /// # Panics
    /// If the host has no thread left.
    pub fn new(latency: Span) -> Self {
        let model = Box::new(Two(Fixed::new(SIZE, latency)));
        let options = Options { priority: false, ..Options::default() };
        let service = Service::start(model, Box::new(Memory::default()), options).expect("a thread can be started");
        let exports = Export::of(service.volumes());
        Self { service, exports }
    }

    /// Lets a client send `data`, whose first eight bytes are the random seed, and examines the replies.
    ///
    /// # Panics
    /// If it gets a reply without a request, or one that violates the protocol.
    pub fn converse(&self, data: &[u8]) -> Came {
        let Some((chance, said)) = data.split_first_chunk() else { return Came::Unchosen };
        let state = State { at: 0, chance: u64::from_le_bytes(*chance) | 1, kept: Vec::new(), sent: 0 };
        let script =
            Arc::new(Script { input: said.to_vec(), state: Mutex::new(state), is_closed: AtomicBool::new(false) });
        let limits = Limits { requests: 16, bytes: 1 << 20, ..Limits::default() };
        let wire = Arc::clone(&script) as Arc<dyn Wire>;
        let Ok(Some((wire, incoming, chosen))) = choose(wire, &self.exports, None, Duration::from_secs(10)) else {
            return Came::Unchosen;
        };
        let greeted = script.state().kept.len();
        let begin = script.state().at - incoming.have().len();
        let export = self.exports[usize::from(chosen.export)].clone();
        let (service, budget) = (Arc::clone(&self.service), Budget::new(limits.arriving));
        Arc::new(Connection::new(service, wire, (chosen, export), limits, budget)).serve(incoming);
        let state = script.state();
        if state.sent > MOST_KEPT {
            return Came::Answers(0);
        }
        Came::Answers(answers(&state.kept[greeted..], &lengths(&said[begin..]), chosen.is_structured))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.service.stop();
    }
}

/// Requests by the client's number, with the bytes that their answers may have; each number once, as it first came.
fn lengths(mut bytes: &[u8]) -> HashMap<u64, Vec<u32>> {
    let mut lengths: HashMap<u64, Vec<u32>> = HashMap::new();
    while bytes.len() >= HEADER {
        let Some((header, payload)) = Header::of(bytes).and_then(|header| Some((header, header.payload()?))) else {
            break;
        };
        let len = if header.command == command::READ { header.len } else { 0 };
        lengths.entry(header.cookie).or_default().push(len);
        bytes = bytes.get(HEADER + payload..).unwrap_or_default();
    }
    lengths
}

/// Counts answers, the last of which may be cut off. If a client used a number twice, its simple answers cannot be
/// told from one another, and are not examined.
fn answers(mut got: &[u8], requests: &HashMap<u64, Vec<u32>>, is_structured: bool) -> usize {
    let (mut count, mut finished) = (0, HashMap::<u64, usize>::new());
    while let Some((cookie, is_last)) = message(&mut got, requests, is_structured) {
        let lengths = requests.get(&cookie).expect("an answer to something that was asked");
        let finished = finished.entry(cookie).or_default();
        *finished += usize::from(is_last);
        assert!(*finished <= lengths.len(), "a request is answered once");
        count += usize::from(is_last);
    }
    count
}

/// The next whole message: its number, and whether it is the last of the answer.
fn message(got: &mut &[u8], requests: &HashMap<u64, Vec<u32>>, is_structured: bool) -> Option<(u64, bool)> {
    let magic = take_u32(got)?;
    if magic == SIMPLE_REPLY_MAGIC {
        assert!(!is_structured, "a simple answer where structured ones were agreed on");
        let (error, cookie) = (take_u32(got)?, take_u64(got)?);
        let lengths = requests.get(&cookie).expect("an answer to something that was asked");
        if lengths.len() > 1 {
            *got = &[];
        }
        let len = if error == 0 { lengths[0] as usize } else { 0 };
        *got = got.get(len..).unwrap_or_default();
        return Some((cookie, true));
    }
    assert_eq!(magic, STRUCTURED_REPLY_MAGIC, "an answer begins with its magic");
    assert!(is_structured, "a structured answer where simple ones were agreed on");
    let (flags, kind, cookie, len) = (take_u16(got)?, take_u16(got)?, take_u64(got)?, take_u32(got)? as usize);
    let lengths = requests.get(&cookie).expect("an answer to something that was asked");
    match kind {
        chunk::NONE => assert!(len == 0 && flags == chunk::FLAG_DONE),
        chunk::OFFSET_DATA => assert!(lengths.iter().any(|request| len <= *request as usize + 8)),
        chunk::OFFSET_HOLE => assert_eq!(len, 12),
        chunk::BLOCK_STATUS => assert!(len > 4 && (len - 4).is_multiple_of(8)),
        _ => assert!(kind == chunk::ERROR && len == 6),
    }
    *got = got.get(len..).unwrap_or_default();
    Some((cookie, flags & chunk::FLAG_DONE != 0))
}
