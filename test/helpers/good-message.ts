/** A message without fault, and the same with one thing changed: what the tables of check tests are made of. */

export const GOOD_FIELDS: Record<string, string> = {
  From: 'Example Ltd <news@example.com>',
  To: 'Reader <reader@example.net>',
  Subject: 'Your order has shipped',
  Date: 'Sat, 21 Nov 2026 09:59:58 +0000',
  'Message-ID': '<20261121.1@example.com>',
  'MIME-Version': '1.0',
  'Content-Type': 'text/plain; charset=utf-8',
};

/**
 * Fields replaced by name; null leaves one out; an array writes it as often as it has values. The
 * body may have parts of its own.
 */
export function goodMessage(
  changes: Record<string, string | string[] | null> = {},
  body = 'Hello, your order is on its way.\n',
): string {
  const lines = Object.entries({ ...GOOD_FIELDS, ...changes }).flatMap(([name, value]) =>
    (value === null ? [] : [value].flat()).map((text) => `${name}: ${text}`),
  );
  return `${lines.join('\n')}\n\n${body}`;
}

/** The same with LF made CRLF and one octet for each character, for what is not UTF-8. */
export const latin1 = (text: string): Buffer =>
  Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
