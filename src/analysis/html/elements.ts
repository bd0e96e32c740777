/** The open elements while HTML is read: which end tag closes what (WHATWG HTML §13.2.4 to 13.2.6, in short). */

interface OpenElements<T> {
  /**
   * Opens an element, closing first those that it ends; `html` and `body` are the document itself.
   * False where the tag is one that is ignored.
   */
  open(name: string, make: (parent: T) => T, selfClosing: boolean): boolean;
  close(name: string): void;
  /** What was made for the innermost open element, or for the document. */
  top(): T;
  isOpen(name: string): boolean;
  /** How many elements are open: the place of the next one. */
  depth(): number;
  /** The place of the innermost cell, or other element that tags inside of it do not close; -1 without. */
  scope(): number;
  /** In a table or row, but not in a cell: text there is shown before the table. */
  isBetweenCells(): boolean;
}

interface ElementWatcher {
  /**
   * `scope` is the place of the scope that the element was in. `byEndTag` is false where another
   * tag, or the end of an element around it, ended it.
   */
  closed(name: string, place: number, scope: number, byEndTag: boolean): void;
  /** A row or cell where no table is open, or a table directly in another one. */
  misplaced(name: string): void;
  /** The end tag of a row or cell that is open in an outer table only, or of formatting that is not open. */
  ignoredEnd(name: string): void;
}

const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(
    ' ',
  ),
);
/** Their text stands apart from what is around them. */
export const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol optgroup option p pre section select summary table tbody td textarea tfoot th thead tr ul xmp'.split(
    ' ',
  ),
);
/** Elements whose effect goes on, where a block around them ends first, until their own end tag. */
const FORMATTING = new Set('a b big code em font i nobr s small strike strong tt u'.split(' '));

const DOCUMENT = new Set(['html', 'head', 'body']);
const SCOPES = new Set(['table', 'td', 'th', 'caption', 'button', 'object', 'marquee', 'template']);
const CELLS = ['td', 'th', 'caption'];
const SECTIONS = ['tbody', 'thead', 'tfoot'];
const TABLE_PARTS = new Set([...CELLS, ...SECTIONS, 'tr', 'colgroup', 'col']);
const KEEPS_P = new Set('body html option optgroup select legend textarea caption'.split(' '));
/** What opens ends an open one of these, up to the nearest of the others. */
const SIBLINGS: Record<string, { ends: string[]; within: string[] }> = {
  li: { ends: ['li'], within: ['ul', 'ol', 'menu'] },
  dd: { ends: ['dd', 'dt'], within: ['dl'] },
  dt: { ends: ['dd', 'dt'], within: ['dl'] },
  option: { ends: ['option'], within: ['select'] },
  optgroup: { ends: ['option', 'optgroup'], within: ['select'] },
};

/**
 * Every step takes a time that does not depend on how many elements are open, so that a megabyte of
 * unclosed tags is nothing special.
 */
export function openElements<T>(document: T, watch: ElementWatcher): OpenElements<T> {
  let root = document;
  const names: string[] = [];
  const made: T[] = [];
  // The places of the open elements of each name, of those that are a scope, and of all blocks.
  const places = new Map<string, number[]>();
  const scopes: number[] = [];
  const blocks: number[] = [];
  const last = (name: string) => places.get(name)?.at(-1) ?? -1;
  const lastOf = (list: readonly string[]) => Math.max(-1, ...list.map(last));
  const scope = () => scopes.at(-1) ?? -1;
  const isBetweenCells = () => names[scope()] === 'table';
  const top = () => made.at(-1) ?? root;

  const popTo = (place: number, byEndTag = false) => {
    while (names.length > Math.max(place, 0)) {
      const name = names.pop()!;
      const at = names.length;
      made.pop();
      if (name !== '') places.get(name)!.pop();
      if (scopes.at(-1) === at) scopes.pop();
      if (blocks.at(-1) === at) blocks.pop();
      if (name !== '') watch.closed(name, at, scope(), byEndTag && at === place);
    }
  };
  const push = (name: string, value: T) => {
    const at = names.length;
    const there = places.get(name);
    if (there) there.push(at);
    else places.set(name, [at]);
    if (SCOPES.has(name)) scopes.push(at);
    if (SCOPES.has(name) || BLOCKS.has(name)) blocks.push(at);
    names.push(name);
    made.push(value);
  };
  /** Makes the place for a row, cell or section in the innermost table; false where there is none. */
  const enterTable = (name: string): boolean => {
    const table = last('table');
    if (table < 0) return false;
    const section = Math.max(table, lastOf(SECTIONS));
    const row = Math.max(section, last('tr'));
    const inRow = name === 'td' || name === 'th';
    popTo((inRow ? row : name === 'tr' ? section : table) + 1);
    return true;
  };
  const endImplied = (name: string) => {
    if (BLOCKS.has(name) && !KEEPS_P.has(name) && last('p') > scope()) popTo(last('p'));
    const siblings = SIBLINGS[name];
    const sibling = siblings ? lastOf(siblings.ends) : -1;
    if (siblings && sibling > Math.max(scope(), lastOf(siblings.within))) popTo(sibling);
  };
  const closeTablePart = (name: string) => {
    const table = last('table');
    if (name === 'table' ? table >= 0 : last(name) > table) popTo(last(name), true);
    else if (name !== 'table' && last(name) >= 0) watch.ignoredEnd(name);
  };
  const closeOther = (name: string) => {
    const place = last(name);
    if (place < 0 || place < scope()) {
      if (FORMATTING.has(name)) watch.ignoredEnd(name);
      return;
    }
    const block = blocks.at(-1) ?? -1;
    if (BLOCKS.has(name) || SCOPES.has(name) || place > block) popTo(place, true);
    else if (FORMATTING.has(name)) {
      // The block inside of it stays open.
      names[place] = '';
      places.get(name)!.pop();
      watch.closed(name, place, scope(), true);
    }
  };
  return {
    open(name, make, selfClosing) {
      if (name === 'table' && isBetweenCells()) {
        watch.misplaced(name);
        popTo(last('table'));
      }
      if (!TABLE_PARTS.has(name)) endImplied(name);
      else if (!enterTable(name)) {
        watch.misplaced(name);
        return false;
      }
      if (name === 'a') closeOther(name);
      const value = make(top());
      if (!DOCUMENT.has(name)) {
        if (!VOID.has(name) && !selfClosing) push(name, value);
      } else if (names.length === 0) root = value;
      return true;
    },
    close(name) {
      if (DOCUMENT.has(name)) return;
      if (name === 'table' || TABLE_PARTS.has(name)) closeTablePart(name);
      else closeOther(name);
    },
    top,
    isOpen: (name) => last(name) >= 0,
    depth: () => names.length,
    scope,
    isBetweenCells,
  };
}

// Finds tags that are missing or in the wrong place so that a reader sees something else than was meant.

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
