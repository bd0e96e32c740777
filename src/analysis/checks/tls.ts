/** `tls`: whether the message was delivered over a current version of TLS. */

import { type Check, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';

const POSTFIX = 'in Postfix: smtp_tls_security_level = may';

/**
 * TLS 1.0 and 1.1 (RFC 8996) warn: many mailbox providers still accept them, and they protect against
 * passive eavesdropping. SSL does not, so it fails like an unencrypted connection.
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
        'TLS was not offered, or it is unknown whether the message arrived over TLS.',
      );
    const { used, version, cipher } = envelope.tls;
    const evidence = { used, version, cipher };
    if (!used)
      return fail({
        title: 'The message was delivered without TLS.',
        detail:
          'Gmail requires TLS (5.7.29), and anyone on the delivery path can read the message. This service offered STARTTLS, but your server did not use it.',
        fix: `Turn on STARTTLS for outgoing mail on your sending server (${POSTFIX}).`,
        evidence,
      });
    const versionMatch = /^TLSv?(\d+)(?:\.(\d+))?/i.exec(version ?? '');
    if (versionMatch && Number(versionMatch[1]) * 10 + Number(versionMatch[2] ?? 0) >= 12)
      return pass(
        `The message was delivered over ${version}.`,
        'The connection used a current TLS version.',
        evidence,
      );
    const fix = `Allow TLS 1.2 and 1.3 for outgoing mail on your sending server (${POSTFIX}, smtp_tls_protocols = >=TLSv1.2). Update its TLS library if it does not support them.`;
    if (versionMatch)
      return warn({
        title: `The message was delivered over ${version}, which is outdated.`,
        detail: 'TLS 1.0 and 1.1 are deprecated, and more and more mailbox providers refuse them.',
        fix,
        evidence,
        reference: rfc(8996),
      });
    if (/^SSL/i.test(version ?? ''))
      return fail({
        title: `The message was delivered over ${version}, which is insecure.`,
        detail: 'SSL has known vulnerabilities and must not be used.',
        fix,
        evidence,
        reference: rfc(7568),
      });
    return unknown(
      'Could not determine the TLS version.',
      'The message arrived over TLS, but the version is unknown.',
      evidence,
    );
  },
};
