/**
 * What GitHub Actions shows of a run: annotations, and the summary of the step. Nothing that a message or a file name
 * contains can become a command of the runner.
 */

import { appendFileSync } from 'node:fs';
import { printable } from '../../lib/log.ts';
import type { Io } from '../command.ts';
import { findingsOf, isChecked, type Outcome, titleOf } from './outcome.ts';
import { markdownReport } from './reports/markdown.ts';
import { repositoryFolder, repositoryPath } from './reports/paths.ts';
import type { ReportFormatter } from './reports/report-writer.ts';

export const isOnGitHub = (env: Io['env']): boolean => env.GITHUB_ACTIONS === 'true';

/** GitHub shows no more of each level for a step. */
const MAX_ANNOTATIONS = 10;
/** GitHub refuses a summary of more than 1 MiB. */
const MAX_SUMMARY_BYTES = 900_000;

export interface GitHub {
  add(outcome: Outcome): void;
  /** Prints the annotations and appends the summary. Resolves why that failed, if it did. */
  end(totals: Parameters<ReportFormatter['end']>[0]): string | null;
}

interface Annotation {
  level: 'error' | 'warning';
  file: string | null;
  title: string;
  text: string;
}

export function createGitHub(io: Io): GitHub {
  const folder = repositoryFolder(io.env);
  const summary = markdownReport({ maxBytes: MAX_SUMMARY_BYTES });
  const annotations: Record<Annotation['level'], Annotation[]> = { error: [], warning: [] };
  let omitted = 0;
  return {
    add(outcome) {
      summary.add(outcome);
      for (const annotation of annotationsOf(outcome, folder)) {
        const list = annotations[annotation.level];
        if (list.length < MAX_ANNOTATIONS) list.push(annotation);
        else omitted += 1;
      }
    },
    end(totals) {
      for (const list of Object.values(annotations))
        for (const annotation of list) io.stderr(`${command(annotation)}\n`);
      if (omitted > 0)
        io.stderr(
          `::notice title=Deliverability::${omitted} more ${omitted === 1 ? 'problem is' : 'problems are'} in the summary of this step.\n`,
        );
      return appendSummary(io.env.GITHUB_STEP_SUMMARY, summary.end(totals));
    },
  };
}

function appendSummary(file: string | undefined, text: string): string | null {
  if (!file) return null;
  try {
    appendFileSync(file, text);
    return null;
  } catch (error) {
    return `Could not write the summary of the step. ${(error as Error).message}`;
  }
}

function annotationsOf(outcome: Outcome, folder: string): Annotation[] {
  const file = repositoryPath(outcome.path, folder);
  const of = (level: Annotation['level'], title: string, text: string): Annotation => ({
    level,
    file,
    title: file === null ? `${titleOf(outcome.name)}: ${title}` : title,
    text,
  });
  if (!isChecked(outcome)) return [of('error', 'Not checked', `${outcome.problem}.`)];
  const findings = findingsOf(outcome).filter(({ isKnown }) => !isKnown);
  return [
    ...outcome.failures.map((failure) => of('error', 'Failed', failure)),
    ...findings.map(({ check, isRequired, fix }) =>
      of(isRequired ? 'error' : 'warning', check.label, `${check.title} ${check.detail} ${fix}`),
    ),
  ];
}

/** A workflow command. The runner decodes what `escapeProperty` and `escapeData` encode. */
function command({ level, file, title, text }: Annotation): string {
  const properties = [
    ...(file === null ? [] : [`file=${escapeProperty(file)}`, 'line=1']),
    `title=${escapeProperty(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${escapeData(text.trim())}`;
}

const escapeData = (text: string): string =>
  printable(text.toWellFormed().replace(/\r\n?|\n/g, ' ')).replaceAll('%', '%25');

/** A name with a line break must still be the name of that file. */
function escapeProperty(text: string): string {
  return printable(
    text
      .toWellFormed()
      .replaceAll('%', '%25')
      .replaceAll('\r', '%0D')
      .replaceAll('\n', '%0A')
      .replaceAll(':', '%3A')
      .replaceAll(',', '%2C'),
  );
}

/**
 * An Io whose output contains no commands: the runner reads them from both streams, `::name::` at the start of a line
 * and the older `##[name]` anywhere. JSON stays the same value.
 */
export function withoutCommands(io: Io, isJson: boolean): Io {
  const clean = (text: string) =>
    text.replace(/^([^\S\n]*)::/gm, '$1: :').replaceAll('##[', '## [');
  // A copy would call the getter of `interrupted`, which installs signal handlers.
  return Object.assign(Object.create(io) as Io, {
    stdout: (text: string) => io.stdout(isJson ? text.replaceAll('##[', '#\\u0023[') : clean(text)),
    stderr: (text: string) => io.stderr(clean(text)),
  });
}
