/**
 * Each record that a fix proposes for a whole mail is published in its zone, and the mail is analyzed again. The finding is
 * gone, and nothing else is worse. An SPF record neither drops nor adds a sender.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseDmarcTags } from '../../src/analysis/dmarc/record.ts';
import type { AnalysisResult, CheckResult } from '../../src/analysis/result.ts';
import { evaluateSpf } from '../../src/analysis/spf/evaluate.ts';
import { isSpfRecord } from '../../src/analysis/spf/record.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import {
  analyzeMail,
  keyRecord,
  loadMail,
  type Mail,
  mailNames,
  type Signature,
  zoneOf,
} from '../helpers/mail-corpus.ts';
import {
  assertCured,
  assertNoNewProblem,
  assertOneDmarcRecord,
  assertValid,
  type ProposedRecord,
} from '../helpers/proposed-records.ts';
import { allows, probesOf, sendersOf } from '../helpers/spf-senders.ts';

const FOLDERS = ['../fixtures/mails', '../fixtures/unseen', '../fixtures/unseen2'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const MAILS = FOLDERS.flatMap((folder) =>
  mailNames('json', folder).map((name) => loadMail(name, folder)),
).filter(({ as }) => as !== 'template');

type Records = Record<string, string[]>;

/** The records of a name. Of an alias, those of its target: no other record can stand beside it, so they are copied. */
function recordsAt(zone: Zone, name: string): Records {
  const node = zone[name];
  const records = node && !('fails' in node) ? (node as Records) : {};
  return records.CNAME ? recordsAt(zone, records.CNAME[0]!) : records;
}

// Publishing.

/** Does what the fix says with its record: replaces what has the same purpose, and signs with a new key. */
function publish(mail: Mail, { type, name, value }: ProposedRecord): Mail {
  const zone = zoneOf(mail);
  const node = recordsAt(zone, name);
  const next = (changes: Mail['records'], other: Partial<Mail> = {}): Mail => ({
    ...mail,
    ...other,
    records: { ...mail.records, ...changes },
  });
  if (type === 'PTR' && mail.envelope) {
    const addresses = { A: [mail.envelope.client_ip] };
    const host = { ...recordsAt(zone, value), ...addresses };
    const envelope = { ...mail.envelope, helo: value };
    return next({ [name]: { PTR: [value] }, [value]: host }, { envelope });
  }
  if (name.includes('._domainkey.') && value.includes('<')) {
    const signed = signAgain(mail, name);
    return { ...signed, records: { ...mail.records, [name]: { TXT: [keyAt(signed, name)] } } };
  }
  if (type === 'TXT') {
    const others = (node.TXT ?? []).filter((text) => isSpfRecord(value) && !isSpfRecord(text));
    return next({ [name]: { ...node, TXT: [...others, value] } });
  }
  return next({ [name]: { ...node, [type]: [...(node[type] ?? []), value] } });
}

const isAt = ({ domain, selector }: Signature, name: string) =>
  name === `${selector}._domainkey.${domain}`;

/** The signer uses the new key: instead of the one that it had for this domain, unless that was Ed25519. */
function signAgain(mail: Mail, name: string): Mail {
  const [selector = '', domain = ''] = name.split('._domainkey.');
  const last = mail.sign_after ? 'sign_after' : 'sign';
  const all = [...mail.sign, ...(mail.sign_after ?? [])];
  const current = all.find((signature) => isAt(signature, name));
  if (current && current.key !== 'rsa1024') return mail;
  const kept = (mail[last] ?? []).filter(
    (signature) => signature.domain !== domain || signature.key === 'ed25519',
  );
  return { ...mail, [last]: [...kept, { domain, selector, key: 'rsa2048' }] };
}

const keyAt = ({ sign, sign_after = [] }: Mail, name: string): string =>
  keyRecord([...sign, ...sign_after].find((signature) => isAt(signature, name))!.key);

// Nobody is dropped or added.

/** What the finding and its fix say, without the record itself. */
const wordsOf = ({ title, detail, fix }: CheckResult): string =>
  [title, detail, fix!.text].join('\n').toLowerCase();

