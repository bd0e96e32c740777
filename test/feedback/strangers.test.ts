/** Reports of strangers change nothing, whatever they are called, and keep no genuine report from counting. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LOOKUP_JOB } from '../../src/domains/feedback/lookup-job.ts';
import { expireEvents } from '../../src/events/events.ts';
import { followTrust } from '../../src/feedback/record/trust.ts';
import type { UnconfirmedReporters } from '../../src/feedback/senders/schema.ts';
import { seededRandom } from '../helpers/random.ts';
import {
  arf,
  BEGIN,
  dmarc,
  dsn,
  gzip,
  mail,
  ORIGINAL,
  type ReportParts,
  record,
  text,
  tls,
  tlsPolicy,
} from './reading/builders.ts';
import { type FeedbackService, startFeedback } from './start.ts';
import { SENDERS, STORY_ZONE } from './story.ts';
import {
  conclusions,
  EVIL,
  GOOGLE,
  LINKEDIN,
  MICROSOFT,
  mailFrom,
  SIGNER_ZONE,
  YAHOO,
} from './strangers.ts';

const DAY_S = 86_400;
const DAYS = 15;

const start = async (t: TestContext): Promise<FeedbackService> => {
  const feedback = await startFeedback(t, { zone: { ...STORY_ZONE, ...SIGNER_ZONE } });
  const { app } = feedback.service;
  const isLookedUp = async () =>
    (await app.db.selectFrom('feedback_domains').select('records').executeTakeFirst())?.records;
  feedback.clock.advance(1000);
  while (!(await isLookedUp())) {
    app.scheduler.wakeHere(LOOKUP_JOB);
    await new Promise(setImmediate);
  }
  return feedback;
};

const files = (...reports: string[]) =>
  mail([
    text('Reports.'),
    ...reports.map((report) => ({ type: 'application/gzip', content: gzip(report) })),
  ]);

/** Reports of two weeks, in one message. */
const weeks = (orgName: string, records: string, parts: ReportParts = {}) =>
  files(
    ...Array.from({ length: DAYS }, (_, day) => {
      const begin = BEGIN - (day + 1) * DAY_S;
      const period = { begin: String(begin), end: String(begin + DAY_S - 1) };
      return dmarc({ orgName, id: `${orgName}-${begin}`, ...period, records, ...parts });
    }),
  );

const passing = record({ source: SENDERS.own, count: '20' });
const PASSING: [name: string, from: string][] = [
  ['google.com', GOOGLE],
  ['Yahoo', YAHOO],
  ['Outlook.com', MICROSOFT],
];

/** What known receivers report. */
async function reportByKnown(feedback: FeedbackService, records = passing): Promise<void> {
  for (const [name, from] of PASSING) await mailFrom(feedback, weeks(name, records), { from });
}

async function unconfirmed({ service, domain }: FeedbackService) {
  const path = `/v1/feedback/unconfirmed?domain_id=${domain.id}`;
  return (await service.call<UnconfirmedReporters>('GET', path)).body;
}

test('Reports that a stranger signs in the name of three receivers make no policy ready', async (t) => {
  const feedback = await start(t);
  const before = await conclusions(feedback);
  assert.equal(before.advice.state, 'not_enough_data');
  for (const [name, from] of PASSING) {
    await mailFrom(feedback, weeks(name, passing), { from: EVIL });
    await mailFrom(feedback, weeks(name, passing), { from, signer: 'evil.example' });
    await mailFrom(feedback, weeks(name, passing), { from, signer: null, mailFrom: EVIL });
  }
  assert.deepEqual(await conclusions(feedback), before);
  const { reporters } = await unconfirmed(feedback);
  assert.deepEqual(
    reporters.map(({ name, label, kind, reports, messages }) => [
      name,
      label,
      kind,
      reports,
      messages,
    ]),
    [['evil.example', 'google.com', 'dkim', 3 * DAYS, 3 * DAYS * 20]],
  );

  await reportByKnown(feedback);
  const genuine = await conclusions(feedback);
  assert.deepEqual([genuine.advice.state, genuine.advice.messages], ['ready', 3 * DAYS * 20]);
});

