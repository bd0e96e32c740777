/** The form to add one domain or many, or only to look one up. */

import { MAX_BATCH } from '../../domains/lookup-schema.ts';
import { type FormProblem, Notice, ProblemNotice, TextArea, TextField } from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { TAG_LIST, tagsError } from '../frame/tags-field.tsx';

export interface AddDomainsProps {
  name?: string | undefined;
  names?: string | undefined;
  tags?: string | undefined;
  problem: FormProblem | null;
}

export function AddDomains({ name, names, tags, problem }: AddDomainsProps) {
  if (useReader().testMode)
    return (
      <Notice tone="info">
        Domains have no test mode. Switch to live mode to add, verify or check a domain.
      </Notice>
    );
  const error = problem?.fields.name ?? problem?.fields.names;
  const wrongTags = problem ? tagsError(problem) : undefined;
  return (
    <form method="post" action="/domains" class="stack">
      {problem?.notice && <ProblemNotice problem={problem} />}
      <div class="add-domain-row">
        <TextField
          name="name"
          label="Add domains"
          hint="One or many: names, web addresses or email addresses."
          value={name}
          error={error}
          focus={problem !== null}
        />
        <div class="actions">
          <button type="submit" class="button primary">
            Add
          </button>
          <button type="submit" class="button" formmethod="get" formaction="/domains/lookup">
            Look up only
          </button>
        </div>
      </div>
      <Fold summary="Add a list or tags" open={Boolean(names || tags || wrongTags)}>
        <div class="stack">
          <TextArea
            name="names"
            label="List of domains"
            hint={`One per line, separated by commas, or as CSV. At most ${MAX_BATCH}.`}
            value={names}
            rows={6}
            mono
          />
          <TextField
            name="tags"
            label="Tags for all of these domains (optional)"
            list={TAG_LIST}
            hint="Separated by commas, such as client:acme."
            value={tags}
            error={wrongTags}
          />
          <div class="actions">
            <button type="submit" class="button primary">
              Add all
            </button>
          </div>
        </div>
      </Fold>
    </form>
  );
}
