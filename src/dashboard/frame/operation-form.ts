/** Forms and buttons that call one operation, on the object in their path if it names one. */

import type { Role } from '../../http/actor.ts';
import type { Call, Invocation, ResultOf, Route } from '../../http/route.ts';
import { type FormProblem, submit } from './form.tsx';
import { seeOther } from './page.tsx';
import { form } from './page-route.ts';
import { ifUnchanged } from './version.tsx';

type FormCall = Call<Role, undefined, undefined>;

interface OperationForm<T extends Route, Values> {
  path: string;
  /** The name of the route of the form. */
  operation: string;
  summary: string;
  /** Default: the role of the operation. */
  role?: Role;
  route: T;
  params?(values: Values): Record<string, string>;
  /** What was typed. */
  read?(raw: Uint8Array): Values;
  /** The body of the operation. Errors that it throws are shown like those of the operation. */
  body?(values: Values, call: FormCall): Invocation<T>['body'] | Promise<Invocation<T>['body']>;
  /** Names the fields in error messages: see `submit`. */
  labels?: Record<string, string> | ((values: Values) => Record<string, string>);
  /** Where the browser goes next, or the page that it gets. */
  next(
    result: ResultOf<T>,
    call: FormCall,
    values: Values,
  ): string | Response | Promise<string | Response>;
  /** The page with the problem and what was typed. Without it, the browser gets an error page. */
  onProblem?(call: FormCall, problem: FormProblem, values: Values): Response | Promise<Response>;
}

/** Declares the route of such a form. Its version, if it has one, is the `If-Match` of the operation. */
export const operationForm = <T extends Route, Values = undefined>(
  declaration: OperationForm<T, Values>,
) => {
  const { path, operation, summary, route, read, body, labels = {}, next, onProblem } = declaration;
  return form({
    path,
    operation,
    summary,
    role: declaration.role ?? (route.role as Role),
    limited: route.limited,
    async handle(call) {
      const values = read?.(call.raw) as Values;
      const invoke = async () =>
        call.invoke(route, {
          params: declaration.params?.(values) ?? call.params,
          headers: ifUnchanged(call.raw),
          body: await body?.(values, call),
        });
      const { result, problem } = onProblem
        ? await submit(typeof labels === 'function' ? labels(values) : labels, invoke)
        : { result: await invoke(), problem: null };
      if (problem) return onProblem!(call, problem, values);
      const target = await next(result, call, values);
      return typeof target === 'string' ? seeOther(target) : target;
    },
  });
};
