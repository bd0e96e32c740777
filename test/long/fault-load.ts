/** A small steady load on the service in its own process, which records everything that the service acknowledged. */

import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Random } from '../helpers/random.ts';
import { sendMail } from '../helpers/send.ts';
import type { ServeProcess } from '../helpers/serve-process.ts';
import { type Mail, makeMessage } from './mail-load.ts';

export interface FaultLoad {
  /** All messages that were sent, also those without a reply. */
  mails: Mail[];
  /** The IDs of the tests that were created with 201. */
  created: string[];
  /** How often each reply came, such as `SMTP 250` or `HTTP 503`. */
  replies: Record<string, number>;
  /** The same for replies from now on. */
  resetReplies(): void;
  stop(): Promise<void>;
}

const SENDERS = 2;
const PAUSE_MS = 20;

/** Replaced after a restart of the service. */
export interface Target {
  service: ServeProcess;
}

/** Ends with the test at the latest. */
export function startFaultLoad(t: TestContext, target: Target, random: Random): FaultLoad {
  const load: FaultLoad = {
    mails: [],
    created: [],
    replies: {},
    resetReplies() {
      load.replies = {};
    },
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
  let stopped = false;
  const count = (reply: string) => {
    load.replies[reply] = (load.replies[reply] ?? 0) + 1;
  };
  const createTest = async (): Promise<Test | null> => {
    const { url, key } = target.service;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    try {
      const response = await fetch(`${url}/v1/tests`, { method: 'POST', headers, body: '{}' });
      count(`HTTP ${response.status}`);
      if (response.status !== 201) return null;
      const test = (await response.json()) as Test;
      load.created.push(test.id);
      return test;
    } catch {
      count('HTTP disconnected');
      return null;
    }
  };
  const deliver = async (mail: Mail): Promise<boolean> => {
    mail.state = 'unanswered';
    mail.sentAt = systemClock.now();
    try {
      const { address: to, raw } = mail;
      const reply = await sendMail({ port: target.service.smtpPort, to, raw, plain: true });
      mail.state = 'kept';
      mail.keptAs = /Accepted as (\S+)/.exec(reply)![1]!;
      count('SMTP 250');
      return true;
    } catch (error) {
      const { responseCode } = error as { responseCode?: number };
      count(`SMTP ${responseCode ?? 'disconnected'}`);
      return false;
    }
  };
  let number = 0;
  const loop = async () => {
    while (!stopped) {
      const test = await createTest();
      if (test) {
        const raw = makeMessage(number++, random);
        const mail: Mail = {
          testId: test.id,
          address: test.address,
          raw,
          retries: true,
          state: 'fresh',
          sentAt: 0,
          keptAs: null,
        };
        load.mails.push(mail);
        // A sender retries; the load ends with each message that can be delivered.
        while (!(await deliver(mail)) && !stopped) await pause(5 * PAUSE_MS);
      }
      await pause(PAUSE_MS);
    }
  };
  const loops = Array.from({ length: SENDERS }, loop);
  t.after(() => load.stop());
  return load;
}
