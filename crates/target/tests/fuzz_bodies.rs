//! The bodies of the fuzz targets, on cases of their own.

use wug_property::any_bytes;
use wug_target::fuzzing::{board, crashes};

#[test]
fn whatever_a_target_writes_on_its_board_is_read() {
    let check = |bytes: &[u8]| board::check(bytes, |_, _| {});
    check(&[]);
    any_bytes(check);
}

#[test]
fn outputs_of_targets_are_read_without_harm() {
    (0..=255).for_each(|which| crashes::check_output(&[which]));
    any_bytes(crashes::check_output);
}

#[test]
fn program_files_and_stacks_are_read_without_harm() {
    crashes::check_stack(&[]);
    any_bytes(crashes::check_stack);
}
