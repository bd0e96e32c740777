/** Mail from a domain of a known company: a service that replaced From, or a vendor that sends in its own name. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import { BREAKS_RULE } from '../../../src/analysis/sending-services/foreign-sender.ts';
import { checksToFix } from '../../../src/analysis/summary.ts';
import { ownedDomain } from '../../../src/lib/domain-names.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { NEEDED, verdicts } from '../providers/results.ts';

const KEY = makeKey();
const WEAK_KEY = makeKey('rsa1024');
const CLIENT = '203.0.114.7';

interface Mail {
  from: string;
  /** Header fields with line ends. */
  fields?: string;
  /** A plain message without an HTML part by default. */
  html?: true;
  body?: string;
  key?: typeof KEY | null;
  signer?: string;
  mailFrom?: string;
  helo?: string;
  zone?: Zone;
  offline?: true;
  /** A domain that the team added. */
  added?: { name: string; isVerified: boolean };
}

async function analyzeMail(mail: Mail): Promise<AnalysisResult> {
  const domain = mail.from.replace(/.*@/, '').replace('>', '');
  const { key = KEY, fields = '', mailFrom = `bounce@${domain}`, helo = `out.${domain}` } = mail;
  const type = mail.html ? 'text/html' : 'text/plain';
  const text = `${fields}From: ${mail.from}\nTo: bob@example.net\nSubject: Your order is on its way\nDate: Sat, 21 Nov 2026 09:59:58 +0000\nMessage-ID: <1@${domain}>\nMIME-Version: 1.0\nContent-Type: ${type}\n\n${mail.body ?? 'Hello Bob'}\n`;
  const unsigned = Buffer.from(text.replaceAll('\n', '\r\n'));
  const raw = key
    ? await signMessage(unsigned, { domain: mail.signer ?? domain, selector: 'k1', key })
    : unsigned;
  const zone: Zone = {
    [domain]: { A: [CLIENT], TXT: [`v=spf1 ip4:${CLIENT} -all`], MX: [`10 mx.${domain}`] },
    [`mx.${domain}`]: { A: [CLIENT] },
    [`out.${domain}`]: { A: [CLIENT] },
    '7.114.0.203.in-addr.arpa': { PTR: [`out.${domain}`] },
    [`_dmarc.${ownedDomain(domain) ?? domain}`]: {
      TXT: ['v=DMARC1; p=none; rua=mailto:d@receiver.example'],
    },
    [`k1._domainkey.${mail.signer ?? domain}`]: { TXT: [(key ?? KEY).record] },
    ...mail.zone,
  };
  return analyze(
    {
      raw,
      envelope: {
        mail_from: mailFrom,
        client_ip: CLIENT,
        helo,
        tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
      },
      receivedAt: RECEIVED_AT,
      kind: 'transactional',
    },
    {
      resolver: zoneResolver(zone),
      offline: mail.offline,
      setup: {
        ...NO_SETUP,
        domains: mail.added
          ? {
              [mail.added.name]: {
                feedbackAddress: 'fb@reports.example',
                isVerified: mail.added.isVerified,
              },
            }
          : {},
      },
      onFault(id, error) {
        throw new Error(`${id} threw`, { cause: error });
      },
    },
  );
}

const checkOf = ({ checks }: AnalysisResult, id: string) => checks.find((one) => one.id === id)!;

