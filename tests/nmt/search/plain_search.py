"""A plain beam search over Python lists, without batches and without early ends."""

import math

import torch

from pipeline_py.subword.vocabulary import EOS


def plain_search(log_probabilities, beam, limit, alpha, n_best, term=lambda length: 0.0):
    """Nematus' rules, and log p of a length, `term`; `log_probabilities(prefix)` is a list over tokens.

    Returns (score, sum of log-probabilities, predictions).
    """
    live = [(0.0, [])]
    finished = []
    for step in range(1, limit + 1):
        candidates = []
        for rank, (total, prefix) in enumerate(live):
            for token, value in enumerate(log_probabilities(prefix)):
                if value > -math.inf:
                    ranked = total + value
                    if token == EOS:
                        ranked += term(step - 1)
                    elif step == limit:
                        ranked += term(step)
                    candidates.append((-ranked, rank, token, prefix, total + value))
        candidates.sort(key=lambda candidate: candidate[:3])
        live = []
        for negative, _, token, prefix, total in candidates[: beam - len(finished)]:
            if token == EOS or step == limit:
                finished.append((-negative, total, [*prefix, token]))
            else:
                live.append((total, [*prefix, token]))
        # A hypothesis that finishes narrows the beam only from the next step on.
        if not live:
            break
    scored = [(ranked / len(tokens) ** alpha, total, tokens) for ranked, total, tokens in finished]
    return sorted(scored, key=lambda entry: -entry[0])[:n_best]


def stepwise(model, batch):
    """Log-probabilities after a prefix of the one sentence in `batch`."""
    memory = model.encode(batch)

    def log_probabilities(prefix):
        state, previous = model.decoder.build_initial_state(memory), None
        for token in [*prefix, None]:
            logits, state, _ = model.decoder.step(previous, state, memory)
            previous = torch.tensor([token or 0])
        return logits[0].log_softmax(0).tolist()

    return log_probabilities
