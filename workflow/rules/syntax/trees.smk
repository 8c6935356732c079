"""Trees from Stanza, from the user's files, or of a fixed shape (control trees).

REQUIRED INPUTS: plan.corpus.get_token_path_pattern("source"); model files of a parser or the user's trees; clean text
                 or a table of words, if a parser reads other words than the tokens
OUTPUTS:         <results>/syntax/{parser}/{split}.conllu and .ptb

Dependency and constituency trees have separate jobs: a system that reads one never waits for the other. A text of more
than `parsing.shard_size` words is parsed in parallel shards, which are merged in order.
"""


wildcard_constraints:
    trees="conllu|ptb",
    shard=r"\d+",


use rule syntax_job as parse with:
    input:
        inputs_of("syntax.parse"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/parse/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.own_tree_pattern("trained", "stanza"),
        split=build_name_pattern(split for split in plan.syntax.shard_counts if plan.syntax.shard_counts[split] == 1),
    resources:
        mem_mb=parser_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("syntax.parse"),
        job=call_of("syntax.parse"),


use rule syntax_job as parse_shard with:
    input:
        inputs_of("syntax.parse_shard"),
    output:
        output="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}",
        counts="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}.json",
        facts="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}.facts.json",
    log:
        "<logs>/syntax/parse_shard/{parser}.{split}.{shard}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_shard/{parser}.{split}.{shard}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.parser_name_pattern("trained", "stanza"),
        split=build_name_pattern(split for split in plan.syntax.shard_counts if plan.syntax.shard_counts[split] > 1),
    resources:
        mem_mb=parser_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("syntax.parse_shard"),
        job=call_of("syntax.parse_shard"),


use rule syntax_job as merge_trees with:
    input:
        inputs_of("syntax.merge_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/merge_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/merge_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.own_tree_pattern("trained", "stanza"),
        split=build_name_pattern(split for split in plan.syntax.shard_counts if plan.syntax.shard_counts[split] > 1),
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.merge_trees"),
        job=call_of("syntax.merge_trees"),


use rule syntax_job as import_trees with:
    input:
        inputs_of("syntax.import_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/import_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/import_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.own_tree_pattern("given"),
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.import_trees"),
        job=call_of("syntax.import_trees"),


use rule syntax_job as build_control_trees with:
    input:
        inputs_of("syntax.build_control_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/build_control_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/build_control_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.control_name_pattern(is_permuted=False),
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.build_control_trees"),
        job=call_of("syntax.build_control_trees"),


use rule syntax_job as permute_trees with:
    input:
        inputs_of("syntax.permute_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/permute_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/permute_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.control_name_pattern(is_permuted=True),
        trees="conllu",
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.permute_trees"),
        job=call_of("syntax.permute_trees"),
