//! The app of a workload alone, above a drive of which every I/O takes the same time:
//! `cargo run --release -p hotband-workloads --example app -- WORKLOAD.toml CAPACITY SECONDS [LATENCY] [KEY=VALUE..]`
//! prints what it did, the block I/O that came of it, and how fast the model is.

use std::collections::VecDeque;
use std::time::Instant as Clock;

use hotband_machine::{Op, UntimedWrite};
use hotband_units::{Bytes, Instant, Span};
use hotband_workloads::{App, AppIo, AppVolume, Ended, Workload};

/// Block I/Os and bytes by stream and kind.
#[derive(Default)]
struct Seen {
    count: [[u64; 4]; 3],
    bytes: [[u64; 4]; 3],
    submitted: u64,
}

impl Seen {
    fn add(&mut self, io: &AppIo) {
        let (stream, op) = (usize::from(io.stream), io.request.op as usize);
        self.count[stream][op] += 1;
        self.bytes[stream][op] += u64::from(io.request.len);
        self.submitted += 1;
    }

    fn print(&self, app: &dyn App) {
        for (stream, name) in app.streams().iter().map(|stream| stream.name.clone()).enumerate() {
            for (op, what) in ["reads", "writes", "flushes", "trims"].iter().enumerate() {
                let (count, bytes) = (self.count[stream][op], self.bytes[stream][op]);
                if count > 0 {
                    println!("{name:>9} {what:<7} {count:>10}  mean {:>7.0} B", bytes as f64 / count as f64);
                }
            }
        }
        let sum = |table: &[[u64; 4]; 3], op: Op| table.iter().map(|row| row[op as usize]).sum::<u64>() as f64;
        let ratio = |table| sum(table, Op::Read) / sum(table, Op::Write);
        println!("reads to writes: {:.2} by count, {:.2} by bytes", ratio(&self.count), ratio(&self.bytes));
    }
}

fn lay_out(app: &mut dyn App) -> (u64, u64) {
    let (mut writes, mut bytes, mut out) = (0, 0, Vec::new());
    loop {
        app.lay_out(4096, &mut out);
        if out.is_empty() {
            return (writes, bytes);
        }
        writes += out.len() as u64;
        bytes += out.drain(..).map(|(_, write): (u16, UntimedWrite)| u64::from(write.len)).sum::<u64>();
    }
}

fn run(app: &mut dyn App, until: Instant, latency: Span) -> (Seen, Vec<Ended>) {
    let (mut seen, mut ended) = (Seen::default(), Vec::new());
    let mut flying: VecDeque<(Instant, u32)> = VecDeque::new();
    app.start(Instant(0));
    loop {
        let own = app.next_time();
        let drive = flying.front().map(|(at, _)| *at);
        let now = own.into_iter().chain(drive).min().expect("it has a timer");
        if now > until {
            return (seen, ended);
        }
        if drive == Some(now) {
            let (_, token) = flying.pop_front().expect("it was just seen");
            app.completed(now, token);
        } else {
            app.advance(now);
        }
        while let Some(io) = app.next_io() {
            seen.add(&io);
            flying.push_back((now + latency, io.token));
        }
        app.take_ended(&mut ended);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, capacity, seconds, rest @ ..] = &arguments[..] else {
        panic!("expected WORKLOAD.toml CAPACITY SECONDS [LATENCY] [KEY=VALUE..]")
    };
    let latency: Span = rest.first().map_or(Span(100_000), |text| text.parse().expect("a time"));
    let text = std::fs::read_to_string(file).expect("a workload file");
    let mut workload = Workload::read(file, &text).unwrap_or_else(|error| panic!("{error}"));
    let pair = |text: &String| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let pairs: Vec<(String, String)> = rest.iter().skip(1).map(|text| pair(text).expect("KEY=VALUE")).collect();
    workload.set_app(&pairs).unwrap_or_else(|error| panic!("{error}"));
    let spec = workload.app.as_ref().expect("an [app]");
    let capacity: Bytes = capacity.parse().expect("a size");
    let volume = AppVolume { target: 0, capacity: capacity.0, block: 512 };
    let clock = Clock::now();
    let mut app = spec.build(&vec![volume; spec.streams().len()], None, 1).unwrap_or_else(|error| panic!("{error}"));
    let app = app.as_mut();
    let (writes, bytes) = lay_out(app);
    println!("laid out {} in {writes} writes: {:.2} s", Bytes(bytes), clock.elapsed().as_secs_f64());
    let seconds: f64 = seconds.parse().expect("seconds");
    let clock = Clock::now();
    let (seen, ended) = run(app, Instant((seconds * 1e9) as u64), latency);
    let took = clock.elapsed().as_secs_f64();
    seen.print(app);
    let names = app.operations();
    for (number, name) in names.iter().enumerate() {
        let own: Vec<&Ended> = ended.iter().filter(|ended| usize::from(ended.operation) == number).collect();
        let mean = own.iter().map(|e| e.ended.since(e.began).as_millis_f64()).sum::<f64>() / own.len() as f64;
        println!(
            "{name:>11} {:>9}  {:.2} %  mean {mean:.3} ms",
            own.len(),
            own.len() as f64 / ended.len() as f64 * 100.0
        );
    }
    println!("{:.0} of {:.0} op/s", ended.len() as f64 / seconds, app.requested_ops_per_s().unwrap_or_default());
    println!("{:?}", app.counters());
    let rate = |count: f64| count / took / 1e6;
    println!("model: {:.2} M op/s, {:.2} M I/O/s", rate(ended.len() as f64), rate(seen.submitted as f64));
}
