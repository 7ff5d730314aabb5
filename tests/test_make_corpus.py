from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
SCRIPT = ROOT / "scripts" / "make_corpus.py"
SPLITS = {"train": 20_000, "valid": 1000, "test": 1000}
BINS = tuple(range(1, 61, 10))
LINK = re.compile(r"(\d+)([-p])(\d+)")
VOWEL = "aàâeéèêiîoôuùyœ"


@pytest.fixture(scope="module")
def grammar() -> Iterator[None]:
    sys.path.insert(0, str(SCRIPT.parent))
    yield
    sys.path.remove(str(SCRIPT.parent))


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[tuple[str, str, str]]]:
    return {name: read(DATA, name) for name in SPLITS}


def read(folder: Path, name: str) -> list[tuple[str, str, str]]:
    sides = [
        (folder / f"{name}.{suffix}").read_bytes().decode().removesuffix("\n").split("\n")
        for suffix in ("en", "fr", "align")
    ]
    return list(zip(*sides, strict=True))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def test_the_script_writes_the_committed_files_again_byte_for_byte(tmp_path: Path) -> None:
    result = run("--output", str(tmp_path), "--count")
    assert (result.returncode, result.stderr) == (0, "")
    written = sorted(tmp_path.iterdir())
    assert len(written) == 12
    for path in written:
        assert path.read_bytes() == (DATA / path.name).read_bytes(), path.name
    # The table of phenomena is in the README, and each of them is a part of the corpus.
    table = result.stdout.strip()
    assert table in (DATA / "README.md").read_text(encoding="utf-8")
    shares = [float(row.split("|")[-2].strip(" %")) for row in table.split("\n")[2:]]
    assert min(shares) >= 1.0


def test_any_number_of_processes_writes_the_same_files(tmp_path: Path) -> None:
    for processes in ("1", "3"):
        result = run(
            "--pairs", "5000", "--held-out", "50", "--by-length", "5", "--seed", "9",
            "--processes", processes, "--output", str(tmp_path / processes),
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, "")
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "3" / path.name).read_bytes(), path.name


def test_lines_end_with_lf_alone_and_hold_single_blanks(corpus: object) -> None:
    for path in DATA.iterdir():
        if path.suffix in (".en", ".fr", ".align"):
            content = path.read_bytes()
            assert content.endswith(b"\n")
            assert b"\r" not in content
            assert b"  " not in content
            assert b"\n\n" not in content


def test_french_is_a_function_of_english(
    grammar: None, corpus: dict[str, list[tuple[str, str, str]]]
) -> None:
    from corpus.draw import Draw
    from corpus.sentences import sentences

    known = {english: french for rows in corpus.values() for english, french, _ in rows}
    for many in (False, True):
        for pair in itertools.islice(sentences(Draw(7), max_words=20, many=many), 15_000):
            assert known.setdefault(pair.english, pair.french) == pair.french, pair.english


def test_a_large_corpus_says_sentences_again_with_another_name(grammar: None) -> None:
    from corpus.draw import Draw
    from corpus.phrase import Pair
    from corpus.sentences import LIKE, renamed

    said = Pair("Anne sees Anne's cat.", "Anne voit le chat d'Anne.", "0-0 1-1 3-2 3-3 2-4")
    for number in range(20):
        other = renamed(Draw(number), said)
        assert other is not None
        name = other.english.split(" ")[0]
        # Elided as "d'Anne" is, and a woman.
        assert name in ("Alice", "Emma", "Isabelle", "Hélène", "Élise")
        assert other.english == f"{name} sees {name}'s cat."
        assert other.french == f"{name} voit le chat d'{name}."
        assert other[2:] == said[2:]
    assert renamed(Draw(1), Pair("The cat sleeps.", "Le chat dort.", "0-0 1-1 2-2")) is None
    both = Pair("Anne sees Alice.", "Anne voit Alice.", "0-0 1-1 2-2")
    assert {renamed(Draw(number), both) is None for number in range(40)} == {True, False}
    assert all(name not in names and len(names) >= 5 for name, names in LIKE.items())


