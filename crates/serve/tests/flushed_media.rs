//! Does a flush count as an access to the media only if a drive had data to write?

use hotband_engine::{Asked, Catalog, Control, Request, Run};
use hotband_machine::{Entropy, Op};
use hotband_serve::{Answer, Model, OfMachine};

const SERVED: &str = "[[streams]]\nname = \"drive\"\nload = { clients = {} }\n\
                      [[phases]]\nname = \"served\"\nuntil = \"drained\"\nmeasure = true\n";

fn model(machine: &str) -> OfMachine {
    let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
    let request = Request {
        machine: "machine.toml".into(),
        machine_text: Some(machine.to_owned()),
        workload: "workload.toml".into(),
        workload_text: Some(SERVED.to_owned()),
        seed: 1,
        ..Request::default()
    };
    let run = Run::new(&catalog, request).expect("a served machine");
    OfMachine::new(run.live(&Control::default()).expect("nobody stops it"))
}

fn answer(model: &mut OfMachine, op: Op) -> Answer {
    let len = if op == Op::Flush { 0 } else { 4096 };
    let asked = Asked { volume: 0, op, offset: 0, len, fua: false, entropy: Entropy::INCOMPRESSIBLE };
    model.submit(model.now(), &asked, 0);
    let mut answers = Vec::new();
    while answers.is_empty() {
        let next = model.wake().expect("an I/O is under way");
        model.advance(next, &mut answers);
    }
    answers[0]
}

#[test]
fn a_flush_with_nothing_to_write_is_no_access_to_the_media() {
    // The overhead of the second is 0.1 ms.
    for product in ["exos-15e900-512n", "cheetah-15k4"] {
        let text = format!("[drives.drive]\nproduct = \"{product}\"\nset = {{ wce = \"on\" }}\n");
        let mut model = model(&text);
        let order = [Op::Flush, Op::Write, Op::Flush, Op::Flush];
        let is_media = order.map(|op| answer(&mut model, op).is_media);
        assert_eq!(is_media, [false, false, true, false], "{product}");
    }
}
