// Names, cells and the width of the pane in, the columns of the Values sheet out: every table and
// grid in it has the same ones, so that a key is below its token.

const LETTER = 7.9; // pixels of a letter in a cell
const NARROWEST = 20; // two digits of a position; three need a little more
const WIDEST = 96;

export const columnsFor = (pane, names, cells, count) => {
  const isNarrow = pane < 560;
  const longest = Math.max(0, ...names.map((name) => name.length));
  const label = Math.round(Math.max(76, Math.min(isNarrow ? 118 : 210, longest * 8 + 16)));
  const type = isNarrow ? 0 : 62;
  const needed = Math.max(count > 100 ? 25 : NARROWEST, Math.min(110, cells.reduce((most, text) => Math.max(most, text.length), 1) * LETTER + 7));
  const room = (pane - label - type - 2) / Math.max(1, count);
  return { label, type, column: Math.floor(Math.max(needed, Math.min(WIDEST, room))) };
};
