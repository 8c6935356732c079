"""Where systems differ: by sentence, by word and n-gram, in examples, and in what they attend to.

REQUIRED INPUTS: <results>/evaluation/{system}/{run}/{split}.txt, cleaned references, trees_of_sentences(table, split),
                 attention of <results>/nmt/
OUTPUTS:         <results>/evaluation/{table}/length.buckets.tsv, {split}.by_sentence.tsv, .sentence_scores.tsv, .words.tsv,
                 .ngrams.tsv, .examples.tsv, attention.tsv, <results>/evaluation/word_frequencies.txt
"""


rule buckets:
    input:
        outputs=lambda wildcards: [*plan.evaluation.outputs_on_tests(wildcards.table).values()],
        references=[file for split in plan.corpus.tests for file in plan.evaluation.references(split)],
        sources=expand(plan.corpus.tokens("source"), split=plan.corpus.tests),
    output:
        buckets="<results>/evaluation/{table}/length.buckets.tsv",
    log:
        "<logs>/evaluation/buckets/{table}.length.log",
    benchmark:
        "<benchmarks>/evaluation/buckets/{table}.length.tsv"
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
            "systems": EXPERIMENT.tables[wildcards.table].systems,
            "options": [
                *plan.evaluation.bleu_options(),
                *(f"--bounds={bound}" for bound in EXPERIMENT.evaluation.length_groups),
            ],
            "made_by": made_by("evaluation.buckets", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.outputs_on_tests(wildcards.table), input.outputs),
            *named_files(
                "reference",
                (split for split in plan.corpus.tests for _ in plan.evaluation.references(split)),
                input.references,
            ),
            *named_files("source", plan.corpus.tests, input.sources),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.buckets \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.buckets:q} \
            2>{log:q}
        """


rule by_sentence:
    input:
        unpack(lambda wildcards: plan.evaluation.trees_of_sentences(wildcards.table, wildcards.split)),
        outputs=lambda wildcards: [*plan.evaluation.outputs(wildcards.table, wildcards.split).values()],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
        source=plan.corpus.tokens("source"),
    output:
        buckets="<results>/evaluation/{table}/{split}.by_sentence.tsv",
    log:
        "<logs>/evaluation/by_sentence/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/by_sentence/{table}.{split}.tsv"
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
            "systems": EXPERIMENT.tables[wildcards.table].systems,
            "options": [
                *plan.evaluation.bleu_options(),
                *(f"--bounds={bound}" for bound in EXPERIMENT.evaluation.length_groups),
            ],
            "made_by": made_by("evaluation.by_sentence", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.outputs(wildcards.table, wildcards.split), input.outputs),
            *(f"--reference={file}" for file in input.references),
            *(f"--{trees}={input[trees]}" for trees in ("dependencies", "phrases") if trees in input.keys()),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.by_sentence \
            {params.files:q} \
            --source {input.source:q} \
            {params.given[options]:q} \
            --output {output.buckets:q} \
            2>{log:q}
        """


rule sentence_scores:
    input:
        outputs=lambda wildcards: [
            *plan.evaluation.outputs(
                wildcards.table, wildcards.split, plan.evaluation.from_baseline(wildcards.table)
            ).values()
        ],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
    output:
        scores="<results>/evaluation/{table}/{split}.sentence_scores.tsv",
    log:
        "<logs>/evaluation/sentence_scores/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/sentence_scores/{table}.{split}.tsv"
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
            "systems": plan.evaluation.from_baseline(wildcards.table),
            "case": "--lowercase" if EXPERIMENT.evaluation.lowercase else "--cased",
            "made_by": made_by("evaluation.sentence_scores", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files(
                "system",
                plan.evaluation.outputs(
                    wildcards.table, wildcards.split, plan.evaluation.from_baseline(wildcards.table)
                ),
                input.outputs,
            ),
            *(f"--reference={file}" for file in input.references),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.sentence_scores \
            {params.files:q} \
            {params.given[case]} \
            --output {output.scores:q} \
            2>{log:q}
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
            "systems": EXPERIMENT.tables[wildcards.table].systems,
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
            "systems": plan.evaluation.from_baseline(wildcards.table),
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
            "systems": plan.evaluation.from_baseline(wildcards.table),
            "case": "--lowercase" if EXPERIMENT.evaluation.lowercase else "--cased",
            "made_by": made_by("evaluation.examples", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *named_files("system", plan.evaluation.first_runs(wildcards.table, wildcards.split), input.outputs),
            *(f"--reference={file}" for file in input.references),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.examples \
            {params.files:q} \
            --source {input.source:q} \
            {params.given[case]} \
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
