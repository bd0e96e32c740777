/** What is wrong with a domain, since when, and what to do first. Below it, what each source says at a glance. */

import { isDay } from '../../lib/clock.ts';
import type { FirstStep, Picture, Problem, SourceLine, Statement } from '../../picture/schema.ts';
import { sanitize } from '../../report/blocks.ts';
import { Chevron, Icon, StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { Ago, Day, Time } from '../frame/times.tsx';
import { DnsRecord } from './dns-record.tsx';

export function PictureHead({ picture }: { picture: Picture }) {
  const { state, headline, since, first_step, problems, sources, name } = sanitize(picture);
  const others = problems.length - 1;
  // The card of the verification follows, with the record and its button.
  const hasCard = problems[0]?.topic === 'verification';
  return (
    <section class={`card panel picture ${state}`} id="picture" aria-labelledby="picture-title">
      <div class="picture-head">
        <Icon state={state} />
        <div>
          <h2 id="picture-title">{headline}</h2>
          {(since || others > 0) && (
            <p class="muted">
              {since && (
                <>
                  Since <DayOf at={since} />.{' '}
                </>
              )}
              {others > 0 && (
                <a href="#problems">
                  {others === 1 ? '1 more problem' : `${others} more problems`}
                </a>
              )}
            </p>
          )}
        </div>
      </div>
      {first_step && (
        <div class="fix-box">
          <h3>Do this first</h3>
          <Step step={hasCard ? { ...first_step, record: null } : first_step} domain={name} />
        </div>
      )}
      <Sources sources={sources} />
    </section>
  );
}

function Step({ step: { text, record, path }, domain }: { step: FirstStep; domain: string }) {
  return (
    <>
      <p>{text}</p>
      {record && <DnsRecord record={record} domain={domain} />}
      <p class="small">
        <a href={path}>Show the details</a>
      </p>
    </>
  );
}

const STATE_WORDS = {
  fail: 'Problem',
  warn: 'Warning',
  pass: 'Fine',
  unknown: 'Unknown',
} as const;

const Sources = ({ sources }: { sources: SourceLine[] }) => (
  <ul class="source-lines" aria-label="What each source says">
    {sources.map(({ source, name, state, text, at, basis, path }) => (
      <li key={source}>
        <div class="source-line-name">
          <strong>{name}</strong>
          {state === 'not_set_up' ? (
            <NotSetUp />
          ) : (
            <StateMark state={state} word={STATE_WORDS[state]} />
          )}
        </div>
        <div class={state === 'not_set_up' ? 'muted' : undefined}>
          {text}
          {basis && <span class="row-note small">{basis}</span>}
        </div>
        <div class="source-more small">
          {at && (
            <span class="muted">
              <When at={at} />
            </span>
          )}
          <a
            href={path}
            aria-label={`${state === 'not_set_up' ? 'Set up' : 'More about'}: ${name}`}
          >
            {state === 'not_set_up' ? 'Set up' : 'More'}
          </a>
        </div>
      </li>
    ))}
  </ul>
);

/** The first step of the first one is above. A single statement is there too, so it isn’t repeated. */
export function Problems({ picture }: { picture: Picture }) {
  const { problems, name } = sanitize(picture);
  if (problems.flatMap(({ statements }) => statements).length <= 1) return null;
  return (
    <Card title={problems.length === 1 ? '1 problem' : `${problems.length} problems`} id="problems">
      <p class="muted small">
        The most costly problem comes first. Open a problem to see what each source says about it.
      </p>
      <div class="check-list">
        {problems.map((problem, index) => (
          <ProblemItem key={problem.topic} problem={problem} domain={name} isFirst={index === 0} />
        ))}
      </div>
    </Card>
  );
}

interface ItemProps {
  problem: Problem;
  domain: string;
  isFirst: boolean;
}

function ProblemItem({ problem, domain, isFirst }: ItemProps) {
  const { state, title, since, is_disputed, statements, first_step } = problem;
  return (
    <details class="check-item" open={isFirst}>
      <summary>
        <Chevron />
        <span class="check-title">
          <strong>{title}</strong>
          <span class="small muted">
            {since && (
              <>
                Since <DayOf at={since} />
              </>
            )}
            {since && is_disputed && ' · '}
            {is_disputed && 'The sources disagree'}
          </span>
        </span>
        <StateMark state={state} word={STATE_WORDS[state]} />
      </summary>
      <div class="check-body">
        {first_step && !isFirst && (
          <div class="fix-box">
            <h4>What to do</h4>
            <Step step={first_step} domain={domain} />
          </div>
        )}
        <ul class="statements">
          {statements.map((statement, index) => (
            <StatementLine key={`${statement.source}-${index}`} statement={statement} />
          ))}
        </ul>
      </div>
    </details>
  );
}

function StatementLine({ statement }: { statement: Statement }) {
  const { origin, state, text, at, since, basis, path } = statement;
  return (
    <li>
      <StateMark state={state} word={origin} />
      <div>
        <p>{text}</p>
        <p class="small muted">
          {basis && `${basis}. `}
          {since && (
            <>
              Since <DayOf at={since} />.{' '}
            </>
          )}
          {at && (
            <>
              Measured <When at={at} />.{' '}
            </>
          )}
          <a href={path} aria-label={`Details from ${origin}`}>
            Details
          </a>
        </p>
      </div>
    </li>
  );
}

/** A time, or a day such as `2026-11-21`. */
const When = ({ at }: { at: string }) => (isDay(at) ? <Day day={at} /> : <Ago at={at} />);

/** The day of a time. */
const DayOf = ({ at }: { at: string }) => (isDay(at) ? <Day day={at} /> : <Time at={at} day />);
