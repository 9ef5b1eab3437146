// What Browsertrix Crawler leaves of a site of three pages, by its own writer, warcio.js:
//   node browsertrix_writer.mjs WARCIO-FOLDER SITE run -v HERE:/crawls IMAGE crawl --url URL --collection NAME
import { createWriteStream, mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [warcio, site, ...options] = process.argv.slice(2);
const { WARCRecord, WARCSerializer } = await import(pathToFileURL(`${warcio}/dist/index.js`));
const after = (option) => options[options.indexOf(option) + 1];
if (after("--url") !== site) throw new Error(`not asked for ${site}`);

const folder = `${after("-v").split(":")[0]}/collections/${after("--collection")}/archive`;
mkdirSync(folder, { recursive: true });
const file = createWriteStream(`${folder}/rec-0.warc.gz`);
for (const page of ["", "one.html", "gone.html"]) {
  const response = await fetch(site + page);
  const body = new Uint8Array(await response.arrayBuffer());
  const record = WARCRecord.create(
    {
      url: site + page,
      date: new Date().toISOString(),
      type: "response",
      warcVersion: "WARC/1.1",
      statusline: `HTTP/1.1 ${response.status} ${response.statusText}`,
      httpHeaders: Object.fromEntries(response.headers),
    },
    (async function* () {
      yield body;
    })(),
  );
  for await (const piece of new WARCSerializer(await record, { gzip: true })) file.write(piece);
}
await new Promise((resolve) => file.end(resolve));
