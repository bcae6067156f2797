//! How fast this host serves: a drive that answers at once, behind a socket, with a client beside it.

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

/// What this host can serve of random reads of 4 KiB, client and server together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Mean latency with one outstanding, in nanoseconds: what every answer takes at least.
    pub latency_ns: f64,
    /// I/Os a second with 32 outstanding.
    pub iops: f64,
}

/// Measures it for about twice `time`, behind a socket at `path`, which must not be there yet.
///
/// # Errors
/// What the host refuses.
pub fn measure(path: &Path, time: Duration) -> io::Result<Speed> {
    let options = Options::default();
    let service = Service::start(Box::new(Fixed::new(SIZE, Span::ZERO)), Box::new(Memory::default()), options)?;
    let mut server = nbd::serve(Arc::clone(&service), Listen::Unix(path.to_path_buf()), Limits::default())?;
    let mut client = Client::connect(path)?;
    let (alone, together) = (client.read_for(1, time)?, client.read_for(32, time)?);
    drop(client);
    server.stop();
    service.stop();
    Ok(Speed { latency_ns: 1e9 / alone, iops: together })
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

    /// Keeps `depth` reads outstanding for so long; I/Os a second.
    fn read_for(&mut self, depth: u32, time: Duration) -> io::Result<f64> {
        let mut requests = Vec::new();
        (0..depth).for_each(|_| self.ask(&mut requests));
        self.writer.write_all(&requests)?;
        let begin = Instant::now();
        let (mut outstanding, mut done) = (depth, 0_u64);
        let mut reply = vec![0; 16 + BLOCK as usize];
        while outstanding > 0 {
            self.reader.read_exact(&mut reply)?;
            (outstanding, done) = (outstanding - 1, done + 1);
            if begin.elapsed() < time {
                requests.clear();
                self.ask(&mut requests);
                self.writer.write_all(&requests)?;
                outstanding += 1;
            }
        }
        Ok(done as f64 / begin.elapsed().as_secs_f64())
    }
}
