"""What verbs mean: a sense pairs an English verb with its arguments and the German verb those arguments call for.

The same English verb has different German verbs by its particle (`give up`, `give back`), by whether it has an
object (`run`), and by what the object is (`miss a train`, `miss a friend`): out of context it is ambiguous, in its
tree it is not.

One sense a line, frequent ones first: English verb and particle | subject classes | arguments | German verb | traits.
An argument reads `where:classes=how`: `obj`, `iobj` or an English preposition; semantic classes of `nouns.py`; the
German case, with the preposition before a `+` if there is one. `place` and `goal` take the prepositions that the noun
asks for. Clausal arguments are `that`, `whether` and `infinitive` (German `zu`, or none under the modal `wollen`).
Traits: `sein` (German perfect), `stative` (no progressive, no manner), `modal`, `place` (may take a place),
`with=class` (may take an instrument).
"""

from dataclasses import dataclass

from pipeline_py.corpus.grammar import nouns
from pipeline_py.corpus.grammar.english.verbs import EnglishVerb, english_verb
from pipeline_py.corpus.grammar.german.verbs import GermanVerb, german_verb
from pipeline_py.corpus.grammar.nouns import Noun

TABLE = """
see | person | obj:person,animal,vehicle,building=acc | sehen | stative with=viewer
read | person | obj:readable=acc | lesen | place
sleep | person,animal | | schlafen | place
find | person | obj:portable,animal,person=acc | finden |
go | person | goal:place | gehen | sein
work | person | | arbeiten | place
give | person | iobj:person=dat obj:portable,gift=acc | geben |
pick up | person | obj:portable=acc | auf+heben |
know | person | obj:person,place=acc | kennen | stative
know | person | that | wissen | stative
know | person | whether | wissen | stative
say | person | that | sagen |
help | person | obj:person=dat | helfen |
visit | person | obj:person,town,island=acc | besuchen |
laugh | person | | lachen | place
turn off | person | obj:device=acc | aus+schalten |
turn on | person | obj:device=acc | ein+schalten |
turn down | person | obj:offer,proposal=acc | ab+lehnen |
buy | person | obj:portable,vehicle,building,food=acc | kaufen |
give up | person | obj:ambition=acc | auf+geben |
give back | person | obj:portable,money=acc | zurück+geben |
give away | person | obj:portable,money=acc | verschenken |
put | person | obj:flat=acc on:surface=auf+acc | legen |
put | person | obj:upright=acc on:surface=auf+acc | stellen |
put | person | obj:flat=acc under:surface=unter+acc | legen |
put | person | obj:upright=acc beside:furniture=neben+acc | stellen |
put | person | obj:flat=acc in:container,cabinet=in+acc | legen |
put on | person | obj:clothing=acc | an+ziehen |
put off | person | obj:appointment=acc | verschieben |
put away | person | obj:portable=acc | weg+räumen |
put down | person | obj:flat=acc | hin+legen |
put down | person | obj:upright=acc | ab+stellen |
take off | person | obj:clothing=acc | aus+ziehen |
take off | plane | | ab+heben |
take over | person | obj:business=acc | übernehmen |
take back | person | obj:portable=acc | zurück+nehmen |
take along | person | obj:portable,food=acc | mit+nehmen |
take away | person | obj:portable=acc | weg+nehmen |
take | person | obj:portable=acc from:surface=von+dat | nehmen |
take | person | obj:portable=acc | nehmen |
want | person | infinitive | wollen | stative modal
try | person | infinitive | versuchen |
write | person | obj:readable,word=acc | schreiben | place
open | person | obj:closable,luggage=acc | öffnen | with=opener
close | person | obj:closable,luggage=acc | schließen |
eat | person | obj:food=acc | essen | place with=eater
drink | person | obj:drink=acc | trinken | place
believe | person | that | glauben | stative
believe | person | obj:person=dat | glauben | stative
wait | person | for:person,transport=auf+acc | warten |
wait | person,animal | | warten | place
talk | person | about:topic,person=über+acc | sprechen |
think | person | about:topic,person=an+acc | denken |
think | person | that | denken | stative
ask | person | obj:person=acc for:portable,money,drink=um+acc | bitten |
ask | person | obj:person=acc about:topic=nach+dat | fragen |
ask | person | obj:person=acc whether | fragen |
ask | person | obj:person=acc infinitive | bitten |
tell | person | obj:person=dat about:topic,person=von+dat | erzählen |
tell | person | obj:person=dat that | sagen |
look | person | at:viewable,jewel,animal=acc | an+sehen |
look | person | for:portable,person,animal=acc | suchen |
look | person | after:person,animal=um+acc | sich kümmern |
look up | person | obj:word=acc | nach+schlagen |
come | person | from:building,town,room,garden,park,forest=aus+dat | kommen | sein
come back | person,animal | | zurück+kommen | sein
come in | person | | herein+kommen | sein
come along | person | | mit+kommen | sein
love | person | obj:person,animal,town,island=acc | lieben | stative
hear | person | that | hören | stative
hear | person | obj:person,animal,music=acc | hören | stative
meet | person | obj:person=acc | treffen | place
live | person | place:place | wohnen | stative
miss | person | obj:transport=acc | verpassen |
miss | person | obj:person,animal=acc | vermissen | stative
run | person | obj:business=acc | leiten |
run | person,animal | | laufen | sein place
run away | person,animal | | weg+laufen | sein
run | person | goal:place | laufen | sein
leave | person | obj:building,town=acc | verlassen |
leave | transport | | ab+fahren | sein
call up | person | obj:person=acc | an+rufen |
call | person | obj:animal=acc | rufen |
call off | person | obj:appointment=acc | ab+sagen |
call back | person | obj:person=acc | zurück+rufen |
bring | person | iobj:person=dat obj:portable,drink=acc | bringen |
bring back | person | obj:portable=acc | zurück+bringen |
bring along | person | obj:gift,person=acc | mit+bringen |
show | person | iobj:person=dat obj:portable,building=acc | zeigen |
send | person | iobj:person=dat obj:missive,gift=acc | schicken |
send back | person | obj:missive,gift=acc | zurück+schicken |
send away | person | obj:person=acc | weg+schicken |
arrive | person,transport | | an+kommen | sein
smile | person | | lächeln |
cry | person | | weinen | place
sing | person | obj:music=acc | singen | place
dance | person | | tanzen | place
steal | person | obj:portable,money=acc | stehlen |
lose | person | obj:portable,money=acc | verlieren |
hide | person | obj:portable=acc in:container,cabinet=in+dat | verstecken |
hit | person | obj:person,animal=acc | schlagen | with=striker
break | person | obj:breakable=acc | zerbrechen | with=breaker
break | breakable | | zerbrechen | sein
break down | device,vehicle | | kaputt+gehen | sein
cut | person | obj:bread,cake,cheese=acc | schneiden | with=cutter
cut down | person | obj:tree=acc | fällen | with=breaker
paint | person | obj:picture=acc | malen | with=colour place
paint | person | obj:part,building,furniture=acc | streichen | with=colour
repair | person | obj:device,vehicle=acc | reparieren | place
sell | person | iobj:person=dat obj:portable,vehicle=acc | verkaufen |
lend | person | iobj:person=dat obj:portable,own,money=acc | leihen |
offer | person | iobj:person=dat obj:food,drink=acc | an+bieten |
tell | person | iobj:person=dat obj:tellable=acc | erzählen |
explain | person | obj:query,proposal,trouble=acc | erklären |
understand | person | obj:query,proposal,person=acc | verstehen | stative
answer | person | obj:question,missive=acc | beantworten |
answer | person | obj:person=dat | antworten |
follow | person,animal | obj:person,animal=dat | folgen | sein
thank | person | obj:person=dat for:gift=für+acc | danken |
thank | person | obj:person=dat | danken |
help | person | obj:person=dat with:hardship,trouble=bei+dat | helfen |
warn | person | obj:person=acc about:trouble,animal=vor+dat | warnen |
remind | person | obj:person=acc of:appointment=an+acc | erinnern |
remember | person | obj:person,event=an+acc | sich erinnern | stative
rely | person | on:person=auf+acc | sich verlassen | stative
laugh | person | at:person,hat,mistake=über+acc | lachen |
listen | person | to:person=dat | zu+hören |
dream | person | of:event,building=von+dat | träumen |
trust | person | obj:person=dat | vertrauen | stative
belong | portable,vehicle | to:person=dat | gehören | stative
admire | person | obj:person,building,viewable=acc | bewundern | stative
drive | person | obj:own=acc | fahren |
drive | person | goal:place | fahren | sein
travel | person | goal:town,island | reisen | sein
walk | person | obj:dog=acc | aus+führen |
walk | person | goal:place | gehen | sein
grow | person | obj:crop=acc | an+bauen | place
grow | child,boy,girl,tree | | wachsen | sein
order | person | obj:food,drink=acc | bestellen | place
order | person | obj:person=dat infinitive | befehlen |
save | person | obj:money=acc | sparen |
save | person | obj:person,animal=acc | retten |
win | person | obj:game=acc | gewinnen |
play | person | | spielen | place
watch | person | obj:person,animal=acc | beobachten | with=viewer
watch | person | obj:film=acc | an+schauen |
carry | person | obj:portable=acc | tragen |
wear | person | obj:clothing=acc | tragen | stative
forget | person | obj:appointment,word,person=acc | vergessen | stative
forget | person | infinitive | vergessen |
hope | person | that | hoffen | stative
hope | person | infinitive | hoffen | stative
promise | person | infinitive | versprechen |
promise | person | iobj:person=dat obj:gift,money=acc | versprechen |
plan | person | infinitive | planen |
decide | person | infinitive | beschließen |
begin | person | infinitive | beginnen |
begin | event | | beginnen |
refuse | person | infinitive | sich weigern |
force | person | obj:person=acc infinitive | zwingen |
advise | person | obj:person=dat infinitive | raten |
allow | person | obj:person=dat infinitive | erlauben | stative
forbid | person | obj:person=dat infinitive | verbieten | stative
notice | person | that | bemerken | stative
wonder | person | whether | sich fragen |
throw away | person | obj:portable,food=acc | weg+werfen |
throw out | person | obj:person=acc | hinaus+werfen |
throw | person | obj:portable=acc into:river,lake,basket=in+acc | werfen |
jump | animal,person | onto:surface=auf+acc | springen | sein
tear up | person | obj:contract,letter,newspaper,picture=acc | zerreißen |
tear down | person | obj:building,tower=acc | ab+reißen |
write down | person | obj:tellable,word=acc | auf+schreiben |
read out | person | obj:missive,poem=acc | vor+lesen |
hand in | person | obj:report,contract=acc | ab+geben |
hand out | person | obj:readable,drink=acc | aus+teilen |
lock up | person | obj:building=acc | ab+schließen |
close down | person | obj:business=acc | schließen |
blow up | person | obj:building,bridge=acc | sprengen |
wake up | person | obj:person=acc | auf+wecken |
wake up | person,animal | | auf+wachen | sein
get up | person | | auf+stehen | sein
sit down | person | | sich hin+setzen |
go away | person | | weg+gehen | sein
go out | person | | aus+gehen | sein
fall down | person | | hin+fallen | sein
let in | person | obj:person,animal=acc | herein+lassen |
let out | person | obj:animal=acc | hinaus+lassen |
pay back | person | obj:money=acc | zurück+zahlen |
eat up | person | obj:food=acc | auf+essen |
drink up | person | obj:drink=acc | aus+trinken |
hang up | person | obj:coat,jacket,picture=acc | auf+hängen |
set up | person | obj:business=acc | gründen |
make up | person | obj:tellable=acc | erfinden |
clean up | person | obj:room=acc | auf+räumen |
carry out | person | obj:plan=acc | aus+führen |
point out | person | obj:trouble=auf+acc | hin+weisen |
see off | person | obj:person=acc | verabschieden |
build | person | obj:building,bridge,boat=acc | bauen | place
clean | person | obj:room,part,closable,own=acc | putzen |
wash | person | obj:clothing,plate,cup,own=acc | waschen | place
cook | person | obj:soup,egg,potato=acc | kochen | place
bake | person | obj:cake,bread=acc | backen | place
pick | person | obj:apple,rose=acc | pflücken | place
lie | flat | on:surface=auf+dat | liegen | stative
stand | upright | on:surface=auf+dat | stehen | stative
sit | person,cat,bird | on:furniture=auf+dat | sitzen | stative
lie | flat | in:container,cabinet=in+dat | liegen | stative
bark | dog | | bellen | place
end | event | | enden |
happen | accident | | passieren | sein
disappear | person,animal,portable | | verschwinden | sein
escape | thief,animal | | entkommen | sein
swim | person,duck,dog | | schwimmen | sein
die | person,animal | | sterben | sein
"""


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """An argument of a verb: where it stands in English, what fills it, and how German marks it."""

    english: str  # obj, iobj, place, goal, that, whether, infinitive, or a preposition
    fillers: tuple[Noun, ...] = ()
    preposition: str = ""  # German
    case: str = ""

    @property
    def clausal(self) -> bool:
        """Whether a clause fills the slot."""
        return self.english in CLAUSAL


