"""Comparison of a table's systems: tests, breakdowns, contrastive accuracy, and claims of papers.

REQUIRED INPUTS: statistics of the table's systems; scores of contrastive pairs in <results>/nmt/
OUTPUTS:         <results>/evaluation/{table}/claims.tsv, exclusions.tsv, and {split}.comparisons.tsv, .intervals.tsv,
                 .by_sentence.tsv, .sentence_scores.tsv, .contrast.tsv, .contrast_comparisons.tsv
"""


use rule text_job as compare_systems with:
    input:
        inputs_of("evaluation.compare_systems"),
    output:
        comparisons="<results>/evaluation/{table}/{split}.comparisons.tsv",
        intervals="<results>/evaluation/{table}/{split}.intervals.tsv",
    log:
        "<logs>/evaluation/compare_systems/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compare_systems/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.compare_systems"),
        job=call_of("evaluation.compare_systems"),


use rule text_job as judge_claims with:
    input:
        inputs_of("claims.judge_claims", lambda wildcards: plan.claims.add_requested_table(wildcards.table)),
    output:
        claims="<results>/evaluation/{table}/claims.tsv",
        exclusions="<results>/evaluation/{table}/exclusions.tsv",
    log:
        "<logs>/evaluation/judge_claims/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/judge_claims/{table}.tsv"
    wildcard_constraints:
        table=plan.claims.table_name_pattern,
    group:
        on_cluster("tables")
    params:
        identity=identity_of("claims.judge_claims"),
        job=call_of("claims.judge_claims"),


use rule text_job as score_sentence_groups with:
    input:
        inputs_of("evaluation.score_sentence_groups"),
    output:
        scores="<results>/evaluation/{table}/{split}.by_sentence.tsv",
        sentence_scores="<results>/evaluation/{table}/{split}.sentence_scores.tsv",
    log:
        "<logs>/evaluation/score_sentence_groups/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/score_sentence_groups/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.score_sentence_groups"),
        job=call_of("evaluation.score_sentence_groups"),


use rule text_job as measure_contrastive_accuracy with:
    input:
        inputs_of("evaluation.measure_contrastive_accuracy"),
    output:
        accuracies="<results>/evaluation/{table}/{split}.contrast.tsv",
        comparisons="<results>/evaluation/{table}/{split}.contrast_comparisons.tsv",
    log:
        "<logs>/evaluation/measure_contrastive_accuracy/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/measure_contrastive_accuracy/{table}.{split}.tsv"
    wildcard_constraints:
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.measure_contrastive_accuracy"),
        job=call_of("evaluation.measure_contrastive_accuracy"),
