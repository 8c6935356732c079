"""Import and cleaning of text, which reports invalid text at the beginning of a run.

REQUIRED INPUTS: the files in `corpora`, or none (the embedded corpus is generated)
OUTPUTS:         <results>/corpus/clean/{split}.{side}; gold trees of generated text
"""


use rule text_job as generate with:
    input:
        inputs_of("corpus.generate"),
    output:
        source="<results>/corpus/generated/{split}.source",
        target="<results>/corpus/generated/{split}.target",
        conllu="<results>/corpus/generated/{split}.conllu",
        ptb="<results>/corpus/generated/{split}.ptb",
        counts="<results>/corpus/generated/{split}.json",
    log:
        "<logs>/corpus/generate/{split}.log",
    benchmark:
        "<benchmarks>/corpus/generate/{split}.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.generate"),
        job=call_of("corpus.generate"),


use rule text_job as fetch with:
    input:
        inputs_of("corpus.fetch"),
    output:
        output="<results>/corpus/raw/{split}.{side}",
    log:
        "<logs>/corpus/fetch/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/fetch/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.fetch"),
        job=call_of("corpus.fetch"),


use rule text_job as clean with:
    input:
        inputs_of("corpus.clean"),
    output:
        source="<results>/corpus/clean/train.source",
        target=["<results>/corpus/clean/train.target"],
        lines="<results>/corpus/clean/train.lines",
        counts="<results>/corpus/clean/train.json",
    log:
        "<logs>/corpus/clean/train.log",
    benchmark:
        "<benchmarks>/corpus/clean/train.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.clean"),
        job=call_of("corpus.clean"),


use rule clean as clean_length_text with:
    input:
        inputs_of("corpus.clean_length_text"),
    output:
        source="<results>/corpus/clean/{split}.source",
        target=["<results>/corpus/clean/{split}.target"],
        lines="<results>/corpus/clean/{split}.lines",
        counts="<results>/corpus/clean/{split}.json",
    log:
        "<logs>/corpus/clean/{split}.log",
    benchmark:
        "<benchmarks>/corpus/clean/{split}.tsv"
    wildcard_constraints:
        split=build_name_pattern(EXPERIMENT.corpora.length_texts_by_name),
    params:
        identity=identity_of("corpus.clean_length_text"),
        job=call_of("corpus.clean_length_text"),


for target_sides in sorted({tuple(sides) for sides in plan.corpus.reference_sides.values()}):

    rule:
        name:
            f"clean_held_out_with_{len(target_sides)}_references"
        input:
            inputs_of("corpus.clean_held_out"),
        output:
            source="<results>/corpus/clean/{split}.source",
            target=[f"<results>/corpus/clean/{{split}}.{side}" for side in target_sides],
            lines="<results>/corpus/clean/{split}.lines",
            counts="<results>/corpus/clean/{split}.json",
        log:
            "<logs>/corpus/clean/{split}.log",
        benchmark:
            "<benchmarks>/corpus/clean/{split}.tsv"
        wildcard_constraints:
            split=build_name_pattern(
                split for split, sides in plan.corpus.reference_sides.items() if tuple(sides) == target_sides
            ),
        priority: 10
        group:
            on_cluster("text")
        conda:
            "../../../envs/text.yaml"
        threads: 1
        resources:
            mem_mb=text_memory(4000),
            runtime=lambda wildcards, attempt: 120 * attempt,
        params:
            identity=identity_of("corpus.clean_held_out"),
            job=call_of("corpus.clean_held_out"),
        shell:
            "python -m pipeline_py.run {params.job:q} 2>{log:q}"
