// Requests in as JSON, answers out: Python and RASP's core, loaded from beside this file.

import "./loading.js";
import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = new URL(".", import.meta.url);
const python = await loadPyodide({ indexURL: new URL("pyodide/", here).href });
const core = await fetch(new URL("rasp.zip", here));
python.unpackArchive(await core.arrayBuffer(), "zip", { extractDir: "/rasp" });
python.runPython("import sys; sys.path.insert(0, '/rasp')");
const answer = python.runPython("from rasp.apps.playground.page_answers import answer_text; answer_text");
onmessage = ({ data }) => postMessage({ answer: answer(data) });
postMessage({ isReady: true });
