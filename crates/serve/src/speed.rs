//! Serving speed of this host: a drive that completes at once, behind a socket, with a client on the same host.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotband_units::Span;

use crate::model::Fixed;
use crate::nbd::{self, Limits, Listen};
use crate::service::{Options, Service};
use crate::store::Memory;

/// Bytes of an I/O.
const BLOCK: u32 = 4096;
/// Bytes of the drive.
const SIZE: u64 = 64 << 20;

/// Random 4 KiB reads that this host can serve, client and server together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Mean latency with one outstanding, in nanoseconds: no completion can be faster.
    pub latency_ns: f64,
    /// I/Os a second with 32 outstanding.
    pub iops: f64,
}

/// Latency of the drive that measures the round trip: about that of the fastest drive that is served,
/// and long enough for clients to wait for it.
const WAITED: Span = Span(100_000);

/// Measures the speed for about twice `time`, behind a socket at `path`, which must not exist yet.
///
/// # Errors
/// What the host refuses.
pub fn measure(path: &Path, time: Duration) -> io::Result<Speed> {
    let _served = Steady::serve(path, Span::ZERO)?;
    let mut client = Client::connect(path)?;
    let (alone, together) = (client.read_for(1, time)?, client.read_for(32, time)?);
    Ok(Speed { latency_ns: 1e9 / alone.rate, iops: together.rate })
}

/// Shortest round trip to a server, in nanoseconds, for a client that has waited: the difference between the shortest
/// latency and that of the drive. Measured for about `time` in the same way.
///
/// # Errors
/// What the host refuses.
pub fn way(path: &Path, time: Duration) -> io::Result<u64> {
    let _served = Steady::serve(path, WAITED)?;
    let reads = Client::connect(path)?.read_for(1, time)?;
    Ok((reads.shortest.as_nanos() as u64).saturating_sub(WAITED.0))
}

/// A drive in memory that always takes the same time, behind a socket until it is dropped.
pub struct Steady {
    service: Arc<Service>,
    server: nbd::Server,
}

impl Steady {
    /// Begins to serve it at `path`, which must not exist yet.
    ///
    /// # Errors
    /// What the host refuses.
    pub fn serve(path: &Path, latency: Span) -> io::Result<Self> {
        let model = Box::new(Fixed::new(SIZE, latency));
        let service = Service::start(model, Box::new(Memory::default()), Options::default())?;
        let server = nbd::serve(Arc::clone(&service), Listen::Unix(path.to_path_buf()), Limits::default())?;
        Ok(Self { service, server })
    }
}

impl Drop for Steady {
    fn drop(&mut self) {
        self.server.stop();
        self.service.stop();
    }
}

/// Reads of a client.
struct Reads {
    /// I/Os a second.
    rate: f64,
    /// Shortest time from one answer to the next.
    shortest: Duration,
}

/// A client of the NBD protocol that knows how to read
/// (<https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>).
struct Client {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    next: u64,
}

impl Client {
    fn connect(path: &Path) -> io::Result<Self> {
        let mut writer = UnixStream::connect(path)?;
        // A host that is so busy serves nothing.
        writer.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut reader = BufReader::with_capacity(256 << 10, writer.try_clone()?);
        let mut greeting = [0; 18];
        reader.read_exact(&mut greeting)?;
        // Fixed newstyle, no zeroes; then NBD_OPT_EXPORT_NAME of the default export.
        let mut hello = 3_u32.to_be_bytes().to_vec();
        hello.extend_from_slice(b"IHAVEOPT");
        hello.extend_from_slice(&1_u32.to_be_bytes());
        hello.extend_from_slice(&0_u32.to_be_bytes());
        writer.write_all(&hello)?;
        let mut export = [0; 10];
        reader.read_exact(&mut export)?;
        Ok(Self { reader, writer, next: 0 })
    }

    /// Appends a request of a block, one of those that are far apart.
    fn ask(&mut self, requests: &mut Vec<u8>) {
        self.next = self.next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let offset = (self.next >> 33) % (SIZE / u64::from(BLOCK)) * u64::from(BLOCK);
        requests.extend_from_slice(&0x2560_9513_u32.to_be_bytes());
        requests.extend_from_slice(&[0; 4]);
        requests.extend_from_slice(&self.next.to_be_bytes());
        requests.extend_from_slice(&offset.to_be_bytes());
        requests.extend_from_slice(&BLOCK.to_be_bytes());
    }

    /// Keeps `depth` reads outstanding for so long.
    fn read_for(&mut self, depth: u32, time: Duration) -> io::Result<Reads> {
        let mut requests = Vec::new();
        (0..depth).for_each(|_| self.ask(&mut requests));
        self.writer.write_all(&requests)?;
        let begin = Instant::now();
        let (mut outstanding, mut done) = (depth, 0_u64);
        let mut reply = vec![0; 16 + BLOCK as usize];
        let (mut last, mut shortest) = (begin, Duration::MAX);
        while outstanding > 0 {
            self.reader.read_exact(&mut reply)?;
            let now = Instant::now();
            shortest = shortest.min(now - last);
            last = now;
            (outstanding, done) = (outstanding - 1, done + 1);
            if now - begin < time {
                requests.clear();
                self.ask(&mut requests);
                self.writer.write_all(&requests)?;
                outstanding += 1;
            }
        }
        Ok(Reads { rate: done as f64 / begin.elapsed().as_secs_f64(), shortest })
    }
}
