"""Text comes in.

REQUIRED INPUTS: the files named under `corpora`, or none (the embedded corpus is generated)
OUTPUTS:         <results>/corpus/tokenized/{split}.{side}, or truecased/ where a side asks for it
"""

from pipeline_py.config.corpora import Generated, share_of_split


def generation(what: Generated, share: tuple[float, float]) -> dict:
    """Parameters of `generate`."""
    return {**what.model_dump(), "share": share, "made_by": made_by("corpus.generate")}


def generation_of_split(split: str) -> dict:
    corpora = EXPERIMENT.corpora
    text = corpora.train[0] if split == "train" else corpora.held_out[split]
    return generation(text.generate, share_of_split(corpora.splits.index(split)))


rule generate:
    output:
        source="<results>/corpus/generated/{split}.source",
        target="<results>/corpus/generated/{split}.target",
        conllu="<results>/corpus/generated/{split}.conllu",
        ptb="<results>/corpus/generated/{split}.ptb",
        ledger="<results>/corpus/generated/{split}.json",
    params:
        given=lambda wildcards: generation_of_split(wildcards.split),
    log:
        "<logs>/corpus/generate/{split}.log",
    benchmark:
        "<benchmarks>/corpus/generate/{split}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    shell:
        """
        python -m pipeline_py.corpus.generate \
            --sentences {params.given[sentences]} \
            --seed {params.given[seed]} \
            --share-from {params.given[share][0]} \
            --share-to {params.given[share][1]} \
            --min-length {params.given[min_length]} \
            --max-length {params.given[max_length]} \
            --lengths {params.given[lengths]} \
            --focus {params.given[focus]} \
            --source-output {output.source:q} \
            --target-output {output.target:q} \
            --conllu-output {output.conllu:q} \
            --ptb-output {output.ptb:q} \
            --ledger-output {output.ledger:q} \
            2> {log:q}
        """


def files_of(split: str, side: str) -> list[str]:
    """The user's files of one side of a split, in order; empty where the text is generated."""
    corpora = EXPERIMENT.corpora
    if split == "train":
        files = [text.source if side == "source" else text.target for text in corpora.train]
    else:
        files = [corpora.held_out[split].sides.get(side)]
    return [EXPERIMENT.path(file) for file in files if file is not None]


rule fetch:
    input:
        lambda wildcards: files_of(wildcards.split, wildcards.side),
    output:
        text="<results>/corpus/raw/{split}.{side}",
    params:
        given={"made_by": made_by("corpus.fetch")},
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    log:
        "<logs>/corpus/fetch/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/fetch/{split}.{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    shell:
        """
        python -m pipeline_py.corpus.fetch \
            {params.files:q} \
            --output {output.text:q} \
            2> {log:q}
        """


def raw(split: str, side: str) -> str:
    """The text of a split before cleaning: the user's, or the generated."""
    folder = "raw" if files_of(split, side) else "generated"
    return f"<results>/corpus/{folder}/{split}.{side}"


def tokenized_already(side: str) -> bool:
    return getattr(EXPERIMENT.corpora, side).tokenizer == "none"


rule clean:
    input:
        source=raw("train", "source"),
        target=raw("train", "target"),
        held_out=[raw(split, "source") for split in EXPERIMENT.corpora.held_out],
    output:
        source="<results>/corpus/clean/train.source",
        target="<results>/corpus/clean/train.target",
        ledger="<results>/corpus/clean/train.json",
    params:
        given={**EXPERIMENT.corpora.limits.model_dump(), "made_by": made_by("corpus.clean")},
        held_out=lambda wildcards, input: [f"--held-out={file}" for file in input.held_out],
        flags=[
            *(["--keep-duplicates"] if EXPERIMENT.corpora.limits.keep_duplicates else []),
            *(f"--{side}-tokenized" for side in ("source", "target") if tokenized_already(side)),
        ],
    log:
        "<logs>/corpus/clean/train.log",
    benchmark:
        "<benchmarks>/corpus/clean/train.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    shell:
        """
        python -m pipeline_py.corpus.clean \
            --mode train \
            --source-input {input.source:q} \
            --target-input {input.target:q} \
            {params.held_out:q} \
            --min-length {params.given[min_length]} \
            --max-length {params.given[max_length]} \
            --max-ratio {params.given[max_ratio]} \
            {params.flags:q} \
            --source-output {output.source:q} \
            --target-output {output.target:q} \
            --ledger-output {output.ledger:q} \
            2> {log:q}
        """


