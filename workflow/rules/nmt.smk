"""Neural systems.

REQUIRED INPUTS: <results>/subword/{units}/packed/, vocabularies, and the syntax that the system's parts read
OUTPUTS:         <results>/nmt/{system}/{run}/model.safetensors, learning_curve.tsv, facts.json, {split}.pieces,
                 {split}.attention.arrow, {split}.gates.arrow, {split}.correct.tsv, {split}.contrastive.tsv,
                 pretrained.safetensors
"""


rule pretrain:
    input:
        unpack(lambda wildcards: plan.nmt.pretraining_inputs(wildcards.system)),
    output:
        weights="<results>/nmt/{system}/{run}/pretrained.safetensors",
        facts="<results>/nmt/{system}/{run}/pretraining.json",
    log:
        "<logs>/nmt/pretrain/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/pretrain/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.networks,
        run=r"seed\d+",
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu,
    params:
        given=lambda wildcards: {
            "system": EXPERIMENT.network(wildcards.system).composition(),
            "inputs": plan.nmt.sizes_of_inputs(wildcards.system),
            "training": plan.nmt.training_on_parsing(wildcards.system),
            "seed": wildcards.run.removeprefix("seed"),
            "made_by": made_by("nmt.pretrain", "torch", parts=plan.nmt.modules(wildcards.system)),
        },
        syntax=lambda wildcards, input: plan.nmt.syntax_options(
            wildcards.system, plan.nmt.kinds_of_pretraining(wildcards.system), input
        ),
        name=lambda wildcards, threads: plan.nmt.name_of_run(wildcards.system, wildcards.run),
        training=lambda wildcards, threads: plan.nmt.training(wildcards.system, threads),
        cache=lambda wildcards, output: cache_of(output.weights),
    shell:
        """
        python -m pipeline_py.nmt.pretrain \
            --name {params.name:q} \
            --system {params.given[system]:q} \
            --training {params.training:q} \
            --seed {params.given[seed]} \
            --train-source {input.train_source:q} \
            --dev-source {input.dev_source:q} \
            --source-vocabulary {input.source_vocabulary:q} \
            {params.syntax:q} \
            --code {params.given[made_by][code]} \
            --cache {params.cache:q} \
            --output {output.weights:q} \
            --facts-output {output.facts:q} \
            2> >(tee {log:q} >&2)
        """


rule train:
    input:
        unpack(lambda wildcards: plan.nmt.training_inputs(wildcards.system, wildcards.run)),
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
        system=plan.nmt.networks,
        run=r"seed\d+",
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads * EXPERIMENT.training.processes
    resources:
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=1440,
        gpu=plan.gpu * EXPERIMENT.training.processes,
        nodes=1,
    params:
        given=lambda wildcards: {
            "system": EXPERIMENT.network(wildcards.system).composition(),
            "capacity": plan.nmt.capacity_options(wildcards.system),
            "inputs": plan.nmt.sizes_of_inputs(wildcards.system),
            "training": plan.nmt.training(wildcards.system),
            "seed": wildcards.run.removeprefix("seed"),
            "made_by": made_by("nmt.train", "torch", parts=plan.nmt.modules(wildcards.system)),
        },
        syntax=lambda wildcards, input: plan.nmt.syntax_options(
            wildcards.system, EXPERIMENT.network(wildcards.system).trained_on, input
        ),
        initial=lambda wildcards, input: [f"--initial={input.initial}"] if "initial" in input.keys() else [],
        name=lambda wildcards, threads: plan.nmt.name_of_run(wildcards.system, wildcards.run),
        training=lambda wildcards, threads: plan.nmt.training(wildcards.system, threads),
        checkpoints=lambda wildcards, output: f"{os.path.dirname(output.model)}/checkpoints",
        tensorboard=lambda wildcards, output: plan.nmt.board(wildcards.system, output.model),
        cache=lambda wildcards, output: cache_of(output.model),
    shell:
        """
        python -m pipeline_py.nmt.train \
            --name {params.name:q} \
            --system {params.given[system]:q} \
            {params.given[capacity]:q} \
            --training {params.training:q} \
            --seed {params.given[seed]} \
            --train-source {input.train_source:q} \
            --train-target {input.train_target:q} \
            --dev-source {input.dev_source:q} \
            --dev-target {input.dev_target:q} \
            --source-vocabulary {input.source_vocabulary:q} \
            --target-vocabulary {input.target_vocabulary:q} \
            {params.syntax:q} \
            {params.initial:q} \
            --code {params.given[made_by][code]} \
            --checkpoints {params.checkpoints:q} \
            {params.tensorboard:q} \
            --cache {params.cache:q} \
            --model-output {output.model:q} \
            --config-output {output.config:q} \
            --curve-output {output.curve:q} \
            --facts-output {output.facts:q} \
            2> >(tee {log:q} >&2)
        """


rule length_model:
    input:
        source=lambda wildcards: plan.subword.packed(plan.subword.of_translation(wildcards.units), "train", "source"),
        target=lambda wildcards: plan.subword.packed(plan.subword.of_translation(wildcards.units), "train", "target"),
    output:
        counts="<results>/nmt/length_model/{units}.tsv",
    log:
        "<logs>/nmt/length_model/{units}.log",
    benchmark:
        "<benchmarks>/nmt/length_model/{units}.tsv"
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given={"made_by": made_by("nmt.length_model", "pyarrow")},
        added=lambda wildcards: 2 if wildcards.units in EXPERIMENT.tasks else 0,
    shell:
        """
        python -m pipeline_py.nmt.length_model \
            --source {input.source:q} \
            --target {input.target:q} \
            --added {params.added} \
            --output {output.counts:q} \
            2>{log:q}
        """


