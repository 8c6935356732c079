"""The nouns of both languages, with what selectional preference and German inflection need to know.

One noun a line: English singular and plural (`+` is the regular plural, `-` a mass noun), then German article,
singular, plural and genitive (feminine nouns need none), then semantic classes and, for places, which German
preposition answers an English one (`at=an`; `to=in` is a goal). Within a class, earlier nouns are more frequent.
A masculine noun whose genitive ends in -n is weak: it takes that form in every case but the nominative.
"""

from dataclasses import dataclass

TABLE = """
man men | der Mann Männer Mannes | person
woman women | die Frau Frauen | person
teacher + | der Lehrer Lehrer Lehrers | person
child children | das Kind Kinder Kindes | person
friend + | der Freund Freunde Freundes | person
doctor + | der Arzt Ärzte Arztes | person
girl + | das Mädchen Mädchen Mädchens | person
student + | der Student Studenten Studenten | person
mother + | die Mutter Mütter | person
boy + | der Junge Jungen Jungen | person
neighbour + | der Nachbar Nachbarn Nachbarn | person
father + | der Vater Väter Vaters | person
nurse + | die Krankenschwester Krankenschwestern | person
sister + | die Schwester Schwestern | person
farmer + | der Bauer Bauern Bauern | person
brother + | der Bruder Brüder Bruders | person
queen + | die Königin Königinnen | person
guest + | der Gast Gäste Gastes | person
lawyer + | der Anwalt Anwälte Anwalts | person
aunt + | die Tante Tanten | person
king + | der König Könige Königs | person
policeman policemen | der Polizist Polizisten Polizisten | person
daughter + | die Tochter Töchter | person
thief thieves | der Dieb Diebe Diebes | person
waitress waitresses | die Kellnerin Kellnerinnen | person
judge + | der Richter Richter Richters | person
grandmother + | die Großmutter Großmütter | person
soldier + | der Soldat Soldaten Soldaten | person
actress actresses | die Schauspielerin Schauspielerinnen | person
son + | der Sohn Söhne Sohnes | person
customer + | der Kunde Kunden Kunden | person
baker + | der Bäcker Bäcker Bäckers | person
painter + | der Maler Maler Malers | person
uncle + | der Onkel Onkel Onkels | person
engineer + | der Ingenieur Ingenieure Ingenieurs | person
witness witnesses | der Zeuge Zeugen Zeugen | person

dog + | der Hund Hunde Hundes | animal companion
cat + | die Katze Katzen | animal companion
horse + | das Pferd Pferde Pferdes | animal companion
bird + | der Vogel Vögel Vogels | animal
mouse mice | die Maus Mäuse | animal
cow + | die Kuh Kühe | animal
rabbit + | der Hase Hasen Hasen | animal
duck + | die Ente Enten | animal
bear + | der Bär Bären Bären | animal
lion + | der Löwe Löwen Löwen | animal

book + | das Buch Bücher Buches | readable portable flat gift
letter + | der Brief Briefe Briefes | readable portable flat missive
newspaper + | die Zeitung Zeitungen | readable portable flat
report + | der Bericht Berichte Berichts | readable portable flat missive
story stories | die Geschichte Geschichten | readable tellable
novel + | der Roman Romane Romans | readable portable flat gift
poem + | das Gedicht Gedichte Gedichts | readable tellable
message + | die Nachricht Nachrichten | readable missive tellable
contract + | der Vertrag Verträge Vertrags | readable portable flat

key + | der Schlüssel Schlüssel Schlüssels | portable flat opener
bag + | die Tasche Taschen | portable upright container luggage
cup + | die Tasse Tassen | portable upright breakable
picture + | das Bild Bilder Bildes | portable flat gift viewable decoration
bottle + | die Flasche Flaschen | portable upright breakable
box boxes | die Kiste Kisten | portable upright container
glass glasses | das Glas Gläser Glases | portable upright breakable
ball + | der Ball Bälle Balles | portable flat gift
suitcase + | der Koffer Koffer Koffers | portable upright container luggage
plate + | der Teller Teller Tellers | portable upright breakable
ring + | der Ring Ringe Ringes | portable flat gift jewel
umbrella + | der Regenschirm Regenschirme Regenschirms | portable flat luggage
vase + | die Vase Vasen | portable upright breakable gift
coin + | die Münze Münzen | portable flat gift jewel
basket + | der Korb Körbe Korbes | portable upright container luggage
candle + | die Kerze Kerzen | portable upright
clock + | die Uhr Uhren | portable upright gift device
stone + | der Stein Steine Steines | portable flat

coat + | der Mantel Mäntel Mantels | clothing portable flat
hat + | der Hut Hüte Hutes | clothing portable flat wear
dress dresses | das Kleid Kleider Kleides | clothing portable flat gift
jacket + | die Jacke Jacken | clothing portable flat
shirt + | das Hemd Hemden Hemdes | clothing portable flat
scarf scarves | der Schal Schals Schals | clothing portable flat wear
shoe + | der Schuh Schuhe Schuhs | clothing portable flat
glove + | der Handschuh Handschuhe Handschuhs | clothing portable flat
skirt + | der Rock Röcke Rockes | clothing portable flat

beard + | der Bart Bärte Bartes | wear
scar + | die Narbe Narben | wear

lamp + | die Lampe Lampen | device
radio + | das Radio Radios Radios | device
television + | der Fernseher Fernseher Fernsehers | device
machine + | die Maschine Maschinen | device
engine + | der Motor Motoren Motors | device
heater + | die Heizung Heizungen | device
computer + | der Computer Computer Computers | device
camera + | die Kamera Kameras | device portable flat gift

hammer + | der Hammer Hämmer Hammers | tool striker breaker portable flat
knife knives | das Messer Messer Messers | tool cutter portable flat
stick + | der Stock Stöcke Stocks | tool striker portable flat
spoon + | der Löffel Löffel Löffels | tool eater portable flat
axe + | die Axt Äxte | tool breaker cutter portable flat
fork + | die Gabel Gabeln | tool eater portable flat
telescope + | das Fernrohr Fernrohre Fernrohrs | tool viewer portable flat
brush brushes | der Pinsel Pinsel Pinsels | tool colour portable flat
shovel + | die Schaufel Schaufeln | tool striker portable flat

cake + | der Kuchen Kuchen Kuchens | food
bread - | das Brot Brote Brotes | food
apple + | der Apfel Äpfel Apfels | food
soup + | die Suppe Suppen | food
egg + | das Ei Eier Eies | food
potato potatoes | die Kartoffel Kartoffeln | food crop
cheese - | der Käse Käse Käses | food
carrot + | die Karotte Karotten | food crop
rose + | die Rose Rosen | gift crop
coffee - | der Kaffee Kaffees Kaffees | drink
water - | das Wasser Wasser Wassers | drink
tea - | der Tee Tees Tees | drink
milk - | die Milch Milch | drink
wine - | der Wein Weine Weines | drink
money - | das Geld Gelder Geldes | money

car + | das Auto Autos Autos | vehicle own
train + | der Zug Züge Zuges | vehicle transport
bus buses | der Bus Busse Busses | vehicle transport
bicycle + | das Fahrrad Fahrräder Fahrrads | vehicle own
ship + | das Schiff Schiffe Schiffes | vehicle transport
plane + | das Flugzeug Flugzeuge Flugzeugs | vehicle transport
truck + | der Lastwagen Lastwagen Lastwagens | vehicle own
boat + | das Boot Boote Bootes | vehicle own

table + | der Tisch Tische Tisches | surface furniture
shelf shelves | das Regal Regale Regals | surface furniture
bed + | das Bett Betten Bettes | surface furniture
chair + | der Stuhl Stühle Stuhls | surface furniture
desk + | der Schreibtisch Schreibtische Schreibtischs | surface furniture
sofa + | das Sofa Sofas Sofas | surface furniture
cupboard + | der Schrank Schränke Schranks | cabinet furniture
drawer + | die Schublade Schubladen | cabinet

house + | das Haus Häuser Hauses | place fixed building in=in to=zu
city cities | die Stadt Städte | place town in=in to=in
garden + | der Garten Gärten Gartens | place fixed in=in to=in
school + | die Schule Schulen | place fixed building at=an to=zu
station + | der Bahnhof Bahnhöfe Bahnhofs | place fixed building at=an to=zu
shop + | der Laden Läden Ladens | place fixed building business in=in to=zu
village + | das Dorf Dörfer Dorfes | place town in=in to=in
kitchen + | die Küche Küchen | place room in=in to=in
room + | das Zimmer Zimmer Zimmers | place room in=in to=in
office + | das Büro Büros Büros | place room in=in to=in
park + | der Park Parks Parks | place fixed in=in to=in
church churches | die Kirche Kirchen | place fixed building in=in to=zu
hospital + | das Krankenhaus Krankenhäuser Krankenhauses | place fixed building in=in to=in
street + | die Straße Straßen | place fixed on=auf to=auf
market + | der Markt Märkte Marktes | place fixed at=auf to=zu
forest + | der Wald Wälder Waldes | place in=in to=in
hotel + | das Hotel Hotels Hotels | place fixed building business in=in to=zu
library libraries | die Bibliothek Bibliotheken | place fixed building in=in to=in
museum + | das Museum Museen Museums | place fixed building in=in to=in
bridge + | die Brücke Brücken | place fixed on=auf to=zu
restaurant + | das Restaurant Restaurants Restaurants | place fixed building business in=in to=in
beach beaches | der Strand Strände Strandes | place on=an to=an
castle + | das Schloss Schlösser Schlosses | place fixed building in=in to=zu
river + | der Fluss Flüsse Flusses | landmark to=zu
lake + | der See Seen Sees | landmark to=zu
island + | die Insel Inseln | place island on=auf to=auf
farm + | der Bauernhof Bauernhöfe Bauernhofs | place fixed building business on=auf to=zu
factory factories | die Fabrik Fabriken | place fixed building business in=in to=zu
tree + | der Baum Bäume Baumes | landmark
mountain + | der Berg Berge Berges | landmark to=zu
door + | die Tür Türen | closable part
window + | das Fenster Fenster Fensters | closable part breakable
gate + | das Tor Tore Tores | closable
roof + | das Dach Dächer Daches | part
balcony balconies | der Balkon Balkons Balkons | part
tower + | der Turm Türme Turmes | part landmark

question + | die Frage Fragen | query topic
plan + | der Plan Pläne Planes | proposal topic
problem + | das Problem Probleme Problems | trouble topic
idea + | die Idee Ideen | proposal topic
journey + | die Reise Reisen | event topic
meeting + | die Sitzung Sitzungen | event appointment topic
war + | der Krieg Kriege Krieges | event topic
party parties | das Fest Feste Festes | event appointment celebration
game + | das Spiel Spiele Spiels | event play
offer + | das Angebot Angebote Angebots | proposal offer
song + | das Lied Lieder Liedes | music tellable
film + | der Film Filme Filmes | viewable topic
concert + | das Konzert Konzerte Konzerts | event appointment celebration
invitation + | die Einladung Einladungen | offer missive
accident + | der Unfall Unfälle Unfalls | event trouble topic
exam + | die Prüfung Prüfungen | event appointment hardship
wedding + | die Hochzeit Hochzeiten | event appointment celebration topic
secret + | das Geheimnis Geheimnisse Geheimnisses | tellable topic
mistake + | der Fehler Fehler Fehlers | trouble
dream + | der Traum Träume Traumes | topic ambition
habit + | die Gewohnheit Gewohnheiten | ambition
lecture + | der Vortrag Vorträge Vortrags | event appointment hardship
word + | das Wort Wörter Wortes | query
"""


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun, or the name of a person or town (`proper`), in both languages."""

    singular: str
    plural: str
    german: str
    gender: str  # m, f, n
    german_plural: str
    genitive: str
    classes: frozenset[str]
    places: tuple[tuple[str, str], ...] = ()  # (English preposition, German preposition)
    mass: bool = False
    proper: bool = False

    @property
    def weak(self) -> bool:
        """Whether the noun follows the German n-declension."""
        return self.gender == "m" and self.genitive.endswith("n")

    def place_prepositions(self, goal: bool) -> tuple[str, str] | None:
        """The English and the German preposition for being there, or for going there; None if there is no such way."""
        return next((pair for pair in self.places if (pair[0] == "to") == goal), None)


def regular_plural(noun: str) -> str:
    """Add -s; nouns that need anything else are listed with their plural."""
    return noun + "s"


def _noun(line: str) -> Noun:
    english, german, traits = (part.split() for part in line.split("|"))
    singular, plural = english
    article, german_singular, german_plural, *genitive = german
    return Noun(
        singular=singular,
        plural={"+": regular_plural(singular), "-": singular}.get(plural, plural),
        german=german_singular,
        gender={"der": "m", "die": "f", "das": "n"}[article],
        german_plural=german_plural,
        genitive=genitive[0] if genitive else german_singular,
        classes=frozenset(trait for trait in traits if "=" not in trait),
        places=tuple((trait.split("=")[0], trait.split("=")[1]) for trait in traits if "=" in trait),
        mass=plural == "-",
    )


def _name(english: str, german: str, gender: str, kind: str) -> Noun:
    places = (("in", "in"), ("to", "nach")) if kind == "town" else ()
    classes = frozenset({"person"} if kind == "person" else {"place", "town"})
    return Noun(english, english, german, gender, german, german + "s", classes, places, proper=True)


NOUNS = tuple(_noun(line) for line in TABLE.strip().splitlines() if line)

PEOPLE = tuple(
    _name(name, name, gender, "person")
    for gender, names in (
        ("f", "Anna Maria Julia Laura Emma Sarah Clara"),
        ("m", "Peter Paul Martin Daniel Jan Simon Oskar"),
    )
    for name in names.split()
)

TOWNS = tuple(
    _name(english, german, "n", "town")
    for english, german in (
        ("Berlin", "Berlin"),
        ("Munich", "München"),
        ("Hamburg", "Hamburg"),
        ("Vienna", "Wien"),
        ("Rome", "Rom"),
        ("Cologne", "Köln"),
        ("London", "London"),
    )
)


def of_classes(classes: str) -> tuple[Noun, ...]:
    """The common nouns in any of the comma-separated classes (a noun is a class of its own), frequent ones first.

    Raises:
        KeyError: a class without nouns (a misprint in a table of this package).
    """
    wanted = set(classes.split(","))
    empty = wanted - {name for noun in NOUNS for name in noun.classes | {noun.singular}}
    if empty:
        raise KeyError(f"no noun has the class {sorted(empty)}")
    return tuple(noun for noun in NOUNS if noun.singular in wanted or noun.classes & wanted)
