//! A layout with a state and a time of its own: a replicated pool, whose daemons queue, cache, log and write behind.
//!
//! A [`Layout`](crate::Layout) plans and is done; a service takes I/Os, sends commands to its members whenever it
//! decides to, hears of their completion, and answers. To the machine it is one more part with four calls.

use hotband_units::{Bytes, Instant, Rate};

use crate::drive::PartReport;
use crate::event::EventError;
use crate::io::{Entropy, Fault, Op, Times};
use crate::repair::rebuild::JobState;
use crate::versions::Versions;

/// An I/O requested from a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceIo {
    /// Returned in [`Served`]; the service does not read it.
    pub token: u32,
    /// Requested operation.
    pub op: Op,
    /// First byte in the address space of the service.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// Number of the host's write; zero for other commands, and if writes are not counted.
    pub version: u64,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// A command of a service to one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberCommand {
    /// Returned to [`Service::answered`]; the machine does not read it.
    pub token: u64,
    /// Index of the member.
    pub member: u16,
    /// Requested operation.
    pub op: Op,
    /// First byte on the member.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// Number of the newest of the host's writes whose data it has; zero if writes are not counted.
    pub version: u64,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// An I/O that a service has completed, at the time of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The token of the I/O.
    pub token: u32,
    /// Times of each part; they add up to the time since it was submitted.
    pub times: Times,
    /// The fault, or none.
    pub fault: Option<Fault>,
}

/// Output of a service to the machine in one call.
#[derive(Clone, Debug, Default)]
pub struct ServiceOut {
    /// Commands to send now.
    pub commands: Vec<MemberCommand>,
    /// Commands that bypass the planner of its first member, which is a layout, and go to the members of that layout:
    /// `member` is one of them. While the layout misses that member, they complete with [`Fault::Gone`] at once.
    pub below: Vec<MemberCommand>,
    /// I/Os completed now.
    pub served: Vec<Served>,
}

/// Progress of a service in writing a spare that replaces a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRebuild {
    /// State.
    pub state: JobState,
    /// Time when it began; none while it waits.
    pub began: Option<Instant>,
    /// When it ended, one way or another.
    pub ended: Option<Instant>,
    /// Bytes written.
    pub bytes: u64,
    /// Bytes to write in all, as far as is known now.
    pub of_bytes: u64,
}

/// A stateful layout. Time given to its calls never goes backwards; between calls it does nothing by itself.
pub trait Service: Send {
    /// Name of the layout ("replicated").
    fn kind(&self) -> &'static str;
    /// Addressable bytes.
    fn capacity(&self) -> Bytes;
    /// Whether its addresses are those of its only member: a cache before it, and no place of its own for data.
    fn keeps_addresses(&self) -> bool {
        false
    }
    /// Cuts power at `now`; returns the surviving part of its memory, by its own addresses.
    fn cut_power(&mut self, now: Instant) -> Versions {
        let _ = now;
        Versions::default()
    }
    /// Told once, before the first I/O: which members have a volatile write cache. Hosts flush no other disk.
    fn note_volatile(&mut self, members: &[bool]) {
        let _ = members;
    }
    /// Takes an I/O at `now`.
    fn submit(&mut self, now: Instant, io: ServiceIo);
    /// A command to a member is done at `now`; `times` add up to the time since it was sent.
    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>);
    /// Time when the service next has something to do by itself; `None` while it waits for its members or has nothing.
    fn wake(&self) -> Option<Instant>;
    /// Performs the work due by `now`; also called after every `submit` and `answered`.
    fn advance(&mut self, now: Instant, out: &mut ServiceOut);
    /// A member answers nothing any more, from `now` on; `advance` follows.
    fn member_failed(&mut self, now: Instant, member: u16) {
        let _ = (now, member);
    }
    /// Whether a spare may take the place of a member that failed.
    fn can_replace(&self, member: u16) -> bool {
        let _ = member;
        false
    }
    /// A spare, which holds nothing, takes the place of a member at `now` and is to be written at most at this rate;
    /// `advance` follows.
    fn member_replaced(&mut self, now: Instant, member: u16, limit: Option<Rate>) {
        let _ = (now, member, limit);
    }
    /// The spares that took places (`member_replaced`), in that order, and how far each is.
    fn rebuilds(&self) -> Vec<MemberRebuild> {
        Vec::new()
    }
    /// Bytes of data that members which failed took with them.
    fn lost(&self) -> u64 {
        0
    }
    /// Bytes of writes that it had acknowledged from memory, and that its members would not take.
    fn dropped(&self) -> u64 {
        0
    }
    /// Whether every copy is on a member that has not failed.
    fn is_whole(&self) -> bool {
        true
    }
    /// Whether copies that members took with them are being made again.
    fn is_recovering(&self) -> bool {
        false
    }
    /// Announces, before the first I/O, that these daemons will go out, marked so or because their drive has `failed`.
    ///
    /// # Errors
    /// Reason why it is impossible.
    fn expect_out(&mut self, daemons: &[u32], failed: bool) -> Result<(), EventError> {
        let _ = (daemons, failed);
        Err(EventError::Out { why: "it has no daemons".to_owned() })
    }
    /// Whether daemon `daemon` can be marked out while the service runs.
    ///
    /// # Errors
    /// There is no such daemon, or the service has none.
    fn check_out(&self, daemon: u32) -> Result<(), EventError> {
        let _ = daemon;
        Err(EventError::Unsupported { what: "osd-out", part: "service" })
    }
    /// Daemon `daemon` is marked out at `now`; `advance` follows.
    fn mark_out(&mut self, now: Instant, daemon: u32) {
        let _ = (now, daemon);
    }
    /// Counters of its parts, always the same parts and names in the same order.
    fn report(&self) -> Vec<PartReport>;
}
