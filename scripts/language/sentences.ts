/** Sentences of a text and their length in words. */

/** Ends of sentences; an abbreviation, a number or a host name does not end one. */
const END = /(?<!\b(?:e\.g|i\.e|etc|vs|No))[.!?:;]["')”’]?\s+(?=["'(“‘{`]?[\p{Lu}\d{`])|\n{2,}/u;

/** A word has a letter or a digit; what is filled in counts as one. */
const WORD = /\{[^}]*\}|[\p{L}\p{N}][\p{L}\p{N}'’.@/_-]*/gu;

export interface Sentence {
  text: string;
  words: number;
}

export function sentencesOf(text: string): Sentence[] {
  return text
    .split(END)
    .filter((sentence) => sentence !== undefined && sentence.trim() !== '')
    .map((sentence) => ({
      text: sentence.trim(),
      words: sentence.match(WORD)?.length ?? 0,
    }));
}

/** The paragraphs, list items and cells of a Markdown document, without code, markup and addresses. */
export function proseOf(markdown: string): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  let paragraph: { line: number; text: string } | null = null;
  let isCode = false;
  const close = () => {
    if (paragraph) found.push(paragraph);
    paragraph = null;
  };
  markdown.split('\n').forEach((line, index) => {
    if (/^\s*```/.test(line)) {
      isCode = !isCode;
      close();
    } else if (isCode) return;
    else if (/^\s*(?:$|#|<!--|<)/.test(line)) {
      close();
      if (/^#/.test(line)) found.push({ line: index + 1, text: plain(line) });
    } else if (/^\s*\|/.test(line)) {
      close();
      for (const cell of line.split('|')) found.push({ line: index + 1, text: plain(cell) });
    } else {
      if (/^\s*(?:[-*]|\d+\.) /.test(line)) close();
      if (paragraph) paragraph.text += ` ${plain(line)}`;
      else paragraph = { line: index + 1, text: plain(line) };
    }
  });
  close();
  return found.filter(({ text }) => /\p{L}/u.test(text));
}

function plain(markdown: string): string {
  return markdown
    .replace(/^\s*(?:#+|[-*]|\d+\.|>) /, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, '{code}')
    .replace(/[*_]{1,2}([^*_]+)[*_]{1,2}/g, '$1')
    .trim();
}
