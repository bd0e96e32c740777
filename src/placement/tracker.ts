/**
 * Follows the messages of tests through one seed mailbox: finds each, and checks again where it is until its placement
 * is final.
 */

import type { App } from '../app.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { isoTime } from '../lib/clock.ts';
import type { PlacementRow } from '../store/tables.generated.ts';
import { type FoundMessage, type MatchedMessage, matchMessages, type WantedTest } from './match.ts';
import {
  finalTime,
  type OpenPlacement,
  type PlacementChange,
  takenMessages,
  wantedTest,
} from './placements.ts';
import { reasonsOf } from './reasons.ts';
import { couldBe, newSighting, noteGone, noteSeen, type Sighting, withMoves } from './sightings.ts';
import { isAffected, type Look, type SeedSource } from './source.ts';

export type Place = Pick<PlacementRow, 'placement' | 'problem' | 'detail'>;

/** `due`: the keys of the messages that the look checked again. `now`: when it had read all messages. */
export type CheckedLook = Look & { due: ReadonlySet<string>; now: number };
export type RecordChange = (row: OpenPlacement, change: PlacementChange) => Promise<void>;

/** How many times the tab of a message is looked up in Gmail. */
const MAX_TAB_ATTEMPTS = 3;

const TAB_UNKNOWN: Place = {
  placement: 'unknown',
  problem: 'tab_unknown',
  detail: 'The message arrived in the inbox, but Gmail doesn’t say in which tab.',
};

const GONE: Place = {
  placement: 'unknown',
  problem: 'message_gone',
  detail:
    'The message arrived, but a later check found it in none of the searched folders. The provider or a mailbox rule moved or deleted it.',
};

const isFound = ({ message_key }: OpenPlacement): boolean => message_key !== null;

export class Tracker {
  readonly #app: App;
  readonly #seed: SeedMailbox;
  readonly #source: SeedSource;
  // All by the ID of the test.
  readonly #received = new Map<string, WantedTest['received']>();
  readonly #openTabs = new Map<string, { attempts: number; matched: MatchedMessage }>();
  readonly #sightings = new Map<string, Sighting>();

  constructor(app: App, seed: SeedMailbox, source: SeedSource) {
    this.#app = app;
    this.#seed = seed;
    this.#source = source;
  }

  /** The keys of messages that the next look checks again. */
  dueKeys(open: OpenPlacement[], now: number): Set<string> {
    const due = open.filter(
      (row) => isFound(row) && now >= this.#checkTime(row, this.#sightingOf(row, now)),
    );
    return new Set(due.map(({ message_key }) => message_key!));
  }

