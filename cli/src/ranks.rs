//! Commands that a launcher starts as several ranks.
//!
//! `orthant shard` alone shares work among processes. Under `mpirun -n 4` any other command would do all of its work four times,
//! and four processes would write one file. That is refused, since a process cannot see whether the others write other files.

use crate::args::Command;
use crate::error::Error;
use crate::lazy_options::LazyOptions;
use crate::shard::ShardCommand;

/// The option that lets every rank do all of the work.
const ALL_THE_SAME: &str = "--each-rank";

/// The variables of rank and number of ranks that the process managers of MPI set: Open MPI's, and PMI's of the MPICH family.
const MPI: [(&str, &str); 2] = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")];

/// Those of `srun`. `SLURM_NTASKS` says nothing: the shell of `salloc` has it, and the script of `sbatch` has `SLURM_PROCID` too.
const SRUN: [(&str, &str); 1] = [("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")];

/// One of several processes that a launcher started together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rank {
    rank: usize,
    ranks: usize,
    /// The variable that says how many there are.
    variable: &'static str,
    launcher: &'static str,
}

impl Rank {
    /// What the environment says of this process; None if no launcher started several.
    pub(crate) fn here() -> Option<Self> {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        let set = |pairs: &[(&'static str, &'static str)], launcher| {
            let each = |&(rank, ranks): &(_, &'static str)| {
                Some(Self { rank: number(rank)?, ranks: number(ranks)?, variable: ranks, launcher })
            };
            pairs.iter().filter_map(each).max_by_key(|found| found.ranks)
        };
        // Inside of an allocation mpirun starts its daemons by srun, one on each host, and these pass srun's variables on.
        set(&MPI, "mpirun").or_else(|| set(&SRUN, "srun")).filter(|found| found.ranks > 1)
    }

    /// Lets a command through that several ranks may carry out.
    ///
    /// # Errors
    /// [`Error::Unavailable`] says how ranks share a run.
    pub(crate) fn allows(&self, command: &Command) -> Result<(), Error> {
        let name = match command {
            // Processes that plan the same at once agree, and merging is the only one of these that writes one file.
            Command::Shard(LazyOptions(command)) if matches!(**command, ShardCommand::Merge(_)) => "shard merge",
            Command::Shard(_) | Command::Info | Command::Doctor | Command::Completions { .. } | Command::Man => {
                return Ok(());
            }
            Command::Run(_) => "run",
            Command::Bench(_) => "bench",
            Command::Compare(_) => "compare",
            Command::Report(_) => "report",
            Command::Verify(_) => "verify",
            Command::Tree(_) => "tree",
            Command::Curves(_) => "curves",
            Command::Model(_) => "model",
            Command::Balance(_) => "balance",
            Command::Demo(_) => "demo",
        };
        let Self { rank, ranks, variable, launcher } = self;
        let share =
            format!("`orthant shard plan FIELD -o X.pieces`, then `{launcher} -n {ranks} orthant shard run X.pieces`");
        let way = match command {
            Command::Run(_) => format!("to share it: {share}"),
            _ => format!("start it once, without {launcher}; ranks share runs alone: {share}"),
        };
        Err(Error::Unavailable(format!(
            "rank {rank} of {ranks} ({variable}): each would do all of `orthant {name}`; {way}; {ALL_THE_SAME} lets each do all of it"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Option<(usize, usize, &'static str)> {
        let found = Rank::of(|name| Some(set.iter().find(|(set, _)| *set == name)?.1.to_owned()));
        found.map(|found| (found.rank, found.ranks, found.launcher))
    }

    /// What was seen under Open MPI 4.1, MPICH 4.0 and 5.0, and Slurm 22.05.
    #[test]
    fn launchers_tell_of_ranks() {
        let openmpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")];
        let mpich = [("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("MPI_LOCALNRANKS", "2")];
        let task = [("SLURM_NTASKS", "3"), ("SLURM_PROCID", "2"), ("SLURM_STEP_NUM_TASKS", "3")];
        assert_eq!(of(&openmpi), Some((1, 4, "mpirun")));
        assert_eq!(of(&mpich), Some((0, 2, "mpirun")));
        assert_eq!(of(&task), Some((2, 3, "srun")));
        // The inner launcher counts: one rank of MPICH, started by one of four daemons.
        let daemons = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(of(&[&daemons[..], &[("PMI_RANK", "0"), ("PMI_SIZE", "1")]].concat()), None);
        // One MPI's mpirun inside of another's.
        assert_eq!(
            of(&[&mpich[..], &[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]].concat()),
            Some((0, 2, "mpirun"))
        );
    }

    #[test]
    fn one_process_is_no_rank() {
        let shell = [("SLURM_NTASKS", "8"), ("SLURM_NPROCS", "8"), ("SLURM_JOB_ID", "7")];
        let script =
            [("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0"), ("SLURM_ARRAY_TASK_ID", "3")];
        let alone = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
        for set in [&[][..], &shell, &script, &alone, &[("PMI_SIZE", "4")], &[("PMI_SIZE", "four"), ("PMI_RANK", "0")]]
        {
            assert_eq!(of(set), None, "{set:?}");
        }
    }
}
