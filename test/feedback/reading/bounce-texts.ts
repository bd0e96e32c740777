/** A short bounce without a status part in the style of each mail server. */

export interface BounceSample {
  name: string;
  /** Of the mail server, or what a person or another program sends. */
  header: string;
  body: string;
  /** The domain of the returned message and, by recipient, what is read. */
  expected: string;
}

const RETURNED = `Received: from mail.example.com by relay.example.com; Sat, 21 Nov 2026 10:00:00 +0000
From: News <news@example.com>
To: a@one.example
Subject: November news
Message-ID: <news-1@example.com>

Hello.
`;

const daemon = (subject: string, more = '') =>
  `From: Mail Delivery System <MAILER-DAEMON@relay.example.com>\nTo: news@example.com\nSubject: ${subject}\n${more}`;

export const TEXT_BOUNCES: BounceSample[] = [
  {
    name: 'Exim',
    header: daemon(
      'Mail delivery failed: returning message to sender',
      'Auto-Submitted: auto-replied\nX-Failed-Recipients: a@one.example\n',
    ),
    body: `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one of its recipients:

  a@one.example
    host mx.one.example [192.0.2.1]
    SMTP error from remote mail server after RCPT TO:<a@one.example>:
    550 5.1.1 <a@one.example>: no such user
  b@two.example
    host mx.two.example [192.0.2.2]: 554 5.7.1 blocked using zen.spamhaus.org

------ This is a copy of the message, including all the headers. ------

${RETURNED}`,
    expected:
      'example.com: one.example failed hard 5.1.1 mx.one.example, two.example failed policy 5.7.1 mx.two.example',
  },
  {
    name: 'Exim, a warning',
    header: daemon('Warning: message 1x delayed 24 hours'),
    body: `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one of its recipients.

  a@one.example
    host mx.one.example [192.0.2.1]: Connection timed out
`,
    expected: 'null: one.example delayed soft null mx.one.example',
  },
  {
    name: 'Exim, with the recipient in a field only',
    header: daemon('Mail delivery failed', 'X-Failed-Recipients: a@one.example\n'),
    body: 'A message that you sent could not be delivered. The mailbox is full.\n',
    expected: 'null: one.example failed soft null null',
  },
  {
    name: 'qmail',
    header: daemon('failure notice'),
    body: `Hi. This is the qmail-send program at relay.example.com.
I could not deliver your message:

<a@one.example>:
192.0.2.1 does not like recipient.
Remote host said: 552 5.2.2 over quota
Giving up on 192.0.2.1.

--- Below this line is a copy of the message.

${RETURNED}`,
    expected: 'example.com: one.example failed soft 5.2.2 null',
  },
  {
    name: 'Postfix, with a boundary that never occurs',
    header: daemon(
      'Undelivered Mail Returned to Sender',
      'MIME-Version: 1.0\nContent-Type: multipart/report; boundary=wrong\n',
    ),
    body: `--right
Content-Type: text/plain

This is the mail system at host relay.example.com.

<a@one.example>: host mx.one.example[192.0.2.1] said: 550 5.7.1 Blacklisted

--right--
`,
    expected: 'null: one.example failed policy 5.7.1 mx.one.example',
  },
  {
    name: 'Sendmail',
    header: daemon('Returned mail: see transcript for details'),
    body: `   ----- The following addresses had permanent fatal errors -----
<a@one.example>
<b@two.example>

   ----- Transcript of session follows -----
... while talking to mx.one.example.:
550 5.1.1 <a@one.example>... User unknown
552 5.2.2 <b@two.example>... Mailbox full

   ----- Original message -----
${RETURNED}`,
    expected: 'example.com: one.example failed hard 5.1.1 null, two.example failed soft 5.2.2 null',
  },
  {
    name: 'an old Sendmail, with the recipient in its reply',
    header: daemon('Returned mail: User unknown'),
    body: `   ----- Transcript of session follows -----
550 <a@one.example>... User unknown

   ----- Unsent message follows -----
${RETURNED}`,
    expected: 'example.com: one.example failed hard 5.0.0 null',
  },
  {
    name: 'OpenSMTPD',
    header: daemon('Delivery status notification: error'),
    body: `    Hi!

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

a@one.example: 550 5.7.26 Unauthenticated mail is not accepted

    Below is a copy of the original message:

${RETURNED}`,
    expected: 'example.com: one.example failed policy 5.7.26 null',
  },
  {
    name: 'DragonFly Mail Agent',
    header: 'From: MAILER-DAEMON <>\nTo: news@example.com\nSubject: Mail delivery failed\n',
    body: `This is the DragonFly Mail Agent at relay.example.com.

There was an error delivering your mail to <a@one.example>.

mx.one.example [192.0.2.1] did not like our RCPT TO:
550 No such user

Message headers follow.

${RETURNED}`,
    expected: 'example.com: one.example failed hard 5.0.0 null',
  },
  {
    name: 'Gmail in 2014',
    header:
      'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nSubject: Delivery Status Notification (Failure)\n',
    body: `Delivery to the following recipient failed permanently:

     a@one.example

Google tried to deliver your message, but it was rejected by the server for the recipient domain one.example by mx.one.example. [192.0.2.1].
550 5.7.1 Spam

----- Original message -----

${RETURNED}`,
    expected: 'example.com: one.example failed policy 5.7.1 mx.one.example',
  },
  {
    name: 'Google Groups, in another language',
    header:
      'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nSubject: Delivery Status Notification (Failure)\n',
    body: `Die Gruppe gibt es nicht, oder Sie dürfen dort nicht schreiben.
Hilfe: https://groups.google.com/support/.
`,
    expected: 'null: null failed policy null null',
  },
  {
    name: 'Exchange 2003',
    header:
      'From: System Administrator <postmaster@one.example>\nSubject: Undeliverable: November news\n',
    body: `Your message

  To:      a@one.example
  Subject: November news

did not reach the following recipient(s):

a@one.example on Sat, 21 Nov 2026 10:00:00 +0000
    The recipient name is not recognized
`,
    expected: 'null: one.example failed hard null null',
  },
  {
    name: 'Domino',
    header: 'From: Postmaster@one.example\nSubject: DELIVERY FAILURE\n',
    body: `Your message

  Subject: November news

was not delivered to:

  a@one.example

because:

  User a not listed in Domino Directory
`,
    expected: 'null: one.example failed hard null null',
  },
  {
    name: 'Amazon WorkMail, with fields in its text',
    header:
      'From: MAILER-DAEMON@us-west-2.amazonses.com\nSubject: Delivery Status Notification (Failure)\n',
    body: `An error occurred while trying to deliver the mail to the following recipients:
a@one.example

Technical report:

Reporting-MTA: dsn; relay.example.com

Action: failed
Final-Recipient: rfc822; a@one.example
Diagnostic-Code: smtp; 550 5.1.1 User unknown
Status: 5.1.1
`,
    expected: 'null: one.example failed hard 5.1.1 null',
  },
  {
    name: 'Zoho',
    header: 'From: mailer-daemon@mail.zoho.com\nSubject: Undelivered Mail Returned to Sender\n',
    body: `This message was created automatically by mail delivery software.

a@one.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 User unknown

Received:from mail.zoho.com by mx.zohomail.com
From:News <news@example.com>
`,
    expected: 'example.com: one.example failed hard 5.1.1 null',
  },
  {
    name: 'GMX',
    header:
      'From: MAILER-DAEMON@mail.gmx.com\nSubject: Mail delivery failed: returning message to sender\n',
    body: `This message was created automatically by mail delivery software.

"a@one.example":
SMTP error from remote server after RCPT command:
host: mx.one.example
5.2.2 Mailbox full

--- The header of the original message is following. ---

${RETURNED}`,
    expected: 'example.com: one.example failed soft 5.2.2 mx.one.example',
  },
  {
    name: 'Mail.ru',
    header: 'From: mailer-daemon@corp.mail.ru\nSubject: Mail failure\n',
    body: `Письмо создано автоматически.

  a@one.example
    550 User unknown

This message was created automatically by mail delivery software.

  a@one.example
    host mx.one.example [192.0.2.1]: 550 User unknown

------ This is a copy of the message, including all the headers. ------

${RETURNED}`,
    expected: 'example.com: one.example failed hard 5.0.0 mx.one.example',
  },
  {
    name: 'SendGrid',
    header: daemon('Undelivered Mail Returned to Sender'),
    body: `This is an automatically generated message from SendGrid.

a:000000:<a@one.example> : 192.0.2.1 : mx.one.example:[192.0.2.2] : 550 5.1.1 User unknown in RCPT TO
`,
    expected: 'null: one.example failed hard 5.1.1 null',
  },
  {
    name: 'Messaging Server',
    header:
      'From: postmaster@relay.example.com\nSubject: Delivery Notification: Delivery has failed\n',
    body: `This report relates to a message you sent with the following header fields:

  To: a@one.example

Your message cannot be delivered to the following recipients:

  Recipient address: a@one.example
  Reason: Remote SMTP server has rejected address
  Diagnostic code: smtp;550 5.7.1 Blacklisted
`,
    expected: 'null: one.example failed policy 5.7.1 null',
  },
  {
    name: 'MailMarshal, with the reply before the recipients',
    header: 'From: postmaster@relay.example.com\nSubject: Undeliverable Mail\n',
    body: `Your message:
   Subject: November news

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    a@one.example

Additional Information
`,
    expected: 'null: one.example failed hard 5.1.1 null',
  },
  {
    name: 'IMail, with the reason before the address',
    header: 'From: "Postmaster" <postmaster@one.example>\nSubject: Undeliverable Mail\n',
    body: `Unknown user: a@one.example

Original message follows.

${RETURNED}`,
    expected: 'example.com: one.example failed hard null null',
  },
  {
    name: 'Verizon, without a recipient',
    header: 'From: MMSC NDR Administrator <sysadmin@vzwpix.com>\nSubject: Undeliverable Message\n',
    body: `Message could not be delivered to mobile.
Error: No valid recipients for this MM

Original Message:
${RETURNED}`,
    expected: 'example.com: null failed hard null null',
  },
  {
    name: 'a server with an unknown reason',
    header: daemon('failure notice'),
    body: `Hi. This is the qmail-send program at relay.example.com.

<a@one.example>:
Remote host said: 550 Go away
`,
    expected: 'null: one.example failed unknown 5.0.0 null',
  },
];