def test_splits_have_their_sizes_and_share_no_sentence(
    corpus: dict[str, list[tuple[str, str, str]]],
) -> None:
    assert {name: len(rows) for name, rows in corpus.items()} == SPLITS
    english = [row[0] for rows in corpus.values() for row in rows]
    assert len(set(english)) == len(english)
    held_out = [row[1] for name in ("valid", "test") for row in corpus[name]]
    assert len(set(held_out)) == len(held_out)
    assert not {row[1] for row in corpus["train"]} & set(held_out)


def test_train_valid_and_test_have_at_most_twenty_words(
    corpus: dict[str, list[tuple[str, str, str]]],
) -> None:
    for row in itertools.chain(*corpus.values()):
        assert max(len(line.split(" ")) for line in row[:2]) <= 20


def test_every_french_word_has_one_sure_link_in_range(
    corpus: dict[str, list[tuple[str, str, str]]],
) -> None:
    every = itertools.chain(*corpus.values(), read(DATA, "test_length"))
    for english, french, alignment in every:
        rows, columns = len(english.split()), len(french.split())
        links = [LINK.fullmatch(link) for link in alignment.split(" ")]
        assert all(links), alignment
        found = [(int(link[1]), link[2], int(link[3])) for link in links if link]
        assert len({(row, column) for row, _, column in found}) == len(found)
        assert [column for _, mark, column in found if mark == "-"] == list(range(columns))
        assert all(row < rows and column < columns for row, _, column in found)


def test_words_of_valid_and_test_occur_in_train(
    corpus: dict[str, list[tuple[str, str, str]]],
) -> None:
    for side in (0, 1):
        words = {word for row in corpus["train"] for word in row[side].split(" ")}
        for name in ("valid", "test"):
            assert words.issuperset(word for row in corpus[name] for word in row[side].split(" "))


def test_every_noun_adjective_and_verb_occurs_ten_times_in_train(
    grammar: None, corpus: dict[str, list[tuple[str, str, str]]]
) -> None:
    from corpus import verbs
    from corpus.adjectives import ADJECTIVE
    from corpus.nouns import NOUN

    words = [re.findall(r"[A-Za-z-]+", row[0]) for row in corpus["train"]]
    counts = Counter(word.lower() for row in words for word in row)
    for length in (2, 3):
        counts.update(
            " ".join(row[start : start + length]).lower()
            for row in words
            for start in range(len(row) - length + 1)
        )
    forms = [{noun.english, noun.english_plural} for noun in NOUN.values()]
    forms += [{adjective.english} for adjective in ADJECTIVE]
    tables = (verbs.TRANSITIVES, verbs.INTRANSITIVES, verbs.DITRANSITIVES, verbs.MOTIONS)
    forms += [{*verb.forms} for verb in itertools.chain(*tables, verbs.CONTROLS)]
    rare = [names for names in forms if sum(counts[name.lower()] for name in names) < 10]
    assert rare == []


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (r"\b(de|à) les? (?!(lui|leur)\b)(?=\w+ )(?!\w+er\b)", "du, des, au, aux"),
        (rf"\b(le|la|je|me|te|se|ne|de|que) (?!yaourt)[{VOWEL}]", "elision"),
        (r"\b(le|la|de) (homme|hommes|hôtel|hôpital|horloge|huile)\b", "elision before h muet"),
        (r"[ld]'(hibou|hérisson|harpe|haricot|huit|onze)", "no elision before h aspiré"),
        (r"\b(ma|ta|sa) [aeéiouœ]", "mon amie"),
        (r"\bce (homme|hôtel|hôpital|oiseau|acteur|âne|œuf|ours|avion|ordinateur)\b", "cet"),
        (r"\b(beau|nouveau|vieux) (homme|hôtel|hôpital|oiseau|acteur|âne|ordinateur)\b", "bel"),
        (r"\bsi ils?\b", "s'il"),
        (r"^(?!.*\b(jou|vien|ven|revien|reven|occup)).*\bpas (un|une|des|du) ", "pas de"),
        (
            r"\bdes (petits(?! pois)|petites|vieux|vieilles|gros|grosses|beaux|belles)\b(?! des)",
            "de petits",
        ),
        (r"\bbeaucoup des\b|\bbesoin (des|du|de la) ", "de without an article"),
        (r"\S\?", "a question mark stands apart"),
        (r"\bde de\b|\ble le\b|\bà à\b", "no doubled word"),
    ],
)
def test_french_spelling_invariants(
    wrong: str, reason: str, corpus: dict[str, list[tuple[str, str, str]]]
) -> None:
    pattern = re.compile(wrong, re.IGNORECASE)
    found = [row[1] for row in itertools.chain(*corpus.values()) if pattern.search(row[1])]
    assert found == [], reason


def test_sentences_start_with_a_capital_and_end_with_a_mark(
    corpus: dict[str, list[tuple[str, str, str]]],
) -> None:
    for english, french, _ in itertools.chain(*corpus.values()):
        assert english[0].isupper()
        assert french[0].isupper()
        assert english[-1] == french[-1]
        assert english[-1] in ".?"


def test_elision_contraction_and_euphony_build_the_known_alignment(grammar: None) -> None:
    from corpus.phrase import finish, fixed

    pair = finish(
        fixed("the man comes from the village", "le:0 homme:1 vient:2 de:3 le:4 village:5")
    )
    assert pair.french == "L'homme vient du village."
    assert pair.alignment == "1-0 0p0 2-1 3-2 4p2 5-3"
    pair = finish(fixed("the owl", "le:0 *hibou:1"))
    assert pair.french == "Le hibou."
    pair = finish(fixed("if he does not see it", "si:0 il:1 ne:3 le:5 voit:4 pas:3"))
    assert pair.french == "S'il ne le voit pas."


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--pairs", "0"], 2, "0 is too small, the least is 1"),
        (["--pairs", "many"], 2, "invalid whole number value: 'many'"),
        (["--max-words", "3"], 2, "3 is too small, the least is 4"),
        (["--share", "negatoin=0.5"], 2, "no phenomenon 'negatoin'; is it 'negation'?"),
        (["--share", "negation=half"], 2, "negation=half: a share is a number from 0 to 1"),
        (["--share", "negation=1.5"], 2, "negation=1.5: a share is a number from 0 to 1"),
        (["--output", str(SCRIPT / "below-a-file")], 1, "Not a directory"),
    ],
)
def test_wrong_arguments_end_with_a_message(
    grammar: None,
    arguments: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import make_corpus

    if "--output" not in arguments:
        arguments = [*arguments, "--output", str(tmp_path)]
    try:
        returned = make_corpus.main(arguments)
    except SystemExit as stop:
        returned = int(stop.code or 0)
    assert returned == status
    assert message in capsys.readouterr().err.strip().split("\n")[-1]
    assert list(tmp_path.iterdir()) == []


def test_another_corpus_is_not_written_over_the_committed_one(
    grammar: None, capsys: pytest.CaptureFixture[str]
) -> None:
    import make_corpus

    before = (DATA / "train.en").read_bytes()
    with pytest.raises(SystemExit) as stop:
        make_corpus.main(["--pairs", "50", "--share", "negation=0.5"])
    assert stop.value.code == 2
    assert "--pairs, --share would write another corpus over" in capsys.readouterr().err
    assert (DATA / "train.en").read_bytes() == before


def test_a_grammar_that_has_no_more_sentences_says_so(
    grammar: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import make_corpus
    from corpus.draw import Draw
    from corpus.sentences import sentences

    few = list(itertools.islice(sentences(Draw(1), max_words=20, many=False), 5))
    monkeypatch.setattr(make_corpus, "PATIENCE", 30)
    monkeypatch.setattr(make_corpus, "stream", lambda *_, **__: itertools.cycle(few))
    assert make_corpus.main(["--pairs", "6", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        "make_corpus: only 5 of 6 pairs found: no fitting sentence in 30 tries; "
        "ask for fewer pairs, other lengths, other shares or, since every word of a held-out pair "
        "occurs in training, for more --pairs\n"
    )


def test_lengths_that_hardly_occur_end_with_a_message(
    grammar: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import make_corpus

    monkeypatch.setattr(make_corpus, "PATIENCE", 40)
    sizes = ("--pairs", "30", "--held-out", "0", "--by-length", "500", "--max-words", "8")
    assert make_corpus.main([*sizes, "--processes", "1", "--output", str(tmp_path)]) == 1
    assert "of 500 pairs found: no fitting sentence in 40 tries" in capsys.readouterr().err


def test_shares_of_phenomena_are_held(grammar: None, tmp_path: Path) -> None:
    import make_corpus
    from corpus import phenomena
    from corpus.phrase import Pair

    shares = {"negation": 0.5, "question": 0.0, "relative dont": 0.1, "long-distance move": 0.2}
    wanted = [argument for name, s in shares.items() for argument in ("--share", f"{name}={s}")]
    arguments = ["--pairs", "300", "--held-out", "20", "--by-length", "0", "--processes", "1"]
    assert make_corpus.main([*arguments, *wanted, "--output", str(tmp_path)]) == 0
    pairs = [Pair(*row) for row in read(tmp_path, "train")]
    assert not [pair for pair in pairs if pair.english.endswith("?")]
    dont = [pair for pair in pairs if " dont " in pair.french]
    assert abs(len(dont) - 30) <= 3
    moved = [pair for pair in pairs if "long-distance move" in phenomena.of(pair)]
    assert abs(len(moved) - 60) <= 3
    negated = r"\b(ne|n')\s?\w|rien|personne"
    assert 130 <= sum(bool(re.search(negated, pair.french)) for pair in pairs) <= 170


def test_lengths_of_test_length(corpus: dict[str, list[tuple[str, str, str]]]) -> None:
    rows = read(DATA, "test_length")
    bins = Counter(10 * ((len(row[0].split(" ")) - 1) // 10) + 1 for row in rows)
    assert bins == dict.fromkeys(BINS, 200)
    for side in (0, 1):
        others = {row[side] for split in corpus.values() for row in split}
        lines = [row[side] for row in rows]
        assert len(set(lines)) == len(lines)
        assert not others & set(lines)
        words = {word for row in corpus["train"] for word in row[side].split(" ")}
        assert words.issuperset(word for line in lines for word in line.split(" "))


def test_six_hundred_lemmas_a_side(grammar: None) -> None:
    from corpus import verbs
    from corpus.adjectives import ADJECTIVE
    from corpus.nouns import NOUN

    tables = (verbs.TRANSITIVES, verbs.INTRANSITIVES, verbs.DITRANSITIVES, verbs.MOTIONS)
    every = [*itertools.chain(*tables), *verbs.CONTROLS]
    # Nouns, adjectives and verbs alone, without names, numbers, adverbs and small words.
    english = {*NOUN} | {a.english for a in ADJECTIVE} | {f"to {v.forms.base}" for v in every}
    french = {noun.french for noun in NOUN.values()} | {a.masculine for a in ADJECTIVE}
    french |= {("se " * v.reflexive) + v.french.infinitive for v in every}
    assert len(english) >= 600
    assert len(french) >= 600


def test_another_seed_and_size(tmp_path: Path) -> None:
    sizes = ("--pairs", "2000", "--held-out", "20", "--by-length", "3", "--longest", "30")
    result = run("--output", str(tmp_path), *sizes, "--seed", "5")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(read(tmp_path, "test_length")) == 9
    assert [len(read(tmp_path, name)) for name in SPLITS] == [2000, 20, 20]
    assert read(tmp_path, "train")[:50] != read(DATA, "train")[:50]
