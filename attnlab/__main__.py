"""``python -m attnlab``."""

import signal
import sys

from attnlab.cli import main

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up, as after Ctrl-C
    sys.exit(main())
