"""Units of the models.

REQUIRED INPUTS: words(units, side); <results>/syntax/{parser}/{split}.distances.arrow where a system reads it,
                 .labels, .units.arrow and .binary.ptb likewise
OUTPUTS:         <results>/subword/{units}/packed/{split}.{side}.arrow, <results>/subword/{units}/vocabulary.{side},
                 <results>/subword/{units}/{parser}/{split}.distances.arrow,
                 <results>/subword/{units}/packed/{parser}/{split}.labels.arrow, .units.arrow, .trees.arrow,
                 .heads.arrow, .parents.arrow
"""


rule learn_bpe:
    input:
        text=lambda wildcards: [
            plan.subword.words(wildcards.units, side).format(split="train")
            for side in (("source", "target") if wildcards.side == "joint" else (wildcards.side,))
        ],
    output:
        codes="<results>/subword/{units}/codes.{side}",
    log:
        "<logs>/subword/learn_bpe/{units}.{side}.log",
    benchmark:
        "<benchmarks>/subword/learn_bpe/{units}.{side}.tsv"
    wildcard_constraints:
        side="source|target|joint",
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.units[wildcards.units].model_dump(include={"merges", "min_frequency", "joint"}),
            "made_by": made_by("subword.learn_bpe", "subword-nmt"),
        },
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.subword.learn_bpe \
            {params.files:q} \
            --merges {params.given[merges]} \
            --min-frequency {params.given[min_frequency]} \
            --output {output.codes:q} \
            2>{log:q}
        """


rule apply_bpe:
    input:
        text=lambda wildcards: plan.subword.words(wildcards.units, wildcards.side),
        codes=lambda wildcards: plan.subword.codes(wildcards.units, wildcards.side),
    output:
        pieces="<results>/subword/{units}/pieces/{split}.{side}",
    log:
        "<logs>/subword/apply_bpe/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/apply_bpe/{units}.{split}.{side}.tsv"
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given={"made_by": made_by("subword.apply_bpe", "subword-nmt")},
    shell:
        """
        python -m pipeline_py.subword.apply_bpe \
            --input {input.text:q} \
            --codes {input.codes:q} \
            --output {output.pieces:q} \
            2>{log:q}
        """


rule parsing_task:
    input:
        source=lambda wildcards: plan.subword.pieces(plan.subword.of_translation(wildcards.units), "source").format(
            split="train"
        ),
        target=lambda wildcards: plan.subword.pieces(plan.subword.of_translation(wildcards.units), "target").format(
            split="train"
        ),
        trees=lambda wildcards: f"<results>/syntax/{EXPERIMENT.tasks[wildcards.units].parser}/train.ptb",
    output:
        source="<results>/subword/{units}/tagged/train.source",
        target="<results>/subword/{units}/tagged/train.target",
        counts="<results>/subword/{units}/tagged/train.json",
    log:
        "<logs>/subword/parsing_task/{units}.train.log",
    benchmark:
        "<benchmarks>/subword/parsing_task/{units}.train.tsv"
    wildcard_constraints:
        units=one_of(EXPERIMENT.tasks),
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.parsing_task")},
    shell:
        """
        python -m pipeline_py.subword.parsing_task \
            --source {input.source:q} \
            --target {input.target:q} \
            --trees {input.trees:q} \
            --source-output {output.source:q} \
            --target-output {output.target:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule parsing_task_held_out:
    input:
        pieces=lambda wildcards: plan.subword.pieces(plan.subword.of_translation(wildcards.units), wildcards.side),
    output:
        pieces="<results>/subword/{units}/tagged/{split}.{side}",
    log:
        "<logs>/subword/parsing_task_held_out/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/parsing_task_held_out/{units}.{split}.{side}.tsv"
    wildcard_constraints:
        units=one_of(EXPERIMENT.tasks),
        split=r"(?!train\.)[^/.]+",
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.parsing_task")},
        side=lambda wildcards: "source" if wildcards.side == "source" else "target",
    shell:
        """
        python -m pipeline_py.subword.parsing_task \
            --{params.side} {input.pieces:q} \
            --{params.side}-output {output.pieces:q} \
            2>{log:q}
        """


rule inherit:
    input:
        syntax="<results>/syntax/{parser}/{split}.{syntax}",
        pieces=lambda wildcards: plan.subword.pieces(wildcards.units, "source"),
    output:
        syntax="<results>/subword/{units}/{parser}/{split}.{syntax}",
    log:
        "<logs>/subword/inherit/{units}.{parser}.{split}.{syntax}.log",
    benchmark:
        "<benchmarks>/subword/inherit/{units}.{parser}.{split}.{syntax}.tsv"
    wildcard_constraints:
        syntax=one_of(INHERITED),
    group:
        on_cluster("views")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            "kind": INHERITED[wildcards.syntax],
            "made_by": made_by("subword.inherit", "pyarrow", parts=[f"kinds.{INHERITED[wildcards.syntax]}"]),
        },
    shell:
        """
        python -m pipeline_py.subword.inherit \
            --kind {params.given[kind]} \
            --input {input.syntax:q} \
            --pieces {input.pieces:q} \
            --output {output.syntax:q} \
            2>{log:q}
        """


