"""Neural systems.

REQUIRED INPUTS: <results>/subword/packed/, vocabularies, and the syntax that the system's parts read
OUTPUTS:         <results>/nmt/{system}/{run}/model.safetensors, learning_curve.tsv, facts.json, {split}.pieces
"""


rule train:
    input:
        unpack(lambda wildcards: syntax_inputs(wildcards.system, "train", "dev")),
        syntax_vocabularies=lambda wildcards: [*vocabularies_of_syntax(wildcards.system).values()],
        train_source="<results>/subword/packed/train.source.arrow",
        train_target="<results>/subword/packed/train.target.arrow",
        dev_source="<results>/subword/packed/dev.source.arrow",
        dev_target="<results>/subword/packed/dev.target.arrow",
        source_vocabulary="<results>/subword/vocabulary.source",
        target_vocabulary="<results>/subword/vocabulary.target",
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
        system=SYSTEMS_OF["nmt"],
        run=r"seed\d+",
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=8000,
        runtime=2880,
        gpu=takes_gpu(),
    params:
        given=lambda wildcards: {
            "system": EXPERIMENT.systems[wildcards.system].model_dump_json(),
            "inputs": sizes_of_inputs(wildcards.system),
            "training": training_of_system(),
            "seed": wildcards.run.removeprefix("seed"),
            "made_by": made_by(
                "nmt.train",
                "torch",
                parts=EXPERIMENT.systems[wildcards.system].modules,
            ),
        },
        syntax=lambda wildcards, input: [
            *syntax_options(
                "train-syntax", EXPERIMENT.systems[wildcards.system].syntax, input.get("train_syntax", [])
            ),
            *syntax_options("dev-syntax", EXPERIMENT.systems[wildcards.system].syntax, input.get("dev_syntax", [])),
            *syntax_options("syntax-vocabulary", vocabularies_of_syntax(wildcards.system), input.syntax_vocabularies),
        ],
        name=lambda wildcards, threads: name_of_run(wildcards.system, wildcards.run),
        training=lambda wildcards, threads: training_of_system(threads),
        checkpoints=lambda wildcards, output: f"{os.path.dirname(output.model)}/checkpoints",
    shell:
        """
        python -m pipeline_py.nmt.train \
            --name {params.name:q} \
            --system {params.given[system]:q} \
            --training {params.training:q} \
            --seed {params.given[seed]} \
            --train-source {input.train_source:q} \
            --train-target {input.train_target:q} \
            --dev-source {input.dev_source:q} \
            --dev-target {input.dev_target:q} \
            --source-vocabulary {input.source_vocabulary:q} \
            --target-vocabulary {input.target_vocabulary:q} \
            {params.syntax:q} \
            --code {params.given[made_by][code]} \
            --checkpoints {params.checkpoints:q} \
            --model-output {output.model:q} \
            --config-output {output.config:q} \
            --curve-output {output.curve:q} \
            --facts-output {output.facts:q} \
            2> >(tee {log:q} >&2)
        """


rule translate:
    input:
        unpack(lambda wildcards: {"syntax": [*syntax_of_system(wildcards.system, wildcards.split).values()]}),
        model="<results>/nmt/{system}/{run}/model.safetensors",
        config="<results>/nmt/{system}/{run}/config.json",
        source="<results>/subword/packed/{split}.source.arrow",
        target_vocabulary="<results>/subword/vocabulary.target",
    output:
        pieces="<results>/nmt/{system}/{run}/{split}.pieces",
        alignment="<results>/nmt/{system}/{run}/{split}.alignment",
        ledger="<results>/nmt/{system}/{run}/{split}.json",
    log:
        "<logs>/nmt/translate/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/nmt/translate/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=SYSTEMS_OF["nmt"],
        run=r"seed\d+",
    conda:
        "../../envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=takes_gpu(),
    params:
        given=lambda wildcards: {
            "decoding": EXPERIMENT.decoding.model_dump_json(exclude={"replace_unknown", "batch_size"}),
            "made_by": made_by(
                "nmt.translate",
                "torch",
                parts=EXPERIMENT.systems[wildcards.system].modules,
            ),
        },
        syntax=lambda wildcards, input: syntax_options(
            "syntax", EXPERIMENT.systems[wildcards.system].syntax, input.get("syntax", [])
        ),
        requested=lambda wildcards, output: [
            *([f"--n-best-output={output.pieces}.n-best"] if EXPERIMENT.decoding.n_best else []),
            *([f"--attention-output={output.pieces}.attention.arrow"] if EXPERIMENT.decoding.attention else []),
        ],
        decoding=lambda wildcards, threads: EXPERIMENT.decoding.model_dump_json(),
        device=EXPERIMENT.training.device,
    shell:
        """
        python -m pipeline_py.nmt.translate \
            --model {input.model:q} \
            --config {input.config:q} \
            --source {input.source:q} \
            {params.syntax:q} \
            --target-vocabulary {input.target_vocabulary:q} \
            --decoding {params.decoding:q} \
            --device {params.device} \
            --threads {threads} \
            --output {output.pieces:q} \
            --alignment-output {output.alignment:q} \
            {params.requested:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """
