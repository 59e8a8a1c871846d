"""World files: read exactly, refused in words, run truthfully, and never a traceback."""

import json
import re
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

import attnlab
from attnlab import TOY_WORLD, ToyWorld, WorldFile, WorldFileError, read_world, world_file
from attnlab.cli import main
from attnlab.reproduce import canonical_text, run
from attnlab.scaling import ScalingMeasurement
from attnlab.sections import s3_raw_attention, s4_wired_head, s5_scaling, s6_general_head
from attnlab.world_file import BUILT_IN, MAX_BYTES, _Reader, parse_world

GOOD = BUILT_IN.toml
WITHOUT_TORCH = ["S1", "S2", "S3", "S4", "S5"]


def faults(text, name="w.toml"):
    """What reading a file's text complains of."""
    with pytest.raises(WorldFileError) as caught:
        parse_world(text, name)
    assert str(caught.value) == "\n".join(caught.value.faults)
    return list(caught.value.faults)


def edited(*changes):
    """The built-in world's file with some text replaced."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


# What a file gives


def test_the_built_in_world_is_its_file():
    file = parse_world(GOOD)
    assert file.is_built_in
    assert file.data == BUILT_IN.data == json.loads(json.dumps(BUILT_IN.data))
    assert file.data["words"]["bank"] == [0.3, 0.3, 0.9, 0.0]
    assert file.world.W_Q.tolist() == TOY_WORLD.W_Q.tolist()


def test_without_a_head_each_word_is_its_own_query_and_key():
    file = parse_world(GOOD[: GOOD.index("# The hand-wired head")])
    world = file.world
    assert world.channels == world.axes
    assert world.W_Q.tolist() == world.W_K.tolist() == np.eye(4).tolist()
    assert not file.is_built_in
    assert run(["S4"], world=world).measurements["S4.symmetric"].value is True


def test_the_explorers_settings_are_kept():
    settings = {"head": "wired", "scaled": True, "causal": False, "sharpness": 2}
    W_V = [[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, -1e-9]]
    text = WorldFile(TOY_WORLD, 0, settings | {"W_V": W_V}).toml
    assert parse_world(text).data["explorer"] == settings | {"W_V": W_V}
    assert parse_world(text).is_built_in


@pytest.mark.parametrize(
    "change",
    [("seed = 0", "seed = 1"), ("0.9, 0.0, 0.3", "0.9, 0.0, 0.31"), ("1.5]", "1.6]")],
)
def test_another_number_is_another_world(change):
    assert not parse_world(edited(change)).is_built_in


def test_a_file_is_read_as_editors_write_it(tmp_path):
    path = tmp_path / "w.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_world(path).is_built_in
    assert read_world(str(path)).is_built_in


def test_letters_that_look_alike_are_one():
    accent = "e\u0301te\u0301"
    text = edited(("river = [", f'"{accent}" = ['), ("the river bank", f"the  {accent} bank"))
    assert parse_world(text).world.sentences == ("the été bank", "the money bank")
    assert parse_world(text).world.vector(accent).tolist() == [0.9, 0.0, 0.3, 0.0]
    twice = edited(("river = [", f'"{accent}" = [0, 0, 0, 0]\n"été" = [0, 0, 0, 0]\nriver = ['))
    assert faults(twice) == ["w.toml, line 23, words: must differ, but 'été' is there twice"]


# Round trip

NAME = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=9)
NUMBER = st.floats(-1e6, 1e6) | st.sampled_from([0.1, -0.0, 1e-9, 5e-324, 1e6])


@st.composite
def worlds(draw, names=NAME):
    """Any world that a file may hold."""

    def named(least, most):
        unique = st.lists(names, min_size=least, max_size=most, unique=True)
        return draw(unique.filter(fit))

    def fit(names):
        try:
            vectors = np.zeros((len(names), 1))
            ToyWorld(("x",), tuple(names), vectors, (), "", ("x",), [[0.0]], [[0.0]])
        except attnlab.AttnlabError as error:
            return str(error).startswith(("focus", "sentences"))
        return True

    def matrix(rows, columns):
        row = st.lists(NUMBER, min_size=columns, max_size=columns)
        return draw(st.lists(row, min_size=rows, max_size=rows))

    focus, *words = named(3, 9)
    count = draw(st.integers(2, min(4, len(words))))
    contexts, fill = words[:count], words[count:]
    sentences = [
        " ".join(draw(st.permutations([focus, context, *fill[: draw(st.integers(0, 5))]])))
        for context in contexts
    ]
    axes, channels = named(1, 4), named(1, 3)
    vectors = matrix(len(words) + 1, len(axes))
    heads = (matrix(len(axes), len(channels)) for _ in range(2))
    try:
        return ToyWorld(axes, [focus, *words], vectors, sentences, focus, channels, *heads)
    except attnlab.InvalidValueError:  # a filler word tells a sentence from the others first
        return None


WORLDS = worlds().filter(lambda world: world is not None)
MANY = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@MANY
@given(WORLDS, st.integers(0, 2**32 - 1))
def test_what_is_written_is_read_again_exactly(world, seed):
    file = WorldFile(world, seed)
    again = parse_world(file.toml)
    assert repr(again.data) == repr(file.data)  # to the sign of a zero
    assert again.toml == file.toml
    assert repr(tomllib.loads(file.toml)["words"]) == repr(file.data["words"])


def test_a_world_that_no_file_may_hold_is_not_written():
    world = ToyWorld(
        *(["x"], ["a", "b", "c"], [[1e7], [0], [0]], ["a b", "a c"], "a", ["x"], [[1]], [[1]])
    )
    with pytest.raises(WorldFileError, match=r"words\.a: entry 1 \(x\) must be from -1000000 to"):
        WorldFile(world).toml  # noqa: B018


# Bad files

NUMBERS = "must be a list of 4 numbers, one for each axis (water, money, place, filler)"
LONG = "x" * 41

BAD = {
    "nothing": (
        "",
        [
            "focus: is missing: the word whose output is followed",
            "axes: is missing: the names of the embedding axes",
            "sentences: is missing: the sentences, made of the words",
            "words: is missing: the table with a vector for each word",
        ],
    ),
    "not TOML": (edited(('focus = "bank"', "focus = bank")), ["line 9: must be TOML, but: "]),
    "cut short": (GOOD[:-4], ["line 46: must be TOML, but: "]),
    "letters beyond a-z": (
        edited(("river = [", "\u00e9t\u00e9 = [")),
        [
            "line 25: must be TOML, but: Invalid statement; a word with "
            'other signs than a-z, A-Z, 0-9, - and _ stands in quotes: "a.b" = [...]'
        ],
    ),
    "a word twice": (
        edited(("money = [", "river = [")),
        ["line 26: the key stands here a second time; each must stand once"],
    ),
    "endless brackets": (
        "x = " + "[" * 9999,
        [": must be plain TOML, but it holds lists too deep"],
    ),
    "endless digits": (
        edited(("seed = 0", f"seed = {'9' * 5000}")),
        [": must be plain TOML, but it holds a number too long"],
    ),
    "unknown key": (
        edited(("focus =", "fokus =")),
        [
            "focus: is missing: the word whose output is followed",
            "line 9, fokus: is no key; did you mean 'focus'?",
        ],
    ),
    "unknown key of a table": (
        f"{GOOD}\n[explorer]\nzzz = 1\n",
        [
            "line 50, explorer.zzz: is no key; known keys are head, scaled, causal, sharpness, W_V",
        ],
    ),
    "part of a head": (
        edited(("W_K = [", "W_k = [")),
        [
            "line 30, head.W_K: is missing: what each axis advertises, one row an axis and one "
            "column a channel",
            "line 42, head.W_k: is no key; did you mean 'W_K' or 'W_Q'?",
        ],
    ),
    "seed: true": (
        edited(("seed = 0", "seed = true")),
        ["line 6, seed: must be a whole number from 0 to 4294967295, but it is true"],
    ),
    "seed: below 0": (
        edited(("seed = 0", "seed = -1")),
        ["line 6, seed: must be a whole number from 0 to 4294967295, but it is -1"],
    ),
    "seed: huge": (
        edited(("seed = 0", f"seed = 0x{'f' * 9999}")),
        [
            "line 6, seed: must be a whole number from 0 to 4294967295, "
            "but it is a number of more than 20 digits"
        ],
    ),
    "focus: a number": (
        edited(('focus = "bank"', "focus = 3.5")),
        ["line 9, focus: must be one of the words, but it is 3.5"],
    ),
    "focus: unknown": (
        edited(('focus = "bank"', 'focus = "Bank"')),
        ["line 9, focus: must be one of the words, but it is 'Bank': did you mean 'bank'?"],
    ),
    "axes: text": (
        edited(('axes = ["water", "money", "place", "filler"]', 'axes = "water"')),
        ['line 12, axes: must be a list of names, such as ["wet", "dry"], but it is \'water\''],
    ),
    "axes: one is no text": (
        edited(('"water", ', "1, ")),
        ['line 12, axes: must be a list of names, such as ["wet", "dry"], but it holds 1'],
    ),
    "axes: twice": (
        edited(('"water", ', '"place", ')),
        ["line 12, axes: must differ, but 'place' is there twice"],
    ),
    "axes: white space": (
        edited(('"water"', '"deep water"')),
        ["line 12, axes: must hold no white space, but 'deep water' does"],
    ),
    "axes: too many": (
        edited(('"water", ', '"water", ' + "".join(f'"{i}", ' for i in range(13)))),
        ["line 12, axes: must hold at most 16, but it holds 17"],
    ),
    "axes: too long": (
        edited(('"water"', f'"{LONG}"')),
        [
            f"line 12, axes: must hold names of at most 40 characters, but '{LONG[:40]}…' has 41",
        ],
    ),
    "sentences: none": (
        edited(('    "the river bank",\n    "the money bank",\n', "")),
        [
            'line 16, sentences: must be a list of text, such as ["the river bank", '
            '"the money bank"], but it is an empty list'
        ],
    ),
    "sentences: one": (
        edited(('    "the money bank",\n', "")),
        [
            "line 16, sentences: each of two or more sentences must hold a word that another "
            "lacks, but 'the river bank' does not (sentences: 'the river bank')"
        ],
    ),
    "sentences: several faults": (
        edited(("the river bank", "the rivr bank"), ("the money bank", "the the money")),
        [
            "line 16, sentences: unknown word 'rivr' in 'the rivr bank': did you mean 'river'?",
            "line 16, sentences: every sentence must hold the focus word 'bank', "
            "but 'the the money' does not",
            "line 16, sentences: a sentence must hold no word twice, "
            "but 'the the money' repeats 'the'",
        ],
    ),
    "sentences: empty": (
        edited(("the river bank", " ")),
        [
            "line 16, sentences: a sentence must hold at least one word, but it is ''; "
            "known words: the, river, money, bank"
        ],
    ),
    "sentences: too long": (
        edited(("the river bank", "the " * 13)),
        [
            "line 16, sentences: must have at most 12 words each, "
            "but 'the the the the the the the the the the …' has 13"
        ],
    ),
    "sentences: too many": (
        edited(('"the river bank"', ", ".join(['"the river bank"'] * 8))),
        ["line 16, sentences: must hold at most 8, but it holds 9"],
    ),
    "words: a list": (
        edited(("[words]", "[[words]]")),
        ["line 23, words: must be a table with a vector for each word, but it is a list of 1"],
    ),
    "words: too many": (
        edited(("[words]", "[words]\n" + "".join(f"w{i} = [0]\n" for i in range(3000)))),
        ["line 23, words: must hold at most 64, but there are 3004"],
    ),
    "words: a space": (
        edited(("river = [", '"river side" = [0, 0, 0, 0]\nriver = [')),
        ["line 23, words: must hold no white space, but 'river side' does"],
    ),
    "words: nothing": (
        edited(("river = [", '"" = [0, 0, 0, 0]\nriver = [')),
        ["line 23, words: must hold at least one character, but one is ''"],
    ),
    "words: written backwards": (
        edited(("river = [", '"\\u202Eknab" = [0, 0, 0, 0]\nriver = [')),
        [
            "line 23, words: must hold no control or invisible formatting characters, "
            "but '\\u202eknab' holds U+202E (RIGHT-TO-LEFT OVERRIDE)"
        ],
    ),
    "words: a bell": (
        edited(("river = [", '"\\u0007" = [0, 0, 0, 0]\nriver = [')),
        [
            "line 23, words: must hold no control or invisible formatting characters, "
            "but '\\x07' holds U+0007 (a control character)"
        ],
    ),
    "words: an accent alone": (
        edited(("river = [", '"\\u0301" = [0, 0, 0, 0]\nriver = [')),
        [
            "line 23, words: must begin with a character that can stand alone, "
            "but '\\u0301' does not"
        ],
    ),
    "vector: short": (
        edited(("money = [0.0, 0.9, 0.1, 0.0]", "money = [0.0, 0.9, 0.1]")),
        [f"line 26, words.money: {NUMBERS}, but it is a list of 3"],
    ),
    "vector: a number": (
        edited(("money = [0.0, 0.9, 0.1, 0.0]", "money = 0.9")),
        [f"line 26, words.money: {NUMBERS}, but it is 0.9"],
    ),
    "vector: of a word with a dot": (
        edited(("money = [0.0", "mon.ey = [0.0"), ("the money", "the mon.ey")),
        [
            "line 16, sentences: unknown word 'mon.ey' in 'the mon.ey bank': did you mean 'mon'?",
            f"line 26, words.mon: {NUMBERS}, but it is a table; "
            "a word with other signs than a-z, A-Z, 0-9, - and _ stands in quotes: "
            '"a.b" = [...]',
        ],
    ),
    "vector: text": (
        edited(("money = [0.0, 0.9", 'money = ["a", true')),
        [
            "line 26, words.money: entry 1 (water) must be a number, but it is 'a'",
            "line 26, words.money: entry 2 (money) must be a number, but it is true",
        ],
    ),
    "vector: not finite": (
        edited(("money = [0.0, 0.9", "money = [nan, -inf")),
        [
            "line 26, words.money: entry 1 (water) must be a finite number, but it is nan",
            "line 26, words.money: entry 2 (money) must be a finite number, but it is -inf",
        ],
    ),
    "vector: too large": (
        edited(("money = [0.0, 0.9", f"money = [1{'0' * 400}, -1e7")),
        [
            "line 26, words.money: entry 1 (water) must be from -1000000 to 1000000, "
            "but it is a number of more than 20 digits",
            "line 26, words.money: entry 2 (money) must be from -1000000 to 1000000, "
            "but it is -10000000.0",
        ],
    ),
    "vector: other things": (
        edited(("money = [0.0, 0.9, 0.1", "money = [2026-01-01, {}, []")),
        [
            "line 26, words.money: entry 1 (water) must be a number, "
            "but it is the date or time 2026-01-01",
            "line 26, words.money: entry 2 (money) must be a number, but it is an empty table",
            "line 26, words.money: entry 3 (place) must be a number, but it is an empty list",
        ],
    ),
    "head: a number": (
        f"head = 1\n{GOOD[: GOOD.index('# The hand-wired head')]}",
        ["line 1, head: must be a table with channels, W_Q and W_K, but it is 1"],
    ),
    "head: rows": (
        edited(("    [2.0, 0.0],  # place\n", "")),
        [
            "line 34, head.W_Q: must be a list of 4 rows, one for each axis "
            "(water, money, place, filler), but it is a list of 3"
        ],
    ),
    "head: columns": (
        edited(("[2.0, 0.0]", "[2.0, 0.0, 1.0]"), ("[0.0, 1.5]", '[0.0, "x"]')),
        [
            "line 34, head.W_Q: row 3 (place) must be a list of 2 numbers, one for each channel "
            "(topic, place), but it is a list of 3",
            "line 34, head.W_Q: row 4 (filler) entry 2 (place) must be a number, but it is 'x'",
        ],
    ),
    "explorer": (
        f'{GOOD}\n[explorer]\nhead = "both"\nscaled = 1\nsharpness = 0\nW_V = [[1]]\n',
        [
            'line 50, explorer.head: must be "raw" or "wired", but it is \'both\'',
            "line 51, explorer.scaled: must be true or false, but it is 1",
            "line 52, explorer.sharpness: must be a number above 0 and at most 1000, but it is 0",
            "line 53, explorer.W_V: must be a list of 4 rows, one for each axis "
            "(water, money, place, filler), but it is a list of 1",
        ],
    ),
    "explorer: no table": (
        f"explorer = 3\n{GOOD}",
        ["line 1, explorer: must be a table of settings, but it is 3"],
    ),
}


@pytest.mark.parametrize(("text", "messages"), BAD.values(), ids=list(BAD))
def test_a_bad_file_is_told_everything_that_is_wrong(text, messages):
    came = faults(text)
    assert len(came) == len(messages)
    for fault, message in zip(came, messages, strict=True):
        expected = f"w.toml{message}" if message.startswith(":") else f"w.toml, {message}"
        if message.endswith("must be TOML, but: "):  # the rest is Python's
            assert fault.startswith(expected)
            assert len(fault) < 200
        else:
            assert fault == expected


def test_a_line_is_where_the_value_begins_whatever_stands_before_it():
    lure = '# focus = 1\ntrap = """\nfocus = 2\n[words]\nbank = 3\n"""\n'
    text = lure + edited(('focus = "bank"', 'focus = "x"'), ("bank  = [0.3", "bank = [true"))
    lines = text.split("\n")
    found = [re.match(r"w\.toml, line (\d+), ([\w.]+):", fault).groups() for fault in faults(text)]
    assert found == [("2", "trap"), ("15", "focus"), ("33", "words.bank")]
    for number, key in found:
        assert lines[int(number) - 1].startswith(key.rpartition(".")[2])


def test_faults_beyond_twenty_are_counted():
    words = "".join(f"w{i} = [0]\n" for i in range(30))
    came = faults(edited(("[words]\n", f"[words]\n{words}")))
    assert len(came) == 21
    assert came[-1] == "w.toml: and 10 faults more"


FILES = {
    "no file": (lambda path: None, ": there is no such file; python -m attnlab world init FILE"),
    "a folder": (Path.mkdir, ": must be a file, but it is a folder"),
    "Latin-1": (
        lambda path: path.write_bytes(b"seed = 0\nfocus = '\xe9t\xe9'\n"),
        ", line 2: must be UTF-8 text, but it holds the byte 0xe9; save it as UTF-8",
    ),
    "10 MB": (
        lambda path: path.write_bytes(b"#" * 10_000_000),
        f": must hold at most {MAX_BYTES} bytes, but it holds more",
    ),
}


HOSTILE = {
    "a key of many parts": f"a{'.a' * 45_000} = 1\n",
    "many keys of some parts": "".join(f"a.b{i}.c.d.e = 1\n" for i in range(5_000)),
    "many tables": "".join(f"[k{i}]\n" for i in range(9_000)),
    "many elements": "[[k.a]]\n" * 9_000,
    "the key in every line": "# focus\n" * 8_000 + edited(('focus = "bank"', 'focus = "x"')),
    "a focus of many lines": edited(('"bank"\n', '"""' + "focus\n" * 10_000 + '"""\n')),
    "a long word": edited(("river = ", f'"{"r" * 80_000}" = ')),
    "a long vector": edited(("[0.9, 0.0", f"[{'0,' * 40_000}")),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_file_is_refused_soon_and_shortly(text):
    assert len(text) < MAX_BYTES
    start = time.process_time()
    came = faults(text)
    assert time.process_time() - start < 5
    assert max(map(len, came)) < 600


@pytest.mark.parametrize(("make", "message"), FILES.values(), ids=list(FILES))
def test_what_is_no_text_file(make, message, tmp_path, capsys):
    path = tmp_path / "w.toml"
    make(path)
    with pytest.raises(WorldFileError) as caught:
        read_world(path)
    assert str(caught.value).startswith(f"{path}{message}")
    for command in (["world", "check", str(path)], ["reproduce", "--world", str(path)]):
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"attnlab: {caught.value}\n")


def test_a_name_that_no_file_can_have():
    with pytest.raises(WorldFileError, match=r"^'a\\x00b': cannot be read: "):
        read_world("a\0b")


# The commands


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_writes_a_file_that_check_accepts_and_that_makes_the_canonical_log(here, capsys):
    assert main(["world", "init", "my.toml"]) == 0
    assert "wrote my.toml" in capsys.readouterr().out
    assert (here / "my.toml").read_text("utf-8") == GOOD
    assert [path.name for path in here.iterdir()] == ["my.toml"]
    assert main(["world", "check", "my.toml"]) == 0
    assert capsys.readouterr().out == (
        "my.toml describes a world:\n"
        "  4 words: the, river, money, bank\n"
        "  4 axes: water, money, place, filler\n"
        "  2 channels: topic, place\n"
        '  2 sentences: "the river bank", "the money bank"\n'
        "  focus: bank\n"
        "  seed: 0\n"
    )
    names = ",".join(WITHOUT_TORCH)
    assert main(["reproduce", "--world", "my.toml", "--sections", names]) == 0
    out = capsys.readouterr().out
    log = (here / "captures" / "results.log").read_bytes()
    versions = canonical_text().split("\n")[2].encode(), log.split(b"\n")[2]
    canonical = canonical_text().partition("[S6]")[0].encode()
    assert log == canonical.replace(*versions)
    assert "identical: " in out or "the same: " in out
    assert len(list((here / "diagrams").iterdir())) == 6


def test_init_leaves_what_is_there_unless_forced(here, capsys):
    path = here / "my.toml"
    path.write_text("mine")
    assert main(["world", "init", "my.toml"]) == 2
    assert path.read_text() == "mine"
    assert capsys.readouterr().err == (
        "attnlab: my.toml is there already, and was left as it is; "
        "choose another name, or replace it with --force\n"
    )
    assert main(["world", "init", "my.toml", "--force"]) == 0
    assert path.read_text("utf-8") == GOOD


def test_init_writes_the_whole_file_or_nothing(here, capsys, monkeypatch):
    (here / "my.toml").write_text("mine")

    def full(path, data):
        with path.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["world", "init", "my.toml", "--force"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["my.toml"]
    assert (here / "my.toml").read_text() == "mine"


def test_check_says_every_fault_on_a_line_of_its_own(here, capsys):
    (here / "w.toml").write_text(edited(("seed = 0", "seed = -1"), ("the river bank", "the bank")))
    assert main(["world", "check", "w.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.findall(r"^attnlab: w\.toml, line (\d+), ", err, re.MULTILINE) == ["6", "16"]
    assert len(err.splitlines()) == 2


def test_a_world_of_ones_own_makes_its_log_and_is_not_compared(here, capsys):
    (here / "w.toml").write_text(
        edited(("seed = 0", "seed = 3"), ("0.9, 0.0, 0.3", "0.9, 0.25, 0"))
    )
    assert main(["reproduce", "--world", "w.toml", "--sections", "S1,S5", "--output", "out"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(
        "wrote 1 figure into out/diagrams\n"
        "not compared: the canonical log is that of the built-in world, "
        "and w.toml describes another\n"
    )
    text = (here / "out" / "captures" / "results.log").read_text("utf-8")
    expected = run(["S1", "S5"], world=read_world("w.toml").world, seed=3).text
    assert text == expected
    assert " | seed 3\n" in text
    assert "  river        0.9    0.25     0.0     0.0\n" in text
    assert run(["S5"], seed=3).lines[9] != run(["S5"]).lines[9]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strict"], "--strict compares with the canonical log, which is that of the built-in"),
        (["--update-canonical"], "--update-canonical is for the built-in world"),
    ],
)
def test_what_needs_the_built_in_world(here, capsys, arguments, message):
    (here / "w.toml").write_text(edited(("seed = 0", "seed = 3")))
    assert main(["reproduce", "--world", "w.toml", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["w.toml"]


def test_a_missing_package_is_said_of_any_world(here, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    (here / "w.toml").write_text(edited(("seed = 0", "seed = 3")))
    assert main(["reproduce", "--world", "w.toml", "--sections", "S6"]) == 2
    out, err = capsys.readouterr()
    assert out.endswith("not complete: S6 could not run\n")
    assert "PyTorch is needed" in err


# No traceback, whatever the file


def never_a_traceback(raw, folder, capsys, command=("world", "check")):
    path = folder / "fuzz.toml"
    path.write_bytes(raw)
    code = main([*command, str(path)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert (code == 0 and err == "") or (code == 2 and err.startswith("attnlab: ") and out == "")
    return code


MUTATION = st.tuples(
    st.integers(0, len(GOOD)), st.integers(0, 12), st.binary(max_size=6) | st.sampled_from(
        [b"[", b"]", b'"', b"\n", b"=", b"1e999", b"nan", b"true", b"\xff", b"a.b.c = 1", b"[[",
         b"{", "\u202e".encode(), "e\u0301".encode(), b"99999999999999999999999"]
    )
)  # fmt: skip


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(raw=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode()))
def test_random_bytes(raw, tmp_path, capsys):
    assert never_a_traceback(raw, tmp_path, capsys) == 2


@settings(max_examples=600, suppress_health_check=list(HealthCheck))
@given(mutations=st.lists(MUTATION, min_size=1, max_size=4))
def test_a_good_file_changed_at_random(mutations, tmp_path, capsys):
    raw = GOOD.encode()
    for start, length, new in mutations:
        raw = raw[:start] + new + raw[start + length :]
    if never_a_traceback(raw, tmp_path, capsys) == 0:
        run(["S1", "S2", "S3", "S4"], world=read_world(tmp_path / "fuzz.toml").world)


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAME,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(WORLDS, st.data())
def test_a_value_of_another_kind(world, data):
    """Each fault names its key; what has none is a world."""
    content = WorldFile(world).data
    path = data.draw(st.sampled_from([*content, "words.*", "head.channels", "head.W_Q"]))
    table, _, key = path.rpartition(".")
    holder = content[table] if table else content
    holder[next(iter(holder)) if key == "*" else key] = data.draw(VALUE.filter(lambda x: x != None))  # noqa: E711
    try:
        _Reader("w.toml", "", content).world_file()
    except WorldFileError as error:
        for fault in error.faults:
            assert re.match(
                r"w\.toml(, (axes|focus|head|seed|sentences|words|explorer)|: and)", fault
            )
            assert len(fault) < 1000


@pytest.mark.slow
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(world=WORLDS)
def test_any_world_is_run_with_its_figures(world, tmp_path, capsys):
    raw = WorldFile(world).toml.encode()
    command = ["reproduce", "--sections", "S2,S3,S4", "--output", str(tmp_path), "--world"]
    assert never_a_traceback(raw, tmp_path, capsys, command) == 0
    assert len(list((tmp_path / "diagrams").iterdir())) == 5


# What a log of any world says


@MANY
@given(WORLDS)
def test_the_columns_of_every_table_are_straight(world):
    log = run(["S1", "S2", "S3", "S4"], world=world)
    tables = 0
    for name, numbers in log.blocks.items():
        lines = [log.lines[number - 1] for number in numbers]
        rows = [line for line in lines if len(line.measurements) > 0]
        if re.match(r"S1\.embeddings|S[34]\.(weights|scores)", name):
            head = lines[lines.index(rows[0]) - 1]
            rows = [line for line in rows if "?" not in line.text[:12]][: len(lines)]
            rows = [line for line in rows if not line.text.startswith("  symmetric?")]
            widths = {wcswidth(line.text) for line in [head, *rows]}
            assert len(widths) == 1, "\n".join(line.text for line in [head, *rows])
            for line in rows:  # a name and its numbers, apart by two spaces or more
                assert len(re.split("  +", line.text.strip())) == 1 + len(line.measurements)
            tables += 1
        if name == "S4.queries_and_keys":
            starts = {wcswidth(line.text.partition(" q = [")[0]) for line in rows}
            assert len(starts) == 1 or any(" q = [" in word for word in world.words)
    assert tables == 4 + len(world.sentences)


@MANY
@given(WORLDS)
def test_each_number_is_shown_as_it_is(world):
    log = run(["S1", "S2", "S3", "S4"], world=world)
    for line in log.lines:
        rest = line.text
        for measurement in line.measurements:
            _, found, rest = rest.partition(measurement.text)
            assert found
    for measurement in log.measurements.values():
        if measurement.name.startswith("S1.embedding"):
            assert float(measurement.text) == measurement.value
    assert len([name for name in log.measurements if name.startswith("S1.embedding")]) == (
        world.embeddings.size
    )


def of(words, vectors, sentences, W_Q=None, W_K=None, focus="bank"):
    """A world on as many axes as its vectors have, with a head of one channel an axis."""
    axes = [f"axis{i}" for i in range(len(vectors[0]))]
    identity = np.eye(len(axes))
    heads = [identity if W is None else np.array(W, dtype=float) for W in (W_Q, W_K)]
    channels = [f"channel{i}" for i in range(heads[0].shape[1])]
    return ToyWorld(axes, words.split(), vectors, sentences, focus, channels, *heads)


def said(world, section, start):
    """The lines of a section that begin so."""
    lines = run([section], world=world).text.splitlines()
    return [line.strip() for line in lines if line.strip().startswith(start)]


TWO = ["the river bank", "the money bank"]
NAMES = "the river money bank"


def test_a_winner_is_one_that_has_more_than_half():
    even = of(NAMES, [[0.0], [0.0], [0.0], [0.5]], TWO)
    clear = of(NAMES, [[0.0], [0.0], [0.0], [1.0]], TWO)
    assert said(even, "S2", "softmax(same")[0].endswith(
        "= [0.182, 0.182, 0.636]  (one clear winner)"
    )
    assert said(clear, "S2", "softmax(same")[0].endswith("(one clear winner)")
    tied = of(NAMES, [[0.0], [1.0], [0.0], [1.0]], TWO)
    assert said(tied, "S2", "softmax(same")[0].endswith("[0.003, 0.498, 0.498]  (no clear winner)")


def test_terms_have_all_their_digits_and_a_rounded_total_says_so():
    world = of(NAMES, [[0, 0], [0.25, -1e-10], [0.5, 0.5], [-0.5, 1]], TWO)
    assert said(world, "S2", "bank .") == [
        "bank . river = (-0.5)*0.25 + 1.0*(-1e-10) ≈ -0.125",
        "bank . money = 0.250",
        "bank . the   = 0.000",
        "bank . bank  = 1.250",
    ]
    assert said(world, "S1", "river") == ["river       0.25  -1e-10"]
    small = of(NAMES, [[0], [1e-5], [1e6], [1e-9]], TWO)
    assert said(small, "S2", "bank .")[:2] == [
        "bank . river = 0.000000001*0.00001 ≈ 0.000",
        "bank . money = 0.001",
    ]


def test_a_plane_of_one_axis_is_not_called_two():
    world = of(NAMES, [[0, 0], [0.9, 0.1], [0.8, -0.5], [0.3, 0.9]], TWO)
    assert said(world, "S3", "axis0") == [
        f"axis0, {sentence.split()[1]} sentence: "
        f"{attnlab.raw_attention(world.embed(sentence)).output[2, 0]:.3f}"
        for sentence in TWO
    ]


def test_what_the_wired_head_changed_is_measured():
    """Built from the weights themselves, shown with the words of the log."""

    def commentary(raw, wired, world=TOY_WORLD):
        return s4_wired_head.rows(world, np.array(raw), np.array(wired)).lines[-1].text.strip()

    third, itself, bank = [1 / 3] * 3, [0.6, 0.2, 0.2], [0.2, 0.2, 0.6]
    raw = [itself, third, [0.2, 0.3, 0.5]]
    half = [bank, third, [0.2, 0.5, 0.3]]
    assert commentary(raw, half) == (
        "bank now takes half its update from 'river'; 'the' now looks at its noun"
    )
    assert commentary(raw, [itself, third, [0.3, 0.4, 0.3]]) == (
        "bank now takes 0.400 of its update from 'river', 0.300 before; "
        "'the' still looks most at itself"
    )
    assert commentary([third, third, [0.2, 0.5, 0.3]], half) == (
        "bank still takes 0.500 of its update from 'river'"
    )
    assert commentary([bank, third, [0.2, 0.3, 0.5]], [[0.2, 0.6, 0.2], *raw[1:]]) == (
        "bank still takes 0.300 of its update from 'river'; 'the' now looks most at 'river'"
    )
    other = of("the shore money bank", TOY_WORLD.embeddings, ["the shore bank", "the money bank"])
    assert commentary(raw, half, other) == (
        "bank now takes half its update from 'shore'; 'the' now looks most at 'bank'"
    )


def test_a_sentence_of_two_words_compares_both():
    world = of("bank river money", [[0.5], [1.0], [-1.0]], ["bank river", "bank money"])
    rows = [line for line in run(["S4"], world=world).text.splitlines() if "raw vs wired" in line]
    assert [row.split("raw")[0] for row in rows] == ["  bank's row,    ", "  'river's row,  "]


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e5])
def test_symmetry_and_order_are_judged_by_the_size_of_the_numbers(scale):
    rng = np.random.default_rng(3)
    vectors = scale * rng.normal(size=(6, 4))
    world = of("a b c d river bank", vectors, ["a b c river bank", "a b d c bank"])
    lines = said(world, "S3", "symmetric?")
    assert lines == ["symmetric? True (S[i,j] always equals S[j,i] here)"]
    skew = of(
        "a b c d river bank", vectors, world.sentences, rng.normal(size=(4, 2)), np.ones((4, 2))
    )
    assert said(skew, "S4", "symmetric?")[0].startswith("symmetric? False")
    assert s6_general_head.is_order_blind(world, world.sentences[0])


def test_a_matrix_is_called_symmetric_only_when_it_is():
    def last_line(S):
        return s3_raw_attention.scores(TOY_WORLD, "the river bank", np.array(S)).lines[-1].text

    assert last_line(np.eye(3)).endswith("True (S[i,j] always equals S[j,i] here)")
    assert last_line(np.eye(3)[[0, 2, 1]] + [0, 0, 1e-9]).endswith("symmetric? False")


@pytest.mark.parametrize(("error", "blind"), [(1e-15, True), (1e-12, False)])
def test_rounding_is_not_taken_for_order(monkeypatch, error, blind):
    """Rounded scores shift the weights by as much as they are large."""

    def rounded(X):
        result = attnlab.raw_attention(X)
        largest = np.abs(result.scores).max() * np.abs(X).max()
        return result._replace(output=result.output + error * largest * X[:1] / np.abs(X[:1]))

    monkeypatch.setattr(s6_general_head, "raw_attention", rounded)
    vectors = [[1e3, 1e3], [-1e3, 2e3], [2e3, 1e3], [1e3, -2e3]]
    assert s6_general_head.is_order_blind(of(NAMES, vectors, TWO), TWO[0]) is blind


def test_order_is_called_blind_only_when_it_is():
    def last_line(same):
        return s6_general_head.order_blindness(TOY_WORLD, same).lines[-1].text

    assert last_line(True).endswith("-> True (real LLMs add position information)")
    assert last_line(False).endswith("-> False")


def test_what_random_draws_show_is_measured():
    def conclusion(unscaled, scaled):
        sizes = [
            ScalingMeasurement(d, 1.0, u, s)
            for d, u, s in zip((4, 16, 64, 256), unscaled, scaled, strict=True)
        ]
        return s5_scaling.conclusion(sizes).lines[0].text.strip()

    rising, flat = (0.5, 0.7, 0.8, 0.95), (0.33, 0.35, 0.36, 0.37)
    assert conclusion(rising, flat) == (
        "unscaled top weight heads for 1.0 (winner-take-all); scaled stays flat"
    )
    assert conclusion((0.5, 0.8, 0.7, 0.95), flat) == (
        "unscaled top weight goes from 0.500 to 0.950; scaled stays flat"
    )
    assert conclusion((0.5, 0.7, 0.8, 0.9), rising) == (
        "unscaled top weight goes from 0.500 to 0.900; scaled goes from 0.500 to 0.950"
    )


def test_one_is_singular():
    world = of("bank river money", [[0.5], [1.0], [-1.0]], ["bank river", "bank money"])
    text = run(["S4"], world=world).text
    assert "3-word vocabulary, 1 hand-named embedding axis\n" in text
    assert "(1 channel: channel0):" in text


def test_names_with_dots_are_measured_apart():
    vectors = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    words = ["bank", "a", "a.b"]
    world = ToyWorld(
        *(["c", "b.c"], words, vectors, ["bank a", "bank a.b"], "bank", ["c", "b.c"]),
        *(np.eye(2), np.eye(2)),
    )
    log = run(["S1", "S3", "S4"], world=world)
    assert log.measurements['S1.embedding.a."b.c"'].value == 0.4
    assert log.measurements['S1.embedding."a.b".c'].value == 0.5
    assert 'S3.output."a.b_bank"."b.c"' in log.measurements


def test_the_page_states_the_limits():
    page = (Path(__file__).parents[1] / "docs" / "world.rst").read_text("utf-8")
    stated = re.findall(r":given:`(\d+) <a limit", page)
    names = [
        "WORDS",
        "AXES",
        "CHANNELS",
        "SENTENCES",
        "SENTENCE_WORDS",
        "NAME",
        "NUMBER",
        "SEED",
        "BYTES",
    ]
    assert stated == [str(getattr(world_file, f"MAX_{name}")) for name in names]
    for key in ("seed", "focus", "axes", "sentences", "[words]", "[head]", "[explorer]"):
        assert f"\n``{key}``\n" in page
