//! A client that has just connected, until it has chosen an export.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::exports::Export;
use super::incoming::Incoming;
use super::options::{Chosen, Handshake, LONGEST_OPTION, Step};
use super::tls::{Config, Tls};
use super::wire::{Wire, send_all};

/// A client that has chosen: the way to it, what came after its choice, and the choice.
pub type Client = (Arc<dyn Wire>, Incoming, Chosen);

/// Talks with a client until it has chosen; nothing if it leaves before, or takes longer than `time`. Over `tls` it is
/// told nothing before the connection is encrypted.
///
/// # Errors
/// What the socket says.
pub fn choose(
    mut wire: Arc<dyn Wire>,
    exports: &[Export],
    tls: Option<&Arc<Config>>,
    time: Duration,
) -> io::Result<Option<Client>> {
    let begun = Instant::now();
    let mut out = Vec::new();
    let mut incoming = Incoming::default();
    let mut handshake = Handshake::greet(exports, tls.is_some(), &mut out);
    loop {
        let mut rest = incoming.have();
        let step = handshake.go_on(&mut rest, &mut out);
        let looked_at = incoming.have().len() - rest.len();
        incoming.consume(looked_at);
        send_all(&*wire, &out)?;
        out.clear();
        match step {
            Step::Serve(chosen) => return Ok(Some((wire, incoming, chosen))),
            Step::Close => return Ok(None),
            Step::StartTls => {
                // What came before it was encrypted, somebody in between may have said.
                let Some(config) = tls.filter(|_| incoming.have().is_empty()) else { return Ok(None) };
                wire = Arc::new(Tls::accept(wire, config)?);
                handshake.encrypted();
            }
            Step::More => {}
        }
        // The longest option, with its header.
        match incoming.fetch(LONGEST_OPTION + 16, |buffer| wire.receive(buffer, true)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if begun.elapsed() > time {
            return Ok(None);
        }
    }
}
