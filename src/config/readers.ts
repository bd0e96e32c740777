/** How the text of each kind of variable is read; what is wrong with it is thrown as a plain sentence. */

import { createPrivateKey } from 'node:crypto';
import { resolve } from 'node:path';
import { type DnsServer, type Network, parseDnsServers, parseNetwork } from '../lib/addresses.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { parseDuration, parseSize } from '../lib/durations.ts';

/** `+zone` or `-zone`. */
export interface ListChange {
  on: boolean;
  zone: string;
}

/** Characters of a password (NIST SP 800-63B asks for 8 at least, and to take long ones). */
export const MIN_PASSWORD = 10;
export const MAX_PASSWORD = 200;

/** A value read from text; what is wrong with it is thrown as a plain sentence. */
export type Read<T> = (text: string) => T;

export const text: Read<string> = (value) => value;
export const optional: Read<string | null> = (value) => value || null;
export const port: Read<number> = (value) => {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65535)
    throw new Error('takes a port number from 0 to 65535');
  return Number(value);
};
export const url: Read<string> = (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.search || parsed.hash)
    throw new Error('takes an address such as https://mail.example.com');
  return parsed.href.replace(/\/$/, '');
};
export const domain: Read<string> = (value) => {
  const name = normalizeDomain(value);
  if (!name) throw new Error('takes a domain name such as test.example.com');
  return name;
};
export const networks: Read<Network[]> = (value) =>
  list(value).map((item) => {
    try {
      return parseNetwork(item);
    } catch {
      throw new Error('takes networks such as 10.0.0.0/8, separated by commas');
    }
  });
export const oneOf =
  <T extends string>(...choices: T[]): Read<T> =>
  (value) => {
    if (!(choices as string[]).includes(value))
      throw new Error(`takes one of ${choices.join(', ')}`);
    return value as T;
  };
// A hundred years: much more, and the time that lies as long ago could not be written.
const MAX_DURATION_MS = 36_500 * 86_400_000;
export const duration: Read<number> = (value) => {
  const ms = parseDuration(value);
  if (ms === null || ms > MAX_DURATION_MS)
    throw new Error('takes a duration such as 30s, 15m, 2h or 90d, up to 36500d');
  return ms;
};
/** The six attempts of a delivery take more than ten hours: until then its event must be there. */
export const eventRetention: Read<number> = (value) => {
  const ms = duration(value);
  if (ms > 0 && ms < 86_400_000) throw new Error('takes 0, or a duration of a day or more');
  return ms;
};
export const size: Read<number> = (value) => {
  const bytes = parseSize(value);
  if (!bytes || bytes > 1024 ** 3)
    throw new Error('takes a size such as 64KiB or 25MiB, up to 1GiB');
  return bytes;
};
export const MAX_WORKERS = 128;
export const workers: Read<number> = (value) => {
  if (!/^\d{1,3}$/.test(value) || Number(value) < 1 || Number(value) > MAX_WORKERS)
    throw new Error(`takes a whole number from 1 to ${MAX_WORKERS}`);
  return Number(value);
};
export const database: Read<string> = (value) => {
  const path = /^sqlite:(.+)$/.exec(value)?.[1];
  if (!path) throw new Error('takes sqlite: and the path of a file');
  return path === ':memory:' ? path : resolve(path);
};
export const servers: Read<DnsServer[] | null> = (value) => {
  if (value === '') return null;
  const parsed = parseDnsServers(value);
  if (!parsed)
    throw new Error('takes addresses such as 127.0.0.1:5353 or [::1]:53, separated by commas');
  return parsed;
};
export const email: Read<string | null> = (value) => {
  if (value !== '' && !/^[^\s@]+@[^\s@]+$/.test(value)) throw new Error('takes an e-mail address');
  return value || null;
};

export const yesNo: Read<boolean> = (value) => {
  if (!['true', 'false'].includes(value)) throw new Error('takes true or false');
  return value === 'true';
};
export const listChanges: Read<ListChange[]> = (value) =>
  list(value).map((item) => {
    const [, sign, name] = /^([+-])(\S+)$/.exec(item) ?? [];
    const zone = name === undefined ? null : normalizeDomain(name);
    if (!zone) throw new Error('takes +zone and -zone, separated by commas');
    return { on: sign === '+', zone };
  });
