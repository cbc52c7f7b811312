<map version="freeplane 1.9.8">
<!--To view this file, download free mind mapping software Freeplane from https://www.freeplane.org -->
<node TEXT="&#x627;&#x644;&#x62d;&#x631;&#x648;&#x641; &#x627;&#x644;&#x639;&#x631;&#x628;&#x64a;&#x629;" FOLDED="false" ID="ID_819449844" CREATED="1704067227861" MODIFIED="1704067243927" STYLE="oval">
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
<richcontent TYPE="NOTE">
<html>
  <head>
    
  </head>
  <body>
    <p>
      &#x62b;&#x645;&#x627;&#x646;&#x64a;&#x629; &#x648;&#x639;&#x634;&#x631;&#x648;&#x646; &#x62d;&#x631;&#x641;&#x64b;&#x627;&#x60c; &#x644;&#x643;&#x644; &#x62d;&#x631;&#x641; &#x643;&#x644;&#x645;&#x629; &#x62a;&#x628;&#x62f;&#x623; &#x628;&#x647;.
    </p>
  </body>
</html>
</richcontent>
<node TEXT="&#x642;&#x648;&#x627;&#x639;&#x62f; &#x639;&#x627;&#x645;&#x629;" POSITION="right" ID="ID_1766675170" CREATED="1704067247624" MODIFIED="1704067266501">
<edge COLOR="#ff0000"/>
<node TEXT="&#x646;&#x643;&#x62a;&#x628; &#x645;&#x646; &#x627;&#x644;&#x64a;&#x645;&#x64a;&#x646; &#x625;&#x644;&#x649; &#x627;&#x644;&#x64a;&#x633;&#x627;&#x631;" ID="ID_942298036" CREATED="1704067249644" MODIFIED="1704067256316"/>
<node TEXT="&#x627;&#x644;&#x623;&#x631;&#x642;&#x627;&#x645; &#x62a;&#x64f;&#x642;&#x631;&#x623; &#x645;&#x646; &#x627;&#x644;&#x64a;&#x633;&#x627;&#x631; &#x625;&#x644;&#x649; &#x627;&#x644;&#x64a;&#x645;&#x64a;&#x646;: 2024" ID="ID_804510894" CREATED="1704067256456" MODIFIED="1704067274468"/>
<node TEXT="&#x634;&#x643;&#x644; &#x627;&#x644;&#x62d;&#x631;&#x641; &#x64a;&#x62a;&#x63a;&#x64a;&#x631; &#x628;&#x62d;&#x633;&#x628; &#x645;&#x648;&#x636;&#x639;&#x647;" ID="ID_809872043" CREATED="1704067271737" MODIFIED="1704067283217">
<richcontent TYPE="DETAILS">
<html>
  <head>
    
  </head>
  <body>
    <p>
      &#x641;&#x64a; &#x623;&#x648;&#x644; &#x627;&#x644;&#x643;&#x644;&#x645;&#x629; &#x623;&#x648; &#x648;&#x633;&#x637;&#x647;&#x627; &#x623;&#x648; &#x622;&#x62e;&#x631;&#x647;&#x627; &#x623;&#x648; &#x645;&#x646;&#x641;&#x631;&#x62f;&#x64b;&#x627;
    </p>
  </body>
</html>
</richcontent>
</node>
<node TEXT="&#x633;&#x62a;&#x629; &#x62d;&#x631;&#x648;&#x641; &#x644;&#x627; &#x62a;&#x62a;&#x635;&#x644; &#x628;&#x645;&#x627; &#x628;&#x639;&#x62f;&#x647;&#x627;: &#x627; &#x62f; &#x630; &#x631; &#x632; &#x648;" ID="ID_573977112" CREATED="1704067298068" MODIFIED="1704067301750"/>
</node>
<node POSITION="right" ID="ID_639046385" CREATED="1704067314215" MODIFIED="1704067325676"><richcontent TYPE="NODE">

<html>
  <head>
    
  </head>
  <body>
    <p>
      <b>&#x627;&#x644;&#x62d;&#x631;&#x648;&#x641; &#x627;&#x644;&#x634;&#x645;&#x633;&#x64a;&#x629;</b>
    </p>
    <p>
      &#x644;&#x627; &#x62a;&#x64f;&#x646;&#x637;&#x642; &#x645;&#x639;&#x647;&#x627; &#x644;&#x627;&#x645; &#x627;&#x644;&#x62a;&#x639;&#x631;&#x64a;&#x641;
    </p>
  </body>
