// What pictures show, as browsers have decoded it: the mean colours of some cells, as a short text.
(limits) => {
  // A page may be XML, where elements without a namespace are nothing.
  const made = (page, tag) => Document.prototype.createElementNS.call(page, "http://www.w3.org/1999/xhtml", tag);
  let board, pen;
  const renew = () => {
    board = made(document, "canvas");
    pen = board.getContext("2d", { willReadFrequently: true });
  };
  renew();
  const table = new Map();
  let left = limits.decoding_ms;
  // Pixels; a browser's own scaling would be another in each.
  const LARGEST = 4e6, MOST_READ = 1e6;
  // Pixels of a cell, and how many there are across or down.
  const SIDE = 8, LEAST = 8, MOST = 32, MOST_OF_CANVAS = 128, DRAWING = 256, MOST_LABELS = 200;
  // So that white and black on nothing are both seen.
  const GREY = "#808080";
  const CLEAR = /^transparent$|^rgba\(.*, 0\)$/;
  const groundOf = (element) => {
    for (let at = element; at; at = Reflect.get(Node.prototype, "parentElement", at)) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!CLEAR.test(colour)) return colour;
    }
    return "#fff";
  };
  // Of pixels `step` apart, as hexadecimal digits, two a colour.
  const means = (width, height, columns, rows) => {
    const data = pen.getImageData(0, 0, width, height).data;
    const sums = new Float64Array(3 * columns * rows), counts = new Float64Array(columns * rows);
    const step = Math.ceil(Math.sqrt((width * height) / MOST_READ));
    for (let y = 0; y < height; y += step) {
      const row = Math.floor((y * rows) / height) * columns;
      for (let x = 0; x < width; x += step) {
        const cell = row + Math.floor((x * columns) / width), at = 4 * (y * width + x);
        counts[cell]++;
        sums[3 * cell] += data[at];
        sums[3 * cell + 1] += data[at + 1];
        sums[3 * cell + 2] += data[at + 2];
      }
    }
    return Array.from(sums, (sum, at) => Math.round(sum / counts[Math.floor(at / 3)]).toString(16).padStart(2, "0")).join("");
  };
  // Null of what another origin does not let be read, of nothing, and when the time is over.
  const cells = (source, width, height, columns, rows, how = "", ground = GREY) => {
    if (width < 1 || height < 1 || width * height > LARGEST || left <= 0) return null;
    const began = performance.now();
    board.width = width;
    board.height = height;
    pen.fillStyle = ground;
    pen.fillRect(0, 0, width, height);
    try {
      pen.drawImage(source, 0, 0, width, height);
      return how + columns + "x" + rows + ":" + means(width, height, columns, rows);
    } catch (error) {
      renew();  // what another origin has drawn on can never be read again
      return null;
    } finally {
      left -= performance.now() - began;
    }
  };
  const number = (text) => {
    if (text === null) return null;
    if (!table.has(text)) table.set(text, table.size);
    return table.get(text);
  };
  const fitted = (width, height, largest) => {
    const scale = largest / Math.max(width, height);
    return [width, height].map((side) => Math.max(1, Math.round(side * scale)));
  };
  // Where letters were drawn on a canvas, as letters.js tells: corners of rectangles, or anywhere.
  const lettersOf = (canvas) => {
    let told = "anywhere";
    const hear = (event) => { told = String(event.detail); };
    canvas.addEventListener("pinakes:lettered", hear);
    canvas.dispatchEvent(new CustomEvent("pinakes:letters", { bubbles: true, composed: true }));
    canvas.removeEventListener("pinakes:lettered", hear);
    return told;
  };
  // Texts that a script lays over what it draws, by what they measure.
  const isLabelled = (canvas) => {
    const around = Reflect.get(Node.prototype, "parentElement", canvas);
    if (!around || Reflect.get(Element.prototype, "localName", around) === "body") return false;
    return [...Element.prototype.querySelectorAll.call(around, "*")].slice(0, MOST_LABELS).some((one) =>
      Reflect.get(Node.prototype, "firstChild", one)?.nodeType === 3 && getComputedStyle(one).position === "absolute");
  };
  const ofCanvas = (canvas) => {
    const { width, height } = canvas, [columns, rows] = [width, height].map((side) => Math.min(MOST_OF_CANVAS, Math.ceil(side / SIDE)));
    const told = limits.across ? lettersOf(canvas) : "", isAnywhere = limits.across && (told === "anywhere" || isLabelled(canvas));
    const text = cells(canvas, width, height, columns, rows, isAnywhere ? "~" : "=", groundOf(canvas));
    if (text === null || told === "anywhere" || !(told || isAnywhere)) return text;
    const lettered = new Uint8Array(columns * rows), bounded = (at, most) => Math.max(0, Math.min(most - 1, Math.floor(at)));
    for (const rect of told ? told.split(" ") : []) {
      const [x, y, right, bottom] = rect.split(",").map(Number);
      for (let row = bounded(y * rows / height - 1, rows); row <= bounded(bottom * rows / height + 1, rows); row++)
        for (let column = bounded(x * columns / width - 1, columns); column <= bounded(right * columns / width + 1, columns); column++)
          lettered[row * columns + column] = 1;
    }
    return text + ":" + lettered.join("");
  };
  // A drawing's letters, and what filters blend, are the browser's own; one that cannot be read may
  // have some.
  const OWN = /<(?:\w+:)?(?:text|foreignObject|filter)\b/i;
  const hasOwn = async (url) => {
    try {
      return OWN.test(await (await fetch(url, { cache: "force-cache" })).text());
    } catch (error) {
      return true;
    }
  };
  const isOf = (origin, url) => url.startsWith("data:image") || url.startsWith(origin + "/");
  const known = new Map();
  const ofImage = (image, origin) => {
    if (!known.has(image.currentSrc)) known.set(image.currentSrc, cellsOfImage(image, origin));
    return known.get(image.currentSrc);
  };
  const cellsOfImage = (image, origin) => {
    if (!image.complete || !image.naturalWidth) return null;
    const { naturalWidth: width, naturalHeight: height, currentSrc: url } = image;
    if (/\.svg\b|svg\+xml/.test(url)) return isOf(origin, url) ? cellsOfDrawing(image, url) : null;
    const [columns, rows] = [width, height].map((side) => Math.min(side, Math.max(LEAST, Math.min(MOST, Math.round(side / (2 * SIDE))))));
    if (!limits.across) return cells(image, width, height, columns, rows);
    return turn = turn.then(() => unconverted(image, width, height, columns, rows));
  };
  // One after the other: a copy may be large.
  let turn = Promise.resolve();
  // Colours as they are in the file, since each browser converts another gamma or profile in its own
  // way; and as they are shown, where those differ.
  const unconverted = async (image, ...sizes) => {
    const shown = cells(image, ...sizes);
    if (shown === null) return null;
    const began = performance.now();
    let copy;
    try {
      copy = await createImageBitmap(image, { colorSpaceConversion: "none" });
    } catch (error) {
      return shown;
    } finally {
      left -= performance.now() - began;
    }
    const text = cells(copy, ...sizes);
    copy.close();
    return text === null || text === shown ? text : text + "|" + shown.split(":")[1];
  };
  // A drawing has no pixels of its own: browsers agree on its proportions, and on no size.
  const cellsOfDrawing = async (image, url) => {
    const [width, height] = fitted(image.naturalWidth, image.naturalHeight, DRAWING), how = limits.across && !(await hasOwn(url)) ? "=" : "~";
    return cells(image, width, height, Math.ceil(width / SIDE), Math.ceil(height / SIDE), how);
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const loaded = new Map(), BROKEN = "broken";
  // A picture that the page has loaded for something that is no picture; a page of its own origin
  // alone may read it.
  const ofUrl = (page, origin, url) => {
    if (left <= 0 || !isOf(origin, url)) return null;
    if (!loaded.has(url)) {
      const image = made(page, "img");
      image.src = url;
      loaded.set(url, image.decode().then(() => ofImage(image, origin), () => BROKEN));
    }
    return loaded.get(url);
  };
  // Calls back with the number of all that is shown in one place, once it is known.
  const ofAll = async (shown, tell) => {
    if (shown.every((one) => one === null)) return;
    const texts = await Promise.all(shown);
    if (texts.some((text) => text !== null)) tell(number(texts.map((text) => text ?? "").join(";")));
  };
  // A canvas that is drawn upon just now is not compared.
  const steady = async (canvases) => {
    let last = canvases.map(ofCanvas);
    for (let tries = 0; tries < 10 && last.some((text) => text !== null); tries++) {
      await wait(100);
      const next = canvases.map(ofCanvas);
      if (next.every((text, at) => text === last[at])) break;
      last = next.map((text, at) => (text === last[at] || tries < 9 ? text : null));
    }
    return new Map(canvases.map((canvas, at) => [canvas, last[at]]));
  };
  return { table, number, ofUrl, ofImage, ofAll, steady, wait, within: (promise) => Promise.race([promise, wait(limits.decoding_ms)]) };
}
