"""Text comes in, before anything else, so that what is wrong with it is said before hours of work.

REQUIRED INPUTS: the files named under `corpora`, or none (the embedded corpus is generated)
OUTPUTS:         <results>/corpus/clean/{split}.{side}, and of generated text its true trees
"""


rule generate:
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
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: plan.corpus.generation_of_split(wildcards.split),
    shell:
        """
        python -m pipeline_py.corpus.generate \
            --sentences {params.given[sentences]} \
            --seed {params.given[seed]} \
            --share-from {params.given[share][0]} \
            --share-to {params.given[share][1]} \
            --min-length {params.given[min_length]} \
            --max-length {params.given[max_length]} \
            --lengths {params.given[lengths]} \
            --focus {params.given[focus]} \
            --lexicon {params.given[lexicon]} \
            {params.given[digits]} \
            --ambiguous {params.given[ambiguous]} \
            --source-output {output.source:q} \
            --target-output {output.target:q} \
            --conllu-output {output.conllu:q} \
            --ptb-output {output.ptb:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule fetch:
    input:
        lambda wildcards: plan.corpus.files_of(wildcards.split, wildcards.side),
    output:
        text="<results>/corpus/raw/{split}.{side}",
    log:
        "<logs>/corpus/fetch/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/fetch/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "content": plan.contents_of(plan.corpus.files_of(wildcards.split, wildcards.side)),
            "made_by": made_by("corpus.fetch"),
        },
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.corpus.fetch \
            {params.files:q} \
            --output {output.text:q} \
            2>{log:q}
        """


rule clean:
    input:
        source=plan.corpus.raw("train", "source"),
        target=plan.corpus.raw("train", "target"),
        held_out=plan.corpus.sets_that_may_leak(),
    output:
        source="<results>/corpus/clean/train.source",
        target="<results>/corpus/clean/train.target",
        lines="<results>/corpus/clean/train.lines",
        counts="<results>/corpus/clean/train.json",
    log:
        "<logs>/corpus/clean/train.log",
    benchmark:
        "<benchmarks>/corpus/clean/train.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=plan.corpus.cleaning(),
        held_out=lambda wildcards, input: [f"--held-out={file}" for file in input.held_out],
        flags=plan.corpus.cleaning_flags(),
        called=lambda wildcards, input: plan.corpus.copies_of_files(
            "train", {"source": input.source, "target": input.target}
        ),
    shell:
        """
        python -m pipeline_py.corpus.clean \
            --mode train \
            --source-input {input.source:q} \
            --target-input {input.target:q} \
            {params.held_out:q} \
            --min-length {params.given[min_length]} \
            --max-length {params.given[max_length]} \
            --max-ratio {params.given[max_ratio]} \
            {params.flags:q} \
            {params.called:q} \
            --source-output {output.source:q} \
            --target-output {output.target:q} \
            --lines-output {output.lines:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


for target_sides in sorted({tuple(sides) for sides in plan.corpus.references.values()}):

    rule:
        name:
            f"clean_held_out_with_{len(target_sides)}_references"
        input:
            source=lambda wildcards: plan.corpus.raw(wildcards.split, "source"),
            targets=lambda wildcards: [
                plan.corpus.raw(wildcards.split, side) for side in plan.corpus.references[wildcards.split]
            ],
        output:
            source="<results>/corpus/clean/{split}.source",
            targets=[f"<results>/corpus/clean/{{split}}.{side}" for side in target_sides],
            lines="<results>/corpus/clean/{split}.lines",
            counts="<results>/corpus/clean/{split}.json",
        log:
            "<logs>/corpus/clean/{split}.log",
        benchmark:
            "<benchmarks>/corpus/clean/{split}.tsv"
        wildcard_constraints:
            split=one_of(split for split, sides in plan.corpus.references.items() if tuple(sides) == target_sides),
        priority: 10
        group:
            on_cluster("text")
        conda:
            "../../../envs/text.yaml"
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 1000 * attempt,
            runtime=lambda wildcards, attempt: 30 * attempt,
        params:
            given={"tokenized": plan.corpus.tokenized_sides(), "made_by": made_by("corpus.clean")},
            targets=lambda wildcards, input, output: [
                *(f"--target-input={file}" for file in input.targets),
                *(f"--target-output={file}" for file in output.targets),
            ],
            called=lambda wildcards, input: plan.corpus.copies_of_files(
                wildcards.split,
                dict(zip(["source", *plan.corpus.references[wildcards.split]], [input.source, *input.targets])),
            ),
        shell:
            """
            python -m pipeline_py.corpus.clean \
                --mode held-out \
                --source-input {input.source:q} \
                --source-output {output.source:q} \
                {params.targets:q} \
                {params.given[tokenized]:q} \
                {params.called:q} \
                --lines-output {output.lines:q} \
                --counts-output {output.counts:q} \
                2>{log:q}
            """
