// Numbers with words on their rows and columns in, a table out whose cells are tinted by size.

import { make } from "./elements.js";

const NOTHING = 1e-4; // a number of the stream below this is rounding, or a share that is meant to be 0

const short = (number, isStream) => {
  if (!number) return "";
  if (isStream && Math.abs(number) < NOTHING) return "~0";
  const size = Math.abs(number);
  return size >= 1e5 || size < 1e-3 ? number.toExponential(0).replace("e+", "e") : String(Number(number.toPrecision(3)));
};

// Large numbers are so much larger than the others that tints follow their logarithm.
const tint = (cell, number, largest) => {
  if (!number) return;
  const share = Math.log1p(Math.abs(number)) / Math.log1p(largest);
  cell.style.background = `color-mix(in srgb, var(${number > 0 ? "--purple" : "--orange"}) ${Math.round(8 + 34 * share)}%, transparent)`;
};

// `options.onCell(column)` is told which column was clicked; `isUpright` writes columns as they are.
export const numberTable = (rows, columns, numbers, options = {}) => {
  const largest = Math.max(1e-9, ...numbers.flat().map(Math.abs));
  const cell = (number, row, column) => {
    const made = make("td", {
      title: `${rows[row]} × ${columns[column]}: ${number}`, "data-column": column,
      onclick: options.onCell ? () => options.onCell(column) : null,
    }, short(number, options.isUpright));
    if (!options.isUpright || Math.abs(number) >= NOTHING) tint(made, number, largest);
    return made;
  };
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.label },
    make("table", { class: `matrix${options.isUpright ? " upright" : ""}` },
      make("thead", {}, make("tr", {}, make("td", {}), ...columns.map((word) => make("th", { scope: "col", title: word }, make("span", {}, word))))),
      make("tbody", {}, ...numbers.map((line, row) => make("tr", {}, make("th", { scope: "row", title: rows[row] }, rows[row]), ...line.map((number, column) => cell(number, row, column)))))));
};
