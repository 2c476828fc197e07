//! The verdict of a target, and where it crashes.

use super::keep::{Keep, Trouble};
use crate::cli::commands::run::explained;
use crate::cli::execution_arg::{ExecutionArg, target, tell_fork_point};
use crate::cli::{Failure, terminal};
use std::ffi::OsString;
use wug_target::{Error, Executor, Kind, Options, Site, Target, Verdict};

/// The same verdict as the input's, in the same place.
pub struct Same {
    executor: Executor,
    /// Looks where candidates crash: a look would stop a fork server.
    examiner: Executor,
    verdict: Verdict,
    /// None if it did not crash, or only its verdict is kept.
    site: Option<Site>,
    frames: usize,
}

impl Same {
    pub fn new(
        command: &[OsString],
        execution: &ExecutionArg,
        frames: usize,
        input: &[u8],
    ) -> Result<Same, Failure> {
        let target =
            target(command.iter().cloned()).ok_or_else(|| Failure::usage("no program behind `--`"))?;
        let options = execution.options()?;
        let stopped = |error: Error| Failure::usage(explained(&error));
        let mut executor = Executor::new(target.clone(), options.clone()).map_err(stopped)?;
        executor.missing().iter().for_each(|missing| terminal::warning(&missing.to_string()));
        executor.prove(&[input]).map_err(stopped)?;
        tell_fork_point(&executor);
        let verdict = executor.run(input).map_err(stopped)?.verdict;
        let mut examiner = examiner(target, options).map_err(stopped)?;
        let mut site = None;
        if verdict.is_crash() && frames > 0 {
            let crash = examiner.locate_crash(input).map_err(stopped)?;
            if crash.verdict != verdict {
                let (first, second) = (verdict, crash.verdict);
                terminal::warning(&format!("the target does not always do the same: {first}, then {second}"));
            }
            site = Some(crash.site(frames)).filter(|site| !site.is_vague());
        }
        Ok(Same { executor, examiner, verdict, site, frames })
    }
}

fn examiner(target: Target, options: Options) -> Result<Executor, Error> {
    Executor::new(target, Options { kind: Kind::Spawn, ..options })
}

impl Keep for Same {
    fn holds(&mut self, input: &[u8]) -> Result<bool, Trouble> {
        let failed = |error: Error| Trouble::Failed(explained(&error));
        // There is nothing to keep if all is well.
        if self.verdict == Verdict::Ok || self.executor.run(input).map_err(failed)?.verdict != self.verdict {
            return Ok(false);
        }
        let Some(site) = &self.site else { return Ok(true) };
        let crash = self.examiner.locate_crash(input).map_err(failed)?;
        Ok(crash.verdict == self.verdict && crash.site(self.frames) == *site)
    }

    fn kept(&self) -> String {
        match &self.site {
            Some(site) => site.to_string(),
            None => self.verdict.to_string(),
        }
    }

    fn refusal(&self) -> String {
        match self.verdict {
            Verdict::Ok => "the target exits with 0 on the input: there is nothing to keep\n\n\
                            --check keeps what a command says"
                .to_string(),
            verdict => {
                let place = if self.site.is_none() { "" } else { " in the same place" };
                format!("the target does not do the same again: {verdict} at first, but not twice{place}")
            }
        }
    }
}
