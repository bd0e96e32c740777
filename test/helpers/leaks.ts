/** Finds secrets in what a service writes. */

/** A secret in plain and encoded forms. */
const writings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

/** The names of the secrets that a text contains. */
export function leaksIn(text: Buffer | string, secrets: Map<string, string>): string[] {
  return [...secrets].flatMap(([name, secret]) =>
    writings(secret).some((writing) => text.includes(writing)) ? [name] : [],
  );
}
