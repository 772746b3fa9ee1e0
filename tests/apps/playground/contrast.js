// Every visible text in, those whose contrast with what is behind them is below 4.5 out.
() => {
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([red, green, blue]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const [red, green, blue, alpha = 1] = parse(getComputedStyle(one).backgroundColor);
      if (alpha === 1 && getComputedStyle(one).backgroundColor !== "rgba(0, 0, 0, 0)") return [red, green, blue];
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  const poor = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !element.checkVisibility() || element.closest("svg, .idle, #told, #tip, .hidden, script, noscript")) continue;
    seen.add(element);
    const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) poor.push(`${element.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return { checked: seen.size, poor };
}
