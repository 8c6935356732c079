"""Training and decoding of phrase-based systems.

REQUIRED INPUTS: plan.corpus.get_token_path_pattern(side) for train, dev and the sets to translate
OUTPUTS:         <results>/smt/{system}/single/model/, facts.json, {split}.pieces
"""


use rule reporting_text_job as train_smt with:
    input:
        inputs_of("smt.train"),
    output:
        model=directory("<results>/smt/{system}/{run}/model"),
        facts="<results>/smt/{system}/{run}/facts.json",
    log:
        "<logs>/smt/train/{system}.{run}.log",
    benchmark:
        "<benchmarks>/smt/train/{system}.{run}.tsv"
    wildcard_constraints:
        system=plan.smt.system_pattern,
        run="single",
    conda:
        "../../envs/smt.yaml"
    resources:
        mem_mb=phrase_memory(16000),
        runtime=lambda wildcards, attempt: 1440 * attempt,
    params:
        identity=identity_of("smt.train"),
        job=call_of("smt.train"),


use rule text_job as translate_smt with:
    input:
        inputs_of("smt.translate"),
    output:
        pieces="<results>/smt/{system}/{run}/{split}.pieces",
        counts="<results>/smt/{system}/{run}/{split}.json",
    log:
        "<logs>/smt/translate/{system}.{run}.{split}.log",
    benchmark:
        "<benchmarks>/smt/translate/{system}.{run}.{split}.tsv"
    wildcard_constraints:
        system=plan.smt.system_pattern,
        run="single",
    group:
        on_cluster("scores")
    conda:
        "../../envs/smt.yaml"
    resources:
        mem_mb=phrase_memory(4000),
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        identity=identity_of("smt.translate"),
        job=call_of("smt.translate"),
