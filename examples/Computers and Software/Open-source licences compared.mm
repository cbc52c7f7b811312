<map version="freeplane 1.12.1">
<!--To view this file, download free mind mapping software Freeplane from https://www.freeplane.org -->
<node TEXT="Open-source licences compared" FOLDED="false" ID="ID_672430300" CREATED="1704067221472" MODIFIED="1704067225776" STYLE="oval">
<richcontent TYPE="DETAILS" CONTENT-TYPE="plain/auto">What may I do, and what must I give back?</richcontent>
<font SIZE="18"/>
<hook NAME="MapStyle">
    <properties fit_to_viewport="false"/>

<map_styles>
<stylenode LOCALIZED_TEXT="styles.root_node" STYLE="oval" UNIFORM_SHAPE="true" VGAP_QUANTITY="24 pt">
<font SIZE="24"/>
<stylenode LOCALIZED_TEXT="styles.predefined" POSITION="right" STYLE="bubble">
<stylenode LOCALIZED_TEXT="default" STYLE="as_parent"/>
<stylenode LOCALIZED_TEXT="defaultstyle.details"/>
<stylenode LOCALIZED_TEXT="defaultstyle.note"/>
</stylenode>
</stylenode>
</map_styles>
</hook>
<richcontent TYPE="NOTE" CONTENT-TYPE="xml/">
<html>
  <head>
    
  </head>
  <body>
    <p>
      An overview for people who choose or use a licence. It is written with care, but it is no legal advice: the text of a licence decides.
    </p>
  </body>
</html>
</richcontent>
<node TEXT="Permissive: do as you like, keep the notice" POSITION="bottom_or_right" ID="ID_1889448412" CREATED="1704067258172" MODIFIED="1704067269221">
<richcontent TYPE="DETAILS" CONTENT-TYPE="plain/auto">Code may go into closed products</richcontent>
<edge COLOR="#ff0000"/>
<node TEXT="MIT" ID="ID_145192890" CREATED="1704067284800" MODIFIED="1704067300834">
<attribute NAME="SPDX" VALUE="MIT"/>
<node TEXT="Short, plain, the most common choice" ID="ID_1315289782" CREATED="1704067320830" MODIFIED="1704067326560"/>
<node TEXT="Says nothing about patents" ID="ID_211509896" CREATED="1704067356574" MODIFIED="1704067365102"/>
</node>
<node TEXT="BSD" ID="ID_1886652558" CREATED="1704067394771" MODIFIED="1704067400562">
<attribute NAME="SPDX" VALUE="BSD-2-Clause, BSD-3-Clause"/>
<node TEXT="Two clauses: much like MIT" ID="ID_1838785271" CREATED="1704067409158" MODIFIED="1704067424438"/>
<node TEXT="Third clause: do not advertise with our names" ID="ID_1695738048" CREATED="1704067412159" MODIFIED="1704067423922"/>
</node>
<node TEXT="ISC" ID="ID_1503742840" CREATED="1704067419247" MODIFIED="1704067436076">
<attribute NAME="SPDX" VALUE="ISC"/>
<node TEXT="MIT in even fewer words" ID="ID_1521429156" CREATED="1704067456430" MODIFIED="1704067463971"/>
</node>
<node TEXT="Apache 2.0" ID="ID_1674396296" CREATED="1704067465374" MODIFIED="1704067474491">
<attribute NAME="SPDX" VALUE="Apache-2.0"/>
<node TEXT="Grants the contributors' patents" ID="ID_515319307" CREATED="1704067489553" MODIFIED="1704067507623">
<richcontent TYPE="NOTE" CONTENT-TYPE="xml/">
<html>
  <head>
    
  </head>
  <body>
    <p>
      Whoever sues over patents in the work loses the patent licence granted with it.
    </p>
  </body>
