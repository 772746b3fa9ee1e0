// What is on the page in, a URL fragment that holds it out, and back. Nothing leaves the browser.

const squeeze = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

const toText = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

export const write = async (page) => {
  const bytes = new TextEncoder().encode(JSON.stringify(page));
  const packed = await squeeze(bytes, new CompressionStream("deflate-raw"));
  return `#1.${toText(packed)}`;
};

const LARGEST = 2_000_000;

export const read = async (fragment) => {
  const match = /^#1\.([\w-]+)$/.exec(fragment);
  if (!match || match[1].length > LARGEST) return null;
  try {
    const unpacked = await squeeze(toBytes(match[1]), new DecompressionStream("deflate-raw"));
    if (unpacked.length > LARGEST) return null;
    const page = JSON.parse(new TextDecoder().decode(unpacked));
    return typeof page.program === "string" && typeof page.example === "string" ? page : null;
  } catch {
    return null;
  }
};
