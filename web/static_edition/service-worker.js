// Keeps every file of the playground in the browser: the next visit needs no network.
// VERSION and FILES are written by scripts/build_static.py; another version is another cache.

const VERSION = "__VERSION__";
const FILES = __FILES__;
const PREFIX = `rasp-playground ${registration.scope} `;
const CACHE = PREFIX + VERSION;

const store = async () => {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((name) => new URL(name, registration.scope).href));
  await skipWaiting();
};
const forgetOthers = async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  }
  await clients.claim();
};
const answer = async (request) => {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) || fetch(request);
};

addEventListener("install", (event) => event.waitUntil(store()));
addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(registration.scope)) {
    event.respondWith(answer(event.request));
  }
});
