/** What the declaration of one environment variable says. */

import type { Read } from './config-readers.ts';

export interface Variable<T> {
  read: Read<T>;
  /** The text that stands for an unset variable; computed from the variables before it. */
  fallback: string | ((values: Record<string, string>) => string);
  /** How the default is told in tables where it is computed. */
  fallbackText?: string;
  help: string;
  secret?: boolean;
}

export const variable = <T>(spec: Variable<T>): Variable<T> => spec;
