"""Kill a training again and again, fill its disk, make its folder read-only; nothing may be lost.

    python scripts/soak.py runs/soak
    python scripts/soak.py runs/soak --kills 20 --disks 2

A small training is run once without a stop. Then the same command is started and killed (SIGKILL)
again and again: some processes while they start, some in the middle of a save, the others at any
moment. When `--kills` of them are survived it is let go on to its end. The same on a disk that gets
full and on one that becomes read-only in the middle of the training; for these Linux lends a file
system in memory to a namespace of its own (`unshare`). Each run has to end with the weights, the
optimizer, the counters and the records of the straight one, bit for bit. Exit status 1 if one does
not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path

from argument_types import whole
from soaking.disks import INSIDE, inside, spoil_disks
from soaking.kills import kill_again_and_again
from soaking.training import Failed, Soak, prepare


def main() -> int:
    """Run the soak; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to work; what is in it is overwritten")
    parser.add_argument("--kills", type=whole(0), default=100, metavar="N")
    parser.add_argument("--disks", type=whole(0), default=6, metavar="N", help="disks to spoil")
    parser.add_argument("--updates", type=whole(50), default=4000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments")
    args = parser.parse_args()
    folder, chance = args.folder.resolve(), random.Random(args.seed)
    try:
        if INSIDE in os.environ:
            settings = tuple(json.loads(os.environ[INSIDE]))
            inside(Soak(folder, settings, folder / "straight"), args.disks, chance)
            return 0
        soak = prepare(folder, args.updates)
        print(f"straight run: {args.updates} updates")
        if args.disks:
            spoil_disks(folder, soak.settings, args.disks)
        if args.kills:
            kill_again_and_again(soak, args.kills, chance)
    except Failed as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
