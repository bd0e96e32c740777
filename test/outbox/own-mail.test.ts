/** Our own emails in our own analysis: signed, sent over SMTP, without findings. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { MessageKind } from '../../src/analysis/check.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import type { Mail } from '../../src/net/smtp/compose.ts';
import { createMailer } from '../../src/net/smtp/mailer.ts';
import { type MailContent, mailFrame } from '../../src/report/mail-frame.ts';
import { CLIENT, cleanWorld, KEY } from '../analysis/planted/world.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { testClock } from '../helpers/clock.ts';
import { startMailSink } from './mail-sink.ts';

const LINK = 'https://example.com/invitations/kJ8vS2cWm4qpQe7TnYx0bGf1ZrLd9oHaUi3EyXwAqNk';
const INVITATION: MailContent = {
  title: 'Zoë Müller invites you to the team',
  preheader: 'The link works once, until 28 November.',
  blocks: [
    'Zoë Müller would like you to join the team that tests its e-mail with this service.',
    { facts: [['Your role', 'Member: makes tests and reads their reports']] },
    'The link works once and until 28 November 2026, 10:00 UTC.',
  ],
  button: { label: 'Accept the invitation', url: LINK },
  footer:
    'You get this because somebody invited reader@example.net at https://example.com. If you do not know why, ignore it.',
};

/** Sends the email and analyzes it with the DNS of a well-configured sender. */
async function analyzeSent(
  t: TestContext,
  mail: Omit<Mail, 'id' | 'to'>,
  kind: MessageKind = 'auto',
) {
  const sink = await startMailSink(t);
  const mailer = createMailer({
    url: `smtp://127.0.0.1:${sink.port}`,
    from: 'Deliverability <notices@example.com>',
    dkim: { domain: 'example.com', selector: 's1', key: KEY.privateKey },
    name: 'mail.example.com',
    clock: testClock(RECEIVED_AT - 1000),
  });
  assert.ok((await mailer.send({ ...mail, id: 'mail_01', to: 'reader@example.net' })).ok);
  const { raw, mailFrom } = sink.taken[0]!;
  const { zone, envelope, setup } = cleanWorld();
  zone['example.com']!.TXT = [`v=spf1 ip4:${CLIENT} -all`];
  return analyze(
    {
      raw,
      envelope: { ...envelope, mail_from: mailFrom },
      receivedAt: RECEIVED_AT,
      kind,
    },
    {
      resolver: zoneResolver(zone),
      web: async () => ({ status: 'answered', code: 200, headers: {}, body: new Uint8Array() }),
      setup: { ...NO_SETUP, checkLinks: true, ...setup },
      onFault(id, error) {
        throw new Error(`${id} threw`, { cause: error });
      },
    },
  );
}

type Analyzed = Awaited<ReturnType<typeof analyzeSent>>;
const findings = ({ checks }: Analyzed) =>
  checks.flatMap(({ id, status, title }) =>
    ['warn', 'fail', 'error'].includes(status) ? [`${id} ${status}: ${title}`] : [],
  );
const statusOf = ({ checks }: Analyzed, wanted: string) =>
  checks.find(({ id }) => id === wanted)?.status;

test('An invitation email scores 100 in the service’s own analysis', async (t) => {
  const result = await analyzeSent(t, { subject: INVITATION.title, ...mailFrame(INVITATION) });
  assert.deepEqual(findings(result), []);
  assert.equal(result.score, 100);
  for (const id of ['dkim', 'dkim_coverage', 'text_part', 'text_matches_html', 'html_structure'])
    assert.equal(statusOf(result, id), 'pass', id);
});

test('A report email with one-click unsubscribe passes analysis; both List-Unsubscribe headers are signed', async (t) => {
  const unsubscribe = 'https://example.com/unsubscribe/4711';
  const result = await analyzeSent(
    t,
    {
      subject: 'Deliverability last week: 87 (+4)',
      ...mailFrame({
        title: 'Deliverability last week',
        preheader: 'Two domains need attention.',
        blocks: ['The mean of your tests was 87, which is four more than in the week before.'],
        button: { label: 'Unsubscribe', url: unsubscribe },
        footer: 'You get this because somebody entered your address for the weekly report.',
      }),
      headers: {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    },
    'marketing',
  );
  assert.deepEqual(findings(result), []);
  assert.equal(statusOf(result, 'one_click_signed'), 'pass');
});
