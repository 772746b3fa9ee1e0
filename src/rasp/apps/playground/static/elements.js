// Names, attributes and children in, elements out: the page is built with these few calls.

const SVG = "http://www.w3.org/2000/svg";

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
};

export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const find = (id) => document.getElementById(id);

// Words between backticks become code, as in the language's own messages.
export const prose = (text) =>
  text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));

// Make what is on the page equal to what should be there, touching only what differs.
export const morph = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  const isAlike = ["TABLE", "THEAD", "TBODY", "TR"].includes(old.nodeName) && old.nodeName === fresh.nodeName && old.className === fresh.className;
  if (!isAlike) {
    old.replaceWith(fresh);
    return;
  }
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  const olds = [...old.childNodes];
  const news = [...fresh.childNodes];
  news.forEach((node, at) => (at < olds.length ? morph(olds[at], node) : old.append(node)));
  olds.slice(news.length).forEach((node) => node.remove());
};

export const tell = (text) => {
  const told = find("told");
  told.textContent = text;
  told.classList.add("shown");
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => told.classList.remove("shown"), 2600);
};

export const save = (name, content, type) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

export const complaint = (error) =>
  make("div", { class: "complaint", role: "alert" },
    make("p", {}, prose(error.message)),
    error.hint ? make("p", { class: "hint" }, "hint: ", prose(error.hint)) : null);

export const tip = {
  show(lines, x, y) {
    const box = find("tip");
    box.textContent = lines.join("\n");
    box.hidden = false;
    const size = box.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - size.width - 8))}px`;
    const below = y + 18 + size.height < innerHeight;
    box.style.top = `${below ? y + 18 : Math.max(8, y - size.height - 12)}px`;
  },
  hide() { find("tip").hidden = true; },
};
