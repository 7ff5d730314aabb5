"""``python -m rnnsearch`` does what the command ``rnnsearch`` does."""

import sys

from rnnsearch.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