test('Reports of a stranger neither hold a policy back nor hide that mail fails', async (t) => {
  const feedback = await start(t);
  await reportByKnown(feedback);
  const before = await conclusions(feedback);
  assert.equal(before.advice.state, 'ready');
  const failing = { dkim: 'fail', spf: 'fail' };
  const failures = record({ source: SENDERS.own, count: '5000', ...failing });
  await mailFrom(feedback, files(dmarc({ id: 'f', orgName: 'google.com', records: failures })), {
    from: EVIL,
  });
  const many = record({ source: SENDERS.own, count: '100000000' });
  await mailFrom(feedback, files(dmarc({ id: 'm', orgName: 'Yahoo', records: many })), {
    from: EVIL,
  });
  assert.deepEqual(await conclusions(feedback), before);

  // Even a person who confirms the stranger does not let it count a hundred million messages.
  const [reporter] = (await unconfirmed(feedback)).reporters;
  await feedback.service.call('PATCH', `/v1/feedback/reporters/${reporter!.id}`, {
    json: { confirmed: true },
  });
  await followTrust(feedback.service.app);
  const reports = (await feedback.reports('&status=implausible')).map(({ messages, detail }) => [
    messages,
    detail,
  ]);
  assert.deepEqual(reports, [
    [100_000_000, 'It counts 100000000 in a day. The largest day that counts so far has 5000.'],
  ]);
});

test('An implausible count of a known receiver counts, and is named', async (t) => {
  const feedback = await start(t);
  const many = record({ source: SENDERS.own, count: '100000000' });
  await mailFrom(feedback, files(dmarc({ id: 'm', records: many })), { from: GOOGLE });
  await mailFrom(feedback, files(dmarc({ id: 'n' })), { from: GOOGLE });
  const [implausible, usual] = await feedback.reports();
  assert.equal(implausible!.status, 'counted');
  assert.match(implausible!.detail!, /^It counts 100000000 in a day/);
  assert.deepEqual([usual!.status, usual!.detail], ['counted', null]);
});

test('A stranger who guesses the ID of a report does not displace the genuine one', async (t) => {
  const feedback = await start(t);
  const report = (count: string) =>
    files(
      dmarc({
        id: '12345',
        orgName: 'google.com',
        records: record({ source: SENDERS.own, count }),
      }),
    );
  await mailFrom(feedback, report('1'), { from: EVIL });
  await mailFrom(feedback, report('2'), { from: GOOGLE, signer: 'evil.example' });
  await mailFrom(feedback, report('500'), { from: GOOGLE });
  await mailFrom(feedback, report('500'), { from: GOOGLE });
  assert.deepEqual(
    (await feedback.reports()).map(({ status, reporter, messages }) => [
      status,
      reporter,
      messages,
    ]),
    [
      ['unconfirmed', 'evil.example', 1],
      ['unverified', null, 2],
      ['counted', 'google.com', 500],
      ['duplicate', 'google.com', 500],
    ],
  );
  // The name in a report is only a label: the ID, the period and the domain identify it.
  await mailFrom(
    feedback,
    files(dmarc({ id: '12345', orgName: 'Google LLC', records: record({ count: '7' }) })),
    { from: GOOGLE },
  );
  assert.equal((await feedback.reports()).at(-1)!.status, 'conflict');
  // The same report from a file is a copy, too.
  const [uploaded] = await feedback.upload(report('500'));
  assert.deepEqual([uploaded!.status, uploaded!.reporter], ['duplicate', 'google.com']);
});

