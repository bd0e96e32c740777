/** How to set receivers up: the variable, and the next command. */

import { RECEIVER_NAMES, type ReceiverId } from '../../config/receivers.ts';
import { Copyable } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { exampleText } from '../system/dependencies.ts';

/** The path of the page about all accounts. */
export const RECEIVERS = '/receivers';

const EXAMPLES: Record<ReceiverId, { shows: string; access: string; account: string }> = {
  google_postmaster: {
    shows:
      'The spam rate of your domains at Gmail, authentication, delivery errors, and whether Google’s requirements are met.',
    access:
      'Verify your domains at postmaster.google.com, and register an OAuth client in the Google Cloud console.',
    account:
      '{"receiver":"google_postmaster","client_id":"….apps.googleusercontent.com","client_secret":"…"}',
  },
  microsoft_snds: {
    shows: 'How Outlook filters mail from your IP addresses, complaints, and blocks.',
    access: 'Request access to your addresses at Microsoft SNDS with a Microsoft account.',
    account: '{"receiver":"microsoft_snds"}',
  },
};

/** For the receivers that have no account. */
export function SetUp({ missing }: { missing: ReceiverId[] }) {
  if (missing.length === 0) return null;
  const accounts = missing.map((receiver) => EXAMPLES[receiver].account);
  return (
    <Card title="Set up" id="set-up">
      <ol class="steps">
        {missing.map((receiver) => (
          <li key={receiver}>
            <div class="step-head">
              <h3>{RECEIVER_NAMES[receiver]}</h3>
              <NotSetUp />
            </div>
            <p>{EXAMPLES[receiver].shows}</p>
            <p class="muted">{EXAMPLES[receiver].access}</p>
          </li>
        ))}
      </ol>
      <p>
        Set this environment variable and restart the service.{' '}
        <a href="/help/receivers">The help</a> explains each step.
      </p>
      <div class="box command">
        <Copyable
          text={exampleText([['RECEIVERS', `[${accounts.join(',')}]`]])}
          label="the variable"
        />
      </div>
      {missing.map((receiver) => (
        <>
          <p>Then sign in to {RECEIVER_NAMES[receiver]}:</p>
          <div class="box command">
            <Copyable text={signInCommand(receiver)} label="the command" />
          </div>
        </>
      ))}
    </Card>
  );
}

export const signInCommand = (id: string): string => `deliverability receivers sign-in ${id}`;
