"""``python -m pyorthant`` and the script ``orthant``: the whole command line."""

import signal
import sys

from . import _core
from ._cuda import find_nvrtc


def main(arguments=None):
    """Does what a command line says, and ends the process with its exit code. `arguments` are those after the name."""
    find_nvrtc()
    # The program hears signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_core.main(["orthant", *(sys.argv[1:] if arguments is None else arguments)]))


if __name__ == "__main__":
    main()