describe('A service that replaced From is the first finding', () => {
  const rows: { name: string; mail: Mail; title: string; fix: RegExp[]; guide: RegExp }[] = [
    {
      name: 'Constant Contact, for an address at a freemail domain',
      mail: {
        from: 'Toms Bakery <tomsbakery-gmail.com@shared1.ccsend.com>',
        fields: 'Reply-To: tomsbakery@gmail.com\n',
      },
      title:
        'Constant Contact replaced your From address because gmail.com cannot be authenticated there.',
      fix: [/address at a domain of your own/, /gmail\.com belongs to Gmail/],
      guide: /knowledgebase\.constantcontact\.com/,
    },
    {
      name: 'HubSpot, which writes the address into the local part, without Reply-To',
      mail: { from: 'Larch Labs <news=larchlabs.example@bd01.hs-domain.com>' },
      title:
        'HubSpot replaced your From address because larchlabs.example is not authenticated there.',
      fix: [
        /hs1-<account>\._domainkey\.larchlabs\.example/,
        /DMARC record: .*_dmarc\.larchlabs\.example/,
      ],
      guide: /knowledge\.hubspot\.com/,
    },
    {
      name: 'HubSpot, with replies to a freemail address',
      mail: {
        from: 'Larch Labs <news=larchlabs.example@hs-domain.com>',
        fields: 'Reply-To: larch@yahoo.com\n',
        zone: { '_dmarc.larchlabs.example': { TXT: ['v=DMARC1; p=reject'] } },
      },
      title:
        'HubSpot replaced your From address because larchlabs.example is not authenticated there.',
      fix: [/^In HubSpot, set up DKIM for larchlabs\.example\. (?!.*DMARC record)/],
      guide: /knowledge\.hubspot\.com/,
    },
    {
      name: 'Wix, with an address of its own pool',
      mail: {
        from: 'Nils Pianos <pianos@pb04.wixemails.com>',
        fields: 'Reply-To: Nils <nils@nils-pianos.example>\n',
      },
      title:
        'Wix replaced your From address because nils-pianos.example is not authenticated there.',
      fix: [/In Wix, set up DKIM for nils-pianos\.example/],
      guide: /wix\.com/,
    },
    {
      name: 'Kajabi, and the address as the display name',
      mail: { from: '"coach@oakridge.example" <coach=oakridge.example@f.kajabimail.net>' },
      title:
        'Kajabi replaced your From address because oakridge.example is not authenticated there.',
      fix: [/In Kajabi, set up DKIM for oakridge\.example/],
      guide: /help\.kajabi\.com/,
    },
    {
      name: 'Shopify, without any other address',
      mail: { from: 'Fern Shop <store+551@g.shopifyemail.com>' },
      title: 'Shopify replaced your From address because your domain is not authenticated there.',
      fix: [/In Shopify, use an address at a domain of your own/],
      guide: /help\.shopify\.com/,
    },
    {
      name: 'Zendesk, which is not known to replace From',
      mail: {
        from: 'Fern Help <support@fern.zendesk.com>',
        fields: 'Reply-To: help@fern.example\n',
      },
      title: 'Zendesk sends your message from fern.zendesk.com, not from fern.example.',
      fix: [/In Zendesk, set up DKIM for fern\.example/],
      guide: /zendesk\.com/,
    },
  ];
  for (const { name, mail, title, fix, guide } of rows)
    it(name, async () => {
      const result = await analyzeMail(mail);
      const [first, ...others] = checksToFix(result.checks);
      assert.equal(first?.id, 'from');
      assert.equal(first.title, title);
      for (const text of fix) assert.match(first.fix?.text ?? '', text);
      assert.match(first.fix?.guide?.url ?? '', guide);
      assert.equal(first.fix?.record, undefined);
      assert.deepEqual(
        others.map(({ id }) => id),
        [],
      );
      assert.equal(result.grade, 'B');
      assert.ok(result.summary === title || title.length > 90, result.summary);
      assert.equal(checkOf(result, 'dmarc_policy').status, 'info');
    });

  it('an address that a service gives to its customers is only information', async () => {
    const result = await analyzeMail({ from: 'Fern Help <support@fern.zendesk.com>' });
    assert.equal(checkOf(result, 'from').status, 'info');
    assert.match(checkOf(result, 'from').fix?.text ?? '', /authenticate it in Zendesk/);
    assert.equal(result.grade, 'A');
  });

  it('takes neither a name nor the address of a second service for the customer’s domain', async () => {
    for (const mail of [
      { from: 'Anna <anna-maria.weber@mail.beehiiv.com>' },
      { from: '"Team @ Fern" <team@mail.beehiiv.com>' },
      { from: 'Fern <fern@mail.beehiiv.com>', fields: 'Reply-To: r+1@inbound.mailgun.org\n' },
    ])
      assert.equal(checkOf(await analyzeMail(mail), 'from').status, 'info');
  });

  it('mail from the domain of the service’s own site is not replaced', async () => {
    const result = await analyzeMail({ from: 'Brevo <news@brevo.com>' });
    assert.equal(checkOf(result, 'from').status, 'info');
    assert.equal(result.grade, 'A');
  });

  it('a stranger with the domain of a service in From did not send through it', async () => {
    const result = await analyzeMail({
      from: 'Shop <news@55.brevosend.com>',
      fields: 'Reply-To: info@shop.example\n',
      key: null,
      mailFrom: 'x@stranger.example',
      zone: { 'stranger.example': { TXT: [`v=spf1 ip4:${CLIENT} -all`], A: [CLIENT] } },
    });
    assert.doesNotMatch(checkOf(result, 'from').title, /replaced/);
    assert.match(checkOf(result, 'dmarc').fix?.text ?? '', /domain of your own/);
  });

  it('a file without a network says the same', async () => {
    const result = await analyzeMail({
      from: 'Shop <news@55.brevosend.com>',
      fields: 'Reply-To: info@shop.example\n',
      offline: true,
    });
    assert.match(checkOf(result, 'from').title, /^Brevo replaced .*shop\.example/);
  });
});

