"""Language detection is right, or finds no language, for any text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.summary import language
from mapshelf.text.language_detection import SAMPLE_LENGTH, guess_language

SENTENCES = {
    "ar": "ماذا نريد أن نحقق معا في العام القادم",
    "cs": "Čeho chceme společně dosáhnout v příštím roce",
    "da": "Hvad vi gerne vil opnå sammen næste år",
    "de": "Was wir im nächsten Jahr gemeinsam erreichen wollen",
    "el": "Τι θέλουμε να πετύχουμε μαζί του χρόνου",
    "en": "How we want to work together in the next year",
    "es": "Lo que queremos conseguir juntos el próximo año",
    "fi": "Mitä haluamme saavuttaa yhdessä ensi vuonna",
    "fr": "Ce que nous voulons faire ensemble l'année prochaine",
    "he": "מה אנחנו רוצים להשיג יחד בשנה הבאה",
    "hi": "हम अगले साल मिलकर क्या हासिल करना चाहते हैं",
    "hu": "Mit szeretnénk közösen elérni jövőre",
    "it": "Quello che vogliamo realizzare insieme il prossimo anno",
    "ja": "来年一緒に達成したいことをまとめる",
    "ko": "내년에 우리가 함께 이루고 싶은 것",
    "nl": "Wat we volgend jaar samen willen bereiken",
    "pl": "Co chcemy razem osiągnąć w przyszłym roku",
    "pt": "O que queremos alcançar juntos no próximo ano",
    "ru": "Чего мы хотим достичь вместе в следующем году",
    "sv": "Vad vi vill uppnå tillsammans nästa år",
    "th": "สิ่งที่เราอยากทำร่วมกันในปีหน้า",
    "tl": "Ang mga bagay na nais nating makamit nang sama-sama sa susunod na taon",
    "tr": "Gelecek yıl birlikte neyi başarmak istiyoruz",
    "uk": "Чого ми хочемо досягти разом наступного року",
    "vi": "Những điều chúng ta muốn cùng nhau đạt được năm tới",
    "zh": "我们明年想一起实现的目标",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_languages_of_sentences_are_detected(code: str, text: str) -> None:
    assert guess_language(text) == code
    assert guess_language(text.upper()) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Idea",
        "Meeting notes",
        "Besprechung am Montag",
        "购物清单",
        "1234567890 " * 20,
        "https://example.org/the/way/we/want/to/work/together",
        "git commit -m=x /usr/lib/python3 std::vector<int> getElementById",
        "🙂🙃🐧🐍" * 20,
        "🌍",
        "qwzx vbkj fdgh zzzp wqkx jjkv bnmq xxcv",
    ],
)
def test_no_language_is_given_when_unsure(text: str) -> None:
    assert guess_language(text) == ""


def test_addresses_and_commands_do_not_count() -> None:
    noise = "https://example.org/getting_started#installation\nsudo_apt-get=install\n" * 40
    assert guess_language(noise + SENTENCES["es"]) == "es"


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    assert guess_language("1 " * (SAMPLE_LENGTH // 2) + SENTENCES["es"]) == ""


@given(st.text(st.characters(), max_size=60))
@example("a\ud800 \udfff" * 40)
@example("word\x00word " * 40)
@example("x" * 50_000)
@example("\u0301" * 50_000)
def test_any_text_has_a_language_or_none(text: str) -> None:
    code = guess_language(text)
    assert code == "" or (len(code) == 2 and code.isascii() and code.islower())
    assert guess_language(text) == code


def test_a_map_speaks_by_its_topics_and_notes() -> None:
    words = SENTENCES["de"].split()
    children = [Topic(word) for word in words]
    assert language(Outline(sheets_of((Topic("Plan 2024", children=children),)))) == "de"
    assert language(Outline(sheets_of((Topic("Plan", note=SENTENCES["fr"]),)))) == "fr"
    assert language(Outline(sheets_of((Topic("Plan"), Topic(SENTENCES["it"]))))) == "it"
    assert language(Outline(sheets_of((Topic("Plan", children=[Topic("Idea")]),)))) == ""
