/** An account at a receiver: its state, what to do about a problem, and the domains that it shows. */

import { RECEIVER_NAMES } from '../../config/receivers.ts';
import { allows } from '../../http/actor.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { codeInWords } from '../../receivers/requirements.ts';
import type { Receiver } from '../../receivers/schema.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { ActionButton } from '../frame/action.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago, Due } from '../frame/times.tsx';
import { RECEIVERS, signInCommand } from './set-up.tsx';

const TONES: Partial<Record<Receiver['state'], 'info' | 'warn'>> = {
  waiting: 'info',
  expiring: 'warn',
};

export function Account({ account }: { account: Receiver }) {
  const { id, receiver, state, problem, domains } = account;
  const { role, testMode } = useReader();
  const name = RECEIVER_NAMES[receiver];
  const { fetching, last_fetch_at, next_fetch_at, failing_since, access_confirmed_at } = account;
  return (
    <Card
      title={id === receiver ? name : `${name}: ${id}`}
      id={`account-${id}`}
      actions={
        allows(role, 'member') &&
        !testMode && (
          <ActionButton action={`${RECEIVERS}/${encodeURIComponent(id)}/fetch`}>
            Fetch now
          </ActionButton>
        )
      }
    >
      <p>{fetching ? <Waiting>Fetching</Waiting> : <AccountMark state={state} />}</p>
      {problem && (
        <Notice tone={TONES[state] ?? 'fail'}>
          <bdi>{problem.message}</bdi>
        </Notice>
      )}
      {state === 'not_signed_in' && (
        <div class="box command">
          <Copyable text={signInCommand(id)} label="the command" />
        </div>
      )}
      <Facts
        items={[
          ['Last fetched', last_fetch_at ? <Ago at={last_fetch_at} /> : 'Never'],
          ['Access confirmed', access_confirmed_at && <Ago at={access_confirmed_at} />],
          ['Failing since', failing_since && <Ago at={failing_since} />],
          ['Next fetch', next_fetch_at ? <Due at={next_fetch_at} /> : 'now'],
        ]}
      />
      {domains && <Domains domains={domains} />}
    </Card>
  );
}

function AccountMark({ state }: Pick<Receiver, 'state'>) {
  switch (state) {
    case 'working':
      return <StateMark state="pass" word="Working" />;
    case 'expiring':
      return <StateMark state="warn" word="Access ends soon" />;
    case 'failing':
      return <StateMark state="fail" word="Failing" />;
    case 'not_signed_in':
      return <StateMark state="fail" word="Not signed in" />;
    case 'waiting':
      return <Waiting>Not fetched yet</Waiting>;
  }
}

type AccountDomain = NonNullable<Receiver['domains']>[number];

/** What has a problem first, then the domains of the team, then the others. */
const rank = ({ problem, domain_id }: AccountDomain): number =>
  domain_id === null ? 2 : problem ? 0 : 1;

const PERMISSIONS: Record<string, string> = {
  OWNER: 'Owner',
  READER: 'Reader',
  NONE: 'None',
};
const permissionInWords = (permission: string): string =>
  PERMISSIONS[permission] ?? codeInWords(permission);

const VERIFICATIONS: Record<string, string> = { VERIFIED: 'Verified', UNVERIFIED: 'Not verified' };
const verificationInWords = (verification: string | null): string =>
  verification === null ? '–' : (VERIFICATIONS[verification] ?? codeInWords(verification));

const MAX_DOMAINS = 200;

function Domains({ domains }: { domains: AccountDomain[] }) {
  const { role } = useReader();
  if (domains.length === 0) return <p class="muted">The account has no domains yet.</p>;
  const sorted = domains.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return (
    <>
      <div class="account-domains">
        <DataTable
          label="Domains of the account"
          rows={sorted.slice(0, MAX_DOMAINS)}
          keyOf={({ name }) => name}
          columns={[
            {
              title: 'Domain',
              cell: ({ name, domain_id }) =>
                domain_id !== null && allows(role, 'member') ? (
                  <a href={`/domains/${domain_id}#gmail`}>
                    <bdi>{readableDomain(name)}</bdi>
                  </a>
                ) : (
                  <bdi>{readableDomain(name)}</bdi>
                ),
            },
            { title: 'Figures', cell: (domain) => <DomainState {...domain} /> },
            {
              title: 'Permission',
              wide: true,
              cell: ({ permission }) => permissionInWords(permission),
            },
            {
              title: 'At Google',
              wide: true,
              cell: ({ verification }) => verificationInWords(verification),
            },
          ]}
        />
      </div>
      {sorted.length > MAX_DOMAINS && (
        <p class="small muted">{`The first ${MAX_DOMAINS} domains are shown. The API lists all.`}</p>
      )}
    </>
  );
}

function DomainState({ problem, domain_id, last_fetch_at }: AccountDomain) {
  if (domain_id === null)
    return <span class="muted">Not fetched: add the domain to your team first</span>;
  if (problem)
    return (
      <>
        <StateMark state="fail" word="Not fetched" />
        <span class="row-note small">
          <bdi>{problem.message}</bdi>
        </span>
      </>
    );
  return last_fetch_at === null ? (
    <Waiting>Not fetched yet</Waiting>
  ) : (
    <>
      Fetched <Ago at={last_fetch_at} />
    </>
  );
}
