"""Subword segmentation, vocabularies, and packed inputs of the models.

REQUIRED INPUTS: plan.subword.get_word_path_pattern(units, side); <results>/syntax/{parser}/{split}.distances.arrow,
                 .labels, .units.arrow and .binary.ptb if a system reads them
OUTPUTS:         <results>/subword/{units}/packed/{split}.{side}.arrow, <results>/subword/{units}/vocabulary.{side},
                 <results>/subword/{units}/{parser}/{split}.distances.arrow,
                 <results>/subword/{units}/packed/{parser}/{split}.labels.arrow, .units.arrow, .trees.arrow,
                 .heads.arrow, .parents.arrow
"""


use rule text_job as learn_bpe with:
    input:
        inputs_of("subword.learn_bpe"),
    output:
        output="<results>/subword/{units}/codes.{side}",
    log:
        "<logs>/subword/learn_bpe/{units}.{side}.log",
    benchmark:
        "<benchmarks>/subword/learn_bpe/{units}.{side}.tsv"
    wildcard_constraints:
        side="source|target|joint",
    group:
        on_cluster("units")
    resources:
        mem_mb=text_memory(8000),
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        identity=identity_of("subword.learn_bpe"),
        job=call_of("subword.learn_bpe"),


use rule text_job as apply_bpe with:
    input:
        inputs_of("subword.apply_bpe"),
    output:
        output="<results>/subword/{units}/pieces/{split}.{side}",
    log:
        "<logs>/subword/apply_bpe/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/apply_bpe/{units}.{split}.{side}.tsv"
    group:
        on_cluster("units")
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        identity=identity_of("subword.apply_bpe"),
        job=call_of("subword.apply_bpe"),


use rule text_job as parsing_task with:
    input:
        inputs_of("subword.parsing_task"),
    output:
        source="<results>/subword/{units}/tagged/train.source",
        target="<results>/subword/{units}/tagged/train.target",
        counts="<results>/subword/{units}/tagged/train.json",
    log:
        "<logs>/subword/parsing_task/{units}.train.log",
    benchmark:
        "<benchmarks>/subword/parsing_task/{units}.train.tsv"
    wildcard_constraints:
        units=build_name_pattern(EXPERIMENT.parsing_tasks),
    group:
        on_cluster("units")
    params:
        identity=identity_of("subword.parsing_task"),
        job=call_of("subword.parsing_task"),


use rule text_job as tag_held_out_text with:
    input:
        inputs_of("subword.tag_held_out_text"),
    output:
        output="<results>/subword/{units}/tagged/{split}.{side}",
    log:
        "<logs>/subword/tag_held_out_text/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/tag_held_out_text/{units}.{split}.{side}.tsv"
    wildcard_constraints:
        units=build_name_pattern(EXPERIMENT.parsing_tasks),
        split=r"(?!train\.)[^/.]+",
    group:
        on_cluster("units")
    params:
        identity=identity_of("subword.tag_held_out_text"),
        job=call_of("subword.tag_held_out_text"),


use rule text_job as inherit with:
    input:
        inputs_of("subword.inherit"),
    output:
        output="<results>/subword/{units}/{parser}/{split}.{syntax}",
    log:
        "<logs>/subword/inherit/{units}.{parser}.{split}.{syntax}.log",
    benchmark:
        "<benchmarks>/subword/inherit/{units}.{parser}.{split}.{syntax}.tsv"
    wildcard_constraints:
        syntax=build_name_pattern(SYNTAX_NAME_BY_SUFFIX),
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.inherit"),
        job=call_of("subword.inherit"),


use rule text_job as vocabulary with:
    input:
        inputs_of("subword.make_vocabulary"),
    output:
        output="<results>/subword/{units}/vocabulary.{side}",
    log:
        "<logs>/subword/vocabulary/{units}.{side}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary/{units}.{side}.tsv"
    wildcard_constraints:
        side="source|target|joint",
    group:
        on_cluster("units")
    params:
        identity=identity_of("subword.make_vocabulary"),
        job=call_of("subword.make_vocabulary"),


use rule text_job as vocabulary_of_units with:
    input:
        inputs_of("subword.vocabulary_of_units"),
    output:
        output="<results>/subword/{units}/vocabulary.units",
    log:
        "<logs>/subword/vocabulary_of_units/{units}.units.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_units/{units}.units.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.vocabulary_of_units"),
        job=call_of("subword.vocabulary_of_units"),


use rule text_job as vocabulary_of_labels with:
    input:
        inputs_of("subword.vocabulary_of_labels"),
    output:
        output="<results>/subword/{units}/vocabulary.labels.{parser}",
    log:
        "<logs>/subword/vocabulary_of_labels/{units}.{parser}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_labels/{units}.{parser}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.vocabulary_of_labels"),
        job=call_of("subword.vocabulary_of_labels"),


use rule text_job as pack with:
    input:
        inputs_of("subword.pack"),
    output:
        output="<results>/subword/{units}/packed/{split}.{side}.arrow",
        counts="<results>/subword/{units}/packed/{split}.{side}.json",
    log:
        "<logs>/subword/pack/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/pack/{units}.{split}.{side}.tsv"
    group:
        on_cluster("units")
    params:
        identity=identity_of("subword.pack"),
        job=call_of("subword.pack"),


use rule text_job as pack_labels with:
    input:
        inputs_of("subword.pack_labels"),
    output:
        output="<results>/subword/{units}/packed/{parser}/{split}.labels.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.labels.json",
    log:
        "<logs>/subword/pack_labels/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_labels/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_labels"),
        job=call_of("subword.pack_labels"),


use rule text_job as pack_units with:
    input:
        inputs_of("subword.pack_units"),
    output:
        output="<results>/subword/{units}/packed/{parser}/{split}.units.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.units.json",
    log:
        "<logs>/subword/pack_units/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_units/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_units"),
        job=call_of("subword.pack_units"),


use rule text_job as pack_trees with:
    input:
        inputs_of("subword.pack_trees"),
    output:
        output="<results>/subword/{units}/packed/{parser}/{split}.trees.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.trees.json",
    log:
        "<logs>/subword/pack_trees/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_trees/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_trees"),
        job=call_of("subword.pack_trees"),


use rule text_job as pack_lexical_trees with:
    input:
        inputs_of("subword.pack_lexical_trees"),
    output:
        output="<results>/subword/{units}/packed/{split}.lexical_trees.arrow",
        counts="<results>/subword/{units}/packed/{split}.lexical_trees.json",
    log:
        "<logs>/subword/pack_lexical_trees/{units}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_lexical_trees/{units}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_lexical_trees"),
        job=call_of("subword.pack_lexical_trees"),


use rule text_job as pack_heads with:
    input:
        inputs_of("subword.pack_heads"),
    output:
        output="<results>/subword/{units}/packed/{parser}/{split}.heads.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.heads.json",
    log:
        "<logs>/subword/pack_heads/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_heads/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_heads"),
        job=call_of("subword.pack_heads"),


use rule text_job as pack_parents with:
    input:
        inputs_of("subword.pack_parents"),
    output:
        output="<results>/subword/{units}/packed/{parser}/{split}.parents.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.parents.json",
    log:
        "<logs>/subword/pack_parents/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_parents/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("subword.pack_parents"),
        job=call_of("subword.pack_parents"),
