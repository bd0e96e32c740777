/** Parsers for each kind of variable; they throw an Error that says what is expected. */

import { createPrivateKey } from 'node:crypto';
import { resolve } from 'node:path';
import { type DnsServer, type Network, parseDnsServers, parseNetwork } from '../lib/addresses.ts';
import { isPostgresUrl } from '../lib/database-url.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { DAY_MS, HOUR_MS, parseDuration, parseSize } from '../lib/durations.ts';

/** `+zone` or `-zone`. */
export interface ListChange {
  enabled: boolean;
  zone: string;
}

/** In characters. NIST SP 800-63B requires a minimum of 8 and support for long passwords. */
export const MIN_PASSWORD_LENGTH = 10;
export const MAX_PASSWORD_LENGTH = 200;

/** Parses text; throws an Error whose message follows the name of the variable. */
export type Parse<T> = (text: string) => T;

export const text: Parse<string> = (value) => value;
export const optional: Parse<string | null> = (value) => value || null;
export const port: Parse<number> = (value) => {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65535)
    throw new Error('must be a port number from 0 to 65535');
  return Number(value);
};
/** RFC 2033 §5 forbids port 25. */
export const lmtpPort: Parse<number | null> = (value) => {
  if (value === '') return null;
  if (Number(value) === 25) throw new Error('must not be 25, the port of SMTP (RFC 2033)');
  return port(value);
};
export const url: Parse<string> = (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.search || parsed.hash)
    throw new Error('must be a URL such as https://mail.example.com');
  return parsed.href.replace(/\/$/, '');
};
export const domain: Parse<string> = (value) => {
  const name = normalizeDomain(value);
  if (!name) throw new Error('must be a domain name such as test.example.com');
  return name;
};
export const networks: Parse<Network[]> = (value) =>
  splitList(value).map((item) => {
    try {
      return parseNetwork(item);
    } catch {
      throw new Error('must be networks such as 10.0.0.0/8, separated by commas');
    }
  });
export const oneOf =
  <T extends string>(...choices: T[]): Parse<T> =>
  (value) => {
    if (!(choices as string[]).includes(value))
      throw new Error(`must be one of ${choices.join(', ')}`);
    return value as T;
  };
