/** What the fixes of the authentication checks propose for mail from known services and freemail addresses. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { Envelope } from '../../../src/analysis/check.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import { checksToFix } from '../../../src/analysis/summary.ts';
import { organizationalDomain } from '../../../src/lib/domain-names.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const KEY = makeKey();
const ED_KEY = makeKey('ed25519');
const SHORT_KEY = makeKey('rsa1024');
const CLIENT = '203.0.114.7';

/** The sending server of a service: its reverse name, and its SPF record with the address. */
const server = (name: string, include: string): Zone => ({
  '7.114.0.203.in-addr.arpa': { PTR: [name] },
  [name]: { A: [CLIENT] },
  [include]: { TXT: [`v=spf1 ip4:${CLIENT} ~all`] },
});

const GOOGLE = server('mail-ed1-f54.google.com', '_spf.google.com');
const MICROSOFT = server(
  'mail-db8eur05on2071.outbound.protection.outlook.com',
  'spf.protection.outlook.com',
);
const SES = server('a48-101.smtp-out.amazonses.com', 'amazonses.com');
const MAILCHIMP = server('mail26.atl161.mcsv.net', 'mcsv.net');

interface Signer {
  domain: string;
  key?: typeof KEY;
  /** The body is changed after this signature. */
  broken?: true;
  selector?: string;
  /** The key is not in DNS. */
  unpublished?: true;
}

interface Mail {
  from: string;
  mailFrom?: string;
  helo?: string;
  fields?: string;
  signers?: Signer[];
  zone?: Zone;
}

async function analyzeMail(mail: Mail): Promise<AnalysisResult> {
  const { from, mailFrom = from, helo = 'mail.example.com', fields = '', signers = [] } = mail;
  const header = `From: Ann <${from}>\nTo: bob@example.net\nSubject: Hi\nDate: Sat, 21 Nov 2026 09:59:58 +0000\nMessage-ID: <1@example.com>\n`;
  let raw: Buffer = Buffer.from(`${fields}${header}\nHello Bob\n`.replaceAll('\n', '\r\n'));
  // The domain exists.
  const domain = from.slice(from.indexOf('@') + 1);
  const zone: Zone = { [domain]: {}, [organizationalDomain(domain)!]: {} };
  for (const { domain, key = KEY, broken, unpublished, ...signer } of signers) {
    const selector = signer.selector ?? (key === ED_KEY ? 'ed' : 's1');
    raw = await signMessage(raw, { domain, selector, key });
    // The signature of another message.
    if (broken) raw = Buffer.from(raw.toString().replace(/bh=[^;]{10}/, 'bh=AAAAAAAAAA'));
    if (!unpublished) zone[`${selector}._domainkey.${domain}`] = { TXT: [key.record] };
  }
  const envelope: Envelope = { mail_from: mailFrom, client_ip: CLIENT, helo, tls: null };
  return analyze(
    { raw, envelope, receivedAt: RECEIVED_AT, kind: 'transactional' },
    {
      resolver: zoneResolver({ ...zone, ...mail.zone }),
      onFault(id, error) {
        throw new Error(`${id} threw`, { cause: error });
      },
    },
  );
}

const fixOf = ({ checks }: AnalysisResult, id: string) => checks.find((one) => one.id === id)!.fix;

interface Row {
  name: string;
  mail: Mail;
  check: string;
  says: RegExp[];
  never?: RegExp;
  record?: { name: string; value: string } | null;
  guide?: RegExp;
}

