//! Random grammars and random bytes: no panic, no hang.

mod body;

use body::Tally;

#[test]
fn random_grammars_and_random_bytes() {
    let mut tally = Tally::default();
    // On a slow machine, one grammar can take all the time.
    for _ in 0..5 {
        wug_property::check(|u| body::check(u, &mut tally)).for_cases(150);
        if tally.accepted > 3 && tally.rejected > 3 {
            break;
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.accepted > 3 && tally.rejected > 3, "{tally:?}");
}
