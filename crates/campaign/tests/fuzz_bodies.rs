//! The bodies of the fuzz targets, for a second each and on cases of their own.

use wug_campaign::fuzzing::{board, crashes, folder};

fn any(body: impl Fn(&[u8])) {
    wug_property::check(|u| {
        body(u.bytes(u.len())?);
        Ok(())
    })
    .sizes(16, 4_096)
    .for_cases(400);
}

#[test]
fn whatever_a_target_writes_on_its_board_is_read() {
    board::check(&[]);
    any(board::check);
}

#[test]
fn whatever_lies_in_an_output_folder_a_campaign_goes_on() {
    folder::check(&[]);
    any(folder::check);
}

#[test]
fn outputs_of_targets_are_read_without_harm() {
    (0..=255).for_each(|which| crashes::check_output(&[which]));
    any(crashes::check_output);
}

#[test]
fn program_files_and_stacks_are_read_without_harm() {
    crashes::check_stack(&[]);
    any(crashes::check_stack);
}
