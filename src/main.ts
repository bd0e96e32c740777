/** Runs the command that the arguments name; the only file that uses `process`. */

import { createInterface } from 'node:readline';
import { type Command, EXIT, type Io, printMessage, UsageError } from './commands/command.ts';
import { COMMANDS } from './commands/commands.ts';
import { usagesOf } from './commands/declaration.ts';
import { commandHelp, overview } from './commands/help.ts';
import { ConfigError } from './config/config.ts';
import { closestName } from './lib/closest-name.ts';
import { errorMessage } from './lib/errors.ts';
import { printable, terminalText } from './lib/log.ts';
import { StoreError } from './store/errors.ts';
import { VERSION } from './version.ts';

const VERSION_NAMES = ['--version', '-v', '-V', 'version'];

async function main([name, ...args]: string[], io: Io): Promise<number> {
  // `help check` is `check --help`.
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help'], io);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    io.stdout(overview(COMMANDS, io));
    return name === undefined ? EXIT.usage : EXIT.success;
  }
  if (name !== undefined && VERSION_NAMES.includes(name)) {
    io.stdout(`${VERSION}\n`);
    return EXIT.success;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) {
    const suggestion = closestName(
      name,
      COMMANDS.map((candidate) => candidate.name),
    );
    printMessage(
      io,
      `Unknown command "${printable(name)}".${suggestion ? ` Did you mean ${suggestion}?` : ''} To list the commands, run ${io.program} --help.`,
    );
    return EXIT.usage;
  }
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout(commandHelp(command, io));
    return EXIT.success;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    return explain(error, command, io);
  }
}

/** Prints what happened and what to do; a stack trace only for a bug. */
function explain(error: unknown, command: Command, io: Io): number {
  if (error instanceof UsageError) {
    const usages = usagesOf(command).map((usage) => `Usage: ${io.program} ${usage}`);
    const list = command.variables ? [`To list the variables, run ${io.program} env.`] : [];
    printMessage(io, [withFinalMark(printable(error.message)), ...list, ...usages].join('\n'));
    return EXIT.usage;
  }
  if (error instanceof ConfigError) {
    printMessage(io, `${error.message}\nTo list the variables, run ${io.program} env.`);
    return EXIT.usage;
  }
  if (error instanceof StoreError) {
    printMessage(io, printable(error.message));
    return EXIT.externalFailure;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    io.stderr(
      `Cannot listen on ${printable(listenAddress(error as ListenError))}: ${listenProblem(error as ListenError)}\n`,
    );
    return EXIT.externalFailure;
  }
  if (code && syscall) {
    printMessage(io, printable(errorMessage(error)));
    return EXIT.externalFailure;
  }
  io.stderr(`This is a bug in deliverability ${VERSION}:\n${(error as Error)?.stack ?? error}\n`);
  return EXIT.externalFailure;
}

/** A usage error may end with a question. */
const withFinalMark = (text: string): string => (text.endsWith('?') ? text : `${text}.`);

type ListenError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

function listenAddress({ address, port, hostname }: ListenError): string {
  return [address ?? hostname ?? '', port]
    .filter((part) => part !== undefined && part !== 0)
    .join(':');
}

function listenProblem({ code, port }: ListenError): string {
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const reason = code === 'EACCES' ? 'permission denied' : 'the port is in use';
    // A mail server already listens there, and can pass on the mail for the test addresses.
    const advice =
      port === 25 && code === 'EADDRINUSE'
        ? ' To keep your mail server on port 25, set DELIVERABILITY_SMTP_PORT=2525. Then let it pass on the mail for the inbox domain: see docs/behind-a-mail-server.md.'
        : ' Set DELIVERABILITY_HTTP_PORT or DELIVERABILITY_SMTP_PORT to another port.';
    return `${reason}.${advice}`;
  }
  const reason =
    code === 'ENOTFOUND' ? 'the host does not exist' : 'this machine does not have that address';
  return `${reason} (${code}). Set DELIVERABILITY_HTTP_HOST or DELIVERABILITY_SMTP_HOST to one of its addresses.`;
}

function processIo(): Io {
  let firstSignal: Promise<void> | undefined;
  const useColor = process.stdout.isTTY === true && !process.env.NO_COLOR;
  // A reader that exits early (`| head`) is not an error.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (stream === process.stdout)
        process.stderr.write(`Cannot write the output: ${printable(error.message)}\n`);
      process.exit(EXIT.externalFailure);
    });
  return {
    env: process.env,
    async stdin(maxBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of process.stdin) {
        chunks.push(chunk as Buffer);
        size += (chunk as Buffer).length;
        if (size > maxBytes) break;
      }
      return Buffer.concat(chunks);
    },
    ask: (question, signal) =>
      process.stdin.isTTY ? askOnTerminal(question, signal) : Promise.resolve(null),
    stdout: (text) => void process.stdout.write(terminalText(text, useColor)),
    stderr: (text) => void process.stderr.write(terminalText(text, false)),
    status: (text) => void process.stderr.write(`\r\u001b[K${printable(text)}`),
    get protocol() {
      return {
        input: process.stdin,
        output: process.stdout,
        exit: (code: number) => process.exit(code),
      };
    },
    useColor,
    isStderrTerminal: process.stderr.isTTY === true,
    width: process.stdout.columns ?? 80,
    nodeVersion: process.versions.node,
    program: process.argv[1]?.endsWith('start.ts') ? 'npm start --' : 'deliverability',
    get interrupted() {
      // The handlers are installed only for commands that wait for a signal; it ends all others at once.
      firstSignal ??= untilSignal();
      return firstSignal;
    },
  };
}

/** The terminal edits the line and handles its keys, so Ctrl-C ends the process as usual. Its end is an empty answer. */
function askOnTerminal(question: string, signal?: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  process.stderr.write(terminalText(question, false));
  return new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
    signal?.addEventListener('abort', () => lines.close(), { once: true });
  }).finally(() => lines.close());
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        signals += 1;
        if (signals > 1) process.exit(EXIT.externalFailure);
        resolve();
      });
  });
}

// The database holds other people's mail, so no other user of the machine may read it.
process.umask(0o077);
// No top-level await: the executable is one CommonJS file.
void main(process.argv.slice(2), processIo()).then((code) => {
  process.exitCode = code;
});
