/** The log: a JSON object per line, or readable lines on a terminal. It must not contain secrets or message bodies. */

import { type Clock, isoTime } from './clock.ts';
import { currentTrace } from './trace-context.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The other names are those of the line itself. */
export type LogFields = Record<string, string | number | boolean | null | undefined> & {
  time?: never;
  level?: never;
  message?: never;
};

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
  const logAt = (name: LogLevel, rank: number) =>
    rank < minRank
      ? () => {}
      : (message: string, ownFields: LogFields = {}) => {
          const time = isoTime(clock.now());
          const trace = currentTrace();
          const fields = trace === null ? ownFields : { ...ownFields, trace_id: trace.traceId };
          write(
            format === 'json'
              ? printableJson({ time, level: name, message, ...fields })
              : formatLine(time, name, message, fields),
          );
        };
  return Object.fromEntries(LOG_LEVELS.map((name, rank) => [name, logAt(name, rank)])) as Log;
}

/** For tests and for commands that print their own output. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

function formatLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${printable(String(value))}`);
  return [time.slice(11, 19), level.padEnd(5), printable(message), ...pairs].join(' ');
}

/** Control characters, line separators and bidirectional formatting characters. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces characters that could control a terminal: logged text may come from outside. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '·');
}

/** JSON with the same characters escaped: `JSON.stringify` escapes only those below U+0020. */
export function printableJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The colors and styles that `styleText` sets. */
const COLORS = /(\u001b\[(?:1|2|22|3[1-6]|39)m)/;

/**
 * The last step before any output of a command: replaces what could control a terminal, except line breaks,
 * and colors if they are allowed.
 */
export function terminalText(text: string, allowsColor: boolean): string {
  const clean = (part: string) => part.split('\n').map(printable).join('\n');
  if (!allowsColor) return clean(text);
  // With a capturing group, every second part is a color.
  return text
    .split(COLORS)
    .map((part, index) => (index % 2 === 1 ? part : clean(part)))
    .join('');
}
