//! What users of afl-fuzz may expect and we do not have: variables and flags,
//! each with what to use instead.

use crate::cli::terminal;

/// Variables that are honoured, by this command or by what it runs.
const HONOURED: &[&str] = &[
    "AFL_AUTORESUME",
    "AFL_BENCH_UNTIL_CRASH",
    "AFL_CRASH_EXITCODE",
    "AFL_DEBUG_CHILD",
    "AFL_FORKSRV_INIT_TMOUT",
    "AFL_HANG_TMOUT",
    "AFL_NO_AFFINITY",
    "AFL_NO_UI",
    "AFL_PRELOAD",
    "AFL_TARGET_ENV",
    "AFL_TMPDIR",
];

/// Variables that ask for what is done anyway, or that are for compilers.
const NEEDLESS: &[&str] = &[
    "AFL_CC",
    "AFL_CXX",
    "AFL_FORCE_UI",
    "AFL_HARDEN",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
    "AFL_IGNORE_PROBLEMS",
    "AFL_IGNORE_PROBLEMS_COVERAGE",
    "AFL_MAP_SIZE",
    "AFL_NO_AUTODICT_NOTICE",
    "AFL_PATH",
    "AFL_QUIET",
    "AFL_SKIP_BIN_CHECK",
    "AFL_SKIP_CPUFREQ",
    "AFL_SKIP_CRASHES",
    "AFL_TRY_AFFINITY",
];
const FOR_COMPILERS: &[&str] = &["AFL_USE_", "AFL_LLVM_", "AFL_GCC_", "AFL_CLANG_"];

/// Variables that are not, and what to use.
const INSTEAD: &[(&str, &str)] = &[
    ("AFL_CMPLOG_ONLY_NEW", "build with WUG_BOTH=1: each entry is traced once"),
    ("AFL_CUSTOM_MUTATOR_LIBRARY", "give a grammar with -g, or structure is learned"),
    ("AFL_CUSTOM_MUTATOR_ONLY", "use -g GRAMMAR --invalid 0"),
    ("AFL_DISABLE_TRIM", "finds are always made smaller, with a fifth of all runs at most"),
    ("AFL_EXIT_ON_TIME", "use -V SECONDS"),
    ("AFL_EXIT_WHEN_DONE", "use -V SECONDS or -E EXECS"),
    ("AFL_EXPAND_HAVOC_NOW", "mutators are weighed by what they find"),
    ("AFL_FINAL_SYNC", "finds are exchanged all the time"),
    ("AFL_IMPORT_FIRST", "finds are exchanged all the time"),
    ("AFL_KILL_SIGNAL", "targets are ended by SIGKILL"),
    ("AFL_NO_AUTODICT", "texts of the target are always tokens"),
    ("AFL_PYTHON_MODULE", "give a grammar with -g, or structure is learned"),
    ("AFL_STATSD", "read fuzzer_stats or report.json"),
    ("AFL_SYNC_TIME", "finds are exchanged all the time"),
    ("AFL_TESTCACHE_SIZE", "256 MiB of inputs are kept in memory"),
];

/// Flags of afl-fuzz, and what to use.
const FLAGS: &[(&str, &str)] = &[
    ("-A", "use `-n` for a program that is not instrumented"),
    ("-C", "give the crash as a seed to a campaign with a grammar: `-i DIR -g GRAMMAR`"),
    ("-D", "comparisons are solved with a traced build (WUG_BOTH=1): leave -D out"),
    ("-G", "inputs have at most 1 MiB: leave -G out"),
    ("-I", "watch OUT/*/crashes, or use AFL_BENCH_UNTIL_CRASH=1 with --exit-code"),
    ("-L", "mutators are weighed by what they find: leave -L out"),
    ("-N", "the input file is made anew where that matters: leave -N out"),
    ("-O", "build the program with `wug cc`, or fuzz it as it is with -n"),
    ("-P", "entries are weighed by what they reach: leave -P out"),
    ("-Q", "build the program with `wug cc`, or fuzz it as it is with -n"),
    ("-T", "leave -T out"),
    ("-U", "build a harness with `wug cc`"),
    ("-W", "build the program with `wug cc`"),
    ("-X", "build the program with `wug cc`"),
    ("-Y", "build the program with `wug cc`"),
    ("-Z", "entries are weighed by what they reach: leave -Z out"),
    ("-a", "`-g GRAMMAR` says what inputs look like: leave -a out"),
    ("-b", "use `taskset -c CORE wug fuzz …`"),
    ("-c", "the traced build does this: `WUG_BOTH=1 wug cc …`, or `--traced BUILD`"),
    ("-d", "there is no deterministic stage: leave -d out"),
    ("-e", "name the file in the arguments: `@@`"),
    ("-f", "write `@@` where the program takes its file"),
    ("-l", "the traced build does this: `WUG_BOTH=1 wug cc …`"),
    ("-p", "entries are weighed by what they reach: leave -p out"),
    ("-w", "leave -w out"),
    ("-z", "leave -z out"),
];

/// Says which variables have no effect, a line each.
pub fn tell_unknown() {
    let mut names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("AFL_"))
        .collect();
    names.sort();
    for name in names {
        if let Some(text) = why_not(&name) {
            terminal::warning(&terminal::clean_line(&text));
        }
    }
}

/// What is said of a variable; nothing if it is honoured.
fn why_not(name: &str) -> Option<String> {
    let known = HONOURED.contains(&name)
        || NEEDLESS.contains(&name)
        || FOR_COMPILERS.iter().any(|prefix| name.starts_with(prefix));
    if known {
        return None;
    }
    let instead = INSTEAD
        .iter()
        .find(|(other, _)| *other == name || name.starts_with("AFL_STATSD") && *other == "AFL_STATSD");
    Some(match instead {
        Some((_, instead)) => format!("{name} is not honoured: {instead}"),
        None => format!("{name} is not honoured: it has no effect here (docs/campaigns.md lists what has)"),
    })
}

/// What to use in the place of a flag of afl-fuzz.
pub fn instead_of(flag: &str) -> Option<String> {
    let (flag, instead) = FLAGS.iter().find(|(other, _)| flag.starts_with(other))?;
    Some(format!("`{flag}` of afl-fuzz is not there: {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_without_effect_are_told_and_others_are_not() {
        assert_eq!(why_not("AFL_NO_UI"), None);
        assert_eq!(why_not("AFL_USE_ASAN"), None);
        assert_eq!(why_not("AFL_SKIP_CPUFREQ"), None);
        assert!(why_not("AFL_CUSTOM_MUTATOR_LIBRARY").is_some_and(|text| text.contains("-g")));
        assert!(why_not("AFL_STATSD_PORT").is_some_and(|text| text.contains("fuzzer_stats")));
        assert!(why_not("AFL_SOMETHING").is_some_and(|text| text.contains("no effect")));
        assert!(instead_of("-Q").is_some_and(|text| text.contains("wug cc")));
        assert!(instead_of("-p").is_some() && instead_of("--power").is_none() && instead_of("-k").is_none());
    }
}
