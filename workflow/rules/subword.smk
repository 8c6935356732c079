"""Units of the models.

REQUIRED INPUTS: tokens(side); <results>/syntax/{parser}/{split}.distances.arrow where a system reads it
OUTPUTS:         <results>/subword/packed/{split}.{side}.arrow, <results>/subword/vocabulary.{side},
                 <results>/subword/{parser}/{split}.distances.arrow
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
        syntax="<results>/syntax/{parser}/{split}.distances.arrow",
        pieces=pieces("source"),
    output:
        syntax="<results>/subword/{parser}/{split}.distances.arrow",
    log:
        "<logs>/subword/inherit/{parser}.{split}.distances.log",
    benchmark:
        "<benchmarks>/subword/inherit/{parser}.{split}.distances.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        given={"kind": "distances", "made_by": made_by("subword.inherit")},
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
