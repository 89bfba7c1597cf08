"""Checks requests that writers wrote in short lines, and writes them as JSON lines for training.

    python3 models/written.py --servers servers.json --written a.txt b.txt … --out models/data/requests.jsonl [--picked picks.tsv]

servers.json maps the name of a server in the text files to {"namespace", "tools": [ids]}. A text file has blocks: `@NAME` starts a server, and
each line below it is one request, `STYLE TOOLS | text`; tools are numbers in the server's list.

    s 5/6 | text             only tool 5 serves it, its sibling 6 does not; the next line is the contrast, with 6/5
    v, g, c, t 5 | text      concrete values, a goal, chat, terse
    f 5 | user: … || assistant: … || text    a follow-up with the turns before it
    m 1,5,6 | text           several steps, in this order
    i 5 | text               impossible on this server; 5 is the nearest tool

Refused lines are counted by reason. --picked has the choices of second writers who saw the server's tools and the request only
(`server TAB text TAB tool number, or - for none`): agreement is printed by style, and requests on which the two disagree are dropped.
"""
import argparse
import collections
import json
import pathlib
import re

STYLES = {"s": "sibling", "v": "value", "g": "goal", "c": "chat", "t": "terse", "f": "follow-up", "m": "multi", "i": "near-miss"}
LINE = re.compile(r"^([a-z]) ([\d,/]+) \| (.+)$")
LONGEST = 600


def words(text: str) -> list[str]:
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.findall(r"[a-z0-9]+", text.lower())


def copies_name(text: str, tool: str) -> bool:
    """Whether a text has the words of a tool's name, two at least, one after the other, or the name as it is written."""
    name = tool.rsplit("/", 1)[-1]
    parts = words(name)
    if len(parts) < 2:
        return "_" in name and name in text
    return f" {' '.join(parts)} " in f" {' '.join(words(text))} " and len(parts) > 2 or name.lower() in text.lower()


class Reader:
    def __init__(self, servers: dict):
        self.servers = servers
        self.rows: list[dict] = []
        self.refused: collections.Counter = collections.Counter()
        self.known: set[str] = set()
        self.count: collections.Counter = collections.Counter()

    def read(self, path: pathlib.Path) -> None:
        server = None
        for line in path.read_text().splitlines():
            if line.startswith("@"):
                server = line[1:].split()[0]
            elif line.strip():
                problem = self.take(server, line.strip(), path.stem)
                if problem:
                    self.refused[problem] += 1

    def take(self, server: str | None, line: str, writer: str) -> str | None:
        match = LINE.match(line)
        if not match or match[1] not in STYLES:
            return "not a line of the form STYLE TOOLS | text"
        if server not in self.servers:
            return "unknown server"
        style, numbers, text = match[1], [int(n) for n in re.split("[,/]", match[2])], match[3]
        namespace, tools = self.servers[server]["namespace"], self.servers[server]["tools"]
        if any(number >= len(tools) for number in numbers):
            return "unknown tool"
        if (style == "m") != ("," in match[2]) or (style == "s") != ("/" in match[2]) or len(numbers) > 4:
            return "wrong number of tools for its style"
        ids = [tools[number] for number in numbers]
        *history, query = [part.strip() for part in text.split("||")]
        if (style == "f") != bool(history) or any(not re.match("(user|assistant): ", turn) for turn in history):
            return "turns only before a follow-up, each by user or assistant"
        if not 2 <= len(query) <= LONGEST:
            return "too short or too long"
        if style != "i" and any(copies_name(query, tool) for tool in ids):
            return "copies the name of its tool"
        key = " ".join(words(" ".join([*history, query])))
        if key in self.known:
            return "a duplicate"
        self.known.add(key)
        self.count[server] += 1
        row = {"id": f"rq-{server}-{self.count[server]}", "server": server, "text": text, "query": query}
        if history:
            row["history"] = history
        if style == "i":
            row |= {"relevant": [], "scope": [namespace], "near": ids}
        elif style == "s":
            row |= {"relevant": ids[:1], "sibling": ids[1]}
        else:
            row |= {"relevant": ids}
        self.rows.append(row | {"style": STYLES[style], "writer": writer.removeprefix("out-")})
        return None


def agreement(rows: list[dict], picked: pathlib.Path, servers: dict) -> set[str]:
    """Prints how often the second writer chose the same tool, by style. Returns the ids to drop."""
    rows_by_text = {(row["server"], row["text"]): row for row in rows}
    counts: dict[str, list[int]] = {}
    drop = set()
    for line in picked.read_text().splitlines():
        server, text, choice = line.split("\t")
        row = rows_by_text.get((server, text))
        if row is None:
            continue
        chosen = None if choice == "-" else servers[row["server"]]["tools"][int(choice)]
        same = chosen in row["relevant"] if row["relevant"] else chosen is None
        for style in (row["style"], "all"):
            count = counts.setdefault(style, [0, 0])
            count[0] += same
            count[1] += 1
        if not same:
            drop.add(row["id"])
    for style, (same, asked) in sorted(counts.items()):
        print(f"second writers agree, {style}: {same} of {asked}, {100 * same / asked:.1f} %")
    return drop


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--servers", required=True, type=pathlib.Path)
    arguments.add_argument("--written", required=True, nargs="+", type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--picked", type=pathlib.Path)
    options = arguments.parse_args()
    servers = json.loads(options.servers.read_text())
    reader = Reader(servers)
    for path in options.written:
        reader.read(path)
    drop = agreement(reader.rows, options.picked, servers) if options.picked else set()
    rows = [row for row in reader.rows if row["id"] not in drop]
    with options.out.open("w") as file:
        for row in rows:
            file.write(json.dumps({key: value for key, value in row.items() if key not in ("server", "text")}, ensure_ascii=False) + "\n")
    for style, count in collections.Counter(row["style"] for row in rows).most_common():
        print(f"{style}: {count}")
    print(f"{len(rows)} requests over {len({row['server'] for row in rows})} servers; {len(drop)} dropped after disagreement; {options.out.stat().st_size / 1e6:.1f} MB")
    for problem, count in reader.refused.most_common():
        print(f"refused, {problem}: {count}")


if __name__ == "__main__":
    main()
