//! Runs a workload on a machine and prints the summary: `simulate MACHINE WORKLOAD-FILE [KEY=VALUE]...`.
//!
//! `TRACE` names the rows of the trace that it replays, `IOLOG` a file for every I/O; with `PARTS` the record is printed.
use hotband_engine::{Catalog, Control, Request, Run};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/catalog"));
    let text = std::fs::read_to_string(&args[1]).ok();
    let machine_text = std::fs::read_to_string(&args[0]).ok();
    let set = args[2..].iter().filter_map(|a| a.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let request = Request {
        machine: args[0].clone(),
        machine_text,
        workload: args[1].clone(),
        workload_text: text,
        set,
        seed: 1,
        io_log: std::env::var_os("IOLOG").map(Into::into),
        traces: std::env::var_os("TRACE").map(Into::into).into_iter().collect(),
        ..Request::default()
    };
    let run = match Run::new(&catalog, request) {
        Ok(run) => run,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2)
        }
    };
    let began = std::time::Instant::now();
    let outcome = run.execute(&Control::default()).expect("runs");
    let took = began.elapsed().as_secs_f64();
    let summary = &outcome.record.summary;
    let ms = |ns: Option<f64>| ns.map_or(0.0, |ns| ns / 1e6);
    println!(
        "{:>9.1} IOPS  mean {:>8.3} ms  read {:>8.3} write {:>8.3}  p99 {:>8.3} ms max {:>8.1}  qd {:.2}   {:.2} M I/O/s wall",
        summary.all.iops,
        ms(summary.all.latency_mean_ns),
        ms(summary.read.latency_mean_ns),
        ms(summary.write.latency_mean_ns),
        ms(summary.all.latency_p99_ns.map(|v| v as f64)),
        ms(summary.all.latency_max_ns.map(|v| v as f64)),
        summary.all.queue_depth_mean,
        outcome.ios as f64 / took / 1e6
    );
    if std::env::var("PARTS").is_ok() {
        println!("{}", outcome.record.to_json());
    }
}
