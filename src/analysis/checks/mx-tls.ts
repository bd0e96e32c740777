/** `mx_tls`: whether the domain's mail servers support TLS with a valid certificate. */

import type { MailTlsResult, ProbeMailTls } from '../../net/smtp/probe.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  type Json,
  lookupFailed,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'TLS on the mail servers was not checked.';
/** The most preferred hosts are checked; senders rarely try more. */
const MAX_HOSTS = 5;

interface ProbedHost {
  host: string;
  tls: MailTlsResult;
}

/** `probe`: null if connections to mail servers are turned off. */
export function mxTls(probe: ProbeMailTls | null): Check {
  return {
    id: 'mx_tls',
    category: 'infrastructure',
    points: 3,
    label: 'TLS on the mail servers',
    issueTitle: 'Mail servers do not all support verified TLS',
    reference: rfc(3207),
    publicEvidence: {
      hosts: {
        host: 'shown',
        status: 'shown',
        detail: 'shown',
        version: 'shown',
        certificate: {
          valid: 'shown',
          problem: 'shown',
          names: 'shown',
          issuer: 'shown',
          validTo: 'shown',
        },
      },
      ...PUBLIC_FAILED_LOOKUPS,
    },
    // Without a working mail server, there is nothing to check.
    dependsOn: ['mx'],
    run: (context) => checkHosts(context, probe),
  };
}

async function checkHosts(context: Context, probe: ProbeMailTls | null): Promise<Finding> {
  const domain = fromDomain(context);
  if (domain === null || probe === null)
    return skipped(NOT_CHECKED, 'This server does not connect to mail servers.');
  const found = await mailHosts(context, domain);
  if (found.kind === 'error')
    return lookupFailed('Could not look up the mail servers.', found.unanswered);
  const hosts = found.hosts.filter(({ resolves }) => resolves !== false).slice(0, MAX_HOSTS);
  if (hosts.length === 0) return skipped(NOT_CHECKED, `${domain} has no mail servers.`);
  const probed = await Promise.all(
    hosts.map(async ({ name }) => ({ host: name, tls: await probe(name) })),
  );
  return { ...evaluateHosts(domain, probed), evidence: { hosts: probed.map(evidenceOf) } };
}

function evidenceOf({ host, tls }: ProbedHost): { [key: string]: Json } {
  if (tls.status === 'no_starttls') return { host, status: tls.status };
  if (tls.status !== 'tls') return { host, status: tls.status, detail: tls.detail };
  return { host, status: tls.status, version: tls.version, certificate: { ...tls.certificate } };
}

const namesOf = (probed: ProbedHost[]): string => probed.map(({ host }) => host).join(', ');

function evaluateHosts(domain: string, probed: ProbedHost[]): Finding {
  const insecure = probed.filter(
    ({ tls }) => tls.status === 'no_starttls' || tls.status === 'broken',
  );
  const secure = probed.filter(({ tls }) => tls.status === 'tls');
  if (insecure.length + secure.length === 0) return reportNoneProbed(probed);
  if (insecure.length > 0) return reportMissingTls(domain, insecure, secure.length === 0);
  const outdated = probed.filter(({ tls }) => tls.status === 'tls' && isOutdated(tls.version));
  if (outdated.length > 0) return reportOutdatedTls(outdated);
  const unverified = probed.filter(({ tls }) => tls.status === 'tls' && !tls.certificate.valid);
  if (unverified.length > 0) return reportBadCertificates(unverified);
  const uncheckedCount = probed.length - secure.length;
  return pass(
    `The mail servers of ${domain} support TLS.`,
    `Their certificates are valid: ${namesOf(secure)}.${uncheckedCount > 0 ? ` Could not check ${uncheckedCount} more.` : ''}`,
  );
}

/** Failed connections to port 25 are often the fault of the local network, so they are never a finding. */
function reportNoneProbed(probed: ProbedHost[]): Finding {
  const unreachable = probed.filter(({ tls }) => tls.status === 'unreachable');
  const forbidden = probed.filter(({ tls }) => tls.status === 'forbidden');
  if (unreachable.length + forbidden.length < probed.length) {
    const { host, tls } = probed.find(({ tls: { status } }) => status === 'unknown')!;
    const detail = 'detail' in tls ? tls.detail : '';
    return unknown(
      'Could not check TLS on the mail servers.',
      `${host}: ${detail}. This does not affect your score.`,
    );
  }
  return skipped(
    NOT_CHECKED,
    unreachable.length > 0
      ? 'Could not connect to any mail server on port 25. Many networks block outgoing connections to it.'
      : 'This server is not allowed to connect to the addresses of the mail servers.',
  );
}

function reportMissingTls(domain: string, insecure: ProbedHost[], affectsAll: boolean): Finding {
  const broken = insecure.every(({ tls }) => tls.status === 'broken');
  const problem = broken ? 'offer STARTTLS, but it fails' : 'do not support TLS';
  const finding = {
    title: affectsAll
      ? `The mail servers of ${domain} ${problem}.`
      : `Some mail servers of ${domain} ${problem}: ${namesOf(insecure)}.`,
    detail:
      'Anyone on the network path can read mail to your domain, and senders that require TLS cannot deliver.',
    fix: `Turn on STARTTLS on ${namesOf(insecure)}, with a certificate for the server's name (in Postfix: smtpd_tls_security_level = may, smtpd_tls_chain_files).`,
  };
  return affectsAll ? fail(finding) : warn(finding);
}

function isOutdated(version: string): boolean {
  return version !== 'TLSv1.2' && version !== 'TLSv1.3';
}

function reportOutdatedTls(outdated: ProbedHost[]): Finding {
  return warn({
    title: `${outdated.length === 1 ? 'A mail server supports' : `${outdated.length} mail servers support`} only an outdated TLS version: ${namesOf(outdated)}.`,
    detail: 'TLS 1.0 and 1.1 are deprecated, and more and more senders refuse them.',
    fix: `Allow TLS 1.2 and 1.3 on ${namesOf(outdated)}. Update the TLS library if it does not support them.`,
    reference: rfc(8996),
  });
}

function reportBadCertificates(unverified: ProbedHost[]): Finding {
  const problems = unverified.map(({ host, tls }) =>
    tls.status === 'tls' ? `${host}: ${tls.certificate.problem}` : host,
  );
  return warn({
    title: `${unverified.length === 1 ? 'A mail server has' : `${unverified.length} mail servers have`} a certificate that cannot be verified.`,
    detail: `${problems.join('; ')}. Most senders ignore this, but those that use MTA-STS or require verified TLS do not deliver.`,
    fix: `Install a certificate from a public certificate authority on ${namesOf(unverified)}. It must cover the server's name and include the whole chain.`,
    reference: rfc(7817),
  });
}
