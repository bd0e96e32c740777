/** Loads the whole mails in test/fixtures/mails, analyzes them, and compares with a consultant's verdict. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { sealMessage } from 'mailauth';
import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisInput, Envelope, MessageKind } from '../../src/analysis/check.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { isDmarcRecord, parseDmarcTags } from '../../src/analysis/dmarc/record.ts';
import { fileInput } from '../../src/analysis/receipt/file.ts';
import type { AnalysisResult, Grade, Provider } from '../../src/analysis/result.ts';
import { checksToFix } from '../../src/analysis/summary.ts';
import { readHtmlTemplate } from '../../src/commands/check/html-template.ts';
import { normalizeAddress, reverseName } from '../../src/lib/addresses.ts';
import { isoTime } from '../../src/lib/clock.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import type { WebResult } from '../../src/net/http/web.ts';
import { RECEIVED_AT } from './analysis.ts';
import { blocklistZone, workingLists } from './blocklists.ts';
import { TRANSFORMATIONS, type Transformation } from './mail-transport.ts';
import { ZONES, type ZoneName } from './mail-zones.ts';
import { makeKey, type SigningKey, signMessage } from './signer.ts';

const FOLDER = fileURLToPath(new URL('../fixtures/mails', import.meta.url));

export interface MailCase {
  /** What this mail is, and what a consultant says about it. */
  note: string;
  /**
   * `file`: a saved message, read days later and without its envelope. `template`: not sent yet, so it
   * has no envelope, signatures or zone.
   */
  as?: 'file' | 'template';
  /** The header lines that the receiver of a saved message put on top, with their continuation lines. */
  received_by?: string[];
  /** When a saved message was received, as its header says; null if it says nothing. */
  received_at?: string | null;
  /** For a saved message, what its header says about the session; null if it says nothing. */
  envelope: MailEnvelope | null;
  kind: MessageKind;
  /** Signed in this order, each signature above the one before it. */
  sign: Signature[];
  /** What happens to the message after the sender has signed it. */
  after_signing?: Transformation[];
  /** Signatures of the server that made those changes. */
  sign_after?: Signature[];
  /** The forwarder that adds an ARC set, with the results that it saw. */
  arc?: Signature;
  zone: ZoneName[];
  /** Added to the zone; null removes a name. `{rsa2048}` stands for the record of that key. */
  records: Record<string, Zone[string] | null>;
  /** By zone of a list: the return code for each address or domain; `*` for every query. */
  blocklists?: Record<string, Record<string, string>>;
  /** The resolver says of every name that it does not exist. */
  denies_everything?: boolean;
  expect: Expectation;
}

interface MailEnvelope {
  mail_from: string;
  client_ip: string;
  helo: string;
  /** The TLS version, or `unknown`; null if the sending server did not use STARTTLS. */
  tls: string | null;
}

export interface Signature {
  domain: string;
  selector: string;
  key: KeyName;
  /** How long it is valid; without a limit by default. */
  days?: number;
}

const VERDICTS = ['meets', 'weak', 'spam', 'reject', 'incomplete'] as const;
type Verdict = (typeof VERDICTS)[number];
type Kind = 'marketing' | 'transactional' | 'uncertain';

/** Lists name what is allowed. Of `a|b`, one is enough. */
interface Expectation {
  /** Only a template can do without kind, grade and verdict. */
  kind?: Kind | Kind[];
  grade?: (Grade | 'none')[];
  score?: [min: number, max: number];
  verdict?: Verdict | Verdict[];
  summary_says?: string[];
  summary_never_says?: string[];
  /** About the summary and the title, explanation and fix of all findings that did not pass. */
  report_says?: string[];
  report_never_says?: string[];
  /** null: nothing needs a fix. */
  first_fix?: string | null;
  /** Texts that the first fix contains, in its sentences or its record; also as `a|b`. */
  first_fix_says?: string[];
  first_fix_never_says?: string[];
  /** No fix of any check contains this text. */
  no_fix_says?: string[];
  /** No fix proposes a record at or below `_dmarc.` or `_domainkey.` of these domains, or at them. */
  no_record_at?: string[];
  not_ready?: Provider[];
  ready?: Provider[];
  /** Checks that must fail or warn. */
  problems?: string[];
  /** Checks that must neither fail nor warn. */
  no_problems?: string[];
}

export interface Mail extends MailCase {
  /** `<group>/<name>`. */
  name: string;
  group: string;
  /** With CRLF line endings, before it is signed. */
  unsigned: Buffer;
}

