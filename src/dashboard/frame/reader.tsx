/** What a page knows about its reader: the time, their time zone, and their role. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { allows, type Role } from '../../http/actor.ts';

export interface Reader {
  /** Milliseconds since the epoch. */
  now: number;
  role: Role;
  /** The tags to which they are limited; null for none. */
  limit: string[] | null;
  /** An IANA name; null if the browser knows it. */
  timeZone: string | null;
  /** A BCP 47 tag, the default if the browser knows the language. */
  locale: string;
  /** Whether the member has chosen the locale. */
  hasOwnLocale: boolean;
  /** The address of the API in commands. */
  baseUrl: string;
  testMode: boolean;
}

export const DEFAULT_LOCALE = 'en-GB';

export const ReaderContext = createContext<Reader>({
  now: 0,
  role: 'viewer',
  limit: null,
  timeZone: null,
  locale: DEFAULT_LOCALE,
  hasOwnLocale: false,
  baseUrl: '',
  testMode: false,
});

export const useReader = (): Reader => useContext(ReaderContext);

interface ForProps {
  role: Role;
  /** For readers who see the whole team: nobody who is limited to tags. */
  team?: true;
  children: preact.ComponentChildren;
}

/** Shows its children only to readers who may use them. */
export function For({ role, team, children }: ForProps) {
  const reader = useReader();
  return allows(reader.role, role) && !(team && reader.limit) ? children : null;
}
