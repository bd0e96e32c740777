/** Whole analyses of mails from servers, lines and websites, each in a small world of its own. */

import { analyze } from '../../../src/analysis/analyze.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { fileInput } from '../../../src/analysis/receipt/file.ts';
import type { AnalysisResult, CheckResult } from '../../../src/analysis/result.ts';
import { checksToFix } from '../../../src/analysis/summary.ts';
import { reverseName } from '../../../src/lib/addresses.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { workingLists } from '../../helpers/blocklists.ts';

export interface Scene {
  /** Header fields and the body, without Date and the MIME fields; or a whole signed message. */
  message: string | Buffer;
  mailFrom: string;
  helo: string;
  ip: string;
  /** The reverse name, which resolves back; null if there is none. */
  ptr: string | null;
  zone?: Zone;
  /** Spamhaus has the address as one that should not send mail itself. */
  isInPolicyList?: boolean;
  /** A saved message, whose header says how it was received. */
  isFile?: boolean;
}

export interface Report {
  result: AnalysisResult;
  first: CheckResult;
  toFix: CheckResult[];
  check(id: string): CheckResult;
  /** All fixes as one text, with their records. */
  fixes: string;
}

const MIME = `Date: Sat, 21 Nov 2026 09:59:40 +0000\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n`;

export const withMime = (message: string): string => `${MIME}${message}`;

export async function reportOf(scene: Scene): Promise<Report> {
  const { message, mailFrom, helo, ip, ptr, zone = {} } = scene;
  const raw =
    typeof message === 'string'
      ? Buffer.from(withMime(message).replace(/\r?\n/g, '\r\n'))
      : message;
  const reversed = reverseName(ip).replace('.in-addr.arpa', '');
  const world: Zone = {
    ...(ptr && { [reverseName(ip)]: { PTR: [ptr] }, [ptr]: { A: [ip] } }),
    ...(scene.isInPolicyList && { [`${reversed}.zen.spamhaus.org`]: { A: ['127.0.0.11'] } }),
    ...zone,
  };
  const result = await analyze(
    {
      raw,
      kind: 'auto',
      ...(scene.isFile
        ? fileInput(raw)
        : {
            receivedAt: RECEIVED_AT,
            envelope: {
              mail_from: mailFrom,
              client_ip: ip,
              helo,
              tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
            },
          }),
    },
    {
      resolver: zoneResolver(world),
      setup: { ...NO_SETUP, blocklists: workingLists('zen.spamhaus.org') },
      onFault: (_, error) => {
        throw error;
      },
    },
  );
  const toFix = checksToFix(result.checks);
  return {
    result,
    first: toFix[0]!,
    toFix,
    check: (id) => result.checks.find((one) => one.id === id)!,
    fixes: result.checks
      .map(({ fix }) => `${fix?.text ?? ''} ${JSON.stringify(fix?.record ?? '')}`)
      .join('\n'),
  };
}

/** A domain whose mail Microsoft 365, Google or its own server receives, with a strict DMARC policy. */
export function domainZone(
  domain: string,
  host: 'microsoft' | 'google' | 'own',
  spf: string,
): Zone {
  const mx = {
    microsoft: `${domain.replaceAll('.', '-')}.mail.protection.outlook.com`,
    google: 'aspmx.l.google.com',
    own: `mx.${domain}`,
  }[host];
  return {
    [domain]: { TXT: [spf], MX: [`10 ${mx}`], A: ['198.51.100.20'] },
    [mx]: { A: ['198.51.100.25'] },
    [`_dmarc.${domain}`]: { TXT: [`v=DMARC1; p=reject; rua=mailto:d@${domain}`] },
    'spf.protection.outlook.com': { TXT: ['v=spf1 ip4:40.92.0.0/15 -all'] },
    '_spf.google.com': { TXT: ['v=spf1 ip4:209.85.128.0/17 ~all'] },
  };
}
