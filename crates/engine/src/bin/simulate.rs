//! Runs a workload on a machine and prints the summary: `simulate MACHINE WORKLOAD-FILE [KEY=VALUE]...`.
//!
//! `TRACE` names the rows of the trace that it replays, `IOLOG` a file for every I/O; with `PARTS` the record is printed.
use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use hotband_engine::{Catalog, Control, Outcome, Request, Run};

const USAGE: &str = "usage: simulate MACHINE WORKLOAD-FILE [KEY=VALUE]...

Runs a workload on a machine and prints a summary. Variables of the environment: IOLOG=FILE writes every I/O,
TRACE=FILE names the rows of a trace, PARTS=1 prints the record.";

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        // Who reads no further, such as `head`, has seen enough.
        let _ = writeln!(std::io::stdout(), "{USAGE}");
        return ExitCode::SUCCESS;
    }
    match request(args).and_then(simulate) {
        Ok(lines) => {
            let _ = writeln!(std::io::stdout(), "{lines}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Read the request from the arguments, or the error in them.
fn request(args: Vec<OsString>) -> Result<Request, Box<dyn Error>> {
    let as_text = |arg: OsString| arg.into_string().map_err(|arg| format!("{}: expected UTF-8", arg.display()));
    let args = args.into_iter().map(as_text).collect::<Result<Vec<_>, _>>()?;
    let [machine, workload, set @ ..] = args.as_slice() else {
        return Err(USAGE.into());
    };
    let pair = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("{text}: expected KEY=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    Ok(Request {
        machine: machine.clone(),
        machine_text: std::fs::read_to_string(machine).ok(),
        workload: workload.clone(),
        workload_text: std::fs::read_to_string(workload).ok(),
        set: set.iter().map(pair).collect::<Result<_, Box<dyn Error>>>()?,
        seed: 1,
        io_log: std::env::var_os("IOLOG").map(Into::into),
        traces: std::env::var_os("TRACE").map(Into::into).into_iter().collect(),
        ..Request::default()
    })
}

/// Runs a request; returns the text to print, or the reason why it could not be run.
fn simulate(request: Request) -> Result<String, Box<dyn Error>> {
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
    let run = Run::new(&catalog, request)?;
    let began = std::time::Instant::now();
    let outcome = run.execute(&Control::default())?;
    let summary = summary_of(&outcome, began.elapsed().as_secs_f64());
    let record = std::env::var_os("PARTS").map(|_| format!("\n{}", outcome.record.to_json()));
    Ok(summary + &record.unwrap_or_default())
}

/// A line of the figures of all I/Os, and how many were simulated a second.
fn summary_of(outcome: &Outcome, took: f64) -> String {
    let summary = &outcome.record.summary;
    let ms = |ns: Option<f64>| ns.map_or(0.0, |ns| ns / 1e6);
    format!(
        "{:>9.1} IOPS  mean {:>8.3} ms  read {:>8.3} write {:>8.3}  p99 {:>8.3} ms max {:>8.1}  qd {:.2}   {:.2} M I/O/s wall",
        summary.all.iops,
        ms(summary.all.latency_mean_ns),
        ms(summary.read.latency_mean_ns),
        ms(summary.write.latency_mean_ns),
        ms(summary.all.latency_p99_ns.map(|v| v as f64)),
        ms(summary.all.latency_max_ns.map(|v| v as f64)),
        summary.all.queue_depth_mean,
        outcome.ios as f64 / took / 1e6
    )
}