async function assertSameSenders(mail: Mail, next: Mail, check: CheckResult): Promise<void> {
  const { name, value } = check.fix!.record!;
  const words = wordsOf(check);
  const zone = zoneOf(mail);
  const resolver = zoneResolver(zone);
  const texts = (recordsAt(zone, name).TXT ?? []).filter((text) => /^["\s]*v=spf/i.test(text));
  const before = await sendersOf(texts, name, resolver);
  const after = await sendersOf([value], name, zoneResolver(zoneOf(next)));

  const isNamed = (target: string) => words.includes(target.replace(/^\+?ip[46]:/, ''));
  const dropped = before.includes.filter((target) => !after.includes.includes(target));
  const added = after.includes.filter(
    (target) => !before.includes.includes(target) && !isNamed(target),
  );
  assert.deepEqual({ dropped, added }, { dropped: [], added: [] }, `includes of ${value}`);

  const passes = async (address: string) => {
    const sender = `postmaster@${name}`;
    const identity = { identity: 'mailfrom' as const, text: sender, sender, domain: name };
    const published = zoneResolver(zoneOf(next));
    const helo = mail.envelope?.helo ?? null;
    const found = await evaluateSpf({ ...identity, assumed: null }, address, helo, published);
    return found.result === 'pass';
  };
  for (const { address, named } of probesOf(before))
    assert.ok(await passes(address), `dropped ${address} of ${named}; ${value}`);
  for (const { address, named } of probesOf(after))
    assert.ok(
      allows(before, address) || isNamed(named) || !(await passes(address)),
      `added ${address} of ${named}; ${value}`,
    );
}

const STRICTNESS = ['none', 'quarantine', 'reject'];

/** A DMARC record keeps the report addresses that work, and its policies are not weaker. */
function assertSamePolicy(mail: Mail, check: CheckResult): void {
  const { name, value } = check.fix!.record!;
  const texts = (recordsAt(zoneOf(mail), name).TXT ?? []).filter((text) => /dmarc1/i.test(text));
  const addresses = (text: string): string[] =>
    text.toLowerCase().match(/mailto:[^,;!\s"”]+/g) ?? [];
  const words = wordsOf(check);
  const lost = texts
    .flatMap(addresses)
    .filter((address) => !addresses(value).includes(address) && !words.includes(address.slice(7)));
  assert.deepEqual(lost, [], `dropped report addresses; ${value}`);
  const [only, ...others] = texts;
  if (only === undefined || others.length > 0) return;
  const strictness = (text: string, tag: string) =>
    STRICTNESS.indexOf(parseDmarcTags(text).tags.get(tag) ?? '');
  for (const tag of ['p', 'sp', 'np'])
    assert.ok(
      strictness(value, tag) >= strictness(only, tag),
      `weaker ${tag}; ${only} became ${value}`,
    );
}

/** No result of SPF, DKIM or DMARC is lost. */
function assertNothingLost(before: AnalysisResult, after: AnalysisResult): void {
  for (const method of ['spf', 'dkim', 'dmarc'] as const)
    if (before.auth_results[method] === 'pass')
      assert.equal(after.auth_results[method], 'pass', `${method} passed before`);
  if (before.score !== null)
    assert.ok((after.score ?? 0) >= before.score, `score ${before.score} became ${after.score}`);
}

async function assertHarmless(mail: Mail, result: AnalysisResult, check: CheckResult) {
  const record = check.fix!.record!;
  assertValid(record);
  const next = publish(mail, record);
  if (isSpfRecord(record.value)) await assertSameSenders(mail, next, check);
  if (record.name.startsWith('_dmarc.')) assertSamePolicy(mail, check);
  const after = await analyzeMail(next);
  assertCured(check, after.checks);
  assertNoNewProblem(check, result.checks, after.checks);
  assertNothingLost(result, after);
}

/** An image or a policy file is needed as well. */
const NEED_FILES = ['bimi', 'mta_sts'];

/** The checks whose records do harm, by mail. A record that no longer does fails its test, so this list can only shrink. */
const KNOWN_WRONG: Record<string, string[]> = {
  'everyday/parcel-fraud': ['spf'],
};

describe('Records proposed for a whole mail', () => {
  const published = new Map<string, number>();

  for (const mail of MAILS)
    it(`cure, harm nothing, and neither drop nor add a sender: ${mail.name}`, async () => {
      const result = await analyzeMail(mail);
      assertOneDmarcRecord(result.checks);
      const faults = new Map<string, string>();
      for (const check of result.checks) {
        const { id, title, fix } = check;
        if (!fix?.record || NEED_FILES.includes(id)) continue;
        published.set(id, (published.get(id) ?? 0) + 1);
        await assertHarmless(mail, result, check).catch((error: Error) =>
          faults.set(id, `${error.message}\n${JSON.stringify({ title, fix }, null, 1)}`),
        );
      }
      const details = [...faults.values()].join('\n\n');
      assert.deepEqual([...faults.keys()], KNOWN_WRONG[mail.name] ?? [], details);
    });

  it('are proposed for all important kinds of findings', (t) => {
    t.diagnostic([...published].map(([id, count]) => `${id}: ${count}`).join(', '));
    for (const id of ['spf', 'spf_record', 'dkim', 'dkim_key', 'dmarc_policy', 'dmarc_record'])
      assert.ok(published.has(id), id);
  });
});
