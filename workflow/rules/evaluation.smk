"""Translations, what is counted of them, and where systems differ.

REQUIRED INPUTS: plan.evaluation.translation(system), cleaned references, trees of the source, attention of <results>/nmt/
OUTPUTS:         <results>/evaluation/{system}/{run}/{split}.txt, .statistics.arrow, .bleu.json,
                 <results>/evaluation/source/{split}.{grouping}.arrow, <results>/evaluation/{table}/{split}.comparisons.tsv,
                 .intervals.tsv, .by_sentence.tsv, .sentence_scores.tsv, .words.tsv, .ngrams.tsv, .examples.tsv,
                 .contrast.tsv, .contrast_comparisons.tsv,
                 <results>/evaluation/{table}/attention.tsv, claims.tsv, <results>/evaluation/word_frequencies.txt
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
        "../../envs/text.yaml"
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


rule statistics:
    input:
        hypothesis="<results>/evaluation/{system}/{run}/{split}.txt",
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
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
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given={
            "options": [
                *(f"--metric={metric}" for metric in plan.evaluation.metrics),
                *plan.evaluation.bleu_options(),
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
        "../../envs/text.yaml"
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


rule compare:
    input:
        unpack(lambda wildcards: plan.evaluation.parsed_only(wildcards.table, wildcards.split)),
        statistics=lambda wildcards: [*plan.evaluation.tested(wildcards.table, wildcards.split).values()],
    output:
        comparisons="<results>/evaluation/{table}/{split}.comparisons.tsv",
        intervals="<results>/evaluation/{table}/{split}.intervals.tsv",
    log:
        "<logs>/evaluation/compare/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compare/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": EXPERIMENT.tested_in_order(wildcards.table),
            "options": [f"--metric={metric}" for metric in plan.evaluation.tested_metrics(wildcards.table)],
            "made_by": made_by(
                "evaluation.compare",
                "scipy",
                parts=[f"evaluation.metrics.{metric}" for metric in plan.evaluation.tested_metrics(wildcards.table)],
            ),
        },
        files=lambda wildcards, input: [
            *named_files(
                "statistics",
                (place[:2] for place in plan.evaluation.tested(wildcards.table, wildcards.split)),
                input.statistics,
            ),
            *([f"--parsed={input.parsed}"] if "parsed" in input.keys() else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.compare \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            --intervals-output {output.intervals:q} \
            2>{log:q}
        """


rule claims:
    input:
        claims=[*plan.claims.files],
        statistics=lambda wildcards: [*plan.claims.statistics(plan.claims.in_this_run(wildcards.table)).values()],
    output:
        "<results>/evaluation/{table}/claims.tsv",
    log:
        "<logs>/evaluation/claims/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/claims/{table}.tsv"
    wildcard_constraints:
        table=plan.claims.tables,
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "content": plan.contents_of(plan.claims.files),
            "options": [
                *plan.claims.options(wildcards.table),
                *(f"--metric={metric}" for metric in plan.evaluation.metrics),
            ],
            "made_by": made_by(
                "evaluation.claims",
                "scipy",
                parts=[f"evaluation.metrics.{metric}" for metric in plan.evaluation.metrics],
            ),
        },
        files=lambda wildcards, input: [
            *(f"--claims={file}" for file in input.claims),
            *named_files("statistics", plan.claims.statistics(wildcards.table), input.statistics),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.claims \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output:q} \
            2>{log:q}
        """


rule breakdown:
    input:
        statistics=lambda wildcards: [*plan.evaluation.broken_down(wildcards.table, wildcards.split).values()],
        properties=lambda wildcards: [
            plan.evaluation.properties(wildcards.table, split)
            for split in plan.evaluation.sets_together(wildcards.split)
        ],
    output:
        scores="<results>/evaluation/{table}/{split}.by_sentence.tsv",
        sentence_scores="<results>/evaluation/{table}/{split}.sentence_scores.tsv",
    log:
        "<logs>/evaluation/breakdown/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/breakdown/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": EXPERIMENT.tables[wildcards.table].systems,
            "options": [
                *(f"--metric={metric}" for metric in EXPERIMENT.evaluation.metrics),
                *(f"--bounds={bound}" for bound in EXPERIMENT.evaluation.length_groups),
                f"--baseline={plan.evaluation.from_baseline(wildcards.table)[0]}",
            ],
            "made_by": made_by(
                "evaluation.breakdown",
                parts=[f"evaluation.metrics.{metric}" for metric in [*EXPERIMENT.evaluation.metrics, "chrf"]],
            ),
        },
        files=lambda wildcards, input: [
            *named_files(
                "statistics", plan.evaluation.broken_down(wildcards.table, wildcards.split), input.statistics
            ),
            *named_files("properties", plan.evaluation.sets_together(wildcards.split), input.properties),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.breakdown \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.scores:q} \
            --sentence-scores-output {output.sentence_scores:q} \
            2>{log:q}
        """


rule contrast:
    input:
        unpack(lambda wildcards: lists_of(plan.evaluation.told_apart(wildcards.table, wildcards.split))),
        pairs=lambda wildcards: plan.corpus.pairs_of(wildcards.split),
    output:
        accuracies="<results>/evaluation/{table}/{split}.contrast.tsv",
        comparisons="<results>/evaluation/{table}/{split}.contrast_comparisons.tsv",
    log:
        "<logs>/evaluation/contrast/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/contrast/{table}.{split}.tsv"
    wildcard_constraints:
        split=one_of(EXPERIMENT.corpora.contrastive),
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "systems": EXPERIMENT.tested_in_order(wildcards.table),
            "made_by": made_by("evaluation.contrast", "scipy"),
        },
        files=lambda wildcards, input: options_of(plan.evaluation.told_apart(wildcards.table, wildcards.split), input),
    shell:
        """
        python -m pipeline_py.evaluation.contrast \
            {params.files:q} \
            --pairs {input.pairs:q} \
            --output {output.accuracies:q} \
            --comparisons-output {output.comparisons:q} \
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
        "../../envs/text.yaml"
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
        "../../envs/text.yaml"
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
        "../../envs/text.yaml"
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
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": plan.evaluation.from_baseline(wildcards.table),
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
        "../../envs/text.yaml"
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
