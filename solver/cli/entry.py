"""What ``gpuplan`` starts: the command line, which Ctrl-C ends cleanly at any time.

Loading the command line takes a tenth of a second, in which Ctrl-C has to end the
process without a traceback too; so this module loads nothing before it is ready for it.
"""

import os
import sys

__all__ = ["run"]

STATUS_STOPPED = 130


def run() -> int:
    """Run the command line of this process and return its exit status."""
    # no plug-in of pydantic has a part in this: looking for them takes 0.02 s
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from solver.cli.app import main

        return main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("gpuplan: stopped\n")
        return STATUS_STOPPED
