/** "Fix these first": the findings by gain, each a line that opens to evidence, reason, rule and remedy. */

import type { Fix, Reference } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import type { Report } from '../report.ts';
import { capSentence, FIRST_FINDINGS, formatPoints } from '../report-words.ts';
import { EvidenceList } from './evidence.tsx';
import { CheckState, Chevron, Icon, State } from './icons.tsx';
import { Heading, useAnchor } from './place.tsx';
import { Section } from './section.tsx';
import { Code, Copyable, exactly, oneLine } from './shown-values.tsx';

export function Fixes({ report }: { report: Report }) {
  const findings = toFix(report.checks);
  if (findings.length === 0)
    return (
      <Section id="fix" title="Fix these first">
        <p class="card padded">
          <State
            tone={report.score === null ? 'unknown' : 'pass'}
            word={
              report.score === null
                ? 'In what could be checked there is nothing to fix.'
                : 'There is nothing to fix.'
            }
          />
        </p>
      </Section>
    );
  const [first, rest] = [findings.slice(0, FIRST_FINDINGS), findings.slice(FIRST_FINDINGS)];
  const scored = report.score !== null;
  return (
    <Section id="fix" title="Fix these first" note={howToRead(report)}>
      {report.cap && (
        <p class="cap fail">
          <Icon tone="fail" />
          <span>
            <strong>{capSentence(report.cap)}</strong> {report.cap.reference}
          </span>
        </p>
      )}
      <div class="card findings">
        {first.map((check, index) => (
          <Finding key={check.id} check={check} scored={scored} open={index === 0} />
        ))}
        {rest.length > 0 && (
          <details class="more">
            <summary>
              <Chevron />
              {rest.length === 1 ? 'One smaller finding' : `${rest.length} smaller findings`}
            </summary>
            {rest.map((check) => (
              <Finding key={check.id} check={check} scored={scored} />
            ))}
          </details>
        )}
      </div>
    </Section>
  );
}

function howToRead({ score, cap }: Report): string {
  if (score === null) return 'Too little is known for a score, but this can be put right already.';
  const gain = 'The number is by how much your score would rise if this one thing were put right.';
  return cap ? `${gain} What stands at +0 counts again once nothing holds the score down.` : gain;
}

interface FindingProps {
  check: CheckResult;
  scored: boolean;
  open?: boolean;
}

function Finding({ check, scored, open }: FindingProps) {
  const anchor = useAnchor();
  return (
    <details class="finding" id={anchor(`check-${check.id}`)} open={open}>
      <summary>
        <Chevron />
        {scored && (
          <span class={check.gain > 0 ? 'gain number' : 'gain number none'}>
            +{formatPoints(check.gain)}
            <span class="visually-hidden"> points. </span>
          </span>
        )}
        <Heading rank={3}>{oneLine(check.title, 500)}</Heading>
        <span class="where">
          <span>{check.label}</span>
          <CheckState status={check.status} badge />
        </span>
      </summary>
      <div class="opened">
        {Object.keys(check.evidence).length > 0 && (
          <div class="block">
            <Heading rank={4}>What your message shows</Heading>
            <EvidenceList evidence={check.evidence} />
          </div>
        )}
        <div class="block">
          <Heading rank={4}>Why it matters</Heading>
          <p>{oneLine(check.detail, 2000)}</p>
          <p>
            <ReferenceLink reference={check.reference} />
          </p>
        </div>
        {check.fix && <Remedy fix={check.fix} />}
      </div>
    </details>
  );
}

/** Our own rules and texts alone have links; what comes from a message never becomes one. */
export function ReferenceLink({ reference }: { reference: Reference }) {
  if (!/^https?:\/\//.test(reference.url)) return <>{reference.name}</>;
  return (
    <a href={reference.url} rel="noreferrer noopener" target="_blank">
      {reference.name}
    </a>
  );
}

function Remedy({ fix }: { fix: Fix }) {
  return (
    <div class="block remedy">
      <Heading rank={4}>What to change</Heading>
      <p>{oneLine(fix.text, 4000)}</p>
      {fix.record && (
        <dl class="record">
          <div>
            <dt>Type</dt>
            <dd>
              <Code text={fix.record.type} max={20} />
            </dd>
          </div>
          <div>
            <dt>Name</dt>
            <dd>
              <Copyable text={exactly(fix.record.name)} label="name" />
            </dd>
          </div>
          <div>
            <dt>Value</dt>
            <dd>
              <Copyable text={exactly(fix.record.value)} label="value" />
            </dd>
          </div>
        </dl>
      )}
    </div>
  );
}
