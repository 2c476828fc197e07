//! The body of the fuzz target, on cases of its own.

use wug_campaign::fuzzing;

#[test]
fn whatever_a_traced_target_logs_is_used_without_harm() {
    fuzzing::check(&[]);
    wug_property::any_bytes(fuzzing::check);
}
