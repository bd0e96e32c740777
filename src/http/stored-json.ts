/** JSON that is stored in the form in which it is answered, passed on without being read. */

const TEXT = Symbol('stored JSON');

/**
 * Stands for the value whose JSON this is, as a field of an answer (not deeper). Only for text that
 * has the declared form already: it is not cut again (tests hold the two against each other).
 */
export function storedJson<T>(text: string): T {
  return { [TEXT]: text } as T;
}

/** `JSON.stringify` of an answer, the text of its stored fields put in as it is, after the others. */
export function toJson(answer: unknown): string {
  const fields = Object.entries(answer as object).filter(
    ([, value]) => textOf(value) !== undefined,
  );
  if (fields.length === 0) return JSON.stringify(answer);
  const others = { ...(answer as Record<string, unknown>) };
  for (const [name] of fields) delete others[name];
  const rest = JSON.stringify(others).slice(0, -1);
  const stored = fields
    .map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`)
    .join(',');
  return `${rest}${rest === '{' ? '' : ','}${stored}}`;
}

function textOf(value: unknown): string | undefined {
  return (value as { [TEXT]?: string } | null)?.[TEXT];
}
