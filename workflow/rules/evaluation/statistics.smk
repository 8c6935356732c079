"""Postprocessing of translations, and statistics of translations and sources.

REQUIRED INPUTS: plan.evaluation.get_translation_path_patterns(system), or the user's files for external systems; clean
                 references, trees of the source
OUTPUTS:         <results>/evaluation/ceiling.tsv;
                 <results>/evaluation/{system}/{run}/{split}.txt, .statistics.arrow, .bleu.json, and for external systems
                 {split}.correct.tsv, .contrastive.tsv;
                 <results>/evaluation/source/{split}.{grouping}.arrow
"""


use rule reporting_text_job as compute_bleu_ceiling with:
    input:
        inputs_of("evaluation.compute_bleu_ceiling"),
    output:
        output=plan.evaluation.ceiling_path,
    log:
        "<logs>/evaluation/compute_bleu_ceiling/sets.log",
    benchmark:
        "<benchmarks>/evaluation/compute_bleu_ceiling/sets.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("evaluation.compute_bleu_ceiling"),
        job=call_of("evaluation.compute_bleu_ceiling"),


use rule text_job as postprocess with:
    input:
        inputs_of("evaluation.postprocess"),
    output:
        output=expand("<results>/evaluation/{{system}}/{{run}}/{split}.txt", split=EXPERIMENT.corpora.held_out_sets),
        counts=expand("<results>/evaluation/{{system}}/{{run}}/{split}.json", split=EXPERIMENT.corpora.held_out_sets),
    log:
        "<logs>/evaluation/postprocess/{system}.{run}.log",
    benchmark:
        "<benchmarks>/evaluation/postprocess/{system}.{run}.tsv"
    wildcard_constraints:
        system=build_system_pattern(name for name in EXPERIMENT.systems if not EXPERIMENT.find_external_system(name)),
    group:
        on_cluster("scores")
    params:
        identity=identity_of("evaluation.postprocess"),
        job=call_of("evaluation.postprocess"),


use rule text_job as import_translations with:
    input:
        inputs_of("evaluation.import_translations"),
    output:
        output="<results>/evaluation/{system}/{run}/{split}.txt",
        counts="<results>/evaluation/{system}/{run}/{split}.json",
    log:
        "<logs>/evaluation/import_translations/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/import_translations/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=build_system_pattern(filter(EXPERIMENT.find_external_system, EXPERIMENT.systems)),
        split=build_name_pattern(EXPERIMENT.corpora.held_out_sets),
    priority: 10
    group:
        on_cluster("scores")
    params:
        identity=identity_of("evaluation.import_translations"),
        job=call_of("evaluation.import_translations"),


use rule text_job as import_scores with:
    input:
        inputs_of("evaluation.import_scores"),
    output:
        correct="<results>/evaluation/{system}/{run}/{split}.correct.tsv",
        contrastive="<results>/evaluation/{system}/{run}/{split}.contrastive.tsv",
    log:
        "<logs>/evaluation/import_scores/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/import_scores/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=build_system_pattern(filter(EXPERIMENT.find_external_system, EXPERIMENT.systems)),
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    priority: 10
    group:
        on_cluster("scores")
    params:
        identity=identity_of("evaluation.import_scores"),
        job=call_of("evaluation.import_scores"),


use rule text_job as compute_comet_scores with:
    input:
        inputs_of("evaluation.compute_comet_scores"),
    output:
        output="<results>/evaluation/{system}/{run}/{split}.comet_scores.json",
    log:
        "<logs>/evaluation/compute_comet_scores/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compute_comet_scores/{system}.{run}.{split}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpu=EXPERIMENT.evaluation.comet.gpus if EXPERIMENT.evaluation.comet else 0,
    params:
        identity=identity_of("evaluation.compute_comet_scores"),
        job=call_of("evaluation.compute_comet_scores"),


use rule text_job as compute_metric_statistics with:
    input:
        inputs_of("evaluation.compute_metric_statistics"),
    output:
        output="<results>/evaluation/{system}/{run}/{split}.statistics.arrow",
        scores=expand(
            "<results>/evaluation/{{system}}/{{run}}/{{split}}.{metric}.json", metric=plan.evaluation.computed_metrics
        ),
    log:
        "<logs>/evaluation/compute_metric_statistics/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compute_metric_statistics/{system}.{run}.{split}.tsv"
    group:
        on_cluster("scores")
    params:
        identity=identity_of("evaluation.compute_metric_statistics"),
        job=call_of("evaluation.compute_metric_statistics"),


use rule text_job as measure_source_properties with:
    input:
        inputs_of("evaluation.measure_source_properties"),
    output:
        output="<results>/evaluation/source/{split}.{grouping}.arrow",
    log:
        "<logs>/evaluation/measure_source_properties/{split}.{grouping}.log",
    benchmark:
        "<benchmarks>/evaluation/measure_source_properties/{split}.{grouping}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.measure_source_properties"),
        job=call_of("evaluation.measure_source_properties"),
