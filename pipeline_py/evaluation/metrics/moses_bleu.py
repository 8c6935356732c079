"""BLEU on Moses tokens, as in papers before sacrebleu (multi-bleu.perl on tokenized text).

Outputs and references are detokenized text; both are normalized and tokenized here by Moses' rules for the language.
"""

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.base import Signature
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.corpus.moses import build_moses_tokenizer
from pipeline_py.evaluation.metric import TokenizerName
from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.files.language_properties import get_base_language


class MosesBleu(Bleu):
    """BLEU of Moses' tokens in percent."""

    label = "BLEU (Moses tokens)"

    @staticmethod
    def build_sacrebleu_metric(
        tokenizer: TokenizerName, lowercase: bool, references: Sequence[Sequence[str]], language: str
    ) -> BLEU:
        """Return sacrebleu's BLEU on Moses tokens; `tokenizer` is not used."""
        return MosesTokenizedBLEU(language, lowercase, references)


class MosesTokenizedBLEU(BLEU):
    """sacrebleu's BLEU after Moses' normalizer and tokenizer.

    Args:
        language: ISO 639 code of the target language.
        lowercase: whether case is ignored.
        references: the sentences of each reference file.
    """

    def __init__(self, language: str, lowercase: bool, references: Sequence[Sequence[str]]) -> None:
        from sacremoses import MosesPunctNormalizer

        self.language = get_base_language(language)
        self._normalizer, self._tokenize_sentence = (
            MosesPunctNormalizer(self.language),
            build_moses_tokenizer(self.language),
        )
        super().__init__(lowercase=lowercase, tokenize="none", force=True, references=references or None)

    def _preprocess_segment(self, sent: str) -> str:
        # Multi30k's script lower-cases first, and the tokenizer keeps the periods of some abbreviations by case.
        cased = sent.lower() if self.lowercase else sent
        words = self._tokenize_sentence(self._normalizer.normalize(cased))
        preprocessed: str = super()._preprocess_segment(" ".join(words))
        return preprocessed

    def get_signature(self) -> Signature:
        """Return sacrebleu's signature with the tokenizer `moses-LANGUAGE`."""
        signature: Any = super().get_signature()
        signature.info["tok"] = f"moses-{self.language}"
        return signature
