"""Ranking figures as `toolarsenal eval` computes them."""
import numpy as np


def minmax(scores: np.ndarray) -> np.ndarray:
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return (scores - low) / np.maximum(high - low, 1e-9)


def figures(scores: np.ndarray, ids: list[str], queries: list[dict]) -> dict[str, float]:
    """NDCG@10, R@1 and R@5 in percent; `also_ok` neither counts nor costs."""
    position = {tool: index for index, tool in enumerate(ids)}
    ndcg, first, five = [], [], []
    for row, query in enumerate(queries):
        relevant = {position[tool] for tool in query["relevant"] if tool in position}
        if not relevant:
            continue
        ranked = scores[row].copy()
        for tool in query.get("also_ok", []):
            if tool in position and position[tool] not in relevant:
                ranked[position[tool]] = -np.inf
        top = np.argpartition(-ranked, min(10, len(ranked) - 1))[:11]
        top = top[np.argsort(-ranked[top], kind="stable")][:10]
        hits = [int(index) in relevant for index in top]
        ideal = sum(1 / np.log2(rank + 2) for rank in range(min(10, len(relevant))))
        ndcg.append(sum(hit / np.log2(rank + 2) for rank, hit in enumerate(hits)) / ideal)
        first.append(sum(hits[:1]) / len(relevant))
        five.append(sum(hits[:5]) / len(relevant))
    return {"ndcg": 100 * float(np.mean(ndcg)), "r1": 100 * float(np.mean(first)), "r5": 100 * float(np.mean(five))}
