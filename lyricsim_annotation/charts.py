"""Two small charts as SVG; drawn by attributes alone: the pages' policy lets no style through (pure)."""

from collections.abc import Sequence

from lyricsim_annotation.markup import Markup, joined, tag

_WIDTH, _HEIGHT = 640, 230
_LEFT, _BASE, _TOP = 44, 190, 54

#: A series' name, its style's class, one value a group.
Series = tuple[str, str, Sequence[int]]


def bars(groups: Sequence[str], series: Sequence[Series], label: str) -> Markup:
    """Grouped bars with their values on top.

    Args:
        groups: names below the axis.
        series: what stands side by side in each group.
        label: what the chart shows, for those who hear it.
    """
    highest = max([1, *(value for _, _, values in series for value in values)])
    step = (_WIDTH - _LEFT - 20) / len(groups)
    width = step * 0.7 / len(series)
    drawn = [_axis()]
    for place, name in enumerate(groups):
        middle = _LEFT + step * (place + 0.5)
        drawn.append(_text(middle, _BASE + 20, name))
        for number, (_, style, values) in enumerate(series):
            x = middle + (number - len(series) / 2) * width
            height = (_BASE - _TOP) * values[place] / highest
            drawn.append(
                tag(
                    "rect",
                    x=f"{x:.1f}",
                    y=f"{_BASE - height:.1f}",
                    width=f"{width - 2:.1f}",
                    height=f"{height:.1f}",
                    class_=style,
                )
            )
            drawn.append(_text(x + width / 2, _BASE - height - 5, values[place], "value"))
    return _chart([*drawn, *_key(series)], label)


def line(points: Sequence[tuple[float, float]], across: str, up: str, label: str) -> Markup:
    """A line through points; upwards from 0 or the lowest value to 1.

    Args:
        points: at least two, rising in their first number.
        across: what the first number is.
        up: what the second is.
        label: what the chart shows.
    """
    lowest = min(0.0, *(y for _, y in points))
    first, last = points[0][0], points[-1][0]
    places = [
        (
            _LEFT + (_WIDTH - _LEFT - 40) * (x - first) / (last - first),
            _BASE - (_BASE - _TOP) * (y - lowest) / (1 - lowest),
        )
        for x, y in points
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    drawn = [
        _axis(),
        tag("polyline", points=path, class_="line"),
        *(tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3, class_="all") for x, y in places),
        _text(_LEFT - 22, _TOP + 4, "1"),
        _text(_LEFT - 22, _BASE + 4, f"{lowest:.2g}"),
        _text(_LEFT, _TOP - 18, up),
        *(_text(x, _BASE + 20, f"{number:g}") for (x, _), (number, _) in zip(places, points, strict=True)),
        _text(_WIDTH / 2, _BASE + 38, across),
    ]
    return _chart(drawn, label)


def _key(series: Sequence[Series]) -> list[Markup]:
    drawn = []
    for number, (name, style, _) in enumerate(series):
        x = _LEFT + 150 * number
        drawn.append(tag("rect", x=x, y=8, width=12, height=12, class_=style))
        drawn.append(tag("text", name, x=x + 18, y=19))
    return drawn


def _axis() -> Markup:
    return tag("line", x1=_LEFT - 8, x2=_WIDTH - 10, y1=_BASE, y2=_BASE, class_="axis")


def _text(x: float, y: float, content: object, style: str = "label") -> Markup:
    return tag("text", content, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor="middle", class_=style)


def _chart(drawn: list[Markup], label: str) -> Markup:
    box = f"0 0 {_WIDTH} {_HEIGHT}"
    return tag("svg", joined(drawn), viewBox=box, role="img", aria_label=label, class_="chart")
