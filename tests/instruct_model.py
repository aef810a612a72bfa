"""A tiny instruct checkpoint, written to a folder: Qwen2's architecture, a byte-level BPE tokenizer that is trained
here, and a ChatML template. The library that loads it is the real one.

The weights are made so that every token has one successor: after the assistant's mark it writes the same reply always,
whatever it is asked.
"""

from __future__ import annotations

import atexit
import re
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

ENDS, BEGINS, PADS = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
REPLY = "退款 5 天到账。[1]"
HIDDEN, LAYERS, CONTEXT = 64, 2, 8192
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_instruct(
    folder: Path, reply: str, *, known: str | None = None, endless: bool = False, context: int = CONTEXT
) -> Path:
    """A model that writes `reply`, in which no token stands twice; endless: again and again.

    known: characters that are tokens, None for all of the reply; others are as many tokens as they have bytes.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    tokenizer = write_tokenizer(folder, reply if known is None else known)
    tokens = tokenizer.encode(reply, add_special_tokens=False)
    start, end = tokenizer.encode("\n")[-1], tokenizer.convert_tokens_to_ids(ENDS)
    assert len({start, *tokens}) == len(tokens) + 1, "a token with two successors"
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=2,
        intermediate_size=HIDDEN,
        max_position_embeddings=context,
        tie_word_embeddings=False,
        eos_token_id=end,
        pad_token_id=tokenizer.convert_tokens_to_ids(PADS),
    )
    model = Qwen2ForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                weight.zero_()  # layers add nothing: what comes next depends on the last token alone
        embeddings = torch.nn.functional.normalize(torch.randn(len(tokenizer), HIDDEN), dim=1)
        model.model.embed_tokens.weight.copy_(embeddings)
        model.lm_head.weight.zero_()
        for token, following in pairwise([start, *tokens, tokens[0] if endless else end]):
            model.lm_head.weight[following] += embeddings[token]
    model.save_pretrained(folder)
    return folder


@cache
def instruct_folder() -> Path:
    """One that writes `REPLY`, for all tests of a process."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_instruct(folder / "tiny-instruct", REPLY)


def write_tokenizer(folder: Path, text: str) -> Any:
    """Trained on `text`: its characters, with a space before them, are tokens, those of other texts bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        min_frequency=1,
        special_tokens=[PADS, BEGINS, ENDS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(re.findall(r" ?\S", text), trainer)
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=ENDS, pad_token=PADS)
    fast.chat_template = TEMPLATE
    folder.mkdir(parents=True, exist_ok=True)
    fast.save_pretrained(folder)
    return fast
