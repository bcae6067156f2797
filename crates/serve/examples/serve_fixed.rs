//! Serves a drive in memory that answers every I/O after the same time: what the server itself costs, and clients' tests.
//!
//! `serve_fixed SOCKET BYTES LATENCY_NS`; it ends when its standard input does.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use hotband_serve::nbd::{Limits, Listen, serve};
use hotband_serve::{Fixed, Memory, Options, Service};
use hotband_units::Span;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = words.iter().skip(1).filter_map(|word| word.parse().ok()).collect();
    let ([socket, ..], [size, latency]) = (&words[..], &numbers[..]) else {
        eprintln!("serve_fixed SOCKET BYTES LATENCY_NS");
        return ExitCode::from(2);
    };
    let model = Box::new(Fixed::new(*size, Span(*latency)));
    let started = Service::start(model, Box::new(Memory::default()), Options::default()).and_then(|service| {
        Ok((Arc::clone(&service), serve(service, Listen::Unix(socket.into()), Limits::default())?))
    });
    match started {
        Ok((service, mut server)) => {
            println!("ready");
            // Whoever started it closes its input, also by dying.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            server.stop();
            service.stop();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
