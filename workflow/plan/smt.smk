"""What the rules of `smt`, `nmt` and later rooms are given: which systems are whose."""

ROOM_OF = {system: "nmt" if EXPERIMENT.is_neural(system) else "smt" for system in EXPERIMENT.systems}

SYSTEMS_OF = {
    room: "|".join(re.escape(system) for system in ROOM_OF if ROOM_OF[system] == room) or "none"
    for room in ("smt", "nmt")
}
