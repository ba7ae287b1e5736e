"""Run the command line as ``python -m bayesaudit``."""

import sys

from bayesaudit.cli import main

if __name__ == "__main__":
    sys.exit(main())
