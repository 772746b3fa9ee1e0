// The editor's source in, one file for the page out. `scripts/build_web.py` says where and how.
import { build } from "esbuild";

const [target, words] = process.argv.slice(2);
await build({
  entryPoints: [new URL("editor.js", import.meta.url).pathname],
  outfile: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "eof",
  define: { RASP_WORDS: words },
});
