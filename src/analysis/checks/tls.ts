/** The check `tls`: was the message delivered over an encrypted connection, and a current one? */

import { type Check, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';

const POSTFIX = 'in Postfix: smtp_tls_security_level = may';

/**
 * TLS 1.0 and 1.1 (RFC 8996) warn: receivers still take them, and they keep a passive listener out.
 * SSL, which does not, fails like none at all.
 */
export const tls: Check = {
  id: 'tls',
  category: 'infrastructure',
  points: 6,
  label: 'Encrypted delivery (TLS)',
  issueTitle: 'Delivered without TLS, or with an outdated version',
  reference: rfc(3207),
  publicEvidence: { used: 'shown', version: 'shown', cipher: 'shown' },
  run({ envelope }) {
    if (envelope.tls === null)
      return skipped(
        'Encryption was not checked.',
        'It is not known whether the message came over TLS, or TLS was not on offer.',
      );
    const { used, version, cipher } = envelope.tls;
    const evidence = { used, version, cipher };
    if (!used)
      return fail({
        title: 'The message was delivered without TLS.',
        detail:
          'This service offered STARTTLS and the client did not take it. Gmail requires TLS of senders (5.7.29), and anyone on the way could read the message.',
        fix: `Turn on STARTTLS for outgoing mail on the sending server (${POSTFIX}).`,
        evidence,
      });
    const number = /^TLSv?(\d+)(?:\.(\d+))?/i.exec(version ?? '');
    if (number && Number(number[1]) * 10 + Number(number[2] ?? 0) >= 12)
      return pass(
        `The message was delivered over ${version}.`,
        'The connection was encrypted with a current version of TLS.',
        evidence,
      );
    const change = `Allow TLS 1.2 and 1.3 for outgoing mail on the sending server, and update its TLS library if it does not know them (${POSTFIX}, smtp_tls_protocols = >=TLSv1.2).`;
    if (number)
      return warn({
        title: `The message was delivered over ${version}, which is outdated.`,
        detail: 'TLS 1.0 and 1.1 must not be used any more; more and more receivers refuse them.',
        fix: change,
        evidence,
        reference: rfc(8996),
      });
    if (/^SSL/i.test(version ?? ''))
      return fail({
        title: `The message was delivered over ${version}, which protects nothing.`,
        detail: 'SSL has been broken for years and must not be used.',
        fix: change,
        evidence,
        reference: rfc(7568),
      });
    return unknown(
      'The version of TLS is not known.',
      'The message came over TLS, but not which version of it is known.',
      evidence,
    );
  },
};
