"""The report of an evaluation: one HTML page that needs no network."""

from rnnsearch.report.compared import Compared, comparison_page
from rnnsearch.report.evaluated import evaluation_page

__all__ = ["Compared", "comparison_page", "evaluation_page"]
