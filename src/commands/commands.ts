/** The list of commands, in the order of `--help`. */

import { alerts } from './alerts.ts';
import { backup } from './backup.ts';
import { check } from './check/check.ts';
import type { Command } from './command.ts';
import { copy } from './copy.ts';
import { demo } from './demo/demo.ts';
import { dns } from './dns/dns.ts';
import { doctor } from './doctor/doctor.ts';
import { domain } from './domain.ts';
import { env } from './env.ts';
import { feedback } from './feedback/feedback.ts';
import { healthcheck } from './healthcheck.ts';
import { key } from './key.ts';
import { listen } from './listen/listen.ts';
import { mcp } from './mcp/mcp.ts';
import { migrate } from './migrate.ts';
import { openapi } from './openapi.ts';
import { owner } from './owner.ts';
import { receivers } from './receivers.ts';
import { restore } from './restore.ts';
import { seed } from './seed.ts';
import { serve } from './serve.ts';
import { completion } from './shell/completion.ts';
import { man } from './shell/man.ts';

export const COMMANDS: Command[] = [
  serve,
  check,
  domain,
  dns,
  feedback,
  mcp,
  demo,
  owner,
  key,
  seed,
  receivers,
  alerts,
  backup,
  restore,
  migrate,
  copy,
  doctor,
  healthcheck,
  listen,
  env,
  openapi,
  completion(() => COMMANDS),
  man(() => COMMANDS),
];
