<map version="1.0.1">
<!-- To view this file, download free mind mapping software FreeMind from http://freemind.sourceforge.net -->
<node CREATED="1704067223153" ID="ID_312994989" MODIFIED="1704067229933" TEXT="The solar system">
<font NAME="SansSerif" SIZE="18"/>
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      One star, eight planets, a handful of dwarf planets and countless small bodies. Distances from the Sun are means, in astronomical units (AU): 1 AU is about 149.6 million kilometres.
    </p>
  </body>
</html></richcontent>
<node CREATED="1704067229987" ID="ID_730863030" MODIFIED="1704067238876" POSITION="right" TEXT="The Sun">
<node CREATED="1704067241613" ID="ID_1581976860" MODIFIED="1704067257098" TEXT="Holds more than 99.8 % of all the mass"/>
<node CREATED="1704067276579" ID="ID_1122817751" MODIFIED="1704067296179" TEXT="Surface: about 5,500 &#xb0;C"/>
<node CREATED="1704067299219" ID="ID_1485181880" MODIFIED="1704067304088" TEXT="Light from it reaches us in 8 minutes 20 seconds"/>
</node>
<node CREATED="1704067312591" ID="ID_873532453" MODIFIED="1704067326532" POSITION="right" TEXT="Rocky planets">
<node CREATED="1704067315287" ID="ID_632532615" MODIFIED="1704067320864" TEXT="Mercury: 0.39 AU">
<node CREATED="1704067320730" ID="ID_747056467" MODIFIED="1704067329975" TEXT="Goes round the Sun in 88 days"/>
<node CREATED="1704067345558" ID="ID_608414764" MODIFIED="1704067356873" TEXT="No moon, hardly any air"/>
</node>
<node CREATED="1704067381368" ID="ID_1847674342" MODIFIED="1704067381999" TEXT="Venus: 0.72 AU">
<node CREATED="1704067412421" ID="ID_1925717639" MODIFIED="1704067420608" TEXT="Hottest planet: about 465 &#xb0;C">
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      Its thick air of carbon dioxide keeps the heat in, by night as by day. Mercury is nearer to the Sun and yet cooler.
    </p>
  </body>
</html></richcontent>
</node>
<node CREATED="1704067422327" ID="ID_1007997659" MODIFIED="1704067439121" TEXT="Turns backwards, so slowly that one turn outlasts its year"/>
</node>
<node CREATED="1704067425889" ID="ID_1581478002" MODIFIED="1704067426507" TEXT="Earth: 1 AU">
<node CREATED="1704067450796" ID="ID_1058769925" MODIFIED="1704067455369" TEXT="Oceans cover about 71 %"/>
<node CREATED="1704067459574" ID="ID_75485359" MODIFIED="1704067465868" TEXT="The Moon, 384,400 km away on average"/>
<node CREATED="1704067471146" ID="ID_1981186700" MODIFIED="1704067487394" TEXT="Home"/>
</node>
<node CREATED="1704067501168" ID="ID_1153859547" MODIFIED="1704067503778" TEXT="Mars: 1.52 AU">
<node CREATED="1704067536487" ID="ID_689633019" MODIFIED="1704067552216" TEXT="A day lasts 24 hours 39 minutes"/>
<node CREATED="1704067555443" ID="ID_210599083" MODIFIED="1704067559525" TEXT="Olympus Mons, a volcano more than 20 km high"/>
<node CREATED="1704067567267" ID="ID_1043314028" MODIFIED="1704067570375" TEXT="Moons: Phobos and Deimos"/>
<node CREATED="1704067591210" ID="ID_590759639" LINK="https://science.nasa.gov/mars/" MODIFIED="1704067593993" TEXT="Explore it"/>
</node>
</node>
<node CREATED="1704067601596" ID="ID_1714243950" MODIFIED="1704067608514" POSITION="right" TEXT="Giant planets">
<node CREATED="1704067618566" ID="ID_773996853" MODIFIED="1704067622876" TEXT="Jupiter: 5.2 AU">
<node CREATED="1704067648529" ID="ID_1557576943" MODIFIED="1704067653930" TEXT="More than twice the mass of all other planets together"/>
<node CREATED="1704067664181" ID="ID_1682146270" MODIFIED="1704067674284" TEXT="Great Red Spot: a storm wider than Earth"/>
<node CREATED="1704067702781" ID="ID_860224319" MODIFIED="1704067718973" TEXT="Galileo's moons of 1610">
<node CREATED="1704067722190" ID="ID_1541436304" MODIFIED="1704067731519" TEXT="Io: volcanoes"/>
<node CREATED="1704067727501" ID="ID_969401843" MODIFIED="1704067729831" TEXT="Europa: an ocean under ice"/>
<node CREATED="1704067757562" ID="ID_263087952" MODIFIED="1704067768284" TEXT="Ganymede: the largest moon of all"/>
<node CREATED="1704067760974" ID="ID_1353287101" MODIFIED="1704067763676" TEXT="Callisto: craters upon craters"/>
</node>
</node>
<node CREATED="1704067774352" ID="ID_14411946" MODIFIED="1704067781706" TEXT="Saturn: 9.5 AU">
<node CREATED="1704067811509" ID="ID_1788092336" MODIFIED="1704067813031" TEXT="Rings, mostly of water ice"/>
<node CREATED="1704067838229" ID="ID_848519339" MODIFIED="1704067848829" TEXT="Less dense than water"/>
<node CREATED="1704067867818" ID="ID_1477340701" MODIFIED="1704067879051" TEXT="Titan: a moon with thick air and lakes of methane"/>
</node>
<node CREATED="1704067877388" ID="ID_1733531754" MODIFIED="1704067879113" TEXT="Uranus: 19 AU">
<node CREATED="1704067895548" ID="ID_412811619" MODIFIED="1704067905612" TEXT="Found by William Herschel in 1781"/>
<node CREATED="1704067928105" ID="ID_1436409485" MODIFIED="1704067937670" TEXT="Lies on its side: tilted by 98&#xb0;"/>
</node>
<node CREATED="1704067960759" ID="ID_1621823609" MODIFIED="1704067963758" TEXT="Neptune: 30 AU">
<node CREATED="1704067963264" ID="ID_536248488" MODIFIED="1704067976226" TEXT="Found in 1846 where calculation said to look">
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      Urbain Le Verrier worked out from the wobbles of Uranus where an unknown planet should be. Johann Galle in Berlin pointed his telescope there and saw it the same night.
    </p>
  </body>