describe('A vendor that sends in its own name', () => {
  const rows: [name: string, from: string, replyTo: string][] = [
    [
      'Intuit QuickBooks',
      'Alder Roofing <quickbooks@notification.intuit.com>',
      'office@alder.example',
    ],
    ['Eventbrite', 'Choir Nights <noreply@order.eventbrite.com>', 'choir@gmail.com'],
    ['Docusign', 'Alder via Docusign <dse_na4@docusign.net>', 'office@alder.example'],
    ['Calendly', 'Dr. Moss <notifications@calendly.com>', 'moss@practice.example'],
    ['Zoho Invoice', 'Alder <message-service@sender.zohoinvoice.com>', 'office@alder.example'],
  ];
  for (const [name, from, replyTo] of rows)
    it(`${name}: nothing to publish, and nothing to fix in its template`, async () => {
      const result = await analyzeMail({ from, fields: `Reply-To: ${replyTo}\n`, html: true });
      assert.deepEqual(checksToFix(result.checks), []);
      assert.equal(checkOf(result, 'from').title, `${name} sends this message in its own name.`);
      assert.equal(checkOf(result, 'text_part').status, 'info');
      assert.match(checkOf(result, 'text_part').detail, new RegExp(`Only ${name} can change this`));
      assert.match(result.summary, new RegExp(`from ${name}`));
    });

  it('Stripe and PayPal let their customers use a domain of their own', async () => {
    for (const from of ['Fern <receipts+acct_1@stripe.com>', 'Fern <service@paypal.com>']) {
      const { fix, status } = checkOf(await analyzeMail({ from }), 'from');
      assert.equal(status, 'info');
      assert.match(fix?.guide?.url ?? '', /stripe\.com|paypal\.com/);
    }
  });

  it('keeps advice about what the customer wrote', async () => {
    const result = await analyzeMail({
      from: 'Alder <quickbooks@notification.intuit.com>',
      body: 'Dear {{first_name}}, please pay.',
    });
    assert.deepEqual(
      checksToFix(result.checks).map(({ id }) => id),
      ['merge_tags'],
    );
  });

  it('a failure stays one, and names who can act', async () => {
    const result = await analyzeMail({
      from: 'Alder <quickbooks@notification.intuit.com>',
      zone: { '7.114.0.203.in-addr.arpa': {} },
    });
    assert.equal(checkOf(result, 'ptr').status, 'fail');
    assert.equal(
      checkOf(result, 'ptr').fix?.text,
      'Only Intuit QuickBooks can change this. Contact its support.',
    );
  });

  it('a warning that breaks a provider’s rule stays one', async () => {
    const find = (id: string, status: CheckStatus) =>
      verdicts({ [id]: status }).all.map(({ rules }) => rules.map((rule) => rule.status));
    const breaking = NEEDED.filter((id) => !isDeepStrictEqual(find(id, 'warn'), find(id, 'info')));
    assert.deepEqual(breaking.toSorted(), [...BREAKS_RULE].toSorted());
    const result = await analyzeMail({
      from: 'Alder <quickbooks@notification.intuit.com>',
      zone: { 'out.intuit.com': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } },
      mailFrom: 'b@out.intuit.com',
    });
    assert.equal(checkOf(result, 'return_path').status, 'warn');
    assert.match(checkOf(result, 'return_path').fix?.text ?? '', /^Only|belongs to Intuit/);
  });

  it('a forged invoice is not the vendor’s', async () => {
    const result = await analyzeMail({
      from: 'Alder <quickbooks@notification.intuit.com>',
      key: null,
      mailFrom: 'x@stranger.example',
    });
    assert.equal(checkOf(result, 'from').status, 'pass');
    assert.equal(checkOf(result, 'dmarc').status, 'fail');
  });

  it('a team that only added the domain is not the vendor', async () => {
    const result = await analyzeMail({
      from: 'Calendly <notifications@calendly.com>',
      added: { name: 'calendly.com', isVerified: false },
    });
    assert.equal(checkOf(result, 'dmarc_policy').fix?.record, undefined);
  });

  it('a team that verified the domain is the vendor itself', async () => {
    const result = await analyzeMail({
      from: 'Calendly <notifications@calendly.com>',
      added: { name: 'calendly.com', isVerified: true },
    });
    assert.equal(checkOf(result, 'from').status, 'pass');
    assert.equal(checkOf(result, 'dmarc_policy').status, 'warn');
    assert.equal(checkOf(result, 'dmarc_policy').fix?.record?.name, '_dmarc.calendly.com');
  });
});

