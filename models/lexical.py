"""BM25F as the product ranks by words, in numpy, for fusion figures while training."""
import math
from collections import Counter, defaultdict

import numpy as np

from texts import namespace_text, parameters_of, split_words

FIELDS = {"name": (2.0, 0.375), "description": (1.0, 0.75), "parameter_names": (1.0, 0.375), "parameter_texts": (0.2, 0.75), "namespace": (2.0, 0.375)}
K1 = 1.6


def fields_of(tool: dict) -> dict[str, list[str]]:
    parameters = parameters_of(tool)
    return {
        "name": split_words(tool["name"]),
        "description": split_words(tool.get("description") or ""),
        "parameter_names": [word for name, _ in parameters for word in split_words(name)],
        "parameter_texts": [word for _, text in parameters for word in split_words(text)],
        "namespace": split_words(namespace_text(tool.get("namespace"))),
    }


def bm25f(tools: list[dict], queries: list[str]) -> np.ndarray:
    """Scores [queries, tools]."""
    documents = [fields_of(tool) for tool in tools]
    average = {field: max(1e-9, np.mean([len(d[field]) for d in documents])) for field in FIELDS}
    postings: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for index, document in enumerate(documents):
        for field, (weight, b) in FIELDS.items():
            length = len(document[field])
            for word, count in Counter(document[field]).items():
                postings[word][index] += weight * count / (1 - b + b * length / average[field])
    scores = np.zeros((len(queries), len(tools)), dtype=np.float32)
    for row, query in enumerate(queries):
        for word in set(split_words(query)):
            found = postings.get(word)
            if not found:
                continue
            idf = math.log(1 + (len(tools) - len(found) + 0.5) / (len(found) + 0.5))
            for index, weight in found.items():
                scores[row, index] += idf * weight / (K1 + weight)
    return scores
