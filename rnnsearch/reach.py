"""Sources that are longer than a model's learned positions reach, told before any work."""

from collections.abc import Iterable, Sequence

from rnnsearch.errors import UserError
from rnnsearch.model import TranslationModel

SHORTEN = "shorten the line, or take a model with other positions"


def check_reach(
    models: Iterable[TranslationModel], lengths: Sequence[int],
    *, line: str, remedy: str, first: int = 1,
) -> None:  # fmt: skip
    """Hold that positions reach to the end of every source.

    Args:
        models: one model or an ensemble.
        lengths: pieces of each source, the end mark not counted.
        line: what a source is called, with `{}` for its number.
        remedy: what to do about a longer one.
        first: the number of the first source.

    Raises:
        UserError: names the first source that is too long.
    """
    ends = [model.most_positions for model in models if model.most_positions is not None]
    if not ends:
        return
    most = min(ends)
    number = next((i for i, length in enumerate(lengths) if length + 1 > most), None)
    if number is not None:
        raise UserError(
            f"{line.format(number + first)} has {lengths[number]} pieces and the end mark, but the "
            f"learned positions end at model.max_positions={most}; {remedy}"
        )
