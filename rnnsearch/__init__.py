"""RNNsearch: neural machine translation by jointly learning to align and translate.

from rnnsearch import Translator
Translator.load("runs/demo").translate(["A dog runs."])[0].text
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnnsearch.translation import Translation
    from rnnsearch.translator import Translator

__version__ = "0.1.0"
__all__ = ["Translation", "Translator", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the translator when it is asked for: torch takes seconds, `--help` should not."""
    if name in ("Translation", "Translator"):
        from rnnsearch import translation, translator

        return translator.Translator if name == "Translator" else translation.Translation
    raise AttributeError(f"module 'rnnsearch' has no attribute {name!r}")