</html></richcontent>
</node>
<node CREATED="1704068001846" ID="ID_641817483" MODIFIED="1704068013449" TEXT="One year there is 165 of ours"/>
<node CREATED="1704068041218" ID="ID_682731981" MODIFIED="1704068044026" TEXT="Triton circles it the wrong way round"/>
</node>
</node>
<node CREATED="1704068048730" ID="ID_1970715337" MODIFIED="1704068050344" POSITION="left" TEXT="Dwarf planets">
<node CREATED="1704068059142" ID="ID_103101765" MODIFIED="1704068064163" TEXT="Ceres, in the asteroid belt"/>
<node CREATED="1704068087715" ID="ID_1283689386" MODIFIED="1704068089299" TEXT="Pluto, counted as a planet until 2006"/>
<node CREATED="1704068098246" ID="ID_836956651" MODIFIED="1704068106009" TEXT="Haumea"/>
<node CREATED="1704068124310" ID="ID_1079322087" MODIFIED="1704068142052" TEXT="Makemake"/>
<node CREATED="1704068155775" ID="ID_14742494" MODIFIED="1704068170460" TEXT="Eris, about as large as Pluto"/>
</node>
<node CREATED="1704068176853" ID="ID_1818039794" MODIFIED="1704068178969" POSITION="left" TEXT="Small bodies">
<node CREATED="1704068200073" ID="ID_1056358325" MODIFIED="1704068214907" TEXT="Asteroid belt, between Mars and Jupiter"/>
<node CREATED="1704068204086" ID="ID_539069177" MODIFIED="1704068216868" TEXT="Comets">
<node CREATED="1704068210347" ID="ID_850818278" MODIFIED="1704068222016" TEXT="Halley's comet returns in 2061"/>
<node CREATED="1704068213308" ID="ID_1177649821" MODIFIED="1704068233023" TEXT="Tails point away from the Sun"/>
</node>
<node CREATED="1704068243413" ID="ID_526118157" MODIFIED="1704068249851" TEXT="Kuiper belt, beyond Neptune"/>
<node CREATED="1704068256714" ID="ID_239132850" MODIFIED="1704068269454" TEXT="Oort cloud: far away, never yet seen"/>
</node>
<node CREATED="1704068282481" ID="ID_285194543" MODIFIED="1704068284715" POSITION="left">
<richcontent TYPE="NODE"><html>
  <head>
    
  </head>
  <body>
    <p>
      <b>See it for yourself</b>
    </p>
    <p>
      no telescope needed
    </p>
  </body>
</html></richcontent>
<node CREATED="1704068298455" ID="ID_312912507" MODIFIED="1704068307344" TEXT="Venus, after sunset or before sunrise"/>
<node CREATED="1704068316829" ID="ID_1691834536" MODIFIED="1704068325617" TEXT="Jupiter's four large moons, with binoculars"/>
<node CREATED="1704068343755" ID="ID_614257857" MODIFIED="1704068348276" TEXT="Shooting stars, around 12 August">
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      The Perseids: dust of comet Swift-Tuttle that burns up in our air.
    </p>
  </body>
</html></richcontent>
</node>
</node>
</node>
</map>
