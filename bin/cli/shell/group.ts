// Groups of commands, such as `loyalty keys`.
import { Command } from 'commander';

export type Add = ReturnType<typeof commandGroup>['add'];

/** A group, and what adds a command to it: `args` are its arguments, with what each one is. */
export function commandGroup(name: string, description: string) {
  const group = new Command(name).description(description);
  function add(name: string, description: string, args: Readonly<Record<string, string>> = {}) {
    const command = group.command(name).description(description);
    for (const [argument, meaning] of Object.entries(args)) command.argument(argument, meaning);
    return command;
  }
  return { group, add };
}

export const PARTNER = { '<partner>': "the partner's ID" };
export const MEMBER = { '<memberid>': "the member's ID" };
