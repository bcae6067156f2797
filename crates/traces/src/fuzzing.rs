//! Properties that hold for any bytes, for the fuzz target and the tests.

use std::io::Cursor;

use crate::detect::looked;
use crate::formats::{Columns, FORMATS, Parser};
use crate::input::decompressed;
use crate::io::{Io, LAST_BYTE, Out};
use crate::read::for_each_io;

/// Reads `data` in every format, and looks which it has: I/Os that end where bytes can be counted, or an error of one
/// line. Panics where not.
pub fn traces(data: &[u8]) {
    looked(data);
    for format in FORMATS {
        read(data, (format.make)());
    }
    let columns = [("time", "1 us"), ("offset", "2 sectors"), ("size", "3"), ("op", "4"), ("latency", "5 ms")];
    let columns = columns.map(|(key, value)| (key.to_owned(), value.to_owned()));
    read(data, Box::new(Columns::new(&columns).expect("they are columns")));
}

/// Reads a table whose columns its first line says, `time=1 us,offset=2` and so on: columns, or an error of one line,
/// then as [`traces`].
pub fn columns(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let options = String::from_utf8_lossy(&data[..end]);
    let pairs = options.split(',').filter_map(|pair| pair.split_once('='));
    let columns: Vec<(String, String)> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    match Columns::new(&columns) {
        Ok(columns) => read(&data[(end + 1).min(data.len())..], Box::new(columns)),
        Err(error) => assert_one_line(&error.to_string()),
    }
}

fn read(data: &[u8], parser: Box<dyn Parser>) {
    let Ok(source) = decompressed(Cursor::new(data.to_vec())) else { return };
    let mut out = Out::default();
    let each = |io: &Io, out: &Out| {
        assert!(io.offset.checked_add(io.len).is_some_and(|end| end <= LAST_BYTE), "{io:?}");
        assert!((io.stream as usize) < out.streams.names().len(), "{io:?}");
        Ok(())
    };
    match for_each_io(source, (parser, "a trace"), data.len() as u64 / 3, &mut out, each) {
        Ok(_) => {}
        Err(error) => assert_one_line(&error.to_string()),
    }
    out.notes.iter().for_each(|note| assert_one_line(note));
}

fn assert_one_line(text: &str) {
    assert!(!text.contains(['\n', '\r']), "{text:?}");
}