# A rule's outputs are fixed in number, so held-out sets are cleaned by one rule for each number of references.
REFERENCES = {split: [*text.sides][1:] for split, text in EXPERIMENT.corpora.held_out.items()}

for references in sorted({tuple(sides) for sides in REFERENCES.values()}):

    rule:
        name:
            f"clean_held_out_with_{len(references)}_references"
        wildcard_constraints:
            split="|".join(split for split, sides in REFERENCES.items() if tuple(sides) == references),
        input:
            source=lambda wildcards: raw(wildcards.split, "source"),
            targets=lambda wildcards: [raw(wildcards.split, side) for side in REFERENCES[wildcards.split]],
        output:
            source="<results>/corpus/clean/{split}.source",
            targets=[f"<results>/corpus/clean/{{split}}.{side}" for side in references],
            ledger="<results>/corpus/clean/{split}.json",
        params:
            given={"made_by": made_by("corpus.clean")},
            targets=lambda wildcards, input, output: [
                *(f"--target-input={file}" for file in input.targets),
                *(f"--target-output={file}" for file in output.targets),
            ],
        log:
            "<logs>/corpus/clean/{split}.log",
        benchmark:
            "<benchmarks>/corpus/clean/{split}.tsv"
        conda:
            "../../envs/text.yaml"
        threads: 1
        resources:
            mem_mb=500,
            runtime=30,
        shell:
            """
            python -m pipeline_py.corpus.clean \
                --mode held-out \
                --source-input {input.source:q} \
                --source-output {output.source:q} \
                {params.targets:q} \
                --ledger-output {output.ledger:q} \
                2> {log:q}
            """


def tokenization(side: str) -> dict:
    language = getattr(EXPERIMENT.corpora, "source" if side == "source" else "target")
    distribution = {"moses": ["sacremoses"], "jieba": ["jieba"], "stanza": ["stanza"], "none": []}[language.tokenizer]
    return {**language.model_dump(), "made_by": made_by("corpus.tokenize", *distribution)}


rule tokenize:
    input:
        text="<results>/corpus/clean/{split}.{side}",
    output:
        text="<results>/corpus/tokenized/{split}.{side}",
    params:
        given=lambda wildcards: tokenization(wildcards.side),
        flags=lambda wildcards: [
            *(["--lowercase"] if tokenization(wildcards.side)["case"] == "lower" else []),
            *(
                [f"--stanza-directory={EXPERIMENT.path(directory)}"]
                if (directory := tokenization(wildcards.side)["stanza_directory"])
                else []
            ),
        ],
    log:
        "<logs>/corpus/tokenize/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/tokenize/{split}.{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=240,
    shell:
        """
        python -m pipeline_py.corpus.tokenize \
            --input {input.text:q} \
            --language {params.given[language]} \
            --tokenizer {params.given[tokenizer]} \
            {params.flags:q} \
            --output {output.text:q} \
            2> {log:q}
        """


rule learn_truecaser:
    input:
        text="<results>/corpus/tokenized/train.{side}",
    output:
        model="<results>/corpus/truecaser.{side}",
    params:
        given={"made_by": made_by("corpus.learn_truecaser", "sacremoses")},
    log:
        "<logs>/corpus/learn_truecaser/{side}.log",
    benchmark:
        "<benchmarks>/corpus/learn_truecaser/{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=240,
    shell:
        """
        python -m pipeline_py.corpus.learn_truecaser \
            --input {input.text:q} \
            --output {output.model:q} \
            2> {log:q}
        """


rule truecase:
    input:
        text="<results>/corpus/tokenized/{split}.{side}",
        model="<results>/corpus/truecaser.{side}",
    output:
        text="<results>/corpus/truecased/{split}.{side}",
    params:
        given={"made_by": made_by("corpus.truecase", "sacremoses")},
    log:
        "<logs>/corpus/truecase/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/truecase/{split}.{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    shell:
        """
        python -m pipeline_py.corpus.truecase \
            --input {input.text:q} \
            --model {input.model:q} \
            --output {output.text:q} \
            2> {log:q}
        """


def tokens(side: str) -> str:
    """The path of the words that parsers and subword models read, with {split} open."""
    folder = "truecased" if getattr(EXPERIMENT.corpora, side).case == "true" else "tokenized"
    return f"<results>/corpus/{folder}/{{split}}.{side}"
