/** Programs with the sender address of their installation: the setting to change comes first. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { domainZone, reportOf, type Scene } from './scenes.ts';

const SERVER = { helo: 'ci.werft-ost.de', ip: '203.0.114.61', ptr: 'ci.werft-ost.de' };
/** As IANA publishes them: nobody may send from these domains. */
const EXAMPLES = Object.fromEntries(
  ['example.com', 'example.net', 'example.org'].flatMap((domain) => [
    [domain, { TXT: ['v=spf1 -all'], MX: ['0 .'], A: ['198.51.100.1'] }],
    [`_dmarc.${domain}`, { TXT: ['v=DMARC1; p=reject; sp=reject'] }],
  ]),
);

const mail = (from: string, fields = '', envelope = from): Scene => ({
  message: `From: ${from}\nTo: team@werft-ost.de\nSubject: Build 17 failed\nMessage-ID: <b17@ci.werft-ost.de>\n${fields}\nSee the log.\n`,
  mailFrom: envelope.replace(/^.*<|>$/g, ''),
  ...SERVER,
  zone: {
    ...EXAMPLES,
    ...domainZone('werft-ost.de', 'microsoft', 'v=spf1 include:spf.protection.outlook.com -all'),
  },
});

const DEFAULTS: [scene: Scene, title: RegExp, setting: RegExp][] = [
  [
    mail('address not configured yet <nobody@nowhere>'),
    /of Jenkins: nobody@nowhere/,
    /In the settings of Jenkins: .*“System Admin e-mail address”/,
  ],
  [mail('noreply@nowhere'), /of SonarQube/, /In the settings of SonarQube: .*“From address”/],
  [mail('Grafana <admin@grafana.localhost>'), /of Grafana/, /from_address under \[smtp\]/],
  [
    mail('GitLab <gitlab@example.com>', 'X-GitLab-Project: dock\n'),
    /of GitLab/,
    /gitlab_email_from/,
  ],
  [
    mail('redmine@example.net', '', 'redmine@example.net'),
    /of Redmine/,
    /“Emission email address”/,
  ],
  [mail('webmaster@localhost'), /of Django/, /DEFAULT_FROM_EMAIL/],
  [mail('hello@example.com'), /of Laravel/, /MAIL_FROM_ADDRESS/],
  [mail('zabbix@zabbix.localdomain'), /of Zabbix/, /Media types, Email/],
  [
    mail('www-data@web01.localdomain', 'X-PHP-Originating-Script: 33:mail.php\n'),
    /a PHP program/,
    /sendmail_path/,
  ],
  [mail('root@backup.lan'), /a system program/, /myorigin/],
  [
    mail('Shop <your@email.com>'),
    /a placeholder, not your own address: your@email\.com/,
    /set the sender address/,
  ],
  [mail('no-reply@yourdomain.com'), /a placeholder/, /set the sender address/],
  [mail('alerts@example.org'), /a placeholder/, /set the sender address/],
  [
    mail('Werft <wordpress@werft-ost.de>'),
    /of WordPress: wordpress@werft-ost\.de/,
    /“From Email”.*smtp\.office365\.com/,
  ],
  [
    mail('root@ci.werft-ost.de'),
    /a system program/,
    /use an address at ci\.werft-ost\.de|werft-ost\.de/,
  ],
];

describe('The default address of a program in From', () => {
  for (const [scene, title, setting] of DEFAULTS)
    it(`is changed in its settings first: ${String(scene.message).split('\n')[0]}`, async () => {
      const { first, toFix, check, fixes, result } = await reportOf(scene);
      assert.equal(first.id, 'from', `${first.id}: ${first.title}`);
      assert.match(first.title, title);
      assert.match(first.fix!.text, setting);
      for (const id of ['spf', 'dkim', 'dmarc'])
        if (['fail', 'warn'].includes(check(id).status))
          assert.match(check(id).fix!.text, /^Goes with “From”: set the sender/, id);
      assert.ok(
        toFix.every(({ gain }) => gain <= first.gain),
        result.summary,
      );
      // No record for a domain of examples, for a name of a private network, or for the address of the server.
      assert.doesNotMatch(
        fixes,
        /"name":"[^"]*(?:example\.|local|\.lan|nowhere|email\.com|yourdomain)/,
      );
      assert.ok(!fixes.includes('203.0.114.61'), fixes);
      assert.match(result.summary, /From is a default address/);
    });

  it('is the cause where only From is left at its default', async () => {
    const { first, result } = await reportOf({
      ...mail('address not configured yet <nobody@nowhere>', '', 'jenkins@werft-ost.de'),
      zone: domainZone('werft-ost.de', 'own', 'v=spf1 ip4:203.0.114.61 -all'),
    });
    assert.equal(first.id, 'from');
    assert.match(result.summary, /From is a default address\.$/);
  });

  it('comes before the line that a device is on', async () => {
    const { first, check } = await reportOf({
      ...mail('root@truenas.local'),
      helo: 'truenas.local',
      ip: '91.12.34.56',
      ptr: 'p5b0c2238.dip0.t-ipconnect.de',
    });
    assert.match(first.title, /^From is the default address of TrueNAS/);
    for (const id of ['ptr', 'helo', 'mx', 'spf'])
      assert.match(check(id).fix!.text, /^Goes with “From”/, id);
  });

  const KEPT: [name: string, scene: Scene][] = [
    ['an address that was chosen', mail('gitlab@werft-ost.de')],
    ['an address of the own domain with a common name', mail('noreply@werft-ost.de')],
    [
      'a domain of examples that somebody uses in a test',
      {
        ...mail('news@example.com'),
        zone: { 'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'] } },
      },
    ],
    [
      'WordPress whose mail passes DMARC',
      {
        ...mail('wordpress@werft-ost.de'),
        zone: domainZone('werft-ost.de', 'own', 'v=spf1 ip4:203.0.114.61 -all'),
      },
    ],
    ...['info@my-shop.de', 'user@company.com', 'sales@mystore.com'].map((from): [string, Scene] => [
      `a domain like a placeholder that passes DMARC: ${from}`,
      {
        ...mail(from),
        zone: domainZone(from.replace(/.*@/, ''), 'own', 'v=spf1 ip4:203.0.114.61 -all'),
      },
    ]),
  ];
  for (const [name, scene] of KEPT)
    it(`is not seen in ${name}`, async () => {
      const { check, fixes } = await reportOf(scene);
      assert.equal(check('from').status, 'pass');
      assert.doesNotMatch(fixes, /Goes with “From”/);
    });

  it('is not seen where DNS does not answer for a domain of examples', async () => {
    const scene = mail('news@example.com');
    const { check } = await reportOf({
      ...scene,
      zone: { 'example.com': { fails: 'timeout' } } as Scene['zone'],
    });
    assert.equal(check('from').status, 'pass');
  });
});
