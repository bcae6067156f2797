//! A client that says what it is told to, right or wrong.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hotband_serve::nbd::proto::{
    self, MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk,
    command, option,
};
use hotband_serve::nbd::{Limits, Listen, Server, serve};
use hotband_serve::{Fixed, Memory, Options, Service};
use hotband_units::Span;

pub const MIB: u64 = 1 << 20;

/// A drive that is served on a socket of a folder of its own.
pub struct Served {
    pub service: Arc<Service>,
    pub server: Server,
    pub socket: PathBuf,
    _folder: tempfile::TempDir,
}

pub fn served_with(size: u64, latency: Span, limits: Limits) -> Served {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("nbd.sock");
    let options = Options { priority: false, ..Options::default() };
    let service = Service::start(Box::new(Fixed::new(size, latency)), Box::new(Memory::default()), options);
    let service = service.expect("a thread can be started");
    let server = serve(Arc::clone(&service), Listen::Unix(socket.clone()), limits).expect("it listens");
    Served { service, server, socket, _folder: folder }
}

pub fn served(size: u64) -> Served {
    served_with(size, Span::ZERO, Limits::default())
}

/// An answer to a request: its number, its error, and bytes by offset (of a status: the whole chunk).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub cookie: u64,
    pub error: u32,
    pub data: Vec<(u64, Vec<u8>)>,
    /// Chunks that said that a range is a hole.
    pub holes: usize,
}

pub struct Client {
    pub stream: UnixStream,
    is_structured: bool,
}

impl Client {
    /// Connects; nothing is said.
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("somebody listens");
        // A test that would wait for ever fails.
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket has times");
        Self { stream, is_structured: false }
    }

    /// Connects and is greeted.
    pub fn greeted(socket: &Path, flags: u32) -> Self {
        let mut client = Self::connect(socket);
        assert_eq!((client.u64(), client.u64(), client.u16()), (MAGIC, OPTION_MAGIC, 3));
        client.say(&flags.to_be_bytes());
        client
    }

    /// Ready for requests to the first export.
    pub fn ready(socket: &Path, is_structured: bool) -> Self {
        let mut client = Self::greeted(socket, 3);
        if is_structured {
            assert_eq!(client.option(option::STRUCTURED_REPLY, &[]), [(1, vec![])]);
            client.is_structured = true;
            let query = [&name("")[..], &1_u32.to_be_bytes(), &name(proto::BASE_ALLOCATION)].concat();
            assert_eq!(client.option(option::SET_META_CONTEXT, &query).len(), 2);
        }
        let go = [&name("")[..], &0_u16.to_be_bytes()].concat();
        assert_eq!(client.option(option::GO, &go).last().map(|(kind, _)| *kind), Some(1));
        client
    }

    pub fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server listens");
    }

    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("the server answers");
        bytes
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take(2).try_into().expect("two"))
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take(4).try_into().expect("four"))
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.take(8).try_into().expect("eight"))
    }

    /// Whether the server has hung up, with nothing left to be read.
    pub fn is_hung_up(&mut self) -> bool {
        match self.stream.read(&mut [0; 64]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    /// Asks an option; the answers up to the last.
    pub fn option(&mut self, number: u32, data: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let header = [&OPTION_MAGIC.to_be_bytes()[..], &number.to_be_bytes(), &(data.len() as u32).to_be_bytes()];
        self.say(&[&header.concat(), data].concat());
        let mut answers = Vec::new();
        loop {
            assert_eq!((self.u64(), self.u32()), (OPTION_REPLY_MAGIC, number));
            let (kind, len) = (self.u32(), self.u32());
            answers.push((kind, self.take(len as usize)));
            if kind == 1 || kind >= 1 << 31 {
                return answers;
            }
        }
    }

    /// The next message of an answer; `len` is what a simple answer without an error carries.
    fn message(&mut self, answer: &mut Answer, len: usize) -> bool {
        if !self.is_structured {
            assert_eq!(self.u32(), SIMPLE_REPLY_MAGIC);
            (answer.error, answer.cookie) = (self.u32(), self.u64());
            if answer.error == 0 {
                answer.data.push((0, self.take(len)));
            }
            return true;
        }
        assert_eq!(self.u32(), STRUCTURED_REPLY_MAGIC);
        let (flags, kind) = (self.u16(), self.u16());
        answer.cookie = self.u64();
        let data = self.u32() as usize;
        match kind {
            chunk::NONE => assert_eq!(data, 0),
            chunk::OFFSET_DATA => {
                let offset = self.u64();
                answer.data.push((offset, self.take(data - 8)));
            }
            chunk::OFFSET_HOLE => {
                let (offset, len) = (self.u64(), self.u32());
                answer.holes += 1;
                answer.data.push((offset, vec![0; len as usize]));
            }
            chunk::BLOCK_STATUS => answer.data.push((0, self.take(data))),
            _ => {
                assert_eq!((kind, data), (chunk::ERROR, 6));
                answer.error = self.u32();
                assert_eq!(self.u16(), 0);
            }
        }
        flags & chunk::FLAG_DONE != 0
    }

    /// Waits for an answer whose chunks are not mixed with others.
    pub fn answer(&mut self, len: usize) -> Answer {
        let mut answer = Answer::default();
        while !self.message(&mut answer, len) {}
        answer
    }

    /// Asks and waits; its error.
    pub fn ask(&mut self, command: u16, flags: u16, offset: u64, len: u32, data: &[u8]) -> u32 {
        let cookie = offset ^ u64::from(len) << 32;
        self.say(&request(command, flags, cookie, offset, len, data));
        let answer = self.answer(if command == command::READ { len as usize } else { 0 });
        assert_eq!(answer.cookie, cookie);
        answer.error
    }

    /// Reads and waits: chunks put together.
    pub fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        self.say(&request(command::READ, 0, 7, offset, len, &[]));
        let answer = self.answer(len as usize);
        assert_eq!((answer.cookie, answer.error), (7, 0));
        answer.data.into_iter().flat_map(|(_, data)| data).collect()
    }
}

/// A string with its length before it.
pub fn name(of: &str) -> Vec<u8> {
    [&(of.len() as u32).to_be_bytes()[..], of.as_bytes()].concat()
}

/// A request as bytes.
pub fn request(command: u16, flags: u16, cookie: u64, offset: u64, len: u32, data: &[u8]) -> Vec<u8> {
    let (flags, command) = (flags.to_be_bytes(), command.to_be_bytes());
    let head = [&REQUEST_MAGIC.to_be_bytes()[..], &flags, &command, &cookie.to_be_bytes(), &offset.to_be_bytes()];
    [&head.concat()[..], &len.to_be_bytes(), data].concat()
}
