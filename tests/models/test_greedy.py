"""Replies that grow together, against the library's own `generate` on small networks with random weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.models.greedy import LONGEST_PIECE, GreedyWriter, Request, can_write, pieces

END = 3


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def network(request):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

    kinds = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}
    config, model = kinds[request.param]
    torch.manual_seed(1)
    settings = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512}
    return model(config(**settings, **heads, initializer_range=0.3)).eval()


def prompts():
    shared = [5, 6, 7, END, 8, 9, 10, 11, END]
    return [[*shared, 12 + n, 13, *range(14, 14 + n)] for n in range(9)] + [[20], [21, END, 22], [*shared, 12, 13]]


def written(network, batch_size, kept_tokens=4096, penalty=1.0, order=None):
    writer = GreedyWriter(
        network, ends=frozenset({END}), limit=12, penalty=penalty, batch_size=batch_size, kept_tokens=kept_tokens
    )
    given = prompts()
    chosen = list(range(len(given))) if order is None else order
    found = dict(writer.write([Request(given[n], None) for n in chosen]))
    assert sorted(found) == list(range(len(chosen)))
    return {chosen[number]: tokens for number, tokens in found.items()}


def generated(network, penalty):
    """By the library, prompt by prompt, in full precision."""
    import torch

    replies = {}
    for number, prompt in enumerate(prompts()):
        network.set_attn_implementation("eager")
        out = network.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), do_sample=False,
            max_new_tokens=12, eos_token_id=END, pad_token_id=0, repetition_penalty=penalty,
        )[0, len(prompt) :].tolist()  # fmt: skip
        replies[number] = out[: out.index(END)] if END in out else out
    return replies


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_replies_are_those_of_generate(network, penalty):
    expected = generated(network, penalty)
    assert written(network, 4, penalty=penalty) == expected
    assert len({tuple(reply) for reply in expected.values()}) > 3  # not all the same


def test_neither_batches_nor_order_nor_what_is_kept_changes_a_reply(network):
    alone = written(network, 1)
    assert written(network, 3) == alone
    assert written(network, 50) == alone
    assert written(network, 3, order=list(reversed(range(12)))) == alone
    assert written(network, 3, kept_tokens=0) == alone
    assert written(network, 3, kept_tokens=6) == alone


def test_networks_without_full_attention_or_rotations_are_left_to_generate(network):
    from transformers import GPT2Config, GPT2LMHeadModel, MistralConfig, MistralForCausalLM

    assert can_write(network)
    assert not can_write(GPT2LMHeadModel(GPT2Config(n_embd=8, n_head=2, n_layer=1, vocab_size=20)))
    sizes = {
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 20,
    }
    assert not can_write(MistralForCausalLM(MistralConfig(**sizes, num_key_value_heads=1, sliding_window=16)))


@given(st.lists(st.sampled_from([1, 2, END]), min_size=1, max_size=40), st.integers(0, 3))
def test_pieces_are_the_prompt(prompt, long):
    prompt = prompt + [1] * (long * LONGEST_PIECE // 2)
    cut = list(pieces(prompt, frozenset({END})))
    assert [place for start, end in cut for place in range(start, end)] == list(range(len(prompt)))
    assert all(0 < end - start <= LONGEST_PIECE for start, end in cut)
    assert all(prompt[end - 1] == END for start, end in cut[:-1] if end - start < LONGEST_PIECE)
