"""Names in the scripts of the world: where they begin and end, and the edges that they make."""

import unicodedata

import pytest

from kit.corpus import Corpus, Passage
from kit.graphs import build
from kit.text import keywords
from kit.text.entities import fold, is_name, names_in
from kit.text.placeholders import EntityLinker
from kit.text.triples import Triple, by_rules

#: By script: a title with its text, one that mentions it in a way of its own, and four that do not.
WORLDS = {
    "Cyrillic": [
        ("Анна Моравец", "Анна Моравец родилась в деревне."),
        ("Стеклянная гавань", "Этот роман написала Анна Моравец."),
        ("Река", "Она течёт с холма."),
        ("Мельница", "Её построили у воды."),
        ("Рынок", "Он открыт утром."),
        ("Мост", "Его снесли давно."),
    ],
    "Greek": [
        ("Άννα Μοραβέκ", "Η Άννα Μοραβέκ γεννήθηκε σε χωριό."),
        ("Γυάλινο λιμάνι", "Το έγραψε η Άννα Μοραβέκ."),
        ("Ποτάμι", "Κυλά από τον λόφο."),
        ("Μύλος", "Χτίστηκε κοντά στο νερό."),
        ("Αγορά", "Ανοίγει κάθε πρωί."),
        ("Γέφυρα", "Γκρεμίστηκε παλιά."),
    ],
    "Arabic": [
        ("القاهرة", "القاهرة مدينة كبيرة."),
        ("أحمد", "ولد في القاهرة، ثم سافر."),
        ("نهر", "يجري من الجبل."),
        ("طاحونة", "بنيت قرب الماء."),
        ("سوق", "يفتح كل صباح."),
        ("جسر", "هدم منذ زمن."),
    ],
    "Chinese": [
        ("上海", "上海是一座大城市。"),
        ("林海", "他出生于上海，后来去了北方。"),
        ("玻璃港（电影）", "这是一部老电影。"),
        ("水磨坊", "建在水边。"),
        ("早市", "每天清晨开门。"),
        ("石桥", "早已拆除。"),
    ],
    "Japanese": [
        ("マリア", "マリアは村で生まれた。"),
        ("硝子の港", "この小説はマリアが書いた。"),
        ("川岸", "マリアナは別の名前である。"),  # another word
        ("水車", "水のそばに建てられた。"),
        ("市場", "毎朝開く。"),
        ("石橋", "昔に壊された。"),
    ],
    "Korean": [
        ("서울", "서울은 큰 도시이다."),
        ("김민수", "그는 서울에서 태어났다."),
        ("강가", "언덕에서 흐른다."),
        ("물레방아", "물가에 지었다."),
        ("시장길", "아침마다 연다."),
        ("돌다리", "오래전에 헐렸다."),
    ],
    "Hindi": [
        ("दिल्ली", "दिल्ली एक बड़ा शहर है।"),
        ("अमित", "उसका जन्म दिल्ली में हुआ।"),
        ("नदी", "पहाड़ से बहती है।"),
        ("चक्की", "पानी के पास बनी।"),
        ("बाज़ार", "सुबह खुलता है।"),
        ("पुल", "पुली और पुलिस दूसरे शब्द हैं।"),
    ],
    "Georgian": [
        ("თბილისი", "თბილისი დიდი ქალაქია."),
        ("გიორგი", "ის დაიბადა ქალაქში თბილისი."),
        ("მდინარე", "მთიდან მოედინება."),
        ("წისქვილი", "წყალთან აშენდა."),
        ("ბაზარი", "დილით იღება."),
        ("ხიდი", "დიდი ხანია დაინგრა."),
    ],
}


def corpus(texts: list[tuple[str, str]]) -> Corpus:
    return Corpus(
        Passage(str(row), title, text, str(row)) for row, (title, text) in enumerate(texts)
    )


@pytest.mark.parametrize("script", WORLDS)
def test_the_one_name_of_two_passages_is_the_one_edge(script: str) -> None:
    graph = build("entity", corpus(WORLDS[script]))
    assert [graph.neighbours(row).tolist() for row in range(6)] == [[1], [0], [], [], [], []]


@pytest.mark.parametrize("script", WORLDS)
def test_titles_are_keywords_and_subjects_are_mentioned(script: str) -> None:
    passages = corpus(WORLDS[script])
    title = passages.passages[0].title
    assert fold(title) in keywords(passages, 0).terms
    assert title in [m.entity for m in EntityLinker(passages).mentions(WORLDS[script][1][1])]


def test_names_without_a_page_are_found_by_capitals_of_any_script() -> None:
    assert list(names_in("В Москве жила Анна Моравец. Это знал Пётр.")) == [
        "москве",
        "анна моравец",
        "пётр",
    ]
    assert list(names_in("Εκεί ζούσε η Άννα Μοραβέκ.")) == ["άννα μοραβέκ"]
    assert list(names_in("Աննա գնաց Երևան քաղաք.")) == ["երևան"]
    assert list(names_in("she met Ștefan and saw ǆ, ženski")) == ["ștefan"]


@pytest.mark.parametrize(("text", "right"), [("上海", True), ("海", False), ("Ox", False)])
def test_a_chinese_name_may_have_two_characters(text: str, right: bool) -> None:
    assert is_name(fold(text)) == right


def test_a_corpus_without_a_common_name_is_told() -> None:
    with pytest.warns(
        UserWarning, match="no two of 2 passages mention the same name .* no entity edge"
    ):
        graph = build("entity", corpus([("上海", "大城市。"), ("سوق", "يفتح كل صباح.")]))
    assert graph.neighbours(0).tolist() == []


def test_composed_and_decomposed_letters_are_the_same_name() -> None:
    texts = [
        ("Éamon Ó Sé", "A poet of the west."),
        ("Harbour", "It was sung of by Éamon Ó Sé, and by Zoë Å."),
        ("Mill", "It was praised by Zoë Å."),
        *[(f"Page {n}", "Nothing.") for n in range(3)],
    ]
    for forms in (["NFC", "NFD"] * 3, ["NFD", "NFC"] * 3, ["NFD"] * 6):
        mixed = [
            tuple(unicodedata.normalize(form, part) for part in text)
            for form, text in zip(forms, texts)
        ]
        graph = build("entity", corpus(mixed))
        assert [graph.neighbours(row).tolist() for row in range(4)] == [[1], [0, 2], [1], []]
    assert fold(unicodedata.normalize("NFD", "Éamon")) == fold("Éamon") == "éamon"


def test_clauses_of_chinese_end_at_their_marks() -> None:
    [_, second, *_] = by_rules(corpus(WORLDS["Chinese"]))
    assert second.sentences == ("他出生于上海，后来去了北方。",)
    assert second.triples == (Triple("林海", "他出生于", "上海", 0),)