</html>
</richcontent>
<edge COLOR="#0000ff"/>
<richcontent TYPE="NOTE">
<html>
  <head>
    
  </head>
  <body>
    <p>
      &#x646;&#x642;&#x648;&#x644;: &#x627;&#x644;&#x634;&#x64e;&#x651;&#x645;&#x633;&#x60c; &#x641;&#x646;&#x62f;&#x63a;&#x645; &#x627;&#x644;&#x644;&#x627;&#x645; &#x641;&#x64a; &#x627;&#x644;&#x634;&#x64a;&#x646;.
    </p>
  </body>
</html>
</richcontent>
<node TEXT="&#x62a;: &#x62a;&#x641;&#x627;&#x62d;" ID="ID_683579589" CREATED="1704067353161" MODIFIED="1704067353845"/>
<node TEXT="&#x62b;: &#x62b;&#x639;&#x644;&#x628;" ID="ID_1726360788" CREATED="1704067388850" MODIFIED="1704067407758"/>
<node TEXT="&#x62f;: &#x62f;&#x628;" ID="ID_74326720" CREATED="1704067397400" MODIFIED="1704067413549"/>
<node TEXT="&#x630;: &#x630;&#x647;&#x628;" ID="ID_252255799" CREATED="1704067423903" MODIFIED="1704067440838"/>
<node TEXT="&#x631;: &#x631;&#x645;&#x627;&#x646;" ID="ID_1011845178" CREATED="1704067449534" MODIFIED="1704067453848"/>
<node TEXT="&#x632;: &#x632;&#x64a;&#x62a;&#x648;&#x646;" ID="ID_1604473100" CREATED="1704067473302" MODIFIED="1704067475766"/>
<node TEXT="&#x633;: &#x633;&#x645;&#x643;" ID="ID_1200100516" CREATED="1704067511373" MODIFIED="1704067528012"/>
<node TEXT="&#x634;: &#x634;&#x645;&#x633;" ID="ID_642877752" CREATED="1704067542432" MODIFIED="1704067553630"/>
<node TEXT="&#x635;: &#x635;&#x627;&#x628;&#x648;&#x646;" ID="ID_1566339078" CREATED="1704067550980" MODIFIED="1704067561271"/>
<node TEXT="&#x636;: &#x636;&#x641;&#x62f;&#x639;" ID="ID_1810569446" CREATED="1704067556763" MODIFIED="1704067559583"/>
<node TEXT="&#x637;: &#x637;&#x627;&#x626;&#x631;" ID="ID_491193740" CREATED="1704067576191" MODIFIED="1704067590106"/>
<node TEXT="&#x638;: &#x638;&#x631;&#x641;" ID="ID_1118067216" CREATED="1704067597171" MODIFIED="1704067614029"/>
<node TEXT="&#x644;: &#x644;&#x64a;&#x645;&#x648;&#x646;" ID="ID_567015978" CREATED="1704067608239" MODIFIED="1704067615551"/>
<node TEXT="&#x646;: &#x646;&#x62d;&#x644;&#x629;" ID="ID_1698042762" CREATED="1704067615073" MODIFIED="1704067620748"/>
</node>
<node POSITION="right" ID="ID_1046932915" CREATED="1704067634900" MODIFIED="1704067644513"><richcontent TYPE="NODE">

<html>
  <head>
    
  </head>
  <body>
    <p>
      <b>&#x627;&#x644;&#x62d;&#x631;&#x648;&#x641; &#x627;&#x644;&#x642;&#x645;&#x631;&#x64a;&#x629;</b>
    </p>
    <p>
      &#x62a;&#x64f;&#x646;&#x637;&#x642; &#x645;&#x639;&#x647;&#x627; &#x644;&#x627;&#x645; &#x627;&#x644;&#x62a;&#x639;&#x631;&#x64a;&#x641;
    </p>
  </body>
</html>
</richcontent>
<edge COLOR="#00b000"/>
<richcontent TYPE="NOTE">
<html>
  <head>
    
  </head>
  <body>
    <p>
      &#x646;&#x642;&#x648;&#x644;: &#x627;&#x644;&#x642;&#x64e;&#x645;&#x631;&#x60c; &#x641;&#x646;&#x646;&#x637;&#x642; &#x627;&#x644;&#x644;&#x627;&#x645; &#x648;&#x627;&#x636;&#x62d;&#x629;.
    </p>
  </body>
