"""What the rules of `smt` and `nmt` are given: which systems are whose."""

SYSTEMS_OF = {
    room: "|".join(re.escape(system) for system in EXPERIMENT.systems if EXPERIMENT.is_neural(system) == neural)
    or "none"
    for room, neural in (("smt", False), ("nmt", True))
}
