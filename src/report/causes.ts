/** What changed between two results, in words: "DKIM broke: the key at s1 is gone." From the facts of their checks. */

import type { CheckResult } from '../analysis/result.ts';
import type { Change, ComparedCheck, Comparison } from './comparison.ts';
import { type Evidence, objectsIn, textIn } from './report.ts';

export interface Cause {
  change: Exclude<Change, 'same'>;
  text: string;
}

/** Problems first. A check that only goes with another one that changed is no cause. */
export function causesOf({ worse, improved, other, same }: Comparison): Cause[] {
  const causes = new Set(
    [...worse, ...improved, ...other]
      .filter(({ before, after }) => before && after)
      .map(({ id }) => id),
  );
  return [...worse, ...improved, ...other, ...same].flatMap((check) => {
    const { before, after, change } = check;
    if (!before || !after || [before, after].some(({ status }) => status === 'skipped')) return [];
    const consequence = change === 'worse' ? after.goes_with : before.goes_with;
    if (change !== 'same' && consequence !== null && causes.has(consequence)) return [];
    const fact = FACTS[check.id]?.(before, after) ?? null;
    if (change === 'same')
      return fact === null || !SHOWN_UNCHANGED.has(check.id)
        ? []
        : [{ change: 'other' as const, text: `${nameOf(check)} changed: ${fact}.` }];
    const title = `${after.title.charAt(0).toLowerCase()}${after.title.slice(1)}`;
    // Titles begin with names too: those keep their capitals.
    const sentence = /^(?:your|the|one|no|of|a|an|this|more|could|mail) /.test(title)
      ? title
      : after.title;
    return [{ change, text: `${nameOf(check)} ${verbOf(check)}: ${fact ? `${fact}.` : sentence}` }];
  });
}

/** Their facts are news even if the status is the same. */
const SHOWN_UNCHANGED = new Set(['spf', 'dmarc_policy']);

const NAMES: Record<string, string> = { dkim: 'DKIM', dmarc_policy: 'The DMARC policy' };
const nameOf = ({ id, label }: ComparedCheck): string => NAMES[id] ?? label;

function verbOf({ change, after }: ComparedCheck): string {
  if (change === 'other') return 'changed';
  if (change === 'improved') return after?.status === 'pass' ? 'now passes' : 'improved';
  return after?.status === 'fail' ? 'broke' : 'worsened';
}

/** By the ID of the check: a clause about what changed; null if the title of the result says more. */
const FACTS: Record<string, (before: CheckResult, after: CheckResult) => string | null> = {
  dkim: ({ evidence: before }, { evidence: after }) => {
    const signatures = (evidence: Evidence) => objectsIn(evidence, 'signatures');
    const hasPassed = (one: Evidence) => textIn(one, 'result') === 'pass';
    const [passed] = signatures(before).filter(hasPassed);
    if (passed && !signatures(after).some(hasPassed))
      return brokenSignature(passed, signatures(after));
    const [fixed] = signatures(after).filter(hasPassed);
    if (!fixed || passed) return null;
    const name = textIn(fixed, 'selector');
    const failed = signatures(before).find((one) => textIn(one, 'selector') === name);
    if (!failed) return `the message is now signed by ${textIn(fixed, 'domain')}`;
    return isKeyGone(failed) ? `the key at ${name} was published` : null;
  },
  spf: ({ evidence: before }, { evidence: after }) => {
    // The records of two domains have nothing to do with each other.
    if (textIn(before, 'domain') !== textIn(after, 'domain')) return null;
    const [earlier, later] = [termsOf(before), termsOf(after)];
    const change = [
      ...listed(
        [...later].filter((term) => !earlier.has(term)),
        'added',
      ),
      ...listed(
        [...earlier].filter((term) => !later.has(term)),
        'removed',
      ),
    ].join(', and ');
    if (later.size === 0)
      return earlier.size > 0 ? `the record of ${textIn(before, 'domain')} is gone` : null;
    if (change !== '') return change;
    const [from, to] = [textIn(before, 'client_ip'), textIn(after, 'client_ip')];
    return from && to && from !== to ? `the message was sent from ${to} instead of ${from}` : null;
  },
  dmarc_policy: ({ evidence: before }, { evidence: after }) => {
    const [from, to] = [textIn(before, 'published'), textIn(after, 'published')];
    return from && to && from !== to ? `p=${from} became p=${to}` : null;
  },
};

function brokenSignature(passed: Evidence, signatures: Evidence[]): string {
  const [selector, domain] = [textIn(passed, 'selector'), textIn(passed, 'domain')];
  const now = signatures.find(
    (one) => textIn(one, 'selector') === selector && textIn(one, 'domain') === domain,
  );
  if (!now) return `the signature by ${domain} (${selector}) is gone`;
  return isKeyGone(now)
    ? `the key at ${selector} is gone`
    : (textIn(now, 'reason') ?? 'the signature no longer verifies');
}

const isKeyGone = (signature: Evidence): boolean =>
  /^no key is published/.test(textIn(signature, 'reason') ?? '');

const MAX_TERMS = 3;

function listed(terms: string[], verb: string): string[] {
  if (terms.length === 0) return [];
  const more = terms.length - MAX_TERMS;
  const names = terms.slice(0, MAX_TERMS).map((term) => term.replace(/^\+?ip[46]:/, ''));
  const list = [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [`${list} ${terms.length === 1 ? 'was' : 'were'} ${verb}`];
}

/** The mechanisms of an SPF record. Its includes are not in the evidence of this check. */
function termsOf(evidence: Evidence): Set<string> {
  const record = textIn(evidence, 'record') ?? '';
  return new Set(record.split(/\s+/).filter((term) => term !== '' && !/^v=spf1$/i.test(term)));
}
