// Node.js only: WEBHOOK_SECRET=whsec_… node verify.ts headers.txt < body.json
// Exits with 0 if the delivery is genuine, otherwise with 1.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

type Headers = Record<string, string | undefined>;

/** Expects header names in lower case, and the raw body. */
export function isGenuine(headers: Headers, body: Buffer, secret: string): boolean {
  const timestamp = headers['x-service-timestamp'] ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body);
  const expected = Buffer.from(hmac.digest('hex'));
  const matches = (signature = '') => {
    const given = Buffer.from(signature.replace(/^sha256=/, ''));
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  // After a rotation, the second signature uses the previous secret.
  return (
    matches(headers['x-service-signature']) || matches(headers['x-service-signature-previous'])
  );
}

const headers: Headers = {};
for (const line of readFileSync(process.argv[2]!, 'utf8').split(/\r?\n/)) {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
  if (name) headers[name.toLowerCase()] = value;
}
const secret = process.env.WEBHOOK_SECRET!;
process.exitCode = isGenuine(headers, readFileSync(0), secret) ? 0 : 1;