// A hundred years. Much longer durations would put dates out of range.
const MAX_DURATION_MS = 36_500 * DAY_MS;
export const duration: Parse<number> = (value) => {
  const ms = parseDuration(value);
  if (ms === null || ms > MAX_DURATION_MS)
    throw new Error('must be a duration such as 30s, 15m, 2h or 90d, up to 36500d');
  return ms;
};
/** The six attempts of a delivery take more than ten hours and need the event until the last one. */
export const eventRetention: Parse<number> = (value) => {
  const ms = duration(value);
  if (ms > 0 && ms < DAY_MS) throw new Error('must be 0 or at least 1d');
  return ms;
};
export const placementTimeout: Parse<number> = (value) => {
  const ms = duration(value);
  if (ms < 60_000 || ms > 7 * DAY_MS) throw new Error('must be from 1m to 7d');
  return ms;
};
export const placementRecheck: Parse<number> = (value) => {
  const ms = duration(value);
  if (ms > 0 && (ms < 10_000 || ms > HOUR_MS)) throw new Error('must be 0, or from 10s to 1h');
  return ms;
};
export const seedCleanup: Parse<number> = (value) => {
  const ms = duration(value);
  if (ms > 0 && ms < HOUR_MS) throw new Error('must be 0 or at least 1h');
  return ms;
};
export const size: Parse<number> = (value) => {
  const bytes = parseSize(value);
  if (!bytes || bytes > 1024 ** 3)
    throw new Error('must be a size such as 64KiB or 25MiB, up to 1GiB');
  return bytes;
};
export const storage: Parse<number> = (value) => {
  const bytes = parseSize(value);
  if (!bytes || bytes < 1024 ** 2 || bytes > 1024 ** 4)
    throw new Error('must be a size such as 100MiB or 1GiB, from 1MiB to 1024GiB');
  return bytes;
};
export const MAX_WORKERS = 128;
export const workers: Parse<number> = (value) => {
  if (!/^\d{1,3}$/.test(value) || Number(value) < 1 || Number(value) > MAX_WORKERS)
    throw new Error(`must be a whole number from 1 to ${MAX_WORKERS}`);
  return Number(value);
};
const MAX_CONNECTION_LIMIT = 100_000;
export const connectionLimit: Parse<number> = (value) => {
  if (!/^\d{1,6}$/.test(value) || Number(value) < 1 || Number(value) > MAX_CONNECTION_LIMIT)
    throw new Error(`must be a whole number from 1 to ${MAX_CONNECTION_LIMIT}`);
  return Number(value);
};
export const count: Parse<number> = (value) => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error('must be a whole number from 1');
  return Number(value);
};
export const database: Parse<string> = (value) => {
  if (isPostgresUrl(value)) return postgresUrl(value);
  const path = /^sqlite:(.+)$/.exec(value)?.[1];
  if (!path)
    throw new Error(
      'must be sqlite: followed by the path of a file, or postgres://user:password@host/database',
    );
  return path === ':memory:' ? path : resolve(path);
};
/** The name is required, because the driver would otherwise use that of the operating system's user. */
function postgresUrl(value: string): string {
  if (!URL.canParse(value) || !/^\/[^/]+$/.test(new URL(value).pathname))
    throw new Error('must name a database, such as postgres://user:password@host/database');
  return value;
}
export const servers: Parse<DnsServer[] | null> = (value) => {
  if (value === '') return null;
  const parsed = parseDnsServers(value);
  if (!parsed)
    throw new Error('must be addresses such as 127.0.0.1:5353 or [::1]:53, separated by commas');
  return parsed;
};
export const email: Parse<string | null> = (value) => {
  if (value !== '' && !/^[^\s@]+@[^\s@]+$/.test(value)) throw new Error('must be an email address');
  return value || null;
};
export const paths: Parse<string[]> = (value) => splitList(value).map((path) => resolve(path));

export const bool: Parse<boolean> = (value) => {
  if (!['true', 'false'].includes(value)) throw new Error('must be true or false');
  return value === 'true';
};
export const listChanges: Parse<ListChange[]> = (value) =>
  splitList(value).map((item) => {
    const [, sign, name] = /^([+-])(\S+)$/.exec(item) ?? [];
    const zone = name === undefined ? null : normalizeDomain(name);
    if (!zone) throw new Error('must be +zone or -zone entries, separated by commas');
    return { enabled: sign === '+', zone };
  });
export const dqsKey: Parse<string | null> = (value) => {
  if (value !== '' && !/^[a-z0-9]{8,63}$/i.test(value))
    throw new Error('must be the key from Spamhaus: letters and digits only');
  return value.toLowerCase() || null;
};
/** A server on the operator's own network: scheme, host and port only. */
export const engine =
  (scheme: 'tcp' | 'http', example: string): Parse<string | null> =>
  (value) => {
    if (value === '') return null;
    const parsed = URL.canParse(value) ? new URL(value) : null;
    const isBareAddress = parsed && !parsed.username && !parsed.search && !parsed.hash;
    if (
      !isBareAddress ||
      parsed.protocol !== `${scheme}:` ||
      !parsed.hostname ||
      !/^\/?$/.test(parsed.pathname)
    )
      throw new Error(`must be an address such as ${example}`);
    if (scheme === 'tcp' && !parsed.port) throw new Error(`must be an address such as ${example}`);
    return `${parsed.protocol}//${parsed.host}`;
  };

