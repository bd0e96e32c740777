/**
 * Channels between features: one publishes its changes inside a transaction, and others take part in
 * that transaction. Neither has to import the other's feature.
 */

import type { Tx } from './open.ts';

/**
 * Declared once and exported by the publishing feature; `Args` are the arguments of its subscribers.
 * Channels are compared by identity, not by name.
 */
export interface Channel<Args extends unknown[]> {
  readonly name: string;
  /** Never set; it only carries the type. */
  readonly accepts?: (...args: Args) => void;
}

/** Runs inside the publishing transaction; if it rejects, the transaction is rolled back. */
export type Subscriber<Args extends unknown[]> = (tx: Tx, ...args: Args) => Promise<void>;

/** A subscriber and its channel, with their types erased; created by `subscribe`. */
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
   * Calls the subscribers of the channel one after the other, in the order in which they were added.
   * Rejects if one rejects, which rolls back the transaction.
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
