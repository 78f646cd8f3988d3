"""Tables of what growth.py measured: one of each format, all with the same columns; the summary; the memory of each verb.

What is measured of a format: {"about", "machine", "repeat", "sizes": [MB], "bytes": {size: bytes},
"programs": [{"question", "name", "role", "runs": {size: {"seconds", "cpu", "peak", "status"}}}], "verbs": [{"verb", "peaks": {size: bytes}}]}. Of what rt.py measures, only its row of the summary: {"row": [cells]}.
Sizes are text in keys, as JSON has it. Roles: one and two (this, with as many threads), peer, hand, bytes."""
from bench_tools import MB, megabytes_text, seconds_text

ORDER = ("xray-fdr", "xray-basic", "xray-profile", "tlp", "ctf-1.8", "ctf-2", "tracelog", "xtrace", "xtrace-zstd", "recording", "rt")
MOST_SECONDS, MOST_MB = 60, 8000        # a program that takes more is stopped, and not run on larger files
LARGE, TURNS_OF_LARGE = 300, 3          # MB; files of that size and more are measured less often
WHY = {"time": "too slow", "memory": "> %d GB" % (MOST_MB // 1000)}


def done(program):
    """Sizes at which it finished."""
    return sorted((int(size) for size, run in program["runs"].items() if run["status"] == "0"))


def run_at(program, size):
    return program["runs"].get(str(size))


def seconds_at(program, size):
    return run_at(program, size)["seconds"]


def of_question(data, question):
    return [program for program in data["programs"] if program["question"] == question]


def of_role(programs, role):
    return [program for program in programs if program["role"] == role]


def questions(data):
    return list(dict.fromkeys(program["question"] for program in data["programs"]))


def size_text(data, size):
    """The size that was wanted, or the file's if it differs."""
    real = data["bytes"][str(size)] / MB
    return "%.0f MB" % (size if abs(real / size - 1) < 0.05 else real)


def cell(program, size):
    run = run_at(program, size)
    if run is None:
        return "-"
    if run["status"] == "0":
        return seconds_text(run["seconds"])
    if run["status"] == "time":
        return "> " + seconds_text(run["seconds"])
    return WHY.get(run["status"], "FAILS, status " + run["status"])


def ratio_text(ratio):
    return "%.2f" % ratio if ratio < 10 else "%.1f" % ratio if ratio < 100 else "%.0f" % ratio


def ratio(program, other):
    """The ratio of its time to another one's, at the largest size that both can do."""
    both = sorted(set(done(program)) & set(done(other))) if other else []
    return seconds_at(program, both[-1]) / seconds_at(other, both[-1]) if both else None


def ratio_cell(program, other):
    found = ratio(program, other) if other is not program else 1
    return "" if found is None else ratio_text(found)


def grows(program, what):
    sizes = done(program)
    return run_at(program, sizes[-1])[what] / run_at(program, sizes[0])[what] if len(sizes) > 1 else None


def growth_cells(data, program):
    sizes = done(program)
    if len(sizes) < 2:
        return ["", ""]
    content = data["bytes"][str(sizes[-1])] / data["bytes"][str(sizes[0])]
    return ["x%s for x%s bytes" % (ratio_text(grows(program, "seconds")), ratio_text(content)), "x%s" % ratio_text(grows(program, "peak"))]


def format_lines(name, data):
    """The part of one format."""
    sizes = data["sizes"]
    head = ["question", "program"] + [size_text(data, size) for size in sizes] + [
        "times by hand", "times this, 1 thread", "memory, smallest", "memory, largest", "time grows", "memory grows"]
    machine = "Machine: %s. Best of %d runs in turns (of %d from %d MB on, of 2 where seconds pass), files in the page cache." % (
        data["machine"], data["repeat"], min(data["repeat"], TURNS_OF_LARGE), LARGE)
    lines = ["### %s: growth" % name, "", data["about"], "", machine, "",
             "| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)]
    for question in questions(data):
        programs = of_question(data, question)
        hand, one = (next(iter(of_role(programs, role)), None) for role in ("hand", "one"))
        for program in programs:
            ran = done(program)
            memory = [megabytes_text(run_at(program, size)["peak"]) for size in (ran[0], ran[-1])] if ran else ["", ""]
            cells = [question if program is programs[0] else "", program["name"]] + [cell(program, size) for size in sizes]
            cells += [ratio_cell(program, hand), ratio_cell(program, one)] + memory + growth_cells(data, program)
            lines.append("| " + " | ".join(cells) + " |")
    stopped = any(run["status"] in WHY for program in data["programs"] for run in program["runs"].values())
    if stopped:
        lines += ["", "Another program that takes more than %d s or %d GB is stopped, and not run on larger files (-)." % (MOST_SECONDS, MOST_MB // 1000)]
    return lines + ["", "![%s: time and memory over size](plots/%s.svg)" % (questions(data)[0], name)]


def with_size(program, size, text):
    return text if size == done(program)[-1] else "%s at %d MB" % (text, done(program)[-1])


def summary_row(name, data):
    """The first question of a format, at the largest size that one thread of ours did."""
    if "row" in data:
        return data["row"]
    programs = of_question(data, questions(data)[0])
    one, two, hand, every = (next(iter(of_role(programs, role)), None) for role in ("one", "two", "hand", "bytes"))
    if one is None or not done(one):
        return None
    size = done(one)[-1]
    peers = [peer for peer in of_role(programs, "peer") if ratio(peer, one)]
    peer = min(peers, key=lambda p: ratio(p, one)) if peers else None

    def time(program):
        return with_size(program, size, seconds_text(seconds_at(program, done(program)[-1]))) if program and done(program) else ""

    def memory(program):
        return megabytes_text(run_at(program, done(program)[-1])["peak"]) if program and done(program) else ""
    times_hand = ratio(one, hand)
    return [name, questions(data)[0], size_text(data, size), time(one), time(two),
            "%s: %s" % (peer["name"], time(peer)) if peer else "none", time(hand), time(every), ratio_text(times_hand) if times_hand else "",
            ratio_text(ratio(peer, one)) if peer else "", memory(one), memory(peer), memory(hand),
            "x" + ratio_text(grows(one, "peak")) if grows(one, "peak") else ""]


def summary_lines(everything):
    head = ["format", "question", "size", "this, 1 thread", "2 threads", "best peer", "by hand", "every byte", "this / by hand", "peer / this",
            "memory: this", "peer", "by hand", "memory of this grows"]
    rows = [summary_row(name, everything[name]) for name in ORDER if everything.get(name, {}).get("programs") or "row" in everything.get(name, {})]
    return ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)] + ["| " + " | ".join(row) + " |" for row in rows if row] + [
        "", "Ratios are of one thread, at the largest size that both can do. \"2 threads\" of recording is what a call costs while another thread records, too."]


def memory_lines(everything):
    """The peak of each verb, with a small and a large trace."""
    sizes = sorted({int(size) for data in everything.values() for verb in data.get("verbs", ()) for size in verb["peaks"]})
    lines = ["Peak memory of whole commands, with the default number of threads.", "",
             "| verb | format | " + " | ".join("%d MB" % size for size in sizes) + " | grows |", "|---|---|" + "---:|" * (len(sizes) + 1)]
    rows = [(verb["verb"], name, verb["peaks"]) for name in ORDER for verb in everything.get(name, {}).get("verbs", ())]
    order = list(dict.fromkeys(verb.split()[0] for verb, _, _ in rows))
    for verb, name, peaks in sorted(rows, key=lambda row: order.index(row[0].split()[0])):
        cells = [megabytes_text(peaks[str(size)]) if str(size) in peaks else "" for size in sizes]
        found = [peaks[size] for size in sorted(peaks, key=int)]
        lines.append("| %s | %s | %s | %s |" % (verb, name, " | ".join(cells), "x" + ratio_text(found[-1] / found[0]) if len(found) > 1 else ""))
    return lines
