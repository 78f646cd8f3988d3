"""Pictures of what growth.py measured: time and memory over the size of the trace, both axes logarithmic, as SVG.

The background is transparent, and every colour is of middle brightness, so that it can be read on white and on black.
Programs differ by colour and by mark: filled marks are ours, hollow ones are not."""
import math
import os
from xml.sax.saxutils import escape

from bench_tools import MB
from growth_tables import done, of_question, questions, run_at

WIDTH, PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP, LEGEND = 880, 340, 260, 64, 64, 92, 20
INK, GRID = "#737d8a", "#7d8590"
OURS = {"one": "#2f81f7", "two": "#12a594"}
LIMITS = {"hand": ("#8e8c3a", "7 4"), "bytes": ("#7d8590", "2 4")}
PEERS = ("#e5702a", "#d6409f", "#8e4ec6", "#e5484d")
MARKS = ("circle", "square", "triangle", "diamond")
STYLE = "text{font:12px sans-serif;fill:%s}.t{font-size:14px;font-weight:bold}.e{text-anchor:end}.m{text-anchor:middle}" % INK


def seconds_label(value):
    return "%g s" % value if value >= 1 else "%g ms" % (value * 1e3)


def bytes_label(value):
    return "%g GB" % (value / 1000) if value >= 1000 else "%g MB" % value


class Axis:
    """All values, and a little room at both ends, on that many pixels."""
    ROOM = 0.08                         # powers of ten

    def __init__(self, values, pixels):
        self.low, self.high = math.log10(min(values)) - self.ROOM, math.log10(max(values)) + self.ROOM
        self.pixels = pixels

    def at(self, value):
        return (math.log10(value) - self.low) / (self.high - self.low) * self.pixels

    def ticks(self):
        """Powers of ten; of a short axis also two and five times these."""
        steps = (1, 2, 5) if self.high - self.low < 2 else (1,)
        every = [step * 10.0 ** power for power in range(math.floor(self.low), math.ceil(self.high) + 1) for step in steps]
        return [tick for tick in every if self.low <= math.log10(tick) <= self.high]


def mark(kind, x, y, colour, hollow):
    fill = 'fill="%s"' % ("none" if hollow else colour)
    if kind == "circle":
        return '<circle cx="%.1f" cy="%.1f" r="4" %s/>' % (x, y, fill)
    points = {"square": ((-4, -4), (4, -4), (4, 4), (-4, 4)), "triangle": ((0, -5), (5, 4), (-5, 4)), "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0))}[kind]
    return '<polygon points="%s" %s/>' % (" ".join("%.1f,%.1f" % (x + dx, y + dy) for dx, dy in points), fill)


def look(programs):
    """[(program, colour, dashes, mark, hollow)]"""
    out, peers = [], 0
    for program in programs:
        role = program["role"]
        if role in OURS:
            out.append((program, OURS[role], "", MARKS[0] if role == "one" else MARKS[1], False))
        elif role in LIMITS:
            out.append((program, *LIMITS[role], MARKS[0] if role == "hand" else MARKS[1], True))
        else:
            out.append((program, PEERS[peers % len(PEERS)], "", MARKS[(2 + peers) % len(MARKS)], True))
            peers += 1
    return [entry for entry in out if done(entry[0])]


def line(points, colour, dashes, kind, hollow):
    path = " ".join("%.1f,%.1f" % point for point in points)
    dash = ' stroke-dasharray="%s"' % dashes if dashes else ""
    marks = "".join(mark(kind, x, y, colour, hollow) for x, y in points)
    return ['<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>' % (path, colour, dash),
            '<g stroke="%s" stroke-width="1.5">%s</g>' % (colour, marks)]


def panel(left, title, shown, sizes, what, scale, label):
    """One diagram: its grid, its labels, and a line for each program."""
    values = [run_at(entry[0], size)[what] * scale for entry in shown for size in done(entry[0])]
    across, up = Axis([size / MB for size in sizes.values()], PANEL_WIDTH), Axis(values, PANEL_HEIGHT)
    bottom = TOP + PANEL_HEIGHT
    out = ['<text class="t" x="%d" y="%d">%s</text>' % (left, TOP - 14, title)]
    for tick in across.ticks():
        x = left + across.at(tick)
        out += ['<path d="M%.1f %dV%d" stroke="%s" stroke-opacity=".35"/>' % (x, TOP, bottom, GRID),
                '<text class="m" x="%.1f" y="%d">%s</text>' % (x, bottom + 18, bytes_label(tick))]
    for tick in up.ticks():
        y = bottom - up.at(tick)
        out += ['<path d="M%d %.1fH%d" stroke="%s" stroke-opacity=".35"/>' % (left, y, left + PANEL_WIDTH, GRID),
                '<text class="e" x="%d" y="%.1f">%s</text>' % (left - 8, y + 4, label(tick))]
    for program, *style in shown:
        points = [(left + across.at(sizes[size] / MB), bottom - up.at(run_at(program, size)[what] * scale)) for size in done(program)]
        out += line(points, *style)
    return out


def svg(name, data):
    question = questions(data)[0]
    shown = look(of_question(data, question))
    sizes = {int(size): size_bytes for size, size_bytes in data["bytes"].items()}
    legend_top = TOP + PANEL_HEIGHT + 52
    height = legend_top + LEGEND * ((len(shown) + 1) // 2)
    out = ["<!-- Time and memory of %s over the size of the trace; made by bench/growth.py. -->" % escape(name),
           '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">' % (WIDTH, height, WIDTH, height),
           "<title>%s: %s</title>" % (escape(name), escape(question)), "<style>%s</style>" % STYLE,
           '<text class="t" x="%d" y="18">%s: %s</text>' % (LEFT, escape(name), escape(question))]
    out += panel(LEFT, "time", shown, sizes, "seconds", 1, seconds_label)
    out += panel(LEFT + PANEL_WIDTH + GAP, "peak memory", shown, sizes, "peak", 1 / MB, bytes_label)
    for i, (program, colour, dashes, kind, hollow) in enumerate(shown):
        x, y = LEFT + i % 2 * (PANEL_WIDTH + GAP), legend_top + i // 2 * LEGEND
        out += line([(x, y - 4), (x + 30, y - 4)], colour, dashes, kind, hollow)
        out.append('<text x="%d" y="%d">%s</text>' % (x + 42, y, escape(program["name"])))
    return "\n".join(out + ["</svg>"]) + "\n"


def write(folder, name, data):
    os.makedirs(os.path.join(folder, "plots"), exist_ok=True)
    with open(os.path.join(folder, "plots", name + ".svg"), "w", encoding="utf-8") as file:
        file.write(svg(name, data))
