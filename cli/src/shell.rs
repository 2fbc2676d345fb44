//! `orthant completions` and `orthant man`, made from the same command line that is parsed.

use crate::error::Error;
use crate::help;
use crate::stdout;
use crate::voice::print;

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "orthant", &mut script);
    print(String::from_utf8_lossy(&script))
}

/// Prints the manual: the main page and one per subcommand.
pub(crate) fn man() -> Result<(), Error> {
    let mut page = Vec::new();
    let mut command = help::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(stdout::failed)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        clap_mangen::Man::new(subcommand.clone()).render(&mut page).map_err(stdout::failed)?;
    }
    print(String::from_utf8_lossy(&page))
}
