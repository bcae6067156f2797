//! The handshake: bytes in, bytes out, until a client has chosen an export. Pure: it knows no socket and no clock.

use super::exports::{Export, named};
use super::proto::{
    self, BASE_ALLOCATION, BASE_ALLOCATION_ID, EXPORT_NAME_ZEROES, FIXED_NEWSTYLE, MAGIC, NO_ZEROES, OPTION_MAGIC,
    OPTION_REPLY_MAGIC, info, option, option_reply, take_string, take_u16, take_u32, take_u64,
};

/// Longest data of an option: eight strings of the longest kind and more than a client has reason to ask.
pub const LONGEST_OPTION: usize = 32 << 10;
/// Options of one client before it has to choose: nbdinfo asks two for each export.
const MOST_OPTIONS: u32 = 1024;
/// Magic, number and length of an option.
const OPTION_HEADER: usize = 16;

/// Choices of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Index of the export.
    pub export: u16,
    /// Answers are structured.
    pub is_structured: bool,
    /// Whether it may request the status of a range.
    pub has_allocation: bool,
}

/// Next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    /// From here on everything is encrypted; nothing received before counts.
    StartTls,
    /// Requests follow.
    Serve(Chosen),
    /// The client leaves, or violates the protocol: the connection is closed after pending data is sent.
    Close,
}

/// Progress of a client's handshake.
#[derive(Debug)]
pub struct Handshake<'a> {
    exports: &'a [Export],
    /// Whether the connection must be encrypted first.
    needs_tls: bool,
    has_flags: bool,
    omits_zeroes: bool,
    is_structured: bool,
    /// The export whose allocation it may ask for.
    allocation_of: Option<u16>,
    options: u32,
}

/// An option at the beginning of the received data.
struct Found<'a> {
    number: u32,
    data: &'a [u8],
    /// Bytes that follow it.
    rest: &'a [u8],
}

/// Outcome of an option.
type Outcome = Result<(), Step>;

impl<'a> Handshake<'a> {
    /// Begins with a client that has just connected, and greets it.
    pub fn greet(exports: &'a [Export], needs_tls: bool, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&MAGIC.to_be_bytes());
        out.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        out.extend_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        Self {
            exports,
            needs_tls,
            has_flags: false,
            omits_zeroes: false,
            is_structured: false,
            allocation_of: None,
            options: 0,
        }
    }

    /// The connection is encrypted now.
    pub fn encrypted(&mut self) {
        self.needs_tls = false;
    }

    /// Takes whole messages off the front of `input`, and appends the answers to `out`.
    pub fn go_on(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Step {
        if !self.has_flags {
            let Some(flags) = take_u32(input) else { return Step::More };
            // Other bits are of a protocol that we do not speak, and the specification has them refused.
            if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
                return Step::Close;
            }
            self.omits_zeroes = flags & u32::from(NO_ZEROES) != 0;
            self.has_flags = true;
        }
        loop {
            let Found { number, data, rest } = match next_option(input) {
                Ok(Some(found)) => found,
                Ok(None) => return Step::More,
                Err(step) => return step,
            };
            *input = rest;
            self.options += 1;
            if self.options > MOST_OPTIONS {
                return Step::Close;
            }
            if let Err(step) = self.answer(number, data, out) {
                return step;
            }
        }
    }

    fn answer(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) -> Outcome {
        let mut reply = |kind: u32| put_reply(out, number, kind, &[]);
        if self.needs_tls && !matches!(number, option::STARTTLS | option::ABORT) {
            if number == option::EXPORT_NAME {
                return Err(Step::Close);
            }
            reply(option_reply::ERR_TLS_REQD);
            return Ok(());
        }
        match number {
            option::EXPORT_NAME => return Err(self.export_name(data, out)),
            option::ABORT => {
                reply(option_reply::ACK);
                return Err(Step::Close);
            }
            option::STARTTLS if self.needs_tls && data.is_empty() => {
                reply(option_reply::ACK);
                return Err(Step::StartTls);
            }
            option::STARTTLS if self.needs_tls => reply(option_reply::ERR_INVALID),
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.is_structured = true;
                reply(option_reply::ACK);
            }
            option::LIST if data.is_empty() => self.list(out),
            option::STRUCTURED_REPLY | option::LIST => reply(option_reply::ERR_INVALID),
            option::INFO | option::GO => return self.tell(number, data, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.meta_contexts(number, data, out),
            _ => reply(option_reply::ERR_UNSUP),
        }
        Ok(())
    }

    fn list(&self, out: &mut Vec<u8>) {
        for export in self.exports {
            let mut data = (export.name.len() as u32).to_be_bytes().to_vec();
            data.extend_from_slice(export.name.as_bytes());
            put_reply(out, option::LIST, option_reply::SERVER, &data);
        }
        put_reply(out, option::LIST, option_reply::ACK, &[]);
    }

    fn chosen(&self, export: u16) -> Chosen {
        let has_allocation = self.is_structured && self.allocation_of == Some(export);
        Chosen { export, is_structured: self.is_structured, has_allocation }
    }

