/** Contact forms with the visitor in From: an own address belongs there, and the visitor into Reply-To. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { domainZone, reportOf, type Scene } from './scenes.ts';

const WEB = { helo: 'web7.hosting-nord.net', ip: '203.0.114.40', ptr: 'web7.hosting-nord.net' };
const SPF = 'v=spf1 ip4:203.0.114.40 ~all';

const FREEMAIL = {
  'gmail.com': { TXT: ['v=spf1 ip4:209.85.128.0/17 ~all'], MX: ['5 gmail-smtp-in.l.google.com'] },
  '_dmarc.gmail.com': { TXT: ['v=DMARC1; p=none; sp=quarantine'] },
  'yahoo.de': { TXT: ['v=spf1 ip4:87.248.103.0/24 ~all'], MX: ['5 mx-eu.mail.am0.yahoodns.net'] },
  '_dmarc.yahoo.de': { TXT: ['v=DMARC1; p=reject'] },
};

interface Form extends Scene {
  name: string;
  visitor: string;
  site: string;
  /** The steps in the program. */
  steps: RegExp;
}

const form = (
  name: string,
  [visitor, site, mailFrom]: [string, string, string],
  rest: string,
  steps: RegExp,
  zone = {},
): Form => ({
  name,
  visitor,
  site,
  mailFrom,
  message: `From: Besucher <${visitor}>\nTo: buero@${site}\nMessage-ID: <f1@${site}>\n${rest}\n`,
  ...WEB,
  zone: { ...FREEMAIL, ...domainZone(site, 'own', SPF), ...zone },
  steps,
});

