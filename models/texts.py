"""The texts a tool and a request are embedded by. src/catalog/tool-text.ts and src/retrieve/ say the same in TypeScript."""
import re
import unicodedata

ASCII_WORDS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
UNICODE_WORDS = re.compile(r"[^\W_]+")
NAMESPACE_NOISE = {"mcp", "server", "default"}


def split_words(text: str) -> list[str]:
    """Lower-case words, split at separators, camelCase humps and digits."""
    if text.isascii():
        return [word.lower() for word in ASCII_WORDS.findall(text)]
    return [word.lower() for word in UNICODE_WORDS.findall(unicodedata.normalize("NFKC", text))]


def namespace_text(namespace: str | None) -> str:
    """A namespace as plain words, without its owner and the words every server has in its name."""
    bare = re.sub(r"^@[^/]+/", "", namespace or "")
    return " ".join(word for word in split_words(bare) if word not in NAMESPACE_NOISE)


def subject(tool: dict) -> str:
    return " ".join(part for part in (namespace_text(tool.get("namespace")), " ".join(split_words(tool["name"]))) if part)


def parameters_of(tool: dict) -> list[tuple[str, str]]:
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return []
    return [
        (name, prop.get("description") if isinstance(prop, dict) and isinstance(prop.get("description"), str) else "")
        for name, prop in properties.items()
    ]


def short_text(tool: dict) -> str:
    """Text A: `namespace name: description`."""
    return f"{subject(tool)}: {tool.get('description') or ''}".strip()


def long_text(tool: dict) -> str:
    """Text C: text A and the parameters."""
    parameters = ", ".join(
        " ".join(split_words(name)) + (f" ({description})" if description else "") for name, description in parameters_of(tool)
    )
    return f"{short_text(tool)} parameters: {parameters}" if parameters else short_text(tool)


def named_text(tool: dict) -> str:
    """Text B: text A and the names of the parameters. For training only."""
    names = ", ".join(" ".join(split_words(name)) for name, _ in parameters_of(tool))
    return f"{short_text(tool)} parameters: {names}" if names else short_text(tool)


def request_text(query: str, history: list[str] | None = None) -> str:
    """A request with the turns before it: the request first, then the turns from the latest back, so that a cut loses the oldest."""
    if not history:
        return query
    return query + "\nearlier: " + "\n".join(reversed(history))
