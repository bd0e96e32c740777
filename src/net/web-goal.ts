/** What a web address asks for, and which web addresses are not asked at all. */

import { isIP } from 'node:net';
import type { Goal } from './guarded-connection.ts';

/** Longer than any that a browser or server would take in practice. */
const LONGEST_URL = 8192;

// The web's own ports and those that anybody may listen on, less what the Fetch standard blocks
// because other protocols live there (§2.9, "port blocking").
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);

export interface WebGoal extends Goal {
  /** As the Host field says it, with the port where it is not the usual one. */
  authority: string;
  /** Path and query. */
  path: string;
}

/** The goal, or as half a sentence why the address is not asked. */
export function readWebGoal(text: string): WebGoal | string {
  if (text.length > LONGEST_URL) return 'the address is too long';
  if (!URL.canParse(text)) return 'the address cannot be read';
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') return 'the address is neither http nor https';
  // Whether it works would depend on credentials, and those are not ours to send.
  if (url.username !== '' || url.password !== '') return 'the address has a user name in it';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (!isWebPort(port)) return 'the port is not one of the web';
  return {
    // The parser has made every spelling of an address one (octal, hexadecimal, shortened).
    host: bareHost(url.hostname),
    port,
    secure,
    authority: url.host,
    path: url.pathname + url.search,
  };
}

function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !BLOCKED_PORTS.has(port));
}

function bareHost(hostname: string): string {
  const inner = hostname.replace(/^\[|\]$/g, '');
  return isIP(inner) === 0 ? hostname.replace(/\.$/, '') : inner;
}
