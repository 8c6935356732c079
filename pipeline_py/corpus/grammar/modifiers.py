"""What can be added to a noun or a clause: adjectives, attributes, adverbs, times and subordinate clauses.

Which noun an adjective or an attribute fits is written here, because that is what makes an attachment recoverable:
a hat belongs to the man one sees, a telescope to the seeing.
"""

from dataclasses import dataclass

from pipeline_py.corpus.grammar.nouns import NOUNS, PEOPLE, TOWNS, Noun, of_classes

# English | German, and the stem that takes endings where it differs | classes of nouns
ADJECTIVES = """
old | alt | person,animal,readable,portable,clothing,device,vehicle,furniture,cabinet,place,landmark,closable,roof
young | jung | person,animal
new | neu | readable,portable,clothing,device,vehicle,furniture,cabinet,building,offer,proposal,film,song,teacher,doctor
big | groß | animal,container,vehicle,furniture,cabinet,place,landmark,closable,part,celebration,trouble,secret
small | klein | child,boy,girl,animal,portable,device,vehicle,furniture,cabinet,place,closable,part,celebration,mistake
tall | groß | person
short | klein | man,woman,policeman,painter,lawyer,thief,baker
short | kurz | readable,event,song,film,word,coat,dress,skirt,beard,scar
beautiful | schön | woman,girl,queen,actress,jewel,clothing,animal,gift,place,landmark,song,dream,wedding,journey
good | gut | person,readable,food,drink,proposal,offer,film,song,concert,game,query
important | wichtig | readable,contract,query,meeting,exam,plan,proposal,invitation,key,guest,witness
rich | reich | person
poor | arm | person
tired | müde | person,horse,dog
happy | glücklich | person
sad | traurig | person,readable,song,film
red | rot | clothing,vehicle,closable,roof,lamp,bag,ball,candle,umbrella,rose,apple
heavy | schwer | container,stone,tool,coat,furniture,machine,truck
hard | schwierig | query,exam,game,trouble
hard | hart | bread,bed,chair,egg
light | leicht | container,coat,jacket,bicycle
light | hell | room,lamp
dark | dunkel dunkl | forest,street,room,coat,house,castle,church
famous | berühmt | actress,painter,lawyer,doctor,engineer,king,picture,castle,museum,song,film,restaurant
strange | seltsam | person,animal,message,letter,story,dream,habit,question,idea,word
angry | wütend | person,bear,lion,dog,bird
clever | klug | person,dog,cat,idea,plan
friendly | freundlich | person,dog,letter,question
strict | streng | teacher,father,mother,judge,policeman,aunt,uncle,king
expensive | teuer teur | jewel,portable,clothing,device,vehicle,furniture,hotel,restaurant,wine,cheese
cheap | billig | portable,clothing,device,vehicle,furniture,hotel,wine
dirty | schmutzig | clothing,breakable,vehicle,closable,room,shoe
empty | leer | container,breakable,cabinet,room,street,place,fixed,bottle
broken | kaputt | device,vehicle,breakable,umbrella,chair,clock
long | lang | readable,event,journey,street,bridge,scarf,skirt,beard,scar,stick
white | weiß | clothing,house,horse,cat,rabbit,plate,candle,rose,closable,boat
black | schwarz | clothing,dog,cat,horse,car,bag,umbrella,beard,suitcase
green | grün | clothing,car,bottle,door,gate,apple,bicycle,bag
blue | blau | clothing,car,cup,vase,door,bicycle,bag,boat,ball
interesting | interessant | readable,film,proposal,query,lecture,journey,topic
dangerous | gefährlich | animal,journey,game,street,mountain,trouble,thief,plan
ill | krank | person,animal
quiet | ruhig | village,street,room,garden,park,library,hotel,beach,guest,child
modern | modern | building,device,room,furniture
high | hoch hoh | building,bridge,mountain,tree,tower,shelf
cold | kalt | water,milk,soup,room,tea,coffee,beach,church
hot | heiß | soup,tea,coffee,water,potato,heater
fresh | frisch | food,milk
sharp | scharf | knife,axe
golden | golden | ring,coin,clock,key
wooden | hölzern | box,table,chair,spoon,bridge,boat,door
lonely | einsam | person,island,house,beach,farm
"""

# nouns | English preposition | nouns | German preposition and case; `gen` alone is a genitive, `=` a bare apposition
ATTRIBUTES = """
person | with | wear,luggage,companion | mit+dat
person | without | wear,luggage | ohne+acc
building | with | part | mit+dat
person,fixed | place | place | dat
person,fixed,landmark | behind | building,landmark | hinter+dat
person,fixed | near | building,landmark | bei+dat
fixed | beside | building | neben+dat
portable,readable | on | surface | auf+dat
portable | under | furniture | unter+dat
portable | in | container,cabinet | in+dat
portable | beside | furniture,device | neben+dat
furniture,device | in | room | in+dat
book,letter,report,story,novel,poem,message,film,song | about | topic,animal,person | über+acc
missive | to | person | an+acc
gift,invitation | for | person | für+acc
missive | from | person | von+dat
person,missive | from | @town | aus+dat
key | to | building,room,cabinet | zu+dat
cup,glass,bottle | of | drink | =
appointment | after | event | nach+dat
appointment | before | event | vor+dat
part | of | building | gen
street,park,market,church,bridge,museum | of | town | gen
mother,father,sister,brother,son,daughter,friend,neighbour,doctor,teacher,lawyer | of | person | gen
portable,clothing,vehicle,building,animal | of | person | gen
"""

