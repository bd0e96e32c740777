/** The check `mx_tls`: do the mail servers of the domain take mail over TLS, with a certificate that holds? */

import type { MailTls, ProbeMailTls } from '../../net/smtp/probe.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  type Json,
  notAnswered,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The TLS of the mail servers was not checked.';
/** By preference; a sender would hardly come to more. */
const MAX_HOSTS = 5;

interface Probed {
  host: string;
  tls: MailTls;
}

/** `probe`: null where nobody is to be connected to. */
export function mxTls(probe: ProbeMailTls | null): Check {
  return {
    id: 'mx_tls',
    category: 'infrastructure',
    points: 3,
    label: 'TLS of the mail servers',
    issueTitle: 'The mail servers do not all take mail over verified TLS',
    reference: rfc(3207),
    // Without a mail server there is none to look at.
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
      ...PUBLIC_UNANSWERED,
    },
    dependsOn: ['mx'],
    run: (context) => lookAtHosts(context, probe),
  };
}

async function lookAtHosts(context: Context, probe: ProbeMailTls | null): Promise<Finding> {
  const domain = fromDomain(context);
  if (domain === null || probe === null)
    return skipped(NOT_CHECKED, 'No mail server is connected to here.');
  const found = await mailHosts(context, domain);
  if (found.kind === 'error')
    return notAnswered('The mail servers could not be looked up.', found.unanswered);
  const hosts = found.hosts.filter(({ resolves }) => resolves !== false).slice(0, MAX_HOSTS);
  if (hosts.length === 0) return skipped(NOT_CHECKED, `${domain} has no mail server.`);
  const probed = await Promise.all(
    hosts.map(async ({ name }) => ({ host: name, tls: await probe(name) })),
  );
  return { ...judge(domain, probed), evidence: { hosts: probed.map(evidenceOf) } };
}

function evidenceOf({ host, tls }: Probed): { [key: string]: Json } {
  if (tls.status === 'no_starttls') return { host, status: tls.status };
  if (tls.status !== 'tls') return { host, status: tls.status, detail: tls.detail };
  return { host, status: tls.status, version: tls.version, certificate: { ...tls.certificate } };
}

const namesOf = (probed: Probed[]): string => probed.map(({ host }) => host).join(', ');

function judge(domain: string, probed: Probed[]): Finding {
  const plain = probed.filter(({ tls }) => tls.status === 'no_starttls' || tls.status === 'broken');
  const secure = probed.filter(({ tls }) => tls.status === 'tls');
  if (plain.length + secure.length === 0) return notSeen(probed);
  if (plain.length > 0) return withoutTls(domain, plain, secure.length === 0);
  const old = probed.filter(({ tls }) => tls.status === 'tls' && isOld(tls.version));
  if (old.length > 0) return outdated(old);
  const bad = probed.filter(({ tls }) => tls.status === 'tls' && !tls.certificate.valid);
  if (bad.length > 0) return badCertificate(bad);
  const rest = probed.length - secure.length;
  return pass(
    `The mail servers of ${domain} take mail over TLS.`,
    `Their certificates hold: ${namesOf(secure)}.${rest > 0 ? ` ${rest} more could not be looked at.` : ''}`,
  );
}

/** That this machine comes to nobody's port 25 says nothing of the servers. */
function notSeen(probed: Probed[]): Finding {
  const dead = probed.filter(({ tls }) => tls.status === 'unreachable');
  const shut = probed.filter(({ tls }) => tls.status === 'forbidden');
  if (dead.length + shut.length < probed.length) {
    const { host, tls } = probed.find(({ tls: { status } }) => status === 'unknown')!;
    const detail = 'detail' in tls ? tls.detail : '';
    return unknown(
      'The TLS of the mail servers could not be found out.',
      `${host}: ${detail}. This is not counted against you.`,
    );
  }
  return skipped(
    NOT_CHECKED,
    dead.length > 0
      ? 'None of them could be connected to at port 25. Many networks do not let connections to it out.'
      : 'They have no address that this machine may connect to.',
  );
}

function withoutTls(domain: string, plain: Probed[], all: boolean): Finding {
  const broken = plain.every(({ tls }) => tls.status === 'broken');
  const what = broken ? 'offer STARTTLS, but it does not work' : 'do not take mail over TLS';
  const found = {
    title: all
      ? `The mail servers of ${domain} ${what}.`
      : `Some mail servers of ${domain} ${what}: ${namesOf(plain)}.`,
    detail:
      'Mail to the domain crosses the Internet readable by anyone on the way, and senders that insist on TLS cannot deliver.',
    fix: `Turn on STARTTLS, with a certificate for its name, on ${namesOf(plain)} (in Postfix: smtpd_tls_security_level = may, smtpd_tls_chain_files).`,
  };
  return all ? fail(found) : warn(found);
}

function isOld(version: string): boolean {
  return version !== 'TLSv1.2' && version !== 'TLSv1.3';
}

function outdated(old: Probed[]): Finding {
  return warn({
    title: `A mail server speaks only an outdated version of TLS: ${namesOf(old)}.`,
    detail: 'TLS 1.0 and 1.1 must not be used any more; more and more senders refuse them.',
    fix: `Allow TLS 1.2 and 1.3 on ${namesOf(old)}, and update its TLS library if it does not know them.`,
    reference: rfc(8996),
  });
}

function badCertificate(bad: Probed[]): Finding {
  const each = bad.map(({ host, tls }) =>
    tls.status === 'tls' ? `${host}: ${tls.certificate.problem}` : host,
  );
  return warn({
    title: 'A mail server has a certificate that cannot be verified.',
    detail: `${each.join('; ')}. Most senders do not look at it, but those that heed MTA-STS or ask for verified TLS do not deliver.`,
    fix: `Install a certificate of a public authority for its own name, with the whole chain, on ${namesOf(bad)}.`,
    reference: rfc(7817),
  });
}
