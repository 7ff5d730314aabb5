"""What may change when a stopped run goes on, and what may not."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnnsearch.errors import UserError
from rnnsearch.validation import shown

# Where the run is and whether to go on are no part of what is trained.
_FREE = ("schema", "run_dir", "name", "resume", "data.test.")
# The position in an epoch counts batches, and the best score so far is one of this metric.
_FIXED = (
    "seed",
    "start_from",
    "model.",
    "tokenizer.",
    "data.",
    "optimizer.kind",
    "trainer.batch_sentences",
    "trainer.batch_tokens",
    "trainer.sort_window",
    "trainer.metric",
)


def compare_for_resume(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Compare the configuration of a stopped run with the one that is to go on with it.

    Args:
        old: the run's own, as `to_plain` gives it.
        new: what the command asks for, likewise.

    Returns:
        One line "key: old -> new" for every change that the training takes over.

    Raises:
        UserError: the architecture, the tokenizers, the data, the seed or the course of the
            training differ; it names key, old and new value.
    """
    before, after = dict(_flat(old)), dict(_flat(new))
    changes = []
    for key in dict.fromkeys([*after, *before]):
        was, asked = before.get(key, "unset"), after.get(key, "unset")
        if was == asked or key.startswith(_FREE):
            continue
        if key.startswith(_FIXED):
            message = f"{key}: the run in this folder has {shown(was)}, not {shown(asked)}"
            raise UserError(f"{message}; it cannot change on resume, choose another run_dir for it")
        changes.append(f"{key}: {shown(was)} -> {shown(asked)}")
    return changes


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