/** The server for outgoing mail: `smtp://user:password@host:587`, `smtps://…`. */
export const mailUrl: Parse<string | null> = (value) => {
  if (value === '') return null;
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (
    !parsed ||
    !['smtp:', 'smtps:'].includes(parsed.protocol) ||
    !parsed.hostname ||
    parsed.search
  )
    throw new Error('must be an address such as smtp://user:password@mail.example.com:587');
  return value;
};
/** `Name <address>` or an address alone. */
export const mailbox: Parse<string | null> = (value) => {
  if (
    value !== '' &&
    !/^(?:[^<>"\r\n]{0,100}<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(value)
  )
    throw new Error('must be an address such as Deliverability <no-reply@example.com>');
  return value || null;
};
/** Leases begin with the name and a colon. */
export const nodeName: Parse<string | null> = (value) => {
  if (!/^[\w.-]{0,63}$/.test(value))
    throw new Error('must be up to 63 letters, digits, dots, hyphens or underscores');
  return value || null;
};
export const optionalDomain: Parse<string | null> = (value) =>
  value === '' ? null : domain(value);
/** OpenID Connect requires https; plain http is accepted on loopback, where nobody can intercept it. */
export const issuer: Parse<string | null> = (value) => {
  if (value === '') return null;
  const address = url(value);
  const { protocol, hostname } = new URL(address);
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
  if (protocol !== 'https:' && !isLoopback)
    throw new Error('must be an https URL, or an http URL on loopback (for development)');
  return address;
};
/** RFC 6749 §3.3. OpenID Connect requires `openid`. */
export const scopes: Parse<string> = (value) => {
  const list = value.split(/\s+/).filter(Boolean);
  if (!list.includes('openid') || !list.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
    throw new Error('must be scopes separated by spaces, with openid among them');
  return list.join(' ');
};
/** A role for everyone whose claim has this value. */
export interface RoleEntry {
  claim: string;
  value: string;
  role: 'viewer' | 'member' | 'admin';
}
/** Names of claims and values may contain colons and slashes: the first `=` and the last `:` divide an entry. */
export const roleEntries: Parse<RoleEntry[]> = (value) =>
  splitList(value).map((item) => {
    const [, claim, name, role] = /^([^=]+)=(.+):\s*(\w+)$/.exec(item) ?? [];
    if (!claim || !name || !/^(?:viewer|member|admin)$/.test(role!))
      throw new Error(
        'must be entries such as groups=mail-admins:admin, separated by commas, with the role admin, member or viewer',
      );
    return { claim: claim.trim(), value: name.trim(), role: role as RoleEntry['role'] };
  });
/** The URL is a secret, so the error does not quote it. */
export const slackUrl: Parse<string | null> = (value) => {
  if (value === '') return null;
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (!/^https?:/i.test(value) || !parsed || parsed.username || parsed.password || parsed.hash)
    throw new Error('must be a URL such as https://hooks.slack.com/services/T000/B000/XXXX');
  return parsed.href;
};
export const privateKey: Parse<string | null> = (value) => {
  if (value === '') return null;
  // In environment variables, line breaks are often written as \n.
  const pem = value.replaceAll('\\n', '\n');
  try {
    createPrivateKey(pem);
  } catch {
    throw new Error('must be a private key in PEM format');
  }
  return pem;
};
export const secretKey: Parse<string | null> = (value) => {
  if (value === '') return null;
  const trimmed = value.trim();
  if (trimmed.length < 32) throw new Error('must have at least 32 characters');
  if (/^(.)\1*$/su.test(trimmed)) throw new Error('must not repeat a single character');
  // Not trimmed: secrets may be encrypted with a key that ends with a space.
  return value;
};
export const metricsToken: Parse<string | null> = (value) => {
  if (value === '') return null;
  const trimmed = value.trim();
  if (!/^[\x21-\x7e]{16,}$/.test(trimmed))
    throw new Error('must have at least 16 characters, all of them ASCII and no spaces');
  return trimmed;
};
export const password: Parse<string | null> = (value) => {
  if (value !== '' && (value.length < MIN_PASSWORD_LENGTH || value.length > MAX_PASSWORD_LENGTH))
    throw new Error(`must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  return value || null;
};

export interface Rate {
  requests: number;
  seconds: number;
}

/** `600/min`. `0` means no limit, and is returned as null. */
export const rate: Parse<Rate | null> = (value) => {
  if (value === '0') return null;
  const [, count, unit] = /^(\d{1,7})\/(s|min|h)$/.exec(value) ?? [];
  if (!count || Number(count) < 1)
    throw new Error('must be a rate such as 600/min, or 0 for no limit');
  return { requests: Number(count), seconds: { s: 1, min: 60, h: 3600 }[unit as 's'] };
};

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}