// Loading.

export const mailNames = (extension: 'eml' | 'html' | 'json', folder = FOLDER): string[] =>
  globSync(`${folder}/*/*.${extension}`)
    .map((path) => path.slice(folder.length + 1, -extension.length - 1))
    .sort();

export function loadMail(name: string, folder = FOLDER): Mail {
  const path = `${folder}/${name}`;
  const { received_by = [], ...declared } = JSON.parse(
    readFileSync(`${path}.json`, 'utf8'),
  ) as MailCase;
  const bytes = readFileSync(existsSync(`${path}.html`) ? `${path}.html` : `${path}.eml`, 'latin1');
  return {
    ...NOT_SENT,
    ...declared,
    received_by,
    name,
    group: name.split('/')[0]!,
    unsigned: withCrlf(bytes),
  };
}

const withCrlf = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');

const NOT_SENT = { envelope: null, sign: [], zone: [], records: {} };

const MAIL_KEYS =
  'note as received_by received_at envelope kind sign after_signing sign_after arc zone records blocklists denies_everything expect'.split(
    ' ',
  );
const EXPECT_KEYS =
  'kind grade score verdict summary_says summary_never_says report_says report_never_says first_fix first_fix_says first_fix_never_says no_fix_says no_record_at not_ready ready problems no_problems'.split(
    ' ',
  );

/** Misspelled keys and values that would make an expectation meaningless. */
export function mistakesIn(mail: Mail, checkIds: Set<string>): string[] {
  const { name: _name, group: _group, unsigned: _unsigned, ...declared } = mail;
  const { problems = [], no_problems = [], first_fix, verdict } = mail.expect;
  const oneOf = (ids: string) => ids.split('|').some((id) => checkIds.has(id));
  return [
    ...Object.keys(declared).filter((key) => !MAIL_KEYS.includes(key)),
    ...Object.keys(mail.expect).filter((key) => !EXPECT_KEYS.includes(key)),
    ...problems.filter((ids) => !oneOf(ids)),
    ...no_problems.filter((id) => !checkIds.has(id)),
    ...(first_fix && !oneOf(first_fix) ? [first_fix] : []),
    ...[verdict ?? []].flat().filter((word) => !VERDICTS.includes(word)),
    ...(mail.as === 'template'
      ? []
      : (['kind', 'grade', 'verdict'] as const).filter((key) => !mail.expect[key])),
    ...(mail.as === undefined && mail.envelope === null ? ['envelope'] : []),
  ];
}

// Signing and delivery.

const KEYS = {
  rsa2048: makeKey('rsa2048'),
  other_rsa2048: makeKey('rsa2048'),
  rsa1024: makeKey('rsa1024'),
  ed25519: makeKey('ed25519'),
} satisfies Record<string, SigningKey>;
type KeyName = keyof typeof KEYS;

export const keyRecord = (key: KeyName): string => KEYS[key].record;

const DAY_MS = 86_400_000;

const SIGNED_FIELDS = [
  'From',
  'Sender',
  'Reply-To',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
];

/** The message as received. */
export async function deliverMail(mail: Mail): Promise<Buffer> {
  const signed = await signAll(mail.unsigned, mail.sign);
  const changed = (mail.after_signing ?? []).reduce(
    (message, name) => TRANSFORMATIONS[name](message),
    signed,
  );
  const signedAgain = await signAll(changed, mail.sign_after ?? []);
  const sealed = mail.arc ? await sealArc(signedAgain, mail.arc) : signedAgain;
  const added = (mail.received_by ?? []).map((line) => `${line}\n`).join('');
  const message = Buffer.concat([withCrlf(added), sealed]);
  const html = mail.as === 'template' ? readHtmlTemplate(mail.name, message) : null;
  return html ? withCrlf(Buffer.from(html).toString('latin1')) : message;
}

async function signAll(message: Buffer, signatures: Signature[]): Promise<Buffer> {
  let signed = message;
  for (const { key, days, ...names } of signatures)
    signed = await signMessage(signed, {
      ...names,
      key: KEYS[key],
      headerList: SIGNED_FIELDS,
      expires: days && RECEIVED_AT + days * DAY_MS,
    });
  return signed;
}

