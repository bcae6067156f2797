//! Does a run on drives that another run has preconditioned leave the record of the run that did it?

use crate::common::{closed, one_in, run};

#[test]
fn a_run_that_takes_contents_leaves_the_record_of_the_run_that_made_them() {
    let workloads = [
        "name = \"a\"\nread_pct = 0\nrandom_pct = 100\nsize = \"4 KiB\"",
        "name = \"a\"\nread_pct = 67\nrandom_pct = 50\nrandom_mode = \"coin\"\nsize = \"8 KiB\"\n\
         [[streams]]\nname = \"b\"\nread_pct = 10\nrandom_pct = 100\nsize = \"64 KiB\"",
    ];
    let machines =
        [("7450-pro-3840", "512"), ("nytro-1351-960", "256"), ("980-pro-1tb", "256"), ("raid5:3xs4500-960", "512")];
    for streams in workloads {
        for (machine, scale) in one_in(4, machines.to_vec()) {
            let phases = "[[phases]]\nios = 20000\nmeasure = true\n";
            let text = format!("[load]\n{}\n[[streams]]\n{streams}\n{phases}", closed(8));
            let set = [("scale", scale), ("state", "preconditioned")];
            let (made, taken) = (run(machine, &text, &set), run(machine, &text, &set));
            assert_eq!(made.0, taken.0, "{machine}, {streams}");
        }
    }
}
