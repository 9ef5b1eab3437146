// Where these selectors' elements lie, in pixels from the document's upper left corner.
(selectors, bound) => {
  // By the prototypes: a page's elements of such names would stand before its own.
  const found = [];
  for (const selector of selectors)
    for (const element of Document.prototype.querySelectorAll.call(document, selector)) {
      const box = Element.prototype.getBoundingClientRect.call(element);
      if (box.width < 1 || box.height < 1 || found.length >= bound) continue;
      found.push({
        x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY),
        width: Math.round(box.width), height: Math.round(box.height) });
    }
  return found;
}
