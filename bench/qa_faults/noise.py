"""Pages that are never the same twice, by kind: what their scripts do by themselves."""

from __future__ import annotations

import random
from collections.abc import Mapping

from bench.qa_training.html_edits import inside, top_of_body
from bench.qa_training.recorded import Page

_BOX = "<div id=noisy style='width:420px;min-height:90px;background:#eef;padding:12px'></div>"
_SCRIPTS: Mapping[str, str] = {
    "clock": "setInterval(()=>n.textContent=new Date().toISOString(),20)",
    "popup by timing": (
        "setTimeout(()=>{n.style.cssText+=';position:fixed;top:80px;left:200px;z-index:9';"
        "n.textContent='Subscribe to our letter'},700*r())"
    ),
    "shuffled list": (
        "n.innerHTML='<ul>'+['one','two','three','four','five','six'].map(w=>[r(),w]).sort()"
        ".map(x=>'<li>'+x[1]).join('')+'</ul>'"
    ),
    "carousel": (
        "let k=Math.floor(4*r());setInterval(()=>{n.style.background="
        "['#a33','#3a3','#33a','#aa3'][++k%4];n.textContent='Slide '+k%4},120)"
    ),
    "animation": (
        "let x=0;const f=()=>{x+=3;n.style.width=200+x%300+'px';requestAnimationFrame(f)};f()"
    ),
    "race": ("for(const w of ['map','tiles'])setTimeout(()=>n.append(w+' loaded '),300*r())"),
    "canvas": (
        "const c=document.createElement('canvas');n.append(c);const g=c.getContext('2d');"
        "setInterval(()=>{g.fillStyle='hsl('+360*r()+',80%,60%)';g.fillRect(300*r(),150*r(),40,40)}"
        ",30)"
    ),
    "height": "n.style.height=90+Math.floor(200*r())+'px'",
}
"""Their dice are the system's, which no seed reaches."""

_DICE = "const r=()=>crypto.getRandomValues(new Uint32Array(1))[0]/2**32;"


def noisy(kind: str, page: Page, dice: random.Random) -> Page:
    """The page with something of this kind."""
    script = f"const n=document.getElementById('noisy');{_DICE}{_SCRIPTS[kind]}"
    box = f"{_BOX}<script>{{{script}}}</script>".encode()
    if dice.random() < 0.5:
        return page.with_html(top_of_body(page.html.body, box))
    return page.with_html(inside(page.html.body, box, dice))


KINDS = tuple(_SCRIPTS)
