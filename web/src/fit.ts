// What fits on a figure: texts measured and shortened, and which of many labels there is room for.

const context = document.createElement("canvas").getContext("2d");
const longWord = 18; // letters
let family = "";

/** Width in pixels of a text in the page's font. */
export function textWidth(text: string, size: number): number {
  if (context === null) return text.length * size * 0.6;
  family ||= getComputedStyle(document.body).fontFamily;
  context.font = `${size}px ${family}`;
  return context.measureText(text).width;
}

/** As much of a text as fits. Long words lose their middle, since names of columns often differ only at the end. */
export function shortened(text: string, width: number, size = 12): string {
  if (textWidth(text, size) <= width) return text;
  if (!text.includes(" ")) return withoutMiddle(text, width, size);
  const words = text
    .split(" ")
    .map((word) => ([...word].length > longWord ? withoutMiddle(word, longWord * size * 0.55, size) : word));
  const letters = [...words.join(" ")];
  const fits = (count: number) => textWidth(`${letters.slice(0, count).join("").trimEnd()}…`, size) <= width;
  if (textWidth(letters.join(""), size) <= width) return letters.join("");
  return `${letters.slice(0, largest(letters.length, fits)).join("").trimEnd()}…`;
}

function withoutMiddle(word: string, width: number, size: number): string {
  const letters = [...word];
  const cut = (count: number) =>
    `${letters.slice(0, Math.ceil(count / 2)).join("")}…${letters.slice(letters.length - Math.floor(count / 2)).join("")}`;
  return cut(largest(letters.length - 1, (count) => textWidth(cut(count), size) <= width));
}

/** The largest number up to `most` for which it is true; 1 if there is none. */
function largest(most: number, isTrue: (count: number) => boolean): number {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isTrue(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The text in at most this many lines, broken between words; the last one is shortened. */
export function wrapped(text: string, width: number, most: number, size = 12): string[] {
  const lines = [""];
  for (const whole of text.split(" ")) {
    const word = textWidth(whole, size) <= width ? whole : withoutMiddle(whole, width, size);
    const last = lines[lines.length - 1];
    if (last === "" || lines.length === most || textWidth(`${last} ${word}`, size) <= width)
      lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => shortened(line, width, size));
}

/** Every how many-th of labels at this distance has room for its own. */
export function thinning(distance: number, room: number): number {
  return Math.max(1, Math.ceil(room / Math.max(distance, 1e-6)));
}