const FORMS: Form[] = [
  form(
    'Contact Form 7 in German, with a visitor whose provider rejects',
    ['t.wolf@yahoo.de', 'tischlerei-wolf.de', 'wordpress@tischlerei-wolf.de'],
    'Subject: Anfrage\nX-Mailer: PHPMailer 6.8.0 (https://github.com/PHPMailer/PHPMailer)\n\nVon: T. Wolf <t.wolf@yahoo.de>\nBetreff: Tisch\n\nNachrichtentext:\nWas kostet ein Tisch?\n\n-- \nDiese E-Mail wurde von einem Kontaktformular von Tischlerei Wolf (https://tischlerei-wolf.de) gesendet',
    /In Contact Form 7: .*Reply-To: \[your-email\]/,
  ),
  form(
    'WPForms with a visitor at a company without a DMARC record',
    ['j.hale@hale-import.co.uk', 'north-dental.co.uk', 'www-data@web7.hosting-nord.net'],
    'Subject: New Entry: Simple Contact Form\nX-Mailer: WPForms/1.9.2\n\nName: J. Hale\nEmail: j.hale@hale-import.co.uk\nMessage: Do you have time on Monday?',
    /In WPForms: under Settings, Notifications/,
    { 'hale-import.co.uk': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.hale-import.co.uk'] } },
  ),
  form(
    'a script of its own in French, which also sets the visitor as envelope sender',
    ['paul.remy@gmail.com', 'garage-remy.fr', 'paul.remy@gmail.com'],
    'Subject: Formulaire de contact\nX-PHP-Originating-Script: 1001:contact.php\n\nE-mail : paul.remy@gmail.com\nMessage : Bonjour',
    /In PHP: in the script/,
  ),
  form(
    'a Dutch form without any program',
    ['e.bakker@gmail.com', 'bloemen-huis.nl', 'formulier@bloemen-huis.nl'],
    'Subject: Bericht via contactformulier\n\nNaam: E. Bakker\nHebt u tulpen?',
    /In the form’s mail settings, set From/,
  ),
  form(
    'Drupal, with the visitor in Reply-To as well',
    ['ana.r@gmail.com', 'museo-norte.es', 'web@museo-norte.es'],
    'Reply-To: ana.r@gmail.com\nSubject: [Formulario de contacto] Horario\nX-Mailer: Drupal\n\nana.r@gmail.com ha enviado un mensaje con el formulario de contacto',
    /In Drupal Webform: /,
  ),
];

describe('A contact form with the visitor in From', () => {
  for (const one of FORMS)
    it(`puts an own address into From, and the visitor into Reply-To: ${one.name}`, async () => {
      const { first, fixes, result, check, toFix } = await reportOf(one);
      const domain = one.visitor.split('@')[1]!;
      assert.equal(first.id, 'from', first.title);
      assert.equal(
        first.title,
        `A contact form put a visitor’s address into From: ${one.visitor}.`,
      );
      assert.ok(
        first.fix!.text.startsWith(
          `Put an address of yours at ${one.site} into From, and the visitor’s address into Reply-To.`,
        ),
        first.fix!.text,
      );
      assert.match(first.fix!.text, one.steps);
      // Nothing at the visitor's domain is judged or called the reader's.
      assert.ok(!new RegExp(`"name":"[^"]*${domain}"`).test(fixes), fixes);
      for (const id of ['dmarc_policy', 'mx', 'bimi', 'mta_sts', 'tls_rpt', 'dnssec'])
        assert.equal(check(id).status, 'skipped', id);
      const texts = toFix
        .map(({ title, detail, fix }) => `${title} ${detail} ${fix?.text}`)
        .join(' ');
      assert.doesNotMatch(texts, /[Yy]our (?:DMARC )?policy/);
      for (const id of ['dkim', 'dmarc', 'spf_alignment'])
        if (check(id).status === 'fail')
          assert.match(check(id).fix!.text, /^Goes with “From”: put/, id);
      assert.match(result.summary, /: From is a visitor’s address\.$/);
      assert.ok(result.grade !== 'A' && result.grade !== 'B', String(result.grade));
    });
});

describe('Mail that is not from a contact form', () => {
  const site = 'praxis-ost.de';
  const zone = { ...FREEMAIL, ...domainZone(site, 'own', SPF) };
  const mail = (from: string, mailFrom: string, rest: string): Scene => ({
    message: `From: ${from}\nTo: gast@gmail.com\nMessage-ID: <m1@${site}>\n${rest}\n`,
    mailFrom,
    ...WEB,
    zone,
  });
  const OTHERS: [name: string, scene: Scene][] = [
    [
      'the form with its own address in From',
      mail(
        `Website <form@${site}>`,
        `wordpress@${site}`,
        'Reply-To: gast@gmail.com\nSubject: Kontaktformular\nX-Mailer: PHPMailer 6.8.0\n\nE-Mail: gast@gmail.com\nHallo',
      ),
    ],
    [
      'an answer from the own domain about a contact form',
      mail(
        `anna@${site}`,
        `anna@${site}`,
        'Subject: Re: Kontaktformular\n\nE-Mail: gast@gmail.com\n\nGern, kommen Sie am Montag.',
      ),
    ],
    [
      'an order of a shop with a private address of its own',
      mail(
        'Mein Laden <mein-laden@gmail.com>',
        `www-data@${site}`,
        'Subject: Ihre Bestellung 17\nX-Mailer: PHPMailer 6.8.0\n\nVielen Dank. Fragen? Schreiben Sie uns: mein-laden@gmail.com',
      ),
    ],
    [
      'a notification about a comment',
      mail(
        `blog@${site}`,
        `blog@${site}`,
        'Subject: New comment\nX-Mailer: PHPMailer 6.8.0\n\nEmail: gast@gmail.com wrote a comment',
      ),
    ],
  ];
  for (const [name, scene] of OTHERS)
    it(`keeps its advice: ${name}`, async () => {
      const { fixes, check } = await reportOf(scene);
      assert.doesNotMatch(fixes, /visitor|Goes with “From”/);
      assert.equal(check('from').status, 'pass');
    });
});