@dataclass(frozen=True, slots=True, eq=False)
class Sense:
    """A verb with its arguments in both languages."""

    verb: EnglishVerb
    particle: str
    subjects: tuple[Noun, ...]
    slots: tuple[Slot, ...]
    german: GermanVerb
    auxiliary: str  # haben or sein
    stative: bool
    modal: bool
    place: bool
    instruments: tuple[Noun, ...]

    def slot(self, *names: str) -> Slot | None:
        """The first argument that stands in one of the English positions, if the verb has one."""
        return next((slot for slot in self.slots if slot.english in names), None)


CLAUSAL = ("that", "whether", "infinitive")


def _slot(text: str) -> Slot:
    if text in CLAUSAL:
        return Slot(text)
    english, _, rest = text.partition(":")
    classes, _, german = rest.partition("=")
    preposition, _, case = german.rpartition("+")
    fillers = nouns.of_classes(classes)
    if english in ("place", "goal"):
        fillers = tuple(noun for noun in fillers if noun.place_prepositions(goal=english == "goal") is not None)
    return Slot(english, fillers, preposition, case)


def _sense(line: str) -> Sense:
    english, subjects, slots, german, traits = (part.strip() for part in line.split("|"))
    verb, _, particle = english.partition(" ")
    marks = traits.split()
    instruments = next((mark.removeprefix("with=") for mark in marks if mark.startswith("with=")), "")
    return Sense(
        verb=english_verb(verb),
        particle=particle,
        subjects=nouns.of_classes(subjects),
        slots=tuple(_slot(slot) for slot in slots.split()),
        german=german_verb(german),
        auxiliary="sein" if "sein" in marks else "haben",
        stative="stative" in marks,
        modal="modal" in marks,
        place="place" in marks,
        instruments=nouns.of_classes(instruments) if instruments else (),
    )


SENSES = tuple(_sense(line) for line in TABLE.strip().splitlines())

# The prepositions of all arguments that an English verb has in any of its senses.
PREPOSITIONS_OF: dict[EnglishVerb, frozenset[str]] = {
    verb: frozenset(slot.english for sense in SENSES if sense.verb == verb for slot in sense.slots)
    for verb in {sense.verb for sense in SENSES}
}
