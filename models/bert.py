"""The shipped encoder, from its weight file, and its tokens. Needs torch and numpy alone."""
import functools
import pathlib
import unicodedata

import numpy as np
import torch
import torch.nn.functional as F

from export import VOCABULARY, read_weight_file

HEADS, EPSILON, LONGEST_WORD = 12, 1e-12, 100
# Tokens that run together, with their padding.
PART = 12_288


class ShippedTexts:
    """The tokens of src/adapters/embedders/wordpiece, but for characters outside Unicode's common scripts. Each text is split once."""

    def __init__(self):
        self.numbers = {token: number for number, token in enumerate(VOCABULARY.read_text(encoding="utf-8").split("\n")) if token}
        self.split = functools.lru_cache(maxsize=200_000)(self.split_word)
        self.cache: dict[tuple[str, int], list[int]] = {}

    def ids(self, text: str, limit: int) -> list[int]:
        found = self.cache.get((text, limit))
        if found is None:
            found = self.cache[(text, limit)] = self.encode(text, limit)
        return found

    def fill(self, texts: list[str], limit: int) -> None:
        for text in texts:
            self.ids(text, limit)

    def encode(self, text: str, limit: int) -> list[int]:
        ids = [self.numbers["[CLS]"]]
        for word in "".join(map(spaced, unicodedata.normalize("NFD", text[: 12 * limit]).lower())).split():
            ids += self.split(word)
            if len(ids) >= limit:
                break
        return ids[: limit - 1] + [self.numbers["[SEP]"]]

    def split_word(self, word: str) -> tuple[int, ...]:
        """The longest token that begins the word, then the longest that continues it, and so on."""
        ids, start = [], 0
        while start < len(word) <= LONGEST_WORD:
            end, prefix = len(word), "##" if start else ""
            while end > start and prefix + word[start:end] not in self.numbers:
                end -= 1
            if end == start:
                break
            ids.append(self.numbers[prefix + word[start:end]])
            start = end
        return tuple(ids) if ids and start == len(word) else (self.numbers["[UNK]"],)


def spaced(character: str) -> str:
    kind = unicodedata.category(character)
    if character.isspace():
        return " "
    if kind == "Mn" or kind[0] == "C":
        return ""
    alone = kind[0] == "P" or (character.isascii() and not character.isalnum()) or "\u4e00" <= character <= "\u9fff"
    return f" {character} " if alone else character


class ShippedEncoder:
    def __init__(self, path: pathlib.Path, device: str = "cpu"):
        read = {name: torch.from_numpy(np.array(value, np.float32)).to(device) for name, value in read_weight_file(path).items()}
        self.device = device
        self.tensors = {name: value * read[f"{name}.scale"][:, None] if f"{name}.scale" in read else value for name, value in read.items()}
        self.layers = 1 + max(int(name.split(".")[1]) for name in read if name.startswith("layers."))
        self.hidden = self.tensors["embeddings.tokens"].shape[1]

    def layers_over(self, states: torch.Tensor, inside: torch.Tensor, tensors: dict[str, torch.Tensor], layers: int, dropout: float = 0.0) -> torch.Tensor:
        """Runs layers of these tensors. Tokens outside of the mask are not read."""
        for number in range(layers):
            states = layer(states, inside, tensors, f"layers.{number}", dropout)
        return states

    def states(self, rows: list[list[int]], layers: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The states of padded rows after a number of layers, and which of them are tokens."""
        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), np.int64)
        lengths = np.array([len(row) for row in rows])
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
        inside = torch.from_numpy(np.arange(width)[None, :] < lengths[:, None]).to(self.device)
        with torch.autocast(self.device, dtype=torch.bfloat16):
            embedded = self.tensors["embeddings.tokens"][torch.from_numpy(ids).to(self.device)] + self.tensors["embeddings.positions"][:width]
            states = norm(embedded, self.tensors, "embeddings.norm")
            return self.layers_over(states, inside, self.tensors, layers), inside

    @torch.no_grad()
    def vectors(self, rows: list[list[int]]) -> torch.Tensor:
        """One unit vector a row of tokens, in order. Rows of like length run together."""
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        vectors = torch.zeros((len(rows), self.hidden), device=self.device)
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and len(rows[order[end]]) * (end + 1 - start) <= PART * (1 if self.device == "cpu" else 16):
                end += 1
            states, inside = self.states([rows[index] for index in order[start:end]], self.layers)
            vectors[order[start:end]] = F.normalize((states.float() * inside[:, :, None]).sum(1), dim=1)
            start = end
        return vectors


def linear(states: torch.Tensor, tensors: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    return F.linear(states, tensors[name], tensors[f"{name}.bias"])


def norm(states: torch.Tensor, tensors: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    return F.layer_norm(states.float(), states.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"], EPSILON)


def layer(states: torch.Tensor, inside: torch.Tensor, tensors: dict[str, torch.Tensor], name: str, dropout: float) -> torch.Tensor:
    count, length, hidden = states.shape
    mixed = linear(states, tensors, f"{name}.attention.qkv").view(count, length, 3, HEADS, hidden // HEADS)
    # The query is already divided by the root of the head's size.
    query, key, value = mixed.permute(2, 0, 3, 1, 4)
    shares = torch.softmax((query @ key.transpose(2, 3)).float().masked_fill(~inside[:, None, None, :], -1e4), 3).to(value.dtype)
    context = (F.dropout(shares, dropout, dropout > 0) @ value).transpose(1, 2).reshape(count, length, hidden)
    states = norm(F.dropout(linear(context, tensors, f"{name}.attention.output"), dropout, dropout > 0) + states, tensors, f"{name}.attention.norm")
    wide = F.gelu(linear(states, tensors, f"{name}.feedforward.up"))
    return norm(F.dropout(linear(wide, tensors, f"{name}.feedforward.down"), dropout, dropout > 0) + states, tensors, f"{name}.feedforward.norm")
