/** The health of a domain as blocks for a terminal: the verdict, what to fix, then a line for each check. */

import { worstFirst } from '../../analysis/domain/dangers.ts';
import type { DomainCheck, DomainHealth, HealthStatus } from '../../analysis/domain/health.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import type { State } from '../../ui/components.tsx';
import {
  type Block,
  type Finding,
  oneLine,
  type ReportDocument,
  sanitize,
  stateOf,
  state as stateSpan,
  type Verdict,
} from '../blocks.ts';
import { FIX_TITLE, shortGroups } from './findings.ts';
import { NO_KNOWN_PROBLEMS, nothingToFix } from './verdict.ts';

const STATES: Record<HealthStatus, State> = {
  healthy: 'pass',
  warning: 'warn',
  critical: 'fail',
  unknown: 'unknown',
};

export function domainDocument(health: DomainHealth): ReportDocument {
  return sanitize({
    title: readableDomain(health.name),
    time: null,
    blocks: [verdictOf(health), fixesOf(health), checksOf(health)],
    footer: [],
    truncationNote: '',
    navigation: { skip: '', contents: '' },
  });
}

function verdictOf({ name, status, score, summary }: DomainHealth): Verdict {
  const line = score === null ? status : `${score}/100  ${status}`;
  return {
    kind: 'verdict',
    id: 'verdict',
    outline: 'Verdict',
    above: null,
    score: {
      score,
      grade: null,
      state: STATES[status],
      uncapped: null,
      number: score === null ? status : String(score),
      letter: null,
      line,
      badge: status,
      alt: line,
    },
    testedName: oneLine(readableDomain(name), 255),
    title: [oneLine(summary)],
    lines: [],
    unknown: null,
    states: null,
    categories: null,
    facts: null,
    remarks: [],
  };
}

function fixesOf({ checks, status, score }: DomainHealth): Block {
  const findings = worstFirst(checks).map(
    (check): Finding => ({
      kind: 'finding',
      id: `check-${check.id}`,
      state: severityState(check),
      gain: null,
      title: [oneLine(check.title, 400)],
      context: null,
      more: null,
      groups: shortGroups(check),
    }),
  );
  if (findings.length > 0) {
    const blocks: Block[] = [{ kind: 'findings', groups: [{ title: null, findings }] }];
    return { kind: 'section', id: 'fix', title: FIX_TITLE, note: null, blocks };
  }
  const message =
    status === 'healthy'
      ? stateSpan('pass', nothingToFix(score ?? 100))
      : stateSpan('unknown', NO_KNOWN_PROBLEMS);
  return { kind: 'paragraph', style: 'card', text: [message] };
}

const severityState = ({ severity, status }: DomainCheck): State =>
  severity === null ? stateOf(status) : severity === 'critical' ? 'fail' : 'warn';

function checksOf({ checks }: DomainHealth): Block {
  const items = checks.map((check) => {
    // The title of a check without a result says no more than its label; the detail gives the reason.
    const hasNoResult = check.status === 'error' || check.status === 'skipped';
    return {
      state: severityState(check),
      name: oneLine(check.label, 80),
      text: [oneLine(hasNoResult ? check.detail : check.title)],
      ...(hasNoResult ? { isMuted: true } : {}),
    };
  });
  const blocks: Block[] = [{ kind: 'lines', nameWidth: 26, items }];
  return { kind: 'section', id: 'checks', title: 'Checks', note: null, blocks };
}