/** Adds the first ARC set. */
async function sealArc(message: Buffer, { domain, selector, key }: Signature): Promise<Buffer> {
  const sealed = await sealMessage(message, {
    signingDomain: domain,
    selector,
    privateKey: KEYS[key].privateKey,
    authResults: `mx.${domain}; dkim=pass; spf=pass; dmarc=pass`,
    cv: 'none',
    signTime: new Date(RECEIVED_AT - 30_000),
  });
  return Buffer.concat([Buffer.from(sealed), message]);
}

/** All records that lookups for this mail can find. */
export function zoneOf({ zone, records, sign, sign_after = [], arc }: Mail): Zone {
  const keys = [...sign, ...sign_after, ...(arc ? [arc] : [])].map(({ domain, selector, key }) => [
    `${selector}._domainkey.${domain}`,
    { TXT: [KEYS[key].record] },
  ]);
  const changes = Object.entries(records).map(([name, node]) => [
    name,
    node && 'TXT' in node ? { ...node, TXT: node.TXT!.map(withKeys) } : node,
  ]);
  const all = Object.assign(
    {},
    blocklistZone(),
    ...zone.map((name) => ZONES[name]),
    Object.fromEntries(keys),
    Object.fromEntries(changes),
  ) as MailCase['records'];
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, Zone[string]] => entry[1] !== null),
  );
}

const withKeys = (text: string): string =>
  text.replace(/\{(\w+)\}/g, (all, name) => KEYS[name as KeyName]?.record ?? all);

/** The zone, with the listings and refusals of the blocklists. */
function resolverOf(mail: Mail): Resolver {
  if (mail.denies_everything) return async () => ({ status: 'nxdomain' });
  const lookUp = zoneResolver(zoneOf(mail));
  const answers = Object.entries(mail.blocklists ?? {}).flatMap(([list, codes]) =>
    Object.entries(codes).map(([subject, code]) => ({
      list,
      code,
      name: subject === '*' ? null : `${subjectName(subject)}.${list}`,
    })),
  );
  return async (name, type) => {
    const answer = answers.find((one) =>
      one.name === null ? name.endsWith(`.${one.list}`) : name === one.name,
    );
    return answer && type === 'A'
      ? { status: 'found', records: [answer.code], ttl: 60, authenticated: false }
      : lookUp(name, type);
  };
}

/** An address in reverse, without the suffix of reverse DNS; a domain as it is. */
const subjectName = (subject: string): string =>
  normalizeAddress(subject) === null
    ? subject
    : reverseName(subject).replace(/\.(?:in-addr|ip6)\.arpa$/, '');

/** Runs all checks. Every link works. Throws if a check throws. */
export async function analyzeMail(mail: Mail): Promise<AnalysisResult> {
  const raw = await deliverMail(mail);
  return analyze(
    { raw, kind: mail.kind, ...arrivalOf(mail, raw) },
    {
      resolver: resolverOf(mail),
      web: async (): Promise<WebResult> => ({
        status: 'answered',
        code: 200,
        headers: {},
        body: new Uint8Array(),
      }),
      setup: { ...NO_SETUP, blocklists: workingLists(), checkLinks: true },
      onFault(id, error) {
        throw new Error(`${id} threw for ${mail.name}`, { cause: error });
      },
    },
  );
}

/** How the message came: a file says it in its header, and a template was not sent. */
function arrivalOf(
  mail: Mail,
  raw: Buffer,
): Pick<AnalysisInput, 'envelope' | 'receivedAt' | 'isTemplate'> {
  if (mail.as === 'file') return fileInput(raw);
  if (mail.as === 'template')
    return { envelope: NOTHING_KNOWN, receivedAt: null, isTemplate: true };
  return { envelope: sessionOf(mail.envelope!), receivedAt: RECEIVED_AT };
}

const NOTHING_KNOWN: Envelope = { mail_from: null, client_ip: null, helo: null, tls: null };

/** What the program reads in the header of a file, in the form of `Mail`. */
function readEnvelope(raw: Buffer): Pick<Mail, 'envelope' | 'received_at'> {
  const { envelope, receivedAt } = fileInput(raw);
  const { mail_from, client_ip, helo, tls } = envelope;
  const received_at = receivedAt === null ? null : isoTime(receivedAt).replace('.000', '');
  if (mail_from === null || client_ip === null || helo === null)
    return { envelope: null, received_at };
  const version = tls?.used ? (tls.version ?? 'unknown') : null;
  return { envelope: { mail_from, client_ip, helo, tls: version }, received_at };
}

