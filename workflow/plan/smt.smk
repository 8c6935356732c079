"""What the rules of `smt`, `nmt` and later rooms are given: which systems are whose."""

ROOM_OF = {system: "nmt" if EXPERIMENT.is_neural(system) else "smt" for system in EXPERIMENT.systems}


SYSTEMS_OF = {room: one_of(system for system in ROOM_OF if ROOM_OF[system] == room) for room in ("smt", "nmt")}

NETWORKS = one_of(system for system in EXPERIMENT.systems if EXPERIMENT.networks(system) == [system])
