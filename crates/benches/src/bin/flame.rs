//! Draws a flame graph of folded stacks (`outer;inner COUNT` a line): `flame TITLE < STACKS > SVG`.

use std::io::{stdin, stdout};

use inferno::flamegraph::{Options, from_reader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let title = std::env::args().nth(1).ok_or("expected a title")?;
    let mut options = Options::default();
    options.title = title;
    "instructions".clone_into(&mut options.count_name);
    from_reader(&mut options, stdin().lock(), stdout().lock())?;
    Ok(())
}
