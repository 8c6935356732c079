"""What the rules of `evaluation` are given: references and how BLEU is counted."""


def references_of(wildcards) -> list[str]:
    return [f"<results>/corpus/clean/{wildcards.split}.{side}" for side in REFERENCES[wildcards.split]]


def bleu_options() -> list[str]:
    evaluation = EXPERIMENT.evaluation
    return [
        f"--tokenizer={evaluation.tokenizer}",
        "--lowercase" if evaluation.lowercase else "--cased",
    ]