export const dqsKey: Read<string | null> = (value) => {
  if (value !== '' && !/^[a-z0-9]{8,63}$/i.test(value))
    throw new Error('takes the key of letters and digits that Spamhaus gave you');
  return value.toLowerCase() || null;
};
/** An address of a server on the operator's own network: scheme, host, port and nothing else. */
export const engine =
  (scheme: 'tcp' | 'http', example: string): Read<string | null> =>
  (value) => {
    if (value === '') return null;
    const parsed = URL.canParse(value) ? new URL(value) : null;
    const plain = parsed && !parsed.username && !parsed.search && !parsed.hash;
    if (
      !plain ||
      parsed.protocol !== `${scheme}:` ||
      !parsed.hostname ||
      !/^\/?$/.test(parsed.pathname)
    )
      throw new Error(`takes an address such as ${example}`);
    if (scheme === 'tcp' && !parsed.port) throw new Error(`takes an address such as ${example}`);
    return `${parsed.protocol}//${parsed.host}`;
  };

/** Where outgoing mail goes: `smtp://user:password@host:587`, `smtps://…`. */
export const mailUrl: Read<string | null> = (value) => {
  if (value === '') return null;
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (
    !parsed ||
    !['smtp:', 'smtps:'].includes(parsed.protocol) ||
    !parsed.hostname ||
    parsed.search
  )
    throw new Error('takes an address such as smtp://user:password@mail.example.com:587');
  return value;
};
/** `Name <address>` or an address alone. */
export const mailbox: Read<string | null> = (value) => {
  if (
    value !== '' &&
    !/^(?:[^<>"\r\n]{0,100}<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(value)
  )
    throw new Error('takes an address such as Deliverability <no-reply@example.com>');
  return value || null;
};
export const optionalDomain: Read<string | null> = (value) => (value === '' ? null : domain(value));
/** Of an OpenID Connect provider: by https, but on this machine, where nobody listens on the way. */
export const issuer: Read<string | null> = (value) => {
  if (value === '') return null;
  const address = url(value);
  const { protocol, hostname } = new URL(address);
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
  if (protocol !== 'https:' && !isLoopback)
    throw new Error('takes an address by https, or by http on loopback (for development)');
  return address;
};
/** Whoever has it can post there: nothing of it is in the error. */
export const slackUrl: Read<string | null> = (value) => {
  if (value === '') return null;
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (parsed?.protocol !== 'https:' || parsed.username || parsed.password || parsed.hash)
    throw new Error('takes an address such as https://hooks.slack.com/services/T000/B000/XXXX');
  return parsed.href;
};
export const privateKey: Read<string | null> = (value) => {
  if (value === '') return null;
  // An environment variable often has its line ends written out.
  const pem = value.replaceAll('\\n', '\n');
  try {
    createPrivateKey(pem);
  } catch {
    throw new Error('takes a private key in PEM');
  }
  return pem;
};
export const secretKey: Read<string | null> = (value) => {
  if (value === '') return null;
  const counted = value.trim();
  if (counted.length < 32) throw new Error('takes at least 32 characters');
  if (/^(.)\1*$/su.test(counted)) throw new Error('takes more than one character repeated');
  // As it was given: whoever has one with a space at an end has encrypted by that.
  return value;
};
export const password: Read<string | null> = (value) => {
  if (value !== '' && (value.length < MIN_PASSWORD || value.length > MAX_PASSWORD))
    throw new Error(`takes ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`);
  return value || null;
};

export interface Rate {
  requests: number;
  seconds: number;
}

/** `600/min`; `0` for no limit, as null. */
export const rate: Read<Rate | null> = (value) => {
  if (value === '0') return null;
  const [, count, unit] = /^(\d{1,7})\/(s|min|h)$/.exec(value) ?? [];
  if (!count || Number(count) < 1) throw new Error('takes a rate such as 600/min, or 0 for none');
  return { requests: Number(count), seconds: { s: 1, min: 60, h: 3600 }[unit as 's'] };
};

function list(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}
