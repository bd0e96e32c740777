/** Tracks open HTML elements and which tags close them (simplified from WHATWG HTML §13.2.4 to 13.2.6). */

interface OpenElements<T> {
  /**
   * Opens an element after closing those that it ends. `html` and `body` represent the document.
   * Returns false if the tag is ignored.
   */
  open(name: string, make: (parent: T) => T, selfClosing: boolean): boolean;
  close(name: string): void;
  /** The value for the innermost open element, or for the document. */
  top(): T;
  isOpen(name: string): boolean;
  /** The number of open elements, which is the position of the next one. */
  depth(): number;
  /** The position of the innermost cell or other element that tags inside it cannot close; -1 if none. */
  scope(): number;
  /** In a table or row but not in a cell. Text there appears above the table. */
  isBetweenCells(): boolean;
}

interface ElementWatcher {
  /**
   * `scope` is the position of the scope that the element was in. `byEndTag` is false if another tag or
   * the end of an outer element closed it.
   */
  closed(name: string, position: number, scope: number, byEndTag: boolean): void;
  /** A row or cell outside a table, or a table directly in another table. */
  misplaced(name: string): void;
  /** The end tag of a row or cell that is only open in an outer table, or of formatting that is not open. */
  ignoredEnd(name: string): void;
}

/** Elements without content or an end tag. */
export const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(
    ' ',
  ),
);
/** Elements whose text is separate from the text around them. */
export const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol optgroup option p pre section select summary table tbody td textarea tfoot th thead tr ul xmp'.split(
    ' ',
  ),
);
/** Elements whose effect continues until their end tag, even if a block around them ends first. */
const FORMATTING = new Set('a b big code em font i nobr s small strike strong tt u'.split(' '));

const DOCUMENT = new Set(['html', 'head', 'body']);
const SCOPES = new Set(['table', 'td', 'th', 'caption', 'button', 'object', 'marquee', 'template']);
const CELLS = ['td', 'th', 'caption'];
const SECTIONS = ['tbody', 'thead', 'tfoot'];
const TABLE_PARTS = new Set([...CELLS, ...SECTIONS, 'tr', 'colgroup', 'col']);
const KEEPS_P = new Set('body html option optgroup select legend textarea caption'.split(' '));
/** A start tag closes an open element in `ends`, unless one in `within` is between them. */
const SIBLINGS: Record<string, { ends: string[]; within: string[] }> = {
  li: { ends: ['li'], within: ['ul', 'ol', 'menu'] },
  dd: { ends: ['dd', 'dt'], within: ['dl'] },
  dt: { ends: ['dd', 'dt'], within: ['dl'] },
  option: { ends: ['option'], within: ['select'] },
  optgroup: { ends: ['option', 'optgroup'], within: ['select'] },
};

/**
 * The time of each step does not depend on the number of open elements, so a megabyte of unclosed tags
 * is not slow.
 */
export function openElements<T>(document: T, watch: ElementWatcher): OpenElements<T> {
  let root = document;
  const names: string[] = [];
  const values: T[] = [];
  // The positions of the open elements of each name, of those that are a scope, and of all blocks.
  const positions = new Map<string, number[]>();
  const scopes: number[] = [];
  const blocks: number[] = [];
  const last = (name: string) => positions.get(name)?.at(-1) ?? -1;
  const lastOf = (list: readonly string[]) => Math.max(-1, ...list.map(last));
  const scope = () => scopes.at(-1) ?? -1;
  const isBetweenCells = () => names[scope()] === 'table';
  const top = () => values.at(-1) ?? root;

  const popTo = (target: number, byEndTag = false) => {
    while (names.length > Math.max(target, 0)) {
      const name = names.pop()!;
      const position = names.length;
      values.pop();
      if (name !== '') positions.get(name)!.pop();
      if (scopes.at(-1) === position) scopes.pop();
      if (blocks.at(-1) === position) blocks.pop();
      if (name !== '') watch.closed(name, position, scope(), byEndTag && position === target);
    }
  };
  const push = (name: string, value: T) => {
    const position = names.length;
    const ofName = positions.get(name);
    if (ofName) ofName.push(position);
    else positions.set(name, [position]);
    if (SCOPES.has(name)) scopes.push(position);
    if (SCOPES.has(name) || BLOCKS.has(name)) blocks.push(position);
    names.push(name);
    values.push(value);
  };
  /** Closes elements so that a row, cell or section can open in the innermost table; false without one. */
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
    const position = last(name);
    if (position < 0 || position < scope()) {
      if (FORMATTING.has(name)) watch.ignoredEnd(name);
      return;
    }
    const block = blocks.at(-1) ?? -1;
    if (BLOCKS.has(name) || SCOPES.has(name) || position > block) popTo(position, true);
    else if (FORMATTING.has(name)) {
      // The block inside it stays open.
      names[position] = '';
      positions.get(name)!.pop();
      watch.closed(name, position, scope(), true);
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

// Finds missing or misplaced tags that change what readers see.

export interface StructureWatch extends ElementWatcher {
  /** Visible text or a visible image in the cell at `scope`; `misplaced` describes it if it is between cells. */
  visibleContent(scope: number, misplaced: string | null): void;
  linkUnclosed(text: string): void;
  linkInLink(text: string): void;
  broken(sentence: string): void;
  /** The problems as sentences, each once. `openTable`: whether a table is open at the end of the HTML. */
  problems(openTable: boolean): string[];
}

/** One mistake at the start of a message can cause many sentences. */
const MAX_PROBLEMS = 100;

/** Formatting that visibly continues if it is not closed. */
const CONTINUING: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underlined',
  s: 'struck through',
  strike: 'struck through',
};

export function createStructureWatch(): StructureWatch {
  const sentences = new Set<string>();
  const report = (sentence: string) => {
    if (sentences.size < MAX_PROBLEMS) sentences.add(sentence);
  };
  // Formatting that was open at the end of a block, its cell, and whether text followed.
  const unclosed = new Map<string, { scope: number; textFollowed: boolean }>();
  const reportUnclosed = (position: number) => {
    for (const [name, { scope, textFollowed }] of unclosed) {
      if (scope < position) continue;
      if (textFollowed)
        report(`<${name}> is never closed, so the text after it is ${CONTINUING[name]} too.`);
      unclosed.delete(name);
    }
  };
  let endsOfOuterTables = 0;
  return {
    closed(name, position, scope, byEndTag) {
      if (!byEndTag && Object.hasOwn(CONTINUING, name))
        unclosed.set(name, { scope, textFollowed: false });
      if (name === 'td' || name === 'th') reportUnclosed(position);
    },
    misplaced(name) {
      report(
        name === 'table'
          ? 'A table starts inside another table but not inside a cell, so the outer table ends there.'
          : `The tag <${name}> is outside a table, so it is ignored.`,
      );
    },
    ignoredEnd(name) {
      if (BLOCKS.has(name)) endsOfOuterTables += 1;
      else unclosed.delete(name);
    },
    visibleContent(scope, misplaced) {
      if (misplaced !== null)
        report(
          `${misplaced} is inside a table but not inside a cell, so it appears above the table.`,
        );
      for (const state of unclosed.values()) if (state.scope === scope) state.textFollowed = true;
    },
    linkUnclosed: (text) => report(`The link ${text} is never closed.`),
    linkInLink: (text) => report(`The link ${text} is not closed before the next link starts.`),
    broken: report,
    problems(openTable) {
      reportUnclosed(-1);
      if (openTable && endsOfOuterTables > 0)
        report('A table is never closed, so everything after it becomes part of it.');
      return [...sentences];
    },
  };
}
