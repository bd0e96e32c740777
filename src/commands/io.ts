/** What a command may touch of the process it runs in; `main.ts` hands over the real one. */

export interface Io {
  env: Record<string, string | undefined>;
  /** All of standard input; reading ends once there are more bytes than these. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /** Data; without an added line end. */
  stdout(text: string): void;
  /** Messages. */
  stderr(text: string): void;
  /** Whether people read it: a terminal, and no NO_COLOR. */
  colorOut: boolean;
  terminalErr: boolean;
  /** Columns of the terminal; 80 where there is none. */
  width: number;
  /** Resolves when the process is asked to end (SIGINT, SIGTERM). */
  ended: Promise<void>;
}

/** Done; the answer is no; wrong use or configuration; something outside failed. */
export const EXIT = { done: 0, no: 1, usage: 2, outside: 3 } as const;

export interface Command {
  name: string;
  /** What follows the name: `FILE [--json]`. */
  usage: string;
  summary: string;
  /** Options, a line each, for `--help`. */
  options?: string[];
  /** Resolves with the exit code. */
  run(args: string[], io: Io): Promise<number>;
}

/** Wrong use: the message, and exit code 2. */
export class UsageError extends Error {}
