"""Contrastive sets: sources with a correct translation and a translation with an error.

REQUIRED INPUTS: the files in `corpora.contrast`, or none (pairs are generated)
OUTPUTS:         <results>/corpus/contrastive/{split}.pairs.tsv and three texts, which are cleaned like held-out sets;
                 gold trees of generated sets
"""


use rule text_job as generate_contrastive_pairs with:
    input:
        inputs_of("corpus.generate_contrastive_pairs"),
    output:
        pairs="<results>/corpus/contrastive/{split}.generated.tsv",
        conllu="<results>/corpus/contrastive/{split}.conllu",
        ptb="<results>/corpus/contrastive/{split}.ptb",
        counts="<results>/corpus/contrastive/{split}.json",
    log:
        "<logs>/corpus/generate_contrastive_pairs/{split}.log",
    benchmark:
        "<benchmarks>/corpus/generate_contrastive_pairs/{split}.tsv"
    wildcard_constraints:
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.generate_contrastive_pairs"),
        job=call_of("corpus.generate_contrastive_pairs"),


use rule text_job as split_contrastive_pairs with:
    input:
        inputs_of("corpus.split_contrastive_pairs"),
    output:
        source="<results>/corpus/contrastive/{split}.source",
        correct="<results>/corpus/contrastive/{split}.target",
        contrastive="<results>/corpus/contrastive/{split}.target1",
        pairs="<results>/corpus/contrastive/{split}.pairs.tsv",
    log:
        "<logs>/corpus/split_contrastive_pairs/{split}.log",
    benchmark:
        "<benchmarks>/corpus/split_contrastive_pairs/{split}.tsv"
    wildcard_constraints:
        split=build_name_pattern(EXPERIMENT.corpora.contrastive_sets),
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.split_contrastive_pairs"),
        job=call_of("corpus.split_contrastive_pairs"),
