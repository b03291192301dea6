"""The stages of a run after the index: benchmark, rankings, answers, scores. Each is found again by its digest."""
