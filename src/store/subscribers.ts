/**
 * Channels between features: one publishes what it does inside a transaction, and others take part in
 * that transaction, without either importing upwards.
 */

import type { Tx } from './open.ts';

/**
 * What the publishing feature declares once and exports; `Args` is what its subscribers are given. It
 * is known by its identity, not by its name.
 */
export interface Channel<Args extends unknown[]> {
  readonly name: string;
  /** Never set: it carries the type. */
  readonly accepts?: (...args: Args) => void;
}

/** Runs inside the publishing transaction; where it rejects, that transaction is rolled back. */
export type Subscriber<Args extends unknown[]> = (tx: Tx, ...args: Args) => Promise<void>;

/** A subscriber together with its channel, its types erased; made by `subscribe`. */
export interface Subscription {
  readonly channel: Channel<never[]>;
  readonly subscriber: Subscriber<never[]>;
}

export function channel<Args extends unknown[]>(name: string): Channel<Args> {
  return { name };
}

/** Binds a subscriber to a channel of the same types. */
export function subscribe<Args extends unknown[]>(
  channel: Channel<Args>,
  subscriber: Subscriber<Args>,
): Subscription {
  return { channel, subscriber } as unknown as Subscription;
}

export interface Subscribers {
  add(...subscriptions: Subscription[]): void;
  /**
   * Calls each subscriber of the channel in the order in which they were added, one after the other.
   * Rejects, and so undoes the change, where one does.
   */
  publish<Args extends unknown[]>(channel: Channel<Args>, tx: Tx, ...args: Args): Promise<void>;
}

export function createSubscribers(subscriptions: Subscription[] = []): Subscribers {
  const byChannel = new Map<unknown, Subscriber<never[]>[]>();
  const add = (...added: Subscription[]) => {
    for (const { channel, subscriber } of added)
      byChannel.set(channel, [...(byChannel.get(channel) ?? []), subscriber]);
  };
  add(...subscriptions);
  return {
    add,
    async publish(channel, tx, ...args) {
      for (const subscriber of byChannel.get(channel) ?? [])
        await subscriber(tx, ...(args as unknown[] as never[]));
    },
  };
}
