// The section /console/staff: who may use the console for the partner.
import {
  changeRole,
  inviteStaff,
  listStaff,
  MAX_STAFF,
  removeStaff,
  STAFF_ROLES,
  type Staff,
  type StaffRole,
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
import { DEMO_STAFF_ID } from './sessions.ts';

type StaffParts = Pick<ConsoleParts, 'keyStore' | 'ownUrl'> & {
  members: Pick<StaffMail, 'mailStaff'>;
};

export function createStaffSection({ keyStore, members, ownUrl }: StaffParts): Section {
  const invite: Action = async (visit, form) => {
    const { staff, changed } = visit;
    const { partnerId } = staff;
    const email = field(form, 'email');
    const role = roleIn(form);
    const tables = await keyStore.staffTables();
    const all = await listStaff(tables, partnerId);
    const address = canonicalEmail(email);
    const known = all.find((one) => canonicalEmail(one.email) === address);
    if (known !== undefined) return give(visit, all, known, role);
    const invited = await inviteStaff(tables, { partnerId, email, role }, adminsFor(visit, all));
    if (invited === 'invalid')
      throw new ConsoleError('This is not a valid email address.', 'email');
    if (invited === 'full')
      throw new ConsoleError(
        `You have reached the limit of ${MAX_STAFF} people. Remove somebody first.`,
      );
    changed(invited.staffId);
    return address === undefined ? undefined : welcome(invited, address);
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

  async function give(visit: ConsoleVisit, all: readonly Staff[], known: Staff, role: StaffRole) {
    const { staffId } = known;
    const admins = adminsFor(visit, all, role === 'viewer' ? known : undefined);
    if (!(await changeRole(await keyStore.staffTables(), { staffId, role }, admins)))
      throw new NotFoundError(UNKNOWN);
    visit.changed(staffId);
    return undefined;
  }

  const change: Action = async (visit, form) => {
    const all = await listStaff(await keyStore.staffTables(), visit.staff.partnerId);
    return give(visit, all, knownIn(all, form), roleIn(form));
  };

  const remove: Action = async (visit, form) => {
    const { partnerId } = visit.staff;
    const tables = await keyStore.staffTables();
    const all = await listStaff(tables, partnerId);
    const known = knownIn(all, form);
    const admins = adminsFor(visit, all, known);
    if (!(await removeStaff(tables, known.staffId, partnerId, admins)))
      throw new NotFoundError(UNKNOWN);
    visit.changed(known.staffId);
    return undefined;
  };

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
    actions: { invite, 'change-role': change, remove },
  };
}

const UNKNOWN = 'There is nobody with this ID. They may already have been removed.';

function knownIn(all: readonly Staff[], form: URLSearchParams): Staff {
  const known = all.find(({ staffId }) => staffId === field(form, 'staffId'));
  if (known === undefined) throw new NotFoundError(UNKNOWN);
  return known;
}

function roleIn(form: URLSearchParams): StaffRole {
  const role = STAFF_ROLES.find((one) => one === form.get('role'));
  if (role === undefined) throw new ConsoleError('Choose the role admin or viewer.');
  return role;
}

/**
 * The IDs of those who must still be admins when a change is written: its author and, if the author
 * leaves, another admin. The demo's admin is in no table.
 */
function adminsFor({ staff }: ConsoleVisit, all: readonly Staff[], leaving?: Staff): string[] {
  const author = staff.staffId === DEMO_STAFF_ID ? [] : [staff.staffId];
  if (leaving?.role !== 'admin' || author.some((staffId) => staffId !== leaving.staffId))
    return author;
  const other = all.find(({ role, staffId }) => role === 'admin' && staffId !== leaving.staffId);
  if (other === undefined)
    throw new ConsoleError('There must be at least one admin. Make somebody else an admin first.');
  return [...author, other.staffId];
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
