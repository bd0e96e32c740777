/** The way that the message came: how it was handed over here, and the servers before that, with their delays. */

import type { Envelope } from '../../analysis/check.ts';
import { type Evidence, evidenceOf, numberIn, objectsIn, type Report, textIn } from '../report.ts';
import { Code, formatSeconds, oneLine, Section, State, Time } from './components.tsx';

export function PathSection({ report }: { report: Report }) {
  const check = report.checks.find(({ id }) => id === 'received_path');
  const evidence = evidenceOf(report.checks, 'received_path');
  const hops = objectsIn(evidence, 'hops');
  return (
    <Section
      id="path"
      title="The way it came"
      note={check && oneLine(`${check.title} ${check.detail}`)}
    >
      <ol class="card hops">
        {hops.map((hop, index) => (
          <Hop key={`${index + 1}`} hop={hop} />
        ))}
        <li>
          <div>
            <strong>Here</strong>
            {report.received_at && (
              <span class="muted small">
                {' '}
                <Time iso={report.received_at} />
              </span>
            )}
          </div>
          <Delay seconds={hops.length > 0 ? numberIn(evidence, 'last_delay_seconds') : null} />
          {report.envelope && <Session envelope={report.envelope} />}
        </li>
      </ol>
    </Section>
  );
}

function Hop({ hop }: { hop: Evidence }) {
  const [from, by, protocol, time] = ['from', 'by', 'protocol', 'time'].map((key) =>
    textIn(hop, key),
  );
  return (
    <li>
      <div>
        {by ? <Code text={by} max={255} /> : 'A server without a name'}
        {time && (
          <span class="muted small">
            {' '}
            <Time iso={time} />
          </span>
        )}
      </div>
      <Delay seconds={numberIn(hop, 'delay_seconds')} />
      {(from || protocol) && (
        <div class="muted small">
          {from && (
            <>
              took it from <Code text={from} max={255} />
            </>
          )}
          {protocol && (
            <>
              {' '}
              by <Code text={protocol} max={40} />
            </>
          )}
        </div>
      )}
    </li>
  );
}

const LONG = 300;

/** A negative one shows that a clock is wrong. */
function Delay({ seconds }: { seconds: number | null }) {
  if (seconds === null) return null;
  if (seconds >= LONG) return <State tone="warn" word={`after ${formatSeconds(seconds)}`} badge />;
  if (seconds < 0)
    return <State tone="unknown" word={`${formatSeconds(seconds)}: a clock is wrong`} badge />;
  return <span class="muted small">after {formatSeconds(seconds)}</span>;
}

function Session({ envelope: { client_ip, helo, mail_from, tls } }: { envelope: Envelope }) {
  return (
    <dl class="facts small">
      <div>
        <dt>Client</dt>
        <dd>{client_ip ? <Code text={client_ip} /> : <Unknown />}</dd>
      </div>
      <div>
        <dt>HELO</dt>
        <dd>{helo === null ? <Unknown /> : <Code text={helo} max={255} />}</dd>
      </div>
      <div>
        <dt>MAIL FROM</dt>
        <dd>{mail_from === null ? <Unknown /> : <Code text={mail_from || '<>'} max={320} />}</dd>
      </div>
      <div>
        <dt>TLS</dt>
        <dd>{tls === null ? <Unknown /> : tls.used ? tlsWords(tls) : 'not used'}</dd>
      </div>
    </dl>
  );
}

const Unknown = () => <span class="muted">not known</span>;

const tlsWords = ({ version, cipher }: NonNullable<Envelope['tls']>): string =>
  oneLine([version ?? 'used', cipher].filter(Boolean).join(', '), 200);
