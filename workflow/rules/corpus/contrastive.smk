"""Contrastive sets come in: sources with a correct translation and one with an error.

REQUIRED INPUTS: the files named under `corpora.contrast`, or none (pairs are generated)
OUTPUTS:         <results>/corpus/contrastive/{split}.pairs.tsv and three texts that are cleaned as held-out sets are;
                 of generated sets their true trees
"""


rule generate_contrast:
    output:
        pairs="<results>/corpus/contrastive/{split}.generated.tsv",
        conllu="<results>/corpus/contrastive/{split}.conllu",
        ptb="<results>/corpus/contrastive/{split}.ptb",
        counts="<results>/corpus/contrastive/{split}.json",
    log:
        "<logs>/corpus/generate_contrast/{split}.log",
    benchmark:
        "<benchmarks>/corpus/generate_contrast/{split}.tsv"
    wildcard_constraints:
        split=one_of(EXPERIMENT.corpora.contrastive),
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
        given=lambda wildcards: plan.corpus.generation_of_pairs(wildcards.split),
    shell:
        """
        python -m pipeline_py.corpus.generate_contrast \
            --sentences {params.given[sentences]} \
            {params.given[kinds]} \
            --seed {params.given[seed]} \
            --share-from {params.given[share][0]} \
            --share-to {params.given[share][1]} \
            --min-length {params.given[min_length]} \
            --max-length {params.given[max_length]} \
            --lengths {params.given[lengths]} \
            --lexicon {params.given[lexicon]} \
            {params.given[digits]} \
            --pairs-output {output.pairs:q} \
            --conllu-output {output.conllu:q} \
            --ptb-output {output.ptb:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule contrastive_pairs:
    input:
        lambda wildcards: plan.corpus.raw_pairs(wildcards.split),
    output:
        source="<results>/corpus/contrastive/{split}.source",
        correct="<results>/corpus/contrastive/{split}.target",
        contrastive="<results>/corpus/contrastive/{split}.target1",
        pairs="<results>/corpus/contrastive/{split}.pairs.tsv",
    log:
        "<logs>/corpus/contrastive_pairs/{split}.log",
    benchmark:
        "<benchmarks>/corpus/contrastive_pairs/{split}.tsv"
    wildcard_constraints:
        split=one_of(EXPERIMENT.corpora.contrastive),
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "content": plan.contents_of(plan.corpus.files_of_pairs(wildcards.split)),
            "made_by": made_by("corpus.contrastive_pairs"),
        },
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.corpus.contrastive_pairs \
            {params.files:q} \
            --source-output {output.source:q} \
            --correct-output {output.correct:q} \
            --contrastive-output {output.contrastive:q} \
            --pairs-output {output.pairs:q} \
            2>{log:q}
        """
