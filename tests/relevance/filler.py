"""Maps that no judged query looks for, enough of them to make ranking hard.

A word is only rare in a catalogue of some size, and ranking is only tested if other maps mention
the words of a query in passing. So these maps resemble most of a real catalogue: minutes, lesson
notes and lists, each with a few topics in one language. Some have a remark (``REMARKS``) with words
that other maps are about. A remark is deep in the map or, rarely, in its description.

No map here may be about the subject of a judged query.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mapshelf.model import Topic


@dataclass(frozen=True, slots=True)
class Tongue:
    """The texts of one language, from which maps are made.

    Attributes:
        share: the percentage of maps in it.
        titles: titles of maps; ``{subject}``, ``{place}`` and numbers are filled in.
        descriptions: descriptions of maps.
        subjects: subjects of maps.
        branches: the main topics.
        leaves: the topics below them.
    """

    share: int
    titles: tuple[str, ...]
    descriptions: tuple[str, ...]
    subjects: tuple[str, ...]
    branches: tuple[str, ...]
    leaves: tuple[str, ...]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("/"))


ENGLISH: Final = Tongue(
    52,
    _lines(
        "Minutes of the {subject} group, week {week} / Lesson notes: {subject}, class {grade} / "
        "{subject}: ideas from the workshop of {year} / {subject} in {place} / "
        "To-do list {week}-{year} / Chapter {grade}: {subject} / Team day {year} / "
        "Open points, {subject} / Notes on {subject} / Brainstorming {subject}, round {grade} / "
        "Handover {subject} {year} / Questions about {subject} / Summary of unit {week}"
    ),
    _lines(
        "Written during the meeting, not yet tidied. / For the group of {year}. / "
        "Draft {grade}; comments welcome. / Copied from the whiteboard in {place}. / "
        "Handed in by group {grade}. / What we said about {subject}, in brief. / /"
    ),
    _lines(
        "recycling / street lighting / purchasing / fractions / rivers / canteen / logistics / "
        "parking / magnets / summer fair / fire drill / knitting / annual report / "
        "sensors / maintenance / choir / transport / packaging / warehouse / new lift / "
        "insects / medieval trade / percentages / accounting / website / harbour / bridges / "
        "intranet / procurement / archive / printing office / rehearsal / weather / "
        "textiles / invoices / mountains / glaciers / swimming lessons / staff room / wool"
    ),
    _lines(
        "Open / Done / Who / When / Costs / Next steps / Questions / Background / People / "
        "Material / Ideas / Problems / Agreed / Postponed / Summary / Sources / Examples / "
        "Advantages / Drawbacks / Schedule / Room / Equipment / Rules / Exceptions / Results"
    ),
    _lines(
        "ask the caretaker / compare three offers / repeat next month / nobody volunteered / "
        "see page {week} / send to everybody / by Friday / on the second floor / group work / "
        "bring scissors and glue / needs a signature / twice a year / check the numbers / "
        "call the supplier / draw a sketch / too expensive / works well / in the blue folder / "
        "about {week} people / since {year} / was late again / look at the figures / "
        "new proposal / keep the old one / borrow a projector / collect receipts / "
        "put up a notice / clean afterwards / ends at {grade} / not decided / to be measured / "
        "read by two people / room {week} / half of them / the other half later / warm clothes"
    ),
)

GERMAN: Final = Tongue(
    13,
    _lines(
        "Protokoll {subject}, Woche {week} / {subject} Klasse {grade} / Ideen: {subject} / "
        "Notizen {week}/{year} / {subject} in {place} / Offene Punkte {subject} / "
        "Zusammenfassung {subject} {year}"
    ),
    _lines("Mitschrift, noch nicht durchgesehen. / Für die Gruppe von {year}. / Entwurf. / /"),
    _lines(
        "Hausmeisterdienst / Bruchrechnung / Sommerfest / Parkplätze / Chorprobe / Lager / "
        "Lieferanten / Flüsse / Insekten / Brandschutz / Kantine / Webseite / Wolle / Wetter / "
        "Jahresbericht / Brücken / Rechnungen / Gletscher / Beleuchtung"
    ),
    _lines(
        "Offen / Erledigt / Wer / Wann / Kosten / Fragen / Beispiele / Vorteile / Nachteile / "
        "Material / Termine / Ergebnis / Quellen / Raum"
    ),
    _lines(
        "drei Angebote vergleichen / bis Freitag / im zweiten Stock / siehe Seite {week} / "
        "Gruppenarbeit / zu teuer / läuft gut / verschoben / Schere und Kleber mitbringen / "
        "beim Amt nachfragen / etwa {week} Leute / seit {year} / noch offen / Zahlen prüfen / "
        "Zettel aufhängen / danach aufräumen"
    ),
)

FRENCH: Final = Tongue(
    8,
    _lines(
        "Compte rendu : {subject}, semaine {week} / {subject}, classe de {grade}e / "
        "Idées pour {subject} / {subject} à {place} / Notes {week}-{year} / Questions, {subject}"
    ),
    _lines("Pris pendant la séance. / Pour le groupe de {year}. / Brouillon. / /"),
    _lines(
        "la cantine / les fractions / la fête d'été / le stationnement / la chorale / "
        "les fleuves / les insectes / les fournisseurs / le site web / la laine / les ponts / "
        "les factures / l'éclairage / la météo"
    ),
    _lines("À faire / Fait / Qui / Quand / Coûts / Exemples / Avantages / Matériel / Résultats"),
    _lines(
        "comparer trois devis / avant vendredi / au deuxième étage / voir page {week} / "
        "trop cher / à vérifier / travail de groupe / reporté / environ {week} personnes / "
        "depuis {year} / apporter des ciseaux / ranger ensuite"
    ),
)

SPANISH: Final = Tongue(
    8,
    _lines(
        "Acta de {subject}, semana {week} / {subject}, curso {grade} / Ideas para {subject} / "
        "{subject} en {place} / Apuntes {week}-{year} / Dudas sobre {subject}"
    ),
    _lines("Tomado durante la clase. / Para el grupo de {year}. / Borrador. / /"),
    _lines(
        "el comedor / las fracciones / la feria / el aparcamiento / el coro / los ríos / "
        "los insectos / los proveedores / la web / la lana / los puentes / las facturas / "
        "el alumbrado / el almacén"
    ),
    _lines("Pendiente / Hecho / Quién / Cuándo / Costes / Ejemplos / Ventajas / Material"),
    _lines(
        "comparar tres ofertas / antes del viernes / en el segundo piso / ver página {week} / "
        "demasiado caro / por revisar / trabajo en grupo / aplazado / unas {week} personas / "
        "desde {year} / traer tijeras / recoger después"
    ),
)

RUSSIAN: Final = Tongue(
    6,
    _lines(
        "Протокол: {subject}, неделя {week} / {subject}, {grade} класс / Идеи: {subject} / "
        "Заметки {week}-{year} / Вопросы: {subject}"
    ),
    _lines("Записано на собрании. / Для группы {year} года. / Черновик. / /"),
    _lines(
        "столовая / дроби / летний праздник / стоянка / хор / насекомые / поставщики / сайт / "
        "шерсть / мосты / счета / освещение / склад"
    ),
    _lines("Открыто / Готово / Кто / Когда / Расходы / Примеры / Материалы / Итог"),
    _lines(
        "сравнить три предложения / до пятницы / на втором этаже / см. страницу {week} / "
        "слишком дорого / проверить числа / отложено / около {week} человек / с {year} года / "
        "принести ножницы / повторить через месяц"
    ),
)

CHINESE: Final = Tongue(
    7,
    _lines(
        "{subject}会议记录 第{week}周 / {grade}年级 {subject} / "
        "{subject}讨论 {year} / {subject}笔记"
    ),
    _lines("未整理。 / {year}届小组使用。 / 草稿。 / /"),
    _lines("食堂 / 停车位 / 合唱团 / 昆虫 / 供应商 / 网站 / 羊毛 / 桥梁 / 发票 / 照明 / 消防演习"),
    _lines("待办 / 已完成 / 负责人 / 费用 / 例子 / 优点 / 缺点 / 材料 / 结果"),
    _lines(
        "比较三家报价 / 星期五之前 / 二楼 / 见第{week}页 / 太贵 / 核对数字 / 推迟 / "
        "大约{week}人 / 带剪刀 / 下个月再议 / 通知全体"
    ),
)

JAPANESE: Final = Tongue(
    6,
    _lines("{subject}の議事録 第{week}週 / {subject} {grade}組 / {subject}についての意見 {year}"),
    _lines("未整理のメモ。 / {year}年度の班。 / 下書き。 / /"),
    _lines("食堂 / 駐車場 / 合唱部 / 昆虫 / 仕入れ先 / ホームページ / 羊毛 / 橋 / 請求書 / 照明"),
    _lines("未決 / 済み / 担当 / 費用 / 例 / 長所 / 短所 / 材料 / 結果"),
    _lines(
        "三社の見積もりを比べる / 金曜日まで / 二階 / {week}ページ参照 / 高すぎる / 数字を確認 / "
        "延期 / 約{week}人 / はさみを持参 / 来月また話す / 全員に連絡"
    ),
)

TONGUES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH, RUSSIAN, CHINESE, JAPANESE)

REMARKS: Final = {
    ENGLISH: _lines(
        "ask whoever made the project plan / planning is done by another team / the plan is old / "
        "someone brought a recipe / coffee at ten / chess club uses the room / "
        "plays guitar in the break / time management was mentioned / two people know first aid / "
        "like the fall of the Roman Empire, said Tom / back from Iceland / "
        "put it into the newsletter / wait for feedback / the battery was empty / "
        "borrow the telescope / before the wedding / hand in the essay / runs a marathon / "
        "backup is missing / statistics look odd / climate change came up / dinosaurs, of course / "
        "volcanoes as the second subject / inflation makes it dearer / Hamlet was cancelled / "
        "no budget for this / the garden group wants it too / learn Python first / "
        "weekly review on Mondays / colours to be chosen / the orchestra needs chairs / "
        "arrive by bicycle / clouds and rain / sleep on it / moving house in May / "
        "meditation for those who like / a car is needed / art class took the paper / "
        "Java course was full / meetings end too late / carbon paper / running shoes / "
        "open source if possible / interview on Tuesday / insurance and mortgage / bees outside"
    ),
    GERMAN: _lines(
        "Rezept für Kuchen folgt / Haus ist alt / Planung beginnt später / Prüfung im Juni / "
        "Umzug im Mai / Grammatik wiederholen / Steuererklärung nicht vergessen / "
        "Geburtstag von Jana / Garten der Schule / Klassenfahrt erwähnt"
    ),
    FRENCH: _lines(
        "recette à demander / voyage en mai / réunion à dix heures / examen en juin / "
        "grammaire à revoir / un cheval en bois"
    ),
    SPANISH: _lines(
        "un plan distinto / receta pendiente / cumpleaños de Ana / la ciudad está lejos / "
        "libro perdido / viaje en mayo"
    ),
    RUSSIAN: _lines("книга потерялась / проект отложен / времени мало / рецепт у Ани"),
    CHINESE: _lines("项目延期 / 时间不够 / 数学老师同意 / 英语角 / 去北京出差 / 喝茶"),
    JAPANESE: _lines("計画は後で / 旅行の話 / 京都の写真 / 日本史の先生 / 敬語で書く / 弁当は各自"),
}

TINY: Final = 0.06
"""The share of maps with a remark and hardly any other text."""
DESCRIBED: Final = 0.06
"""The share of maps whose description is a remark."""
REMARKED: Final = 0.6
"""The share of maps with a remark below some topic, including the share before."""

PLACES: Final = ("Leeds", "Graz", "Lyon", "Porto", "Turin", "Bergen", "Basel", "Utrecht", "Brno")
OWNERS: Final = (
    "office", "m.jones", "lehrer-k", "dupont", "garcia7", "ivan.p", "wang.fang", "tanaka", "team-b",
    "sekretariat", "nora", "group.five", "lucia", "petra.h", "oscar", "b.ng", "yusuf", "hanna_l",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filler:
    """One of these maps: its title, description and topics, and the path of its file."""

    title: str
    description: str
    root: Topic
    owner: str
    file: str


def fillers(count: int, chance: random.Random) -> Iterator[Filler]:
    """Yield ``count`` maps, the same for the same state of ``chance``."""
    shares = [tongue.share for tongue in TONGUES]
    for number in range(count):
        (tongue,) = chance.choices(TONGUES, shares)
        yield _filler(number, tongue, chance)


def _filler(number: int, tongue: Tongue, chance: random.Random) -> Filler:
    facts: dict[str, object] = {
        "subject": chance.choice(tongue.subjects),
        "place": chance.choice(PLACES),
        "week": chance.randint(10, 52),
        "year": chance.randint(2008, 2024),
        "grade": chance.randint(2, 13),
    }

    def one_of(texts: tuple[str, ...]) -> str:
        return chance.choice(texts).format_map(facts)

    title = one_of(tongue.titles)
    title = title[0].upper() + title[1:]
    remark = one_of(REMARKS[tongue])
    description = one_of(tongue.descriptions)
    place = chance.random()
    if place < TINY:
        # Such a map has little other text, so that the remark has a high weight.
        branches = [Topic(chance.choice(tongue.branches), children=[Topic(remark)])]
    else:
        branches = _branches(tongue, facts, chance)
    if TINY < place < TINY + DESCRIBED:
        description = remark
    elif place < TINY + REMARKED:
        leaf = chance.choice(chance.choice(branches).children)
        leaf.children.append(Topic(remark))
    file = f"Archive/{facts['year']}/{number:04}.mm" if number % 2 else ""
    return Filler(title, description, Topic(title, children=branches), chance.choice(OWNERS), file)


def _branches(tongue: Tongue, facts: dict[str, object], chance: random.Random) -> list[Topic]:
    branches = []
    for text in chance.sample(tongue.branches, chance.randint(2, 6)):
        leaves = [chance.choice(tongue.leaves) for _ in range(chance.randint(1, 4))]
        branches.append(Topic(text, children=[Topic(leaf.format_map(facts)) for leaf in leaves]))
    return branches
