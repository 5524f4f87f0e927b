// The section /console/staff: who may use the console for the partner.
import {
  inviteStaff,
  listStaff,
  MAX_STAFF,
  removeStaff,
  STAFF_ROLES,
  type Staff,
} from '@partner-loyalty/gateway/identity/staff.ts';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { actionForm, confirmed, field, hidden, type Typed, typedInto } from './forms.ts';
import type { ConsoleParts, StaffMail } from './manage.ts';
import { rowList, stateText } from './parts.ts';
import {
  type Action,
  ConsoleError,
  type ConsoleVisit,
  isAdmin,
  NotFoundError,
  type Section,
} from './section.ts';

type StaffParts = Pick<ConsoleParts, 'keyStore' | 'ownUrl'> & {
  members: Pick<StaffMail, 'mailStaff'>;
};

export function createStaffSection({ keyStore, members, ownUrl }: StaffParts): Section {
  const invite: Action = async ({ staff, changed }, form) => {
    const { partnerId } = staff;
    const email = field(form, 'email');
    const role = STAFF_ROLES.find((one) => one === form.get('role'));
    if (role === undefined) throw new ConsoleError('Choose the role admin or viewer.');
    const tables = await keyStore.staffTables();
    const others = await listStaff(tables, partnerId);
    const address = canonicalEmail(email);
    const known = others.find((one) => canonicalEmail(one.email) === address);
    const isDemoted = role === 'viewer' && known !== undefined;
    if (isDemoted) requireOtherAdmin(others, known);
    const invited = await inviteStaff(tables, { partnerId, email, role });
    if (invited === 'invalid')
      throw new ConsoleError('This is not a valid email address.', 'email');
    if (invited === 'full')
      throw new ConsoleError(
        `You have reached the limit of ${MAX_STAFF} people. Remove somebody first.`,
      );
    changed(invited.staffId);
    if (isDemoted) await keepAdmin(known);
    return known === undefined && address !== undefined ? welcome(invited, address) : undefined;
  };

  /** The invitation holds if its mail cannot be sent. */
  async function welcome({ staffId, partnerId, email, role }: Staff, address: string) {
    const about = { letter: 'staffInvited', partnerId, about: address } as const;
    const recipients = [{ staffId, address, email }];
    const mailed = await members.mailStaff({ noticeId: staffId, ...about, recipients }).then(
      () => 'We sent them an email that says so.',
      () => 'No email could be sent: tell them.',
    );
    const text = `Invited ${email} as ${role}: they sign in at ${ownUrl}/console. ${mailed}`;
    return { text, isProblem: false };
  }

  const changeRole: Action = async (visit, form) => {
    const all = await listStaff(await keyStore.staffTables(), visit.staff.partnerId);
    const { email } = knownIn(all, form);
    return invite(visit, new URLSearchParams({ email, role: field(form, 'role') }));
  };

  const remove: Action = async ({ staff, changed }, form) => {
    const { partnerId } = staff;
    const tables = await keyStore.staffTables();
    const others = await listStaff(tables, partnerId);
    const known = knownIn(others, form);
    requireOtherAdmin(others, known);
    if (!(await removeStaff(tables, known.staffId, partnerId))) throw new NotFoundError(UNKNOWN);
    changed(known.staffId);
    await keepAdmin(known);
    return undefined;
  };

  /** Two admins may have removed each other at once: then both are back. */
  async function keepAdmin({ partnerId, email, role }: Staff): Promise<void> {
    const tables = await keyStore.staffTables();
    const all = role === 'admin' ? await listStaff(tables, partnerId) : [];
    if (role === 'admin' && !all.some((one) => one.role === 'admin'))
      await inviteStaff(tables, { partnerId, email, role });
  }

  return {
    name: 'staff',
    title: 'Staff',
    about: 'Who can use this console, and who can make changes.',
    async show(visit) {
      const { staff } = visit;
      const all = await listStaff(await keyStore.staffTables(), staff.partnerId);
      const form = actionForm('staff', 'invite', 'Invite', fieldsOf(typedInto(visit, 'invite')));
      return html`<p>Admins can make changes; viewers can see everything. Everybody listed here signs in
with a link or code sent by email. There is no invitation to accept.</p>
${rowList(all.map((one) => rowOf(one, visit)))}
${isAdmin(visit) ? confirmed('Invite somebody', form, true, 'new') : ''}`;
    },
    actions: { invite, 'change-role': changeRole, remove },
  };
}

const UNKNOWN = 'There is nobody with this ID. They may already have been removed.';

function knownIn(all: readonly Staff[], form: URLSearchParams): Staff {
  const known = all.find(({ staffId }) => staffId === field(form, 'staffId'));
  if (known === undefined) throw new NotFoundError(UNKNOWN);
  return known;
}

function requireOtherAdmin(all: readonly Staff[], known: Staff): void {
  const others = all.filter(({ role, staffId }) => role === 'admin' && staffId !== known.staffId);
  if (known.role === 'admin' && others.length === 0)
    throw new ConsoleError('There must be at least one admin. Make somebody else an admin first.');
}

function rowOf({ staffId, email, role, createdAt }: Staff, visit: ConsoleVisit): Html {
  const [other, button] =
    role === 'admin' ? ['viewer', 'Make a viewer'] : ['admin', 'Make an admin'];
  const id = hidden('staffId', staffId);
  const change = actionForm('staff', 'change-role', button, html`${id}${hidden('role', other)}`);
  const removal = html`<p>They can no longer use the console for your company, and are signed out
immediately.</p>
${actionForm('staff', 'remove', 'Remove', id, 'danger')}`;
  const actions = html`<div class="actions">${confirmed('Change role', change)}${confirmed('Remove', removal)}</div>`;
  return html`<li class="row"><h2>${email} ${stateText(role)}</h2>
<p class="soft">${staffId === visit.staff.staffId ? 'You, s' : 'S'}ince ${timeText(createdAt)}</p>
${isAdmin(visit) ? actions : ''}</li>`;
}

function fieldsOf({ value, options, marked, fault }: Typed): Html {
  const roles = STAFF_ROLES.map((role) => [role, role] as const);
  return html`<label for="email">Email address</label>
<input id="email" name="email" type="email" value="${value('email')}" autocomplete="off" maxlength="254"
 spellcheck="false"${marked('email')} required>
${fault('email')}
<label for="role">Role</label>
<select id="role" name="role">${options('role', roles, 'viewer')}</select>`;
}
