/** Tables of data in a template: a line for each row, with `|` between the cells. Empty cells at the end can be missing. */

export const table = ({ raw: [text = ''] }: TemplateStringsArray): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
