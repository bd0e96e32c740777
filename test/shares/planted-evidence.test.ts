/** Plants a secret in all evidence of every check and in its sentences: no public format shows one. */

// @one-database: about what reports contain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { CheckDeclaration, Json } from '../../src/analysis/check.ts';
import { CHECKS, DOMAIN_CHECKS } from '../../src/analysis/checks/index.ts';
import type { PublicEvidence, PublicKind, PublicRule } from '../../src/analysis/public-evidence.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import { analyzeJob } from '../../src/mailtests/analyze.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { COMPLIANCE, CONTENT } from '../analysis/planted/message.ts';
import { AUTHENTICATION, INFRASTRUCTURE, REPUTATION } from '../analysis/planted/sender.ts';
import { analyzeWorld, cleanWorld } from '../analysis/planted/world.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText, pdfWords } from '../helpers/pdf.ts';
import { undeclaredKeys } from '../helpers/public-evidence.ts';
import { badReport, goodReport, newsletterReport } from '../report/reports.ts';
import { runToEnd, startScheduling } from '../schedules/scheduling.ts';
import type { Made } from './sharing.ts';

type Evidence = CheckResult['evidence'];

const DECLARED = new Map<string, CheckDeclaration>(
  [...CHECKS, ...DOMAIN_CHECKS].map((check) => [check.id, check]),
);
const DEFECTS = [...AUTHENTICATION, ...REPUTATION, ...INFRASTRUCTURE, ...COMPLIANCE, ...CONTENT];

/** The findings of every check in all planted defects and in the sample reports. */
async function realChecks(): Promise<CheckResult[]> {
  const found: CheckResult[] = [];
  for (const defect of [null, ...DEFECTS]) {
    const world = cleanWorld();
    defect?.plant(world);
    found.push(...(await analyzeWorld(world)).checks);
  }
  for (const report of [goodReport, badReport, newsletterReport])
    found.push(...(await report()).checks);
  return found;
}

const REAL = await realChecks();

/** One result of each check, with every evidence key of its findings. */
function fullChecks(): CheckResult[] {
  const merged = new Map<string, CheckResult>();
  for (const check of REAL) {
    const evidence = { ...merged.get(check.id)?.evidence };
    for (const [key, value] of Object.entries(check.evidence))
      if (JSON.stringify(value).length > JSON.stringify(evidence[key] ?? null).length)
        evidence[key] = value;
    merged.set(check.id, { ...structuredClone(check), evidence });
  }
  const [sample] = merged.values();
  for (const id of DECLARED.keys())
    if (!merged.has(id))
      merged.set(id, { ...structuredClone(sample!), id, label: id, evidence: {} });
  return [...merged.values()];
}

const SECRET = /zq\d+secretqz/g;

/** Plants secrets in evidence; `quoted` are the values that a sentence may quote. */
function planter() {
  let count = 0;
  const quoted: string[] = [];
  const secret = () => {
    count += 1;
    return `zq${count}secretqz`;
  };

  /** A value whose secret part the kind must remove. */
  function plantedValue(kind: PublicKind): string {
    const word = secret();
    const file = `dir/${word}.js`;
    if (kind === 'shown') return `see https://shop.example/p/${word}, ${secret()}@mail.example`;
    if (kind === 'host') return `https://shop.example/r/${word}?t=${secret()}`;
    if (kind === 'mailbox-domain' || kind === 'token-free') return `${word}@shop.example`;
    if (kind === 'file-extension') return `${word}.zip`;
    if (kind === 'archive-member') return `contains ${file}, which is of type .js`;
    if (kind === 'engine-text') return `Mail of ${word}@mail.example, ${secret()}(at)mail.example`;
    return word;
  }

  const NEVER_QUOTED: PublicRule[] = ['unquoted', 'file-name'];

  function leaf(value: Json, rule: PublicRule | undefined): Json {
    const text = typeof rule === 'object' ? rule[''] : rule;
    const kind = typeof text === 'string' ? text : 'left-out';
    if (kind === 'our-page' || (kind === 'shown' && typeof value !== 'string')) return value;
    const planted = plantedValue(kind);
    if (!NEVER_QUOTED.includes(kind)) quoted.push(planted);
    return planted;
  }

  function plant(value: Json, rule: PublicRule | undefined, parent: PublicEvidence): Json {
    const rules = rule === 'as-parent' ? parent : rule;
    if (Array.isArray(value))
      return [...value.map((item) => plant(item, rule, parent)), leaf('', rule)];
    if (typeof value !== 'object' || value === null) return leaf(value, rule);
    return object(value, typeof rules === 'object' ? rules : {});
  }

  function object(value: Evidence, rules: PublicEvidence): Evidence {
    const planted: Evidence = {};
    for (const [key, inner] of Object.entries(value))
      planted[key] = plant(inner, rules[key] ?? rules['*'], rules);
    if (rules['*']) return planted;
    // Values that no check declares: text, list, object, and a key from the message.
    const [text, item, deep, key] = [secret(), secret(), secret(), secret()];
    quoted.push(text, item, deep, key);
    return { ...planted, undeclared: text, more: [item, { deep, list: [[deep]], [key]: true }] };
  }

  /** Values for declared keys that no finding here has. */
  function example(rule: PublicRule): Json {
    if (typeof rule === 'string') return rule === 'our-page' ? null : '';
    return Object.fromEntries(Object.entries(rule).map(([key, inner]) => [key, [example(inner)]]));
  }

  return {
    quoted,
    count: () => count,
    evidence(check: CheckResult): Evidence {
      const rules = DECLARED.get(check.id)?.publicEvidence ?? {};
      return object({ ...(example(rules) as Evidence), ...check.evidence }, rules);
    },
  };
}

