"""English verb forms."""

from dataclasses import dataclass

# base, third person singular, past, past participle, -ing form
IRREGULAR = """
be is was been being
become becomes became become becoming
begin begins began begun beginning
believe believes believed believed believing
blow blows blew blown blowing
break breaks broke broken breaking
bring brings brought brought bringing
build builds built built building
buy buys bought bought buying
catch catches caught caught catching
come comes came come coming
cut cuts cut cut cutting
do does did done doing
draw draws drew drawn drawing
drink drinks drank drunk drinking
drive drives drove driven driving
eat eats ate eaten eating
fall falls fell fallen falling
find finds found found finding
forget forgets forgot forgotten forgetting
forbid forbids forbade forbidden forbidding
get gets got got getting
give gives gave given giving
go goes went gone going
grow grows grew grown growing
hang hangs hung hung hanging
have has had had having
hear hears heard heard hearing
hide hides hid hidden hiding
hit hits hit hit hitting
know knows knew known knowing
leave leaves left left leaving
lend lends lent lent lending
let lets let let letting
lie lies lay lain lying
lose loses lost lost losing
make makes made made making
meet meets met met meeting
pay pays paid paid paying
put puts put put putting
read reads read read reading
run runs ran run running
say says said said saying
see sees saw seen seeing
sell sells sold sold selling
send sends sent sent sending
set sets set set setting
show shows showed shown showing
sing sings sang sung singing
sit sits sat sat sitting
sleep sleeps slept slept sleeping
stand stands stood stood standing
steal steals stole stolen stealing
swim swims swam swum swimming
take takes took taken taking
tear tears tore torn tearing
tell tells told told telling
think thinks thought thought thinking
throw throws threw thrown throwing
understand understands understood understood understanding
wake wakes woke woken waking
wear wears wore worn wearing
win wins won won winning
write writes wrote written writing
"""

DOUBLED = frozenset(("stop", "plan"))


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The five forms of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


_IRREGULAR = {line.split()[0]: EnglishVerb(*line.split()) for line in IRREGULAR.strip().splitlines()}


def english_verb(base: str) -> EnglishVerb:
    """The forms of a verb: listed, or by the rules for -e, -y, sibilants and doubled consonants."""
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return EnglishVerb(base, base + "s", base + "d", base + "d", base[:-1] + "ing")
    if base.endswith("y") and base[-2] not in "aeiou":
        return EnglishVerb(base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied", base + "ing")
    third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")
    stem = base + base[-1] if base in DOUBLED else base
    return EnglishVerb(base, third, stem + "ed", stem + "ed", stem + "ing")
