/** A message without problems, and variations of it, for tests of checks. */

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
 * The message with fields replaced by name: null omits a field, an array repeats it. The body may be
 * multipart.
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

/** The text with CRLF line endings and one byte per character, for messages that are not UTF-8. */
export const latin1 = (text: string): Buffer =>
  Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
