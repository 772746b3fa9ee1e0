// In the worker, before Python: counts the bytes that arrive and tells the page their share.

const here = new URL(".", import.meta.url);
const fetchIt = self.fetch.bind(self);
const sizes = fetchIt(new URL("sizes.json", here)).then((answer) => answer.json());
const READY = 0.9; // the rest is Python starting up
let arrived = 0;
let told = 0;

const count = async (bytes) => {
  arrived += bytes;
  const share = Math.min(READY, (READY * arrived) / (await sizes).total);
  if (share - told < 0.01) return;
  told = share;
  postMessage({ share });
};

self.fetch = async (address, options) => {
  const answer = await fetchIt(address, options);
  if (!answer.ok || !answer.body) return answer;
  const counter = new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counter), { status, statusText, headers });
};