</html>
</richcontent>
</node>
<node TEXT="Keep the NOTICE file" ID="ID_41173746" CREATED="1704067510250" MODIFIED="1704067525902"/>
<node TEXT="Mark the files you changed" ID="ID_185675528" CREATED="1704067540518" MODIFIED="1704067544930"/>
</node>
</node>
<node TEXT="Weak copyleft: give back changes to this part" POSITION="bottom_or_right" ID="ID_1977880037" CREATED="1704067577000" MODIFIED="1704067594001">
<richcontent TYPE="DETAILS" CONTENT-TYPE="plain/auto">Your own code beside it stays yours</richcontent>
<edge COLOR="#0000ff"/>
<node TEXT="MPL 2.0" ID="ID_926253542" CREATED="1704067582423" MODIFIED="1704067592575">
<attribute NAME="SPDX" VALUE="MPL-2.0"/>
<node TEXT="The border is the file" ID="ID_1715860666" CREATED="1704067603765" MODIFIED="1704067606602"/>
</node>
<node TEXT="LGPL" ID="ID_1903834309" CREATED="1704067614357" MODIFIED="1704067623140">
<attribute NAME="SPDX" VALUE="LGPL-2.1-only, LGPL-3.0-only"/>
<node TEXT="Made for libraries" ID="ID_1909151661" CREATED="1704067629958" MODIFIED="1704067647369"/>
<node TEXT="Users must be able to put in their own version of the library" ID="ID_453762258" CREATED="1704067640626" MODIFIED="1704067649437"/>
</node>
<node TEXT="EPL 2.0" ID="ID_1085753735" CREATED="1704067659048" MODIFIED="1704067665936">
<attribute NAME="SPDX" VALUE="EPL-2.0"/>
<node TEXT="Known from Eclipse" ID="ID_354715792" CREATED="1704067687210" MODIFIED="1704067693321"/>
</node>
</node>
<node TEXT="Strong copyleft: give back the whole work" POSITION="bottom_or_right" ID="ID_67655841" CREATED="1704067692916" MODIFIED="1704067705150">
<richcontent TYPE="DETAILS" CONTENT-TYPE="plain/auto">If you pass it on, pass on the source</richcontent>
<edge COLOR="#00b000"/>
<node TEXT="GPL 2" ID="ID_1199194476" CREATED="1704067698924" MODIFIED="1704067718546">
<attribute NAME="SPDX" VALUE="GPL-2.0-only"/>
<node TEXT="The Linux kernel" ID="ID_1662838015" CREATED="1704067732652" MODIFIED="1704067736682"/>
</node>
<node TEXT="GPL 3" ID="ID_1734880982" CREATED="1704067764289" MODIFIED="1704067770124">
<attribute NAME="SPDX" VALUE="GPL-3.0-only"/>
<node TEXT="Patents addressed" ID="ID_1563321712" CREATED="1704067771733" MODIFIED="1704067776183"/>
<node TEXT="Consumer devices must let their owners install changed versions" ID="ID_123021484" CREATED="1704067803930" MODIFIED="1704067819607"/>
</node>
<node TEXT="AGPL 3" ID="ID_990742205" CREATED="1704067838539" MODIFIED="1704067851743">
<attribute NAME="SPDX" VALUE="AGPL-3.0-only"/>
<node TEXT="Serving it over a network counts as well" ID="ID_421611635" CREATED="1704067862777" MODIFIED="1704067878704">
<richcontent TYPE="NOTE" CONTENT-TYPE="xml/">
<html>
  <head>
    
  </head>
  <body>
    <p>
      Users who interact with a changed version over a network must be offered its source.
    </p>
  </body>
