/** The verification of a domain: what to publish, what the last lookup found, and when the next one is. */

import { VERIFICATION } from '../../dns-changes/plans.ts';
import type { Domain } from '../../domains/schema.ts';
import { MISSING_TIMEOUT_MS } from '../../domains/transitions.ts';
import { isoTime } from '../../lib/clock.ts';
import { PublishLink } from '../dns/parts.tsx';
import { ActionButton } from '../frame/action.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { Ago, Due, Time } from '../frame/times.tsx';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './list.tsx';

/** Whether the record has to be published now. */
export const isRecordWanted = ({ status, missing_since }: Domain): boolean =>
  status !== 'verified' || missing_since !== null;

/** The result of a lookup that the reader has just requested. */
export function LookupNotice({ domain }: { domain: Domain }) {
  const { name, status, last_check_detail, next_check_at } = domain;
  if (!isRecordWanted(domain))
    return <Notice tone="pass">Record found. {name} is verified.</Notice>;
  return (
    <Notice tone="warn">
      {last_check_detail ?? 'The lookup has not finished yet.'} New records can take up to an hour
      to become visible.{' '}
      {status !== 'failed' && next_check_at && (
        <>
          The next automatic lookup is <Due at={next_check_at} />.
        </>
      )}
    </Notice>
  );
}

/** A card with the record while it is needed, otherwise one line. */
export function Verification({ domain }: { domain: Domain }) {
  if (isRecordWanted(domain)) return <RecordToPublish domain={domain} />;
  return (
    <section class="card panel" id="verification">
      <Fold summary={<h2 class="fold-title">Verified: keep the TXT record published</h2>}>
        <div class="stack">
          <p>
            The record is looked up every day. Without it, the domain fails verification after three
            days.
          </p>
          <DnsRecord record={domain.verification} domain={domain.name} />
          <LookupFacts domain={domain} />
          <VerifyButton domain={domain} />
        </div>
      </Fold>
    </section>
  );
}

function RecordToPublish({ domain }: { domain: Domain }) {
  const { name, status, missing_since } = domain;
  return (
    <Card title={`Verify ${name}`} id="verification">
      {status === 'pending' && (
        <p>
          Publish this TXT record in the DNS of {name} to prove that you control it. A verified
          domain is checked every day, and can have alerts, published records, hosted files and a
          badge. Next, set up its <a href="#feedback">feedback address</a> and the{' '}
          <a href="#gmail">figures of receivers</a>.
        </p>
      )}
      {status === 'failed' && (
        <p>
          The record was not found in time, so {name} is no longer checked. Publish the record, then
          select “Verify now” to start again.
        </p>
      )}
      {status === 'verified' && missing_since && (
        <p>
          The record has disappeared. Publish it again before{' '}
          <Time at={isoTime(Date.parse(missing_since) + MISSING_TIMEOUT_MS)} />, or {name} fails
          verification and is no longer checked.
        </p>
      )}
      <DnsRecord record={domain.verification} domain={name} />
      <PublishLink domainId={domain.id} source={{ checks: VERIFICATION }} />
      <Fold summary="Or publish the same record for all your domains">
        <div class="stack">
          <DnsRecord record={domain.team_verification} domain={name} />
          <p>
            <a href={`${DOMAINS}/verify`}>Verify many domains at once</a>
          </p>
        </div>
      </Fold>
      <LookupFacts domain={domain} />
      <VerifyButton domain={domain} primary />
    </Card>
  );
}

function LookupFacts({ domain }: { domain: Domain }) {
  const { status, last_checked_at, last_check_detail, next_check_at, missing_since } = domain;
  const isRecordDetail = isRecordWanted(domain) && last_check_detail !== null;
  return (
    <>
      {isRecordDetail && last_checked_at && (
        <p class="lookup">
          <strong>Last lookup:</strong> {last_check_detail}
        </p>
      )}
      <Facts
        items={[
          ['Verified', domain.verified_at && <Ago at={domain.verified_at} />],
          ['Missing since', missing_since && <Ago at={missing_since} />],
          ['Last looked up', last_checked_at ? <Ago at={last_checked_at} /> : 'Not yet'],
          [
            'Next lookup',
            next_check_at ? (
              <Due at={next_check_at} />
            ) : status === 'failed' ? (
              'None scheduled'
            ) : null,
          ],
        ]}
      />
    </>
  );
}

export function VerifyButton({ domain: { id }, primary }: { domain: Domain; primary?: boolean }) {
  if (useReader().testMode) return null;
  return (
    <ActionButton action={`${DOMAINS}/${id}/verify`} primary={primary}>
      Verify now
    </ActionButton>
  );
}
