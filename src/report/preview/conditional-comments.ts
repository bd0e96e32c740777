/** Conditional comments, by which a message shows content only in Outlook for Windows, or only elsewhere. */

/** The version of Office that the preview stands for: 2016 and later. */
const OFFICE_VERSION = 16;
const MAX_CONDITION = 200;

export type ConditionalComment =
  /** Content inside the comment; `start` is its position in the comment. */
  | { kind: 'hidden'; condition: string; content: string; start: number }
  /** The content follows, until an `end`. */
  | { kind: 'revealed'; condition: string }
  | { kind: 'end' };

/** Reads what is between `<!--` and `-->`, or between `<!` and `>`; null if it is an ordinary comment. */
export function readConditionalComment(comment: string): ConditionalComment | null {
  if (/^(?:<!)?\s*\[endif\]\s*(?:--)?$/i.test(comment.slice(0, 30))) return { kind: 'end' };
  const head = /^\s*\[if\s([^\]]{1,200})\]/i.exec(comment.slice(0, MAX_CONDITION + 20));
  if (!head) return null;
  const condition = head[1]!;
  const start = head[0].length + 1;
  const content = comment.slice(start);
  // `<![if mso]>`, `<!--[if !mso]><!-->`, and a variant of it.
  if (/^\s{0,20}(?:<!(?:--)?\s{0,20})?$/.test(content)) return { kind: 'revealed', condition };
  return { kind: 'hidden', condition, content: content.replace(/<!\[endif\]\s*$/i, ''), start };
}

/** Whether a condition holds in Outlook for Windows: `mso`, `gte mso 9`, `!vml`, `(mso)|(IE)`. */
export function holdsInOutlook(condition: string): boolean {
  const tokens = condition.toLowerCase().match(/[!()&|]|[a-z]+|[\d.]+/g) ?? [];
  let next = 0;
  const or = (): boolean => {
    let value = and();
    while (tokens[next] === '|') {
      next += 1;
      value = and() || value;
    }
    return value;
  };
  const and = (): boolean => {
    let value = not();
    while (tokens[next] === '&') {
      next += 1;
      value = not() && value;
    }
    return value;
  };
  const not = (): boolean => {
    if (tokens[next] === '!') {
      next += 1;
      return !not();
    }
    if (tokens[next] === '(') {
      next += 1;
      const value = or();
      if (tokens[next] === ')') next += 1;
      return value;
    }
    return term();
  };
  const term = (): boolean => {
    const operator = COMPARE[tokens[next] ?? ''];
    if (operator) next += 1;
    const feature = tokens[next++] ?? '';
    const version = /^[\d.]+$/.test(tokens[next] ?? '') ? Number.parseFloat(tokens[next++]!) : null;
    if (feature === 'true' || feature === 'vml') return true;
    if (feature !== 'mso') return false;
    if (version === null) return true;
    return operator ? operator(OFFICE_VERSION, version) : OFFICE_VERSION === version;
  };
  return or();
}

const COMPARE: Record<string, ((a: number, b: number) => boolean) | undefined> = {
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
};
