// Everything about the page but its image, in bounded lists with their true lengths.
async (limits, drawn, decoded) => {
  const { of, tagOf, boxOf, IMAGES, CONTROLS } = drawn;
  // Never drawn themselves; one browser gives areas the boxes of their picture.
  const UNSEEN = new Set(["area", "map", "source", "track", "param"]);
  const MEDIA = new Set(["video", "audio"]), waiting = [], drawings = [], numbers = [];
  const list = (bound) => ({ items: [], total: 0, add(make) { if (this.total++ < bound) this.items.push(make()); } });
  const boxes = list(limits.boxes), shapes = list(limits.shapes), frames = list(limits.frames), media = list(limits.media);
  const resources = list(limits.resources), broken = list(limits.urls), texts = [];
  const pictures = { total: 0, zero_size: 0, broken: 0 };
  const styles = { sheets: 0, unreadable_sheets: 0, rules: 0 };
  const rectangle = (box, at) => ({
    x: Math.round(box.x + at.x), y: Math.round(box.y + at.y), width: Math.round(box.width), height: Math.round(box.height) });
  const ownWords = (element) => {
    let own = "";
    for (const node of Reflect.get(Node.prototype, "childNodes", element)) {
      if (node.nodeType === 3) own += node.data + " ";
      if (own.length > 10000) break;
    }
    return own.trim().replace(/\s+/g, " ");
  };
  const ownText = (element) => drawn.abridged(ownWords(element));
  const finite = (number) => (Number.isFinite(number) ? number : null);

  const TYPES = { mp4: "video/mp4", m4v: "video/mp4", webm: "video/webm", ogv: "video/ogg", mov: "video/quicktime",
    mp3: "audio/mpeg", ogg: "audio/ogg", oga: "audio/ogg", wav: "audio/wav", m4a: "audio/mp4", aac: "audio/aac", flac: "audio/flac" };
  // Whether this browser plays any type that a film is offered in.
  const isPlayable = (element) => {
    const sources = [element, ...Element.prototype.querySelectorAll.call(element, "source")];
    const types = sources.map((one) => one.getAttribute("type") ?? TYPES[(one.getAttribute("src") ?? "").split(/[?#]/)[0].split(".").pop().toLowerCase()]);
    return types.some((type) => type && element.canPlayType(type)) || !types.some(Boolean);
  };
  const isBroken = (image) => {
    if (!image.complete || image.naturalWidth || !(image.currentSrc || image.getAttribute("src"))) return false;
    // A drawing that names no size may have none either; only of a broken one this is an error (HTML,
    // "check the usability of the image argument").  Firefox's drawImage does not say so.
    try { document.createElement("canvas").getContext("2d").createPattern(image, ""); return false; } catch (error) { return true; }
  };
  // What pictures and films are, beside where: which size of its own a drawing has, browsers do not agree on.
  const stateOf = (element, tag) => {
    if (MEDIA.has(tag)) return (element.error || element.networkState === 3) && isPlayable(element) ? "broken" : "";
    if (tag !== "img") return "";
    if (isBroken(element)) return "broken";
    if (!element.complete || /\.svg\b|svg\+xml/.test(element.currentSrc)) return "";
    return element.naturalWidth + "x" + element.naturalHeight;
  };
  // Scroll bars that a script draws, and shows and hides by their opacity.
  const isFading = (element, style) => /absolute|fixed/.test(style.position) && /(^|[;\s])opacity\s*:/.test(Element.prototype.getAttribute.call(element, "style") ?? "");
  const isDecoded = (box, at) => box.bottom + at.y > limits.decoding_from;
  // What of an element shows pictures: itself, and those that are drawn of it.
  const shownBy = (page, view, element, tag, style) => [
    tag === "canvas" ? canvases.get(element) ?? null : tag === "img" ? decoded.ofImage(element, view.origin) : null,
    ...drawn.picturesOf(view, element, tag, style).map((url) => decoded.ofUrl(page, view.origin, url))];
  const canvasesIn = (page, depth) => {
    const found = [...drawn.everything(page)].filter((element) => tagOf(element) === "canvas")
      .filter((canvas) => isDecoded(boxOf(canvas), { y: depth ? 0 : scrollY })).slice(0, limits.canvases);
    if (depth < limits.depth)
      for (const frame of Document.prototype.querySelectorAll.call(page, "iframe, frame"))
        try { if (frame.contentDocument) found.push(...canvasesIn(frame.contentDocument, depth + 1)); } catch (error) { }
    return found.slice(0, limits.canvases);
  };
  const kindOf = (view, element, tag, style) => {
    if (MEDIA.has(tag)) return "media";
    if (IMAGES.has(tag) || (tag === "image" && drawn.inSvg(element))) return "image";
    if (CONTROLS.has(tag)) return "control";
    for (const node of Reflect.get(Node.prototype, "childNodes", element))
      if (node.nodeType === 3 && node.data.trim()) return "text";
    if (style.backgroundImage.includes("url(")) return "image";
    // An empty inline element says nothing, unless something is drawn of it; shapes of a drawing
    // have a list of their own.
    if (drawn.inSvg(element) || isFading(element, style)) return null;
    return drawn.isBox(view, element, style) ? "block" : null;
  };
  const countRules = (sheet, depth) => {
    styles.sheets++;
    let rules;
    try { rules = sheet.cssRules; } catch (error) { styles.unreadable_sheets++; return; }
    const inner = (rules, depth) => {
      for (const rule of rules) {
        styles.rules++;
        if (rule.styleSheet && depth < 5) countRules(rule.styleSheet, depth + 1);
        else if (rule.cssRules && depth < 5) inner(rule.cssRules, depth + 1);
      }
    };
    inner(rules, depth);
  };

  const look = (page, at, depth) => {
    const view = of(page, "defaultView"), body = of(page, "body");
    if (!limits.across) texts.push(body ? body.innerText || "" : "");
    for (const sheet of of(page, "styleSheets")) countRules(sheet, 0);
    if (limits.across) drawn.note(page, view);
    for (const entry of view.performance.getEntriesByType("resource"))
      resources.add(() => ({
        url: entry.name.slice(0, limits.url), kind: entry.initiatorType || "other",
        status: entry.responseStatus || null, media_type: null, failure: null }));
    let seen = 0;
    for (const element of drawn.everything(page)) {
      if (++seen > limits.elements) break;
      const tag = tagOf(element);
      if (tag === "img") {
        pictures.total++;
        if (!element.naturalWidth) {
          pictures.zero_size++;
          if (isBroken(element)) {
            pictures.broken++;
            broken.add(() => (element.currentSrc || element.src).slice(0, limits.url));
          }
        }
      }
      if (MEDIA.has(tag))
        media.add(() => ({
          tag, url: (element.currentSrc || element.src || "").slice(0, limits.url),
          ready_state: element.readyState, network_state: element.networkState,
          error: element.error ? element.error.code : null, duration_s: finite(element.duration),
          width: element.videoWidth || 0, height: element.videoHeight || 0 }));
      if (tag === "svg") drawn.drawingOf(element);  // each has its number, also one without shapes
      if (UNSEEN.has(tag)) continue;
      const box = boxOf(element);
      const frame = tag === "iframe" || tag === "frame";
      if (frame) {
        let inside = null;
        try { inside = element.contentDocument; } catch (error) { inside = null; }
        const body = inside && of(inside, "body");
        frames.add(() => ({
          url: (inside ? of(inside, "documentURI") : element.src || "").slice(0, limits.url),
          rect: rectangle(box, at), readable: inside !== null,
          text_length: body ? (body.innerText || "").length : null }));
        if (inside && of(inside, "defaultView") && depth < limits.depth)
          look(inside, { x: at.x + box.x, y: at.y + box.y }, depth + 1);
      }
      const isShape = drawn.SHAPES.has(tag) && drawn.inSvg(element);
      // A line that lies or stands has one side alone.
      if (isShape ? !box.width && !box.height : box.width < 1 || box.height < 1) continue;
      // Shown by browsers alone that know no canvas; of the others, one gives it boxes.
      if (tag !== "canvas" && Element.prototype.closest.call(element, "canvas")) continue;
      const style = view.getComputedStyle(element), layer = drawn.layerOf(view, element);
      if (style.visibility !== "visible" || layer.opacity < 0.005 || layer.isAway) continue;
      if (isShape) {
        const shape = shapes.total < limits.shapes ? drawn.shape(view, element, style) : null;
        if (shape || shapes.total >= limits.shapes) shapes.add(() => {
          const { exact, ...known } = shape, found = { tag, rect: rectangle(box, at), ...known };
          drawings.push([element, view, exact, found]);
          return found;
        });
        continue;
      }
      const kind = kindOf(view, element, tag, style), own = kind === "text" || tag === "button" ? ownWords(element) : "";
      // innerText has what may be chosen in one browser alone, and words in drawings without spaces.
      if (limits.across && (kind === "text" || tag === "button")) texts.push(own);
      if (kind) boxes.add(() => {
        const isKnown = isDecoded(box, at);
        const found = {
          tag: tag.slice(0, 40), kind, rect: rectangle(box, at), decoded: null,
          text: kind === "text" ? drawn.abridged(own) : stateOf(element, tag), look: drawn.describe(view, element, style, box, own) };
        if (isKnown && kind === "text" && /\d/.test(found.text)) numbers.push([element, found, found.text]);
        if (isKnown) waiting.push(decoded.ofAll(shownBy(page, view, element, tag, style), (number) => { found.decoded = number; }));
        return found;
      });
    }
  };

  // What a script fades in or grows, charts most times, is soon at rest; a clock never is.
  const rest = async () => {
    const began = performance.now();
    let changed = began;
    const watcher = new MutationObserver(() => { changed = performance.now(); });
    watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    while (performance.now() - began < limits.rest_ms && performance.now() - changed < 120) await decoded.wait(30);
    watcher.disconnect();
  };
  await rest();
  const canvases = await decoded.steady(canvasesIn(document, 0));
  look(document, { x: scrollX, y: scrollY }, 0);
  await decoded.within(Promise.all(waiting));
  // What counts, or moves, has other numbers a moment later.
  if (drawings.length + numbers.length) await decoded.wait(50);
  for (const [element, found, text] of numbers)
    if (ownText(element) !== text) found.text = text.replace(/\d+/g, "0".repeat(10));
  for (const [element, view, exact, found] of drawings)
    if (drawn.momentOf(view, element) !== exact) found.moves = true;
  const root = of(document, "documentElement"), body = of(document, "body");
  const extent = (name) => Math.round(Math.max(root ? root["scroll" + name] : 0, body ? body["scroll" + name] : 0));
  const text = texts.join("\n").trim();
  return {
    final_url: of(document, "documentURI").slice(0, limits.url), title: of(document, "title").slice(0, 1000),
    media_type: of(document, "contentType"), page_width: extent("Width"), page_height: extent("Height"),
    text: text.slice(0, limits.text), text_length: text.length,
    boxes: boxes.items, looks: [...drawn.looks.keys()], boxes_total: boxes.total, shapes: shapes.items, shapes_total: shapes.total,
    decoded: [...decoded.table.keys()], frames: frames.items, frames_total: frames.total,
    media: media.items, media_total: media.total,
    resources: resources.items, resources_total: resources.total,
    pictures: { ...pictures, broken_urls: broken.items }, styles,
  };
}
