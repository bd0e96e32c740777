/** Loads test/fixtures/originals: one message as providers and mail servers save it, and what each original says. */

import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuthResult } from '../../src/analysis/auth-results.ts';
import type { Zone } from '../../src/net/dns/zone.ts';

const FOLDER = fileURLToPath(new URL('../fixtures/originals', import.meta.url));

/** What the last receiver wrote. `any` stands for a value that the original leaves open. */
export interface ReceiptAnswer {
  provider: string | null;
  /** Null if the server has no public name. */
  by: string | null;
  /** The earliest and latest stamp of the receiver. */
  at: [string, string];
  client_ip: string;
  helo: string;
  /** The version; `used` if the field does not name it, null without TLS. */
  tls: string | null;
  mail_from: string;
  results: Partial<Record<'spf' | 'dkim' | 'dmarc', AuthResult>> | 'any' | null;
  /** How many fields the receiver added above those of the sender, and below them; `but`: names of the sender's among them. */
  added: { first: number; last: number; but?: string[] };
}

export interface Original {
  note: string;
  /** Null if the original does not show who received the message. */
  receipt: ReceiptAnswer | null;
  path: string;
  raw: Buffer;
}

export const ORIGINALS = globSync(`${FOLDER}/*.eml`)
  .map((path) => basename(path, '.eml'))
  .sort();

export function loadOriginal(name: string): Original {
  const path = `${FOLDER}/${name}.eml`;
  const answer = JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'));
  const raw = Buffer.from(readFileSync(path, 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
  return { ...answer, path, raw };
}

/** The records of the sender. */
export const originalsZone = (): Zone => JSON.parse(readFileSync(`${FOLDER}/zone.json`, 'utf8'));
