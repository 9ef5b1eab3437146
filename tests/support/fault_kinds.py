"""Kinds of small faults, a piece of a page each, and what becomes of it: `was` is `now`."""

from __future__ import annotations

from typing import NamedTuple

_RED = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='40'%3E"
_DISC = f"{_RED}%3Ccircle cx='20' cy='20' r='12'/%3E%3C/svg%3E"


class Kind(NamedTuple):
    """A fault of one kind."""

    name: str
    html: str
    was: str
    now: str


def _styled(name: str, declared: str, was: str, now: str, content: str = "Text") -> Kind:
    """A fault in a rule of the element with this name as its class."""
    key = name.replace(" ", "-")
    html = f"<style>.{key} {{ {declared} }}</style><div class={key}>{content}</div>"
    return Kind(name, html, was, now)


_BOX = "width:80px;height:40px"
LETTERS = (
    Kind("one letter", "<p>A sentence of words", "sentence", "santence"),
    Kind("order", "<ul><li>Alpha<li>Beta<li>Gamma</ul>", "Beta<li>Gamma", "Gamma<li>Beta"),
    _styled("weight", "font-weight:600", "600", "500"),
    _styled("line height", "line-height:20px", "20px", "23px"),
    _styled("letter spacing", "letter-spacing:1px", "1px", "2px"),
    _styled("word spacing", "word-spacing:4px", "4px", "0", "Two words"),
    _styled("indent", "text-indent:20px", "20px", "10px"),
    _styled("capitals", "font-variant:small-caps", "small-caps", "normal"),
    _styled("upper case", "text-transform:uppercase", "uppercase", "none"),
    _styled("line", "text-decoration:underline", "underline", "line-through"),
    _styled("line style", "text-decoration:underline wavy red", "wavy red", "red"),
    _styled("line colour", "text-decoration:underline red", "underline red", "underline blue"),
    _styled("text shadow", "text-shadow:1px 1px red", "1px 1px red", "none"),
    _styled("direction", "direction:rtl;text-align:left", "rtl", "ltr", "Text, 1."),
    _styled("vertical", "writing-mode:vertical-rl;height:90px", "vertical-rl", "vertical-lr"),
    _styled("ellipsis", "text-overflow:ellipsis;overflow:hidden;white-space:nowrap;width:60px",
            "text-overflow:ellipsis", "text-overflow:clip", "A very long text in there"),
    Kind("ruby", "<ruby>漢<rt>kan</rt></ruby>", "kan", "kam"),
    Kind("raised", "<p>E<sup class=raised>st</sup><style>.raised{vertical-align:super}</style>",
         "super", "baseline"),
    Kind("icon by font", '<style>.star::before{content:"\\2605"}</style><i class=star></i>',
         "2605", "2606"),
)  # fmt: skip
BOXES = (
    _styled("border", "border:1px solid #ccc", "1px solid", "0 solid"),
    _styled("side of a border", "border-bottom:1px dotted #00f", "dotted", "solid"),
    _styled("two lines", "border:4px double #00f", "double", "solid"),
    _styled("corners", "border-radius:8px;background:#eee", "8px", "3px"),
    _styled("box shadow", "box-shadow:0 1px 3px #888", "3px", "9px"),
    _styled("outline", "outline:1px solid red", "1px solid red", "none"),
    _styled("ground", "background:#f0f0f0", "#f0f0f0", "#fff"),
    _styled("opacity", "opacity:.75", ".75", ".85"),
    _styled("gradient", "background:linear-gradient(red, blue)", "blue", "green"),
    _styled("conic gradient", f"{_BOX};background:conic-gradient(red, blue)", "blue", "lime"),
    _styled("second ground", f'background:linear-gradient(#0000,#0000),url("{_DISC}");{_BOX}',
            "r='12'", "r='6'"),
    _styled("place of a ground", f'background:url("{_DISC}") 4px 0;{_BOX}', "4px", "14px"),
    _styled("size of a ground", f'background:url("{_DISC}");background-size:20px;{_BOX}',
            "20px", "30px"),
    _styled("repeated ground", f'background:url("{_DISC}") no-repeat;{_BOX}',
            "no-repeat", "repeat-x"),
    _styled("clip path", f"clip-path:circle(40%);background:teal;{_BOX}", "40%", "30%"),
    _styled("filter", f"filter:saturate(2);background:teal;{_BOX}", "saturate(2)", "none"),
    _styled("blend", f"mix-blend-mode:multiply;background:teal;{_BOX}", "multiply", "normal"),
    _styled("turned", f"transform:rotate(4deg);background:teal;{_BOX}", "4deg", "0deg"),
    _styled("moved", f"transform:translateX(9px);background:teal;{_BOX}", "9px", "4px"),
    _styled("rotate", f"rotate:5deg;background:teal;{_BOX}", "5deg", "0deg"),
    _styled("z order", "height:50px} .z-order *{position:absolute;width:40px;height:40px;"
            "background:red} .z-order b{z-index:2;background:blue", "index:2", "index:0",
            "<b></b><u></u>"),
    _styled("kept in sight", "position:sticky;top:4px", "sticky", "static"),
    _styled("padding", "padding:12px;background:#eee", "12px", "8px"),
    _styled("margin", "margin:12px 0;background:#eee", "12px", "20px"),
    _styled("centred", "text-align:center", "center", "left"),
    _styled("floating", "float:right;background:#eee", "right", "left"),
    _styled("columns", "columns:2", ":2", ":3", "One two three four five six seven"),
    _styled("flex order", "display:flex} .flex-order b{order:2", "order:2", "order:0",
            "<b>One</b><i>Two</i>"),
    _styled("gap", "display:flex;gap:8px", "8px", "3px", "<b>One</b><i>Two</i>"),
    _styled("thin line", "height:1px;background:red", "red", "blue", ""),
    Kind("rule", "<hr class=rule><style>.rule{border:0;border-top:1px solid red}</style>",
         "red", "blue"),
    Kind("fainter rule", "<hr class=faint><style>.faint{opacity:1}</style>", "opacity:1",
         "opacity:.3"),
    Kind("rule that is clear", "<hr class=clear><style>.clear{border-color:gray}</style>",
         "gray", "transparent"),
    _styled("variable", "--ink:#c00;color:var(--ink)", "#c00", "#00c"),
    _styled("current colour", "color:#c00;border:1px solid currentColor", "#c00", "#c90"),
    _styled("overflow", "overflow:hidden;height:20px;width:50px", "hidden", "visible",
            "Long text that is cut"),
    _styled("arrow", 'position:relative} .arrow::after{content:"";border:6px solid transparent;'
            "border-top-color:red", "6px", "4px"),
    _styled("turned mark", 'color:#123} .turned-mark::before{content:"▸";'
            "display:inline-block;transform:rotate(90deg)", "90deg", "0deg"),
    _styled("picture of a mark", f'color:#123}} .picture-of-a-mark::before{{content:url("{_DISC}")',
            "r='12'", "r='8'"),
    Kind("colour of a column", "<table class=cl><col><col class=c2><tr><td>A<td>B</table>"
         "<style>.c2{background:#def}</style>", "#def", "#fff"),
    Kind("colour of a cell", "<table><tr><td bgcolor=#eeeeff>A<td>B</table>", "#eeeeff", "#ffffff"),
    Kind("span of a cell", "<table border=1><tr><td colspan=2>A<tr><td>B<td>C</table>",
         "colspan=2", "colspan=1"),
)  # fmt: skip
STATES = (
    Kind("list marker", "<ul class=round><li>A</ul><style>.round{list-style:circle}</style>",
         "circle", "square"),
    Kind("inner marker", "<ul class=inner><li>A</ul><style>.inner{list-style-position:inside}"
         "</style>", "inside", "outside"),
    Kind("start of a list", "<ol start=3><li>A</ol>", "start=3", "start=4"),
    Kind("image of a list", f'<ul class=own><li>A</ul><style>.own{{list-style-image:url("{_DISC}")'
         "}</style>", "r='12'", "r='8'"),
    Kind("box", "<input type=checkbox checked>", "checked", ""),
    Kind("radio button", "<input type=radio checked>", "checked", ""),
    Kind("value", "<input value=Berlin>", "Berlin", "Bremen"),
    Kind("placeholder", "<input placeholder=Search>", "=Search", "=Find"),
    Kind("label of a button", "<button>Send</button>", "Send", "Save"),
    Kind("label of a field", "<input type=submit value=Go>", "Go", "OK"),
    Kind("choice", "<select><option>One<option>Two</select>", "n>Two",
         "n selected>Two"),
    Kind("text of a field", "<textarea>Words</textarea>", "Words", "Woods"),
    Kind("disabled", "<button>Off</button>", "<button", "<button disabled"),
    Kind("slider", "<input type=range value=20>", "20", "70"),
    Kind("progress", "<progress value=3 max=10></progress>", "=3", "=7"),
    Kind("meter", "<meter value=3 max=10></meter>", "=3", "=7"),
    Kind("details", "<details open><summary>More</summary>Hidden words</details>", " open", ""),
)  # fmt: skip
_FRAME = "<iframe class=fr srcdoc='<p>In a frame'></iframe>"
_SHADOW = ("<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML="
           "'<style>b{color:red}</style><b>Shade</b>'</script>")  # fmt: skip
