//! How the program ends: the one table of exit codes.

use std::process::ExitCode;

/// How the program ends. Each way has an exit code, and docs/errors.md lists them from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing went wrong.
    Done,
    /// The work began and could not be finished.
    Failed,
    /// The command line or an input cannot be used.
    Input,
    /// A check found something.
    Difference,
    /// A part of the machine or of this build is missing, or the command does not run as several ranks.
    Unavailable,
    /// There is not enough memory.
    Memory,
    /// A signal of this number ended the program.
    Signal(u8),
}

impl Exit {
    /// Every way, in the order of the codes.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::Failed,
        Self::Input,
        Self::Difference,
        Self::Unavailable,
        Self::Memory,
        Self::Signal(1),
        Self::Signal(2),
        Self::Signal(15),
    ];

    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Input => 2,
            Self::Difference => 3,
            Self::Unavailable => 4,
            Self::Memory => 5,
            Self::Signal(number) => 128 + number,
        }
    }

    /// When the program ends so, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "The command did what it was asked to do.",
            Self::Failed => {
                "The work failed: for example a disk is full, a file reached its size limit, too many files are open, or a server does not answer."
            }
            Self::Input => "An option is wrong, or a file cannot be used.",
            Self::Difference => "A check found a difference, or something is missing or damaged.",
            Self::Unavailable => {
                "The backend or the device is not available, or a launcher started several processes of a command that does not share its work."
            }
            Self::Memory => "The work would exceed a memory limit, or memory ran out.",
            Self::Signal(1) => "The terminal closed (SIGHUP).",
            Self::Signal(2) => "The user interrupted the command (SIGINT, Ctrl-C).",
            Self::Signal(15) => "Another program ended the command (SIGTERM).",
            Self::Signal(_) => "A signal ended the command.",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
