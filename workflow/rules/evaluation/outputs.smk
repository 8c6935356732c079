"""Analysis of a table's outputs: word accuracy, n-grams, examples and attention shares.

REQUIRED INPUTS: translations as text, clean references, attention in <results>/nmt/
OUTPUTS:         <results>/evaluation/word_frequencies.txt; <results>/evaluation/{table}/attention.tsv, {split}.words.tsv,
                 .ngrams.tsv, .examples.tsv
"""


use rule text_job as word_frequencies with:
    input:
        inputs_of("evaluation.word_frequencies"),
    output:
        output="<results>/evaluation/word_frequencies.txt",
    log:
        "<logs>/evaluation/word_frequencies/train.log",
    benchmark:
        "<benchmarks>/evaluation/word_frequencies/train.tsv"
    params:
        identity=identity_of("evaluation.word_frequencies"),
        job=call_of("evaluation.word_frequencies"),


use rule text_job as words with:
    input:
        inputs_of("evaluation.words"),
    output:
        output="<results>/evaluation/{table}/{split}.words.tsv",
    log:
        "<logs>/evaluation/words/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/words/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.words"),
        job=call_of("evaluation.words"),


use rule text_job as ngrams with:
    input:
        inputs_of("evaluation.ngrams"),
    output:
        output="<results>/evaluation/{table}/{split}.ngrams.tsv",
    log:
        "<logs>/evaluation/ngrams/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/ngrams/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.ngrams"),
        job=call_of("evaluation.ngrams"),


use rule text_job as examples with:
    input:
        inputs_of("evaluation.examples"),
    output:
        output="<results>/evaluation/{table}/{split}.examples.tsv",
    log:
        "<logs>/evaluation/examples/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/examples/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.examples"),
        job=call_of("evaluation.examples"),


use rule text_job as attention_shares with:
    input:
        inputs_of("evaluation.attention_shares"),
    output:
        output="<results>/evaluation/{table}/attention.tsv",
    log:
        "<logs>/evaluation/attention_shares/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/attention_shares/{table}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.attention_shares"),
        job=call_of("evaluation.attention_shares"),
