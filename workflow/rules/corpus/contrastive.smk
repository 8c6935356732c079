"""Contrastive sets: sources with a correct translation and a translation with an error.

REQUIRED INPUTS: the files in `corpora.contrast`, or none (pairs are generated)
OUTPUTS:         <results>/corpus/contrastive/{split}.pairs.tsv and three texts, which are cleaned like held-out sets;
                 gold trees of generated sets
"""


use rule text_job as generate_contrast with:
    input:
        inputs_of("corpus.generate_contrast"),
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
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.generate_contrast"),
        job=call_of("corpus.generate_contrast"),


use rule text_job as contrastive_pairs with:
    input:
        inputs_of("corpus.contrastive_pairs"),
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
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.contrastive_pairs"),
        job=call_of("corpus.contrastive_pairs"),
