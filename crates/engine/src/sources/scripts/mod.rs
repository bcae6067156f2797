//! Clients that run scripts. Decides which client requests an I/O and when; the driver submits it.

mod plan;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{Op, PartReport};
use hotband_units::{Instant, Span};
use hotband_workloads::{
    Answer, Arrival, ArrivalClock, Phase, PhaseScripts, PhaseStart, Random, ScriptSpec, Source, SourceIo, Stream, Work,
    Workload,
};

use crate::probes::Findings;
use crate::probes::scripts::{ScriptRecord, ScriptStats};
use crate::sources::network::Network;
use crate::sources::scripts::plan::Plan;

/// All scripts of a workload at work. Everything is found by index: plans of steps, clients, and states (a step of a
/// client), in the order of the file and of the clients' numbers.
pub struct Scripts {
    specs: Vec<ScriptSpec>,
    all: Vec<Script>,
    plans: Vec<Plan>,
    clients: Vec<Client>,
    states: Vec<State>,
    /// Timers, by (time, sequence).
    timers: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    sequence: u64,
    network: Option<Network>,
    seed: u64,
    /// States that ask for an I/O, first come first, since when, and whether they are being served.
    ready: VecDeque<u32>,
    ready_since: Instant,
    serving: bool,
    measuring: bool,
    measured_from: Option<Instant>,
    /// Statistics of each measured phase, by script.
    parts: Vec<Vec<ScriptStats>>,
}

struct Script {
    repeat: bool,
    think: Span,
    start_every: Span,
    /// Begins its runs, if they arrive at a rate.
    arrivals: Option<Arrivals>,
    /// Indices of its clients.
    clients: std::ops::Range<u32>,
    steps: u32,
    /// Clients below this number are active.
    limit: u32,
    /// Clients, and I/Os of detached steps, that are still to end, where clients run once.
    left: u64,
    stats: ScriptStats,
}

/// Runs of a script that arrive at a rate: each waits for a client that is free, and its time counts from its arrival.
struct Arrivals {
    rate: f64,
    arrival: Arrival,
    /// Clock; none in a phase in which the script does not run. It lags behind if no client is free.
    clock: Option<ArrivalClock>,
    /// Clocks that began.
    begun: u32,
    /// Clients without a run.
    free: VecDeque<u32>,
    /// When a timer ends the wait for the next run.
    timer: Option<Instant>,
}

struct Client {
    script: u32,
    number: u32,
    first_state: u32,
    random: Random,
    began: Instant,
    steps_left: u32,
    activity: Activity,
    /// Whether it ever began a run.
    ran: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// Waits for a phase in which it runs.
    Parked,
    Busy,
    Done,
}

/// A step of a client.
struct State {
    client: u32,
    plan: u32,
    /// I/Os that no slot has taken yet.
    owed: u32,
    /// Slots that compute, wait for an I/O or for the network.
    busy: u32,
    /// Steps that must end before this one begins.
    waiting: u32,
    files_left: u32,
    /// Stream and rest of the current file.
    stream: u32,
    next: u64,
    end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A client begins a run.
    Start(u32),
    /// A run of a script arrives.
    Arrive(u32),
    /// The CPU time before a step is over.
    Begin(u32),
    /// The CPU time before an I/O is over.
    Issue(u32),
    /// Data is across the network.
    Crossed(u32),
}

impl Scripts {
    /// The scripts of a workload, if it has any. Every client has a generator of its own.
    pub fn new(workload: &Workload, seed: u64) -> Option<Self> {
        let mut scripts = Self {
            specs: workload.scripts.clone(),
            all: Vec::new(),
            plans: Vec::new(),
            clients: Vec::new(),
            states: Vec::new(),
            timers: BinaryHeap::new(),
            sequence: 0,
            network: workload.network.as_ref().map(Network::new),
            seed,
            ready: VecDeque::new(),
            ready_since: Instant::ZERO,
            serving: false,
            measuring: false,
            measured_from: None,
            parts: Vec::new(),
        };
        for (index, spec) in workload.scripts.iter().enumerate() {
            scripts.add(workload, index as u32, spec, seed);
        }
        (!workload.scripts.is_empty()).then_some(scripts)
    }

