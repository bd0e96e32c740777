/** Large reports: white space, line ends and compression change nothing, and sums by source add up exactly. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_SUMS, RowSums, type SummedRow } from '../../../src/feedback/reading/fold-rows.ts';
import { LIMITS } from '../../../src/feedback/reading/limits.ts';
import { readFeedback } from '../../../src/feedback/reading/read.ts';
import type { DmarcReport } from '../../../src/feedback/reading/report.ts';
import { BEGIN, dmarc, gzip, zip } from './builders.ts';
import { INDENTED, type IndentedForm, indented, type ReportedSender, senders } from './large.ts';

const NOW = (BEGIN + 2 * 86_400) * 1000;

async function read(file: Uint8Array): Promise<DmarcReport> {
  const [item] = await readFeedback(file, { now: NOW });
  assert.ok(item?.ok && item.report.type === 'dmarc', JSON.stringify(item).slice(0, 300));
  assert.deepEqual(item.repaired, []);
  return item.report;
}

const PACKINGS: Record<string, (xml: string) => Uint8Array> = {
  plain: (xml) => Buffer.from(xml),
  gzip,
  zip: (xml) => zip([{ name: 'report.xml', data: xml }]),
};

const sum = (rows: { count: number }[]) => rows.reduce((all, { count }) => all + count, 0);

const withSenders = (sent: ReportedSender[]) =>
  dmarc({ records: sent.map(({ xml }) => xml).join('') });

for (const [name, form] of Object.entries(INDENTED) as [string, IndentedForm][])
  for (const [packing, pack] of Object.entries(PACKINGS))
    test(`A report with ${name}, ${packing}, is read like the plain one`, async () => {
      for (const count of packing === 'plain' ? [5, 5000] : [5, 1500]) {
        const sent = senders(count);
        const report = await read(pack(indented(withSenders(sent), form)));
        const expected = sent.map(({ address, count, dkim }) => [address, count, dkim]).reverse();
        assert.deepEqual(
          report.rows.map(({ address, count, dkim }) => [address, count, dkim]),
          expected,
        );
        assert.equal(sum(report.totals), sum(sent));
      }
    });

test('White space counts towards the limit of an element only beside text', async () => {
  const padded = (length: number) =>
    dmarc({ orgName: `${'\n'.repeat(length)}Receiver<!-- -->${' '.repeat(length)}`, records: '' });
  assert.equal((await read(Buffer.from(padded(4000)))).reporter, 'receiver');
  const [refused] = await readFeedback(Buffer.from(padded(5000)), { now: NOW });
  assert.equal(
    refused?.ok === false && refused.detail,
    'The XML element <org_name> has more than 4096 characters.',
  );
});

test('Rows of a report beyond 5,000 are summed up by service, or by network and signing domain', async () => {
  const all = senders(8000);
  const report = await read(gzip(withSenders(all)));
  const kept = report.rows.slice(0, LIMITS.rows);
  const sums = report.rows.slice(LIMITS.rows);
  assert.equal(report.foldedRows, 3000);
  assert.equal(sum(kept) + sum(sums), sum(all));
  assert.equal(report.foldedMessages, sum(sums));
  assert.ok(sums.length <= LIMITS.sums);
  // What a person would sum up by hand from the rows that are not kept.
  const smallest = all.toSorted((a, b) => b.count - a.count).slice(LIMITS.rows);
  const expected = new Map<string, number>();
  for (const { source, dkim, count } of smallest) {
    const key = `${source} ${dkim}`;
    expected.set(key, (expected.get(key) ?? 0) + count);
  }
  const found = new Map<string, number>();
  for (const { address, dkim, count } of sums) {
    const key = `${address} ${dkim}`;
    found.set(key, (found.get(key) ?? 0) + count);
  }
  assert.deepEqual([...found].sort(), [...expected].sort());
});

/** As a report shows other customers of Microsoft 365: with a signature in their name there, and some with their MAIL FROM. */
const TENANT = 'other.onmicrosoft.com';
for (const [mailFrom, dkim, expected] of [
  [TENANT, 'fail', { address: `others ${TENANT}`, signer: TENANT, mailFrom: null }],
  ['outlook.com', 'fail', { address: `others ${TENANT}`, signer: TENANT, mailFrom: null }],
  [null, 'fail', { address: `others ${TENANT}`, signer: TENANT, mailFrom: null }],
  // What passes is not a stranger's.
  [TENANT, 'pass', { address: `others ${TENANT}`, signer: null, mailFrom: TENANT }],
] as const)
  test(`A sum of another customer's messages (${dkim}, MAIL FROM ${mailFrom}) shows who signed those that fail`, () => {
    const sums = new RowSums(500);
    for (const address of ['40.107.1.1', '40.107.2.2'])
      sums.add({
        address,
        count: 2,
        disposition: 'none',
        dkim,
        spf: 'fail',
        reasons: [],
        headerFrom: null,
        signer: TENANT,
        mailFrom,
      });
    assert.deepEqual(
      sums
        .list()
        .map(({ address, signer, mailFrom, count }) => ({ address, signer, mailFrom, count })),
      [{ ...expected, count: 4 }],
    );
  });