const rows: Row[] = [
  {
    name: 'Google Workspace without its include',
    mail: {
      from: 'ann@example.com',
      zone: { ...GOOGLE, 'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'] } },
    },
    check: 'spf',
    says: [/include:_spf\.google\.com/, /every server of Google Workspace/],
    record: { name: 'example.com', value: 'v=spf1 mx include:_spf.google.com -all' },
    guide: /support\.google\.com/,
  },
  {
    name: 'a domain without an SPF record, from Microsoft 365',
    mail: { from: 'ann@example.com', zone: MICROSOFT },
    check: 'spf',
    says: [/publish this SPF record/],
    record: { name: 'example.com', value: 'v=spf1 include:spf.protection.outlook.com ~all' },
    guide: /learn\.microsoft\.com/,
  },
  {
    name: 'an include that would exceed ten lookups',
    mail: {
      from: 'ann@example.com',
      zone: {
        ...SES,
        'example.com': {
          TXT: [
            `v=spf1 ${Array.from({ length: 10 }, (_, i) => `include:i${i}.example`).join(' ')} -all`,
          ],
        },
        ...Object.fromEntries(
          Array.from({ length: 10 }, (_, i) => [
            `i${i}.example`,
            { TXT: ['v=spf1 ip4:192.0.2.9 -all'] },
          ]),
        ),
      },
    },
    check: 'spf',
    says: [/include:amazonses\.com/, /limit of 10 DNS lookups/],
    record: null,
  },
  {
    name: 'a header field alone',
    mail: {
      from: 'ann@example.com',
      fields: 'X-SG-EID: abc\n',
      zone: { 'example.com': { TXT: ['v=spf1 mx -all'] } },
    },
    check: 'spf',
    says: [/^If you send through SendGrid: Add include:sendgrid\.net/, /server of your own/],
    record: null,
  },
  {
    name: 'a server of nobody in the table',
    mail: { from: 'ann@example.com', zone: { 'example.com': { TXT: ['v=spf1 mx -all'] } } },
    check: 'spf',
    says: [/add this server/],
    record: { name: 'example.com', value: `v=spf1 mx ip4:${CLIENT} -all` },
  },
  {
    name: 'Microsoft 365 with the signature of the tenant',
    mail: {
      from: 'ann@example.com',
      signers: [{ domain: 'acme.onmicrosoft.com' }],
      zone: MICROSOFT,
    },
    check: 'dkim_alignment',
    says: [
      /selector1\._domainkey\.example\.com and selector2\._domainkey\.example\.com/,
      /selector1-example-com\._domainkey\.acme\.onmicrosoft\.com/,
      /Microsoft Defender portal shows their exact targets/,
    ],
    guide: /email-authentication-dkim-configure/,
  },
  {
    name: 'Amazon SES without a verified domain',
    mail: {
      from: 'ann@example.com',
      mailFrom: '0100@us-west-2.amazonses.com',
      signers: [{ domain: 'amazonses.com' }],
      zone: { ...SES, 'us-west-2.amazonses.com': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } },
    },
    check: 'spf_alignment',
    says: [
      /^Goes with “DKIM alignment”: .* In Amazon SES, set up a custom MAIL FROM domain, under example\.com\.$/,
    ],
    record: null,
  },
  {
    name: 'Mailchimp without an authenticated domain',
    mail: {
      from: 'ann@example.com',
      mailFrom: 'bounce@mail26.atl161.mcsv.net',
      signers: [{ domain: 'mail26.atl161.mcsv.net' }],
      zone: {
        ...MAILCHIMP,
        'mail26.atl161.mcsv.net': { A: [CLIENT], TXT: [`v=spf1 ip4:${CLIENT} -all`] },
      },
    },
    check: 'dkim_alignment',
    says: [
      /k2\._domainkey\.example\.com → dkim2\.mcsv\.net, k3\._domainkey\.example\.com → dkim3\.mcsv\.net/,
      /Mailchimp then signs|After that, Mailchimp signs with d=example\.com/,
    ],
    guide: /mailchimp\.com\/help/,
  },
  {
    name: 'an unsigned message from Google Workspace',
    mail: { from: 'ann@example.com', zone: GOOGLE },
    check: 'dkim',
    says: [/In Google Workspace, generate a DKIM key for example\.com/],
    record: {
      name: 'google._domainkey.example.com',
      value: 'v=DKIM1; k=rsa; p=<the public key in base64>',
    },
    guide: /174124/,
  },
  {
    name: 'a Gmail address from another server',
    mail: {
      from: 'ann@gmail.com',
      mailFrom: 'bounce@example.com',
      signers: [{ domain: 'example.com' }],
      zone: {
        'example.com': { TXT: [`v=spf1 ip4:${CLIENT} -all`] },
        '_dmarc.gmail.com': { TXT: ['v=DMARC1; p=none; sp=quarantine; rua=mailto:d@google.com'] },
      },
    },
    check: 'dmarc',
    says: [/Send from an address at a domain of your own\. gmail\.com belongs to Gmail/],
    record: null,
  },
  {
    name: 'a tenant domain of Microsoft 365',
    mail: { from: 'ann@acme.onmicrosoft.com', zone: MICROSOFT },
    check: 'dkim',
    says: [/^Add a custom domain to Microsoft 365/],
    record: null,
  },
  {
    name: 'a private suffix: the record goes to the name below it',
    mail: { from: 'ann@news.shop.uk.com' },
    check: 'dmarc_policy',
    says: [/Publish this record/],
    record: {
      name: '_dmarc.shop.uk.com',
      value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@shop.uk.com',
    },
  },
  {
    name: 'no key, and Microsoft 365 has the private key',
    mail: {
      from: 'ann@example.com',
      signers: [{ domain: 'example.com', selector: 'selector1', unpublished: true }],
      zone: MICROSOFT,
    },
    check: 'dkim',
    says: [/^Publish two CNAME records: selector1\._domainkey\.example\.com/],
    record: null,
    guide: /microsoft/,
  },
  {
    name: 'no key, and the sending server is unknown',
    mail: { from: 'ann@example.com', signers: [{ domain: 'example.com', unpublished: true }] },
    check: 'dkim',
    says: [/^Publish the public key that your mail server/],
  },
  {
    name: 'a key of 1024 bits, and Amazon SES has the private key',
    mail: {
      from: 'ann@example.com',
      signers: [{ domain: 'example.com', key: SHORT_KEY }],
      zone: SES,
    },
    check: 'dkim_key',
    says: [/^If Amazon SES made this signature: /, /Otherwise: Generate a 2048-bit/],
  },
  {
    name: 'a key of 1024 bits that Amazon SES renews, which signs already',
    mail: {
      from: 'ann@example.com',
      signers: [{ domain: 'example.com', key: SHORT_KEY }],
      zone: SES,
    },
    check: 'dkim_key',
    says: [/already signs for example\.com/, /generate a 2048-bit DKIM key/],
  },
  {
    name: 'a name of a private network',
    mail: { from: 'ann@nas.local' },
    check: 'from',
    says: [/Replace ann@nas\.local with an address at a domain of your own/],
    record: null,
  },
  {
    name: 'the system account of a computer',
    mail: { from: 'root@srv.corp', helo: 'srv.corp' },
    check: 'from',
    says: [/Replace root@srv\.corp with an address at a domain of your own/, /myorigin/],
    record: null,
  },
  {
    name: 'a broken signature of the From domain next to a valid one of the service',
    mail: {
      from: 'ann@example.com',
      mailFrom: '0100@us-west-2.amazonses.com',
      signers: [{ domain: 'example.com', broken: true }, { domain: 'amazonses.com' }],
      zone: {
        ...SES,
        '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
      },
    },
    check: 'dmarc',
    says: [/Fix the DKIM signature by example\.com/],
    never: /Sign with DKIM as/,
  },
];

