"""Inputs and parameters of rules, from the jobs of the plan; `workflow/rules/base.smk` shows their use."""

@cache
def find_job(name, wildcards):
    return plan.build_job(name, dict(wildcards))


def inputs_of(name, note=None):
    """Return the input files of the jobs of a rule; `note` is called with the wildcards of jobs of this run."""

    def inputs(wildcards):
        force_outdated_jobs()
        if note is not None:
            note(wildcards)
        return find_job(name, tuple(wildcards.items())).rule_inputs

    return unpack(inputs)


def identity_of(name):
    """Return what decides the outputs of the jobs of a rule; if it changes, they run again."""
    return lambda wildcards: plan.compute_identity(find_job(name, tuple(wildcards.items())))


def call_of(name):
    """Return the job for `python -m pipeline_py.run`."""
    return lambda wildcards, input, output, threads: plan.serialize_call(
        name, dict(wildcards.items()), dict(input.items()), dict(output.items()), threads
    )


def cards_of_table(wildcards):
    """Return the model cards that are made with a table; none if `--allowed-rules` leaves out their rule."""
    allowed_rules = workflow.dag_settings.allowed_rules
    if allowed_rules and "bundle_system" not in allowed_rules:
        return []
    return ancient(plan.bundles.get_card_paths(wildcards.table))
