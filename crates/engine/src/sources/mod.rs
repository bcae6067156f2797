//! Sources of I/Os in a run, and when each of them is next due.

pub mod agenda;
pub mod app;
pub mod network;
pub mod scripts;
pub mod trace;
