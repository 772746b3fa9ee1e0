// The editor's source in, one file for the page out, and the licences of what is in it beside it.
// `scripts/build_web.py` says where, and which words are the language's.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const [target, words] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["editor.js"],
  outfile: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  metafile: true,
  define: { RASP_WORDS: words },
});

const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/) || []));
const licences = [...packages].sort().map((place) => {
  const { name, version, license } = JSON.parse(readFileSync(join(here, place, "package.json")));
  const file = join(here, place, "LICENSE");
  return `${name} ${version} (${license})\n\n${existsSync(file) ? readFileSync(file, "utf8") : ""}`;
});
writeFileSync(join(dirname(target), "LICENSES.txt"), licences.join("\n----\n\n"));
