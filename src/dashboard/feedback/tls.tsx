/** What TLS reports say: how often servers could not send with TLS, and why. */

import type * as v from 'valibot';
import type { TlsFeedback } from '../../feedback/schema.ts';
import { formatCount } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';
import { Card } from '../frame/card.tsx';

export function Tls({ tls }: { tls: v.InferOutput<typeof TlsFeedback> }) {
  const { succeeded, failed, reasons, from, to } = tls;
  if (succeeded + failed === 0) return null;
  return (
    <Card title="TLS to your mail servers" id="tls">
      <p>
        {failed === 0
          ? `All ${formatCount(succeeded, 'session')} used TLS.`
          : `${formatCount(failed)} of ${formatCount(succeeded + failed, 'session')} failed.`}
      </p>
      <p class="small muted">{`From ${dayInWords(from)} to ${dayInWords(to)} (UTC), according to the sending servers.`}</p>
      {reasons.length > 0 && (
        <ul class="plain">
          {reasons.map(({ result_type, sessions, meaning, fix }) => (
            <li key={result_type}>
              <strong>{meaning}</strong>{' '}
              {`${formatCount(sessions, 'session')} (${result_type}). ${fix}`}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