test('If there are too many networks, the smallest become one source, and known services stay separate', () => {
  const sums = new RowSums(500);
  let messages = 0;
  for (let index = 0; index < 4000; index++) {
    const count = index < 100 ? 9 : 1;
    messages += count;
    sums.add({
      address: `${(index % 200) + 1}.${index >> 8}.${index & 255}.7`,
      count,
      disposition: index % 2 === 0 ? 'none' : 'reject',
      dkim: 'fail',
      spf: 'fail',
      reasons: index % 3 === 0 ? [{ type: 'mailing_list', comment: null }] : [],
      headerFrom: null,
      signer: null,
      mailFrom: index % 100 === 99 ? 'em.sendgrid.net' : `d${index}.example`,
    });
  }
  const rows = sums.list();
  const countOf = (matches: (row: SummedRow) => boolean) => sum(rows.filter(matches));
  assert.equal(sum(rows), messages);
  assert.equal(sums.messages, messages);
  assert.ok(rows.length <= 500, String(rows.length));
  assert.equal(
    countOf(({ address }) => address === 'others sendgrid.net'),
    9 + 39,
  );
  // The larger ones keep their network and their domain.
  assert.equal(
    countOf(({ address, count }) => /\/24 d\d+\.example$/.test(address!) && count === 9),
    99 * 9,
  );
  assert.ok(countOf(({ address }) => address === 'others') > 3000);
  // Receivers that say why stay counted.
  assert.equal(
    countOf(({ reasons }) => reasons.length > 0),
    1334 + 34 * 8,
  );
});

test('The number of sums is limited even if a hostile report has different services, domains and results', () => {
  const sums = new RowSums(MIN_SUMS);
  const services = [
    'sendgrid.net',
    'amazonses.com',
    'mcsv.net',
    'mailgun.org',
    'sparkpostmail.com',
  ];
  for (let index = 0; index < 20_000; index++)
    sums.add({
      address: `2001:db8:${(index % 65_536).toString(16)}::1`,
      count: 1,
      disposition: (['none', 'quarantine', 'reject', 'unknown'] as const)[index % 4]!,
      dkim: index % 3 === 0 ? 'pass' : 'fail',
      spf: index % 5 === 0 ? 'pass' : 'fail',
      reasons: [{ type: `reason-${index}`, comment: 'arc=pass' }],
      headerFrom: `h${index}.example.com`,
      signer: `d${index}.${services[index % 5]}`,
      mailFrom: null,
    });
  const rows = sums.list();
  assert.ok(rows.length <= MIN_SUMS);
  assert.equal(sum(rows), 20_000);
});

test('Sums distinguish tenants of a service, and subdomains in From', () => {
  const sums = new RowSums(100);
  for (let index = 0; index < 600; index++)
    sums.add({
      address: `40.107.${index & 255}.${index % 7}`,
      count: 1,
      disposition: 'none',
      dkim: 'fail',
      spf: 'fail',
      reasons: [],
      headerFrom: index % 3 === 0 ? 'news.example.com' : 'example.com',
      signer: index % 2 === 0 ? 'stranger.onmicrosoft.com' : 'other.customer.sendgrid.net',
      mailFrom: null,
    });
  assert.deepEqual(
    sums
      .list()
      .map(({ address, signer, headerFrom, count }) => [address, signer, headerFrom, count])
      .toSorted(),
    [
      ['others sendgrid.net', 'sendgrid.net', 'example.com', 200],
      ['others sendgrid.net', 'sendgrid.net', 'news.example.com', 100],
      ['others stranger.onmicrosoft.com', 'stranger.onmicrosoft.com', 'example.com', 200],
      ['others stranger.onmicrosoft.com', 'stranger.onmicrosoft.com', 'news.example.com', 100],
    ],
  );
});
