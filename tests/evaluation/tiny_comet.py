"""Make a tiny model in COMET's format; run by the Python that has unbabel-comet: `tiny_comet.py FOLDER`."""

import sys
from pathlib import Path

import pytorch_lightning
import torch
import yaml
from comet.models import RegressionMetric
from transformers import BertConfig, BertModel, BertTokenizerFast

folder = Path(sys.argv[1])
encoder, checkpoints = folder / "encoder", folder / "checkpoints"
for row in (encoder, checkpoints):
    row.mkdir(parents=True)
letters = "abcdefghijklmnopqrstuvwxyz0123456789."
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
(encoder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
BertTokenizerFast(str(encoder / "vocab.txt")).save_pretrained(encoder)
torch.manual_seed(1)
config = BertConfig(
    vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16
)
BertModel(config).save_pretrained(encoder)
options = {"encoder_model": "BERT", "pretrained_model": str(encoder), "hidden_sizes": [16], "layer": "mix"}
model = RegressionMetric(**options)
(folder / "hparams.yaml").write_text(
    yaml.safe_dump({**options, "class_identifier": "regression_metric"}), encoding="utf-8"
)
torch.save(
    {
        "state_dict": model.state_dict(),
        "hyper_parameters": dict(model.hparams),
        "pytorch-lightning_version": pytorch_lightning.__version__,
    },
    checkpoints / "model.ckpt",
)
