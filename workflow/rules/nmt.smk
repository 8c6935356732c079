"""Training, decoding and scoring of neural systems.

REQUIRED INPUTS: <results>/subword/{units}/packed/, vocabularies, and the syntax that the system's parts read
OUTPUTS:         <results>/nmt/{system}/{run}/model.safetensors, learning_curve.tsv, facts.json, {split}.pieces,
                 {split}.attention.arrow, {split}.gates.arrow, {split}.correct.tsv, {split}.contrastive.tsv,
                 dev.beam.json, pretrained.safetensors
"""


use rule network_job as pretrain with:
    input:
        inputs_of("nmt.pretrain"),
    output:
        weights="<results>/nmt/{system}/{run}/pretrained.safetensors",
        facts="<results>/nmt/{system}/{run}/pretraining.json",
    log:
        "<logs>/nmt/pretrain/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/pretrain/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.network_pattern,
        run=r"seed\d+",
    params:
        identity=identity_of("nmt.pretrain"),
        job=call_of("nmt.pretrain"),


use rule network_job as train with:
    input:
        inputs_of("nmt.train"),
    output:
        model="<results>/nmt/{system}/{run}/model.safetensors",
        config="<results>/nmt/{system}/{run}/config.json",
        curve="<results>/nmt/{system}/{run}/learning_curve.tsv",
        facts="<results>/nmt/{system}/{run}/facts.json",
    log:
        "<logs>/nmt/train/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/train/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.network_pattern,
        run=r"seed\d+",
    threads: EXPERIMENT.training.threads * EXPERIMENT.training.processes
    resources:
        mem_mb=network_memory(16000, EXPERIMENT.training.processes),
        runtime=1440,
        gpu=plan.gpu_count * EXPERIMENT.training.processes,
        nodes=1,
    params:
        identity=identity_of("nmt.train"),
        job=call_of("nmt.train"),


use rule text_job as length_model with:
    input:
        inputs_of("nmt.length_model"),
    output:
        counts="<results>/nmt/length_model/{units}.tsv",
    log:
        "<logs>/nmt/length_model/{units}.log",
    benchmark:
        "<benchmarks>/nmt/length_model/{units}.tsv"
    group:
        on_cluster("units")
    resources:
        mem_mb=text_memory(2000),
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        identity=identity_of("nmt.length_model"),
        job=call_of("nmt.length_model"),


use rule length_model as length_model_of_text with:
    input:
        inputs_of("nmt.length_model_of_text"),
    output:
        counts="<results>/nmt/length_model/{units}.{split}.tsv",
    log:
        "<logs>/nmt/length_model/{units}.{split}.log",
    benchmark:
        "<benchmarks>/nmt/length_model/{units}.{split}.tsv"
    params:
        identity=identity_of("nmt.length_model_of_text"),
        job=call_of("nmt.length_model_of_text"),


use rule network_job_with_warnings as choose_beam with:
    input:
        inputs_of("nmt.choose_beam"),
    output:
        choice="<results>/nmt/{system}/{run}/dev.beam.json",
    log:
        "<logs>/nmt/choose_beam/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/choose_beam/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.system_pattern,
        run=r"seed\d+",
    group:
        on_cluster("scores")
    params:
        identity=identity_of("nmt.choose_beam"),
        job=call_of("nmt.choose_beam"),


use rule network_job_with_warnings as translate with:
    input:
        inputs_of("nmt.translate"),
    output:
        pieces=expand("<results>/nmt/{{system}}/{{run}}/{split}.pieces", split=EXPERIMENT.corpora.held_out_sets),
        alignment=expand("<results>/nmt/{{system}}/{{run}}/{split}.alignment", split=EXPERIMENT.corpora.held_out_sets),
        counts=expand("<results>/nmt/{{system}}/{{run}}/{split}.json", split=EXPERIMENT.corpora.held_out_sets),
    log:
        "<logs>/nmt/translate/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/translate/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.system_pattern,
        run=r"seed\d+",
    group:
        on_cluster("scores")
    params:
        identity=identity_of("nmt.translate"),
        job=call_of("nmt.translate"),


if EXPERIMENT.corpora.contrastive_sets:  # a rule needs outputs

    use rule network_job_with_warnings as force_decode with:
        input:
            inputs_of("nmt.force_decode"),
        output:
            output=expand(
                "<results>/nmt/{{system}}/{{run}}/{split}.{translation}.tsv",
                split=EXPERIMENT.corpora.contrastive_sets,
                translation=["correct", "contrastive"],
            ),
        log:
            "<logs>/nmt/force_decode/{system}.{run}.log",
        benchmark:
            "<benchmarks>/nmt/force_decode/{system}.{run}.tsv"
        wildcard_constraints:
            system=plan.nmt.system_pattern,
            run=r"seed\d+",
        group:
            on_cluster("scores")
        params:
            identity=identity_of("nmt.force_decode"),
            job=call_of("nmt.force_decode"),


use rule network_job_with_warnings as attend with:
    input:
        inputs_of("nmt.attend"),
    output:
        attention="<results>/nmt/{system}/{run}/{split}.attention.arrow",
        gates="<results>/nmt/{system}/{run}/{split}.gates.arrow",
    log:
        "<logs>/nmt/attend/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/nmt/attend/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=plan.nmt.network_pattern,
        run=r"seed\d+",
    resources:
        mem_mb=network_memory(8000),
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("nmt.attend"),
        job=call_of("nmt.attend"),
