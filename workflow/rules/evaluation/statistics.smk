"""Translations as text, and what is counted of them and of their sources.

REQUIRED INPUTS: plan.evaluation.translations(system), or files of the user's of a system from elsewhere; cleaned
                 references, trees of the source
OUTPUTS:         <results>/evaluation/ceiling.tsv;
                 <results>/evaluation/{system}/{run}/{split}.txt, .statistics.arrow, .bleu.json, and from elsewhere
                 {split}.correct.tsv, .contrastive.tsv;
                 <results>/evaluation/source/{split}.{grouping}.arrow
"""


rule ceiling:
    input:
        unpack(lambda wildcards: lists_of(plan.evaluation.ceiling_inputs())),
    output:
        ceilings=plan.evaluation.ceilings,
    log:
        "<logs>/evaluation/ceiling/sets.log",
    benchmark:
        "<benchmarks>/evaluation/ceiling/sets.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "options": plan.evaluation.ceiling_options(),
            "made_by": made_by("evaluation.ceiling", "sacrebleu", "sacremoses"),
        },
        files=lambda wildcards, input: options_of(plan.evaluation.ceiling_inputs(), input),
    shell:
        """
        python -m pipeline_py.evaluation.ceiling \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.ceilings:q} \
            2> >(tee {log:q} >&2)
        """


rule postprocess:
    input:
        unpack(lambda wildcards: plan.evaluation.translations(wildcards.system)),
    output:
        text=expand("<results>/evaluation/{{system}}/{{run}}/{split}.txt", split=EXPERIMENT.corpora.held_out),
        counts=expand("<results>/evaluation/{{system}}/{{run}}/{split}.json", split=EXPERIMENT.corpora.held_out),
    log:
        "<logs>/evaluation/postprocess/{system}.{run}.log",
    benchmark:
        "<benchmarks>/evaluation/postprocess/{system}.{run}.tsv"
    wildcard_constraints:
        system=one_of(name for name in EXPERIMENT.systems if not EXPERIMENT.from_elsewhere(name)),
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
        flags=lambda wildcards: [
            *(["--truecased"] if EXPERIMENT.corpora.target.case == "true" else []),
            *plan.evaluation.putting_back(wildcards.system),
        ],
        sets=lambda wildcards, input, output: plan.evaluation.text_options(input, output),
    shell:
        """
        python -m pipeline_py.each_set evaluation.postprocess \
            --language {params.given[language]} \
            --joiner {params.given[joiner]} \
            --detokenizer {params.given[detokenizer]} \
            {params.flags:q} \
            {params.sets:q} \
            2>{log:q}
        """