    fn add(&mut self, workload: &Workload, script: u32, spec: &ScriptSpec, seed: u64) {
        let carried = workload.network.as_ref().is_some_and(|network| network.carries.contains(&(script as usize)));
        let (first_plan, first_client) = (self.plans.len() as u32, self.clients.len() as u32);
        self.plans.extend((0..spec.steps.len()).map(|step| Plan::of_step(workload, (script, spec), step, carried)));
        let steps = spec.steps.len() as u32;
        for number in 0..spec.clients {
            let client = self.clients.len() as u32;
            let first_state = self.states.len() as u32;
            let random = Random::new(seed, &format!("scripts.{}.client.{number}", spec.name));
            let activity = Activity::Parked;
            let began = Instant::ZERO;
            self.clients.push(Client {
                script,
                number,
                first_state,
                random,
                began,
                steps_left: 0,
                activity,
                ran: false,
            });
            let states = (first_plan..first_plan + steps).map(|plan| State::new(client, plan));
            self.states.extend(states);
        }
        self.all.push(Script {
            repeat: spec.repeat,
            think: spec.think,
            start_every: spec.start_every,
            arrivals: spec.arrivals.map(|(rate, arrival)| Arrivals {
                rate,
                arrival,
                clock: None,
                begun: 0,
                free: VecDeque::new(),
                timer: None,
            }),
            clients: first_client..self.clients.len() as u32,
            steps,
            limit: 0,
            left: if spec.repeat { 0 } else { u64::from(spec.clients) },
            stats: ScriptStats::new(spec.repeat, spec.clients),
        });
    }

    /// A phase begins: clients that it lets run begin, the others end their run and park.
    fn activate(&mut self, now: Instant, phase: &PhaseScripts) {
        for script in 0..self.all.len() {
            let Script { clients, repeat, start_every, limit, .. } = &mut self.all[script];
            let runs = phase.run.as_ref().is_none_or(|run| run.contains(&script));
            let all = clients.len() as u32;
            *limit = match phase.clients {
                _ if !runs => 0,
                Some(clients) if *repeat => clients.min(all),
                _ => all,
            };
            let (first, limit, every) = (clients.start, *limit, *start_every);
            for number in 0..limit {
                let index = first + number;
                let client = &mut self.clients[index as usize];
                if client.activity != Activity::Parked {
                    continue;
                }
                client.activity = Activity::Busy;
                if let Some(arrivals) = &mut self.all[script].arrivals {
                    arrivals.free.push_back(index);
                    continue;
                }
                let wait = if client.ran { Span::ZERO } else { Span(every.0.saturating_mul(u64::from(number))) };
                self.later(now + wait, Event::Start(index));
            }
            self.begin_arrivals(now, script);
        }
    }

    /// A phase begins: runs of a script arrive in it, or no longer.
    fn begin_arrivals(&mut self, now: Instant, index: usize) {
        let (script, clients) = (&mut self.all[index], &mut self.clients);
        let Some(arrivals) = &mut script.arrivals else { return };
        arrivals.free.retain(|&client| {
            let client = &mut clients[client as usize];
            let stays = client.number < script.limit;
            if !stays {
                client.activity = Activity::Parked;
            }
            stays
        });
        if script.limit == 0 {
            (arrivals.clock, arrivals.timer) = (None, None);
        } else if arrivals.clock.is_none() {
            let random =
                Random::new(self.seed, &format!("scripts.{}.arrivals.{}", self.specs[index].name, arrivals.begun));
            arrivals.begun += 1;
            arrivals.clock = Some(ArrivalClock::new(arrivals.rate, arrivals.arrival, random, now));
        }
        self.dispatch(now, index as u32);
    }

    /// Free clients begin the runs that have arrived; a timer waits for the next.
    fn dispatch(&mut self, now: Instant, index: u32) {
        while let Some(arrivals) = &mut self.all[index as usize].arrivals
            && let Some(clock) = &mut arrivals.clock
            && let Some(&client) = arrivals.free.front()
        {
            let at = clock.next();
            if at > now {
                if arrivals.timer.is_none() {
                    arrivals.timer = Some(at);
                    self.later(at, Event::Arrive(index));
                }
                return;
            }
            clock.step();
            arrivals.free.pop_front();
            self.run(now, client, at);
        }
    }

    /// The timer of a script ends, unless a phase has replaced it.
    fn arrive(&mut self, now: Instant, at: Instant, index: u32) {
        if let Some(arrivals) = &mut self.all[index as usize].arrivals
            && arrivals.timer == Some(at)
        {
            arrivals.timer = None;
            self.dispatch(now, index);
        }
    }

    #[inline]
    fn later(&mut self, at: Instant, event: Event) {
        self.sequence += 1;
        self.timers.push(Reverse((at, self.sequence, event)));
    }

    /// Performs the work due at `now`.
    #[inline]
    fn advance(&mut self, now: Instant) {
        while let Some(Reverse((at, _, event))) = self.timers.peek().copied() {
            if at > now {
                break;
            }
            self.timers.pop();
            match event {
                Event::Start(client) => self.start(now, client),
                Event::Arrive(script) => self.arrive(now, at, script),
                Event::Begin(state) => self.begin(now, state),
                Event::Issue(state) => self.ready.push_back(state),
                Event::Crossed(state) => self.go_on(now, state),
            }
        }
    }

    /// The next I/O that a client asks for at `now`: its state, stream and I/O.
    #[inline]
    fn ask(&mut self, now: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        let index = self.ready.pop_front()?;
        let state = &mut self.states[index as usize];
        let plan = &self.plans[state.plan as usize];
        let client = &mut self.clients[state.client as usize];
        if let Work::Ios { .. } = plan.work {
            let stream = plan.choose(&mut client.random);
            let request = streams[stream].next_of(client.number as usize, &mut client.random);
            return Some(SourceIo { stream: stream as u32, token: index, request });
        }
        let first = state.next == state.end;
        if first {
            state.stream = plan.choose(&mut client.random) as u32;
            (state.next, state.end) = streams[state.stream as usize].draw_file(&mut client.random);
        }
        let stream = state.stream as usize;
        let request = streams[stream].piece(state.next, state.end);
        state.next += u64::from(request.len);
        if first {
            // All pieces but the last are as long as the first.
            state.owed = (state.end - state.next).div_ceil(u64::from(request.len)) as u32;
            self.fill(now, index);
        }
        Some(SourceIo { stream: stream as u32, token: index, request })
    }

    /// Completes an I/O of `state`; read data may have to cross the network.
    #[inline]
    fn io_done(&mut self, now: Instant, index: u32, op: Op, len: u32) {
        if self.plans[self.states[index as usize].plan as usize].carried
            && op == Op::Read
            && let Some(network) = &mut self.network
        {
            let at = network.send(now, len);
            return self.later(at, Event::Crossed(index));
        }
        self.go_on(now, index);
    }

    /// A slot of a step is free again: it takes the next I/O, or the step may be done.
    #[inline]
    fn go_on(&mut self, now: Instant, index: u32) {
        let state = &mut self.states[index as usize];
        let plan = &self.plans[state.plan as usize];
        state.busy -= 1;
        if plan.detached {
            let script = &mut self.all[plan.script as usize];
            script.left -= u64::from(!script.repeat);
        }
        if state.owed > 0 {
            return self.fill(now, index);
        }
        if state.busy > 0 || plan.detached {
            return;
        }
        if state.files_left > 0 {
            state.files_left -= 1;
            state.owed = 1;
            return self.fill(now, index);
        }
        self.end_step(now, index);
    }

    /// Free slots of a step take I/Os.
    #[inline]
    fn fill(&mut self, now: Instant, index: u32) {
        let state = &mut self.states[index as usize];
        let plan = &self.plans[state.plan as usize];
        let (cpu, detached) = (plan.cpu, plan.detached);
        let taken = state.owed.min(plan.depth - state.busy);
        state.owed -= taken;
        state.busy += taken;
        let (client, handed_out) = (state.client, taken > 0 && state.owed == 0);
        for _ in 0..taken {
            match cpu.draw(&mut self.clients[client as usize].random) {
                Span::ZERO => self.ready.push_back(index),
                time => self.later(now + time, Event::Issue(index)),
            }
        }
        if detached && handed_out {
            self.end_step(now, index);
        }
    }

    /// A client begins a run, unless the phase has none for it.
    fn start(&mut self, now: Instant, index: u32) {
        let client = &mut self.clients[index as usize];
        if client.number >= self.all[client.script as usize].limit {
            client.activity = Activity::Parked;
            return;
        }
        self.run(now, index, now);
    }

    /// A client begins a run whose time counts from `began`.
    fn run(&mut self, now: Instant, index: u32, began: Instant) {
        let client = &mut self.clients[index as usize];
        let script = &self.all[client.script as usize];
        (client.began, client.steps_left, client.ran) = (began, script.steps, true);
        let states = client.first_state..client.first_state + script.steps;
        for state in states.clone() {
            let state = &mut self.states[state as usize];
            state.waiting = self.plans[state.plan as usize].waits_for;
        }
        for state in states {
            if self.plans[self.states[state as usize].plan as usize].waits_for == 0 {
                self.open(now, state);
            }
        }
    }

    /// Nothing blocks a step any longer: its CPU time before the first I/O begins.
    fn open(&mut self, now: Instant, index: u32) {
        match self.plans[self.states[index as usize].plan as usize].before {
            Span::ZERO => self.begin(now, index),
            before => self.later(now + before, Event::Begin(index)),
        }
    }

    /// A step begins.
    fn begin(&mut self, now: Instant, index: u32) {
        let state = &mut self.states[index as usize];
        let plan = &self.plans[state.plan as usize];
        (state.owed, state.files_left) = match plan.work {
            Work::Files(count) => (1, count - 1),
            ios @ Work::Ios { .. } => (ios.ios(&mut self.clients[state.client as usize].random), 0),
        };
        let script = &mut self.all[plan.script as usize];
        if plan.detached && !script.repeat {
            script.left += u64::from(state.owed);
        }
        self.fill(now, index);
    }

