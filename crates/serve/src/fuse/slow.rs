//! Requests that take several I/Os, one after another on a thread of their own: writes of parts of blocks, trims and
//! zeros of long ranges, and searches for holes.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};

use hotband_machine::Op;

use crate::service::{Failure, Payload, Request, Service};

/// Bytes of one trim of a longer range: 2 million sectors, what Linux sends at most in one ATA trim
/// (drivers/ata/libata-scsi.c: 64 ranges of 65,535 sectors), in whole GiB.
const TRIM: u64 = 1 << 30;
/// Bytes of one write of zeros: as a write of data has at most.
const ZEROS: u64 = 1 << 20;
/// I/Os of one long request under way at once, as many as a SATA drive queues.
const DEPTH: usize = 32;
/// Bytes that are searched at once for a hole.
const SEARCHED: u64 = 1 << 30;

/// Job of a separate thread.
type Job = Box<dyn FnOnce(&Service) + Send>;

/// The thread, which ends when no sender is left.
#[derive(Debug)]
pub struct Slow(Sender<Job>);

impl Slow {
    /// Starts it.
    pub fn start(service: Arc<Service>) -> io::Result<Self> {
        let (sender, jobs) = channel::<Job>();
        let work = move || jobs.iter().for_each(|job| job(&service));
        std::thread::Builder::new().name("fuse-slow".to_owned()).spawn(work)?;
        Ok(Self(sender))
    }

    /// Executes the request; if the thread is gone, the request is dropped and its waiter gets an error.
    pub fn run(&self, job: impl FnOnce(&Service) + Send + 'static) {
        let _ = self.0.send(Box::new(job));
    }
}

/// Asks, and waits for the answer.
fn ask(service: &Service, request: Request, payload: Payload) -> Result<(), Failure> {
    let (sender, receiver) = channel();
    service.submit(request, payload, Box::new(move |outcome| drop(sender.send(outcome))));
    receiver.recv().unwrap_or(Err(Failure::Gone))
}

/// Writes `data` to any bytes of a volume: reads the blocks that it begins and ends in, and writes them whole. Nobody
/// else writes to the volume between the two, who does it by way of the same mount.
pub fn write_part(
    service: &Service,
    (volume, offset): (u16, u64),
    data: &[u8],
    fua: bool,
    writes: &RwLock<()>,
) -> Result<(), Failure> {
    let block = u64::from(service.volumes()[usize::from(volume)].block);
    let (start, end) = widened(offset, data.len() as u64, block);
    let request = |op: Op, fua: bool| Request {
        volume,
        op,
        offset: start,
        len: (end - start) as u32,
        fua,
        arrived: service.now(),
    };
    ask(service, request(Op::Read, false), Payload::None)?;
    let mut whole = vec![0; (end - start) as usize];
    let (sender, receiver) = channel();
    {
        let _alone = writes.write().unwrap_or_else(PoisonError::into_inner);
        service.read(volume, start, &mut whole)?;
        let within = (offset - start) as usize;
        whole[within..within + data.len()].copy_from_slice(data);
        // The store holds it when this returns; the drive answers later.
        let reply = Box::new(move |outcome| drop(sender.send(outcome)));
        service.submit(request(Op::Write, fua), Payload::Data(&whole), reply);
    }
    receiver.recv().unwrap_or(Err(Failure::Gone))
}

/// First byte and first byte beyond, in whole blocks, of what holds a range.
pub fn widened(offset: u64, len: u64, block: u64) -> (u64, u64) {
    (offset - offset % block, (offset + len).next_multiple_of(block))
}

/// Trims or zeros a range, parts of blocks at its ends by writing them.
pub fn clear(
    service: &Service,
    (volume, offset, len): (u16, u64, u64),
    trim: bool,
    writes: &RwLock<()>,
) -> Result<(), Failure> {
    let block = u64::from(service.volumes()[usize::from(volume)].block);
    let end = offset + len;
    let (first, last) = (offset.next_multiple_of(block), end - end % block);
    if first > last {
        return write_part(service, (volume, offset), &vec![0; len as usize], false, writes);
    }
    for (at, len) in [(offset, first - offset), (last, end - last)] {
        if len > 0 {
            write_part(service, (volume, at), &vec![0; len as usize], false, writes)?;
        }
    }
    clear_whole(service, volume, first..last, trim)
}

/// Like the above, with whole blocks, several at once.
fn clear_whole(service: &Service, volume: u16, range: std::ops::Range<u64>, trim: bool) -> Result<(), Failure> {
    let (op, longest) = if trim { (Op::Trim, TRIM) } else { (Op::Write, ZEROS) };
    let (sender, receiver) = channel();
    let (mut at, mut under_way, mut outcome) = (range.start, 0, Ok(()));
    while at < range.end || under_way > 0 {
        if at < range.end && under_way < DEPTH && outcome.is_ok() {
            let len = longest.min(range.end - at) as u32;
            let request = Request { volume, op, offset: at, len, fua: false, arrived: service.now() };
            let sender = sender.clone();
            service.submit(request, Payload::Zeros, Box::new(move |outcome| drop(sender.send(outcome))));
            at += u64::from(len);
            under_way += 1;
        } else if under_way > 0 {
            outcome = outcome.and(receiver.recv().unwrap_or(Err(Failure::Gone)));
            under_way -= 1;
        } else {
            break;
        }
    }
    outcome
}

/// The first byte from `offset` on that is in a hole, or in none; the end of the volume is a hole.
pub fn seek(service: &Service, volume: u16, offset: u64, hole: bool) -> io::Result<Option<u64>> {
    let described = &service.volumes()[usize::from(volume)];
    let mut at = offset;
    while at < described.size {
        for extent in service.extents(volume, at, SEARCHED.min(described.size - at))? {
            if extent.is_hole == hole {
                return Ok(Some(at));
            }
            at += extent.len;
        }
    }
    Ok(hole.then_some(described.size))
}
