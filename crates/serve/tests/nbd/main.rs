//! The NBD front end, asked by a small client of the tests' own.

mod client;
mod conversations;
mod hostile;
mod listening;
mod options;
mod requests;
