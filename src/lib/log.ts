/** The log: one JSON object a line, or a line for people on a terminal. Never a secret or a message body. */

import { type Clock, isoTime } from './clock.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>;

export interface LogOptions {
  level: LogLevel;
  format: 'json' | 'pretty';
  clock: Clock;
  /** Takes whole lines without the line end. */
  write(line: string): void;
}

/** A log that writes lines from the given level on. */
export function createLog({ level, format, clock, write }: LogOptions): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at = (name: LogLevel, rank: number) =>
    rank < least
      ? () => {}
      : (message: string, fields: LogFields = {}) => {
          const time = isoTime(clock.now());
          write(
            format === 'json'
              ? escaped(JSON.stringify({ time, level: name, message, ...fields }))
              : pretty(time, name, message, fields),
          );
        };
  return Object.fromEntries(LOG_LEVELS.map((name, rank) => [name, at(name, rank)])) as Log;
}

/** For tests and for commands that print their own words. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

function pretty(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${printable(String(value))}`);
  return [time.slice(11, 19), level.padEnd(5), printable(message), ...rest].join(' ');
}

/** Control characters, line separators, and what turns the direction of text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** What came from outside must not move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '·');
}

/** The same for JSON, where nothing is lost by it: `JSON.stringify` escapes only those below U+0020. */
function escaped(json: string): string {
  return json.replace(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
