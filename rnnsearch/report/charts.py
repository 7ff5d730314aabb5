"""Charts as SVG within the page: curves, and bars with their values.

Colours, dashes and sizes of letters are in `style.css`; a curve is known by its dashes and the
shape of its points as well as by its colour. Lengths are units of the view box, a pixel each where
the chart has its natural width.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rnnsearch.report.page import escaped, number

WIDTH, HEIGHT = 420, 250
_LEFT, _RIGHT, _TOP = 48, 12, 22
_BOTTOM = 54  # room for two lines of labels and what they mean
_STYLES = 6  # curves that differ in colour, dashes and points; more begin anew
_MARKED = 40  # points of a curve that are marked at most: a line through one point shows nothing
_SHAPES = (
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",  # circle
    "M-3.2-3.2h6.4v6.4h-6.4z",  # square
    "M0-4.4L4.2 3.2H-4.2z",  # triangle
    "M0-4.6L4.6 0L0 4.6L-4.6 0z",  # diamond
    "M0 4.4L4.2-3.2H-4.2z",  # triangle upside down
    "M-4-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",  # cross
)


class Curve(NamedTuple):
    """Points of a chart.

    Attributes:
        name: text of the legend.
        points: (x, y), x rising.
    """

    name: str
    points: Sequence[tuple[float, float]]


class _Scale(NamedTuple):
    """From values, 0 at the lower left, to places in the view box."""

    most_x: float
    most_y: float

    def x(self, value: float) -> float:
        return round(_LEFT + value / self.most_x * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / self.most_y * (HEIGHT - _BOTTOM - _TOP), 1)


def ticks(most: float) -> list[float]:
    """Return round values from 0 to `most` or a little more, three to six of them."""
    if not (math.isfinite(most) and most > 0):
        return [0.0, 1.0]
    rough = most / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    return [step * i for i in range(math.ceil(most / step * 0.999) + 1)]


def line_chart(
    title: str,
    curves: Sequence[Curve],
    *,
    x_label: str,
    labels: Sequence[str] = (),
    most: float = 0,
) -> str:
    """Return a figure of curves; it has a legend where there are several.

    Args:
        title: text above, with the unit.
        curves: at least one point in all.
        x_label: text below.
        labels: what stands at x = 0.5, 1.5, ... in place of numbers, in one or two lines.
        most: the axis of x reaches at least so far.
    """
    points = [point for curve in curves for point in curve.points]
    y_ticks = ticks(max(y for _, y in points))
    last = max([most, *(x for x, _ in points)])
    x_ticks = ticks(last)
    scale = _Scale(len(labels) if labels else max(last, 1), max(y_ticks[-1], 1e-12))
    parts = [_frame(scale, y_ticks, x_label, lines=2 if labels else 1)]
    if labels:
        parts.append(_labels(scale, labels))
    else:
        parts += [
            _text(scale.x(x), HEIGHT - _BOTTOM + 15, _tick(x), "middle")
            for x in x_ticks
            if x <= scale.most_x * 1.001
        ]
    parts += [_curve(scale, curve, style) for style, curve in enumerate(curves)]
    told = "; ".join(_told(curve) for curve in curves if curve.points)
    return _figure(title, "".join(parts), told, curves if len(curves) > 1 else ())


def bar_chart(
    title: str, bars: Sequence[tuple[str, float | None]], *, x_label: str, most: float = 0
) -> str:
    """Return a figure of bars, each with its label below and its value above.

    Args:
        title: text above.
        bars: label, in one or two lines, and value; None leaves the place empty.
        x_label: text below.
        most: the axis reaches at least so high.
    """
    y_ticks = ticks(max([most, *(value for _, value in bars if value is not None)]))
    scale = _Scale(len(bars), y_ticks[-1])
    parts = [_frame(scale, y_ticks, x_label, lines=2), _labels(scale, [label for label, _ in bars])]
    room = scale.x(1) - scale.x(0)
    width = round(min(room * 0.7, 64), 1)
    for i, (_, value) in enumerate(bars):
        if value is None:
            continue
        x, y = scale.x(i + 0.5), scale.y(value)
        parts.append(
            f'<rect class="bar" x="{x - width / 2:.1f}" y="{y}" width="{width}" '
            f'height="{scale.y(0) - y:.1f}"><title>{number(value)}</title></rect>'
        )
        if room >= 34:
            parts.append(_text(x, y - 5, number(value, 1), "middle", kind="value"))
    told = ", ".join(f"{label.split(chr(10))[0]}: {number(value, 1)}" for label, value in bars)
    return _figure(title, "".join(parts), told, ())


def _figure(title: str, drawing: str, told: str, legend: Sequence[Curve]) -> str:
    keys = "".join(
        f'<li><svg class="key s{style % _STYLES}" viewBox="0 0 34 12" aria-hidden="true">'
        f'<path class="curve" d="M1 6H33"/><path class="point" transform="translate(17 6)" '
        f'd="{_SHAPES[style % _STYLES]}"/></svg>{escaped(curve.name)}</li>'
        for style, curve in enumerate(legend)
    )
    return (
        f'<figure class="chart"><figcaption>{escaped(title)}</figcaption>\n'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escaped(title)}. '
        f'{escaped(told)}">{drawing}</svg>\n'
        + (f'<ul class="legend">{keys}</ul>' if legend else "")
        + "</figure>\n"
    )


def _frame(scale: _Scale, y_ticks: Sequence[float], x_label: str, *, lines: int) -> str:
    parts = [
        f'<path class="grid" d="M{_LEFT} {scale.y(y)}H{WIDTH - _RIGHT}"/>'
        + _text(_LEFT - 7, scale.y(y) + 4, _tick(y), "end")
        for y in y_ticks
    ]
    parts.append(f'<path class="axis" d="M{_LEFT} {scale.y(0)}H{WIDTH - _RIGHT}"/>')
    below = HEIGHT - _BOTTOM + 18 + 14 * lines  # the lines of labels under the axis
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, below, x_label, "middle"))
    return "".join(parts)


def _labels(scale: _Scale, labels: Sequence[str]) -> str:
    lines = [label.split("\n") for label in labels]
    longest = 7 * max(len(line) for label in lines for line in label) + 6
    every = math.ceil(longest / (scale.x(1) - scale.x(0)))
    return "".join(
        _text(scale.x(i + 0.5), HEIGHT - _BOTTOM + 15 + 14 * row, line, "middle")
        for i in range(0, len(lines), every)
        for row, line in enumerate(lines[i])
    )


def _curve(scale: _Scale, curve: Curve, style: int) -> str:
    places = [(scale.x(x), scale.y(y)) for x, y in curve.points]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places) if places else ""
    marks = "".join(
        f'<path class="point" transform="translate({x:g} {y:g})" d="{_SHAPES[style % _STYLES]}">'
        f"<title>{escaped(curve.name)}: {_exact(value)} at {at:,g}</title></path>"
        for (x, y), (at, value) in zip(places, curve.points, strict=True)
        if len(places) <= _MARKED
    )
    return f'<g class="s{style % _STYLES}"><path class="curve" d="{path}"/>{marks}</g>'


def _told(curve: Curve) -> str:
    (_, first), (_, last) = curve.points[0], curve.points[-1]
    values = [value for _, value in curve.points]
    return (
        f"{curve.name}: from {_exact(first)} to {_exact(last)}, "
        f"least {_exact(min(values))}, most {_exact(max(values))}"
    )


def _exact(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _tick(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}" if value > 1e-12 else "0"


def _text(x: float, y: float, text: str, anchor: str, *, kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escaped(text)}</text>'
