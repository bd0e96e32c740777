/** Collects what keeps people from reading a message. */

export type ProblemKind =
  | 'language'
  | 'title'
  | 'headings'
  | 'link_text'
  | 'alt'
  | 'table'
  | 'contrast'
  | 'font_size';

export interface AccessibilityProblem {
  kind: ProblemKind;
  /** The first line in the HTML that it concerns. */
  line: number;
  /** The text or address that it concerns, at most 80 characters; may be empty. */
  text: string;
  /** How many places have the same problem. */
  count: number;
  /** A sentence or two. */
  detail: string;
  /** Only for `contrast`. */
  contrast: ContrastProblem | null;
}

export interface ContrastProblem {
  /** `#rrggbb`. */
  color: string;
  background: string;
  ratio: number;
  needed: number;
  /** The nearest color of the text that would pass, and the nearest color of the background. */
  readable: string;
  readableBackground: string;
}

const MAX_PROBLEMS = 100;
const MAX_QUOTE = 80;

/** Collects problems, those with the same key as one. */
export interface ProblemList {
  add(
    problem: Pick<AccessibilityProblem, 'kind' | 'line' | 'text'> & {
      key: string;
      /** The detail for this number of places. */
      detail(count: number): string;
      contrast?: ContrastProblem | null;
    },
  ): void;
  /** All problems by line. `isFull`: there are more. */
  end(): { list: AccessibilityProblem[]; isFull: boolean };
}

export function createProblemList(): ProblemList {
  const byKey = new Map<
    string,
    Omit<AccessibilityProblem, 'detail'> & { detail(count: number): string }
  >();
  let isFull = false;
  return {
    add({ key, text, contrast = null, ...problem }) {
      const existing = byKey.get(key);
      if (existing) existing.count += 1;
      else if (byKey.size < MAX_PROBLEMS)
        byKey.set(key, { ...problem, text: quoteOf(text), count: 1, contrast });
      else isFull = true;
    },
    end() {
      const list = [...byKey.values()]
        .map(({ detail, ...problem }) => ({ ...problem, detail: detail(problem.count) }))
        .sort((a, b) => a.line - b.line);
      return { list, isFull };
    },
  };
}

function quoteOf(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_QUOTE).trim()];
  return characters.length <= MAX_QUOTE
    ? characters.join('')
    : `${characters
        .slice(0, MAX_QUOTE - 1)
        .join('')
        .trimEnd()}…`;
}