test('Complaints of a stranger cause no event; those of a known loop or a confirmed one do', async (t) => {
  const feedback = await start(t);
  const events = async () =>
    (await feedback.service.call<{ data: object[] }>('GET', '/v1/events?type=complaint.received'))
      .body.data.length;
  const complaint = (id: string) =>
    Buffer.from(
      Buffer.from(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n'))
        .toString('latin1')
        .replace('<report-1@', `<${id}@`),
      'latin1',
    );
  await mailFrom(feedback, complaint('a'), { from: EVIL });
  await mailFrom(feedback, complaint('b'), { from: 'someone@hotmail.com' });
  assert.equal(await events(), 0);
  await mailFrom(feedback, complaint('c'), { from: 'staff@hotmail.com' });
  await mailFrom(feedback, complaint('d'), { from: 'feedback@arf.mail.yahoo.com' });
  assert.equal(await events(), 2);
  const { reporters } = await unconfirmed(feedback);
  assert.deepEqual(reporters.map(({ name, complaints }) => `${name} ${complaints}`).sort(), [
    'evil.example 1',
    'someone@hotmail.com 1',
  ]);
  const evil = reporters.find(({ name }) => name === 'evil.example')!;
  await feedback.service.call('PATCH', `/v1/feedback/reporters/${evil.id}`, {
    json: { confirmed: true },
  });
  await followTrust(feedback.service.app);
  assert.equal(await events(), 3);
});

test('A loop says which domain its complaint is about, whatever a stranger wrote into the message', async (t) => {
  const feedback = await start(t);
  const about = (domain: string, id: string) =>
    Buffer.from(
      Buffer.from(arf(`Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: ${domain}\n`))
        .toString('latin1')
        .replace('<report-1@', `<${id}@`),
      'latin1',
    );
  await mailFrom(feedback, about('evil.example', 'a'), { from: LOOP });
  await mailFrom(feedback, about('mail.example.com', 'b'), { from: LOOP });
  assert.deepEqual(
    (await feedback.reports()).map(({ status, reason }) => reason ?? status),
    ['foreign_domain', 'counted'],
  );
});

const ON_TOP: [what: string, tamper: (signed: string) => string][] = [
  ['another From', (signed) => `From: staff@hotmail.com\r\n${signed}`],
  [
    'another From, with a fold before the colon of the signed one',
    (signed) => `From: staff@hotmail.com\r\n${signed.replace(/^From: /m, 'From\r\n : ')}`,
  ],
  ['another Message-ID', (signed) => `Message-ID: <another@hotmail.com>\r\n${signed}`],
  ['another Content-Type', (signed) => `Content-Type: multipart/mixed; boundary=x\r\n${signed}`],
];

for (const [what, tamper] of ON_TOP)
  test(`A signature authenticates nobody if there is ${what} on top of the message`, async (t) => {
    const feedback = await start(t);
    const complaint = arf(
      'Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n',
    );
    await mailFrom(feedback, complaint, { from: 'someone@hotmail.com', tamper });
    const [report] = await feedback.reports();
    assert.ok(report!.status === 'unverified' || report!.status === 'refused', report!.status);
  });

const LOOP = 'staff@hotmail.com';
const COMPLAINT = 'Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n';
const AUTH_FAILURE =
  'Feedback-Type: auth-failure\nAuth-Failure: dmarc\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n';
const latin1 = (raw: Uint8Array): string => Buffer.from(raw).toString('latin1');
/** With another boundary than the message around it. */
const withOther = (raw: Uint8Array, boundary = 'b1') => latin1(raw).replaceAll('b0', boundary);
const attached = (content: string) => ({ type: 'message/rfc822', content, plain: true });

const quoting = (html: string) => mail([text('Hello.'), { type: 'text/html', content: html }]);

test('What known senders mail back of a stranger is no report of theirs', async (t) => {
  const feedback = await start(t);
  await reportByKnown(feedback);
  const before = await conclusions(feedback);
  const failures = record({ source: SENDERS.own, count: '5000', dkim: 'fail', spf: 'fail' });
  const forgedXml = dmarc({ declaration: '', orgName: 'linkedin', id: 'q', records: failures });
  const forged = files(dmarc({ orgName: 'linkedin', id: 'forged', records: failures }));
  const forgedTls = files(tls({ 'report-id': 'forged' }));
  const back: [from: string, raw: Uint8Array][] = [LINKEDIN, GOOGLE, LOOP].flatMap((from) => [
    ...[forged, forgedTls, arf(COMPLAINT), arf(AUTH_FAILURE)].map((raw): [string, Uint8Array] => [
      from,
      mail([text('Your message could not be delivered.'), attached(withOther(raw))]),
    ]),
    // Quoted in a reply.
    [from, quoting(`<html><body><p>Hello,</p><blockquote>${forgedXml}</blockquote></body></html>`)],
    [from, quoting(`<p>Hello,</p>${forgedXml}`)],
    // Twice attached.
    [
      from,
      mail([
        text('Hello.'),
        attached(withOther(mail([text('Hi.'), attached(withOther(forged, 'b2'))]))),
      ]),
    ],
  ]);
  // A failure report of theirs carries the message of the stranger.
  back.push([LINKEDIN, arf(AUTH_FAILURE, withOther(forged))]);
  // A known sender of some reports is none of others.
  back.push(
    [LINKEDIN, arf(COMPLAINT)],
    [GOOGLE, arf(COMPLAINT)],
    [GOOGLE, forgedTls],
    [LOOP, forged],
  );
  for (const [from, raw] of back) await mailFrom(feedback, raw, { from });
  await followTrust(feedback.service.app);
  assert.deepEqual(await conclusions(feedback), before);
  const statuses = new Set(
    (await feedback.reports()).map(({ type, status }) => `${type} ${status}`),
  );
  assert.ok(statuses.has('dmarc_failure counted') && statuses.has('dmarc unverified'));
});

/** Fields that leave out what a stranger then changes. */
const FEW_FIELDS = ['from', 'to', 'subject'];

test('The same signed complaint is one complaint, however a stranger sends it again', async (t) => {
  const feedback = await start(t);
  const events = async () =>
    (await feedback.service.call<{ data: object[] }>('GET', '/v1/events?type=complaint.received'))
      .body.data.length;
  const again: ((signed: string) => string)[] = [
    (signed) => signed,
    (signed) => signed.replace(/^Message-ID: .*\r\n/m, ''),
    (signed) => signed.replace(/^Message-ID: .*$/m, 'Message-ID: <another@hotmail.com>'),
    (signed) => signed.replace(/^Date: .*$/m, 'Date: Sun, 22 Nov 2026 02:00:00 +0000'),
    // Relaxed canonicalization ignores these.
    (signed) => signed.replace('A recipient complained.', 'A \t recipient  complained. \t'),
    (signed) => `${signed}\r\n\r\n`,
    (signed) => signed.replace('multipart/report', 'multipart/mixed'),
  ];
  for (const tamper of again)
    await mailFrom(feedback, arf(COMPLAINT), { from: LOOP, headerList: FEW_FIELDS, tamper });
  const statuses = (await feedback.reports()).map(({ status }) => status);
  assert.deepEqual(statuses, ['counted', ...again.slice(1).map(() => 'duplicate')]);
  assert.equal(await events(), 1);
  // Another one of the same loop counts.
  await mailFrom(feedback, arf(COMPLAINT.replace('192.0.2.9', '192.0.2.10')), {
    from: LOOP,
    headerList: FEW_FIELDS,
  });
  assert.equal(await events(), 2);
});

test('Without a signed Content-Type, a body counts only if it begins with its delimiter', async (t) => {
  const feedback = await start(t);
  const forged = dmarc({ orgName: 'linkedin', id: 'forged' });
  // The stranger’s message has the parts of a report, of which its own boundary makes nothing.
  const original = `From: x@example.com\nSubject: x\n\n--evil\nContent-Type: text/xml\n\n${forged}\n--evil--\n`;
  const failure = arf(AUTH_FAILURE, original);
  const send = (raw: Uint8Array, tamper?: (signed: string) => string) =>
    mailFrom(feedback, raw, {
      from: LINKEDIN,
      headerList: FEW_FIELDS,
      ...(tamper ? { tamper } : {}),
    });
  const boundary = (value: string) => (signed: string) =>
    signed.replace(/^Content-Type: multipart.*$/m, `Content-Type: ${value}`);
  await send(failure, boundary('multipart/mixed; boundary=evil'));
  await send(failure);
  // As Google sends them: no Content-Type is signed, with parts and without.
  await mailFrom(feedback, files(dmarc({ orgName: 'google.com', id: '1' })), {
    from: GOOGLE,
    headerList: FEW_FIELDS,
  });
  await mailFrom(
    feedback,
    mail([{ type: 'application/gzip', content: gzip(dmarc({ orgName: 'google.com', id: '2' })) }]),
    { from: GOOGLE, headerList: FEW_FIELDS },
  );
  assert.deepEqual(
    (await feedback.reports()).map(({ type, status, reporter }) => [type, status, reporter]),
    [
      ['dmarc', 'unverified', null],
      ['dmarc_failure', 'counted', 'linkedin.com'],
      ['dmarc', 'counted', 'google.com'],
      ['dmarc', 'counted', 'google.com'],
    ],
  );
});

test('A complaint is announced once, however often its reporter is confirmed', async (t) => {
  const feedback = await start(t);
  const { service, clock } = feedback;
  const events = async () =>
    (await service.call<{ data: object[] }>('GET', '/v1/events?type=complaint.received')).body.data
      .length;
  await mailFrom(feedback, arf(COMPLAINT), { from: EVIL });
  const [{ id } = { id: '' }] = (await unconfirmed(feedback)).reporters;
  const confirm = async (confirmed: boolean) => {
    await service.call('PATCH', `/v1/feedback/reporters/${id}`, { json: { confirmed } });
    await followTrust(service.app);
  };
  assert.equal(await events(), 0);
  for (const confirmed of [true, false, true]) {
    await confirm(confirmed);
    assert.equal(await events(), 1);
  }
  await mailFrom(feedback, arf(COMPLAINT.replace('192.0.2.9', '192.0.2.10')), { from: EVIL });
  assert.equal(await events(), 2);
  // Long after the events expired, as well.
  await confirm(false);
  clock.advance(40 * DAY_S * 1000);
  await expireEvents(service.app);
  assert.equal(await events(), 0);
  await confirm(true);
  assert.equal(await events(), 0);
});

test('After two weeks of reports that agree with known receivers, a reporter is proposed and not confirmed', async (t) => {
  const feedback = await start(t);
  await reportByKnown(feedback);
  await conclusions(feedback);
  await mailFrom(feedback, weeks('Receiver', passing), { from: 'dmarc@honest.example' });
  const others = record({ source: '203.0.113.200', count: '20' });
  await mailFrom(feedback, weeks('Other', others), { from: EVIL });
  const agreeing = async () =>
    (await unconfirmed(feedback)).reporters.filter(({ agrees }) => agrees).length;
  // The periods are what the sender wrote. They all came at once.
  assert.equal(await agreeing(), 0);
  await feedback.service.app.db
    .updateTable('feedback_reports')
    .set(({ ref }) => ({ received_at: ref('period_to').$notNull() }))
    .where('status', '=', 'unconfirmed')
    .execute();
  assert.deepEqual(
    (await unconfirmed(feedback)).reporters.map(({ name, agrees }) => [name, agrees]).sort(),
    [
      ['evil.example', false],
      ['honest.example', true],
    ],
  );
  assert.equal((await conclusions(feedback)).dmarc.reporter_count, 3);
});

test('Whatever domains that are not known send, however it is signed, changes no conclusion', async (t) => {
  const feedback = await start(t);
  const { service, domain, clock } = feedback;
  for (const condition of ['new_source', 'source_failing', 'complaint_rate', 'tls_failing'])
    await service.call('POST', '/v1/alerts', {
      json: { name: condition, condition, channels: ['webhook'] },
    });
  const failing = { dkim: 'fail', spf: 'fail' };
  await reportByKnown(
    feedback,
    passing + record({ source: SENDERS.sendgrid, count: '10', ...failing }),
  );
  const before = await conclusions(feedback);
  const random = seededRandom(45);
  const oneOf = <T>(...values: T[]): T => values[random.below(values.length)]!;
  const records = () =>
    Array.from({ length: 1 + random.below(4) }, () =>
      record({
        source: oneOf(SENDERS.own, SENDERS.sendgrid, SENDERS.newcomer, '198.51.100.77'),
        count: String(oneOf(1, 12, 5000, 100_000_000)),
        disposition: oneOf('none', 'quarantine', 'reject'),
        ...oneOf<object>({}, failing, { spf: 'fail' }),
      }),
    ).join('');
  const label = () => oneOf('google.com', 'Yahoo', 'Outlook.com', 'KNOWN google.com', 'Evil');
  const contents: (() => Uint8Array)[] = [
    () => weeks(label(), records()),
    () => files(dmarc({ orgName: label(), records: records(), id: oneOf('r-1', 'r-2') })),
    () =>
      files(
        tls({ 'organization-name': label(), 'report-id': oneOf('t-1', 't-2') }, [
          tlsPolicy({}, { 'total-failure-session-count': oneOf(3, 5000) }),
        ]),
      ),
    () =>
      arf(
        `Feedback-Type: ${oneOf('abuse', 'fraud', 'auth-failure')}\nSource-IP: ${SENDERS.own}\nReported-Domain: example.com\n`,
        ORIGINAL,
      ),
    () =>
      dsn(
        'Reporting-MTA: dns; mx.evil.example\n\nFinal-Recipient: rfc822; reader@mailbox.example\nAction: failed\nStatus: 5.7.26\nDiagnostic-Code: smtp; 550 5.7.26 unauthenticated\n',
      ),
  ];
  const senders = () =>
    oneOf(
      { from: EVIL },
      { from: EVIL, signer: null },
      { from: 'reports@sub.evil.example' },
      { from: 'reports@evil.example', signer: 'google.com' },
      { from: 'someone@hotmail.com' },
      { from: 'someone@yahoo.com' },
      { from: oneOf(GOOGLE, YAHOO, MICROSOFT, 'staff@hotmail.com'), signer: null },
      { from: oneOf(GOOGLE, YAHOO, MICROSOFT, 'staff@hotmail.com'), signer: 'evil.example' },
      { from: GOOGLE, signer: null, mailFrom: EVIL },
    );
  for (let number = 0; number < 60; number++) {
    const raw = Buffer.from(
      Buffer.from(oneOf(...contents)())
        .toString('latin1')
        .replace('<report-1@', `<${number}@`),
      'latin1',
    );
    await mailFrom(feedback, raw, senders());
  }
  const token = domain.feedback.address.slice(3, 19);
  await service.call('POST', `/feedback/tls/${token}`, {
    key: null,
    body: tls({ 'organization-name': 'google.com' }),
    headers: { 'content-type': 'application/tlsrpt+json' },
  });
  await feedback.settled();
  await followTrust(service.app);
  assert.deepEqual(await conclusions(feedback), before);
  assert.ok((await unconfirmed(feedback)).reporter_count >= 4);
  clock.advance(1000);
});