/** Analyzes the mail. What differs from the expectations, and for a file from the envelope that its header has. */
export async function differencesOf(mail: Mail): Promise<Difference[]> {
  const differences = compareMail(mail.expect, await analyzeMail(mail));
  if (mail.as !== 'file') return differences;
  const expected = { envelope: mail.envelope, received_at: mail.received_at ?? null };
  const found = readEnvelope(await deliverMail(mail));
  return isDeepStrictEqual(found, expected)
    ? differences
    : [...differences, { key: 'envelope', expected, found }];
}

const sessionOf = ({ tls, ...names }: MailEnvelope): Envelope => ({
  ...names,
  tls: { used: tls !== null, version: tls, cipher: tls && 'TLS_AES_256_GCM_SHA384' },
});

// Comparing the result with the verdict.

/** An expectation that the result does not meet. */
export interface Difference {
  key: string;
  expected: unknown;
  found: unknown;
}

/** Confidence and alternative, in results that have them. */
type JudgedResult = Omit<AnalysisResult, 'judged_kind'> & {
  judged_kind: AnalysisResult['judged_kind'] & { confidence?: string; alternative?: Alternative };
  alternative?: Alternative;
};
type Alternative = { kind: string; score: number | null; grade: string | null } | null;

export function compareMail(expected: Expectation, result: AnalysisResult): Difference[] {
  const problems = result.checks.filter(({ status }) => status === 'fail' || status === 'warn');
  const ids = new Set(problems.map(({ id }) => id));
  const first = checksToFix(result.checks)[0];
  const firstText = first ? fixText(first) : '';
  const readiness = new Map(result.providers.map(({ provider, ready }) => [provider, ready]));
  const kind = kindOf(result);
  const verdict = verdictOf(result);
  const fixes = problems.map((check) => ({ id: check.id, text: fixText(check) }));
  const differences: Difference[] = [];
  const require = (
    key: keyof Expectation | 'records_parse' | 'consistent',
    isMet: boolean,
    found: unknown,
  ) => {
    if (!isMet)
      differences.push({ key, expected: expected[key as keyof Expectation] ?? true, found });
  };

  const isOneOf = <T>(allowed: T | T[] | undefined, one: unknown) =>
    allowed === undefined || [allowed].flat().includes(one as never);
  require('kind', isOneOf(expected.kind, kind), kind);
  require('grade', isOneOf(
    expected.grade,
    result.grade ?? 'none',
  ), `${result.grade} ${result.score}`);
  if (expected.score) {
    const [min, max] = expected.score;
    require('score', (result.score ?? -1) >= min && (result.score ?? 101) <= max, result.score);
  }
  require('verdict', isOneOf(expected.verdict, verdict), `${verdict}: ${result.summary}`);
  const report = [
    result.summary,
    ...result.checks
      .filter(({ status }) => status !== 'pass' && status !== 'skipped')
      .flatMap((check) => [check.title, check.detail, fixText(check)]),
  ].join('\n');
  for (const [place, text] of [
    ['summary', result.summary],
    ['report', report],
  ] as const) {
    const missing = expected[`${place}_says`]?.filter((wanted) => !includesOne(text, wanted)) ?? [];
    require(`${place}_says`, missing.length === 0, `missing ${missing}: ${text}`);
    const said = expected[`${place}_never_says`]?.filter((banned) => text.includes(banned)) ?? [];
    require(`${place}_never_says`, said.length === 0, said);
  }
  if (expected.first_fix !== undefined)
    require('first_fix', matchesId(expected.first_fix, first?.id), first?.id ?? null);
  require('first_fix_says', (expected.first_fix_says ?? []).every((text) =>
    includesOne(firstText, text),
  ), firstText);
  require('first_fix_never_says', !(expected.first_fix_never_says ?? []).some((text) =>
    firstText.includes(text),
  ), firstText);
  const saying = fixes.filter(({ text }) =>
    (expected.no_fix_says ?? []).some((banned) => text.includes(banned)),
  );
  require('no_fix_says', saying.length === 0, saying);
  const foreign = problems.filter(({ fix }) =>
    (expected.no_record_at ?? []).some((domain) => isRecordOf(fix?.record?.name, domain)),
  );
  require('no_record_at', foreign.length === 0, foreign.map(({ id, fix }) => [
    id,
    fix?.record?.name,
  ]));
  const ready = (expected.ready ?? []).filter((provider) => !readiness.get(provider));
  require('ready', ready.length === 0, `not ready: ${ready}`);
  const notReady = (expected.not_ready ?? []).filter((provider) => readiness.get(provider));
  require('not_ready', notReady.length === 0, `ready: ${notReady}`);
  const missed = (expected.problems ?? []).filter(
    (one) => !one.split('|').some((id) => ids.has(id)),
  );
  require('problems', missed.length === 0, `missed ${missed}; found ${[...ids]}`);
  const wrong = (expected.no_problems ?? []).filter((id) => ids.has(id));
  require('no_problems', wrong.length === 0, wrong.map(
    (id) => problems.find((check) => check.id === id)?.title,
  ));
  const malformed = problems.flatMap(({ fix }) =>
    fix?.record && isMalformed(fix.record) ? [fix.record] : [],
  );
  const contradiction = contradictionIn(result, verdict);
  require('consistent', contradiction === null, contradiction);
  require('records_parse', malformed.length === 0, malformed);
  return differences;
}