rule translate:
    input:
        unpack(lambda wildcards: plan.nmt.inputs(wildcards.system, wildcards.run, EXPERIMENT.corpora.held_out)),
        unpack(lambda wildcards: plan.nmt.length_model(wildcards.system)),
    output:
        pieces=expand("<results>/nmt/{{system}}/{{run}}/{split}.pieces", split=EXPERIMENT.corpora.held_out),
        alignment=expand("<results>/nmt/{{system}}/{{run}}/{split}.alignment", split=EXPERIMENT.corpora.held_out),
        counts=expand("<results>/nmt/{{system}}/{{run}}/{split}.json", split=EXPERIMENT.corpora.held_out),
    log:
        "<logs>/nmt/translate/{system}.{run}.log",
    benchmark:
        "<benchmarks>/nmt/translate/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.nmt.systems,
        run=r"seed\d+",
    group:
        on_cluster("scores")
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=plan.gpu,
    params:
        given=lambda wildcards: {
            "networks": EXPERIMENT.networks(wildcards.system),
            "decoding": plan.nmt.search(wildcards.system),
            "made_by": made_by("nmt.translate", "torch", parts=plan.nmt.modules(wildcards.system)),
        },
        members=lambda wildcards, input: plan.nmt.member_options(input),
        sets=lambda wildcards, input, output: plan.nmt.translation_options(wildcards.system, input, output),
        decoding=lambda wildcards, threads: plan.nmt.decoding(wildcards.system).model_dump_json(),
        device=EXPERIMENT.training.device,
    shell:
        """
        python -m pipeline_py.each_set nmt.translate \
            {params.members:q} \
            --target-vocabulary {input.target_vocabulary:q} \
            --decoding {params.decoding:q} \
            --device {params.device} \
            --threads {threads} \
            --code {params.given[made_by][code]} \
            {params.sets:q} \
            2> >(tee {log:q} | grep "^warning: " >&2)
        """


if EXPERIMENT.corpora.contrastive:  # a rule makes something

    rule force_decode:
        input:
            unpack(lambda wildcards: plan.nmt.inputs(wildcards.system, wildcards.run, EXPERIMENT.corpora.contrastive)),
            translations=lambda wildcards: plan.nmt.translations(wildcards.system),
        output:
            correct=expand("<results>/nmt/{{system}}/{{run}}/{split}.correct.tsv", split=EXPERIMENT.corpora.contrastive),
            contrastive=expand(
                "<results>/nmt/{{system}}/{{run}}/{split}.contrastive.tsv", split=EXPERIMENT.corpora.contrastive
            ),
        log:
            "<logs>/nmt/force_decode/{system}.{run}.log",
        benchmark:
            "<benchmarks>/nmt/force_decode/{system}.{run}.tsv"
        wildcard_constraints:
            system=plan.nmt.systems,
            run=r"seed\d+",
        group:
            on_cluster("scores")
        conda:
            "../../envs/nmt.yaml"
        threads: EXPERIMENT.training.threads
        resources:
            mem_mb=lambda wildcards, attempt: 8000 * attempt,
            runtime=lambda wildcards, attempt: 480 * attempt,
            gpu=plan.gpu,
        params:
            given=lambda wildcards: {
                "networks": EXPERIMENT.networks(wildcards.system),
                "made_by": made_by("nmt.force_decode", "torch", parts=plan.nmt.modules(wildcards.system)),
            },
            members=lambda wildcards, input: plan.nmt.member_options(input),
            sets=lambda wildcards, input, output: plan.nmt.scoring_options(wildcards.system, input, output),
            device=EXPERIMENT.training.device,
        shell:
            """
            python -m pipeline_py.each_set nmt.force_decode \
                {params.members:q} \
                --target-vocabulary {input.target_vocabulary:q} \
                --device {params.device} \
                --threads {threads} \
                {params.sets:q} \
                2> >(tee {log:q} | grep "^warning: " >&2)
            """


rule attend:
    input:
        unpack(lambda wildcards: plan.nmt.inputs(wildcards.system, wildcards.run, [wildcards.split])),
        translation="<results>/nmt/{system}/{run}/{split}.pieces",
    output:
        attention="<results>/nmt/{system}/{run}/{split}.attention.arrow",
        gates="<results>/nmt/{system}/{run}/{split}.gates.arrow",
    log:
        "<logs>/nmt/attend/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/nmt/attend/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=plan.nmt.networks,
        run=r"seed\d+",
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpu=plan.gpu,
    params:
        given=lambda wildcards: {
            "made_by": made_by("nmt.attend", "torch", parts=plan.nmt.modules(wildcards.system)),
        },
        syntax=lambda wildcards, input: named_files(
            "syntax", EXPERIMENT.network(wildcards.system).syntax, input.get("syntax", [])
        ),
        device=EXPERIMENT.training.device,
    shell:
        """
        python -m pipeline_py.nmt.attend \
            --model {input.model:q} \
            --config {input.config:q} \
            --source {input.source:q} \
            {params.syntax:q} \
            --translation {input.translation:q} \
            --target-vocabulary {input.target_vocabulary:q} \
            --device {params.device} \
            --threads {threads} \
            --attention-output {output.attention:q} \
            --gates-output {output.gates:q} \
            2> >(tee {log:q} | grep "^warning: " >&2)
        """
