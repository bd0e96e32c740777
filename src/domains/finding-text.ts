/** Findings of messages and domains for a model, each with its fix and its record. */

import type { CheckStatus } from '../analysis/check.ts';
import { clean, recordText, shortened } from '../http/tool-text.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { recordCaution } from './records-to-publish.ts';

interface Finding {
  id: string;
  status: CheckStatus;
  title: string;
  detail: string;
  reference: { name: string; url: string };
  fix: {
    text: string;
    record?: { type: string; name: string; value: string } | undefined;
    guide?: { name: string; url: string } | undefined;
  } | null;
  evidence: { [key: string]: unknown };
  /** How much the score rises with the fix. Missing for a domain. */
  gain?: number;
}

const MAX_DETAIL = 500;

/** A finding with its fix. The record is complete, so that it can be published. `checks`: all of the result. */
export function findingText(check: Finding, checks: Finding[]): string {
  const { id, status, title, detail, fix, reference, gain = 0 } = check;
  const caution = recordCaution(check as never, checks as never);
  const points = gain > 0 ? ` (+${Math.round(gain * 10) / 10} points)` : '';
  return [
    `${status === 'fail' ? 'FAIL' : status === 'warn' ? 'WARN' : status} ${id}${points}: ${clean(title)}`,
    shortened(clean(detail), MAX_DETAIL),
    fix ? `Fix: ${clean(fix.text)}` : '',
    fix?.record ? `Record: ${recordText(fix.record)}` : '',
    caution === null ? '' : `Caution: ${caution}`,
    fix?.guide ? `Guide: ${clean(fix.guide.name)} ${fix.guide.url}` : '',
    status === 'fail' || status === 'warn' ? `Rule: ${clean(reference.name)} ${reference.url}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

const MAX_IDS = 25;

/** All other checks, by what is known about them. */
export function otherChecks(checks: Pick<Finding, 'id' | 'status'>[]): string[] {
  const idsOf = (...statuses: Finding['status'][]) =>
    checks.filter(({ status }) => statuses.includes(status)).map(({ id }) => id);
  const list = (ids: string[]) =>
    `${ids.slice(0, MAX_IDS).join(', ')}${ids.length > MAX_IDS ? ` and ${ids.length - MAX_IDS} more` : ''}`;
  const [unknown, skipped, fine] = [idsOf('error'), idsOf('skipped'), idsOf('pass', 'info')];
  return [
    unknown.length > 0 ? `Could not be determined, so neither good nor bad: ${list(unknown)}` : '',
    skipped.length > 0
      ? `Not checked, because they do not apply, are turned off, or need another check first: ${list(skipped)}`
      : '',
    `Without a problem: ${formatCount(fine.length, 'check')}`,
  ].filter(Boolean);
}
