/** The service's own report emails, signed and sent over STARTTLS, pass its analysis. */

// @one-database: about emails as others receive them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Mail } from '../../src/net/smtp/compose.ts';
import { createMailer } from '../../src/net/smtp/mailer.ts';
import { summaryPdf } from '../../src/report/pdf/pdf.ts';
import type { ScheduledReport } from '../../src/report/summary.ts';
import { reportMail } from '../../src/report/summary-mail.ts';
import { makeKey } from '../helpers/signer.ts';
import { DAY, HOSTILE, MONTH, NOTHING, WEEK } from '../report/scheduled-reports.ts';
import { SENDER_ZONE, startWithDns } from './sender.ts';

const KEY = makeKey();
const ZONE = {
  ...SENDER_ZONE,
  's1._domainkey.example.com': { TXT: [KEY.record] },
  'app.example.com': { A: ['192.0.2.1'] },
};
const UNSUBSCRIBE =
  'https://app.example.com/unsubscribe/kJ8vS2cWm4qpQe7TnYx0bGf1ZrLd9oHaUi3EyXwAqNk';
const MAX_MESSAGE = 100 * 1024;
const MAX_HTML = 60 * 1024;

/** The email to one recipient, with the PDF for that format. */
async function composeReport(
  report: ScheduledReport,
  pdf: boolean,
): Promise<Omit<Mail, 'id' | 'to'>> {
  const mail = reportMail(report, { unsubscribeUrl: UNSUBSCRIBE, hasPdf: pdf });
  assert.ok(Buffer.byteLength(mail.html) < MAX_HTML, `${mail.html.length}`);
  const file = { filename: 'deliverability-2026-11-23.pdf', contentType: 'application/pdf' };
  return {
    ...mail,
    headers: {
      'List-Unsubscribe': `<${UNSUBSCRIBE}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
    attachments: pdf ? [{ ...file, content: await summaryPdf(report) }] : undefined,
  };
}

async function startJudge(t: TestContext) {
  const { service } = await startWithDns(t, ZONE);
  const mailer = createMailer({
    url: `smtp://127.0.0.1:${service.smtp.port}`,
    from: 'Deliverability <reports@example.com>',
    dkim: { domain: 'example.com', selector: 's1', key: KEY.privateKey },
    name: 'mail.example.com',
    clock: service.app.clock,
    // As if from outside: the listener reads the client address from this line.
    dial(port, host) {
      const socket = connect(port, host);
      once(socket, 'connect').then(
        () => socket.write('PROXY TCP4 192.0.2.1 192.0.2.255 40000 25\r\n'),
        () => {},
      );
      return socket;
    },
  });
  t.after(() => mailer.close());
  let sent = 0;
  return async (mail: Omit<Mail, 'id' | 'to'>): Promise<Test> => {
    // As automatic mail it would be a notification, which needs no unsubscribe link.
    const { id, address } = await service.createTest({ kind: 'marketing' });
    const outcome = await mailer.send({ ...mail, id: `mail_${++sent}`, to: address });
    assert.ok(outcome.ok, JSON.stringify(outcome));
    return service.getTest(id, '?wait=50');
  };
}

function assertExemplary(ended: Test, what: string): void {
  assert.equal(ended.status, 'completed', what);
  assert.deepEqual(ended.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' }, what);
  const bad = ended.checks.filter(({ status }) => ['warn', 'fail'].includes(status));
  const said = bad.map(({ id, status, title, detail }) => `${id} ${status}: ${title} ${detail}`);
  assert.deepEqual(said, [], what);
  assert.ok(ended.score! >= 95, `${what}: ${ended.score}`);
  assert.equal(ended.envelope?.tls?.version, 'TLSv1.3');
  const passed = (id: string) => ended.checks.find((check) => check.id === id)?.status;
  for (const id of [
    'one_click',
    'one_click_signed',
    'dkim_coverage',
    'text_matches_html',
    'text_part',
  ])
    assert.equal(passed(id), 'pass', `${what}: ${id}`);
}

const SECTIONS = ['summary', 'trends', 'alerts'] as const;
const SETS = Array.from({ length: 8 }, (_, bits) => SECTIONS.filter((_, i) => bits & (1 << i)));

test('Report mail of every section set and format passes analysis with 95 or more', async (t) => {
  const judge = await startJudge(t);
  for (const sections of SETS)
    for (const pdf of [false, true]) {
      const what = `${sections.join(' ') || 'no section'}${pdf ? ', PDF' : ''}`;
      const ended = await judge(await composeReport({ ...WEEK, sections }, pdf));
      assertExemplary(ended, what);
      assert.ok(pdf || ended.message_size! < MAX_MESSAGE, `${what}: ${ended.message_size}`);
    }
});

test('Report mail of any period, empty or with hostile names passes analysis', async (t) => {
  const judge = await startJudge(t);
  for (const [what, report] of Object.entries({ DAY, MONTH, NOTHING, HOSTILE }))
    for (const pdf of [false, true]) {
      const ended = await judge(await composeReport(report, pdf));
      assertExemplary(ended, `${what}${pdf ? ', PDF' : ''}`);
      assert.ok(pdf || ended.message_size! < MAX_MESSAGE, `${what}: ${ended.message_size}`);
    }
});
