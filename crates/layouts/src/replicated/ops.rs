//! Operations at the daemons: from the client through a shard to memory, disk and replicas, and back.

use hotband_machine::{Fault, Op, ServiceIo, Times};
use hotband_units::{Instant, Span};

use super::object_io::{HeldBack, Io, ObjectIo, Sub, Task};
use super::osd::Shard;
use super::params::BLOCK;
use super::place::GONE;
use super::{Due, For, Pool};

/// Pieces that a client has under way at once; more wait in its library (Ceph: objecter_inflight_ops = 1024).
const IN_FLIGHT: u32 = 1024;

impl Pool {
    /// An I/O comes from the client: its library cuts it at object boundaries and sends every piece to its primary.
    pub(super) fn take(&mut self, now: Instant, request: ServiceIo) {
        let io = self.ios.add(Io { token: request.token, submitted: now, pieces: 0, fault: None });
        if matches!(request.op, Op::Flush | Op::Trim) {
            // Every answered write is on all its replicas; there is nothing to make durable.
            return self.answer_at_once(now, io, request);
        }
        let (mut at, end) = (request.offset, request.offset + u64::from(request.len));
        while at < end {
            let (object, within) = (at / self.spec.object, at % self.spec.object);
            let len = (self.spec.object - within).min(end - at) as u32;
            self.ios.get(io).pieces += 1;
            let held = HeldBack { io, object: object as u32, within: within as u32, len, asked: request };
            if self.under_way < IN_FLIGHT {
                self.send_piece(now, held);
            } else {
                self.held_back.push_back(held);
            }
            at += u64::from(len);
        }
    }

    /// A piece is completed: the client's library turns to the next that it held back.
    pub(super) fn send_held_back(&mut self, now: Instant) {
        self.under_way -= 1;
        if self.under_way < IN_FLIGHT
            && let Some(held) = self.held_back.pop_front()
        {
            self.send_piece(now, held);
        }
    }

    fn send_piece(&mut self, now: Instant, HeldBack { io, object, within, len, asked }: HeldBack) {
        self.under_way += 1;
        let (op, entropy) = (asked.op, asked.entropy);
        let begins = self.client_free.max(now);
        let cpu = self.cpu.draw(self.params.cpu_client);
        self.client_free = begins + cpu;
        let data = if op == Op::Write { u64::from(len) } else { 0 };
        let at = self.client_out.send(self.client_free, data) + self.spec.client_network.latency;
        let wire = at.since(self.client_free);
        let piece = ObjectIo {
            io,
            op,
            object,
            within,
            len,
            entropy,
            waiting: 1,
            asked: 0,
            cpu: Span::ZERO,
            wire: Span::ZERO,
            disk: Times::default(),
            fault: None,
        };
        let piece = self.pieces.add(piece);
        let (osd, copy) = self.primary(object);
        let slot = self.places.slot(object, copy);
        let deferred = op == Op::Write && len < self.params.defer_below;
        let (task, disk) = (Task::Client, Times::default());
        let sub =
            self.subs.add(Sub { piece, osd, copy: copy as u8, task, within, len, slot, cpu, wire, disk, deferred });
        self.push(at, Due::Arrive(sub));
    }

    fn answer_at_once(&mut self, now: Instant, io: u32, request: ServiceIo) {
        self.ios.get(io).pieces = 1;
        self.under_way += 1;
        let piece = ObjectIo {
            io,
            op: request.op,
            object: 0,
            within: 0,
            len: 0,
            entropy: request.entropy,
            waiting: 0,
            asked: 0,
            cpu: Span::ZERO,
            wire: Span::ZERO,
            disk: Times::default(),
            fault: None,
        };
        let piece = self.pieces.add(piece);
        self.push(now, Due::Reply(piece));
    }

    /// An operation reaches its daemon and goes into the queue of its group's shard.
    pub(super) fn arrive(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        if self.is_gone(sub.osd) || self.has_handed_over(&sub) {
            return self.turn_away(now, id);
        }
        let object = self.pieces.get(sub.piece).object;
        let shard = self.shard_of(object);
        let osd = &mut self.osds[usize::from(sub.osd)];
        osd.shards[shard].waiting.push_back(id);
        if osd.shards[shard].is_free() {
            self.next_op(now, usize::from(sub.osd), shard);
        }
    }

