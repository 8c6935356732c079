"""What the outputs of a table's systems are like: words, n-grams, examples, what was attended to.

REQUIRED INPUTS: translations as text, cleaned references, attention of <results>/nmt/
OUTPUTS:         <results>/evaluation/word_frequencies.txt; <results>/evaluation/{table}/attention.tsv, {split}.words.tsv,
                 .ngrams.tsv, .examples.tsv
"""


rule word_frequencies:
    input:
        "<results>/corpus/clean/train.target",
    output:
        "<results>/evaluation/word_frequencies.txt",
    log:
        "<logs>/evaluation/word_frequencies/train.log",
    benchmark:
        "<benchmarks>/evaluation/word_frequencies/train.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={
            "options": plan.evaluation.bleu_options(),
            "made_by": made_by("evaluation.word_frequencies", "sacrebleu"),
        },
    shell:
        """
        python -m pipeline_py.evaluation.word_frequencies \
            --input {input:q} \
            {params.given[options]:q} \
            --output {output:q} \
            2>{log:q}
        """


rule words:
    input:
        outputs=lambda wildcards: [*plan.evaluation.outputs(wildcards.table, wildcards.split).values()],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
        frequencies="<results>/evaluation/word_frequencies.txt",
    output:
        words="<results>/evaluation/{table}/{split}.words.tsv",
    log:
        "<logs>/evaluation/words/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/words/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": plan.evaluation.said(wildcards.table, wildcards.split),
            "options": plan.evaluation.bleu_options(),
            "made_by": made_by("evaluation.words", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.outputs(wildcards.table, wildcards.split), input.outputs),
            *(f"--reference={file}" for file in input.references),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.words \
            {params.files:q} \
            --frequencies {input.frequencies:q} \
            {params.given[options]:q} \
            --output {output.words:q} \
            2>{log:q}
        """


rule ngrams:
    input:
        outputs=lambda wildcards: [*plan.evaluation.first_runs(wildcards.table, wildcards.split).values()],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
    output:
        ngrams="<results>/evaluation/{table}/{split}.ngrams.tsv",
    log:
        "<logs>/evaluation/ngrams/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/ngrams/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": plan.evaluation.from_baseline(wildcards.table, wildcards.split),
            "options": plan.evaluation.bleu_options(),
            "made_by": made_by("evaluation.ngrams", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.first_runs(wildcards.table, wildcards.split), input.outputs),
            *(f"--reference={file}" for file in input.references),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.ngrams \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.ngrams:q} \
            2>{log:q}
        """


rule examples:
    input:
        outputs=lambda wildcards: [*plan.evaluation.first_runs(wildcards.table, wildcards.split).values()],
        statistics=lambda wildcards: [*plan.evaluation.first_statistics(wildcards.table, wildcards.split).values()],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
        source="<results>/corpus/clean/{split}.source",
    output:
        examples="<results>/evaluation/{table}/{split}.examples.tsv",
    log:
        "<logs>/evaluation/examples/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/examples/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": plan.evaluation.from_baseline(wildcards.table, wildcards.split),
            "made_by": made_by("evaluation.examples", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.first_runs(wildcards.table, wildcards.split), input.outputs),
            *named_files(
                "statistics", plan.evaluation.first_statistics(wildcards.table, wildcards.split), input.statistics
            ),
            *(f"--reference={file}" for file in input.references),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.examples \
            {params.files:q} \
            --source {input.source:q} \
            --output {output.examples:q} \
            2>{log:q}
        """


rule attention_shares:
    input:
        attended=lambda wildcards: [*plan.evaluation.attended_systems(wildcards.table).values()],
    output:
        shares="<results>/evaluation/{table}/attention.tsv",
    log:
        "<logs>/evaluation/attention_shares/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/attention_shares/{table}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "systems": EXPERIMENT.tables[wildcards.table].systems,
            "made_by": made_by("evaluation.attention_shares", "pyarrow"),
        },
        files=lambda wildcards, input: [
            f"--{option}={system}:{run}={file}"
            for (system, run, option), file in zip(
                plan.evaluation.attended_systems(wildcards.table), input.attended, strict=True
            )
        ],
    shell:
        """
        python -m pipeline_py.evaluation.attention_shares \
            {params.files:q} \
            --output {output.shares:q} \
            2>{log:q}
        """
