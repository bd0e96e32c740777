/** Explains what a provider wrote into the header of its copy: authentication results and spam filter verdicts. */

import { seedProvider } from '../config/seed-providers.ts';
import { isSpfOfHelo } from '../lib/mail.ts';
import type { PlacementReason } from '../report/report.ts';
import type { MailCopy } from './mail-copy.ts';

type Field = MailCopy['traceFields'][number];
type Trace = Pick<MailCopy, 'traceFields'>;

const MICROSOFT = ['outlook', 'microsoft_365'];
const MAX_VALUE = 100;

/**
 * What the provider itself says about the message. Senders can write such fields too. Authentication results count
 * only above the fields of the author and with a server name of the provider, and filter verdicts only at Microsoft.
 * A field that also reached the test address, in `sent`, was not written by the provider.
 */
export function reasonsOf(
  { traceFields }: Trace,
  provider: string,
  sent: Trace | null,
): PlacementReason[] {
  const { authserv, name } = seedProvider(provider);
  // Its authentication results name no server.
  const isMicrosoft = MICROSOFT.includes(provider);
  const fields = traceFields.filter(
    (field) => !sent?.traceFields.some((each) => isSame(each, field)),
  );
  const fieldsOf = (key: string) => fields.filter((field) => field.key === key);
  const onTop = (key: string) => fieldsOf(key).filter(({ isOnTop }) => isOnTop);
  const isOwn = ({ value }: Field) =>
    isServerOf(value, authserv) || (isMicrosoft && /^\s*spf=/.test(value));
  // Some providers write a field for each method.
  const own = (key: string) =>
    authserv.length === 0 ? onTop(key).slice(0, 1) : onTop(key).filter(isOwn);
  const results = own('authentication-results');
  if (results.length === 0) results.push(...own('arc-authentication-results').slice(0, 1));
  const spf = onTop('received-spf').find(
    ({ value }) =>
      (authserv.length === 0 || serversIn(value).some((id) => isBelow(id, authserv))) &&
      // The other result that a server may record is for the HELO name (RFC 7208 §9.1).
      !/\bidentity=["']?helo\b/i.test(value),
  );
  const reasons = authenticationReasons(results, name);
  if (spf && !reasons.some((reason) => reason.name === 'spf'))
    reasons.push(...spfReason(spf, name));
  if (!isMicrosoft) return reasons;
  return [
    ...reasons,
    ...antispamReasons(fieldsOf('x-forefront-antispam-report')[0]),
    ...bulkReasons(fieldsOf('x-microsoft-antispam')[0]),
    ...sclReason(fieldsOf('x-ms-exchange-organization-scl')[0]),
  ];
}

const isSame = (a: Field, b: Field): boolean => a.key === b.key && folded(a) === folded(b);
const folded = ({ value }: Field): string => value.replace(/\s+/g, '');

/** Whether the authserv-id is the provider’s; ARC has its instance before it (RFC 8617 §4.1.1). */
function isServerOf(value: string, authserv: string[]): boolean {
  const id = /^(?:\s*i=\d+\s*;)?\s*([^\s;]+)/.exec(value)?.[1]?.toLowerCase() ?? '';
  return isBelow(id, authserv);
}

const isBelow = (server: string, names: string[]): boolean =>
  names.some((end) => server === end || server.endsWith(`.${end}`));

/** The servers that a Received-SPF field names: `(mx.example.com: …)` or `receiver=mx.example.com` (RFC 7208 §9.1). */
const serversIn = (value: string): string[] =>
  [...value.matchAll(/(?:receiver=|\()([\w.-]{1,255})/gi)].map((match) => match[1]!.toLowerCase());

const short = (text: string): string => text.slice(0, MAX_VALUE);

// Authentication results (RFC 8601).

const METHODS: Record<string, string> = { spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC' };
const MISSING: Record<string, string> = {
  spf: 'SPF record',
  dkim: 'DKIM signature',
  dmarc: 'DMARC record',
};
const OUTCOMES: Record<string, string> = {
  pass: 'passes',
  fail: 'fails',
  softfail: 'fails with “softfail”',
  neutral: 'is neutral',
  bestguesspass: 'passes on a best guess, without a DMARC record',
  temperror: 'could not be checked, because of a temporary error',
  permerror: 'could not be evaluated, because a record is invalid',
  policy: 'passes, but a local policy rejects the result',
};

/** A sentence; undefined for values that are not known. */
function outcomeText(method: string, value: string, provider: string): string | undefined {
  if (value === 'none') return `${provider} found no ${MISSING[method]}.`;
  return Object.hasOwn(OUTCOMES, value)
    ? `${METHODS[method]} ${OUTCOMES[value]} at ${provider}.`
    : undefined;
}

/** Without comments and quoted text, which can hold what the sender wrote. */
function resultsIn({ value }: Field): string[] {
  // Text without a closing quote extends to the end. Otherwise, each quote would be tried in quadratic time.
  let text = value.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '');
  for (let depth = 0; depth < 5 && text.includes('('); depth++)
    text = text.replace(/\([^()]*\)/g, '');
  return text.split(';').map((result) => result.trim());
}

function authenticationReasons(fields: Field[], provider: string): PlacementReason[] {
  const found: PlacementReason[] = [];
  const add = (field: Field, name: string, value: string, text: string) =>
    found.push({ field: field.name, name, value: short(value), text });
  for (const method of Object.keys(METHODS)) {
    const pattern = new RegExp(`^${method}(?:/\\d+)?\\s*=\\s*([a-z]+)`, 'i');
    for (const field of fields) {
      const values = resultsIn(field).flatMap((result) => {
        const value = pattern.exec(result)?.[1];
        return value === undefined || isSpfOfHelo(result) ? [] : [value.toLowerCase()];
      });
      // One pass among several signatures is what counts.
      const value = values.includes('pass') ? 'pass' : values[0];
      if (value === undefined) continue;
      const text = outcomeText(method, value, provider);
      if (text !== undefined) add(field, method, value, text);
      break;
    }
  }
  const [verdict] = fields.flatMap((field) => {
    const match = resultsIn(field)
      .map((result) => /^compauth=([a-z]+)(?:\s+reason=(\d{3}))?/i.exec(result))
      .find((each) => each !== null);
    return match ? [{ field, value: match[1]!, reason: match[2] }] : [];
  });
  if (verdict) {
    const { field, value, reason } = verdict;
    const shown = reason ? `${value} ${reason}` : value;
    add(field, 'compauth', shown, compauthText(value.toLowerCase(), reason));
  }
  return found;
}

/** Microsoft’s composite authentication. */
function compauthText(value: string, reason: string | undefined): string {
  const result =
    value === 'pass' || value === 'softpass'
      ? 'Microsoft trusts the sender’s identity'
      : value === 'fail'
        ? 'Microsoft treats the message as spoofed'
        : 'Microsoft reached no verdict on the sender’s identity';
  const causes: Record<string, string> = {
    0: 'the message failed explicit authentication',
    1: 'the message failed implicit authentication',
    2: 'weak implicit authentication',
    3: 'the message was not checked',
    4: 'checks were bypassed',
    6: 'weak implicit authentication of a domain of the same organization',
    7: 'authentication passed',
    9: 'checks were bypassed',
  };
  const cause = reason && causes[reason[0]!];
  return cause ? `${result}: ${cause}.` : `${result}.`;
}

/** `pass (google.com: domain of …)` (RFC 7208 §9.1). */
function spfReason(field: Field, provider: string): PlacementReason[] {
  const value = /^\s*([a-z]+)/i.exec(field.value)?.[1]?.toLowerCase() ?? '';
  const text = outcomeText('spf', value, provider);
  return text === undefined ? [] : [{ field: field.name, name: 'spf', value, text }];
}

// Microsoft’s filters, as documented for Microsoft 365 and used by Outlook.com.

const FILTER_VERDICTS: Record<string, string> = {
  NSPM: 'Microsoft’s filters found no spam.',
  SPM: 'Microsoft’s filters marked the message as spam.',
  SKN: 'A mail flow rule skipped spam filtering and marked the message as clean.',
  SKS: 'A mail flow rule marked the message as spam before filtering.',
  SKA: 'The recipient’s allow list skipped spam filtering.',
  SKB: 'The recipient’s block list marked the message as spam.',
  SKI: 'Spam filtering was skipped for mail within the organization.',
  SKQ: 'The message was released from quarantine.',
  SFE: 'The sender is on the recipient’s list of safe senders.',
  BLK: 'The sender is on the recipient’s list of blocked senders.',
};

const CATEGORIES: Record<string, string> = {
  NONE: 'Microsoft assigned no threat category.',
  BULK: 'Microsoft classified the message as bulk mail.',
  SPM: 'Microsoft classified the message as spam.',
  HSPM: 'Microsoft classified the message as high-confidence spam.',
  PHSH: 'Microsoft classified the message as phishing.',
  HPHSH: 'Microsoft classified the message as high-confidence phishing.',
  HPHISH: 'Microsoft classified the message as high-confidence phishing.',
  SPOOF: 'Microsoft classified the sender as spoofed.',
  UIMP: 'Microsoft suspects that the message impersonates a user.',
  DIMP: 'Microsoft suspects that the message impersonates a domain.',
  GIMP: 'Microsoft suspects impersonation, based on who usually writes to the mailbox.',
  BIMP: 'Microsoft suspects that the message impersonates a brand.',
  MALW: 'Microsoft found malware.',
};

/** `CIP:192.0.2.1;CTRY:DE;…;SFV:NSPM;CAT:NONE;…` */
function antispamReasons(field: Field | undefined): PlacementReason[] {
  if (!field) return [];
  const value = (key: string) =>
    new RegExp(`(?:^|;)\\s*${key}:([^;]*)`, 'i').exec(field.value)?.[1]?.trim() ?? '';
  const found: PlacementReason[] = [];
  const add = (name: string, text: string | undefined) => {
    if (text !== undefined)
      found.push({ field: field.name, name, value: short(value(name)), text });
  };
  const known = (texts: Record<string, string>, key: string) => {
    const code = value(key).toUpperCase();
    return Object.hasOwn(texts, code) ? texts[code] : undefined;
  };
  add('SFV', known(FILTER_VERDICTS, 'SFV'));
  add('CAT', known(CATEGORIES, 'CAT'));
  add('SCL', sclText(value('SCL')));
  return found;
}

function sclText(value: string): string | undefined {
  if (!/^-?\d{1,2}$/.test(value)) return undefined;
  const level = Number(value);
  const base = `The spam confidence level is ${level}`;
  if (level === -1) return `${base}: spam filtering was skipped.`;
  if (level <= 4) return `${base} of 9: not spam.`;
  if (level <= 6) return `${base} of 9: spam.`;
  return `${base} of 9: high-confidence spam.`;
}

function sclReason(field: Field | undefined): PlacementReason[] {
  const text = field && sclText(field.value.trim());
  return field && text
    ? [{ field: field.name, name: 'SCL', value: short(field.value.trim()), text }]
    : [];
}

function bulkReasons(field: Field | undefined): PlacementReason[] {
  const value = /(?:^|;)\s*BCL:(\d)\b/i.exec(field?.value ?? '')?.[1];
  if (!field || value === undefined) return [];
  const level = Number(value);
  const meaning =
    level === 0
      ? 'not from a bulk sender'
      : level <= 3
        ? 'from a bulk sender with few complaints'
        : level <= 7
          ? 'from a bulk sender with a mixed number of complaints'
          : 'from a bulk sender with many complaints';
  return [
    {
      field: field.name,
      name: 'BCL',
      value,
      text: `The bulk complaint level is ${level} of 9: ${meaning}.`,
    },
  ];
}