    /// The thread of a shard turns to its next operation.
    pub(super) fn next_op(&mut self, now: Instant, osd: usize, shard: usize) {
        let queue = &mut self.osds[osd].shards[shard];
        if let Some(reading) = queue.next_recovery_read() {
            return self.read_for_recovery(reading);
        }
        queue.busy = queue.waiting.pop_front();
        let Some(id) = queue.busy else { return };
        let (sub, params) = (*self.subs.get(id), &self.params);
        let piece = self.pieces.get(sub.piece);
        let (op, blocks) = (piece.op, u64::from(sub.len).div_ceil(BLOCK));
        let mean = match (sub.task, op) {
            (Task::Client, Op::Read) => params.cpu_read,
            (Task::Client, _) => params.cpu_write,
            _ => params.cpu_replica,
        };
        let cpu = self.cpu.draw(mean + Span(self.params.cpu_block.0 * blocks));
        self.subs.get(id).cpu += cpu;
        self.osds[osd].counters.cpu_ns += cpu.0;
        self.push(now + cpu, Due::Cpu((osd * self.params.shards + shard) as u32));
    }

    /// The thread has done its computing: a read asks memory or disk and holds the thread; a write goes to the replicas
    /// and the log and leaves it.
    pub(super) fn cpu_done(&mut self, now: Instant, number: u32) {
        let (osd, shard) = (number as usize / self.params.shards, number as usize % self.params.shards);
        let id = self.osds[osd].shards[shard].busy.expect("a thread that computes has an operation");
        let sub = *self.subs.get(id);
        if self.is_gone(sub.osd) || self.has_handed_over(&sub) {
            self.turn_away(now, id);
            return self.next_op(now, osd, shard);
        }
        if self.spec.erasure.is_some() && sub.task == Task::Client {
            self.begin_coded(now, id);
            return self.next_op(now, osd, shard);
        }
        let piece = *self.pieces.get(sub.piece);
        if sub.task == Task::Read || (piece.op == Op::Read && sub.task == Task::Client) {
            self.osds[osd].counters.reads += 1;
            let onodes = &mut self.osds[osd].shards[shard].onodes;
            if onodes.as_mut().is_none_or(|onodes| onodes.touch(u64::from(piece.object))) {
                return self.read_data(now, id);
            }
            self.osds[osd].counters.metadata_reads += 1;
            let at = self.osds[osd].slice.metadata_at(piece.object);
            return self.command(osd, Op::Read, (at, BLOCK as u32), For::Metadata(id), piece.entropy);
        }
        if sub.task == Task::Client {
            self.send_replicas(now, id);
        }
        self.write_local(now, id);
        self.next_op(now, osd, shard);
    }

    fn send_replicas(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        let piece = *self.pieces.get(sub.piece);
        let group = self.places.group_of(piece.object);
        let copies = self.places.acting(group).len();
        self.pieces.get(sub.piece).waiting = copies as u8;
        for copy in 1..copies {
            let osd = self.places.acting(group)[copy];
            if osd == GONE {
                self.pieces.get(sub.piece).waiting -= 1;
                continue;
            }
            let at = self.between(now, usize::from(sub.osd), usize::from(osd), u64::from(sub.len));
            let wire = sub.wire + at.since(now);
            let slot = self.places.slot(piece.object, copy);
            let replica = self.subs.add(Sub { osd, copy: copy as u8, task: Task::Write, slot, wire, ..sub });
            self.push(at, Due::Arrive(replica));
        }
    }

    /// The shard of an object's group, on every daemon.
    pub(super) fn shard_of(&self, object: u32) -> usize {
        self.places.group_of(object) as usize % self.params.shards
    }

    /// The blocks of an object at a daemon, as memory knows them.
    fn blocks(object: u32, sub: &Sub) -> impl Iterator<Item = u64> + use<> {
        let key = u64::from(object) << 32;
        let first = u64::from(sub.within) / BLOCK;
        let end = (u64::from(sub.within) + u64::from(sub.len)).div_ceil(BLOCK);
        (first..end).map(move |block| key | block)
    }

    fn read_data(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        let piece = *self.pieces.get(sub.piece);
        let shard = self.shard_of(piece.object);
        let osd = &mut self.osds[usize::from(sub.osd)];
        let mut held = true;
        Self::blocks(piece.object, &sub).for_each(|block| held &= osd.shards[shard].data.touch(block));
        if held {
            osd.counters.memory_hits += 1;
            return self.read_done(now, id);
        }
        let extent = self.extent(&sub);
        self.command(usize::from(sub.osd), Op::Read, extent, For::Read(id), piece.entropy);
    }

