// Where these selectors' elements lie, in pixels from the document's upper left corner.
(selectors, bound) => {
  const found = [];
  for (const selector of selectors)
    for (const element of document.querySelectorAll(selector)) {
      const box = element.getBoundingClientRect();
      if (box.width < 1 || box.height < 1 || found.length >= bound) continue;
      found.push({
        x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY),
        width: Math.round(box.width), height: Math.round(box.height) });
    }
  return found;
}