rule vocabulary:
    input:
        text=lambda wildcards: [
            plan.subword.pieces(wildcards.units, side).format(split="train")
            for side in (("source", "target") if wildcards.side == "joint" else (wildcards.side,))
        ],
    output:
        vocabulary="<results>/subword/{units}/vocabulary.{side}",
    log:
        "<logs>/subword/vocabulary/{units}.{side}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary/{units}.{side}.tsv"
    wildcard_constraints:
        side="source|target|joint",
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            **getattr(EXPERIMENT.units[wildcards.units], f"{wildcards.side}_vocabulary").model_dump(),
            "made_by": made_by("subword.vocabulary"),
        },
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.subword.vocabulary \
            {params.files:q} \
            --max-size {params.given[max_size]} \
            --min-count {params.given[min_count]} \
            --output {output.vocabulary:q} \
            2>{log:q}
        """


use rule vocabulary as vocabulary_of_units with:
    input:
        text=plan.corpus.tokens("source").format(split="train"),
    output:
        vocabulary="<results>/subword/{units}/vocabulary.units",
    log:
        "<logs>/subword/vocabulary_of_units/{units}.units.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_units/{units}.units.tsv"
    group:
        on_cluster("views")
    params:
        given=lambda wildcards: {
            **EXPERIMENT.units[wildcards.units].unit_vocabulary.model_dump(),
            "made_by": made_by("subword.vocabulary"),
        },


use rule vocabulary as vocabulary_of_labels with:
    input:
        text="<results>/syntax/{parser}/train.labels",
    output:
        vocabulary="<results>/subword/{units}/vocabulary.labels.{parser}",
    log:
        "<logs>/subword/vocabulary_of_labels/{units}.{parser}.log",
    benchmark:
        "<benchmarks>/subword/vocabulary_of_labels/{units}.{parser}.tsv"
    group:
        on_cluster("views")
    params:
        given={"max_size": 0, "min_count": 1, "made_by": made_by("subword.vocabulary")},


rule pack:
    input:
        text=lambda wildcards: plan.subword.pieces(wildcards.units, wildcards.side),
        vocabulary=lambda wildcards: plan.subword.vocabulary(wildcards.units, wildcards.side),
    output:
        rows="<results>/subword/{units}/packed/{split}.{side}.arrow",
        counts="<results>/subword/{units}/packed/{split}.{side}.json",
    log:
        "<logs>/subword/pack/{units}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/subword/pack/{units}.{split}.{side}.tsv"
    group:
        on_cluster("units")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.pack", "pyarrow")},
    shell:
        """
        python -m pipeline_py.subword.pack \
            --input {input.text:q} \
            --vocabulary {input.vocabulary:q} \
            --output {output.rows:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


use rule pack as pack_labels with:
    input:
        text=lambda wildcards: plan.subword.syntax(wildcards.units, "labels"),
        vocabulary="<results>/subword/{units}/vocabulary.labels.{parser}",
    output:
        rows="<results>/subword/{units}/packed/{parser}/{split}.labels.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.labels.json",
    log:
        "<logs>/subword/pack_labels/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_labels/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")


rule pack_units:
    input:
        units=lambda wildcards: plan.subword.syntax(wildcards.units, "units"),
        tokens=plan.corpus.tokens("source"),
        vocabulary="<results>/subword/{units}/vocabulary.units",
    output:
        rows="<results>/subword/{units}/packed/{parser}/{split}.units.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.units.json",
    log:
        "<logs>/subword/pack_units/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_units/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.pack_units", "pyarrow")},
    shell:
        """
        python -m pipeline_py.subword.pack_units \
            --units {input.units:q} \
            --tokens {input.tokens:q} \
            --vocabulary {input.vocabulary:q} \
            --output {output.rows:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule pack_trees:
    input:
        trees=lambda wildcards: plan.subword.syntax(wildcards.units, "trees"),
        pieces=lambda wildcards: plan.subword.pieces(wildcards.units, "source"),
    output:
        rows="<results>/subword/{units}/packed/{parser}/{split}.trees.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.trees.json",
    log:
        "<logs>/subword/pack_trees/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_trees/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.pack_trees", "pyarrow")},
        trees=lambda wildcards, input: f"--trees={input.trees}",
    shell:
        """
        python -m pipeline_py.subword.pack_trees \
            {params.trees:q} \
            --pieces {input.pieces:q} \
            --output {output.rows:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


use rule pack_trees as pack_lexical_trees with:
    input:
        pieces=lambda wildcards: plan.subword.pieces(wildcards.units, "source"),
    output:
        rows="<results>/subword/{units}/packed/{split}.lexical_trees.arrow",
        counts="<results>/subword/{units}/packed/{split}.lexical_trees.json",
    log:
        "<logs>/subword/pack_lexical_trees/{units}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_lexical_trees/{units}.{split}.tsv"
    params:
        trees="--lexical",


rule pack_heads:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=plan.corpus.tokens("source"),
        pieces=lambda wildcards: plan.subword.pieces(wildcards.units, "source"),
    output:
        rows="<results>/subword/{units}/packed/{parser}/{split}.heads.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.heads.json",
    log:
        "<logs>/subword/pack_heads/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_heads/{units}.{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("subword.pack_heads", "pyarrow")},
        parents="",
    shell:
        """
        python -m pipeline_py.subword.pack_heads \
            {params.parents} \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --pieces {input.pieces:q} \
            --output {output.rows:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


use rule pack_heads as pack_parents with:
    output:
        rows="<results>/subword/{units}/packed/{parser}/{split}.parents.arrow",
        counts="<results>/subword/{units}/packed/{parser}/{split}.parents.json",
    log:
        "<logs>/subword/pack_parents/{units}.{parser}.{split}.log",
    benchmark:
        "<benchmarks>/subword/pack_parents/{units}.{parser}.{split}.tsv"
    params:
        parents="--parents",
