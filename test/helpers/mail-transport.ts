/** What mailing lists, forwarders and gateways do to a message after its sender has signed it. */

/** Changes the field with this name, which stands on one line. */
const changeField =
  (name: string, change: (value: string) => string) =>
  (message: string): string =>
    message.replace(
      new RegExp(`^(${name}: )(.*)$`, 'im'),
      (_all, start, value) => start + change(value),
    );

/** Adds fields on top. */
const addFields =
  (...lines: string[]) =>
  (message: string): string =>
    `${lines.join('\r\n')}\r\n${message}`;

/** Appends text to the body of a message with a single text part. */
const append =
  (text: string) =>
  (message: string): string =>
    `${message.replace(/(?:\r\n)*$/, '\r\n')}${text.replace(/\n/g, '\r\n')}`;

const MAILMAN_FOOTER = `_______________________________________________
Orchard mailing list -- orchard@lists.pomology.example
To unsubscribe send an email to orchard-leave@lists.pomology.example
https://lists.pomology.example/mailman3/lists/orchard.lists.pomology.example/
`;

const onText = (change: (message: string) => string) => (message: Buffer) =>
  Buffer.from(change(message.toString('latin1')), 'latin1');

export const TRANSFORMATIONS = {
  /** A gateway rewrites the text: a body hash no longer matches. */
  change_body: onText((message) => message.replace(/(\r\n\r\n[\s\S]*?)\bthe\b/, '$1this')),
  list_subject_tag: onText(changeField('Subject', (subject) => `[Orchard] ${subject}`)),
  list_footer: onText(append(MAILMAN_FOOTER)),
  list_fields: onText(
    addFields(
      'Received: from mx.pomology.example (mx.pomology.example [203.0.114.40])\r\n by lists.pomology.example (Postfix) with ESMTPS id 4Fq2;\r\n Sat, 21 Nov 2026 09:59:41 +0000 (UTC)',
      'List-Id: Growing old apple varieties <orchard.lists.pomology.example>',
      'List-Post: <mailto:orchard@lists.pomology.example>',
      'List-Archive: <https://lists.pomology.example/hyperkitty/list/orchard@lists.pomology.example/>',
      'List-Unsubscribe: <mailto:orchard-leave@lists.pomology.example>',
      'Precedence: list',
      'X-Mailman-Version: 3.3.10',
    ),
  ),
  /** A tag in front of the subject, as Exchange transport rules add it to outside mail. */
  external_subject: onText(changeField('Subject', (subject) => `[EXTERNAL] ${subject}`)),
  external_banner: onText((message) =>
    message.replace(
      '\r\n\r\n',
      '\r\n\r\nCAUTION: This email comes from outside your organization.\r\n\r\n',
    ),
  ),
  forwarder_received: onText(
    addFields(
      'Received: from mail.alumni-forward.example (mail.alumni-forward.example [203.0.114.60])\r\n by mx.alumni-forward.example (Postfix) with ESMTPS id 9Q1;\r\n Sat, 21 Nov 2026 09:59:52 +0000 (UTC)',
      'X-Forwarded-To: reader@example.net',
      'Delivered-To: k.lindqvist@alumni-forward.example',
    ),
  ),
  /** A forwarder with list software, which only adds fields. */
  list_id_of_forwarder: onText(
    addFields(
      'List-Id: <billing.alumni-forward.example>',
      'X-Original-To: billing@alumni-forward.example',
      'Precedence: list',
    ),
  ),
  /** ARC fields that follow no grammar. */
  malformed_arc: onText(
    addFields(
      'ARC-Seal: i=7; a=rsa-sha999; cv=maybe; d=; s=; b=***',
      'ARC-Seal: i=one; cv=pass',
      'ARC-Message-Signature: i=0; this is no tag list',
      'ARC-Authentication-Results: mx.nowhere.example; none',
    ),
  ),
} satisfies Record<string, (message: Buffer) => Buffer>;

export type Transformation = keyof typeof TRANSFORMATIONS;
