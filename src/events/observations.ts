/**
 * Observations: what features have found out about one subject. A feature publishes them in the transaction that stores
 * them, and alert rules are evaluated on them there.
 */

import { channel } from '../store/subscribers.ts';

/** What every observation has, besides its `kind`. */
export interface Observed {
  /** What an incident is about: the same text each time. */
  subject: string;
  /** The domain that it belongs to, for rules that are limited to one. */
  domainId: string | null;
}

/** By kind. Each feature adds those that it publishes, so that it imports no other for them. */
// biome-ignore lint/suspicious/noEmptyInterface: a type could not be added to.
export interface Observations {}

export type ObservationKind = keyof Observations;
export type Observation = Observations[ObservationKind];

/** Published in `transact`, once what was observed is stored. */
export const observed = channel<[observations: Observation[]]>('observed');

/** A subject became part of another: what is known about what is left of it, and about the other. */
export interface Move<Kind extends ObservationKind = ObservationKind> {
  from: Observations[Kind];
  to: Observations[Kind];
}

/** Published in the transaction that moves it. */
export const subjectMoved = channel<[move: Move]>('subjectMoved');
