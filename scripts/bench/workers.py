"""What the workers of all programs share; only the standard library, since they run anywhere.

A command is a line of JSON with the name of a method and its arguments, an answer a line of JSON
behind MARK. What a program prints besides may be dropped.
"""

import json
import sys
from collections.abc import Mapping

MARK = "@@ "
RATE = 0.001


def learning_rate(done: float) -> float:
    """Return the rate at which a peer trains after a share of its minutes.

    It falls to a tenth in the last third, as a schedule would have it.
    """
    return RATE * 0.1 ** max(0.0, 3 * done - 2)


def serve(worker: object, about: Mapping[str, object]) -> None:
    """Say what there is to know of a worker, then answer commands until there are no more."""
    print(MARK + json.dumps(about), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = getattr(worker, command.pop("do"))(**command)
        print(MARK + json.dumps(answer), flush=True)
