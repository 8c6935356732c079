"""Whether systems differ: tests of significance and intervals.

REQUIRED INPUTS: <results>/evaluation/{system}/{run}/{split}.txt, cleaned references
OUTPUTS:         <results>/evaluation/{table}/{split}.comparisons.tsv, .intervals.tsv
"""


rule comparisons:
    input:
        unpack(lambda wildcards: plan.evaluation.parsed_only(wildcards.table, wildcards.split)),
        outputs=lambda wildcards: [
            *plan.evaluation.outputs(
                wildcards.table, wildcards.split, EXPERIMENT.tested_in_order(wildcards.table)
            ).values()
        ],
        references=lambda wildcards: plan.evaluation.references(wildcards.split),
    output:
        comparisons="<results>/evaluation/{table}/{split}.comparisons.tsv",
        intervals="<results>/evaluation/{table}/{split}.intervals.tsv",
    log:
        "<logs>/evaluation/comparisons/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/comparisons/{table}.{split}.tsv"
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
            "systems": EXPERIMENT.tested_in_order(wildcards.table),
            "options": [
                *plan.evaluation.bleu_options(),
                *(f"--metric={metric}" for metric in plan.evaluation.tested_metrics(wildcards.table)),
            ],
            "made_by": made_by("evaluation.comparisons", "sacrebleu", "scipy"),
        },
        files=lambda wildcards, input: [
            *named_files(
                "system",
                plan.evaluation.outputs(wildcards.table, wildcards.split, EXPERIMENT.tested_in_order(wildcards.table)),
                input.outputs,
            ),
            *(f"--reference={file}" for file in input.references),
            *([f"--trees={input.trees}"] if "trees" in input.keys() else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.comparisons \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            --intervals-output {output.intervals:q} \
            2>{log:q}
        """