# English | German | tags of its English leaf and its relation | tenses it goes with (all unless named)
TIMES = """
yesterday | gestern | noun | past
tomorrow | morgen | noun | future,can,must,should
today | heute | noun |
now | jetzt | adverb | present,progressive,can,must,should
often | oft | frequency | present,past
always | immer | frequency | present,past
sometimes | manchmal | frequency | present,past
never | nie | frequency | present,past,perfect
soon | bald | adverb | future,can,must,should
again | wieder | late | present,past,future,can,must
"""

MANNERS = """
quickly | schnell
slowly | langsam
carefully | vorsichtig
quietly | leise
secretly | heimlich
gladly | gern
patiently | geduldig
"""

SENTENCE_ADVERB_TABLE = """
perhaps | vielleicht
unfortunately | leider
suddenly | plötzlich
finally | endlich
"""

# English preposition, article and noun | German; a time that stands where other adverbials stand
TIMES_OF_DAY = """
in the morning | am Morgen
in the evening | am Abend
in the afternoon | am Nachmittag
in the night | in der Nacht
in the summer | im Sommer
in the winter | im Winter
"""

EVENT_TIMES = """
after | nach | dat
before | vor | dat
during | während | gen
"""

# Adjectives that cannot describe the same thing at once.
OPPOSITES = tuple(
    frozenset(line.split())
    for line in (
        "old young new modern fresh",
        "big small tall short long high",
        "rich poor",
        "happy sad angry",
        "heavy light",
        "light dark",
        "expensive cheap",
        "red white black green blue golden",
        "cold hot",
        "hard good",
        "ill happy",
        "strict friendly",
        "broken good",
    )
)

DEGREES = (("very", "sehr"), ("quite", "ziemlich"), ("too", "zu"))

# English | German in the present | German in the past | tense that the clause must take, if any
SUBORDINATOR_TABLE = """
because | weil | weil |
when | wenn | als | simple
although | obwohl | obwohl |
after | nachdem | nachdem | perfect
while | während | während | simple
before | bevor | bevor | simple
if | wenn | wenn | simple
until | bis | bis | simple
since | da | da |
"""

COORDINATORS = {english: (english, german) for english, german in (("and", "und"), ("but", "aber"), ("or", "oder"))}


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; `stem` takes the German endings."""

    english: str
    german: str
    stem: str


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A prepositional attribute of a noun. `place` as English preposition means the one the inner noun asks for."""

    english: str
    fillers: tuple[Noun, ...]
    preposition: str  # German; empty for a genitive or an apposition
    case: str  # empty for an apposition

    @property
    def apposition(self) -> bool:
        """Whether German has the bare noun: `ein Glas Wein`."""
        return not self.preposition and not self.case


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb or adverbial noun; `kind` is noun, adverb, frequency, late, manner or sentence."""

    english: str
    german: str
    kind: str
    tenses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A prepositional phrase of time that never changes: `in the morning`, `at 14:30`, `on 2019-05-03`."""

    preposition: str
    word: str
    german: tuple[str, ...]
    in_digits: bool = False

    @property
    def tokens(self) -> int:
        """English tokens: what is in digits has no article."""
        return 2 if self.in_digits else 3


@dataclass(frozen=True, slots=True, eq=False)
class Subordinator:
    """A subordinating conjunction; German may depend on the time the clause is about."""

    english: str
    present: str
    past: str
    tense: str


def clash(one: Adjective, other: Adjective) -> bool:
    """Whether two adjectives are the same or cannot describe the same thing."""
    pair = {one.english, other.english}
    return len(pair) == 1 or any(pair <= opposites for opposites in OPPOSITES)


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def _adjectives() -> dict[Noun, tuple[Adjective, ...]]:
    fitting: dict[Noun, list[Adjective]] = {noun: [] for noun in NOUNS}
    for english, german, classes in _rows(ADJECTIVES):
        word, *stem = german.split()
        adjective = Adjective(english, word, stem[0] if stem else word)
        for noun in of_classes(classes):
            fitting[noun].append(adjective)
    return {noun: tuple(adjectives) for noun, adjectives in fitting.items()}


def _attributes() -> dict[Noun, tuple[Attribute, ...]]:
    fitting: dict[Noun, list[Attribute]] = {noun: [] for noun in (*NOUNS, *PEOPLE, *TOWNS)}
    for heads, english, inner, german in _rows(ATTRIBUTES):
        preposition, _, case = german.rpartition("+")
        fillers = TOWNS if inner == "@town" else of_classes(inner)
        attribute = Attribute(english, fillers, preposition, "" if case == "=" else case)
        for noun in of_classes(heads):
            fitting[noun].append(attribute)
    return {noun: tuple(attributes) for noun, attributes in fitting.items()}


ADJECTIVES_OF = _adjectives()
ATTRIBUTES_OF = _attributes()
TIME_ADVERBS = tuple(
    Adverb(english, german, kind, frozenset(tenses.split(",")) if tenses else frozenset())
    for english, german, kind, tenses in _rows(TIMES)
)
MANNER_ADVERBS = tuple(Adverb(english, german, "manner") for english, german in _rows(MANNERS))
SENTENCE_ADVERBS = tuple(Adverb(english, german, "sentence") for english, german in _rows(SENTENCE_ADVERB_TABLE))
DAYTIMES = tuple(
    Moment(english.split()[0], english.split()[2], tuple(german.split())) for english, german in _rows(TIMES_OF_DAY)
)
EVENTS = tuple((english, german, case) for english, german, case in _rows(EVENT_TIMES))
SUBORDINATORS = tuple(Subordinator(*row) for row in _rows(SUBORDINATOR_TABLE))
