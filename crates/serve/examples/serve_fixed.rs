//! Serves a drive in memory that answers every I/O after the same time: what the server itself costs, and clients' tests.
//!
//! `serve_fixed SOCKET BYTES LATENCY_NS` on a unix socket, `serve_fixed tcp:ADDRESS BYTES LATENCY_NS [CERTIFICATE KEY
//! [CLIENTS]]` over TCP, with certificates encrypted. It says "ready" and, over TCP, where; it ends with its standard input.

use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::Arc;

use hotband_serve::nbd::{Limits, Listen, TlsFiles, serve};
use hotband_serve::{Fixed, Memory, Options, Service};
use hotband_units::Span;

/// Where to listen.
fn listen(place: &str, files: &[String]) -> Option<Listen> {
    let Some(addr) = place.strip_prefix("tcp:") else { return files.is_empty().then(|| Listen::Unix(place.into())) };
    let tls = match files {
        [] => None,
        [certificate, key, clients @ ..] => {
            let clients = clients.first().map(Into::into);
            Some(TlsFiles { certificate: certificate.into(), key: key.into(), clients })
        }
        [_] => return None,
    };
    Some(Listen::Tcp { addr: addr.parse().ok()?, tls })
}

fn run(listen: Listen, size: u64, latency: u64) -> io::Result<()> {
    let model = Box::new(Fixed::new(size, Span(latency)));
    let service = Service::start(model, Box::new(Memory::default()), Options::default())?;
    let mut server = serve(Arc::clone(&service), listen, Limits::default())?;
    println!("ready {}", server.address().map(|address| address.to_string()).unwrap_or_default());
    // Whoever started it closes its input, also by dying.
    io::stdin().read_to_end(&mut Vec::new())?;
    server.stop();
    service.stop();
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = if let [place, size, latency, files @ ..] = &words[..] {
        listen(place, files).zip(size.parse().ok()).zip(latency.parse().ok())
    } else {
        None
    };
    let Some(((listen, size), latency)) = asked else {
        eprintln!("serve_fixed SOCKET|tcp:ADDRESS BYTES LATENCY_NS [CERTIFICATE KEY [CLIENTS]]");
        return ExitCode::from(2);
    };
    match run(listen, size, latency) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
