/** SPF, each DKIM signature and DMARC, with their alignment drawn: authenticated domain ↔ From domain. */

import { authenticationOf, type Identifier } from '../content.ts';
import type { Report } from '../report.ts';
import { AuthState, Code, oneLine, Section, State, type Tone } from './components.tsx';

export function AuthenticationSection({ report }: { report: Report }) {
  const { fromDomain, identifiers, dmarc, ignored } = authenticationOf(report);
  return (
    <Section
      id="authentication"
      title="Authentication"
      note="DMARC passes where SPF or a DKIM signature passes for a domain that belongs to the one in From: that is alignment."
    >
      <div class="card">
        <table class="identifiers">
          <thead>
            <tr>
              <th scope="col">Mechanism</th>
              <th scope="col">Result</th>
              <th scope="col">Authenticated domain and From domain</th>
            </tr>
          </thead>
          <tbody>
            {identifiers.map((identifier, index) => (
              <tr key={`${index + 1}`}>
                <th scope="row">{identifier.mechanism}</th>
                <td>
                  <AuthState result={identifier.result} badge />
                </td>
                <td>
                  <Lane identifier={identifier} fromDomain={fromDomain} />
                  <Notes notes={identifier.notes} />
                </td>
              </tr>
            ))}
            <tr class="outcome">
              <th scope="row">DMARC</th>
              <td>
                <AuthState result={dmarc.result} badge />
              </td>
              <td>
                {fromDomain ? <Code text={fromDomain} max={255} /> : 'From names no one domain'}
                <p class="small muted">
                  {dmarc.record ? (
                    <>
                      Policy {oneLine(dmarc.policy ?? 'unknown', 20)}, from{' '}
                      <Code text={dmarc.at ?? ''} max={255} />:{' '}
                      <Code text={dmarc.record} max={500} />
                    </>
                  ) : (
                    'No record that applies is known.'
                  )}
                </p>
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      {ignored > 0 && (
        <p class="small muted">
          {ignored} more DKIM {ignored === 1 ? 'signature was' : 'signatures were'} not looked at.
        </p>
      )}
    </Section>
  );
}

function Lane({ identifier, fromDomain }: { identifier: Identifier; fromDomain: string | null }) {
  const { domain } = identifier;
  if (domain === null) return <span class="muted">no domain</span>;
  if (fromDomain === null) return <Code text={domain} max={255} />;
  const { tone, word } = joint(identifier);
  return (
    <div class={`lane ${tone}`}>
      <Code text={domain} max={255} />
      <span class="joint">
        <State tone={tone} word={word} />
      </span>
      <Code text={fromDomain} max={255} />
    </div>
  );
}

/** A domain that was not authenticated counts for nothing, aligned or not. */
function joint({ aligned, result }: Identifier): { tone: Tone; word: string } {
  if (aligned === null) return { tone: 'unknown', word: 'not compared' };
  if (!aligned) return { tone: 'fail', word: 'not aligned' };
  return result === 'pass'
    ? { tone: 'pass', word: 'aligned' }
    : { tone: 'unknown', word: 'aligned, not authenticated' };
}

function Notes({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null;
  return <p class="small muted">{notes.map((note) => oneLine(note, 500)).join(' · ')}</p>;
}
