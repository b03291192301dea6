"""Write ranx_golden.json: random runs with the values that ranx gives them.

Kept in a file because ranx compiles its kernels in every process, which takes a minute. To write it again:
`python -m tests.metrics.make_ranx_golden`.
"""

import json
import random
from pathlib import Path

GOLDEN = Path(__file__).with_name("ranx_golden.json")
NAMES = {
    "recall@5": "recall@5", "precision@5": "precision@5", "hit@3": "hit_rate@3", "ndcg@10": "ndcg@10",
    "mrr": "mrr", "mrr@4": "mrr@4",
}  # fmt: skip


def main() -> None:
    """Score 60 random rankings of up to 20 of 30 passages, each with 1 to 6 gold passages."""
    import ranx  # type: ignore[import-untyped]

    rng = random.Random(7)
    ids = [f"d{i:02}" for i in range(30)]
    gold = {f"q{q:02}": sorted(rng.sample(ids, rng.randint(1, 6))) for q in range(60)}
    ranked = {question: rng.sample(ids, rng.randint(1, 20)) for question in gold}
    run = ranx.Run({q: {d: 1.0 / (1 + place) for place, d in enumerate(row)} for q, row in ranked.items()})
    qrels = ranx.Qrels({q: dict.fromkeys(row, 1) for q, row in gold.items()})
    scores = {ours: ranx.evaluate(qrels, run, name, return_mean=False) for ours, name in NAMES.items()}
    values = {ours: row.tolist() for ours, row in scores.items()}
    GOLDEN.write_text(json.dumps({"gold": gold, "ranked": ranked, "values": values}) + "\n")


if __name__ == "__main__":
    main()
