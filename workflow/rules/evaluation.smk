"""Numbers.

REQUIRED INPUTS: <results>/nmt/{system}/{split}.pieces, cleaned references
OUTPUTS:         <results>/evaluation/{system}/{split}.txt and .bleu.json, significance of each table's pairs
"""


rule postprocess:
    input:
        pieces="<results>/nmt/{system}/{split}.pieces",
        alignment="<results>/nmt/{system}/{split}.alignment",
        source=pieces("source"),
    output:
        text="<results>/evaluation/{system}/{split}.txt",
        ledger="<results>/evaluation/{system}/{split}.json",
    log:
        "<logs>/evaluation/postprocess/{system}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/postprocess/{system}.{split}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        given={
            "language": EXPERIMENT.corpora.target.language,
            "detokenizer": EXPERIMENT.evaluation.detokenizer,
            "joiner": "bpe" if BPE else "none",
            "truecased": EXPERIMENT.corpora.target.case == "true",
            "replace_unknown": EXPERIMENT.decoding.replace_unknown,
            "made_by": made_by("evaluation.postprocess", "sacremoses"),
        },
        flags=[
            *(["--truecased"] if EXPERIMENT.corpora.target.case == "true" else []),
            *(["--replace-unknown"] if EXPERIMENT.decoding.replace_unknown else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.postprocess \
            --pieces {input.pieces:q} \
            --alignment {input.alignment:q} \
            --source-pieces {input.source:q} \
            --language {params.given[language]} \
            --joiner {params.given[joiner]} \
            --detokenizer {params.given[detokenizer]} \
            {params.flags:q} \
            --output {output.text:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule score:
    input:
        hypothesis="<results>/evaluation/{system}/{split}.txt",
        references=references_of,
    output:
        score="<results>/evaluation/{system}/{split}.bleu.json",
    log:
        "<logs>/evaluation/score/{system}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/score/{system}.{split}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        given={
            "options": bleu_options(),
            "made_by": made_by("evaluation.score", "sacrebleu"),
        },
        references=lambda wildcards, input: [f"--reference={file}" for file in input.references],
    shell:
        """
        python -m pipeline_py.evaluation.score \
            --hypothesis {input.hypothesis:q} \
            {params.references:q} \
            {params.given[options]:q} \
            --output {output.score:q} \
            2>{log:q}
        """


rule significance:
    input:
        outputs=lambda wildcards: expand(
            "<results>/evaluation/{system}/{split}.txt",
            system=EXPERIMENT.tables[wildcards.table].systems,
            split=wildcards.split,
        ),
        references=references_of,
    output:
        comparisons="<results>/evaluation/{table}/{split}.significance.tsv",
    log:
        "<logs>/evaluation/significance/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/significance/{table}.{split}.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        given={
            "options": bleu_options(),
            "made_by": made_by("evaluation.significance", "sacrebleu", "scipy"),
        },
        systems=lambda wildcards, input: [
            f"--system={system}={file}"
            for system, file in zip(EXPERIMENT.tables[wildcards.table].systems, input.outputs, strict=True)
        ],
        references=lambda wildcards, input: [f"--reference={file}" for file in input.references],
    shell:
        """
        python -m pipeline_py.evaluation.significance \
            {params.systems:q} \
            {params.references:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            2>{log:q}
        """
