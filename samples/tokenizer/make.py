"""Train the sample tokenizer: a small byte-level BPE, so that a release needs no hub.

    python samples/tokenizer/make.py

`corpus.yaml` gives the same `tokenizer.json`, byte for byte, for one version of `tokenizers`.
"""

from pathlib import Path

import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = Path(__file__).parent
SIZE = 3000


def train(corpus: Path) -> str:
    """The text of `tokenizer.json` for a corpus of weighted texts."""
    groups = yaml.safe_load(corpus.read_text(encoding="utf-8"))
    lines = [f" {group['text'].strip()}" for group in groups for _ in range(group["weight"])]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        min_frequency=2,  # words of weight 1 stay in pieces
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer.to_str() + "\n"


if __name__ == "__main__":
    (HERE / "tokenizer.json").write_text(train(HERE / "corpus.yaml"), encoding="utf-8")
