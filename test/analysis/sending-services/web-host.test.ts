/** Mail of PHP scripts on web hosts: the advice is an SMTP account of the own domain. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { dmarc } from '../../../src/analysis/checks/dmarc.ts';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfAlignment } from '../../../src/analysis/checks/spf-alignment.ts';
import { runCheck } from '../../helpers/analysis.ts';

const scene = (fields: string, from: string, mailFrom: string, helo: string) => ({
  message: `From: Laden <${from}>\nSubject: Bestellung\n${fields}\n\nDanke\n`,
  zone: {
    [`_dmarc.${from.split('@')[1]}`]: { TXT: ['v=DMARC1; p=none; rua=mailto:d@laden.example'] },
  },
  envelope: { client_ip: '192.0.2.1', mail_from: mailFrom, helo, tls: null },
});

const HOSTED: [name: string, scene: ReturnType<typeof scene>, host: string, own: string][] = [
  [
    'WordPress',
    scene(
      'X-PHP-Originating-Script: 33:class-phpmailer.php',
      'shop@laden.example',
      'www-data@web12.hoster-nord.example',
      'web12.hoster-nord.example',
    ),
    'web12.hoster-nord.example',
    'laden.example',
  ],
  [
    'cPanel',
    scene(
      'X-Source-Args: /usr/bin/php /home/tienda/public_html/contacto.php',
      'ventas@tienda.example',
      'tienda@cp7.alojamiento.example',
      'cp7.alojamiento.example',
    ),
    'cp7.alojamiento.example',
    'tienda.example',
  ],
  [
    'a form on a subdomain',
    scene(
      'X-PHP-Script: www.atelier.example/form.php for 203.0.113.9',
      'contact@www.atelier.example',
      'apache@srv1.heberg.example',
      'mail.heberg.example',
    ),
    'srv1.heberg.example',
    'atelier.example',
  ],
];

for (const [name, input, host, own] of HOSTED)
  test(`A PHP script on a web host is told to use an SMTP account: ${name}`, async () => {
    for (const check of [spf, spfAlignment, dkim, dmarc]) {
      const { status, fix } = await runCheck(check, input);
      assert.notEqual(status, 'pass', check.id);
      if (!fix) continue;
      assert.equal(fix.record?.name.includes(host) ?? false, false, check.id);
      assert.ok(
        fix.text.startsWith(
          `A PHP script sent the message with the envelope sender of the web host, ${host}. Let it send through an SMTP account of ${own} instead`,
        ),
        `${check.id}: ${fix.text}`,
      );
    }
  });

test('A script that sends from the own domain, and mail without a script, keep their advice', async () => {
  const script = 'X-PHP-Originating-Script: 33:mail.php';
  const others = [
    scene(script, 'a@laden.example', 'www-data@web.laden.example', 'web.laden.example'),
    scene('X-Mailer: Thunderbird', 'a@laden.example', 'a@hoster.example', 'mx.hoster.example'),
    scene(script, 'laden@gmail.com', 'www-data@web.hoster.example', 'web.hoster.example'),
  ];
  for (const input of others)
    for (const check of [spf, dkim]) {
      const { fix } = await runCheck(check, input);
      assert.doesNotMatch(fix?.text ?? '', /PHP script/);
    }
});
