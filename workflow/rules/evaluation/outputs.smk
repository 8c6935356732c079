"""Analysis of a table's outputs: word accuracy, n-grams, examples and attention shares; export of all outputs.

REQUIRED INPUTS: translations as text, their scores, clean sources and references, attention in <results>/nmt/
OUTPUTS:         <results>/evaluation/word_frequencies.txt; <results>/evaluation/{table}/attention.tsv, {split}.words.tsv,
                 .ngrams.tsv, .examples.tsv; <results>/export/
"""


use rule text_job as count_word_frequencies with:
    input:
        inputs_of("evaluation.count_word_frequencies"),
    output:
        output="<results>/evaluation/word_frequencies.txt",
    log:
        "<logs>/evaluation/count_word_frequencies/train.log",
    benchmark:
        "<benchmarks>/evaluation/count_word_frequencies/train.tsv"
    params:
        identity=identity_of("evaluation.count_word_frequencies"),
        job=call_of("evaluation.count_word_frequencies"),


use rule text_job as measure_word_accuracy with:
    input:
        inputs_of("evaluation.measure_word_accuracy"),
    output:
        output="<results>/evaluation/{table}/{split}.words.tsv",
    log:
        "<logs>/evaluation/measure_word_accuracy/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/measure_word_accuracy/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.measure_word_accuracy"),
        job=call_of("evaluation.measure_word_accuracy"),


use rule text_job as compare_ngrams with:
    input:
        inputs_of("evaluation.compare_ngrams"),
    output:
        output="<results>/evaluation/{table}/{split}.ngrams.tsv",
    log:
        "<logs>/evaluation/compare_ngrams/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/compare_ngrams/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.compare_ngrams"),
        job=call_of("evaluation.compare_ngrams"),


use rule text_job as select_example_sentences with:
    input:
        inputs_of("evaluation.select_example_sentences"),
    output:
        output="<results>/evaluation/{table}/{split}.examples.tsv",
    log:
        "<logs>/evaluation/select_example_sentences/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/select_example_sentences/{table}.{split}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.select_example_sentences"),
        job=call_of("evaluation.select_example_sentences"),


use rule text_job as count_attention_shares with:
    input:
        inputs_of("evaluation.count_attention_shares"),
    output:
        output="<results>/evaluation/{table}/attention.tsv",
    log:
        "<logs>/evaluation/count_attention_shares/{table}.log",
    benchmark:
        "<benchmarks>/evaluation/count_attention_shares/{table}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("evaluation.count_attention_shares"),
        job=call_of("evaluation.count_attention_shares"),


use rule text_job as export with:
    input:
        inputs_of("evaluation.export"),
    output:
        output=directory("<results>/export"),
    log:
        "<logs>/evaluation/export/outputs.log",
    benchmark:
        "<benchmarks>/evaluation/export/outputs.tsv"
    params:
        identity=identity_of("evaluation.export"),
        job=call_of("evaluation.export"),
