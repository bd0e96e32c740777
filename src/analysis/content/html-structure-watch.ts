/** Finds tags that are missing or in the wrong place so that a reader sees something else than was meant. */

import { BLOCKS, type ElementWatcher } from './html-elements.ts';

export interface StructureWatch extends ElementWatcher {
  /** Something that a reader sees: text, or an image; `scope` is the place of the cell that it is in. */
  shown(what: string, scope: number, betweenCells: boolean): void;
  linkUnclosed(text: string): void;
  linkInLink(text: string): void;
  broken(sentence: string): void;
  /** Sentences, each once; `openTable`: whether a table is open at the end of the HTML. */
  problems(openTable: boolean): string[];
}

/** Sentences told; one mistake at the start of a message can cause many. */
const MAX_PROBLEMS = 100;

/** Formatting that changes what a reader sees where it goes on. */
const GOING_ON: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underlined',
  s: 'struck through',
  strike: 'struck through',
};

export function watchStructure(): StructureWatch {
  const sentences = new Set<string>();
  const tell = (sentence: string) => {
    if (sentences.size < MAX_PROBLEMS) sentences.add(sentence);
  };
  // Formatting that the end of a block left open, in which cell, and whether text came since.
  const left = new Map<string, { scope: number; shown: boolean }>();
  const settle = (place: number) => {
    for (const [name, { scope, shown }] of left) {
      if (scope < place) continue;
      if (shown) tell(`<${name}> is never closed: what follows is ${GOING_ON[name]} too.`);
      left.delete(name);
    }
  };
  let endsOfOuterTables = 0;
  return {
    closed(name, place, scope, byEndTag) {
      if (!byEndTag && Object.hasOwn(GOING_ON, name)) left.set(name, { scope, shown: false });
      if (name === 'td' || name === 'th') settle(place);
    },
    misplaced(name) {
      tell(
        name === 'table'
          ? 'A table begins in another one, but not in one of its cells: the outer one ends there.'
          : `The tag <${name}> stands where no table is open: it is ignored.`,
      );
    },
    ignoredEnd(name) {
      if (BLOCKS.has(name)) endsOfOuterTables += 1;
      else left.delete(name);
    },
    shown(what, scope, betweenCells) {
      if (betweenCells)
        tell(`${what} stands in a table but in none of its cells: it is shown above the table.`);
      for (const state of left.values()) if (state.scope === scope) state.shown = true;
    },
    linkUnclosed: (text) => tell(`The link ${text} is never closed.`),
    linkInLink: (text) => tell(`The link ${text} is not closed before the next one begins.`),
    broken: tell,
    problems(openTable) {
      settle(-1);
      if (openTable && endsOfOuterTables > 0)
        tell('A table is never closed: what follows it becomes a part of it.');
      return [...sentences];
    },
  };
}
