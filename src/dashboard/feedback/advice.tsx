/** Whether the policy can become stricter: in words first, then which mail would be affected, and the record. */

import type * as v from 'valibot';
import type { DmarcAdvice } from '../../feedback/sources/schema.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { DnsRecord } from '../domains/dns-record.tsx';
import { Card } from '../frame/card.tsx';
import { FEEDBACK } from './list.tsx';

/** The sources with the most messages matter most; the table below has all of them. */
const MAX_SHOWN = 10;

const More = ({ count }: { count: number }) =>
  count > 0 ? <li class="muted">{`And ${formatCount(count)} more.`}</li> : null;

type Advised = v.InferOutput<typeof DmarcAdvice>;

export function Advice({ domain, advice }: { domain: string; advice: Advised }) {
  const { state, summary, missing, would_be_rejected: lost, record, tag, next } = advice;
  return (
    <Card title="Your DMARC policy" id="advice">
      <p class="lead">{summary}</p>
      {advice.messages > 0 && (
        <p class="small muted">
          {`Based on ${formatCount(advice.messages, 'message')} from ${formatCount(advice.reporters, 'reporter')}, with reports on ${formatCount(advice.covered_days)} of the last 30 days.`}
        </p>
      )}
      {missing.length > 0 && (
        <ul class="plain">
          {missing.slice(0, MAX_SHOWN).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          <More count={missing.length - MAX_SHOWN} />
        </ul>
      )}
      {lost.length > 0 && (
        <>
          <h3>{`What ${tag}=${next} would affect`}</h3>
          <ul class="plain">
            {lost.slice(0, MAX_SHOWN).map(({ id, name, label, kind, failed, messages }) => (
              <li key={id}>
                <a href={`${FEEDBACK}/sources/${id}`}>
                  <bdi>{label ?? name}</bdi>
                </a>
                {`: ${formatCount(failed)} of ${formatCount(messages, 'message')}`}
                {kind === 'unknown' && ' (unknown: confirm whether it is yours)'}
              </li>
            ))}
            <More count={lost.length - MAX_SHOWN} />
          </ul>
        </>
      )}
      {record && (state === 'ready' || state === 'not_published') && (
        <>
          <h3>The record to publish</h3>
          <DnsRecord record={record} domain={domain} />
        </>
      )}
    </Card>
  );
}
