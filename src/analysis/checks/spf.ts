/** `spf`: whether the sending domain's SPF record allows the sending IP address. */

import { ownerOf } from '../../lib/domain-names.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { explainForwardedSpf } from '../forwarding/explain.ts';
import { PUBLIC_RECEIVER_RESULT, withReceiverResult } from '../receipt/receiver-result.ts';
import { sendingServices } from '../sending-services/identify.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { allowSenderFix } from '../sending-services/spf-steps.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { parseSpfTerms, unreachedTerms } from '../spf/record.ts';
import { resemblesSpf } from '../spf/repair.ts';
import { withPublished } from '../spf/tree.ts';
import { evaluateSpfRecord } from './spf-record.ts';

/** Only `pass` authenticates. `softfail`, `neutral` and `none` count as little as `fail`. */
export const spf: Check = {
  id: 'spf',
  category: 'authentication',
  points: 10,
  label: 'SPF',
  issueTitle: 'SPF does not pass',
  reference: rfc(7208, '2.6'),
  publicEvidence: {
    setup: 'shown',
    result: 'shown',
    identity: 'shown',
    checked: 'mailbox-domain',
    domain: 'shown',
    client_ip: 'shown',
    record: 'shown',
    reason: 'shown',
    explanation: 'unquoted',
    assumed: 'shown',
    sending_service: 'shown',
    service_evidence: 'shown',
    ...PUBLIC_RECEIVER_RESULT,
  },
  async run(context: Context): Promise<Finding> {
    const outcome = await context.fact(spfResult);
    return withReceiverResult(context, 'spf', outcome.result, await evaluate(context, outcome));
  },
};

async function evaluate(context: Context, outcome: SpfOutcome): Promise<Finding> {
  if (outcome.result === null) return skipped('SPF was not checked.', outcome.reason ?? '');
  const evidence = evidenceOf(outcome);
  if (outcome.result === 'pass')
    return pass(
      `SPF passes: ${outcome.clientIp} may send for ${outcome.domain}.`,
      `The SPF record of ${outcome.domain} allows this IP address.${assumptionNote(outcome)}`,
      evidence,
    );
  if (outcome.result === 'temperror')
    return unknown(
      'Could not check SPF.',
      `A DNS lookup for the SPF record of ${outcome.domain} failed (${outcome.reason ?? 'no reason given'}). This does not affect your score.`,
      evidence,
    );
  const forwarded = await explainForwardedSpf(context, outcome);
  if (forwarded) return fail({ ...forwarded, evidence });
  const { domain } = outcome;
  if (domain !== null && (outcome.result === 'permerror' || (await isUnread(outcome, context))))
    return fail({ ...(await brokenRecord(outcome, domain, context)), evidence });
  const service = await serviceEvidence(context);
  const failure = await failureOf(outcome, context);
  const alsoFixes = await fixedBeside(outcome, failure.fix, context);
  return { ...fail({ ...failure, evidence: { ...evidence, ...service } }), alsoFixes };
}

/** The proposed record has all of its terms before `all`, which can cure the finding about the record too. */
async function fixedBeside(
  { domain, record }: SpfOutcome,
  { record: proposed }: Fix,
  context: Context,
): Promise<string[]> {
  if (domain === null || proposed?.name !== domain || !record) return [];
  if (unreachedTerms(parseSpfTerms(record)).length === 0) return [];
  const resolver = withPublished(domain, proposed.value, context.resolver);
  const { status } = await evaluateSpfRecord(domain, { ...context, resolver });
  return status === 'pass' ? ['spf_record'] : [];
}

/** The fix depends on the sending service, so the finding shows why it is known. */
async function serviceEvidence(context: Context): Promise<NonNullable<Finding['evidence']>> {
  const [found] = await context.fact(sendingServices);
  return found
    ? { sending_service: found.service.name, service_evidence: found.evidence.slice(0, 300) }
    : {};
}

/** The source of an assumed MAIL FROM, as a sentence to append; empty if MAIL FROM is known. */
export function assumptionNote({ assumed }: Pick<SpfOutcome, 'assumed'>): string {
  return assumed === 'return_path'
    ? ' The envelope sender was read from the Return-Path field.'
    : '';
}

