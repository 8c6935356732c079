"""Units of the models.

REQUIRED INPUTS: tokens(side); <results>/syntax/{parser}/{split}.distances.arrow where a system reads it
                 .labels and .units.arrow likewise
OUTPUTS:         <results>/subword/packed/{split}.{side}.arrow, <results>/subword/vocabulary.{side},
                 <results>/subword/{parser}/{split}.distances.arrow,
                 <results>/subword/packed/{parser}/{split}.labels.arrow and .units.arrow, and their vocabularies
"""


rule learn_bpe:
    input:
        text=lambda wildcards: [
            tokens(side).format(split="train")
            for side in (("source", "target") if wildcards.side == "joint" else (wildcards.side,))
        ],
    output:
        codes="<results>/subword/codes.{side}",
    log:
        "<logs>/subword/learn_bpe/{side}.log",
    benchmark:
        "<benchmarks>/subword/learn_bpe/{side}.tsv"
    wildcard_constraints:
        side="source|target|joint",
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        given={
            **EXPERIMENT.subword.model_dump(include={"merges", "min_frequency", "joint"}),
            "made_by": made_by("subword.learn_bpe", "subword-nmt"),
        },
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.subword.learn_bpe \
            {params.files:q} \
            --merges {params.given[merges]} \
            --min-frequency {params.given[min_frequency]} \
            --output {output.codes:q} \
            2>{log:q}
        """


rule apply_bpe:
    input:
        text=lambda wildcards: tokens(wildcards.side),
        codes=lambda wildcards: codes(wildcards.side),
    output:
        pieces="<results>/subword/pieces/{split}.{side}",
    log:
        "<logs>/subword/apply_bpe/{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/apply_bpe/{split}.{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        given={"made_by": made_by("subword.apply_bpe", "subword-nmt")},
    shell:
        """
        python -m pipeline_py.subword.apply_bpe \
            --input {input.text:q} \
            --codes {input.codes:q} \
            --output {output.pieces:q} \
            2>{log:q}
        """


rule inherit:
    input:
        syntax="<results>/syntax/{parser}/{split}.{syntax}",
        pieces=pieces("source"),
    output:
        syntax="<results>/subword/{parser}/{split}.{syntax}",
    log:
        "<logs>/subword/inherit/{parser}.{split}.{syntax}.log",
    benchmark:
        "<benchmarks>/subword/inherit/{parser}.{split}.{syntax}.tsv"
    wildcard_constraints:
        syntax="|".join(map(re.escape, SYNTAX_FILES.values())),
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        given=lambda wildcards: {
            "kind": wildcards.syntax.removesuffix(".arrow"),
            "made_by": made_by("subword.inherit", "pyarrow"),
        },
    shell:
        """
        python -m pipeline_py.subword.inherit \
            --kind {params.given[kind]} \
            --input {input.syntax:q} \
            --pieces {input.pieces:q} \
            --output {output.syntax:q} \
            2>{log:q}
        """


rule vocabulary:
    input:
        text=lambda wildcards: pieces(wildcards.side).format(split="train"),
    output:
        vocabulary="<results>/subword/vocabulary.{side}",
    log:
        "<logs>/subword/vocabulary/{side}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary/{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        given=lambda wildcards: {
            **getattr(EXPERIMENT.subword, f"{wildcards.side}_vocabulary").model_dump(),
            "made_by": made_by("subword.vocabulary"),
        },
    shell:
        """
        python -m pipeline_py.subword.vocabulary \
            --input {input.text:q} \
            --max-size {params.given[max_size]} \
            --min-count {params.given[min_count]} \
            --output {output.vocabulary:q} \
            2>{log:q}
        """


use rule vocabulary as vocabulary_of_units with:
    input:
        text=tokens("source").format(split="train"),
    output:
        vocabulary="<results>/subword/vocabulary.units",
    log:
        "<logs>/subword/vocabulary_of_units/units.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_units/units.tsv"
    params:
        given={**EXPERIMENT.subword.unit_vocabulary.model_dump(), "made_by": made_by("subword.vocabulary")},


use rule vocabulary as vocabulary_of_labels with:
    input:
        text="<results>/syntax/{parser}/train.labels",
    output:
        vocabulary="<results>/subword/vocabulary.labels.{parser}",
    log:
        "<logs>/subword/vocabulary_of_labels/{parser}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_labels/{parser}.tsv"
    params:
        given={"max_size": 0, "min_count": 1, "made_by": made_by("subword.vocabulary")},


rule pack:
    input:
        text=lambda wildcards: pieces(wildcards.side),
        vocabulary="<results>/subword/vocabulary.{side}",
    output:
        rows="<results>/subword/packed/{split}.{side}.arrow",
        ledger="<results>/subword/packed/{split}.{side}.json",
    log:
        "<logs>/subword/pack/{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/pack/{split}.{side}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        given={"made_by": made_by("subword.pack", "pyarrow")},
    shell:
        """
        python -m pipeline_py.subword.pack \
            --input {input.text:q} \
            --vocabulary {input.vocabulary:q} \
            --output {output.rows:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


use rule pack as pack_labels with:
    input:
        text=syntax_of_units("labels"),
        vocabulary="<results>/subword/vocabulary.labels.{parser}",
    output:
        rows="<results>/subword/packed/{parser}/{split}.labels.arrow",
        ledger="<results>/subword/packed/{parser}/{split}.labels.json",
    log:
        "<logs>/subword/pack_labels/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_labels/{parser}.{split}.tsv"


rule pack_units:
    input:
        units=syntax_of_units("units"),
        tokens=tokens("source"),
        vocabulary="<results>/subword/vocabulary.units",
    output:
        rows="<results>/subword/packed/{parser}/{split}.units.arrow",
        ledger="<results>/subword/packed/{parser}/{split}.units.json",
    log:
        "<logs>/subword/pack_units/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_units/{parser}.{split}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        given={"made_by": made_by("subword.pack_units", "pyarrow")},
    shell:
        """
        python -m pipeline_py.subword.pack_units \
            --units {input.units:q} \
            --tokens {input.tokens:q} \
            --vocabulary {input.vocabulary:q} \
            --output {output.rows:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """
