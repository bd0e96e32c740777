/** How the pages name the states of accounts at receivers, and what to do about them. */

import { codeInWords } from '../../receivers/requirements.ts';
import type { Receiver } from '../../receivers/schema.ts';
import { StateMark } from '../../report/html/components.tsx';
import { Waiting } from '../frame/states.tsx';

export function AccountMark({ state }: Pick<Receiver, 'state'>) {
  switch (state) {
    case 'working':
      return <StateMark state="pass" word="Working" />;
    case 'failing':
      return <StateMark state="fail" word="Failing" />;
    case 'not_signed_in':
      return <StateMark state="fail" word="Not signed in" />;
    case 'waiting':
      return <Waiting>Not fetched yet</Waiting>;
  }
}

const PERMISSIONS: Record<string, string> = {
  OWNER: 'Owner',
  READER: 'Reader',
  NONE: 'None',
};
export const permissionInWords = (permission: string): string =>
  PERMISSIONS[permission] ?? codeInWords(permission);

const VERIFICATIONS: Record<string, string> = { VERIFIED: 'Verified', UNVERIFIED: 'Not verified' };
export const verificationInWords = (verification: string | null): string =>
  verification === null ? '–' : (VERIFICATIONS[verification] ?? codeInWords(verification));
