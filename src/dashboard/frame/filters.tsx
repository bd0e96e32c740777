/** The filters above a list: a form whose fields become the query of the URL. On phones, one line that opens. */

import { type ComponentChildren, Fragment, toChildArray, type VNode } from 'preact';
import { Select, TextField } from './form.tsx';

interface FiltersProps {
  path: string;
  /** Whether one is set, so that they can be cleared. */
  active: boolean;
  /** Where scripts run, the parts of the page marked as `data-live` are replaced instead of the page. */
  live?: boolean;
  children: ComponentChildren;
}

/**
 * Choices apply at once where scripts run. On phones, several filters fold into a line that names the current ones.
 * The line is a sibling of the form: the form of a closed `details` could not be shown on wide screens.
 */
export function Filters({ path, active, live, children }: FiltersProps) {
  const fields = fieldsOf(children);
  const chosen = fields.flatMap(({ text }) => text || []);
  return (
    <>
      {fields.length > 1 && (
        <details
          id="filter-line"
          class="filter-line screen-only"
          data-live={live}
          open={fields.some(({ hasError }) => hasError)}
        >
          <summary>
            <svg class="chevron" aria-hidden="true">
              <use href="#chevron" />
            </svg>
            <span>{chosen.length > 0 ? 'Filter: ' : 'Filter'}</span>
            {chosen.length > 0 && (
              <span class="one-line">
                {chosen.map((text, index) => (
                  <Fragment key={text}>
                    {index > 0 && ' · '}
                    <bdi>{text}</bdi>
                  </Fragment>
                ))}
              </span>
            )}
          </summary>
        </details>
      )}
      <form
        method="get"
        action={path}
        class="filters screen-only"
        data-filters
        data-replaces={live}
      >
        {children}
        <div id="filter-actions" class="filter-actions" data-live={live}>
          <button type="submit" class="button">
            Apply
          </button>
          {active && <a href={path}>Clear filters</a>}
        </div>
      </form>
    </>
  );
}

interface FilterField {
  /** What is chosen; empty for a field without a choice. */
  text: string;
  hasError: boolean;
}

type FieldProps = Parameters<typeof Select>[0] | Parameters<typeof TextField>[0];

/** The fields say themselves what is chosen, so that the line never differs from the form. */
function fieldsOf(children: ComponentChildren): FilterField[] {
  return toChildArray(children).flatMap((child) => {
    if (typeof child !== 'object') return [];
    const { type, props } = child as VNode<FieldProps & { children?: ComponentChildren }>;
    if (type === Fragment) return fieldsOf(props.children);
    if (type !== (Select as unknown) && type !== (TextField as unknown)) return [];
    const { value = '', error } = props;
    const option = 'options' in props && props.options.find(([key]) => key === value);
    return [{ text: option && value ? option[1] : value, hasError: Boolean(error) }];
  });
}