function evidenceOf(outcome: SpfOutcome): NonNullable<Finding['evidence']> {
  return {
    result: outcome.result,
    identity: outcome.identity,
    checked: outcome.text?.slice(0, 320) ?? null,
    domain: outcome.domain,
    client_ip: outcome.clientIp,
    record: outcome.record,
    ...(outcome.reason && { reason: outcome.reason.slice(0, 500) }),
    ...(outcome.explanation && { explanation: outcome.explanation.slice(0, 500) }),
    ...(outcome.assumed && { assumed: outcome.assumed }),
  };
}

interface Failure {
  title: string;
  detail: string;
  fix: Fix;
}

/** Whether there is a record that a person would read, but no receiver. */
async function isUnread({ result, domain }: SpfOutcome, { resolver }: Context): Promise<boolean> {
  if (result !== 'none' || domain === null) return false;
  return recordsOf(await resolver(domain, 'TXT'))?.some(resemblesSpf) ?? false;
}

/** The cause is in the record, so its finding says what to change. */
async function brokenRecord(
  outcome: SpfOutcome,
  domain: string,
  context: Context,
): Promise<Failure> {
  const finding = await evaluateSpfRecord(domain, context);
  const fix = finding.fix ?? { text: `Fix the SPF record of ${domain}: ${outcome.reason}.` };
  const assumed = assumptionNote(outcome);
  if (outcome.result === 'none')
    return {
      title: finding.title,
      detail: `Mailbox providers treat the message as unauthenticated.${assumed} ${finding.detail}`,
      fix,
    };
  const cause = finding.fix ? finding.title : `${outcome.reason ?? 'It is invalid'}.`;
  return {
    title: `The SPF record of ${domain} cannot be used.`,
    detail: `Mailbox providers ignore it and treat the message as unauthenticated. ${cause}${assumed}`,
    fix,
  };
}

async function failureOf(outcome: SpfOutcome, context: Context): Promise<Failure> {
  const { result, domain } = outcome;
  const clientIp = outcome.clientIp ?? '';
  const where = outcome.identity === 'helo' ? 'the HELO name' : 'the envelope sender';
  if (domain === null)
    return {
      title: 'SPF has no domain to check.',
      detail: `SPF checks the domain of ${where}, but it has no valid domain.${assumptionNote(outcome)}`,
      fix:
        outcome.identity === 'helo'
          ? { text: "Use the server's full host name in HELO, such as mail.example.com." }
          : { text: 'Use an envelope sender at your own domain, such as bounces@example.com.' },
    };
  const fix = await allowSenderFix(
    context,
    { domain, clientIp },
    {
      add: 'Add this server to your SPF record, as shown here.',
      publish:
        'Publish this record, and add the other servers and services that send for this domain.',
    },
  );
  if (result === 'none' && outcome.identity === 'mailfrom')
    fix.text += foreignHostNote(context, domain);
  if (result === 'none')
    return {
      title: `${domain} has no SPF record.`,
      detail: `Without one, mailbox providers cannot distinguish your mail from forged mail. SPF checks the domain of ${where}.${assumptionNote(outcome)}`,
      fix,
    };
  return {
    title: `The SPF record of ${domain} does not allow ${clientIp}.`,
    detail: `${MEANING[result ?? ''] ?? ''} Mailbox providers treat the message as unauthenticated. SPF checks the domain of ${where}.${assumptionNote(outcome)}`,
    fix,
  };
}

/** A web host often sends with an envelope sender at its own host name, which the sender may not manage. */
function foreignHostNote(context: Context, domain: string): string {
  const from = fromDomain(context);
  const isOther = from !== null && ownerOf(from) !== ownerOf(domain);
  if (!isOther || foreignOwner(from) !== null || foreignOwner(domain) !== null) return '';
  return ` If you do not manage ${domain}, use an envelope sender at ${from} instead, and publish an SPF record there.`;
}

const MEANING: Record<string, string> = {
  fail: 'The record says that this IP address is not authorized.',
  softfail: 'The record says that this IP address is probably not authorized.',
  neutral: 'The record makes no statement about this IP address.',
};
