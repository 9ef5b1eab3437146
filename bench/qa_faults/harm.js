// Harms one element of the page; what it is drawn by is in its arguments.
(selector, smallest, largest, pick, harm, amount) => {
  const shown = (element) => {
    const box = element.getBoundingClientRect(), side = Math.min(box.width, box.height);
    const top = box.top + scrollY;
    return side >= smallest && side <= largest && top >= 0 && top + box.height < 3900;
  };
  const says = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const style = (element, at) => getComputedStyle(element, at);
  const fits = {
    text: says, font: says,
    background: (e) => style(e).backgroundImage !== "none" || style(e).backgroundColor !== "rgba(0, 0, 0, 0)",
    border: (e) => style(e).borderTopWidth !== "0px" || style(e).borderBottomWidth !== "0px",
    pseudo: (e) => !["none", "normal", '""'].includes(style(e, "::before").content),
  };
  const kind = harm.split("-")[0];
  const found = [...document.body.querySelectorAll(selector)].filter(
    (element) => shown(element) && (fits[kind] ?? (() => true))(element));
  const element = found[Math.floor(pick * found.length)];
  if (!element) return;
  const put = (name, value) => element.style.setProperty(name, value, "important");
  const words = (text) => text.split(/(\s+)/);
  const set = (change) => {
    for (const node of element.childNodes) if (node.nodeType === 3) node.data = change(node.data);
  };
  const turned = (word) => (word.trim() ? [...word].reverse().join("") + "u" : word);
  const acts = {
    "text-gone": () => set(() => ""),
    "text-cut": () => set((text) => words(text).slice(0, words(text).length / 2).join("")),
    "text-other": () => set((text) => words(text).map(turned).join("")),
    "text-more": () => element.append(" and further so, as nobody had written"),
    "hide-space": () => put("visibility", "hidden"),
    "hide-whole": () => put("display", "none"),
    "move-across": () => put("transform", `translateX(${amount}px)`),
    "move-down": () => put("margin-top", `${amount}px`),
    "size-text": () => put("font-size", "140%"),
    "size-box": () => put("width", "60%"),
    "colour-text": () => put("color", "#c03060"),
    "background-gone": () => put("background", "none"),
    "background-other": () => put("background", "#dce4ee"),
    "border-gone": () => put("border", "0"),
    "font-other": () => put("font-family", "monospace"),
    "pseudo-gone": () => {
      element.dataset.harmed = "";
      const sheet = document.createElement("style");
      sheet.textContent = "[data-harmed]::before{content:none!important}";
      document.head.append(sheet);
    },
  };
  acts[harm]();
}