describe('Fixes', () => {
  for (const { name, mail, check, says, never = /ip[46]:203\.0\.114\.7.*shared/, ...row } of rows)
    it(`${check}: ${name}`, async () => {
      const result = await analyzeMail(mail);
      const fix = fixOf(result, check);
      const text = fix?.text ?? '';
      for (const pattern of says) assert.match(text, pattern);
      assert.doesNotMatch(text, never);
      if (row.record === null) assert.equal(fix?.record, undefined);
      else if (row.record) {
        const { name: at, value } = fix!.record!;
        assert.deepEqual({ name: at, value }, row.record);
      }
      if (row.guide) assert.match(fix?.guide?.url ?? '', row.guide);
    });
});

/** An enforced policy, and a sending server without problems that would cap the score. */
const REJECT: Zone = {
  '7.114.0.203.in-addr.arpa': { PTR: ['mail.example.com'] },
  'mail.example.com': { A: [CLIENT] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
};
const readyFor = ({ providers }: AnalysisResult, id: string) =>
  providers.find(({ provider }) => provider === id)!;

test('Only an Ed25519 signature: an RSA signature is the first fix, and Gmail and Microsoft are not ready', async () => {
  const result = await analyzeMail({
    from: 'ann@example.com',
    mailFrom: 'bounce@sender.example',
    signers: [{ domain: 'example.com', key: ED_KEY }],
    zone: { ...REJECT, 'sender.example': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } },
  });
  const authentication = result.checks.filter(({ category }) => category === 'authentication');
  const [first] = checksToFix(authentication);
  assert.equal(first?.id, 'dkim_key');
  assert.equal(first.status, 'fail');
  assert.match(first.fix?.text ?? '', /2048-bit RSA key/);
  assert.equal(result.auth_results.dmarc, 'pass');
  for (const id of ['gmail', 'microsoft']) {
    const { rules, ready } = readyFor(result, id);
    assert.equal(ready, false, id);
    for (const rule of rules.filter((one) =>
      ['dmarc_policy', 'dkim', 'alignment'].includes(one.id),
    ))
      assert.deepEqual([rule.status, /Ed25519/.test(rule.detail)], ['not_met', true], rule.id);
  }
});

test('An Ed25519 signature next to aligned SPF: only the rules about DKIM are not met', async () => {
  const result = await analyzeMail({
    from: 'ann@example.com',
    signers: [{ domain: 'example.com', key: ED_KEY }],
    zone: { ...REJECT, 'example.com': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } },
  });
  assert.equal(result.checks.find(({ id }) => id === 'dkim_key')?.status, 'warn');
  const rules = new Map(readyFor(result, 'gmail').rules.map(({ id, status }) => [id, status]));
  assert.deepEqual(
    ['dkim', 'dmarc_policy', 'alignment', 'spf_or_dkim'].map((id) => rules.get(id)),
    ['not_met', 'met', 'met', 'met'],
  );
});

test('spf_alignment only informs if an RSA signature is aligned', async () => {
  const mail: Mail = {
    from: 'ann@example.com',
    mailFrom: 'bounce@sender.example',
    zone: { ...REJECT, 'sender.example': { TXT: [`v=spf1 ip4:${CLIENT} -all`] } },
  };
  for (const [key, status] of [
    [KEY, 'info'],
    [ED_KEY, 'fail'],
  ] as const) {
    const result = await analyzeMail({ ...mail, signers: [{ domain: 'example.com', key }] });
    const found = result.checks.find(({ id }) => id === 'spf_alignment')!;
    assert.deepEqual([found.status, found.earned], [status, status === 'fail' ? 0 : null]);
  }
});
