/** Findings of monitor runs, and what has changed from run to run. */

import { LISTS } from '../../analysis/blocklists/lists.ts';
import { adviceFor } from '../../monitors/findings.ts';
import type { Monitor, MonitorRun } from '../../monitors/schema.ts';
import { sanitize } from '../../report/blocks.ts';
import { providerName } from '../../report/placement-rates.ts';
import { Icon, StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Ago } from '../frame/times.tsx';

type Finding = MonitorRun['findings'][number];
type UnknownPart = MonitorRun['changes']['unknown'][number];

/** What the last run found, with what it means. */
export function CurrentFindings({ monitor, run }: { monitor: Monitor; run: MonitorRun }) {
  const { findings, changes } = run;
  return (
    <Card title="Current findings" id="findings">
      {findings.length === 0 ? (
        <p>
          {run.status === 'unknown' ? (
            <StateMark state="unknown" word="Unknown" />
          ) : (
            <StateMark state="pass" word="No problem found" />
          )}
        </p>
      ) : (
        <ul class="findings">
          {findings.toSorted(bySeverity).map((finding) => (
            <li key={keyOf(finding)}>
              <Icon state={stateOf(finding)} />
              <div>
                <p>
                  <strong>{titleOf(finding)}</strong>
                </p>
                <p class="small muted">{meaningOf(finding)}</p>
                <Delisting finding={finding} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {findings.length > 0 && monitor.domain_id !== null && (
        <p>
          <a href={`/domains/${monitor.domain_id}#health`}>See how to fix it</a>
        </p>
      )}
      {changes.unknown.length > 0 && <UnknownParts parts={changes.unknown} />}
    </Card>
  );
}

const RANKS = { fail: 0, warn: 1, info: 2 };
const bySeverity = (a: Finding, b: Finding): number => RANKS[stateOf(a)] - RANKS[stateOf(b)];

function stateOf(finding: Finding): 'fail' | 'warn' | 'info' {
  if ('list' in finding) return finding.tier === 1 ? 'fail' : finding.tier === 2 ? 'warn' : 'info';
  return finding.severity === 'critical'
    ? 'fail'
    : finding.severity === 'warning'
      ? 'warn'
      : 'info';
}

function keyOf(finding: Finding): string {
  if ('list' in finding) return `${finding.target} ${finding.list}`;
  if ('problem' in finding) return `${finding.problem} ${finding.provider ?? ''}`;
  return `${finding.id} ${finding.selector ?? ''}`;
}

const titleOf = (finding: Finding): string =>
  sanitize('list' in finding ? `${finding.list_name} lists ${finding.target}` : finding.title);

const TIERS = {
  1: 'Large mailbox providers reject mail because of this list.',
  2: 'Spam filters count this list.',
  3: 'For information: few receivers use this list.',
};

function meaningOf(finding: Finding): string {
  if ('list' in finding) {
    const codes = finding.codes.join(', ');
    return sanitize(
      `${TIERS[finding.tier]} ${finding.meaning ?? ''}${codes ? ` (${codes})` : ''}`.trim(),
    );
  }
  if ('problem' in finding) return adviceFor(finding.problem).meaning;
  const selector = finding.selector ? ` Selector: ${finding.selector}.` : '';
  return sanitize(
    `${finding.severity === 'critical' ? 'Critical: mail is rejected, or anyone can send as the domain.' : 'Mail is delivered, but this weakens the domain.'}${selector}`,
  );
}

/** Where the operator of the list explains a listing and removes it. */
function Delisting({ finding }: { finding: Finding }) {
  const list = 'list' in finding && LISTS.find(({ zone }) => zone === finding.list);
  if (!list) return null;
  return (
    <p class="small">
      <a href={list.delisting} rel="noreferrer noopener" target="_blank">
        See why, and request removal<span class="visually-hidden"> from {list.name}</span>
      </a>
    </p>
  );
}

/** Gray: what the run could not check. Earlier findings about it still count. */
function UnknownParts({ parts }: { parts: UnknownPart[] }) {
  return (
    <div class="stack">
      <p>
        <StateMark state="unknown" word="Could not be checked" />
      </p>
      <ul class="small muted">
        {parts.map((part) => (
          <li key={unknownText(part)}>{unknownText(part)}</li>
        ))}
      </ul>
    </div>
  );
}

function unknownText(part: UnknownPart): string {
  if ('list' in part)
    return sanitize(
      part.target === null
        ? `${part.list} did not respond.`
        : `${part.list} did not respond for ${part.target}.`,
    );
  if ('provider' in part)
    return part.provider === null
      ? 'No seed mailbox has a result.'
      : `No seed mailbox at ${providerName(part.provider)} has a result.`;
  return sanitize(
    `${part.id.replaceAll('_', ' ')}${part.selector ? `, selector ${part.selector}` : ''}`,
  );
}

/** Newest first, with what is new and what is gone. */
export function Runs({ runs }: { runs: MonitorRun[] }) {
  return (
    <ol class="timeline">
      {runs.map((run) => (
        <li key={run.id}>
          <p class="run-head">
            <RunMark run={run} />
            <span class="small muted">
              <Ago at={run.started_at} />
            </span>
          </p>
          <PlacementNote run={run} />
          <Changes run={run} />
        </li>
      ))}
    </ol>
  );
}

/** Where the message of a placement run arrived, with its report. */
function PlacementNote({ run: { placement } }: { run: MonitorRun }) {
  if (!placement?.test_id) return null;
  const { test_id, samples, inbox } = placement;
  return (
    <p class="small">
      {samples === 0
        ? 'No seed mailbox received the message'
        : `${inbox} of ${plural(samples, 'seed mailbox', 'seed mailboxes')} received the message in the inbox`}
      {' · '}
      <a href={`/tests/${test_id}`}>Report</a>
    </p>
  );
}

function RunMark({ run: { status } }: { run: MonitorRun }) {
  if (status === 'alerting') return <StateMark state="fail" word="Alerting" />;
  if (status === 'ok') return <StateMark state="pass" word="OK" />;
  return <StateMark state="unknown" word="Unknown" />;
}

function Changes({ run: { status, changes, findings } }: { run: MonitorRun }) {
  const { appeared, gone, unknown } = changes;
  if (appeared.length === 0 && gone.length === 0)
    return (
      <p class="small muted">
        {findings.length === 0
          ? status === 'unknown'
            ? 'Inconclusive'
            : 'Nothing found'
          : `No change, ${plural(findings.length, 'finding')}`}
        {unknown.length > 0 && `, ${plural(unknown.length, 'part')} could not be checked`}
      </p>
    );
  return (
    <ul class="changes small">
      {appeared.map((finding) => (
        <li key={`new ${keyOf(finding)}`}>
          <strong>New:</strong> {titleOf(finding)}
        </li>
      ))}
      {gone.map((finding) => (
        <li key={`gone ${keyOf(finding)}`}>
          <strong>Resolved:</strong> {titleOf(finding)}
        </li>
      ))}
      {unknown.length > 0 && (
        <li class="muted">{plural(unknown.length, 'part')} could not be checked</li>
      )}
    </ul>
  );
}

const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;