describe('No advice at, and no record for, a domain of someone else', () => {
  const DOMAINS =
    'gmail.com outlook.com yahoo.co.uk web.de post.xero.com stripe.com github.com mail.etsy.com 77.brevosend.com shared1.ccsend.com t.shopifyemail.com send.klaviyomail.com fern.zendesk.com mail.beehiiv.com fern.onmicrosoft.com fern.github.io fern.herokuapp.com sendgrid.net sub.mailgun.org runbox.com mail.hostedemail.com'.split(
      ' ',
    );
  /** Each record of the domain is missing, or has an error. */
  const worlds = (domain: string): Record<string, Zone> => {
    const owned = ownedDomain(domain) ?? domain;
    return {
      missing: {
        [domain]: { A: [CLIENT] },
        [owned]: { A: [CLIENT] },
        [`mx.${domain}`]: {},
        [`_dmarc.${owned}`]: {},
        '7.114.0.203.in-addr.arpa': {},
      },
      broken: {
        [domain]: {
          A: [CLIENT],
          TXT: ['v=spf1 ptr +all'],
          MX: ['10 10.0.0.1', `20 gone.${domain}`],
        },
        [owned]: { A: [CLIENT], TXT: ['v=spf1 ptr +all'], MX: [`20 gone.${owned}`] },
        [`_dmarc.${owned}`]: { TXT: ['v=DMARC1; p=none; rua=mailto:d@receiver.example; t=y'] },
        [`_mta-sts.${domain}`]: { TXT: ['v=STSv1;'] },
        [`_smtp._tls.${domain}`]: { TXT: ['v=TLSRPTv1'] },
        [`default._bimi.${domain}`]: { TXT: ['v=BIMI1; l=http://x.example/a.png'] },
        [`out.${domain}`]: { A: ['203.0.114.9'] },
      },
      'null MX': { [domain]: { MX: ['0 .'], TXT: ['v=spf1 a', 'v=spf1 mx'] } },
    };
  };
  const keys = { signed: KEY, 'with a weak key': WEAK_KEY, unsigned: null };
  for (const domain of DOMAINS)
    it(domain, async () => {
      const owned = ownedDomain(domain) ?? domain;
      for (const [world, zone] of Object.entries(worlds(domain)))
        for (const [signed, key] of Object.entries(keys))
          for (const html of [true, undefined] as const) {
            const { checks } = await analyzeMail({
              from: `Fern <fern@${domain}>`,
              key,
              zone,
              html,
            });
            for (const { id, status, fix, title } of checks) {
              const where = `${id} (${world}, ${signed}): ${title} → ${fix?.text} ${fix?.record?.name ?? ''}`;
              const { record, text = '' } = fix ?? {};
              if (record?.type !== 'PTR') assert.ok(!record?.name.endsWith(owned), where);
              assert.ok(!record?.value.includes(owned), where);
              const rest = text.replace(/(?:^|(?<=\. )|because )\S+ belongs to [^.]*/g, '');
              assert.ok(!rest.includes(owned), where);
              if (status === 'info' && id !== 'from') assert.doesNotMatch(text, /publish/i, where);
            }
          }
    });

  for (const domain of [
    'bounces.sendgrid.net',
    'em.klaviyomail.com',
    'gmail.com',
    'fern.herokuapp.com',
    'web12.kasserver.com',
    'static.7.114.0.203.clients.your-server.de',
    'host-203-0-114-7.access.example',
  ])
    it(`${domain} as envelope sender, signer, HELO name and reverse name`, async () => {
      const owned = ownedDomain(domain) ?? domain;
      // The sender of an envelope may own any domain that is not generic.
      const mailFrom = owned === 'access.example' ? 'info@fern.example' : `bounce@${domain}`;
      for (const zone of [
        { '7.114.0.203.in-addr.arpa': { PTR: [domain] } },
        {
          '7.114.0.203.in-addr.arpa': { PTR: [domain] },
          [domain]: { TXT: ['v=spf1 ptr +all'], MX: ['10 10.0.0.1'] },
        },
        { '7.114.0.203.in-addr.arpa': {} },
      ] as Zone[]) {
        const { checks } = await analyzeMail({
          from: 'Fern <info@fern.example>',
          signer: domain,
          key: WEAK_KEY,
          mailFrom,
          helo: domain,
          zone,
        });
        for (const { id, fix, title } of checks) {
          const where = `${id}: ${title} → ${fix?.text} ${fix?.record?.name ?? ''}`;
          if (fix?.record?.type !== 'PTR') assert.ok(!fix?.record?.name.endsWith(owned), where);
          assert.ok(!fix?.record?.value.endsWith(owned), where);
        }
      }
    });
});

it('An equals sign in the local part of From shows no customer by itself', async () => {
  const zone: Zone = {
    '7.114.0.203.in-addr.arpa': { PTR: ['o9.ptr.sendgrid.net'] },
    'o9.ptr.sendgrid.net': { A: [CLIENT] },
  };
  for (const from of [
    'News <news=bank.example@heath.example>',
    'Orders <order=1.2@heath.example>',
    'Lists <SRS0=ab12=tt=bank.example=ann@heath.example>',
  ])
    assert.equal(checkOf(await analyzeMail({ from, zone }), 'from').status, 'pass', from);
  const named = await analyzeMail({
    from: 'News <news=grove.example@pool7.example>',
    fields: 'Reply-To: news@grove.example\n',
    zone,
  });
  assert.match(checkOf(named, 'from').title, /not from grove\.example/);
});
