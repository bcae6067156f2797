#!/bin/sh
# Stands before rustc for our own crates (RUSTC_WORKSPACE_WRAPPER) in `make test`, and in `make demo`, so that both use
# one build of them: cargo compiles them again for another wrapper. What is compiled with its tests is linted by clippy
# on the way. Libraries are compiled by rustc itself: clippy turns the optimisation of MIR off, which costs 2 to 7 % of
# the instructions of an I/O, and budgets are of what users install. Test programs are optimised as far as pays: a
# crate's unit tests take less to run than to optimise, and get debug assertions and overflow checks this way.
case " $* " in
*" --test "*)
    [ -n "$CLIPPY_DRIVER" ] || { echo "make test needs clippy: rustup component add clippy" >&2; exit 1; }
    case " $* " in
    *" --crate-name hotband_traces "* | *" --crate-name hotband_workloads "*) level=1 ;; # many draws
    *" --crate-name hotband_"*) level=0 ;;
    *" crates/engine/tests/integration/main.rs "*) level=0 ;; # runs of the engine, which is a library
    *) level=1 ;;
    esac
    exec "$CLIPPY_DRIVER" "$@" -C opt-level=$level
    ;;
*" --crate-name ___ "*) ;; # cargo asks what the compiler is
*" --crate-name "*) [ -z "$CLIPPY_DRIVER" ] || set -- "$@" -D warnings ;; # not where a user installs
esac
exec "$@"
