"""Tokenization of clean text, with optional normalization, truecasing and generalisation.

REQUIRED INPUTS: <results>/corpus/clean/; a treebank if a tokenizer is trained
OUTPUTS:         <results>/corpus/tokenized/{split}.{side}, truecased/, normalized/ and generalised/
"""


use rule text_job as learn_segmenter with:
    input:
        inputs_of("corpus.learn_segmenter"),
    output:
        output="<results>/corpus/segmenter.{side}.pt",
        counts="<results>/corpus/segmenter.{side}.json",
    log:
        "<logs>/corpus/learn_segmenter/{side}.log",
    benchmark:
        "<benchmarks>/corpus/learn_segmenter/{side}.tsv"
    priority: 10
    conda:
        "../../../envs/syntax.yaml"
    params:
        identity=identity_of("corpus.learn_segmenter"),
        job=call_of("corpus.learn_segmenter"),


use rule text_job as normalize_punctuation with:
    input:
        inputs_of("corpus.normalize_punctuation"),
    output:
        output="<results>/corpus/normalized/{split}.{side}",
    log:
        "<logs>/corpus/normalize_punctuation/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/normalize_punctuation/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.normalize_punctuation"),
        job=call_of("corpus.normalize_punctuation"),


use rule text_job as tokenize with:
    input:
        inputs_of("corpus.tokenize"),
    output:
        output="<results>/corpus/tokenized/{split}.{side}",
    log:
        "<logs>/corpus/tokenize/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/tokenize/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/syntax.yaml" if plan.corpus.has_stanza_tokenizer else "../../../envs/text.yaml"
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        identity=identity_of("corpus.tokenize"),
        job=call_of("corpus.tokenize"),


use rule text_job as learn_truecaser with:
    input:
        inputs_of("corpus.learn_truecaser"),
    output:
        output="<results>/corpus/truecaser.{side}",
    log:
        "<logs>/corpus/learn_truecaser/{side}.log",
    benchmark:
        "<benchmarks>/corpus/learn_truecaser/{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        identity=identity_of("corpus.learn_truecaser"),
        job=call_of("corpus.learn_truecaser"),


use rule text_job as truecase with:
    input:
        inputs_of("corpus.truecase"),
    output:
        output="<results>/corpus/truecased/{split}.{side}",
    log:
        "<logs>/corpus/truecase/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/truecase/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.truecase"),
        job=call_of("corpus.truecase"),


use rule text_job as generalise with:
    input:
        inputs_of("corpus.generalise"),
    output:
        output="<results>/corpus/generalised/{rarer}/{split}.{side}",
        counts="<results>/corpus/generalised/{rarer}/{split}.{side}.json",
    log:
        "<logs>/corpus/generalise/{rarer}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/generalise/{rarer}.{split}.{side}.tsv"
    wildcard_constraints:
        rarer=r"\d+",
    group:
        on_cluster("text")
    params:
        identity=identity_of("corpus.generalise"),
        job=call_of("corpus.generalise"),