    /// Return the extent on the disk of a daemon, in whole blocks.
    pub(super) fn extent(&self, sub: &Sub) -> (u64, u32) {
        let within = u64::from(sub.within) / BLOCK * BLOCK;
        let end = (u64::from(sub.within) + u64::from(sub.len)).next_multiple_of(BLOCK);
        (self.osds[usize::from(sub.osd)].slice.object_at(sub.slot) + within, (end - within) as u32)
    }

    pub(super) fn metadata_read(&mut self, now: Instant, id: u32, times: &Times, fault: Option<Fault>) {
        let sub = self.subs.get(id);
        sub.disk = sub.disk.then(times);
        let sub = *sub;
        let object = self.pieces.get(sub.piece).object;
        let shard = self.shard_of(object);
        if self.is_gone(sub.osd) {
            self.turn_away(now, id);
            return self.next_op(now, usize::from(sub.osd), shard);
        }
        self.note_fault(sub.piece, fault);
        if let Some(onodes) = &mut self.osds[usize::from(sub.osd)].shards[shard].onodes {
            onodes.keep(u64::from(object));
        }
        self.read_data(now, id);
    }

    pub(super) fn data_read(&mut self, now: Instant, id: u32, times: &Times, fault: Option<Fault>) {
        let sub = self.subs.get(id);
        sub.disk = sub.disk.then(times);
        let sub = *sub;
        let piece = *self.pieces.get(sub.piece);
        let shard = self.shard_of(piece.object);
        if self.is_gone(sub.osd) {
            self.turn_away(now, id);
            return self.next_op(now, usize::from(sub.osd), shard);
        }
        self.note_fault(sub.piece, fault);
        let memory = &mut self.osds[usize::from(sub.osd)].shards[shard].data;
        Self::blocks(piece.object, &sub).for_each(|block| memory.keep(block));
        self.read_done(now, id);
    }

    /// The data of a read is in memory: it goes to the client, and the thread to its next operation.
    fn read_done(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        if sub.task == Task::Read {
            self.send_shard(now, id);
        } else {
            self.subs.take(id);
            self.send_answer(now, &sub);
        }
        let object = self.pieces.get(sub.piece).object;
        let shard = self.shard_of(object);
        self.next_op(now, usize::from(sub.osd), shard);
    }

    /// The answer of a piece leaves its primary; `last` is the way that decided how long it took.
    pub(super) fn send_answer(&mut self, now: Instant, last: &Sub) {
        let piece = self.pieces.get(last.piece);
        let data = if piece.op == Op::Read { u64::from(piece.len) } else { 0 };
        let mut at = self.client_in.send(now, data) + self.spec.client_network.latency;
        let mut taking = Span::ZERO;
        if data > 0 {
            // One thread of the client checks and copies what comes from the wire.
            taking = self.cpu.of(Span(self.params.cpu_block.0 * data.div_ceil(BLOCK)));
            at = at.max(self.taking_free) + taking;
            self.taking_free = at;
        }
        let wire = Span(at.since(now).0 - taking.0);
        (piece.cpu, piece.wire, piece.disk) = (last.cpu + taking, last.wire + wire, last.disk);
        self.push(at, Due::Reply(last.piece));
    }

    pub(super) fn note_fault(&mut self, piece: u32, fault: Option<Fault>) {
        let piece = self.pieces.get(piece);
        piece.fault = piece.fault.or(fault);
    }

    /// A daemon writes its copy: small data with the log, large data to its place first.
    pub(super) fn write_local(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        let piece = *self.pieces.get(sub.piece);
        let shard = self.shard_of(piece.object);
        let osd = &mut self.osds[usize::from(sub.osd)];
        osd.counters.writes += 1;
        let Shard { onodes, data, .. } = &mut osd.shards[shard];
        if let Some(onodes) = onodes {
            onodes.keep(u64::from(piece.object));
        }
        // `bluestore_default_buffered_write` is off: what is written is not kept, and what was read before is stale.
        Self::blocks(piece.object, &sub).for_each(|block| data.forget(block));
        if sub.deferred {
            return self.queue_commit(now, id);
        }
        let extent = self.extent(&sub);
        self.command(usize::from(sub.osd), Op::Write, extent, For::Data(id), piece.entropy);
    }

    pub(super) fn data_written(&mut self, now: Instant, id: u32, times: &Times, fault: Option<Fault>) {
        let sub = self.subs.get(id);
        sub.disk = sub.disk.then(times);
        let Sub { piece, osd, .. } = *sub;
        let object = self.pieces.get(piece).object;
        self.note_fault(piece, self.fault_of_write(osd, object, fault));
        self.queue_commit(now, id);
    }
}
