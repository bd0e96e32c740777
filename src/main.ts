/** Runs the command that the arguments name; the only file that uses the process. */

import { isMainThread } from 'node:worker_threads';
import { check } from './commands/check.ts';
import { type Command, EXIT, type Io, UsageError } from './commands/command.ts';
import { demo } from './commands/demo/demo.ts';
import { domain } from './commands/domain.ts';
import { env } from './commands/env.ts';
import { key } from './commands/key.ts';
import { listen } from './commands/listen/listen.ts';
import { openapi } from './commands/openapi.ts';
import { owner } from './commands/owner.ts';
import { serve } from './commands/serve.ts';
import { ConfigError } from './config/config.ts';
import { closestName } from './lib/closest-name.ts';
import { errorMessage } from './lib/errors.ts';
import { StoreError } from './store/migrate.ts';
import { VERSION } from './version.ts';

const COMMANDS: Command[] = [serve, check, domain, demo, owner, key, listen, env, openapi];

async function main([name, ...args]: string[], io: Io): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    io.stdout(overview());
    return name === undefined ? EXIT.usage : EXIT.success;
  }
  if (name === '--version' || name === 'version') {
    io.stdout(`${VERSION}\n`);
    return EXIT.success;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) {
    const near = closestName(
      name,
      COMMANDS.map((candidate) => candidate.name),
    );
    io.stderr(
      `Unknown command "${name}".${near ? ` Did you mean ${near}?` : ''} To list the commands, run deliverability --help.\n`,
    );
    return EXIT.usage;
  }
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout(
      `deliverability ${command.name} ${command.usage}\n\n${command.summary}.\n${(command.options ?? []).map((line) => `  ${line}\n`).join('')}`,
    );
    return EXIT.success;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    return explain(error, command, io);
  }
}

function overview(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}\n`).join('');
  return `deliverability ${VERSION}: find out why mail lands in spam, and how to fix it\n\n${lines}\nFor options, run deliverability COMMAND --help. Settings are environment variables; to list them, run deliverability env.\n`;
}

/** Prints what happened and what to do; a stack trace only for a bug. */
function explain(error: unknown, command: Command, io: Io): number {
  if (error instanceof UsageError) {
    io.stderr(`${error.message}.\nUsage: deliverability ${command.name} ${command.usage}\n`);
    return EXIT.usage;
  }
  if (error instanceof ConfigError) {
    io.stderr(`${error.message}\nTo list the variables, run deliverability env.\n`);
    return EXIT.usage;
  }
  if (error instanceof StoreError) {
    io.stderr(`${error.message}\n`);
    return EXIT.externalFailure;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    io.stderr(`Cannot listen on ${listenPlace(error as ListenError)}: ${listenProblem(code)}\n`);
    return EXIT.externalFailure;
  }
  if (code && syscall) {
    io.stderr(`${errorMessage(error)}\n`);
    return EXIT.externalFailure;
  }
  io.stderr(`This is a bug in deliverability ${VERSION}:\n${(error as Error)?.stack ?? error}\n`);
  return EXIT.externalFailure;
}

type ListenError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

function listenPlace({ address, port, hostname }: ListenError): string {
  return [address ?? hostname ?? '', port]
    .filter((part) => part !== undefined && part !== 0)
    .join(':');
}

function listenProblem(code: string | undefined): string {
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const why = code === 'EACCES' ? 'permission denied' : 'the port is in use';
    return `${why}. Set DELIVERABILITY_HTTP_PORT or DELIVERABILITY_SMTP_PORT to another port.`;
  }
  const why =
    code === 'ENOTFOUND' ? 'the host does not exist' : 'this machine does not have that address';
  return `${why} (${code}). Set DELIVERABILITY_HTTP_HOST or DELIVERABILITY_SMTP_HOST to one of its addresses.`;
}

function processIo(): Io {
  let ended: Promise<void> | undefined;
  // A reader that exits early (`| head`) is not an error.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (stream === process.stdout)
        process.stderr.write(`Cannot write the output: ${error.message}\n`);
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
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    useColor: process.stdout.isTTY === true && !process.env.NO_COLOR,
    isStderrTerminal: process.stderr.isTTY === true,
    width: process.stdout.columns ?? 80,
    get interrupted() {
      // Installed only for commands that wait for it, so that a signal ends all others at once.
      ended ??= untilSignal();
      return ended;
    },
  };
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

// In the executable this file is also what analysis threads run.
if (isMainThread) {
  // The database holds other people's mail: nobody else on the machine reads it.
  process.umask(0o077);
  // No top-level await: the executable is one CommonJS file.
  void main(process.argv.slice(2), processIo()).then((code) => {
    process.exitCode = code;
  });
}
