// What is on the page in, a URL fragment that holds it out, and back. Nothing leaves the browser.

const LARGEST = 2_000_000;

// Stops as soon as there is more than a page may hold: a short link can inflate to any size.
const squeeze = async (bytes, stream) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    size += value.length;
    if (size > LARGEST) {
      await reader.cancel();
      throw new RangeError("this holds more than a page");
    }
    parts.push(value);
  }
};

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

export const read = async (fragment) => {
  const match = /^#1\.([\w-]+)$/.exec(fragment);
  if (!match || match[1].length > LARGEST) return null;
  try {
    const unpacked = await squeeze(toBytes(match[1]), new DecompressionStream("deflate-raw"));
    const page = JSON.parse(new TextDecoder().decode(unpacked));
    return typeof page.program === "string" && typeof page.example === "string" ? page : null;
  } catch {
    return null;
  }
};
