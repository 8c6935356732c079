"""German verb forms: finite, participle and infinitives, with separable prefixes.

A verb is named by its infinitive, with `+` behind a separable prefix and `sich` in front of a reflexive one, as in
`sich hin+setzen`.
"""

from dataclasses import dataclass
from functools import cache

# infinitive, third person singular present, past stem (first person singular), past participle
STRONG = """
backen backt backte gebacken
beginnen beginnt begann begonnen
befehlen befiehlt befahl befohlen
beschließen beschließt beschloss beschlossen
bieten bietet bot geboten
bitten bittet bat gebeten
bleiben bleibt blieb geblieben
brechen bricht brach gebrochen
bringen bringt brachte gebracht
denken denkt dachte gedacht
entkommen entkommt entkam entkommen
erfinden erfindet erfand erfunden
essen isst aß gegessen
fahren fährt fuhr gefahren
fallen fällt fiel gefallen
finden findet fand gefunden
fliegen fliegt flog geflogen
geben gibt gab gegeben
gehen geht ging gegangen
gewinnen gewinnt gewann gewonnen
haben hat hatte gehabt
heben hebt hob gehoben
helfen hilft half geholfen
kennen kennt kannte gekannt
kommen kommt kam gekommen
lassen lässt ließ gelassen
laufen läuft lief gelaufen
leihen leiht lieh geliehen
lesen liest las gelesen
liegen liegt lag gelegen
nehmen nimmt nahm genommen
raten rät riet geraten
reißen reißt riss gerissen
rufen ruft rief gerufen
schlafen schläft schlief geschlafen
schlagen schlägt schlug geschlagen
schließen schließt schloss geschlossen
schneiden schneidet schnitt geschnitten
schreiben schreibt schrieb geschrieben
schwimmen schwimmt schwamm geschwommen
sehen sieht sah gesehen
sein ist war gewesen
singen singt sang gesungen
sitzen sitzt saß gesessen
sprechen spricht sprach gesprochen
springen springt sprang gesprungen
stehen steht stand gestanden
stehlen stiehlt stahl gestohlen
steigen steigt stieg gestiegen
sterben stirbt starb gestorben
streichen streicht strich gestrichen
tragen trägt trug getragen
treffen trifft traf getroffen
trinken trinkt trank getrunken
verbieten verbietet verbot verboten
vergessen vergisst vergaß vergessen
verlassen verlässt verließ verlassen
verlieren verliert verlor verloren
verschieben verschiebt verschob verschoben
verschwinden verschwindet verschwand verschwunden
versprechen verspricht versprach versprochen
verstehen versteht verstand verstanden
wachsen wächst wuchs gewachsen
waschen wäscht wusch gewaschen
weisen weist wies gewiesen
werden wird wurde geworden
werfen wirft warf geworfen
wissen weiß wusste gewusst
zerbrechen zerbricht zerbrach zerbrochen
zerreißen zerreißt zerriss zerrissen
ziehen zieht zog gezogen
zwingen zwingt zwang gezwungen
übergeben übergibt übergab übergeben
übernehmen übernimmt übernahm übernommen
"""

INSEPARABLE = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")
# Begin like an inseparable prefix and have none.
SIMPLE = frozenset(("bellen",))

# The first and third person singular and the plural, present and past, of verbs that follow no rule.
_PRESENT = {
    "sein": ("bin", "ist", "sind"),
    "haben": ("habe", "hat", "haben"),
    "werden": ("werde", "wird", "werden"),
    "wissen": ("weiß", "weiß", "wissen"),
    "können": ("kann", "kann", "können"),
    "müssen": ("muss", "muss", "müssen"),
    "sollen": ("soll", "soll", "sollen"),
    "wollen": ("will", "will", "wollen"),
    "dürfen": ("darf", "darf", "dürfen"),
}
_MODAL_PAST = {"können": "konnte", "müssen": "musste", "sollen": "sollte", "wollen": "wollte", "dürfen": "durfte"}


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """The forms of a German verb; `prefix` is its separable prefix or empty."""

    prefix: str
    base: str  # infinitive without the prefix
    present: tuple[str, str, str]  # ich, er, wir/sie; without the prefix
    past: tuple[str, str, str]
    base_participle: str
    reflexive: bool

    @property
    def infinitive(self) -> str:
        """E.g. `aufheben`."""
        return self.prefix + self.base

    @property
    def zu_infinitive(self) -> tuple[str, ...]:
        """E.g. (`aufzuheben`,) or (`zu`, `lesen`)."""
        return (self.prefix + "zu" + self.base,) if self.prefix else ("zu", self.base)

    @property
    def participle(self) -> str:
        """E.g. `aufgehoben`."""
        return self.prefix + self.base_participle


def _forms(line: str) -> tuple[str, tuple[str, str, str]]:
    infinitive, third, past, participle = line.split()
    return infinitive, (third, past, participle)


_STRONG = dict(_forms(line) for line in STRONG.strip().splitlines())


def _needs_e(stem: str) -> bool:
    """Whether -t needs a linking e: arbeit-et, öffn-et, but lern-t."""
    return stem.endswith(("t", "d")) or (stem[-1] in "nm" and stem[-2] not in "aeiouäöürlhmn")


def _weak(infinitive: str) -> tuple[str, str, str]:
    stem = infinitive.removesuffix("n") if infinitive.endswith(("eln", "ern")) else infinitive.removesuffix("en")
    ending = "et" if _needs_e(stem) else "t"
    bare = infinitive.endswith("ieren") or (infinitive.startswith(INSEPARABLE) and infinitive not in SIMPLE)
    return stem + ending, stem + ending + "e", ("" if bare else "ge") + stem + ending


def _first_person(infinitive: str) -> str:
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return infinitive.removesuffix("n").removesuffix("e") + "e"


@cache
def german_verb(name: str) -> GermanVerb:
    """The forms of a verb named as in the module's docstring; what is not listed as strong is weak."""
    reflexive = name.startswith("sich ")
    prefix, _, base = name.removeprefix("sich ").rpartition("+")
    if base in _MODAL_PAST:
        third, past, participle = _PRESENT[base][1], _MODAL_PAST[base], base
    else:
        third, past, participle = _STRONG.get(base) or _weak(base)
    present = _PRESENT.get(base) or (_first_person(base), third, base)
    plural = past + ("n" if past.endswith("e") else "en")
    return GermanVerb(prefix, base, present, (past, past, plural), participle, reflexive)