rule import_translations:
    input:
        translations=lambda wildcards: plan.evaluation.file_from_elsewhere(**wildcards),
        source="<results>/corpus/clean/{split}.source",
    output:
        text="<results>/evaluation/{system}/{run}/{split}.txt",
        counts="<results>/evaluation/{system}/{run}/{split}.json",
    log:
        "<logs>/evaluation/import_translations/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/import_translations/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=one_of(filter(EXPERIMENT.from_elsewhere, EXPERIMENT.systems)),
        split=one_of(EXPERIMENT.corpora.held_out),
    priority: 10
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
            "content": plan.contents_of([plan.evaluation.file_from_elsewhere(**wildcards)]),
            "form": plan.evaluation.form_from_elsewhere(wildcards.system),
            "language": EXPERIMENT.corpora.target.language,
            "detokenizer": EXPERIMENT.evaluation.detokenizer,
            "made_by": made_by("evaluation.import_translations", "sacremoses"),
        },
    shell:
        """
        python -m pipeline_py.evaluation.import_translations \
            --translations {input.translations:q} \
            --source {input.source:q} \
            --name {wildcards.split:q} \
            --form {params.given[form]} \
            --language {params.given[language]} \
            --detokenizer {params.given[detokenizer]} \
            --output {output.text:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule import_scores:
    input:
        scores=lambda wildcards: plan.evaluation.file_from_elsewhere(**wildcards),
        pairs=lambda wildcards: plan.corpus.pairs_of(wildcards.split),
    output:
        correct="<results>/evaluation/{system}/{run}/{split}.correct.tsv",
        contrastive="<results>/evaluation/{system}/{run}/{split}.contrastive.tsv",
    log:
        "<logs>/evaluation/import_scores/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/import_scores/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=one_of(filter(EXPERIMENT.from_elsewhere, EXPERIMENT.systems)),
        split=one_of(EXPERIMENT.corpora.contrastive),
    priority: 10
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
            "content": plan.contents_of([plan.evaluation.file_from_elsewhere(**wildcards)]),
            "made_by": made_by("evaluation.import_scores"),
        },
    shell:
        """
        python -m pipeline_py.evaluation.import_scores \
            --scores {input.scores:q} \
            --pairs {input.pairs:q} \
            --name {wildcards.split:q} \
            --correct-output {output.correct:q} \
            --contrastive-output {output.contrastive:q} \
            2>{log:q}
        """


rule comet_scores:
    input:
        source="<results>/corpus/clean/{split}.source",
        hypothesis="<results>/evaluation/{system}/{run}/{split}.txt",
        references=lambda wildcards: plan.evaluation.references(wildcards.split)[:1],
    output:
        scores="<results>/evaluation/{system}/{run}/{split}.comet_scores.json",
    log:
        "<logs>/evaluation/comet_scores/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/comet_scores/{system}.{run}.{split}.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=EXPERIMENT.evaluation.comet.gpus if EXPERIMENT.evaluation.comet else 0,
    params:
        given=lambda wildcards: {
            "signature": plan.evaluation.comet()["signature"],
            "content": plan.contents_of([plan.evaluation.comet()["checkpoint"]]),
            "made_by": made_by("evaluation.comet_scores"),
        },
        checkpoint=lambda wildcards, input: plan.evaluation.comet()["checkpoint"],
        python=lambda wildcards, input: EXPERIMENT.evaluation.comet.python,
        gpus=EXPERIMENT.evaluation.comet.gpus if EXPERIMENT.evaluation.comet else 0,
    shell:
        """
        python -m pipeline_py.evaluation.comet_scores \
            --source {input.source:q} \
            --hypothesis {input.hypothesis:q} \
            --reference {input.references:q} \
            --checkpoint {params.checkpoint:q} \
            --signature {params.given[signature]:q} \
            --python {params.python:q} \
            --gpus {params.gpus} \
            --output {output.scores:q} \
            2>{log:q}
        """


rule statistics:
    input:
        hypothesis="<results>/evaluation/{system}/{run}/{split}.txt",
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
        scored=[*plan.evaluation.scored_elsewhere().values()],
    output:
        statistics="<results>/evaluation/{system}/{run}/{split}.statistics.arrow",
        scores=expand("<results>/evaluation/{{system}}/{{run}}/{{split}}.{metric}.json", metric=plan.evaluation.metrics),
    log:
        "<logs>/evaluation/statistics/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/statistics/{system}.{run}.{split}.tsv"
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
            "options": [
                *(f"--metric={metric}" for metric in plan.evaluation.metrics),
                *plan.evaluation.bleu_options(),
                f"--language={plan.corpus.language('target').language}",
            ],
            "made_by": made_by(
                "evaluation.statistics",
                "sacrebleu",
                parts=[f"evaluation.metrics.{metric}" for metric in [*plan.evaluation.metrics, "chrf"]],
            ),
        },
        files=lambda wildcards, input, output: [
            *(f"--reference={file}" for file in input.references),
            *(f"--score-output={file}" for file in output.scores),
            *named_files("segment-scores", plan.evaluation.scored_elsewhere(), input.scored),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.statistics \
            --hypothesis {input.hypothesis:q} \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.statistics:q} \
            2>{log:q}
        """


rule source_properties:
    input:
        unpack(lambda wildcards: plan.evaluation.trees_of_properties(wildcards.split, wildcards.grouping)),
        source=plan.corpus.tokens("source"),
    output:
        properties="<results>/evaluation/source/{split}.{grouping}.arrow",
    log:
        "<logs>/evaluation/source_properties/{split}.{grouping}.log",
    benchmark:
        "<benchmarks>/evaluation/source_properties/{split}.{grouping}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given={"made_by": made_by("evaluation.source_properties", "pyarrow")},
        trees=lambda wildcards, input: [
            f"--{option}={input[option]}"
            for option in plan.evaluation.trees_of_properties(wildcards.split, wildcards.grouping)
        ],
    shell:
        """
        python -m pipeline_py.evaluation.source_properties \
            --source {input.source:q} \
            {params.trees:q} \
            --output {output.properties:q} \
            2>{log:q}
        """