    /// Handles the end of a step, or the start of a detached one: steps that wait for it may begin.
    fn end_step(&mut self, now: Instant, index: u32) {
        let state = &self.states[index as usize];
        let (plan, client) = (state.plan as usize, state.client);
        let first = self.clients[client as usize].first_state;
        for n in 0..self.plans[plan].dependents.len() {
            let dependent = first + self.plans[plan].dependents[n];
            self.states[dependent as usize].waiting -= 1;
            if self.states[dependent as usize].waiting == 0 {
                self.open(now, dependent);
            }
        }
        self.clients[client as usize].steps_left -= 1;
        if self.clients[client as usize].steps_left == 0 {
            self.end_run(now, client);
        }
    }

    fn end_run(&mut self, now: Instant, index: u32) {
        let client = &mut self.clients[index as usize];
        let script = &mut self.all[client.script as usize];
        if self.measuring {
            script.stats.completed(client.number, client.began, now);
        }
        if !script.repeat {
            script.left -= 1;
            client.activity = Activity::Done;
        } else if client.number < script.limit
            && let Some(arrivals) = &mut script.arrivals
        {
            arrivals.free.push_back(index);
            let script = client.script;
            self.dispatch(now, script);
        } else if client.number < script.limit {
            let at = now + script.think;
            self.later(at, Event::Start(index));
        } else {
            client.activity = Activity::Parked;
        }
    }

    /// A part of the measured time begins at `now`.
    fn begin_measuring(&mut self, now: Instant) {
        self.measuring = true;
        self.measured_from.get_or_insert(now);
        for script in &mut self.all {
            script.stats = ScriptStats::new(script.repeat, script.limit);
        }
    }

    /// That part is over at `now`, after `duration`: its figures, by script.
    pub fn end_measuring(&mut self, now: Instant, duration: Span) -> Vec<ScriptRecord> {
        self.measuring = false;
        for script in &mut self.all {
            let clock = script.arrivals.as_ref().and_then(|arrivals| arrivals.clock.as_ref());
            script.stats.backlog = clock.map_or(Span::ZERO, |clock| Span(now.0.saturating_sub(clock.next().0)));
        }
        self.parts.push(self.all.iter().map(|script| script.stats.clone()).collect());
        self.records(&self.parts[self.parts.len() - 1..], duration)
    }

    /// Their results: the figures of all over the whole measured time, which lasted `duration`.
    pub fn finish(&self, duration: Span) -> Findings {
        let records = self.records(&self.parts, duration);
        let notes: Vec<String> = records.iter().filter_map(ScriptRecord::note).collect();
        Findings::default().with_notes(notes).with("scripts", records)
    }

    fn records(&self, parts: &[Vec<ScriptStats>], duration: Span) -> Vec<ScriptRecord> {
        let begin = self.measured_from.unwrap_or_default();
        let all = self.specs.iter().enumerate().map(|(index, spec)| {
            let mut stats = ScriptStats::new(spec.repeat, 0);
            for part in parts {
                stats.add(&part[index]);
            }
            ScriptRecord::new(spec, &stats, begin, duration)
        });
        all.collect()
    }
}

impl Source for Scripts {
    fn begin_phase(&mut self, start: &PhaseStart) {
        let Phase { scripts, measure, .. } = start.phase;
        // Runs that have waited begin now, not when the last I/O ended.
        self.ready_since = start.now;
        self.activate(start.now, scripts);
        if *measure {
            self.begin_measuring(start.now);
        }
    }

    /// Requests of clients are served after all completions at the same time have been reported.
    fn next_time(&self) -> Option<Instant> {
        let ready = (!self.ready.is_empty()).then_some(self.ready_since);
        ready.or(self.timers.peek().map(|Reverse((at, _, _))| *at))
    }

    fn wake(&mut self, now: Instant) {
        self.serving = true;
        self.advance(now);
    }

    /// Steps due without delay follow at once.
    fn next_io(&mut self, now: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        if !self.serving {
            return None;
        }
        self.advance(now);
        let io = self.ask(now, streams);
        self.serving = io.is_some();
        io
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        self.ready_since = now;
        self.io_done(now, answer.token, answer.op, answer.len);
    }

    /// Every script of this phase whose clients run once is done.
    fn is_done(&self) -> bool {
        self.all.iter().all(|script| script.limit == 0 || script.left == 0)
    }

    /// Counters of the network, if there is one.
    fn report(&self) -> Option<PartReport> {
        self.network.as_ref().map(Network::report)
    }
}

impl State {
    fn new(client: u32, plan: u32) -> Self {
        Self { client, plan, owed: 0, busy: 0, waiting: 0, files_left: 0, stream: 0, next: 0, end: 0 }
    }
}
