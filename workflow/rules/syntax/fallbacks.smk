"""Trees of sentences that a parser could not parse, from its fallback.

REQUIRED INPUTS: the trees of both parsers; plan.corpus.get_token_path_pattern("source") and clean text, if the fallback
                 runs Stanza
OUTPUTS:         <results>/syntax/{parser}/{split}.conllu and .ptb of parsers with a fallback

The parser's own trees are in <results>/syntax/{parser}.before.{fallback}/. A fallback that runs Stanza parses only the
failed sentences, in the folder `failed` there; other fallbacks have trees of the whole text.
"""


use rule syntax_job as select_failed_sentences with:
    input:
        inputs_of("fallbacks.select_failed_sentences"),
    output:
        tokens="<results>/syntax/{parser}/failed/{split}.{trees}.tokens",
        text="<results>/syntax/{parser}/failed/{split}.{trees}.text",
    log:
        "<logs>/syntax/select_failed_sentences/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/select_failed_sentences/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.failed_tree_pattern(),
    group:
        on_cluster("views")
    params:
        identity=identity_of("fallbacks.select_failed_sentences"),
        job=call_of("fallbacks.select_failed_sentences"),


use rule syntax_job as parse_failed_sentences with:
    input:
        inputs_of("fallbacks.parse_failed_sentences"),
    output:
        output="<results>/syntax/{parser}/failed/{split}.{trees}",
        counts="<results>/syntax/{parser}/failed/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/failed/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/parse_failed_sentences/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_failed_sentences/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.failed_tree_pattern(),
    resources:
        mem_mb=fallback_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("fallbacks.parse_failed_sentences"),
        job=call_of("fallbacks.parse_failed_sentences"),


use rule syntax_job as replace_failed_trees with:
    input:
        inputs_of("fallbacks.replace_failed_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/replace_failed_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/replace_failed_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.fallbacks.replaced_tree_pattern(),
    group:
        on_cluster("views")
    params:
        identity=identity_of("fallbacks.replace_failed_trees"),
        job=call_of("fallbacks.replace_failed_trees"),
