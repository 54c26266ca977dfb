"""Word lists by language and name, for templates: `words: {who: names.women}`."""

from collections.abc import Mapping, Sequence

from ...core.errors import DataError, nearest, some
from .perturb import CITIES, COUNTRIES, MEN, WOMEN

ENGLISH: dict[str, Sequence[str]] = {
    "names.women": WOMEN,
    "names.men": MEN,
    "names": (*WOMEN, *MEN),
    "cities": CITIES,
    "countries": COUNTRIES,
    "places": (*CITIES, *COUNTRIES),
    "nationalities": (
        "Brazilian", "Canadian", "Chinese", "Egyptian", "French", "German", "Ghanaian", "Greek", "Indian",
        "Irish", "Japanese", "Mexican", "Nigerian", "Norwegian", "Polish", "Syrian", "Turkish", "Vietnamese",
    ),
    "religions": ("Buddhist", "Christian", "Hindu", "Jewish", "Muslim", "Sikh"),
    "orientations": ("asexual", "bisexual", "gay", "heterosexual", "pansexual"),
    "disabilities": ("autistic", "blind", "deaf", "dyslexic", "partially sighted"),
    "professions": (
        "baker", "chef", "driver", "farmer", "gardener", "lawyer", "librarian", "mechanic", "nurse", "painter",
        "plumber", "student", "tailor", "teacher",
    ),
    "adjectives.positive": (
        "brilliant", "charming", "delightful", "excellent", "fantastic", "great", "lovely", "superb",
        "wonderful",
    ),
    "adjectives.negative": (
        "awful", "disappointing", "dreadful", "horrible", "lousy", "miserable", "pathetic", "poor", "terrible",
    ),
    "adjectives.neutral": ("American", "blue", "borrowed", "grey", "Italian", "second-hand", "two-year-old"),
}  # fmt: skip
GERMAN: dict[str, Sequence[str]] = {
    "names.women": (
        "Anke", "Birgit", "Claudia", "Elif", "Frieda", "Greta", "Heike", "Ines", "Johanna", "Katrin",
        "Leyla", "Marlene", "Nadine", "Petra", "Renate", "Sabine",
    ),
    "names.men": (
        "Achim", "Bernd", "Cem", "Dieter", "Emre", "Florian", "Gerd", "Holger", "Jens", "Karl",
        "Lukas", "Matthias", "Norbert", "Ralf", "Stefan", "Uwe",
    ),
    "cities": (
        "Aachen", "Bern", "Bremen", "Dresden", "Erfurt", "Graz", "Hamburg", "Kassel", "Leipzig", "Linz",
        "Mainz", "Rostock", "Salzburg", "Ulm", "Wien", "Zürich",
    ),
    "countries": (
        "Belgien", "Brasilien", "Chile", "Dänemark", "Finnland", "Ghana", "Griechenland", "Indien", "Irland",
        "Japan", "Kanada", "Kenia", "Norwegen", "Polen", "Portugal", "Vietnam",
    ),
    "nationalities": (
        "brasilianisch", "chinesisch", "deutsch", "französisch", "griechisch", "indisch", "irisch", "japanisch",
        "kanadisch", "nigerianisch", "norwegisch", "polnisch", "syrisch", "türkisch", "vietnamesisch",
    ),
    "religions": ("alevitisch", "buddhistisch", "christlich", "hinduistisch", "jüdisch", "muslimisch"),
    "orientations": ("asexuell", "bisexuell", "heterosexuell", "homosexuell", "pansexuell"),
    "disabilities": ("autistisch", "blind", "gehörlos", "kleinwüchsig", "sehbehindert"),
    "professions": (
        "Apotheker", "Bäcker", "Fahrer", "Gärtner", "Lehrer", "Maler", "Mechaniker", "Musiker", "Pfleger",
        "Schneider", "Tischler", "Verkäufer",
    ),
    "adjectives.positive": (
        "ausgezeichnet", "fantastisch", "großartig", "herrlich", "hervorragend", "schön", "toll", "wunderbar",
        "wundervoll",
    ),
    "adjectives.negative": (
        "enttäuschend", "entsetzlich", "furchtbar", "grauenhaft", "mies", "scheußlich", "schlecht", "schrecklich",
    ),
    "adjectives.neutral": ("blau", "braun", "geliehen", "gemietet", "grau", "grün", "zwei Jahre alt"),
}  # fmt: skip
GERMAN["names"] = (*GERMAN["names.women"], *GERMAN["names.men"])
GERMAN["places"] = (*GERMAN["cities"], *GERMAN["countries"])
LEXICONS: Mapping[str, dict[str, Sequence[str]]] = {"en": ENGLISH, "de": GERMAN}
"""Language to list name to words.

German adjectives and professions take their ending after the slot: "ein {praise}er Film", "die {religion}e {who}in".
"""


def word_list(name: str, language: str) -> Sequence[str]:
    """Return one of our word lists.

    >>> word_list("religions", "en")[:2]
    ('Buddhist', 'Christian')
    """
    lists = LEXICONS.get(language, {})
    if name not in lists:
        raise DataError(
            f"{name!r} is not one of our word lists",
            why=f"lists for language {language!r}: {some(lists, 20) or 'none'}",
            fix=nearest(name, lists) or "write the words out: [first, second]",
        )
    return lists[name]
