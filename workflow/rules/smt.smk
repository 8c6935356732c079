"""Phrase-based systems.

REQUIRED INPUTS: tokens(side) of train, dev and what is translated
OUTPUTS:         <results>/smt/{system}/single/model/, facts.json, {split}.pieces
"""


rule:
    name:
        "train_smt"
    input:
        train_source=plan.corpus.tokens("source").format(split="train"),
        train_target=plan.corpus.tokens("target").format(split="train"),
        dev_source=plan.corpus.tokens("source").format(split="dev"),
        dev_target=plan.corpus.tokens("target").format(split="dev"),
    output:
        model=directory("<results>/smt/{system}/{run}/model"),
        facts="<results>/smt/{system}/{run}/facts.json",
    log:
        "<logs>/smt/train/{system}.{run}.log",
    benchmark:
        "<benchmarks>/smt/train/{system}.{run}.tsv"
    wildcard_constraints:
        system=one_of(filter(EXPERIMENT.is_phrase_based, EXPERIMENT.systems)),
        run="single",
    conda:
        "../../envs/smt.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
    params:
        given=lambda wildcards: {
            "options": EXPERIMENT.systems[wildcards.system].model_dump_json(),
            "made_by": made_by("smt.train", "sil-machine", "sil-thot", "sacrebleu"),
        },
    shell:
        """
        python -m pipeline_py.smt.train \
            --name {wildcards.system:q} \
            --options {params.given[options]:q} \
            --train-source {input.train_source:q} \
            --train-target {input.train_target:q} \
            --dev-source {input.dev_source:q} \
            --dev-target {input.dev_target:q} \
            --model-output {output.model:q} \
            --facts-output {output.facts:q} \
            2> >(tee {log:q} >&2)
        """


rule:
    name:
        "translate_smt"
    input:
        model="<results>/smt/{system}/{run}/model",
        source=plan.corpus.tokens("source"),
    output:
        pieces="<results>/smt/{system}/{run}/{split}.pieces",
        counts="<results>/smt/{system}/{run}/{split}.json",
    log:
        "<logs>/smt/translate/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/smt/translate/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=one_of(filter(EXPERIMENT.is_phrase_based, EXPERIMENT.systems)),
        run="single",
    group:
        on_cluster("scores")
    conda:
        "../../envs/smt.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given={"made_by": made_by("smt.translate", "sil-machine", "sil-thot")},
    shell:
        """
        python -m pipeline_py.smt.translate \
            --model {input.model:q} \
            --source {input.source:q} \
            --output {output.pieces:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """
