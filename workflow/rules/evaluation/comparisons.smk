"""Which systems of a table differ, by how much, on what, and whether papers said so.

REQUIRED INPUTS: statistics of the table's systems; scores of contrastive pairs in <results>/nmt/
OUTPUTS:         <results>/evaluation/{table}/claims.tsv, exclusions.tsv, and {split}.comparisons.tsv, .intervals.tsv, .by_sentence.tsv,
                 .sentence_scores.tsv, .contrast.tsv, .contrast_comparisons.tsv
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
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": plan.evaluation.tested_systems(wildcards.table, wildcards.split),
            "options": [
                *(f"--metric={metric}" for metric in plan.evaluation.tested_metrics(wildcards.table)),
                *plan.evaluation.inference_options(plan.evaluation.tested_systems(wildcards.table, wildcards.split)),
            ],
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
        properties=lambda wildcards: [*plan.claims.properties(wildcards.table).values()],
    output:
        claims="<results>/evaluation/{table}/claims.tsv",
        exclusions="<results>/evaluation/{table}/exclusions.tsv",
    log:
        "<logs>/evaluation/claims/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/claims/{table}.tsv"
    wildcard_constraints:
        table=plan.claims.tables,
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
            *named_files("properties", plan.claims.properties(wildcards.table), input.properties),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.claims \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.claims:q} \
            --exclusions-output {output.exclusions:q} \
            2>{log:q}
        """


rule breakdown:
    input:
        statistics=lambda wildcards: [*plan.evaluation.broken_down(wildcards.table, wildcards.split).values()],
        properties=lambda wildcards: [
            plan.evaluation.properties(wildcards.table, split)
            for split in plan.evaluation.sets_together(wildcards.table, wildcards.split)
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
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": sorted(
                plan.evaluation.from_baseline(wildcards.table, wildcards.split),
                key=EXPERIMENT.rows(wildcards.table).index,
            ),
            "options": [
                *(f"--metric={metric}" for metric in EXPERIMENT.evaluation.metrics),
                *(f"--bounds={bound}" for bound in EXPERIMENT.evaluation.length_groups),
                f"--baseline={plan.evaluation.from_baseline(wildcards.table, wildcards.split)[0]}",
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
            *named_files(
                "properties", plan.evaluation.sets_together(wildcards.table, wildcards.split), input.properties
            ),
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
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "systems": [
                system
                for system in EXPERIMENT.tested_in_order(wildcards.table)
                if EXPERIMENT.has_output(system, wildcards.split)
            ],
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
