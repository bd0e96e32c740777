// With npm install standardwebhooks: WEBHOOK_SECRET=whsec_… node verify-standard.ts headers.txt < body.json
// Exits with 0 if the delivery is genuine, otherwise with 1.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const headers: Record<string, string> = {};
for (const line of readFileSync(process.argv[2]!, 'utf8').split(/\r?\n/)) {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
  if (name && value !== undefined) headers[name] = value;
}
try {
  // Returns the event. Throws if the signature is invalid or older than five minutes.
  new Webhook(process.env.WEBHOOK_SECRET!).verify(readFileSync(0), headers);
} catch {
  process.exitCode = 1;
}