const BOUNCE = `Hi. This is the qmail-send program at relay.example.com.

<a@one.example>:
Remote host said: 550 5.1.1 User unknown

--- Below this line is a copy of the message.

${RETURNED}`;

/** Mail that is no bounce of a mail server. */
export const OTHER_MAIL: Omit<BounceSample, 'expected'>[] = [
  {
    name: 'a vacation reply that quotes a bounce',
    header:
      'From: Ann <ann@one.example>\nReturn-Path: <>\nAuto-Submitted: auto-replied\nSubject: Out of office: failure notice\n',
    body: `I am away until Monday.\n\n${BOUNCE}`,
  },
  {
    name: 'a vacation reply of a mail server',
    header:
      'From: postmaster@one.example\nAuto-Submitted: auto-replied\nSubject: Automatic reply\n',
    body: 'Thank you for your message. We read it within a day.\n',
  },
  {
    name: 'a bounce that a person forwards',
    header: 'From: Ann <ann@example.com>\nSubject: Fwd: failure notice\n',
    body: `What does this mean?\n\n---------- Forwarded message ----------\nFrom: MAILER-DAEMON@relay.example.com\n\n${BOUNCE}`,
  },
  {
    name: 'a bounce that a person quotes',
    header: 'From: Ann <ann@example.com>\nSubject: Re: failure notice\n',
    body: BOUNCE.replaceAll(/^/gm, '> '),
  },
  {
    name: 'a postmaster who quotes a bounce',
    header: 'From: postmaster@example.com\nSubject: Re: failure notice\n',
    body: `Please fix this address.\n\n${BOUNCE.replaceAll(/^/gm, '> ')}`,
  },
  {
    name: 'a bounce on a mailing list',
    header:
      'From: MAILER-DAEMON@lists.example.com\nList-Id: <ops.example.com>\nSubject: failure notice\n',
    body: BOUNCE,
  },
  {
    name: 'a newsletter about undeliverable mail',
    header:
      'From: News <news@example.com>\nList-Unsubscribe: <https://example.com/u>\nSubject: Undeliverable mail: what to do\n',
    body: 'A message that you sent could not be delivered to one or more recipients? Undeliverable mail is returned to its sender.\n',
  },
  {
    name: 'a receipt for a delivered message',
    header: 'From: postmaster@one.example\nSubject: Delivered: November news\n',
    body: 'Your message was delivered to the following recipients:\n\na@one.example\n',
  },
  {
    name: 'a notice of a postmaster',
    header: 'From: postmaster@one.example\nSubject: Maintenance\n',
    body: 'The mail server is down on Sunday. Write to a@one.example.\n',
  },
];
