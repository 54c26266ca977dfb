"""A word-piece vocabulary from a text: the same pieces with the same numbers, however often it is made.

The trainers of the `tokenizers` library number pieces in another order in every process. Weights that were kept would
then belong to other words, so the vocabulary is made here: letters, frequent words, frequent ends of words.
"""

from collections import Counter
from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ENDINGS = 0.15
"""Share of the vocabulary for ends of words."""
LONGEST_ENDING = 6
RARE_LETTER = 3
"""Letters seen less often stay unknown."""


def make_tokenizer(texts: Iterable[str], size: int, length: int) -> PreTrainedTokenizerFast:
    """A lower-case word-piece tokenizer for these texts."""
    pieces = [*SPECIALS, *make_pieces(texts, size - len(SPECIALS))]
    tokenizer = _bare(models.WordPiece({piece: code for code, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=length,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def make_pieces(texts: Iterable[str], size: int) -> list[str]:
    """Letters, then the most frequent words and ends of words; of equally frequent ones the first in the alphabet."""
    words = count_words(texts)
    letters, endings = Counter[str](), Counter[str]()
    for word, times in words.items():
        for letter in word:
            letters[letter] += times
    known = sorted(letter for letter, times in letters.items() if times >= RARE_LETTER)
    pieces = dict.fromkeys([*known, *(f"##{letter}" for letter in known)])
    room = max(0, size - len(pieces))
    whole = [word for word in _frequent(words) if len(word) > 1]
    kept = whole[: room - int(room * ENDINGS)]
    for word in whole[len(kept) :]:  # words that will be put together from pieces
        for start in range(max(1, len(word) - LONGEST_ENDING), len(word) - 1):
            endings[f"##{word[start:]}"] += words[word]
    pieces |= dict.fromkeys([*kept, *_frequent(endings)])
    return list(pieces)[:size]


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word stands in the texts, as the tokenizer will divide them."""
    bare = _bare(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    words: Counter[str] = Counter()
    for text in texts:
        words.update(
            word for word, _ in bare.pre_tokenizer.pre_tokenize_str(bare.normalizer.normalize_str(text))
        )
    return words


def _bare(model: models.WordPiece) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _frequent(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))