</html>
</richcontent>
</node>
</node>
</node>
<node TEXT="As close to public domain as it gets" POSITION="bottom_or_right" ID="ID_1907952792" CREATED="1704067893109" MODIFIED="1704067896113">
<edge COLOR="#c000c0"/>
<node TEXT="CC0" ID="ID_953001509" CREATED="1704067915779" MODIFIED="1704067932305"/>
<node TEXT="The Unlicense" ID="ID_1923274590" CREATED="1704067927297" MODIFIED="1704067936647"/>
<node TEXT="0BSD" ID="ID_378661376" CREATED="1704067953102" MODIFIED="1704067959993"/>
</node>
<node POSITION="top_or_left" ID="ID_1708621501" CREATED="1704067974037" MODIFIED="1704067985856"><richcontent TYPE="NODE">

<html>
  <head>
    
  </head>
  <body>
    <p>
      What goes together
    </p>
    <p>
      <i>a choice of frequent questions</i>
    </p>
  </body>
</html>
</richcontent>
<edge COLOR="#008c8c"/>
<node TEXT="MIT code in a GPL program: yes" ID="ID_313756349" CREATED="1704067990464" MODIFIED="1704068001467"/>
<node TEXT="Apache 2.0 code in a GPL 3 program: yes" ID="ID_627334884" CREATED="1704068006466" MODIFIED="1704068014762"/>
<node TEXT="Apache 2.0 code in a program under GPL 2 only: no" ID="ID_1987510699" CREATED="1704068026412" MODIFIED="1704068030628">
<arrowlink DESTINATION="ID_1199194476" STARTARROW="NONE" ENDARROW="DEFAULT"/>
<richcontent TYPE="NOTE" CONTENT-TYPE="xml/">
<html>
  <head>
    
  </head>
  <body>
    <p>
      In the view of the Free Software Foundation: the patent terms add a restriction that version 2 does not allow.
    </p>
  </body>
</html>
</richcontent>
</node>
<node TEXT="GPL code in a closed program that you distribute: no" ID="ID_1888336379" CREATED="1704068061983" MODIFIED="1704068076891"/>
<node TEXT="Using a GPL compiler for closed code: usually yes" ID="ID_191566113" CREATED="1704068091453" MODIFIED="1704068093779"/>
</node>
<node TEXT="Not for software" POSITION="top_or_left" ID="ID_1299705123" CREATED="1704068094969" MODIFIED="1704068106220">
<edge COLOR="#7c0000"/>
<node TEXT="Creative Commons BY, BY-SA: for texts and pictures" ID="ID_232427911" CREATED="1704068131994" MODIFIED="1704068133348"/>
<node TEXT="Non-commercial clauses: not open source" ID="ID_1083000377" CREATED="1704068152424" MODIFIED="1704068161723"/>
</node>
<node TEXT="Habits worth having" POSITION="top_or_left" ID="ID_181868516" CREATED="1704068154973" MODIFIED="1704068163410">
<edge COLOR="#00007c"/>
<node TEXT="Put the text into a file named LICENSE" ID="ID_841090030" CREATED="1704068166650" MODIFIED="1704068176407"/>
<node TEXT="Name it in every file with an SPDX line" LINK="https://spdx.org/licenses/" ID="ID_647821606" CREATED="1704068195111" MODIFIED="1704068209558"/>
<node TEXT="Choose before the first contribution arrives" ID="ID_137244067" CREATED="1704068223898" MODIFIED="1704068228624"/>
<node TEXT="No licence means: all rights reserved" ID="ID_951057536" CREATED="1704068259691" MODIFIED="1704068271283"/>
</node>
<node TEXT="Read more" POSITION="top_or_left" ID="ID_474264847" CREATED="1704068292684" MODIFIED="1704068299413">
<edge COLOR="#7c7c00"/>
<node TEXT="The Open Source Definition" LINK="https://opensource.org/osd" ID="ID_281333093" CREATED="1704068304036" MODIFIED="1704068310864"/>
<node TEXT="Help with choosing" LINK="https://choosealicense.com/" ID="ID_1689196092" CREATED="1704068334332" MODIFIED="1704068335360"/>
</node>
</node>
</map>
