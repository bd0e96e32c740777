/** The fields by which a password is chosen, on the page of a link and on that of an invitation. */

import { MAX_PASSWORD, MIN_PASSWORD } from '../config-readers.ts';
import { passwordFault } from '../team/password-rules.ts';
import { Field } from './form.tsx';
import { asSentence, type Wrong } from './form-body.ts';

/** What is wrong with the password chosen, or with its repetition. */
export function newPasswordFaults(field: (name: string) => string, email: string): Wrong {
  const password = field('password');
  if (password === '') return { password: 'Choose a password.' };
  const fault = passwordFault(password, email);
  if (fault) return { password: asSentence(fault) };
  return field('repeated') === password ? {} : { repeated: 'The two passwords are not the same.' };
}

interface NewPasswordProps {
  email: string;
  wrong: Wrong;
  /** Whether the field before is wrong, and has the focus. */
  otherWrong?: boolean;
}

/** Two fields, as nothing shows what is typed; the address, so that a password manager keeps both together. */
export function NewPasswordFields({ email, wrong, otherWrong = false }: NewPasswordProps) {
  const repeat = Boolean(wrong.repeated);
  return (
    <>
      <Field
        name="email"
        label="E-mail address"
        type="email"
        autocomplete="username"
        value={email}
        readOnly
      />
      <Field
        name="password"
        label="New password"
        type="password"
        autocomplete="new-password"
        minLength={MIN_PASSWORD}
        hint={`${MIN_PASSWORD} to ${MAX_PASSWORD} characters, whichever you like: four words make a good one.`}
        wrong={wrong.password}
        focus={!otherWrong && !repeat}
      />
      <Field
        name="repeated"
        label="The same password again"
        type="password"
        autocomplete="new-password"
        wrong={wrong.repeated}
        focus={!otherWrong && repeat}
      />
    </>
  );
}
