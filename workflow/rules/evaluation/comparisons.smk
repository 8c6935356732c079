"""Comparison of a table's systems: tests, breakdowns, contrastive accuracy, and claims of papers.

REQUIRED INPUTS: statistics of the table's systems; scores of contrastive pairs in <results>/nmt/
OUTPUTS:         <results>/evaluation/{table}/claims.tsv, exclusions.tsv, and {split}.comparisons.tsv, .intervals.tsv,
                 .by_sentence.tsv, .sentence_scores.tsv, .contrast.tsv, .contrast_comparisons.tsv
"""


use rule text_job as compare with:
    input:
        inputs_of("evaluation.compare"),
    output:
        comparisons="<results>/evaluation/{table}/{split}.comparisons.tsv",
        intervals="<results>/evaluation/{table}/{split}.intervals.tsv",
    log:
        "<logs>/evaluation/compare/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compare/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.compare"),
        job=call_of("evaluation.compare"),


use rule text_job as claims with:
    input:
        inputs_of("claims.claims", lambda wildcards: plan.claims.add_requested_table(wildcards.table)),
    output:
        claims="<results>/evaluation/{table}/claims.tsv",
        exclusions="<results>/evaluation/{table}/exclusions.tsv",
    log:
        "<logs>/evaluation/claims/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/claims/{table}.tsv"
    wildcard_constraints:
        table=plan.claims.table_name_pattern,
    group:
        on_cluster("tables")
    params:
        identity=identity_of("claims.claims"),
        job=call_of("claims.claims"),


use rule text_job as breakdown with:
    input:
        inputs_of("evaluation.breakdown"),
    output:
        scores="<results>/evaluation/{table}/{split}.by_sentence.tsv",
        sentence_scores="<results>/evaluation/{table}/{split}.sentence_scores.tsv",
    log:
        "<logs>/evaluation/breakdown/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/breakdown/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.breakdown"),
        job=call_of("evaluation.breakdown"),


use rule text_job as contrast with:
    input:
        inputs_of("evaluation.contrast"),
    output:
        accuracies="<results>/evaluation/{table}/{split}.contrast.tsv",
        comparisons="<results>/evaluation/{table}/{split}.contrast_comparisons.tsv",
    log:
        "<logs>/evaluation/contrast/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/contrast/{table}.{split}.tsv"
    wildcard_constraints:
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.contrast"),
        job=call_of("evaluation.contrast"),
