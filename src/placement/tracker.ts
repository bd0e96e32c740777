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

export interface Tracker {
  /** The keys of messages that the next look checks again. */
  dueKeys(open: OpenPlacement[], now: number): Set<string>;
  /** When the next message is checked again; `Infinity` if none is. */
  nextCheckAt(open: OpenPlacement[], now: number): number;
  /**
   * Has `record` store what a look at the mailbox has changed, one message after the other: an interrupted look loses
   * only the rest. Returns the IDs of the tests with a change.
   */
  changes(open: OpenPlacement[], look: CheckedLook, record: RecordChange): Promise<Set<string>>;
  /** Whether the message was found, but the provider did not say in which tab. */
  isTabOpen(row: OpenPlacement): boolean;
  /** Forgets all other tests. */
  forgetOthers(open: OpenPlacement[]): void;
}

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

export function createTracker(app: App, seed: SeedMailbox, source: SeedSource): Tracker {
  const { config, clock } = app;
  // All by the ID of the test.
  const received = new Map<string, WantedTest['received']>();
  const openTabs = new Map<string, { attempts: number; matched: MatchedMessage }>();
  const sightings = new Map<string, Sighting>();

  function sightingOf(row: OpenPlacement, now: number): Sighting {
    const sighting = sightings.get(row.test_id) ?? newSighting(null, now, config.PLACEMENT_RECHECK);
    sightings.set(row.test_id, sighting);
    return sighting;
  }

  const checkTime = (row: OpenPlacement, { nextCheckAt }: Sighting): number =>
    Math.min(nextCheckAt, finalTime(row, config));
  const endTime = (row: OpenPlacement, { finalAt }: Sighting): number =>
    Math.min(finalAt, finalTime(row, config));

  async function wanted(row: OpenPlacement): Promise<WantedTest> {
    const test = await wantedTest(app, row, received.get(row.test_id) ?? null);
    received.set(row.test_id, test.received);
    return test;
  }

  /** Null if the tab is not known yet. */
  async function placeOf(message: FoundMessage): Promise<Place | null> {
    const placement = message.isJunk ? 'spam' : await source.tabOf(message);
    return placement === null ? null : { placement, problem: null, detail: null };
  }

  async function reasons(row: OpenPlacement, message: FoundMessage) {
    const { received: sent } = await wanted(row);
    return reasonsOf(message, seed.provider, sent?.copy ?? null);
  }

  const changeTo = async (
    row: OpenPlacement,
    { message, match: matched_by }: MatchedMessage,
    { placement, problem, detail }: Place,
    isFinal: boolean,
  ): Promise<PlacementChange> => ({
    matched_by,
    placement,
    problem,
    detail,
    folder: message.folder,
    reasons: JSON.stringify(
      withMoves(row, placement, [...(await reasons(row, message)), ...(message.notes ?? [])]),
    ),
    arrived_at: isoTime(message.receivedAt),
    message_key: message.key,
    settled_at: isFinal ? isoTime(clock.now()) : null,
  });

  /** Null if the tab is not known yet. */
  async function noteFound(
    row: OpenPlacement,
    matched: MatchedMessage,
    now: number,
  ): Promise<PlacementChange | null> {
    const place = await placeOf(matched.message);
    if (place === null) {
      const attempts = (openTabs.get(row.test_id)?.attempts ?? 0) + 1;
      openTabs.set(row.test_id, { attempts, matched });
      if (attempts < MAX_TAB_ATTEMPTS && now < finalTime(row, config)) return null;
    }
    const sighting = newSighting(matched.message, now, config.PLACEMENT_RECHECK);
    sightings.set(row.test_id, sighting);
    return changeTo(row, matched, place ?? TAB_UNKNOWN, now >= endTime(row, sighting));
  }

  /** A message that is where it was. Null if it is not checked now. */
  async function checkAgain(
    row: OpenPlacement,
    message: FoundMessage,
    { due, now }: CheckedLook,
  ): Promise<PlacementChange | null> {
    const sighting = sightingOf(row, now);
    sighting.message = message;
    if (!due.has(message.key)) return null;
    noteSeen(sighting, message);
    // A tab that can’t be read now is as before.
    const place = (await placeOf(message)) ?? row;
    const matched = { message, match: row.matched_by! };
    return changeTo(row, matched, place, now >= endTime(row, sighting));
  }

  /** At the last look, a message that has disappeared before its tab was known. */
  function lost(row: OpenPlacement, look: CheckedLook): PlacementChange | null {
    const open = openTabs.get(row.test_id);
    if (!open || look.now < finalTime(row, config) || isAffected(row, look.truncatedAt))
      return null;
    const { message, match: matched_by } = open.matched;
    return {
      ...GONE,
      matched_by,
      folder: null,
      message_key: message.key,
      arrived_at: isoTime(message.receivedAt),
      settled_at: isoTime(clock.now()),
    };
  }

  /** A message that is no longer where it was. Null if that is not sure yet. */
  async function follow(
    row: OpenPlacement,
    messages: FoundMessage[],
    { truncatedAt, unreadableAt, now }: CheckedLook,
  ): Promise<PlacementChange | null> {
    const sighting = sightingOf(row, now);
    const isEnd = now >= endTime(row, sighting);
    const candidates = messages.filter((message) => couldBe(message, sighting));
    const matched = matchMessages(candidates, [await wanted(row)]).get(row.test_id);
    if (matched) {
      noteSeen(sighting, matched.message);
      return changeTo(row, matched, (await placeOf(matched.message)) ?? TAB_UNKNOWN, isEnd);
    }
    if (now < checkTime(row, sighting) || !noteGone(sighting, now) || !isEnd) return null;
    const settled_at = isoTime(now);
    // Not all messages were read, so nothing says that it is gone.
    if (isAffected(row, truncatedAt) || isAffected(row, unreadableAt))
      return { placement: row.placement, settled_at };
    return { ...GONE, folder: null, settled_at };
  }

  return {
    dueKeys: (open, now) =>
      new Set(
        open
          .filter((row) => isFound(row) && now >= checkTime(row, sightingOf(row, now)))
          .map(({ message_key }) => message_key!),
      ),
    nextCheckAt: (open, now) =>
      Math.min(...open.filter(isFound).map((row) => checkTime(row, sightingOf(row, now)))),
    async changes(open, look, record) {
      const taken = await takenMessages(app, seed.name);
      const messages = new Map(source.messages().map((message) => [message.key, message]));
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
          message ? await checkAgain(row, message, look) : await follow(row, free(), look),
        );
      }
      const pending = open.filter((row) => !isFound(row));
      const tests: WantedTest[] = [];
      for (const row of pending)
        tests.push({ ...(await wanted(row)), isEnding: look.now >= finalTime(row, config) });
      for (const [id, matched] of matchMessages(free(), tests, look.now)) {
        const row = pending.find(({ test_id }) => test_id === id)!;
        await note(row, await noteFound(row, matched, look.now));
      }
      for (const row of pending) {
        const key = openTabs.get(row.test_id)?.matched.message.key;
        if (key === undefined || changed.has(row.test_id)) continue;
        // It belongs to another test, or it is still there.
        if (taken.has(key)) openTabs.delete(row.test_id);
        else if (!messages.has(key)) await note(row, lost(row, look));
      }
      return changed;
    },
    isTabOpen: ({ test_id }) => openTabs.has(test_id),
    forgetOthers(open) {
      const ids = new Set(open.map(({ test_id }) => test_id));
      for (const map of [received, openTabs, sightings])
        for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    },
  };
}
