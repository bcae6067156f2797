//! Writes that take no time: what the drives hold before the first timed phase.
//!
//! Leaves out: what timing decides. Streams of one load take turns by their shares; several loads, which in time would
//! each have a rate of their own, by their rates where all are open, else by the I/Os that they keep outstanding (an
//! open one counting as one).

use hotband_machine::{Entropy, Machine, Op, UntimedWrite};
use hotband_workloads::{Amount, Data, DataSpec, Pace, Phase, Precondition, Random, Source, Workload};

use crate::control::{Control, RunError};
use crate::drive::Driver;
use crate::drive::contents::{self, Contents};
use crate::drive::contents_cache::ContentsCache;
use crate::drive::sharing::{Receiver, SAMPLE, Sample, Sharing};

/// Writes of streams handed over together: few enough that streams on one drive stay mixed as they would be in time
/// (4 MiB of 4 KiB writes; blocks that are filled and erased together are larger).
const BATCH: u64 = 1024;
/// Random writes handed over together, so that a drive can overlap the memory accesses that they need.
const RANDOM_BATCH: u64 = 4096;
/// Size and alignment of random writes, and grain of every fill.
const PAGE: u64 = 4096;
/// Size of sequential writes that each draw an entropy (SNIA SSS PTS: 128 KiB).
const SEQUENTIAL: u64 = 128 << 10;
/// Longest range handed over as one write, where all of it has the same entropy.
const LONGEST: u64 = 64 << 20;
/// I/Os issued between two checks of the control block, if most are reads.
const LOOK_EVERY: u64 = 1 << 12;

/// A stream that takes its turn.
struct Turn {
    stream: usize,
    target: u16,
    /// Shares of the streams up to this one.
    upto: f64,
    threads: usize,
    /// The thread that issues the next I/O.
    thread: usize,
    /// Whether a flush takes a turn, as in a closed loop.
    counts_flushes: bool,
}

/// Writes collected for the machine, by target.
struct Batch {
    writes: Vec<Vec<UntimedWrite>>,
    collected: u64,
}

impl Batch {
    fn hand_over(&mut self, machine: &mut Machine, receiver: &mut dyn Receiver) {
        for (target, writes) in self.writes.iter_mut().enumerate().filter(|(_, writes)| !writes.is_empty()) {
            receiver.write(machine, target as u16, writes);
            writes.clear();
        }
        self.collected = 0;
    }
}

