"""Translations and what they score.

REQUIRED INPUTS: translation(system), cleaned references, binary phrases of both sides of a match
OUTPUTS:         <results>/evaluation/{system}/{run}/{split}.txt, .bleu.json and .ribes.json
"""


rule postprocess:
    input:
        unpack(lambda wildcards: plan.evaluation.translation(wildcards.system)),
    output:
        text="<results>/evaluation/{system}/{run}/{split}.txt",
        ledger="<results>/evaluation/{system}/{run}/{split}.json",
    log:
        "<logs>/evaluation/postprocess/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/postprocess/{system}.{run}.{split}.tsv"
    group:
        on_cluster("scores")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "language": EXPERIMENT.corpora.target.language,
            "detokenizer": EXPERIMENT.evaluation.detokenizer,
            "joiner": "bpe" if plan.evaluation.is_split(wildcards.system) else "none",
            "truecased": EXPERIMENT.corpora.target.case == "true",
            "replace_unknown": plan.evaluation.restores_unknown(wildcards.system),
            "restore_placeholders": plan.evaluation.restores_placeholders(wildcards.system),
            "made_by": made_by("evaluation.postprocess", "sacremoses"),
        },
        flags=lambda wildcards, input: [
            *(["--truecased"] if EXPERIMENT.corpora.target.case == "true" else []),
            *plan.evaluation.putting_back(wildcards.system, input),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.postprocess \
            --pieces {input.pieces:q} \
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
        hypothesis="<results>/evaluation/{system}/{run}/{split}.txt",
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
    output:
        score="<results>/evaluation/{system}/{run}/{split}.{metric}.json",
    log:
        "<logs>/evaluation/score/{system}.{run}.{split}.{metric}.log",
    benchmark:
        "<benchmarks>/evaluation/score/{system}.{run}.{split}.{metric}.tsv"
    wildcard_constraints:
        metric="bleu|ribes",
    group:
        on_cluster("scores")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given={
            "options": plan.evaluation.bleu_options(),
            "made_by": made_by("evaluation.score", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *(f"--reference={file}" for file in input.references),
            *([f"--trees={input.trees}"] if "trees" in input.keys() else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.score \
            --metric {wildcards.metric} \
            --hypothesis {input.hypothesis:q} \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.score:q} \
            2>{log:q}
        """


use rule score as score_parsed with:
    input:
        hypothesis="<results>/evaluation/{system}/{run}/{split}.txt",
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
        trees="<results>/syntax/{parser}/{split}.ptb",
    output:
        score="<results>/evaluation/{system}/{run}/{split}.parsed-{parser}.{metric}.json",
    log:
        "<logs>/evaluation/score_parsed/{system}.{run}.{split}.{parser}.{metric}.log",
    benchmark:
        "<benchmarks>/evaluation/score_parsed/{system}.{run}.{split}.{parser}.{metric}.tsv"
