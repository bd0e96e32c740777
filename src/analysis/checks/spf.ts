/** The check `spf`: does the sending domain's SPF record let this client through? */

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
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { spfFix, withAddress } from '../spf/record.ts';
import { judgeSpfRecord } from './spf-record.ts';

/** Only `pass` authenticates: receivers take `softfail`, `neutral` and `none` for as little as `fail`. */
export const spf: Check = {
  id: 'spf',
  category: 'authentication',
  points: 10,
  label: 'SPF',
  issueTitle: 'SPF does not pass',
  reference: rfc(7208, '2.6'),
  publicEvidence: {
    result: 'shown',
    identity: 'shown',
    checked: 'mailbox-domain',
    domain: 'shown',
    client_ip: 'shown',
    record: 'shown',
    reason: 'shown',
    explanation: 'unquoted',
    assumed: 'shown',
  },
  async run(context: Context): Promise<Finding> {
    const outcome = await context.fact(spfResult);
    if (outcome.result === null) return skipped('SPF was not checked.', outcome.reason ?? '');
    const evidence = evidenceOf(outcome);
    if (outcome.result === 'pass')
      return pass(
        `SPF passes: ${outcome.clientIp} may send for ${outcome.domain}.`,
        `The SPF record of ${outcome.domain} lets this address through.${assumption(outcome)}`,
        evidence,
      );
    if (outcome.result === 'temperror')
      return unknown(
        'SPF could not be checked.',
        `The DNS did not answer a question that the SPF record of ${outcome.domain} leads to (${outcome.reason ?? 'no reason given'}). This is not counted against you.`,
        evidence,
      );
    if (outcome.result === 'permerror' && outcome.domain !== null)
      return fail({ ...(await brokenRecord(outcome, outcome.domain, context)), evidence });
    return fail({ ...failureOf(outcome), evidence });
  },
};

/** What was taken for a MAIL FROM that is not known, as a sentence to append. */
export function assumption({ assumed }: Pick<SpfOutcome, 'assumed'>): string {
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

/** `permerror`: the cause is in the record, so the judgement of the record says what to change. */
async function brokenRecord(
  outcome: SpfOutcome,
  domain: string,
  context: Context,
): Promise<Failure> {
  const judged = await judgeSpfRecord(domain, context);
  const cause = judged.fix ? judged.title : `${outcome.reason ?? 'It is not valid'}.`;
  return {
    title: `The SPF record of ${domain} cannot be used.`,
    detail: `Receivers give up on it and count the message as not authenticated. ${cause}${assumption(outcome)}`,
    fix: judged.fix ?? { text: `Correct the SPF record of ${domain}: ${outcome.reason}.` },
  };
}

function failureOf(outcome: SpfOutcome): Failure {
  const { result, domain, record } = outcome;
  const clientIp = outcome.clientIp ?? '';
  const where = outcome.identity === 'helo' ? 'the name given in HELO' : 'the envelope sender';
  if (domain === null)
    return {
      title: 'SPF has no domain to look at.',
      detail: `SPF asks about the domain of ${where}, and what was given there holds no domain name.${assumption(outcome)}`,
      fix:
        outcome.identity === 'helo'
          ? { text: 'Have the server say its full host name in HELO, such as mail.example.com.' }
          : {
              text: 'Send with an envelope sender at a domain of yours, such as bounces@example.com.',
            },
    };
  if (result === 'none')
    return {
      title: `${domain} has no SPF record.`,
      detail: `Without one, receivers cannot tell mail that you send from mail that others send in your name; the domain is that of ${where}.${assumption(outcome)}`,
      fix: spfFix(
        'Publish this record, with the other servers and services that send for this domain added.',
        domain,
        withAddress(null, clientIp),
      ),
    };
  return {
    title: `The SPF record of ${domain} does not let ${clientIp} through.`,
    detail: `${MEANING[result ?? ''] ?? ''} Receivers count this as not authenticated; the domain is that of ${where}.${assumption(outcome)}`,
    fix: spfFix(
      `Publish the record with this address let through. If ${clientIp} is not a server of yours, find out why it sends for you.`,
      domain,
      withAddress(record, clientIp),
    ),
  };
}

const MEANING: Record<string, string> = {
  fail: 'The record says that this address must not send for the domain.',
  softfail: 'The record says that this address probably should not send for the domain.',
  neutral: 'The record says nothing about this address.',
};