  /** When the next message is checked again; `Infinity` if none is. */
  nextCheckAt(open: OpenPlacement[], now: number): number {
    return Math.min(
      ...open.filter(isFound).map((row) => this.#checkTime(row, this.#sightingOf(row, now))),
    );
  }

  /**
   * Has `record` store what a look at the mailbox has changed, one message after the other: an interrupted look loses
   * only the rest. Returns the IDs of the tests with a change.
   */
  async changes(
    open: OpenPlacement[],
    look: CheckedLook,
    record: RecordChange,
  ): Promise<Set<string>> {
    const taken = await takenMessages(this.#app, this.#seed.name);
    const messages = new Map(this.#source.messages().map((message) => [message.key, message]));
    const free = () => [...messages.values()].filter(({ key }) => !taken.has(key));
    const changed = new Set<string>();
    const note = async (row: OpenPlacement, change: PlacementChange | null) => {
      if (!change) return;
      changed.add(row.test_id);
      if (change.message_key) taken.add(change.message_key);
      await record(row, change);
    };
    // First, so that no other test takes a message that was moved.
    for (const row of open.filter(isFound)) {
      const message = messages.get(row.message_key!);
      await note(
        row,
        message
          ? await this.#checkAgain(row, message, look)
          : await this.#follow(row, free(), look),
      );
    }
    const pending = open.filter((row) => !isFound(row));
    const tests: WantedTest[] = [];
    for (const row of pending)
      tests.push({
        ...(await this.#wanted(row)),
        isEnding: look.now >= finalTime(row, this.#app.config),
      });
    for (const [id, matched] of matchMessages(free(), tests, look.now)) {
      const row = pending.find(({ test_id }) => test_id === id)!;
      await note(row, await this.#noteFound(row, matched, look.now));
    }
    for (const row of pending) {
      const key = this.#openTabs.get(row.test_id)?.matched.message.key;
      if (key === undefined || changed.has(row.test_id)) continue;
      // It belongs to another test, or it is still there.
      if (taken.has(key)) this.#openTabs.delete(row.test_id);
      else if (!messages.has(key)) await note(row, this.#lost(row, look));
    }
    return changed;
  }

  /** Whether the message was found, but the provider did not say in which tab. */
  isTabOpen({ test_id }: OpenPlacement): boolean {
    return this.#openTabs.has(test_id);
  }

  /** Forgets all other tests. */
  forgetOthers(open: OpenPlacement[]): void {
    const ids = new Set(open.map(({ test_id }) => test_id));
    for (const map of [this.#received, this.#openTabs, this.#sightings])
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
  }

  #sightingOf(row: OpenPlacement, now: number): Sighting {
    const sighting =
      this.#sightings.get(row.test_id) ??
      newSighting(null, now, this.#app.config.PLACEMENT_RECHECK);
    this.#sightings.set(row.test_id, sighting);
    return sighting;
  }

  #checkTime(row: OpenPlacement, { nextCheckAt }: Sighting): number {
    return Math.min(nextCheckAt, finalTime(row, this.#app.config));
  }

  #endTime(row: OpenPlacement, { finalAt }: Sighting): number {
    return Math.min(finalAt, finalTime(row, this.#app.config));
  }

  async #wanted(row: OpenPlacement): Promise<WantedTest> {
    const test = await wantedTest(this.#app, row, this.#received.get(row.test_id) ?? null);
    this.#received.set(row.test_id, test.received);
    return test;
  }

  /** Null if the tab is not known yet. */
  async #placeOf(message: FoundMessage): Promise<Place | null> {
    const placement = message.isJunk ? 'spam' : await this.#source.tabOf(message);
    return placement === null ? null : { placement, problem: null, detail: null };
  }

  async #reasons(row: OpenPlacement, message: FoundMessage) {
    const { received: sent } = await this.#wanted(row);
    return reasonsOf(message, this.#seed.provider, sent?.copy ?? null);
  }

  async #changeTo(
    row: OpenPlacement,
    { message, match: matched_by }: MatchedMessage,
    { placement, problem, detail }: Place,
    isFinal: boolean,
  ): Promise<PlacementChange> {
    return {
      matched_by,
      placement,
      problem,
      detail,
      folder: message.folder,
      reasons: JSON.stringify(
        withMoves(row, placement, [
          ...(await this.#reasons(row, message)),
          ...(message.notes ?? []),
        ]),
      ),
      arrived_at: isoTime(message.receivedAt),
      message_key: message.key,
      settled_at: isFinal ? isoTime(this.#app.clock.now()) : null,
    };
  }

  /** Null if the tab is not known yet. */
  async #noteFound(
    row: OpenPlacement,
    matched: MatchedMessage,
    now: number,
  ): Promise<PlacementChange | null> {
    const place = await this.#placeOf(matched.message);
    if (place === null) {
      const attempts = (this.#openTabs.get(row.test_id)?.attempts ?? 0) + 1;
      this.#openTabs.set(row.test_id, { attempts, matched });
      if (attempts < MAX_TAB_ATTEMPTS && now < finalTime(row, this.#app.config)) return null;
    }
    const sighting = newSighting(matched.message, now, this.#app.config.PLACEMENT_RECHECK);
    this.#sightings.set(row.test_id, sighting);
    return this.#changeTo(row, matched, place ?? TAB_UNKNOWN, now >= this.#endTime(row, sighting));
  }

  /** A message that is where it was. Null if it is not checked now. */
  async #checkAgain(
    row: OpenPlacement,
    message: FoundMessage,
    { due, now }: CheckedLook,
  ): Promise<PlacementChange | null> {
    const sighting = this.#sightingOf(row, now);
    sighting.message = message;
    if (!due.has(message.key)) return null;
    noteSeen(sighting, message);
    // A tab that can’t be read now is as before.
    const place = (await this.#placeOf(message)) ?? row;
    const matched = { message, match: row.matched_by! };
    return this.#changeTo(row, matched, place, now >= this.#endTime(row, sighting));
  }

  /** At the last look, a message that has disappeared before its tab was known. */
  #lost(row: OpenPlacement, look: CheckedLook): PlacementChange | null {
    const open = this.#openTabs.get(row.test_id);
    if (!open || look.now < finalTime(row, this.#app.config) || isAffected(row, look.truncatedAt))
      return null;
    const { message, match: matched_by } = open.matched;
    return {
      ...GONE,
      matched_by,
      folder: null,
      message_key: message.key,
      arrived_at: isoTime(message.receivedAt),
      settled_at: isoTime(this.#app.clock.now()),
    };
  }

  /** A message that is no longer where it was. Null if that is not sure yet. */
  async #follow(
    row: OpenPlacement,
    messages: FoundMessage[],
    { truncatedAt, unreadableAt, now }: CheckedLook,
  ): Promise<PlacementChange | null> {
    const sighting = this.#sightingOf(row, now);
    const isEnd = now >= this.#endTime(row, sighting);
    const candidates = messages.filter((message) => couldBe(message, sighting));
    const matched = matchMessages(candidates, [await this.#wanted(row)]).get(row.test_id);
    if (matched) {
      noteSeen(sighting, matched.message);
      return this.#changeTo(
        row,
        matched,
        (await this.#placeOf(matched.message)) ?? TAB_UNKNOWN,
        isEnd,
      );
    }
    if (now < this.#checkTime(row, sighting) || !noteGone(sighting, now) || !isEnd) return null;
    const settled_at = isoTime(now);
    // Not all messages were read, so nothing says that it is gone.
    if (isAffected(row, truncatedAt) || isAffected(row, unreadableAt))
      return { placement: row.placement, settled_at };
    return { ...GONE, folder: null, settled_at };
  }
}
