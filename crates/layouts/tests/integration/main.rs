//! Tests of layouts, pools and what lies before them. One program: a program a file takes several times as long to link.

mod controller;
mod crush;
mod crush_properties;
mod erasure;
mod layout_spec;
mod md;
mod pool;
mod repair;
mod replicated;
mod replicated_recovery;
mod specs;