</html>
</richcontent>
<node TEXT="&#x627;: &#x623;&#x631;&#x646;&#x628;" ID="ID_797982915" CREATED="1704067651324" MODIFIED="1704067664628"/>
<node TEXT="&#x628;: &#x628;&#x64a;&#x62a;" ID="ID_860601443" CREATED="1704067687134" MODIFIED="1704067688225"/>
<node TEXT="&#x62c;: &#x62c;&#x645;&#x644;" ID="ID_1578237265" CREATED="1704067714080" MODIFIED="1704067726058"/>
<node TEXT="&#x62d;: &#x62d;&#x635;&#x627;&#x646;" ID="ID_1706534260" CREATED="1704067741171" MODIFIED="1704067741260"/>
<node TEXT="&#x62e;: &#x62e;&#x628;&#x632;" ID="ID_1385269867" CREATED="1704067752262" MODIFIED="1704067769395"/>
<node TEXT="&#x639;: &#x639;&#x64a;&#x646;" ID="ID_1348710275" CREATED="1704067755412" MODIFIED="1704067772529"/>
<node TEXT="&#x63a;: &#x63a;&#x64a;&#x645;&#x629;" ID="ID_290587139" CREATED="1704067768649" MODIFIED="1704067783949"/>
<node TEXT="&#x641;: &#x641;&#x64a;&#x644;" ID="ID_1881543776" CREATED="1704067795173" MODIFIED="1704067814150"/>
<node TEXT="&#x642;: &#x642;&#x645;&#x631;" ID="ID_1242350772" CREATED="1704067810130" MODIFIED="1704067820339"/>
<node TEXT="&#x643;: &#x643;&#x62a;&#x627;&#x628;" ID="ID_254460179" CREATED="1704067826427" MODIFIED="1704067843753"/>
<node TEXT="&#x645;: &#x645;&#x62f;&#x631;&#x633;&#x629;" ID="ID_459838433" CREATED="1704067831167" MODIFIED="1704067840235"/>
<node TEXT="&#x647;: &#x647;&#x644;&#x627;&#x644;" ID="ID_643825808" CREATED="1704067869674" MODIFIED="1704067883396"/>
<node TEXT="&#x648;: &#x648;&#x631;&#x62f;&#x629;" ID="ID_555463764" CREATED="1704067876489" MODIFIED="1704067895175"/>
<node TEXT="&#x64a;: &#x64a;&#x62f;" ID="ID_1443853956" CREATED="1704067906240" MODIFIED="1704067909132"/>
</node>
<node TEXT="&#x627;&#x644;&#x62d;&#x631;&#x643;&#x627;&#x62a; &#x648;&#x627;&#x644;&#x639;&#x644;&#x627;&#x645;&#x627;&#x62a;" POSITION="left" ID="ID_68355074" CREATED="1704067923197" MODIFIED="1704067935265">
<edge COLOR="#c000c0"/>
<node TEXT="&#x627;&#x644;&#x641;&#x62a;&#x62d;&#x629;" ID="ID_1647115269" CREATED="1704067938165" MODIFIED="1704067948138"/>
<node TEXT="&#x627;&#x644;&#x636;&#x645;&#x629;" ID="ID_146739498" CREATED="1704067974094" MODIFIED="1704067980769"/>
<node TEXT="&#x627;&#x644;&#x643;&#x633;&#x631;&#x629;" ID="ID_1467096741" CREATED="1704067989975" MODIFIED="1704067998287"/>
<node TEXT="&#x627;&#x644;&#x633;&#x643;&#x648;&#x646;" ID="ID_843947843" CREATED="1704068003440" MODIFIED="1704068011343"/>
<node TEXT="&#x627;&#x644;&#x634;&#x62f;&#x629;" ID="ID_229724976" CREATED="1704068030206" MODIFIED="1704068036888"/>
<node TEXT="&#x627;&#x644;&#x62a;&#x646;&#x648;&#x64a;&#x646;" ID="ID_705895202" CREATED="1704068069176" MODIFIED="1704068071929"/>
</node>
<node TEXT="&#x627;&#x644;&#x645;&#x632;&#x64a;&#x62f; &#x639;&#x646; &#x627;&#x644;&#x623;&#x628;&#x62c;&#x62f;&#x64a;&#x629;" LINK="https://ar.wikipedia.org/wiki/&#x623;&#x628;&#x62c;&#x62f;&#x64a;&#x629;_&#x639;&#x631;&#x628;&#x64a;&#x629;" POSITION="left" ID="ID_1951926113" CREATED="1704068106828" MODIFIED="1704068108793">
<edge COLOR="#008c8c"/>
</node>
</node>
</map>
