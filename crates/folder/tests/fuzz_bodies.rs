//! The body of the fuzz target, on cases of its own.

use wug_folder::fuzzing;

#[test]
fn whatever_lies_in_an_output_folder_a_campaign_goes_on() {
    fuzzing::check(&[]);
    wug_property::any_bytes(fuzzing::check);
}