_CANVAS = ("<canvas width=200 height=60 id={0}></canvas><script>{{const c=document.getElementById("
           "'{0}').getContext('2d');{1}}}</script>")  # fmt: skip
PICTURES = (
    Kind("size of a picture", f'<img class=wide src="{_DISC}"><style>.wide{{width:188px;'
         "height:83px}</style>", "188px", "180px"),
    Kind("size by attribute", f'<img src="{_DISC}" width=60 height=60>', "width=60", "width=57"),
    Kind("fitted picture", f'<img class=fit src="{_DISC}"><style>.fit{{width:90px;height:40px;'
         "object-fit:cover}</style>", "cover", "contain"),
    Kind("place of a picture", f'<img class=op src="{_DISC}"><style>.op{{width:90px;height:40px;'
         "object-fit:none;object-position:0 0}</style>", "0 0", "9px 0"),
    Kind("shape in a picture", f'<img src="{_RED}%3Crect width=\'30\' height=\'20\'/%3E%3Ccircle '
         "cx='34' cy='34' r='3'/%3E%3C/svg%3E\">", "r='3'", "r='1'"),
    Kind("poster", f'<video poster="{_DISC}" width=90 height=60></video>', "r='12'", "r='5'"),
    Kind("controls of a film", "<video controls width=90 height=60></video>", " controls", ""),
    Kind("image button", f'<input type=image src="{_DISC}">', "r='12'", "r='5'"),
    Kind("frame", _FRAME, "a frame", "the frame"),
    Kind("shadow tree", _SHADOW, "color:red", "color:blue"),
    Kind("words in a shadow tree", _SHADOW.replace("host", "host2"), "Shade", "Shape"),
    Kind("stroke of a canvas", _CANVAS.format("k1", "c.lineWidth=10;c.strokeRect(20,10,90,40)"),
         "=10", "=9"),
    Kind("fill of a canvas", _CANVAS.format("k2", "c.fillStyle='#cde';c.fillRect(20,10,90,40)"),
         "#cde", "#cce"),
    Kind("place on a canvas", _CANVAS.format("k3", "c.fillRect(20,10,90,40)"), "20,10", "21,10"),
    Kind("beside letters", _CANVAS.format("k4", "c.fillText('Label',140,30);"
         "c.fillRect(20,10,60,40)"), "60,40", "60,39"),
    Kind("letters of a canvas", _CANVAS.format("k5", "c.font='20px serif';"
         "c.fillText('Label',20,30)"), "'Label'", "'Lable and more'"),
    Kind("notch of a canvas with labels", "<div style='position:relative'>" + _CANVAS.format(
         "k6", "c.beginPath();c.moveTo(5,5);c.lineTo(60,50);c.lineTo(120,8);c.lineTo(195,50);"
         "c.lineWidth=2;c.stroke()") + "<i style='position:absolute;left:9px;top:9px'>Label</i>"
         "</div>",
         "c.lineTo(60,50)", "c.lineTo(40,30);c.lineTo(44,50);c.lineTo(48,40);c.lineTo(60,50)"),
    Kind("object", f'<object data="{_DISC}" type=image/svg+xml width=40 height=40></object>',
         "r='12'", "r='5'"),
    Kind("image of a drawing", f'<svg width=60 height=60><image href="{_DISC}" width=40 '
         "height=40 /></svg>", "r='12'", "r='5'"),
)  # fmt: skip
_SVG = "<svg width=120 height=60>{}</svg>"
DRAWINGS = (
    Kind("dashes", _SVG.format("<path d='M5 5h90' stroke=red stroke-dasharray='4 2' />"),
         "4 2", "8 2"),
    Kind("width of a line", _SVG.format("<path d='M5 5h90' stroke=red stroke-width=2 />"),
         "width=2", "width=3"),
    Kind("end of a line", _SVG.format("<path d='M9 9h90' stroke=red stroke-width=9 "
         "stroke-linecap=round />"), "round", "butt"),
    Kind("arrow head", _SVG.format("<defs><marker id=mk refX=2 refY=2><path d='M0 0L4 2L0 4z' />"
         "</marker></defs><path d='M9 30h90' stroke=red marker-end='url(#mk)' />"),
         "marker-end", "mark-end"),
    Kind("stop of a gradient", _SVG.format("<linearGradient id=lg><stop stop-color=red /><stop "
         "offset=1 stop-color=blue /></linearGradient><rect width=90 height=40 fill='url(#lg)' />"),
         "color=blue", "color=lime"),
    Kind("pattern", _SVG.format("<pattern id=pt width=9 height=9 patternUnits=userSpaceOnUse>"
         "<rect width=4 height=4 fill=red /></pattern><rect width=90 height=40 fill='url(#pt)' />"),
         "fill=red", "fill=blue"),
    Kind("bend of a path", _SVG.format("<path d='M5 5L50 55L100 5L100 55z' />"),
         "L50 55", "L80 55"),
    Kind("hole of a path", _SVG.format("<path d='M5 5h80v50h-80zM20 20h30v20h-30z' fill-rule="
         "evenodd />"), "=evenodd", "=nonzero"),
    Kind("place of a shape", _SVG.format("<circle cx=30 cy=30 r=20 />"), "cx=30", "cx=33"),
    Kind("size of a shape", _SVG.format("<circle cx=30 cy=30 r=20 />"), "r=20", "r=18"),
    Kind("opacity of a group", _SVG.format("<g opacity=.5><circle cx=30 cy=30 r=20 /></g>"),
         ".5", ".8"),
    Kind("words of a drawing", _SVG.format("<text x=9 y=30>Axis</text>"), "Axis", "Axes"),
    Kind("size of a drawing", "<svg class=sz viewBox='0 0 9 9'><circle r=5 /></svg>"
         "<style>.sz{width:90px}</style>", "90px", "84px"),
)  # fmt: skip