/** Whether headline, grade and readiness contradict each other, which no mail may show. */
function contradictionIn({ grade, providers, judged_kind }: AnalysisResult, verdict: string) {
  if (verdict === 'contradictory') return 'It meets rules for which a provider is not ready.';
  if (verdict === 'reject' && providers.every(({ ready }) => ready))
    return 'Providers are likely to reject it, but all are ready.';
  const unmet = providers
    .flatMap(({ rules }) => rules)
    .find(
      ({ applies, status }) =>
        status === 'not_met' && (applies === 'any' || judged_kind.kind === 'marketing'),
    );
  return grade === 'A' && unmet ? `Grade A, but a rule is not met: ${unmet.title}` : null;
}

type Check = AnalysisResult['checks'][number];

const fixText = ({ fix }: Check): string =>
  fix ? [fix.text, ...Object.values(fix.record ?? {})].join('\n') : '';

const includesOne = (text: string, wanted: string): boolean =>
  wanted.split('|').some((one) => text.toLowerCase().includes(one.toLowerCase()));

const matchesId = (wanted: string | null, found: string | undefined): boolean =>
  wanted === null ? found === undefined : wanted.split('|').includes(found ?? '');

/** Whether a record is published at the domain itself, or for DMARC or DKIM directly below it. */
function isRecordOf(name: string | undefined, domain: string): boolean {
  if (name === undefined) return false;
  const plain = name.toLowerCase().replace(/\.$/, '');
  return [domain, `_dmarc.${domain}`].includes(plain) || plain.endsWith(`._domainkey.${domain}`);
}

/** A proposed SPF or DMARC record that a mailbox provider could not read. */
export function isMalformed({
  type,
  name,
  value,
}: {
  type: string;
  name: string;
  value: string;
}): boolean {
  if (type !== 'TXT') return false;
  if (name.startsWith('_dmarc.')) {
    const { tags, duplicates } = parseDmarcTags(value);
    const plain = [...tags.keys()].every((tag) => /^[a-z]+$/.test(tag));
    return !isDmarcRecord(value) || !tags.has('p') || duplicates.length > 0 || !plain;
  }
  if (!/^v=spf1\b/i.test(value)) return false;
  const [, ...terms] = value.trim().split(/\s+/);
  return terms.some((term) => !SPF_TERM.test(term));
}

const SPF_TERM =
  /^(?:[-+~?]?(?:all|(?:include|exists):\S+|(?:a|mx|ptr)(?:[:/]\S+)?|ip4:[\d./]+|ip6:[\da-f:./]+)|(?:redirect|exp)=\S+|[a-z][\w.-]*=\S*)$/i;

function kindOf(result: AnalysisResult): Kind | string {
  const { judged_kind, alternative } = result as JudgedResult;
  if (judged_kind.confidence !== 'uncertain') return judged_kind.kind;
  const other = alternative ?? judged_kind.alternative;
  return other && other.kind !== judged_kind.kind
    ? 'uncertain'
    : 'uncertain without an alternative';
}

/** The verdict that the summary gives. `contradictory`: it meets what a provider is not ready for. */
function verdictOf({ score, summary, providers }: AnalysisResult): Verdict | 'contradictory' {
  if (score === null) return 'incomplete';
  if (/\breject/.test(summary)) return 'reject';
  if (/\bspam\b/.test(summary)) return 'spam';
  if (/as far as checked|is unknown/.test(summary)) return 'incomplete';
  if (!/\bmeets the rules\b/.test(summary)) return 'weak';
  return providers.every(({ ready }) => ready) ? 'meets' : 'contradictory';
}
