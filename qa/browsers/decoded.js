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
  const LARGEST = 4e6, MOST_READ = 50000;
  const SIDE = 8, LARGEST_CANVAS = 1024, DRAWING = 64;
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
  // Of pixels `step` apart, as hexadecimal digits: two a colour, or one.
  const means = (width, height, columns, rows, isDrawn) => {
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
    return Array.from(sums, (sum, at) => {
      const mean = sum / counts[Math.floor(at / 3)];
      return isDrawn ? Math.round(mean / 17).toString(16) : Math.round(mean).toString(16).padStart(2, "0");
    }).join("");
  };
  // Null of what another origin does not let be read, of nothing, and when the time is over.
  const cells = (source, width, height, columns, rows, isDrawn, ground = GREY) => {
    if (width < 1 || height < 1 || width * height > LARGEST || left <= 0) return null;
    const began = performance.now();
    board.width = width;
    board.height = height;
    pen.fillStyle = ground;
    pen.fillRect(0, 0, width, height);
    try {
      pen.drawImage(source, 0, 0, width, height);
      return (isDrawn ? "~" : "") + columns + "x" + rows + ":" + means(width, height, columns, rows, isDrawn);
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
    const scale = Math.min(1, largest / Math.max(width, height));
    return [width, height].map((side) => Math.max(1, Math.round(side * scale)));
  };
  const ofCanvas = (canvas) => {
    const [width, height] = fitted(canvas.width, canvas.height, LARGEST_CANVAS);
    return cells(canvas, width, height, Math.ceil(width / SIDE), Math.ceil(height / SIDE), true, groundOf(canvas));
  };
  // A drawing has no pixels of its own: browsers agree on its proportions, and on no size.
  const known = new Map();
  const ofImage = (image) => {
    if (!known.has(image.currentSrc)) known.set(image.currentSrc, cellsOfImage(image));
    return known.get(image.currentSrc);
  };
  const cellsOfImage = (image) => {
    if (!image.complete || !image.naturalWidth) return null;
    if (/\.svg\b|svg\+xml/.test(image.currentSrc)) {
      const [width, height] = fitted(DRAWING * image.naturalWidth, DRAWING * image.naturalHeight, DRAWING);
      return cells(image, width, height, Math.min(SIDE, width), Math.min(SIDE, height), true);
    }
    const { naturalWidth: width, naturalHeight: height } = image;
    return cells(image, width, height, Math.min(SIDE, width), Math.min(SIDE, height), false);
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const loaded = new Map(), BROKEN = "broken";
  // A picture that the page has loaded as a background; a page of its own origin alone may read it.
  const ofBackground = (page, origin, list) => {
    const url = /url\("?([^")]*)/.exec(list);
    if (left <= 0 || !url || !(url[1].startsWith("data:image") || url[1].startsWith(origin + "/"))) return null;
    if (!loaded.has(url[1])) {
      const image = made(page, "img");
      image.src = url[1];
      loaded.set(url[1], image.decode().then(() => ofImage(image), () => BROKEN));
    }
    return loaded.get(url[1]);
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
  return { table, number, ofImage, ofBackground, steady, wait, within: (promise) => Promise.race([promise, wait(limits.decoding_ms)]) };
}
