/** Who a reporter is: whoever signed the message with the report, never the name in it. */

import { freemailProvider, platformSuffix } from '../../analysis/sending-services/freemail.ts';
import { organizationalDomain, ownerOf } from '../../lib/domain-names.ts';
import type { ReportType } from '../reading/report.ts';
import { isKnownSender, knownLabel, knownSender } from './known.ts';

/** What a message authenticates. */
export interface Signer {
  /** The From address, in lower case. */
  from: string;
  /** The domain of the signature or of the envelope, which aligns with the From domain. */
  domain: string;
  /** SPF is weaker: others may send through the same servers. So it never speaks for a reporter that signs. */
  method: 'dkim' | 'spf';
}

/**
 * `file`: named by a file that a person uploaded. `earlier`: from before the service stored who signed.
 */
export const REPORTER_KINDS = ['known', 'dkim', 'spf', 'file', 'earlier'] as const;
export type ReporterKind = (typeof REPORTER_KINDS)[number];

export interface ReporterIdentity {
  kind: Exclude<ReporterKind, 'earlier'>;
  /** What makes it one reporter. Names in reports are in lower case, so none can be taken for it. */
  name: string;
  title: string;
}

const identity = (
  kind: ReporterIdentity['kind'],
  title: string,
  detail?: string,
): ReporterIdentity => ({
  kind,
  title,
  name: [kind.toUpperCase(), title, ...(detail === undefined ? [] : [detail])].join(' '),
});

/**
 * The reporter that a message authenticates; null if it authenticates nobody for the report. `attached`: the report is in an
 * attached message. Known senders mail back the messages of strangers and attach none of their own.
 */
export function signedReporter(
  signer: Signer | null,
  { type, attached }: { type: ReportType; attached: boolean },
): ReporterIdentity | null {
  // RFC 8460 §3: TLS reports need a signature.
  if (signer === null || (signer.method === 'spf' && type === 'tls')) return null;
  if (attached && signer.method === 'dkim' && isKnownSender(signer)) return null;
  return reporterBehind(signer, type);
}

function reporterBehind(signer: Signer, type: ReportType): ReporterIdentity {
  const { from, domain, method } = signer;
  const known = method === 'dkim' ? knownSender(signer, type) : null;
  if (known !== null) return identity('known', known);
  // Where the public has mailboxes or subdomains, an address does not speak for its domain.
  if (isShared(domain)) return identity(method, from, domain);
  return identity(method, ownerOf(domain));
}

const isShared = (domain: string): boolean =>
  freemailProvider(domain) !== null ||
  freemailProvider(organizationalDomain(domain) ?? domain) !== null ||
  platformSuffix(domain) !== null;

/** The reporter that an uploaded file names. The upload of a person is proof enough. */
export function namedReporter(label: string, type: ReportType): ReporterIdentity {
  const known = knownLabel(label, type);
  return known === null ? identity('file', label) : identity('known', known);
}
