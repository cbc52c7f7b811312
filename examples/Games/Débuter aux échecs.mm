<map version="1.0.1">
<!-- To view this file, download free mind mapping software FreeMind from http://freemind.sourceforge.net -->
<node CREATED="1704067210304" ID="ID_1231055760" MODIFIED="1704067221328" TEXT="D&#xe9;buter aux &#xe9;checs">
<font NAME="SansSerif" SIZE="18"/>
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      Tout ce qu'il faut pour jouer une premi&#xe8;re partie ce soir.
    </p>
  </body>
</html></richcontent>
<node CREATED="1704067223296" ID="ID_799545619" MODIFIED="1704067229116" POSITION="right" TEXT="L'&#xe9;chiquier">
<node CREATED="1704067235266" ID="ID_1809861794" MODIFIED="1704067238931" TEXT="64 cases, une case blanche en bas &#xe0; droite"/>
<node CREATED="1704067245376" ID="ID_1605999052" MODIFIED="1704067257194" TEXT="Colonnes de a &#xe0; h, rang&#xe9;es de 1 &#xe0; 8"/>
<node CREATED="1704067265587" ID="ID_1647565611" MODIFIED="1704067285418" TEXT="La dame se place sur sa couleur"/>
</node>
<node CREATED="1704067287573" ID="ID_1291578222" MODIFIED="1704067307150" POSITION="right" TEXT="Les pi&#xe8;ces et leur valeur">
<node CREATED="1704067312786" ID="ID_156949926" MODIFIED="1704067316811" TEXT="Le roi : sans prix">
<node CREATED="1704067322463" ID="ID_1742292432" MODIFIED="1704067323051" TEXT="Une case dans toutes les directions"/>
</node>
<node CREATED="1704067345919" ID="ID_400082872" MODIFIED="1704067352442" TEXT="La dame : 9">
<node CREATED="1704067370175" ID="ID_82245833" MODIFIED="1704067386960" TEXT="Comme la tour et le fou r&#xe9;unis"/>
</node>
<node CREATED="1704067380058" ID="ID_1995550599" MODIFIED="1704067380062" TEXT="La tour : 5">
<node CREATED="1704067399294" ID="ID_1275056725" MODIFIED="1704067416864" TEXT="Lignes et colonnes"/>
</node>
<node CREATED="1704067405680" ID="ID_1923218215" MODIFIED="1704067421156" TEXT="Le fou : 3">
<node CREATED="1704067443780" ID="ID_700881674" MODIFIED="1704067446797" TEXT="Diagonales, toujours sur la m&#xea;me couleur"/>
</node>
<node CREATED="1704067473349" ID="ID_195668153" MODIFIED="1704067481380" TEXT="Le cavalier : 3">
<node CREATED="1704067510456" ID="ID_1285512838" MODIFIED="1704067528865" TEXT="En L, et il saute par-dessus les autres"/>
</node>
<node CREATED="1704067548030" ID="ID_1384848685" MODIFIED="1704067564444" TEXT="Le pion : 1">
<node CREATED="1704067583565" ID="ID_344268317" MODIFIED="1704067591950" TEXT="Avance d'une case, ou de deux au d&#xe9;part"/>
<node CREATED="1704067606386" ID="ID_159006359" MODIFIED="1704067622611" TEXT="Prend en diagonale"/>
</node>
</node>
<node CREATED="1704067620859" ID="ID_300573470" MODIFIED="1704067636664" POSITION="right" TEXT="Les coups particuliers">
<node CREATED="1704067638671" ID="ID_845701680" MODIFIED="1704067644533" TEXT="Le roque">
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      Le roi avance de deux cases vers la tour, qui passe de l'autre c&#xf4;t&#xe9;. Interdit si l'un des deux a d&#xe9;j&#xe0; boug&#xe9;, s'il reste une pi&#xe8;ce entre eux, ou si le roi est en &#xe9;chec, traverse une case attaqu&#xe9;e ou y arrive.
    </p>
  </body>
</html></richcontent>
</node>
<node CREATED="1704067675228" ID="ID_478807128" MODIFIED="1704067675801" TEXT="La prise en passant">
<richcontent TYPE="NOTE"><html>
  <head>
    
  </head>
  <body>
    <p>
      Seulement au coup qui suit l'avance de deux cases du pion adverse.
    </p>
  </body>
</html></richcontent>
</node>
<node CREATED="1704067689536" ID="ID_14940856" MODIFIED="1704067701191" TEXT="La promotion"/>
</node>
<node CREATED="1704067709207" ID="ID_1924287825" MODIFIED="1704067725395" POSITION="right" TEXT="Fin de partie">
<node CREATED="1704067737388" ID="ID_1675411983" MODIFIED="1704067751921" TEXT="&#xc9;chec et mat : le roi attaqu&#xe9; ne peut plus fuir"/>
<node CREATED="1704067745205" ID="ID_233718393" MODIFIED="1704067749809" TEXT="Pat : aucun coup l&#xe9;gal, pas d'&#xe9;chec, partie nulle"/>
<node CREATED="1704067781417" ID="ID_1945436835" MODIFIED="1704067801230" TEXT="Nulle par accord, par r&#xe9;p&#xe9;tition ou apr&#xe8;s 50 coups sans prise ni coup de pion"/>
</node>
<node CREATED="1704067796867" ID="ID_405165743" MODIFIED="1704067806917" POSITION="left" TEXT="Bien commencer">
<node CREATED="1704067814366" ID="ID_405896785" MODIFIED="1704067818364" TEXT="Occuper le centre"/>
<node CREATED="1704067826689" ID="ID_1697078918" MODIFIED="1704067843337" TEXT="Sortir cavaliers et fous"/>
<node CREATED="1704067858983" ID="ID_33740520" MODIFIED="1704067870164" TEXT="Roquer t&#xf4;t"/>
<node CREATED="1704067872801" ID="ID_1165844969" MODIFIED="1704067887619" TEXT="Ne pas jouer deux fois la m&#xea;me pi&#xe8;ce"/>
<node CREATED="1704067877107" ID="ID_1345341586" MODIFIED="1704067877312" TEXT="Garder la dame pour plus tard"/>
</node>
<node CREATED="1704067890197" ID="ID_1468770046" MODIFIED="1704067891532" POSITION="left" TEXT="Trois id&#xe9;es qui gagnent">
<node CREATED="1704067914634" ID="ID_572238068" MODIFIED="1704067917398" TEXT="La fourchette : attaquer deux pi&#xe8;ces &#xe0; la fois"/>
<node CREATED="1704067951166" ID="ID_1908305718" MODIFIED="1704067959314" TEXT="Le clouage : une pi&#xe8;ce n'ose plus bouger"/>
<node CREATED="1704067953696" ID="ID_921295461" MODIFIED="1704067968061" TEXT="L'enfilade : la grosse pi&#xe8;ce fuit, la petite tombe"/>
</node>
<node CREATED="1704067973806" ID="ID_495820769" LINK="https://lichess.org/learn" MODIFIED="1704067975108" POSITION="left" TEXT="Jouer et apprendre"/>
</node>
</map>