impl Driver<'_> {
    /// Runs the writes of a phase without timing.
    pub fn untimed(&mut self, phase: &Phase, amount: Amount, seed: u64, control: &Control) -> Result<(), RunError> {
        let turns = self.turns(phase.streams.as_deref());
        let random = Random::new(seed, &format!("untimed.{}", phase.name));
        self.fill(turns, amount, random, Some(&mut Sharing::default()), |share| control.report(share, 0))?;
        self.probes.untimed(self.now, self.machine);
        Ok(())
    }

    /// Does the streams' own writes and trims until `amount` is written; nothing if no stream writes. Without a
    /// `receiver` the machine holds the data already, and only the streams advance.
    fn fill(
        &mut self,
        mut turns: Vec<Turn>,
        amount: Amount,
        mut random: Random,
        mut receiver: Option<&mut dyn Receiver>,
        report: impl Fn(f64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Some(total) = turns.last().map(|turn| turn.upto) else { return Ok(()) };
        let wanted = match amount {
            Amount::Fills(fills) => (fills * self.written_capacity(&turns) as f64) as u64,
            Amount::Ios(ios) => ios,
        };
        let mut batch = Batch { writes: vec![Vec::new(); self.machine.volumes().len()], collected: 0 };
        let (mut done, mut asked_for) = (0_u64, 0_u64);
        while done < wanted {
            asked_for += 1;
            if asked_for.is_multiple_of(LOOK_EVERY) {
                report(done as f64 / wanted as f64)?;
            }
            let at = if turns.len() > 1 { random.unit() * total } else { 0.0 };
            let chosen = turns.iter().position(|turn| at < turn.upto).unwrap_or(turns.len() - 1);
            let turn = &mut turns[chosen];
            let stream = &mut self.streams[turn.stream];
            let request = if turn.counts_flushes { stream.next(turn.thread) } else { stream.next_data().0 };
            turn.thread = if turn.thread + 1 < turn.threads { turn.thread + 1 } else { 0 };
            let trim = request.op == Op::Trim;
            if !trim && request.op != Op::Write {
                continue;
            }
            done += match amount {
                Amount::Fills(_) if trim => 0,
                Amount::Fills(_) => u64::from(request.len),
                Amount::Ios(_) => 1,
            };
            let Some(receiver) = &mut receiver else { continue };
            let write = UntimedWrite { offset: request.offset, len: request.len, entropy: request.entropy, trim };
            batch.writes[usize::from(turn.target)].push(write);
            batch.collected += 1;
            if batch.collected == BATCH {
                batch.hand_over(self.machine, *receiver);
                receiver.settle(self.machine, done as f64 / wanted as f64);
            }
        }
        if let Some(receiver) = receiver {
            batch.hand_over(self.machine, receiver);
        }
        Ok(())
    }

    /// The streams that write, of all sources that need no time.
    fn turns(&self, names: Option<&[String]>) -> Vec<Turn> {
        let sources = || self.sources.iter().filter_map(Source::turns);
        let all_open = sources().all(|turns| matches!(turns.pace, Pace::Rate(_)));
        let (mut turns, mut upto) = (Vec::new(), 0.0);
        for source in sources() {
            let weight = match source.pace {
                Pace::Rate(rate) if all_open => rate,
                Pace::Rate(_) => 1.0,
                Pace::Outstanding(ios) => ios,
            };
            let shares: f64 = source.streams.iter().map(|(_, share)| share).sum();
            for (stream, share) in source.streams.iter().copied() {
                let named = names.is_none_or(|names| names.iter().any(|name| name == self.streams[stream].name()));
                if named && share > 0.0 && self.streams[stream].writes() {
                    upto += weight * share / shares;
                    let (target, threads) = (self.targets[stream], source.threads);
                    let counts_flushes = matches!(source.pace, Pace::Outstanding(_));
                    turns.push(Turn { stream, target, upto, threads, thread: 0, counts_flushes });
                }
            }
        }
        turns
    }

    /// The streams that write while drives are preconditioned.
    fn writing_turns(&self, spec: &Precondition) -> Vec<Turn> {
        if spec.workload > 0.0 { self.turns(None) } else { Vec::new() }
    }

    /// Capacity of all targets that are written to, each once.
    fn written_capacity(&self, turns: &[Turn]) -> u64 {
        let mut targets: Vec<u16> = turns.iter().map(|turn| turn.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.into_iter().map(|target| self.machine.volumes()[usize::from(target)].size).sum()
    }

    /// Brings the drives into the state of `workload`. Machines without a drive that wears are left alone; what
    /// the drives of a new one hold may have been made by another run, of this process or one that left it in `cache`.
    pub fn precondition(
        &mut self,
        workload: &Workload,
        (seed, is_new): (u64, bool),
        cache: Option<&ContentsCache>,
        control: &Control,
    ) -> Result<(), RunError> {
        let Some(spec) = workload.precondition.as_ref().filter(|_| !self.machine.drives().smart().is_empty()) else {
            return Ok(());
        };
        let key = if is_new { self.contents_key(workload, seed) } else { None };
        if let Some(contents) = key.as_deref().and_then(contents::find) {
            contents.give_to(self.machine, &mut self.streams);
        } else if let Some(key) = key {
            let wrote: Vec<usize> = self.writing_turns(spec).into_iter().map(|turn| turn.stream).collect();
            // Reading what is written in order takes as long as writing it.
            let cache = cache.filter(|_| spec.random > 0.0 || !wrote.is_empty());
            let stored = cache.and_then(|cache| cache.find(&key));
            let drives = if let Some(drives) = stored.filter(|drives| self.machine.take_contents(drives)) {
                self.write_as_streams(spec, seed, None, |share| control.report(share, 0))?;
                drives
            } else {
                self.write_over(workload, spec, (seed, is_new), control)?;
                let drives = contents::of_drives(self.machine);
                if let Some(cache) = cache {
                    cache.keep(&key, &drives);
                }
                drives
            };
            contents::keep(key, Contents::new(drives, &self.streams, wrote.into_iter()));
        } else {
            self.write_over(workload, spec, (seed, is_new), control)?;
        }
        self.probes.untimed(self.now, self.machine);
        Ok(())
    }

    /// The part of preconditioning that the streams write.
    fn write_as_streams(
        &mut self,
        spec: &Precondition,
        seed: u64,
        receiver: Option<&mut dyn Receiver>,
        report: impl Fn(f64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (turns, random) = (self.writing_turns(spec), Random::new(seed, "precondition.workload"));
        self.fill(turns, Amount::Fills(spec.workload), random, receiver, report)
    }

    /// All that preconditioning of a new machine reads, as text; none if the contents of its drives cannot be carried
    /// to another, or are too large to store, as a list of files may be.
    pub(crate) fn contents_key(&self, workload: &Workload, seed: u64) -> Option<String> {
        let spec = workload.precondition.as_ref().filter(|_| contents::is_small(self.machine))?;
        let mut key = self.machine.contents_key()?;
        contents::append(&mut key, &(spec.sequential, spec.random, spec.workload, spec.trim));
        for TargetFill { target, size, data, random } in self.target_fills(workload, spec, seed) {
            contents::append(&mut key, &(target, size, data));
            if spec.random > 0.0 {
                contents::append(&mut key, &random);
            }
        }
        let turns = self.writing_turns(spec);
        if turns.iter().any(|turn| self.streams[turn.stream].has_files()) {
            return None;
        }
        for Turn { stream, target, threads, counts_flushes, .. } in &turns {
            contents::append(&mut key, &(stream, target, threads, counts_flushes, &self.streams[*stream]));
        }
        if turns.len() > 1 {
            // Whose turn it is is drawn.
            contents::append(&mut key, &(seed, turns.iter().map(|turn| turn.upto).collect::<Vec<_>>()));
        }
        Some(key)
    }

    fn write_over(
        &mut self,
        workload: &Workload,
        spec: &Precondition,
        (seed, is_new): (u64, bool),
        control: &Control,
    ) -> Result<(), RunError> {
        let mut fills = self.target_fills(workload, spec, seed);
        let mut sharing = if is_new { self.sharing(workload, spec, seed)? } else { Sharing::default() };
        let whole = (spec.sequential + spec.random + spec.workload).max(f64::MIN_POSITIVE);
        let report = |done: f64| control.report(done / whole, 0);
        let mut left = spec.sequential;
        while left > 0.0 {
            for fill in &mut fills {
                let to = (&mut *self.machine, &mut sharing);
                fill.sequential(to, left.min(1.0), |share| report(spec.sequential - left + share))?;
            }
            left -= 1.0;
        }
        let are_last = self.writing_turns(spec).is_empty();
        random_fills(self.machine, &mut fills, spec.random, |machine, volume, writes, share| {
            sharing.write(machine, volume, writes);
            if are_last {
                sharing.settle(machine, share);
            }
            report(spec.sequential + share * spec.random)
        })?;
        self.write_as_streams(spec, seed, Some(&mut sharing), |share| {
            report(spec.sequential + spec.random + share * spec.workload)
        })?;
        sharing.settle(self.machine, 1.0);
        if spec.trim {
            for fill in &fills {
                fill.trim(self.machine, || report(whole))?;
            }
        }
        Ok(())
    }

    /// Decides from a sample of the random writes which drives of a new machine share contents while they are written.
    fn sharing(&mut self, workload: &Workload, spec: &Precondition, seed: u64) -> Result<Sharing, RunError> {
        let (groups, turns) = (self.machine.like_members(), self.writing_turns(spec));
        // Drives that stay new have no contents to copy, only the memory for them.
        let are_new = spec.sequential + spec.random == 0.0 && (spec.workload == 0.0 || turns.is_empty());
        if are_new || groups.is_empty() || turns.iter().any(|turn| self.streams[turn.stream].has_files()) {
            return Ok(Sharing::default());
        }
        let (before, mut sample) = (self.streams.clone(), Sample::default());
        let random = Random::new(seed, "precondition.sample");
        self.fill(turns, Amount::Ios(SAMPLE), random, Some(&mut sample), |_| Ok(()))?;
        self.streams = before;
        if spec.random > 0.0 {
            let mut writes = Vec::new();
            for mut fill in self.target_fills(workload, spec, seed) {
                fill.random(SAMPLE, &mut writes);
                sample.write(self.machine, fill.target, &writes);
            }
        }
        Ok(Sharing::of_sample(&sample, &groups))
    }

    fn target_fills(&self, workload: &Workload, spec: &Precondition, seed: u64) -> Vec<TargetFill> {
        let targets = self.machine.volumes().iter().enumerate();
        let fill = |(target, named): (usize, &hotband_machine::Volume)| {
            let path = format!("precondition.{}", named.name);
            let data_of_stream = self.targets.iter().zip(&workload.streams);
            let data_of_stream = data_of_stream
                .filter(|(on, _)| usize::from(**on) == target)
                .find_map(|(_, stream)| stream.data.as_ref());
            let data: Option<&DataSpec> = spec.data.as_ref().or(data_of_stream).or(workload.data.as_ref());
            let random = Random::new(seed, &format!("{path}.data"));
            TargetFill {
                target: target as u16,
                size: named.size / PAGE * PAGE,
                data: data.map_or(Data::INCOMPRESSIBLE, |data| Data::new(data, random)),
                random: Random::new(seed, &path),
            }
        };
        targets.map(fill).collect()
    }
}

/// A target that is filled.
struct TargetFill {
    target: u16,
    size: u64,
    data: Data,
    random: Random,
}

/// Ranges of at most `length` that make up `0..size`.
fn ranges(size: u64, length: u64) -> impl Iterator<Item = (u64, u32)> {
    (0..size.div_ceil(length)).map(move |n| (n * length, length.min(size - n * length) as u32))
}

impl TargetFill {
    /// Writes the first `share` of the target in order.
    fn sequential(
        &mut self,
        (machine, sharing): (&mut Machine, &mut Sharing),
        share: f64,
        report: impl Fn(f64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let size = (self.size as f64 * share) as u64 / PAGE * PAGE;
        // Of one entropy, long ranges say the same in fewer words.
        let (length, together) = if self.data.is_constant() { (LONGEST, 1) } else { (SEQUENTIAL, BATCH as usize) };
        let mut writes = Vec::with_capacity(together);
        for (offset, len) in ranges(size, length) {
            writes.push(UntimedWrite { offset, len, entropy: self.data.draw(), trim: false });
            if writes.len() == together {
                sharing.write(machine, self.target, &writes);
                writes.clear();
                report(share * offset as f64 / size as f64)?;
            }
        }
        sharing.write(machine, self.target, &writes);
        Ok(())
    }

    /// Random writes of one page.
    fn random(&mut self, count: u64, writes: &mut Vec<UntimedWrite>) {
        let slots = self.size / PAGE;
        writes.clear();
        writes.extend((0..count).map(|_| UntimedWrite {
            offset: self.random.below(slots) * PAGE,
            len: PAGE as u32,
            entropy: self.data.draw(),
            trim: false,
        }));
    }

    fn trim(&self, machine: &mut Machine, report: impl Fn() -> Result<(), RunError>) -> Result<(), RunError> {
        for (offset, len) in ranges(self.size, LONGEST) {
            report()?;
            let write = UntimedWrite { offset, len, entropy: Entropy::INCOMPRESSIBLE, trim: true };
            machine.write_untimed(self.target, &[write]);
        }
        Ok(())
    }
}

/// Random writes over every target, `share` times its size; targets take turns in proportion to their sizes. `write`
/// gets the target, its writes, and the share that is done.
fn random_fills(
    machine: &mut Machine,
    fills: &mut [TargetFill],
    share: f64,
    mut write: impl FnMut(&mut Machine, u16, &[UntimedWrite], f64) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let counts: Vec<u64> = fills.iter().map(|fill| ((fill.size / PAGE) as f64 * share) as u64).collect();
    let rounds = counts.iter().max().map_or(0, |most| most.div_ceil(RANDOM_BATCH));
    let upto = |count: u64, round: u64| (u128::from(count) * u128::from(round) / u128::from(rounds)) as u64;
    let mut writes = Vec::with_capacity(RANDOM_BATCH as usize);
    for round in 0..rounds {
        for (fill, count) in fills.iter_mut().zip(&counts) {
            fill.random(upto(*count, round + 1) - upto(*count, round), &mut writes);
            write(machine, fill.target, &writes, (round + 1) as f64 / rounds as f64)?;
        }
    }
    Ok(())
}