    /// The old way to choose an export: it cannot be refused but by closing.
    fn export_name(&self, name: &[u8], out: &mut Vec<u8>) -> Step {
        let Some(index) = named(self.exports, name) else { return Step::Close };
        let export = &self.exports[usize::from(index)];
        out.extend_from_slice(&export.size.to_be_bytes());
        out.extend_from_slice(&export.flags().to_be_bytes());
        if !self.omits_zeroes {
            out.resize(out.len() + EXPORT_NAME_ZEROES, 0);
        }
        Step::Serve(self.chosen(index))
    }

    /// `INFO` and `GO`.
    fn tell(&self, number: u32, data: &[u8], out: &mut Vec<u8>) -> Outcome {
        let Some((name, asked)) = asked_of(data) else {
            put_reply(out, number, option_reply::ERR_INVALID, &[]);
            return Ok(());
        };
        let Some(index) = named(self.exports, name) else {
            put_reply(out, number, option_reply::ERR_UNKNOWN, &[]);
            return Ok(());
        };
        let export = &self.exports[usize::from(index)];
        let mut tell = |kind: u16, parts: &[&[u8]]| {
            let mut data = kind.to_be_bytes().to_vec();
            data.extend(parts.iter().copied().flatten());
            put_reply(out, number, option_reply::INFO, &data);
        };
        tell(info::EXPORT, &[&export.size.to_be_bytes(), &export.flags().to_be_bytes()]);
        // Told whether it was asked for or not: requests that are not of whole blocks are refused.
        let [least, preferred, most] = export.block_sizes().map(u32::to_be_bytes);
        tell(info::BLOCK_SIZE, &[&least, &preferred, &most]);
        if asked.into_iter().any(|kind| kind == info::NAME) {
            tell(info::NAME, &[export.name.as_bytes()]);
        }
        put_reply(out, number, option_reply::ACK, &[]);
        if number == option::GO { Err(Step::Serve(self.chosen(index))) } else { Ok(()) }
    }

    /// `LIST_META_CONTEXT` and `SET_META_CONTEXT`.
    fn meta_contexts(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) {
        let is_set = number == option::SET_META_CONTEXT;
        if is_set {
            self.allocation_of = None;
        }
        let queries = queries_of(data).filter(|_| self.is_structured);
        let Some((name, queries)) = queries else { return put_reply(out, number, option_reply::ERR_INVALID, &[]) };
        let Some(index) = named(self.exports, name) else {
            return put_reply(out, number, option_reply::ERR_UNKNOWN, &[]);
        };
        let is_meant = |query: &&[u8]| *query == BASE_ALLOCATION.as_bytes() || (!is_set && *query == b"base:");
        if queries.iter().any(is_meant) || (!is_set && queries.is_empty()) {
            // A list has the number zero: it gives no right to use the context.
            let id = if is_set { BASE_ALLOCATION_ID } else { 0 };
            let mut data = id.to_be_bytes().to_vec();
            data.extend_from_slice(BASE_ALLOCATION.as_bytes());
            put_reply(out, number, option_reply::META_CONTEXT, &data);
            self.allocation_of = if is_set { Some(index) } else { self.allocation_of };
        }
        put_reply(out, number, option_reply::ACK, &[]);
    }
}

/// The next option; none if it is not all there.
fn next_option(input: &[u8]) -> Result<Option<Found<'_>>, Step> {
    let mut rest = input;
    if input.len() < OPTION_HEADER {
        // A client that speaks something else need not be waited for.
        let has_begun = OPTION_MAGIC.to_be_bytes().iter().zip(input).all(|(want, have)| want == have);
        return if has_begun { Ok(None) } else { Err(Step::Close) };
    }
    let header = (take_u64(&mut rest), take_u32(&mut rest), take_u32(&mut rest));
    let (Some(OPTION_MAGIC), Some(number), Some(len)) = header else { return Err(Step::Close) };
    if len as usize > LONGEST_OPTION {
        return Err(Step::Close);
    }
    Ok(rest.split_at_checked(len as usize).map(|(data, rest)| Found { number, data, rest }))
}

/// Name of the export and kinds of information of `INFO` and `GO`.
fn asked_of(mut data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let name = take_string(&mut data)?;
    let count = usize::from(take_u16(&mut data)?);
    if data.len() != count * 2 {
        return None;
    }
    Some((name, std::iter::from_fn(|| take_u16(&mut data)).collect()))
}

/// Name of the export and queries of meta contexts.
fn queries_of(mut data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let name = take_string(&mut data)?;
    let count = take_u32(&mut data)?;
    let mut queries = Vec::new();
    for _ in 0..count {
        queries.push(take_string(&mut data)?);
    }
    data.is_empty().then_some((name, queries))
}

fn put_reply(out: &mut Vec<u8>, number: u32, kind: u32, data: &[u8]) {
    debug_assert!(data.len() <= proto::LONGEST_STRING + 64, "answers are short");
    out.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}
