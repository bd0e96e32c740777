/** The log: a JSON object per line, or readable lines on a terminal. It must not contain secrets or message bodies. */

import { type Clock, isoTime } from './clock.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>;

export interface LogOptions {
  level: LogLevel;
  format: 'json' | 'pretty';
  clock: Clock;
  /** Receives a line without its newline. */
  write(line: string): void;
}

/** A log that writes messages of the given level and above. */
export function createLog({ level, format, clock, write }: LogOptions): Log {
  const minRank = LOG_LEVELS.indexOf(level);
  const at = (name: LogLevel, rank: number) =>
    rank < minRank
      ? () => {}
      : (message: string, fields: LogFields = {}) => {
          const time = isoTime(clock.now());
          write(
            format === 'json'
              ? escapeJson(JSON.stringify({ time, level: name, message, ...fields }))
              : formatLine(time, name, message, fields),
          );
        };
  return Object.fromEntries(LOG_LEVELS.map((name, rank) => [name, at(name, rank)])) as Log;
}

/** For tests and for commands that print their own output. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

function formatLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${printable(String(value))}`);
  return [time.slice(11, 19), level.padEnd(5), printable(message), ...rest].join(' ');
}

/** Control characters, line separators and bidirectional formatting characters. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces characters that could control a terminal: logged text may come from outside. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '·');
}

/** Escapes the same characters in JSON: `JSON.stringify` escapes only those below U+0020. */
function escapeJson(json: string): string {
  return json.replace(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
