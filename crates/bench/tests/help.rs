//! Every benchmark says how it is called.

use std::process::Command;

fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_wug-bench")).args(arguments).arg("--help").output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn help_has_an_example_and_fits_in_80_columns() {
    let all = help(&[]);
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.contains(&"produce") && names.contains(&"executor"), "{all}");
    for name in names {
        let help = help(&[name]);
        assert!(help.contains("\nExample:\n") && help.contains("wug-bench "), "{help}");
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{name}: {long:?}");
    }
}