/** Checks with secrets in their evidence and sentences that quote all of them. */
function plantedChecks(): { checks: CheckResult[]; count: number } {
  const secrets = planter();
  const unknown = { ...structuredClone(REAL[0]!), id: 'check_of_another_version' };
  const checks = [...fullChecks(), unknown].map((check): CheckResult => {
    secrets.quoted.length = 0;
    const evidence = secrets.evidence(check);
    const said = secrets.quoted
      .map((text) => `“${text}”, ${text.toUpperCase()}, "${text}"`)
      .join(' ');
    const encoded = secrets.quoted.map((text) => encodeURIComponent(text)).join(' and ');
    return {
      ...check,
      status: 'fail',
      gain: 1,
      title: `${check.title} It quotes ${said}.`,
      detail: `${check.detail} ${said} ${encoded}`,
      evidence,
      fix: { text: `Fix ${said}.`, record: { type: 'TXT', name: 'a.example', value: said } },
    };
  });
  return { checks, count: secrets.count() };
}

const secretsIn = (text: string): string[] => [
  ...new Set(text.replace(/\s+/g, '').toLowerCase().match(SECRET) ?? []),
];

test('Every evidence key of a finding is declared by its check', () => {
  const undeclared = REAL.flatMap(({ id, evidence }) =>
    undeclaredKeys(evidence, DECLARED.get(id)!).map((key) => `${id}: ${key}`),
  );
  assert.deepEqual([...new Set(undeclared)], []);
  for (const { id, publicEvidence } of [...CHECKS, ...DOMAIN_CHECKS])
    assert.notEqual(publicEvidence, undefined, id);
});

test('No public form shows secrets from evidence that is not public, or from sentences that quote it', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { service, create, makeDue, sendDue, sink } = await startScheduling(t);
  const { app, call, url } = service;
  const sent = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1&helo=a.example', {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  await runToEnd(analyzeJob(app));
  const { body: done } = await call<Test>('GET', `/v1/tests/${sent.body.id}`);
  assert.equal(done.status, 'completed');

  const { checks, count } = plantedChecks();
  assert.ok(count > 500, `${count} secrets`);
  const providers = done.providers!.map((verdict, index) => ({
    ...verdict,
    rules: verdict.rules.map((rule) => ({ ...rule, detail: checks[index]!.title })),
  }));
  await app.db
    .updateTable('tests')
    .set({
      checks: JSON.stringify(checks),
      providers: JSON.stringify(providers),
      summary: `First: ${checks.find(({ id }) => id === 'list_unsubscribe')!.title}`,
    })
    .where('id', '=', done.id)
    .execute();
  const own = await call('GET', `/v1/tests/${done.id}`);
  assert.equal(secretsIn(own.text).length, count, 'the team is shown all of them');

  const made = await call<Made>('POST', '/v1/reports/share', { json: { test_ids: [done.id] } });
  const path = `${url}/reports/public/${made.body.token}`;
  const read = async (from: string, accept = '*/*') =>
    new Uint8Array(await (await fetch(from, { headers: { accept } })).arrayBuffer());
  const text = async (...from: Parameters<typeof read>) =>
    Buffer.from(await read(...from)).toString();
  const pdf = await read(`${path}.pdf`);
  const { id } = await create();
  await call('POST', `/v1/reports/schedules/${id}/send`);
  await makeDue();
  await sendDue();
  const mail = await PostalMime.parse(sink.taken[0]!.raw);
  const forms = {
    page: await text(path, 'text/html'),
    JSON: await text(path, 'application/json'),
    PDF: `${pdfText(pdf)}\n${pdfWords(pdf)}`,
    badge: await text(`${url}/badges/${made.body.token}.svg`),
    'badge as JSON': await text(`${url}/badges/${made.body.token}.json`),
    mail: `${mail.subject} ${mail.text} ${mail.html}`,
  };
  for (const [form, shown] of Object.entries(forms)) {
    assert.ok(shown.length > 50, form);
    assert.deepEqual(secretsIn(shown), [], form);
  }
  for (const form of [forms.page, forms.JSON, forms.PDF])
    assert.ok(form.includes('It quotes'), 'the sentences themselves are shown');
});
